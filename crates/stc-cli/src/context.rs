//! `stc context`: what becomes of the tool results in a request to a model, with real tokens; and the way back.

use std::io::Write;

use serde_json::{Value, json};
use stc_context::{
    Api, Context, Done, FormatChoice, HeaderOptions, Mode, Reader, ReaderChoice, Reading, Request, Settings, Trace,
};

use crate::args::Context as Args;
use crate::diagnose::{Diagnosis, visible};
use crate::failure::{Failure, Status};
use crate::input::Source;
use crate::output::Output;
use crate::style::Style;
use crate::table::{aligned, grouped, percent};
use crate::tokens::VOCABULARIES;
use crate::trail::Place;

/// The longest name of a tool in the table, in characters.
const LONGEST_TOOL_NAME: usize = 32;

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let source = Source::of(args.file.as_deref());
    let input = source.read(false, u64::MAX)?;
    stc::validate(&input)
        .map_err(|error| Diagnosis::new(&source.name(), error, Some(Place::within(&input, error.offset()))))?;
    let api = match args.api.as_deref() {
        Some(name) => named(name),
        None => guessed(&input),
    };
    if !stc_context::is_request(api, &input) {
        let what = args.api.as_deref().map_or("a request to a model".to_owned(), |name| format!("a request of {name}"));
        let why = format!("{}: not {what}: it has no list `messages`, `input` or `contents`", source.name());
        return Err(Failure::Usage(why));
    }
    if args.back {
        return back(args, api, &input);
    }
    let usual = Settings::default();
    let settings = Settings {
        mode: of_name(Mode::ALL, Mode::name, &args.mode).unwrap_or(usual.mode),
        format: of_name(FormatChoice::ALL, FormatChoice::name, &args.format).unwrap_or(usual.format),
        reader: args.reader.as_deref().and_then(reader).unwrap_or(usual.reader),
        max_request_bytes: usize::MAX,
        min_saving: args.min_saving.unwrap_or(usual.min_saving),
        ..usual
    };
    let context = Context::new(settings).map_err(Failure::Usage)?;
    let context = if args.steps { context.with_traces() } else { context };
    let request =
        Request { endpoint: api.into(), body: &input, headers: HeaderOptions::default(), model: args.model.as_deref() };
    let done = context.prepare(request).map_err(|bad| Failure::Usage(bad.to_string()))?;
    let sent = done.body.as_deref().unwrap_or(&input);
    let rows = measured(&input, sent, &done);
    let style = Style::of(&std::io::stdout());
    let report = match (args.json, args.steps) {
        (true, _) => format!("{:#}\n", as_json(&done, &rows)),
        (false, true) => table(&done, &rows, style) + "\n" + &steps(&rows, style),
        (false, false) => table(&done, &rows, style),
    };
    if let Some(path) = &args.out {
        let mut output = Output::create(Some(path))?;
        output.write_all(sent)?;
        output.commit()?;
    }
    let mut output = Output::stdout();
    output.write_all(report.as_bytes())?;
    output.commit()?;
    Ok(Status::Fine)
}

/// Decodes every text of a prepared request.
fn back(args: &Args, api: Api, input: &[u8]) -> Result<Status, Failure> {
    let restored = stc_context::restore(api, input);
    let body = restored.map_or_else(|| input.to_vec(), |restored| restored.body);
    let mut output = Output::create(args.out.as_deref())?;
    output.write_all(&body)?;
    output.commit()?;
    Ok(Status::Fine)
}

fn named(name: &str) -> Api {
    of_name(Api::ALL, Api::name, name).unwrap_or(Api::OpenAiChat)
}

/// Returns the reader of this name.
pub(crate) fn reader(name: &str) -> Option<ReaderChoice> {
    of_name(ReaderChoice::ALL, ReaderChoice::name, name)
}

/// Returns the value of this name.
fn of_name<T: Copy, const N: usize>(all: [T; N], named: fn(T) -> &'static str, name: &str) -> Option<T> {
    all.into_iter().find(|value| named(*value) == name)
}

/// Returns the API in which a request has the most tool results, of those that it is a request of.
fn guessed(body: &[u8]) -> Api {
    let count = |api: &Api| (stc_context::is_request(*api, body), stc_context::texts(*api, body).len());
    // The first of those that have as many: `max_by_key` takes the last.
    Api::ALL.into_iter().rev().max_by_key(count).unwrap_or(Api::OpenAiChat)
}

/// A text of a tool result, measured.
struct Row {
    call: Option<String>,
    tool: Option<String>,
    family: &'static str,
    status: &'static str,
    bytes: [u64; 2],
    /// Tokens of o200k.
    tokens: [u64; 2],
    estimated: [u64; 2],
    redacted: u32,
    traces: Vec<Trace>,
}

fn measured(input: &[u8], sent: &[u8], done: &Done) -> Vec<Row> {
    let text = |body: &[u8], place: &std::ops::Range<usize>| stc_context::text(body, place).map(String::from);
    let count = |text: &Option<String>| text.as_ref().map_or(0, |text| VOCABULARIES[0].count(text, drop));
    let row = |item: &stc_context::Item| {
        let texts = [text(input, &item.text), text(sent, &item.sent)];
        Row {
            call: item.call.as_ref().and_then(|call| text(input, call)),
            tool: done.report.tool(item).map(String::from),
            family: item.family(),
            status: item.status.name(),
            bytes: [item.saved.bytes_in, item.saved.bytes_out],
            tokens: texts.each_ref().map(count),
            estimated: [item.saved.tokens_in, item.saved.tokens_out],
            redacted: item.redacted,
            traces: item.traces.clone(),
        }
    };
    done.report.items.iter().map(row).collect()
}

/// Returns a name as the table shows it.
fn short(name: &Option<String>) -> String {
    let name = visible(name.as_deref().unwrap_or("-").as_bytes());
    if name.chars().count() > LONGEST_TOOL_NAME {
        name.chars().take(LONGEST_TOOL_NAME - 1).collect::<String>() + "…"
    } else {
        name
    }
}

/// Returns a table of what each step did to each text.
fn steps(rows: &[Row], style: Style) -> String {
    let titles = ["call", "tool", "step", "bytes", "after", "estimated tokens", "after", "kept"];
    let mut lines = vec![titles.map(String::from).to_vec()];
    for row in rows {
        for trace in &row.traces {
            let [bytes, tokens] = [trace.bytes, trace.tokens].map(|sizes| sizes.map(grouped));
            let kept = if trace.kept { "yes" } else { "no" };
            let names = [short(&row.call), short(&row.tool), trace.step.name().to_owned()];
            lines.push(names.into_iter().chain(bytes).chain(tokens).chain([kept.to_owned()]).collect());
        }
    }
    aligned(&lines, style).concat()
}

fn table(done: &Done, rows: &[Row], style: Style) -> String {
    let titles = ["call", "tool", "family", "status", "bytes", "after", "o200k", "after", "saved"];
    let mut lines = vec![titles.map(String::from).to_vec()];
    let line = |names: [String; 4], bytes: [u64; 2], tokens: [u64; 2]| {
        let saved = if tokens[0] == 0 { 0.0 } else { 1.0 - tokens[1] as f64 / tokens[0] as f64 };
        let sizes = [grouped(bytes[0]), grouped(bytes[1]), grouped(tokens[0]), grouped(tokens[1]), percent(saved)];
        names.into_iter().chain(sizes).collect::<Vec<_>>()
    };
    for row in rows {
        let names = [short(&row.call), short(&row.tool), row.family.to_owned(), row.status.to_owned()];
        lines.push(line(names, row.bytes, row.tokens));
    }
    let (bytes, tokens) = totals(rows);
    lines.push(line(["all".to_owned(), String::new(), String::new(), String::new()], bytes, tokens));
    let left = done.report.left.map_or(String::new(), |left| format!(", left as it came: {left}"));
    let reading = done.report.reading.as_ref().map_or(String::new(), |Reading { reader, by, .. }| match reader {
        Some(reader) => format!(", for a {} reader by {by}", reader.name()),
        None => format!(", by {by}"),
    });
    let head = format!(
        "{}, {}{left}, {} of {} texts changed{reading}\n",
        done.report.api.name(),
        done.report.mode.name(),
        done.report.changed(),
        rows.len()
    );
    head + &aligned(&lines, style).concat()
}

fn totals(rows: &[Row]) -> ([u64; 2], [u64; 2]) {
    let sum = |pick: fn(&Row) -> [u64; 2]| {
        rows.iter().map(pick).fold([0, 0], |[a, b], [before, after]| [a + before, b + after])
    };
    (sum(|row| row.bytes), sum(|row| row.tokens))
}

fn as_json(done: &Done, rows: &[Row]) -> Value {
    let step = |trace: &Trace| {
        json!({
            "step": trace.step.name(), "kept": trace.kept, "bytes": trace.bytes, "estimated_tokens": trace.tokens,
        })
    };
    let row = |row: &Row| {
        json!({
            "call": row.call, "tool": row.tool, "family": row.family, "status": row.status, "bytes": row.bytes,
            "o200k": row.tokens, "estimated_tokens": row.estimated, "redacted": row.redacted,
            "steps": row.traces.iter().map(step).collect::<Vec<_>>(),
        })
    };
    let (bytes, tokens) = totals(rows);
    let reading = done.report.reading.as_ref().map(
        |Reading { format, reader, by }| json!({"level": reader.map(Reader::name), "by": by, "format": format.name()}),
    );
    json!({
        "api": done.report.api.name(),
        "mode": done.report.mode.name(),
        "reader": reading,
        "left": done.report.left.map(|left| left.name()),
        "changed": done.report.changed(),
        "results": rows.iter().map(row).collect::<Vec<_>>(),
        "total": {"bytes": bytes, "o200k": tokens},
    })
}
