//! Tables in Markdown, aligned so that they can be read as they are.

use std::fmt::{self, Display, Formatter};

/// Rows of cells, the first of which are the heads of the columns.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(heads: &[&str]) -> Self {
        let heads = heads.iter().map(ToString::to_string);
        Self {
            rows: vec![heads.collect()],
        }
    }

    pub(super) fn row(&mut self, cells: &[&dyn Display]) {
        self.rows.push(cells.iter().map(ToString::to_string).collect());
    }

    pub(super) fn print(&self) {
        println!("\n{self}");
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.rows.iter().map(Vec::len).max().unwrap_or_default())
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
            })
            .collect();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("| {cell:<width$} "));
            writeln!(f, "{}|", cells.collect::<String>())?;
            if number == 0 {
                let lines = widths.iter().map(|width| format!("|{}", "-".repeat(width + 2)));
                writeln!(f, "{}|", lines.collect::<String>())?;
            }
        }
        Ok(())
    }
}
