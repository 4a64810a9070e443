//! The figures that are stored, and how a new one compares with them.
//!
//! A file of lines: what they were counted with, and for each scenario its name, its instructions and by how many percent they
//! may differ.

use std::fmt;

use anyhow::{Context as _, Result};

/// What a file has.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Stored {
    /// What the figures hold for.
    pub(super) place: String,
    figures: Vec<Figure>,
}

/// One line of it.
#[derive(Debug, PartialEq)]
pub(super) struct Figure {
    name: String,
    pub(super) instructions: u64,
    /// In percent, of both signs.
    pub(super) tolerance: f64,
}

/// What was counted now.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) name: String,
    pub(super) instructions: u64,
    /// Of a figure that is stored for the first time.
    pub(super) tolerance: f64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Same,
    /// Worth storing, and no failure.
    Less,
    More,
    /// Nothing is stored to compare with.
    Unknown,
}

const HEAD: &str = "\
# Instructions, counted by callgrind and compared by `make counts`; docs/performance.md explains.
# `cargo bench --bench instructions -- --store` writes this file, and keeps the tolerances that are in it.
";
const PLACE: &str = "for: ";

impl Stored {
    pub(super) fn read(text: &str) -> Result<Self> {
        let mut stored = Self::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(place) = line.strip_prefix(PLACE) {
                place.clone_into(&mut stored.place);
                continue;
            }
            let read = || {
                let (rest, tolerance) = line.strip_suffix(" %")?.rsplit_once('±')?;
                let (name, instructions) = rest.rsplit_once(": ")?;
                Some(Figure {
                    name: name.to_owned(),
                    instructions: instructions.trim().parse().ok()?,
                    tolerance: tolerance.trim().parse().ok()?,
                })
            };
            let figure = read().with_context(|| format!("{line:?} is no \"name: instructions ± tolerance %\""))?;
            stored.figures.push(figure);
        }
        Ok(stored)
    }

    pub(super) fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// In percent of what is stored.
    pub(super) fn difference(&self, counted: &Counted) -> Option<f64> {
        let stored = self.figure(&counted.name)?.instructions as f64;
        Some((counted.instructions as f64 - stored) / stored * 100.0)
    }

    pub(super) fn verdict(&self, counted: &Counted) -> Verdict {
        let (Some(figure), Some(difference)) = (self.figure(&counted.name), self.difference(counted)) else {
            return Verdict::Unknown;
        };
        if difference.abs() <= figure.tolerance {
            Verdict::Same
        } else if difference < 0.0 {
            Verdict::Less
        } else {
            // Also where it is no number.
            Verdict::More
        }
    }

    /// The new figures, with the tolerances that the old ones had.
    pub(super) fn replaced(&self, place: &str, counted: &[Counted]) -> Self {
        let figures = counted.iter().map(|counted| Figure {
            name: counted.name.clone(),
            instructions: counted.instructions,
            tolerance: self
                .figure(&counted.name)
                .map_or(counted.tolerance, |figure| figure.tolerance),
        });
        Self {
            place: place.to_owned(),
            figures: figures.collect(),
        }
    }
}

impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}{PLACE}{}\n", self.place)?;
        for figure in &self.figures {
            let Figure {
                name,
                instructions,
                tolerance,
            } = figure;
            writeln!(f, "{name}: {instructions} ± {tolerance} %")?;
        }
        Ok(())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Same => "ok",
            Self::Less => "less",
            Self::More => "MORE",
            Self::Unknown => "NOT STORED",
        })
    }
}
