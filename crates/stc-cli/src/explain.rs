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
use crate::table::{aligned, grouped};
use crate::trail::Place;

/// Arrays, and names of each kind, that are shown without `--all`.
const SHOWN: usize = 20;
/// Characters of a path and of a header that are shown.
const PATH: usize = 32;
const HEADER: usize = 72;

pub(crate) fn run(args: &Explain) -> Result<Status, Failure> {
    let source = Source::of(args.file.as_deref());
    let input = source.read(false, args.bounds.limits().input)?;
    let explanation = Encoder::with_options(args.options())
        .explain(&input)
        .map_err(|error| Diagnosis::new(&source.name(), error, Some(Place::within(&input, error.offset()))))?;
    let report = if args.json {
        format!("{:#}\n", as_json(&explanation))
    } else {
        let most = if args.all { usize::MAX } else { SHOWN };
        render(&explanation, &title(args.format), most, Style::of(&std::io::stdout()))
    };
    let mut output = Output::stdout();
    output.write_all(report.as_bytes())?;
    output.commit()?;
    Ok(Status::Fine)
}

fn render(explanation: &Explanation, title: &str, most: usize, style: Style) -> String {
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
                                  tokens of less than eight bytes on average.\n\n"
            .to_owned(),
        Planned::All => String::new(),
    };
    if explanation.planned != Planned::Nothing && explanation.arrays.is_empty() {
        report += "No array has two or more objects.\n\n";
    }
    let headings = ["arrays", "form", "rows", "JSON", title, "saved", "tokens", "saved"];
    let tables = |array: &&Array| array.form != Form::Plain;
    let mut shown: Vec<&Array> = explanation.arrays.iter().collect();
    // Tables that save most come first; the sort is stable, so equal ones stay in document order.
    shown.sort_by_key(|array| std::cmp::Reverse((tables(array), saved_bytes(array).max(0))));
    section(&mut report, &headings, shown.len(), most, style, |index| array(shown[index]));
    for (heading, sigil, named) in [
        ("shapes", "@", &explanation.shapes),
        ("dictionary", "$", &explanation.dictionary),
        ("templates", "", &explanation.templates),
        ("anchors", "&", &explanation.anchors),
    ] {
        let headings = [heading, "uses", "bytes", "tokens"];
        let mut shown: Vec<&Named> = named.iter().collect();
        shown.sort_by_key(|named| std::cmp::Reverse(named.saved_bytes));
        section(&mut report, &headings, shown.len(), most, style, |index| name(shown[index], sigil));
    }
    let total = vec![
        vec!["total".to_owned(), "minified JSON".to_owned(), title.to_owned(), "/min".to_owned()],
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

fn array(array: &Array) -> (Vec<String>, String) {
    let Array { path, header, rows, json, stc, .. } = array;
    let form = form(array.form).to_owned();
    let saved = [saved_bytes(array), json.tokens as i64 - stc.tokens as i64].map(signed);
    let [bytes, tokens] = saved;
    let numbers = [u64::from(*rows), json.bytes, stc.bytes].map(grouped);
    let [rows, before, after] = numbers;
    (vec![end_of(path), form, rows, before, after, bytes, grouped(json.tokens), tokens], beginning(header, HEADER))
}

fn name(named: &Named, sigil: &str) -> (Vec<String>, String) {
    let Named { name, path, text, uses, saved_bytes, saved_tokens, .. } = named;
    let first = if path.is_empty() { format!("{sigil}{name}") } else { format!("{sigil}{name} {}", end_of(path)) };
    let numbers = vec![first, grouped(*uses), signed(*saved_bytes), signed(*saved_tokens)];
    (numbers, beginning(text, HEADER))
}

fn total(unit: &str, json: u64, stc: u64) -> Vec<String> {
    let share = if json == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * stc as f64 / json as f64) };
    vec![format!("  {unit}"), grouped(json), grouped(stc), share]
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
fn end_of(path: &str) -> String {
    let path = visible(path.as_bytes());
    match path.chars().count().checked_sub(PATH) {
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
        assert_eq!(end_of(".items"), ".items");
        assert!(end_of(&path).starts_with('…') && end_of(&path).ends_with("[0][0]"));
        assert_eq!(end_of(&path).chars().count(), PATH);
        assert_eq!(beginning("abc", 2), "ab…");
        assert_eq!([signed(-1234), signed(5)], ["-1,234", "5"]);
    }
}
