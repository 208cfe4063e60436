//! `stc encode`: JSON to STC; nothing is written unless the whole input is valid.

use std::io::{self, BufReader, Read, Write};

use stc::{Encoder, Format};

use crate::args::Encode;
use crate::convert::{self, Extensions};
use crate::failure::{Failure, Status};
use crate::input::{CHUNK, Input};
use crate::output::Output;

pub(crate) fn run(args: &Encode) -> Result<Status, Failure> {
    let lines = args.stream.lines;
    let to = match (args.format, lines) {
        (Format::Json, false) => "json",
        (Format::Json, true) => "ndjson",
        (_, false) => "stc",
        (_, true) => "ndstc",
    };
    let from: &[&str] = if lines { &["ndjson", "jsonl"] } else { &["json"] };
    convert::run(&args.paths, &args.stream, &Extensions { from, to }, |input, output| {
        let mut encoder = Encoder::with_options(args.options());
        if lines {
            stc::io::encode_lines(BufReader::with_capacity(CHUNK, input), output, &mut encoder).map(drop)
        } else {
            document(input, output, &mut encoder)
        }
    })
}

/// Encodes one document as it is read. A file receives output as soon as it is certain; stdout cannot be undone, so it
/// receives everything at the end.
fn document(input: &mut Input<'_>, output: &mut Output, encoder: &mut Encoder) -> io::Result<()> {
    let rejected = |error: stc::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut chunk = vec![0; CHUNK];
    let mut certain = Vec::new();
    loop {
        let count = match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        encoder.push(&chunk[..count], &mut certain).map_err(rejected)?;
        if output.can_be_undone() {
            output.write_all(&certain)?;
            certain.clear();
        }
    }
    encoder.finish(&mut certain).map_err(rejected)?;
    output.write_all(&certain)
}
