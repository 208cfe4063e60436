//! The table of `stc stats`: a file's name, then a line for each format, with each unit and what it saves.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::measured::{BASELINE, FORMATS, Measured, UNITS, formats};
use crate::style::Style;

/// Formats the table, with a final line feed; empty if there are no files.
pub(crate) fn render(files: &[Measured], total: Option<&Measured>, style: Style) -> String {
    if files.is_empty() {
        return String::new();
    }
    let titles: Vec<String> = formats().map(|format| format.title).collect();
    let mut rows = vec![heading()];
    for measured in files.iter().chain(total) {
        rows.extend(titles.iter().enumerate().map(|(format, title)| row(measured, format, title)));
    }
    let mut lines = aligned(&rows, style).into_iter();
    let mut table = String::new();
    table.extend(lines.next());
    for measured in files.iter().chain(total) {
        let _ = writeln!(table, "{}", measured.name);
        table.extend(lines.by_ref().take(FORMATS));
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
    let units = UNITS.iter().flat_map(|unit| [(*unit).to_owned(), "saved".to_owned()]);
    ["saved against minified JSON".to_owned()].into_iter().chain(units).collect()
}

fn row(measured: &Measured, format: usize, title: &str) -> Vec<String> {
    let mut row = vec![format!("  {title}")];
    for unit in 0..UNITS.len() {
        row.push(measured.sizes[format].map_or("-".to_owned(), |sizes| grouped(sizes[unit])));
        row.push(match measured.saved(format, unit) {
            _ if format == BASELINE => String::new(),
            Some(saved) => percent(saved),
            None => "-".to_owned(),
        });
    }
    row
}

/// Formats a saved share; a share that rounds to zero has no sign.
pub(crate) fn percent(saved: f64) -> String {
    let text = format!("{:.1} %", 100.0 * saved);
    if text == "-0.0 %" { "0.0 %".to_owned() } else { text }
}

/// Paints what is saved green, what is lost red.
fn paint(cell: &str, style: Style) -> String {
    match cell.strip_suffix(" %").and_then(|saved| saved.parse::<f64>().ok()) {
        Some(saved) if saved > 0.0 => style.good(cell),
        Some(saved) if saved < 0.0 => style.error(cell),
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
    fn shares_have_one_digit_and_zero_no_sign() {
        assert_eq!([0.4561, 0.0, -0.0001, -0.25, 1.0].map(percent), ["45.6 %", "0.0 %", "0.0 %", "-25.0 %", "100.0 %"]);
    }

    #[test]
    fn numbers_are_grouped() {
        let numbers = [0, 999, 1000, 123_456, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "999", "1,000", "123,456", "1,234,567"]);
    }
}
