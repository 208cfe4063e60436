//! `stc stats`: bytes and tokens of a document in every format.
//!
//! Every file is written in every one of the [`columns`] and measured in every one of [`UNITS`]; the table and the JSON
//! print the same grid. In files of one document per line, each document is encoded separately, followed by a line feed; for
//! STC 2 the result is only a size to compare, not a text that can be decoded.

use std::borrow::Cow;
use std::io::Write;
use std::thread;

use serde_json::{Map, Value, json};
use stc::{Encoder, Format};

use crate::args::Stats;
use crate::diagnose::Diagnosis;
use crate::failure::{Failure, Status};
use crate::input::Source;
use crate::lines::{holds_document, without_feed};
use crate::measured::{BASELINE, FORMATS, Measured, UNITS, columns};
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
    for source in sources {
        match source.and_then(|source| measure(&source, args, &mut encoders, &progress)) {
            Ok(file) => measured.push(file),
            Err(failure) => failures.push(failure),
        }
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

fn measure(source: &Source, args: &Stats, encoders: &mut [Encoder], progress: &Progress) -> Result<Measured, Failure> {
    let name = source.name();
    progress.name(&name);
    let lines = args.lines || source.has_extension(&["ndjson", "jsonl"]);
    let longest = args.bounds.limits().input;
    let input = source.read(lines, longest)?;
    let texts = texts(&input, lines, longest, encoders)
        .map_err(|error| Diagnosis::new(&name, error, Some(Place::within(&input, error.offset()))))?;
    let mut sizes = [[0; UNITS.len()]; FORMATS];
    // One thread for each number: they are independent, and counting dominates the time.
    thread::scope(|scope| {
        for (format, (sizes, text)) in sizes.iter_mut().zip(&texts).enumerate() {
            let (bytes, tokens) = sizes.split_first_mut().expect("bytes are the first unit");
            *bytes = text.len() as u64;
            // Valid JSON is valid UTF-8, and so is its STC.
            let text = str::from_utf8(text).expect("the codec checked that it is UTF-8");
            for (tokens, vocabulary) in tokens.iter_mut().zip(&VOCABULARIES) {
                scope.spawn(move || {
                    *tokens = vocabulary.count(text, |bytes| {
                        // Only the text as given reports progress: it is the longest.
                        if format == 0 {
                            progress.advance(bytes / VOCABULARIES.len() as u64);
                        }
                    });
                });
            }
        }
    });
    Ok(Measured { name, sizes })
}

/// Returns the input in every one of the [`columns`].
fn texts<'a>(
    input: &'a [u8],
    lines: bool,
    longest: u64,
    encoders: &mut [Encoder],
) -> Result<Vec<Cow<'a, [u8]>>, stc::Error> {
    let mut minified = Vec::new();
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
            offset += line.len() as u64;
        }
    } else {
        for (encoder, encoded) in encoders.iter_mut().zip(&mut encoded) {
            encoder.encode_into(input, encoded)?;
        }
        minified = minify(input);
    }
    Ok([input.into(), minified.into()].into_iter().chain(encoded.into_iter().map(Cow::from)).collect())
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
    let by_unit = |value: &dyn Fn(usize) -> Value| -> Value {
        UNITS.iter().enumerate().map(|(unit, name)| ((*name).to_owned(), value(unit))).collect::<Map<_, _>>().into()
    };
    let mut grid = Map::new();
    for (index, format) in columns().enumerate() {
        grid.insert(format.key.clone(), by_unit(&|unit| json!(measured.sizes[index][unit])));
        if index > BASELINE {
            let ratio = by_unit(&|unit| json!(measured.ratio(index, unit)));
            grid.insert(format!("{}_to_minified", format.key), ratio);
        }
    }
    grid
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
