//! The table of `stc stats`: a file's name, then a line for each unit, with a column for each format.
//!
//! The name has its own line: six texts, four of them also as shares of minified JSON, leave no room for it
//! within a hundred columns.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::measured::{BASELINE, FORMATS, Measured, UNITS, columns};
use crate::style::Style;

/// Formats the table, with a final line feed; empty if there are no files.
pub(crate) fn render(files: &[Measured], total: Option<&Measured>, style: Style) -> String {
    if files.is_empty() {
        return String::new();
    }
    let mut rows = vec![heading()];
    for measured in files.iter().chain(total) {
        rows.extend((0..UNITS.len()).map(|unit| row(measured, unit)));
    }
    let mut lines = aligned(&rows, style).into_iter();
    let mut table = String::new();
    table.extend(lines.next());
    for measured in files.iter().chain(total) {
        let _ = writeln!(table, "{}", measured.name);
        table.extend(lines.by_ref().take(UNITS.len()));
    }
    table
}

/// Aligns rows, the first of which is a heading: the first cell to the left, the others to the right.
pub(crate) fn aligned(rows: &[Vec<String>], style: Style) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |(index, row): (usize, &Vec<String>)| {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.width());
            let cell = if index == 0 { style.heading(cell) } else { paint(cell, style) };
            let _ = if column == 0 { write!(line, "{cell}{padding}  ") } else { write!(line, "{padding}{cell}  ") };
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    };
    rows.iter().enumerate().map(line).collect()
}

fn heading() -> Vec<String> {
    let mut heading = vec!["unit".to_owned()];
    for (index, column) in columns().enumerate() {
        heading.push(column.title);
        if index > BASELINE {
            heading.push("/min".to_owned());
        }
    }
    heading
}

fn row(measured: &Measured, unit: usize) -> Vec<String> {
    let mut row = vec![format!("  {}", UNITS[unit])];
    for format in 0..FORMATS {
        row.push(grouped(measured.sizes[format][unit]));
        if format > BASELINE {
            row.push(match measured.ratio(format, unit) {
                Some(ratio) => format!("{:.1} %", 100.0 * ratio),
                None => "-".to_owned(),
            });
        }
    }
    row
}

/// Paints a share below 100 % green, above 100 % red.
fn paint(cell: &str, style: Style) -> String {
    match cell.strip_suffix(" %").and_then(|share| share.parse::<f64>().ok()) {
        Some(share) if share < 100.0 => style.good(cell),
        Some(share) if share > 100.0 => style.error(cell),
        _ => cell.to_owned(),
    }
}

/// Formats a number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0, 999, 1000, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }
}
