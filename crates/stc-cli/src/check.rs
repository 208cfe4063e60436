//! `stc check`: is it valid, and does it come back exactly?
//!
//! The judges are not the codec: a minifier of a few lines says what has to come back, and serde_json says whether it is
//! JSON at all.

use std::io::{BufReader, IsTerminal, Write};

use serde::de::IgnoredAny;
use stc::{Decoder, Encoder, Options};

use crate::args::Check;
use crate::diagnose::Diagnosis;
use crate::failure::{Failure, Status};
use crate::format::Format;
use crate::input::{CHUNK, Input, Source};
use crate::lines::{holds_document, read_line, without_feed};
use crate::minify::minify;
use crate::output::Output;
use crate::progress::Progress;
use crate::style::Style;
use crate::trail::Place;
use crate::walk;

pub(crate) fn run(args: &Check) -> Result<Status, Failure> {
    let mut report = Output::stdout();
    let style = Style::of(&std::io::stdout());
    // Who sees stderr beside stdout is told once, and there.
    let apart = !(std::io::stdout().is_terminal() && std::io::stderr().is_terminal());
    let mut status = Status::Fine;
    let sources = walk::sources(&args.paths, &["json", "ndjson", "jsonl", "stc"]);
    let progress = Progress::alone();
    progress.expect(sources.iter().flatten().map(Source::size).sum());
    for source in sources {
        let name = source.as_ref().map(Source::name).unwrap_or_default();
        progress.name(&name);
        match source.and_then(|source| check(&source, args, &progress)) {
            Ok(()) => writeln!(report, "{name}: {}", style.good("ok"))?,
            Err(failure) => {
                if let (Failure::Refused(diagnosis), true) = (&failure, apart) {
                    writeln!(report, "{name}: {}, {}", style.error("refused"), diagnosis.in_one_line())?;
                }
                progress.aside(|| {
                    // In the order in which it happened, where both go to one terminal.
                    let flushed = report.flush();
                    failure.report();
                    flushed
                })?;
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
    progress.advance(document.len() as u64);
    judge.document(&document).map_err(|fault| {
        let place = |offset| Some(Place::within(&document, offset));
        match fault {
            Fault::Codec(error) => Diagnosis::new(&source.name(), error, place(error.offset())),
            Fault::Other(message) => Diagnosis::with_message(&source.name(), message, 0, place(0)),
        }
        .into()
    })
}

/// One document a line, one line at a time.
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
                Fault::Codec(error) => reader.get_ref().refused(error.shifted(offset)),
                Fault::Other(message) => reader.get_ref().refused_for(message, offset),
            })?;
        }
        offset += length;
    }
}

/// What is wrong with a document.
enum Fault {
    /// The codec refuses it, at a byte of it.
    Codec(stc::Error),
    /// The codec takes it, and should not have, or does not give it back.
    Other(String),
}

struct Judge {
    /// One for each format.
    encoders: [(Format, Encoder); Format::ALL.len()],
    decoder: Decoder,
    is_stc: bool,
}

impl Judge {
    fn new(options: Options, is_stc: bool) -> Self {
        let encoders = Format::ALL.map(|format| (format, Encoder::with_options(format.apply(options))));
        Self { encoders, decoder: Decoder::with_options(options), is_stc }
    }

    fn document(&mut self, text: &[u8]) -> Result<(), Fault> {
        if !self.is_stc {
            return self.json(text);
        }
        let json = self.decoder.decode(text).map_err(Fault::Codec)?.to_vec();
        self.json(&json).map_err(|fault| {
            Fault::Other(match fault {
                Fault::Codec(error) => format!("decodes to what is not JSON: {error} of the result"),
                Fault::Other(message) => format!("decodes, but then: {message}"),
            })
        })
    }

    fn json(&mut self, json: &[u8]) -> Result<(), Fault> {
        let Self { encoders, decoder, .. } = self;
        let mut minified: Option<Vec<u8>> = None;
        for (format, encoder) in encoders {
            let (title, stc) = (format.title(), encoder.encode(json).map_err(Fault::Codec)?);
            // Asked once the codec has said yes.
            let minified = match &minified {
                Some(minified) => minified,
                None => minified.insert(judged(json)?),
            };
            let back = decoder
                .decode(stc)
                .map_err(|error| Fault::Other(format!("its {title} does not decode: {error} of the STC")))?;
            if back != minified {
                let same = back.iter().zip(minified).take_while(|(one, other)| one == other).count();
                return Err(Fault::Other(format!(
                    "the round trip through {title} is not exact: it differs from byte {same} of the minified JSON on"
                )));
            }
        }
        Ok(())
    }
}

/// What has to come back of a text that the codec takes, unless somebody else says that it is not JSON.
fn judged(json: &[u8]) -> Result<Vec<u8>, Fault> {
    if let Err(error) = std::str::from_utf8(json) {
        return Err(Fault::Other(format!("accepted, but {error}")));
    }
    // Skipping a value is a loop in serde_json, not a recursion: no depth is too deep for it.
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(json) {
        return Err(Fault::Other(format!("accepted, but another parser says: {error}")));
    }
    Ok(minify(json))
}
