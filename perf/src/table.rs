//! Text tables: the first column is aligned left, the others right, each as wide as its widest cell.

use std::fmt;

/// Rows under a header; `{}` prints plain text, `{:#}` Markdown.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { rows: vec![header.into_iter().map(Into::into).collect()] }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
        (0..columns).map(|column| width(column).unwrap_or(0)).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let markdown = f.alternate();
        let widths = self.widths();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = widths.iter().enumerate().map(|(column, &width)| {
                let cell = row.get(column).map_or("", String::as_str);
                if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
            });
            let cells: Vec<String> = cells.collect();
            if markdown {
                writeln!(f, "| {} |", cells.join(" | "))?;
            } else {
                writeln!(f, "{}", cells.join("  ").trim_end())?;
            }
            if number == 0 && markdown {
                let rule = |(column, &width): (usize, &usize)| match column {
                    0 => "-".repeat(width + 2),
                    _ => "-".repeat(width + 1) + ":",
                };
                writeln!(f, "|{}|", widths.iter().enumerate().map(rule).collect::<Vec<_>>().join("|"))?;
            }
        }
        Ok(())
    }
}

/// Formats bytes: `4.1 KB`. KB, MB and GB are powers of 1000 wherever the harness prints them; a power of 1024 is KiB or MiB.
pub(crate) fn size(bytes: f64) -> String {
    match bytes {
        _ if bytes < 999.5 => format!("{bytes:.0} B"),
        _ if bytes < 999_950.0 => format!("{:.1} KB", bytes / 1e3),
        _ => format!("{:.1} MB", bytes / 1e6),
    }
}

/// Formats nanoseconds: `1.94 µs`.
pub(crate) fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        _ if nanoseconds < 1e3 => format!("{nanoseconds:.0} ns"),
        _ if nanoseconds < 1e6 => format!("{:.2} µs", nanoseconds / 1e3),
        _ => format!("{:.2} ms", nanoseconds / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["case", "µs"]);
        table.row(["a", "10.5"]);
        table.row(["longer"]);
        table
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(table().to_string(), "case      µs\na       10.5\nlonger\n");
    }

    #[test]
    fn markdown_has_a_rule_that_aligns_numbers() {
        let markdown = "| case   |   µs |\n|--------|-----:|\n| a      | 10.5 |\n| longer |      |\n";
        assert_eq!(format!("{:#}", table()), markdown);
    }

    #[test]
    fn units_follow_the_number() {
        let sizes = [256.0, 999.9, 4096.0, 999_960.0, 3.5e6].map(size);
        assert_eq!(sizes, ["256 B", "1.0 KB", "4.1 KB", "1.0 MB", "3.5 MB"]);
        assert_eq!([time(312.0), time(1940.0), time(2.5e6)], ["312 ns", "1.94 µs", "2.50 ms"]);
    }
}
