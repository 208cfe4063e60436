//! `stc check`: checks that input is valid and that its round trip is exact.
//!
//! The check does not rely on the codec: an independent minifier provides the expected result, and serde_json decides
//! whether the input is JSON.

use std::io::{BufReader, Write};

use serde::de::IgnoredAny;
use stc::{Decoder, Encoder, Format, Options};

use crate::args::Check;
use crate::diagnose::Diagnosis;
use crate::failure::{Failure, Status};
use crate::format::title;
use crate::input::{CHUNK, Input, Source};
use crate::lines::{holds_document, read_line, without_feed};
use crate::minify::minify;
use crate::output::Output;
use crate::progress::Progress;
use crate::sources;
use crate::style::Style;
use crate::trail::Place;

pub(crate) fn run(args: &Check) -> Result<Status, Failure> {
    let mut report = Output::stdout();
    let style = Style::of(&std::io::stdout());
    let mut status = Status::Fine;
    let sources = sources::sources(&args.paths, &["json", "ndjson", "jsonl", "stc"]);
    let progress = Progress::alone();
    progress.expect(sources.iter().flatten().map(Source::size).sum());
    for source in sources {
        let name = source.as_ref().map(Source::name).unwrap_or_default();
        progress.name(&name);
        match source.and_then(|source| check(&source, args, &progress)) {
            Ok(()) => writeln!(report, "{name}: {}", style.good("ok"))?,
            Err(failure) => {
                // A rejection is a result, so it is part of the report; stderr is for files that cannot be read.
                if let Failure::Rejected(diagnosis) = &failure {
                    writeln!(report, "{name}: {}, {}", style.error("rejected"), diagnosis.in_one_line())?;
                    write!(report, "{}", diagnosis.details(style))?;
                } else {
                    progress.aside(|| {
                        // Flushed first, so that the order is right if both streams go to one terminal.
                        let flushed = report.flush();
                        failure.report();
                        flushed
                    })?;
                }
                status = status.max(failure.status());
            }
        }
    }
    drop(progress);
    report.commit()?;
    Ok(status)
}

fn check(source: &Source, args: &Check, progress: &Progress) -> Result<(), Failure> {
    let is_stc = args.stc || source.has_extension(&["stc"]);
    let mut judge = Judge::new(args.options(), is_stc);
    let longest = args.bounds.limits().input;
    if args.lines || source.has_extension(&["ndjson", "jsonl"]) {
        return lines(source, &mut judge, longest, progress);
    }
    let document = source.read(false, longest)?;
    let judged = judge.document(&document);
    progress.advance(document.len() as u64);
    judged.map_err(|fault| {
        let place = |offset| Some(Place::within(&document, offset));
        match fault {
            Fault::Codec(error) => Diagnosis::new(&source.name(), error, place(error.offset())),
            Fault::Other(message) => Diagnosis::with_message(&source.name(), message, 0, place(0)),
        }
        .into()
    })
}

/// Checks one document per line.
fn lines(source: &Source, judge: &mut Judge, longest: u64, progress: &Progress) -> Result<(), Failure> {
    let mut reader = BufReader::with_capacity(CHUNK, Input::open(source, true, progress)?);
    let (mut line, mut offset) = (Vec::new(), 0);
    loop {
        line.clear();
        let length = read_line(&mut reader, longest, &mut line)? as u64;
        if length == 0 {
            return Ok(());
        }
        if holds_document(&line, longest) {
            judge.document(without_feed(&line)).map_err(|fault| match fault {
                Fault::Codec(error) => reader.get_ref().rejected(error.shifted(offset)),
                Fault::Other(message) => reader.get_ref().rejected_for(message, offset),
            })?;
        }
        offset += length;
    }
}

/// A fault of a document.
enum Fault {
    /// The codec rejects it, at an offset.
    Codec(stc::Error),
    /// The codec accepts it wrongly, or does not restore it.
    Other(String),
}

struct Judge {
    /// One for each format.
    encoders: [(Format, Encoder); Format::STC.len()],
    decoder: Decoder,
    is_stc: bool,
}

impl Judge {
    fn new(options: Options, is_stc: bool) -> Self {
        let encoders = Format::STC.map(|format| (format, Encoder::with_options(options.format(format))));
        Self { encoders, decoder: Decoder::with_options(options), is_stc }
    }

    fn document(&mut self, text: &[u8]) -> Result<(), Fault> {
        if !self.is_stc {
            return self.json(text);
        }
        let json = self.decoder.decode(text).map_err(Fault::Codec)?.to_vec();
        self.json(&json).map_err(|fault| {
            Fault::Other(match fault {
                Fault::Codec(error) => format!("decodes to invalid JSON: {error} of the result"),
                Fault::Other(message) => format!("decodes, but the result fails: {message}"),
            })
        })
    }

    fn json(&mut self, json: &[u8]) -> Result<(), Fault> {
        let Self { encoders, decoder, .. } = self;
        let mut minified: Option<Vec<u8>> = None;
        for (format, encoder) in encoders {
            let stc = encoder.encode(json).map_err(Fault::Codec)?;
            // Computed only after the codec has accepted the text.
            let minified = match &minified {
                Some(minified) => minified,
                None => minified.insert(judged(json)?),
            };
            let back = decoder
                .decode(stc)
                .map_err(|error| Fault::Other(format!("{} does not decode: {error} of the STC", title(*format))))?;
            if back != minified {
                let same = back.iter().zip(minified).take_while(|(one, other)| one == other).count();
                return Err(Fault::Other(format!(
                    "the round trip through {} is not exact: it differs at byte {same} of the minified JSON",
                    title(*format)
                )));
            }
        }
        Ok(())
    }
}

/// Returns the minified text of JSON that the codec has accepted; fails if another parser rejects it.
fn judged(json: &[u8]) -> Result<Vec<u8>, Fault> {
    if let Err(error) = std::str::from_utf8(json) {
        return Err(Fault::Other(format!("accepted, but {error}")));
    }
    // serde_json skips values in a loop without recursion, so depth is not limited.
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(json) {
        return Err(Fault::Other(format!("accepted, but rejected by another parser: {error}")));
    }
    Ok(minify(json))
}
