//! Tables as text.

/// Columns of text, the first ones to the left, numbers to the right.
pub struct Table {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings, of which the first `left` stand to the left.
    pub fn new<const N: usize>(left: usize, headings: [&str; N]) -> Self {
        Table { left, rows: vec![headings.map(str::to_owned).to_vec()] }
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.to_vec());
    }

    /// Lines without their ends.
    pub fn lines(&self) -> Vec<String> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.rows[0].len()).map(width).collect();
        self.rows
            .iter()
            .map(|row| {
                let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, &width))| {
                    if i < self.left { format!("{cell:width$}") } else { format!("{cell:>width$}") }
                });
                cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(1, ["suite", "solved"]);
        table.row(["libero_10".to_owned(), "3 / 10".to_owned()]);
        table.row(["é".to_owned(), "–".to_owned()]);
        assert_eq!(table.lines(), ["suite      solved", "libero_10  3 / 10", "é               –"]);
    }
}
