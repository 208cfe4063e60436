//! The table of `stc stats`: three lines a file, one for each unit, and a column for each format.
//!
//! Formats are the columns, and units the lines, because formats are what will be added to: one more still fits in a
//! hundred columns.

use std::fmt::Write;
use std::io::IsTerminal;

use unicode_width::UnicodeWidthStr;

use crate::stats::{BASELINE, FORMATS, Measured, UNITS};
use crate::style::Style;

/// Cells for the names of files on a terminal; a pipe gets them in full.
const NAME_CELLS: usize = 44;

/// The table, its last line ended; nothing if there is nothing to show.
pub(crate) fn render(files: &[Measured], total: Option<&Measured>, style: Style) -> String {
    if files.is_empty() {
        return String::new();
    }
    let cells = if std::io::stdout().is_terminal() { NAME_CELLS } else { usize::MAX };
    let mut lines = vec![heading()];
    for measured in files.iter().chain(total) {
        for unit in 0..UNITS.len() {
            lines.push(line(measured, unit, cells));
        }
    }
    let columns = lines[0].len();
    let widths: Vec<usize> =
        (0..columns).map(|column| lines.iter().map(|line| line[column].width()).max().unwrap_or(0)).collect();
    let mut table = String::new();
    for (index, line) in lines.iter().enumerate() {
        let mut row = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.width());
            let cell = if index == 0 { style.heading(cell) } else { paint(cell, style) };
            // Names to the left, numbers to the right.
            let _ = if column < 2 { write!(row, "{cell}{padding}  ") } else { write!(row, "{padding}{cell}  ") };
        }
        table.push_str(row.trim_end());
        table.push('\n');
    }
    table
}

fn heading() -> Vec<String> {
    let compared = FORMATS[BASELINE + 1..].iter().map(|format| format!("{}/{}", format.title, FORMATS[BASELINE].title));
    ["file", "unit"]
        .into_iter()
        .chain(FORMATS.iter().map(|format| format.title))
        .map(str::to_owned)
        .chain(compared)
        .collect()
}

fn line(measured: &Measured, unit: usize, cells: usize) -> Vec<String> {
    let name = if unit == 0 { end_of(&measured.name, cells) } else { String::new() };
    let sizes = measured.sizes.iter().map(|sizes| grouped(sizes[unit]));
    let ratios = (BASELINE + 1..FORMATS.len()).map(|format| match measured.ratio(format, unit) {
        Some(ratio) => format!("{:.1} %", 100.0 * ratio),
        None => "-".to_owned(),
    });
    [name, UNITS[unit].to_owned()].into_iter().chain(sizes).chain(ratios).collect()
}

/// Green for a share below the whole, red for one above it.
fn paint(cell: &str, style: Style) -> String {
    match cell.strip_suffix(" %").and_then(|share| share.parse::<f64>().ok()) {
        Some(share) if share < 100.0 => style.good(cell),
        Some(share) if share > 100.0 => style.error(cell),
        _ => cell.to_owned(),
    }
}

/// The end of a name, which tells more than its beginning.
fn end_of(name: &str, cells: usize) -> String {
    if name.width() <= cells {
        return name.to_owned();
    }
    let cut = name.char_indices().map(|(at, _)| at).find(|&at| name[at..].width() < cells).unwrap_or(name.len());
    format!("…{}", &name[cut..])
}

/// A number with a comma between thousands.
fn grouped(number: u64) -> String {
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

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(end_of("a/b.json", 8), "a/b.json");
        assert_eq!(end_of("folder/b.json", 8), "…/b.json");
    }
}
