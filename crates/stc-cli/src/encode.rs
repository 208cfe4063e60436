//! `stc encode`: JSON to STC, nothing written unless all of it is right.

use std::io::{self, BufReader, Read, Write};

use stc::Encoder;

use crate::args::Encode;
use crate::failure::{Failure, Status};
use crate::input::{CHUNK, Input, Source};
use crate::output::Output;
use crate::progress::Progress;

pub(crate) fn run(args: &Encode) -> Result<Status, Failure> {
    let source = Source::of(args.file.as_deref());
    let progress = Progress::beside_data(args.stream.to_stdout());
    progress.expect(source.size());
    let mut input = Input::open(&source, args.stream.lines, &progress)?;
    let mut output = Output::create(args.stream.output.as_deref())?;
    let mut encoder = Encoder::with_options(args.options());
    let encoded = if args.stream.lines {
        stc::io::encode_lines(BufReader::with_capacity(CHUNK, &mut input), &mut output, &mut encoder).map(drop)
    } else {
        document(&mut input, &mut output, &mut encoder)
    };
    encoded.map_err(|error| input.failure(error))?;
    output.commit()?;
    Ok(Status::Fine)
}

/// One document, encoded as it is read. Into a file, what is certain is written at once; stdout cannot be taken back and
/// gets everything at the end.
fn document(input: &mut Input<'_>, output: &mut Output, encoder: &mut Encoder) -> io::Result<()> {
    let refused = |error: stc::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut chunk = vec![0; CHUNK];
    let mut certain = Vec::new();
    loop {
        let count = match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        encoder.push(&chunk[..count], &mut certain).map_err(refused)?;
        if output.can_be_taken_back() {
            output.write_all(&certain)?;
            certain.clear();
        }
    }
    encoder.finish(&mut certain).map_err(refused)?;
    output.write_all(&certain)
}
