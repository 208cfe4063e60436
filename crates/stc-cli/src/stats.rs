//! `stc stats`: bytes and tokens of a document in every format.
//!
//! Every file is written in every one of the [`formats`] and measured in every one of [`UNITS`]; the table and the JSON
//! print the same grid. In files of one document per line, each document is encoded separately, followed by a line feed; for
//! STC 2 the result is only a size to compare, not a text that can be decoded.

use std::borrow::Cow;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use serde_json::{Map, Value, json};
use stc::{Encoder, Format};

use crate::args::Stats;
use crate::diagnose::Diagnosis;
use crate::failure::{Failure, Status};
use crate::input::Source;
use crate::lines::{holds_document, without_feed};
use crate::measured::{BASELINE, FORMATS, Measured, TextFormat, UNITS, formats};
use crate::minify::minify;
use crate::output::Output;
use crate::progress::Progress;
use crate::sources;
use crate::style::Style;
use crate::table;
use crate::tokens::VOCABULARIES;
use crate::trail::Place;

pub(crate) fn run(args: &Stats) -> Result<Status, Failure> {
    let sources = sources::sources(&args.paths, &["json", "ndjson", "jsonl"]);
    let progress = Progress::alone();
    progress.expect(sources.iter().flatten().map(Source::size).sum());
    let mut encoders = Format::STC.map(|format| Encoder::with_options(args.options().format(format)));
    let (mut measured, mut failures) = (Vec::new(), Vec::new());
    let mut done = 0;
    for source in sources {
        let size = source.as_ref().ok().and_then(Source::size);
        match source.and_then(|source| measure(&source, args, &mut encoders, &Part { progress: &progress, done })) {
            Ok(file) => measured.push(file),
            Err(failure) => failures.push(failure),
        }
        done += size.unwrap_or(0);
        progress.reach(done);
    }
    drop(progress);
    let total = Measured::total(&measured);
    let report = if args.json {
        format!("{:#}\n", as_json(&measured, &total, &failures))
    } else {
        table::render(&measured, (measured.len() > 1).then_some(&total), Style::of(&std::io::stdout()))
    };
    let mut output = Output::stdout();
    output.write_all(report.as_bytes())?;
    output.commit()?;
    failures.iter().for_each(Failure::report);
    Ok(failures.iter().map(Failure::status).max().unwrap_or(Status::Fine))
}

/// A file's part of the progress.
struct Part<'p> {
    progress: &'p Progress,
    /// The bytes of the files before it.
    done: u64,
}

/// The share of the work that writes the texts; the rest counts their tokens.
const WRITING: f64 = 0.1;

impl Part<'_> {
    /// Reports that a share of the texts, from 0 to 1, is written.
    fn written(&self, size: usize, share: f64) {
        self.reach(size, WRITING * share);
    }

    /// Reports that a share of the tokens, from 0 to 1, is counted.
    fn counted(&self, size: usize, share: f64) {
        self.reach(size, WRITING + (1.0 - WRITING) * share);
    }

    fn reach(&self, size: usize, share: f64) {
        self.progress.reach(self.done + (share * size as f64) as u64);
    }
}

fn measure(source: &Source, args: &Stats, encoders: &mut [Encoder], part: &Part<'_>) -> Result<Measured, Failure> {
    let name = source.name();
    part.progress.name(&name);
    let lines = args.lines || source.has_extension(&["ndjson", "jsonl"]);
    let longest = args.bounds.limits().input;
    let input = source.read(lines, longest)?;
    let texts = texts(&input, lines, longest, encoders, |share| part.written(input.len(), share))
        .map_err(|error| Diagnosis::new(&name, error, Some(Place::within(&input, error.offset()))))?;
    let mut sizes = texts.each_ref().map(|text| text.as_ref().map(|_| [0; UNITS.len()]));
    let all = texts.iter().flatten().map(|text| text.len() as u64).sum::<u64>() * VOCABULARIES.len() as u64;
    let counted = AtomicU64::new(0);
    // One thread for each number: they are independent, and counting dominates the time.
    thread::scope(|scope| {
        for (sizes, text) in sizes.iter_mut().flatten().zip(texts.iter().flatten()) {
            let (bytes, tokens) = sizes.split_first_mut().expect("bytes are the first unit");
            *bytes = text.len() as u64;
            // Valid JSON is valid UTF-8, and so are the other texts.
            let text = str::from_utf8(text).expect("the codec checked that it is UTF-8");
            for (tokens, vocabulary) in tokens.iter_mut().zip(&VOCABULARIES) {
                let (counted, input) = (&counted, &input);
                scope.spawn(move || {
                    *tokens = vocabulary.count(text, |bytes| {
                        let counted = counted.fetch_add(bytes, Ordering::Relaxed) + bytes;
                        part.counted(input.len(), counted as f64 / all as f64);
                    });
                });
            }
        }
    });
    Ok(Measured { name, sizes })
}

/// Returns the input in every one of the [`formats`]; `None` for TOON that could not be written. Calls `written` with the
/// share that is done.
fn texts<'a>(
    input: &'a [u8],
    lines: bool,
    longest: u64,
    encoders: &mut [Encoder],
    written: impl Fn(f64),
) -> Result<[Option<Cow<'a, [u8]>>; FORMATS], stc::Error> {
    let mut minified = Vec::new();
    let mut toon = Some(Vec::new());
    let mut encoded = vec![Vec::new(); encoders.len()];
    if lines {
        let mut offset = 0;
        for line in input.split_inclusive(|&byte| byte == b'\n') {
            let text = holds_document(line, longest).then(|| without_feed(line));
            for (encoder, encoded) in encoders.iter_mut().zip(&mut encoded) {
                if let Some(text) = text {
                    encoder.encode_into(text, encoded).map_err(|error| error.shifted(offset))?;
                }
                encoded.push(b'\n');
            }
            minified.append(&mut text.map(minify).unwrap_or_default());
            minified.push(b'\n');
            toon = toon.and_then(|mut toon| {
                toon.append(&mut text.map_or(Some(Vec::new()), as_toon)?);
                toon.push(b'\n');
                Some(toon)
            });
            offset += line.len() as u64;
            written(offset as f64 / input.len() as f64);
        }
    } else {
        let steps = encoders.len() as f64 + 1.0;
        for (step, (encoder, encoded)) in encoders.iter_mut().zip(&mut encoded).enumerate() {
            encoder.encode_into(input, encoded)?;
            written((step as f64 + 1.0) / steps);
        }
        minified = minify(input);
        toon = as_toon(input);
    }
    let others = [Some(input.into()), Some(minified.into()), toon.map(Cow::from)];
    let mut texts = others.into_iter().chain(encoded.into_iter().map(|text| Some(Cow::from(text))));
    Ok(std::array::from_fn(|_| texts.next().flatten()))
}

/// Returns TOON, written from parsed JSON as its library does; none if the parser or the library rejects the document.
fn as_toon(json: &[u8]) -> Option<Vec<u8>> {
    // The parser refuses more than 128 levels, so the writer's recursion is bounded.
    let value: Value = serde_json::from_slice(json).ok()?;
    toon_format::encode_default(&value).ok().map(String::into_bytes)
}

fn as_json(measured: &[Measured], total: &Measured, failures: &[Failure]) -> Value {
    json!({
        "files": measured.iter().map(|file| {
            let mut grid = grid(file);
            grid.insert("file".to_owned(), json!(file.name));
            Value::Object(grid)
        }).collect::<Vec<_>>(),
        "total": grid(total),
        "failed": failures.iter().map(failed).collect::<Vec<_>>(),
    })
}

fn grid(measured: &Measured) -> Map<String, Value> {
    let units = |value: &dyn Fn(usize) -> Value| {
        UNITS.iter().enumerate().map(|(unit, name)| ((*name).to_owned(), value(unit))).collect::<Map<_, _>>()
    };
    let cell = |(index, format): (usize, TextFormat)| {
        let Some(sizes) = measured.sizes[index] else { return (format.key, Value::Null) };
        let mut cell = units(&|unit| json!(sizes[unit]));
        if index != BASELINE {
            cell.insert("saved".to_owned(), units(&|unit| json!(measured.saved(index, unit))).into());
        }
        (format.key, cell.into())
    };
    formats().enumerate().map(cell).collect()
}

/// Describes a failure with the same keys in all cases; keys that do not apply are null.
fn failed(failure: &Failure) -> Value {
    match failure {
        Failure::Rejected(diagnosis) => json!({
            "file": diagnosis.name(),
            "error": diagnosis.message(),
            "offset": diagnosis.offset(),
            "line": diagnosis.position().map(|(line, _)| line),
            "column": diagnosis.position().map(|(_, column)| column),
        }),
        Failure::Io { name, message } => {
            json!({ "file": name, "error": message, "offset": null, "line": null, "column": null })
        }
        Failure::Usage(_) | Failure::Closed => Value::Null,
    }
}
