//! `stc encode`: JSON to STC; nothing is written unless the whole input is valid.

use std::io::{self, BufReader, Read, Write};

use stc::Encoder;

use crate::args::Encode;
use crate::failure::{Failure, Status};
use crate::input::{CHUNK, Input, Source};
use crate::output::Output;
use crate::progress::Progress;

pub(crate) fn run(args: &Encode) -> Result<Status, Failure> {
    let source = Source::of(args.file.as_deref());
    let progress = Progress::with_output(args.stream.to_stdout());
    progress.expect(source.size());
    let mut input = Input::open(&source, args.stream.lines, &progress)?;
    let mut output = Output::create(args.stream.output.as_deref())?;
    let mut encoder = Encoder::with_options(args.options());
    let encoded = if args.stream.lines {
        stc::io::encode_lines(BufReader::with_capacity(CHUNK, &mut input), &mut output, &mut encoder).map(drop)
    } else {
        document(&mut input, &mut output, &mut encoder)
    };
    if let Err(error) = encoded {
        output.end_line()?;
        return Err(input.failure(error));
    }
    output.commit()?;
    Ok(Status::Fine)
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
