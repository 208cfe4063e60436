//! `stc explain`: the library's explanation as tables or as JSON.

use std::io::Write;

use serde_json::{Value, json};
use stc::Encoder;
use stc::explain::{Array, Explanation, Form, Named, Planned, Size};

use crate::args::Explain;
use crate::diagnose::{Diagnosis, visible};
use crate::failure::{Failure, Status};
use crate::format::title;
use crate::input::Source;
use crate::output::Output;
use crate::style::Style;
use crate::table::{aligned, grouped, percent};
use crate::trail::Place;

/// Arrays, and names of each kind, that are shown without `--all`.
const SHOWN_ROWS: usize = 20;
/// How much is shown.
#[derive(Clone, Copy)]
struct Extent {
    /// Arrays, and names of each kind.
    rows: usize,
    /// Characters of a path.
    path: usize,
    /// Characters of a header or of a text.
    text: usize,
}

impl Extent {
    fn new(all: bool, wide: bool) -> Self {
        let rows = if all { usize::MAX } else { SHOWN_ROWS };
        let (path, text) = if wide { (usize::MAX, usize::MAX) } else { (32, 72) };
        Self { rows, path, text }
    }
}

pub(crate) fn run(args: &Explain) -> Result<Status, Failure> {
    let source = Source::of(args.file.as_deref());
    let input = source.read(false, args.bounds.limits().input)?;
    let explanation = Encoder::with_options(args.options())
        .explain(&input)
        .map_err(|error| Diagnosis::new(&source.name(), error, Some(Place::within(&input, error.offset()))))?;
    let report = if args.json {
        format!("{:#}\n", as_json(&explanation))
    } else {
        let extent = Extent::new(args.all, args.wide);
        render(&explanation, &title(args.format), extent, Style::of(&std::io::stdout()))
    };
    let mut output = Output::stdout();
    output.write_all(report.as_bytes())?;
    output.commit()?;
    Ok(Status::Fine)
}

fn render(explanation: &Explanation, title: &str, extent: Extent, style: Style) -> String {
    let mut report = String::new();
    report += &match explanation.planned {
        Planned::Nothing => format!(
            "{title} needs too much memory to plan here: the minified JSON is written unchanged. It has more than a \
             million tokens of less than four bytes on average, or more than 65,536 levels.\n\n"
        ),
        _ if explanation.plain => {
            format!("{title} is not shorter here: the minified JSON is written unchanged. Forms that were tried:\n\n")
        }
        Planned::NoReferences => "Without references: finding them needs too much memory in more than half a million \
                                  tokens of less than eight bytes on average, or in more than 32,768 levels.\n\n"
            .to_owned(),
        Planned::All => String::new(),
    };
    if explanation.planned != Planned::Nothing && explanation.arrays.is_empty() {
        report += "No array has two or more objects.\n\n";
    }
    let headings = ["arrays", "form", "rows", "JSON bytes", "saved", "JSON tokens", "saved"];
    let tables = |array: &&Array| array.form != Form::Plain;
    let mut shown: Vec<&Array> = explanation.arrays.iter().collect();
    // Tables that save most come first; the sort is stable, so equal ones stay in document order.
    shown.sort_by_key(|array| std::cmp::Reverse((tables(array), saved_bytes(array).max(0))));
    section(&mut report, &headings, shown.len(), extent.rows, style, |index| array(shown[index], extent));
    for (heading, sigil, named) in [
        ("shapes", "@", &explanation.shapes),
        ("dictionary", "$", &explanation.dictionary),
        ("templates", "", &explanation.templates),
        ("anchors", "&", &explanation.anchors),
    ] {
        let headings = [heading, "uses", "saved bytes", "saved tokens"];
        let mut shown: Vec<&Named> = named.iter().collect();
        shown.sort_by_key(|named| std::cmp::Reverse(named.saved_bytes));
        section(&mut report, &headings, shown.len(), extent.rows, style, |index| name(shown[index], sigil, extent));
    }
    let total = vec![
        vec!["total".to_owned(), "minified JSON".to_owned(), title.to_owned(), "saved".to_owned()],
        total("bytes", explanation.json.bytes, explanation.stc.bytes),
        total("tokens, estimated", explanation.json.tokens, explanation.stc.tokens),
    ];
    report.extend(aligned(&total, style));
    report
}

/// Appends a table with a line of text under each row, and an empty line; nothing if there are no rows.
fn section(
    report: &mut String,
    headings: &[&str],
    count: usize,
    most: usize,
    style: Style,
    row: impl Fn(usize) -> (Vec<String>, String),
) {
    if count == 0 {
        return;
    }
    let rows: Vec<(Vec<String>, String)> = (0..count.min(most)).map(row).collect();
    let mut cells = vec![headings.iter().map(|&heading| heading.to_owned()).collect()];
    cells.extend(rows.iter().map(|(cells, _)| cells.clone()));
    for (index, line) in aligned(&cells, style).into_iter().enumerate() {
        *report += &line;
        if let Some((_, below)) = index.checked_sub(1).map(|index| &rows[index])
            && !below.is_empty()
        {
            *report += &format!("    {below}\n");
        }
    }
    if count > most {
        *report += &format!("… and {} more (--all)\n", count - most);
    }
    report.push('\n');
}

fn array(array: &Array, extent: Extent) -> (Vec<String>, String) {
    let Array { path, header, rows, json, .. } = array;
    let form = form(array.form).to_owned();
    let saved = [saved_bytes(array), json.tokens as i64 - array.stc.tokens as i64].map(signed);
    let [bytes, tokens] = saved;
    let rows = grouped(u64::from(*rows));
    let path = end_of(path, extent.path);
    let cells = vec![path, form, rows, grouped(json.bytes), bytes, grouped(json.tokens), tokens];
    (cells, beginning(header, extent.text))
}

fn name(named: &Named, sigil: &str, extent: Extent) -> (Vec<String>, String) {
    let Named { name, path, text, uses, saved_bytes, saved_tokens, .. } = named;
    let first =
        if path.is_empty() { format!("{sigil}{name}") } else { format!("{sigil}{name} {}", end_of(path, extent.path)) };
    let numbers = vec![first, grouped(*uses), signed(*saved_bytes), signed(*saved_tokens)];
    (numbers, beginning(text, extent.text))
}

fn total(unit: &str, json: u64, stc: u64) -> Vec<String> {
    let saved = if json == 0 { "-".to_owned() } else { percent(1.0 - stc as f64 / json as f64) };
    vec![format!("  {unit}"), grouped(json), grouped(stc), saved]
}

fn form(form: Form) -> &'static str {
    match form {
        Form::Table => "table",
        Form::KeyedTable => "keyed",
        Form::Plain => "plain",
    }
}

fn saved_bytes(array: &Array) -> i64 {
    array.json.bytes as i64 - array.stc.bytes as i64
}

fn signed(number: i64) -> String {
    let digits = grouped(number.unsigned_abs());
    if number < 0 { format!("-{digits}") } else { digits }
}

/// Returns the beginning of a text, safe for a terminal.
fn beginning(text: &str, most: usize) -> String {
    let text = visible(text.as_bytes());
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// Returns the end of a path, which says more than its beginning.
fn end_of(path: &str, most: usize) -> String {
    let path = visible(path.as_bytes());
    match path.chars().count().checked_sub(most) {
        None | Some(0) => path,
        Some(cut) => format!("…{}", path.chars().skip(cut + 1).collect::<String>()),
    }
}

fn as_json(explanation: &Explanation) -> Value {
    let size = |size: &Size| json!({ "bytes": size.bytes, "tokens": size.tokens });
    let array = |array: &Array| {
        json!({
            "path": array.path,
            "form": form(array.form),
            "header": array.header,
            "rows": array.rows,
            "json": size(&array.json),
            "stc": size(&array.stc),
        })
    };
    let named = |named: &Named| {
        json!({
            "name": named.name,
            "path": named.path,
            "text": named.text,
            "uses": named.uses,
            "saved": { "bytes": named.saved_bytes, "tokens": named.saved_tokens },
        })
    };
    let all = |list: &[Named]| list.iter().map(named).collect::<Value>();
    json!({
        "json": size(&explanation.json),
        "stc": size(&explanation.stc),
        "plain": explanation.plain,
        "planned": match explanation.planned {
            Planned::All => "all",
            Planned::NoReferences => "no references",
            Planned::Nothing => "nothing",
        },
        "arrays": explanation.arrays.iter().map(array).collect::<Value>(),
        "shapes": all(&explanation.shapes),
        "dictionary": all(&explanation.dictionary),
        "templates": all(&explanation.templates),
        "anchors": all(&explanation.anchors),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_paths_keep_their_end_and_long_headers_their_beginning() {
        let path = format!(".first{}", "[0]".repeat(20));
        assert_eq!(end_of(".items", 32), ".items");
        let short = end_of(&path, 32);
        assert!(short.starts_with('…') && short.ends_with("[0][0]"));
        assert_eq!(short.chars().count(), 32);
        assert_eq!((end_of(&path, usize::MAX), beginning(&path, usize::MAX)), (path.clone(), path));
        assert_eq!(beginning("abc", 2), "ab…");
        assert_eq!([signed(-1234), signed(5)], ["-1,234", "5"]);
    }
}
