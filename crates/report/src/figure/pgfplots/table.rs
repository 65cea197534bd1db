//! Tables of data: columns with names, a row a line.

use super::latex::number;
use flitlab_base::printable::printable;

/// Columns of different lengths; short ones are filled up with `nan`, which pgfplots leaves out.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Lines before the header, of which LaTeX takes no notice.
    pub comments: Vec<String>,
    columns: Vec<(String, Vec<f64>)>,
}

impl Table {
    pub fn column(&mut self, name: String, values: Vec<f64>) {
        self.columns.push((name, values));
    }

    pub fn text(&self) -> String {
        // A line break in a label would end the comment.
        let comment =
            |line: &String| format!("# {}\n", printable(&line.replace(['\n', '\r'], " ")));
        let mut text: String = self.comments.iter().map(comment).collect();
        let names: Vec<&str> = self.columns.iter().map(|column| column.0.as_str()).collect();
        text += &(names.join(" ") + "\n");
        let rows = self.columns.iter().map(|column| column.1.len()).max().unwrap_or(0);
        for row in 0..rows {
            let cell =
                |column: &(String, Vec<f64>)| number(*column.1.get(row).unwrap_or(&f64::NAN));
            let cells: Vec<String> = self.columns.iter().map(cell).collect();
            text += &(cells.join(" ") + "\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_columns_are_filled_up() {
        let mut table = Table { comments: vec!["1: a\nb".into()], ..Table::default() };
        table.column("x1".into(), vec![1.0, 2.5]);
        table.column("y1".into(), vec![3.0]);
        assert_eq!(table.text(), "# 1: a b\nx1 y1\n1 3\n2.5 nan\n");
    }
}
