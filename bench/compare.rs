//! The gate beside nginx and haproxy in one table: what, gate, nginx, ratio, haproxy, target, and whether it is met.

use crate::{proxies::Contender, table::Table};

/// Rows of figures, one of each of those that were measured.
pub(crate) struct Comparison {
    names: Vec<String>,
    table: Table,
}

/// What a row should be. Nothing fails over it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Target {
    /// It is only told.
    #[default]
    None,
    /// At most so many times what nginx has.
    OfNginx(f64),
    AtMost(f64),
    AtLeast(f64),
}

/// How a figure is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    Micros,
    Kibibytes,
    /// Of one core, or of all that were asked for.
    Percent,
    PerSecond,
}

const NGINX: &str = "nginx";
const HAPROXY: &str = "haproxy";
/// Without anything in between.
pub(crate) const DIRECT: &str = "direct";

impl Comparison {
    /// `names` are those of the proxies; the last that is neither of the two peers nor `DIRECT` is the gate. Others come behind
    /// them, in their order.
    pub(crate) fn new(names: &[&str]) -> Self {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let empty = Table::new(&[]);
        let mut comparison = Self { names, table: empty };
        let others: Vec<&str> = comparison.others().map(|at| comparison.names[at].as_str()).collect();
        let heads = [
            &["", "gate", NGINX, "ratio", HAPROXY],
            others.as_slice(),
            &["target", ""],
        ];
        comparison.table = Table::new(&heads.concat());
        comparison
    }

    pub(crate) fn of(contenders: &[Contender]) -> Self {
        let names: Vec<&str> = contenders.iter().map(|contender| contender.name.as_str()).collect();
        Self::new(&names)
    }

    /// A figure of each, in the order of their names; nothing where there is none.
    pub(crate) fn row(&mut self, what: &str, unit: Unit, figures: &[Option<f64>], target: Target) {
        let figure = |at: Option<usize>| at.and_then(|at| figures.get(at).copied().flatten());
        let written = |figure: Option<f64>| figure.map_or(String::new(), |figure| unit.write(figure));
        let (gate, nginx) = (figure(self.gate()), figure(self.named(NGINX)));
        let ratio = gate.zip(nginx).filter(|(_, nginx)| *nginx > 0.0);
        let ratio = ratio.map(|(gate, nginx)| gate / nginx);
        let (wanted, met) = match target {
            Target::None => (String::new(), None),
            Target::OfNginx(most) => (format!("≤ {most} × nginx"), ratio.map(|ratio| ratio <= most)),
            Target::AtMost(most) => (format!("≤ {}", unit.write(most)), gate.map(|gate| gate <= most)),
            Target::AtLeast(least) => (format!("≥ {}", unit.write(least)), gate.map(|gate| gate >= least)),
        };
        let mut cells = vec![
            what.to_owned(),
            written(gate),
            written(nginx),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.2} ×")),
            written(figure(self.named(HAPROXY))),
        ];
        cells.extend(self.others().map(|at| written(figure(Some(at)))));
        cells.push(wanted);
        cells.push(met.map_or("", |met| if met { "met" } else { "MISSED" }).to_owned());
        let cells: Vec<&dyn std::fmt::Display> = cells.iter().map(|cell| cell as _).collect();
        self.table.row(&cells);
    }

    fn named(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    fn gate(&self) -> Option<usize> {
        let is_gate = |name: &String| ![NGINX, HAPROXY, DIRECT].contains(&name.as_str());
        self.names.iter().rposition(is_gate)
    }

    /// Whoever has no column otherwise.
    fn others(&self) -> impl Iterator<Item = usize> {
        let known = [self.gate(), self.named(NGINX), self.named(HAPROXY)];
        (0..self.names.len()).filter(move |at| !known.contains(&Some(*at)))
    }
}

impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.table.fmt(f)
    }
}

impl Unit {
    fn write(self, figure: f64) -> String {
        match self {
            Self::Micros if figure.abs() >= 10_000.0 => format!("{:.1} ms", figure / 1e3),
            Self::Micros if figure.abs() >= 1_000.0 => format!("{:.2} ms", figure / 1e3),
            Self::Micros if figure.abs() >= 100.0 => format!("{figure:.0} µs"),
            Self::Micros => format!("{figure:.1} µs"),
            Self::Kibibytes => format!("{figure:.1} KiB"),
            Self::Percent => format!("{figure:.1} %"),
            Self::PerSecond => format!("{figure:.0} /s"),
        }
    }
}

/// The middle one.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
