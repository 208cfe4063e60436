//! `stc decode`: STC to JSON as a stream, in constant memory.

use std::io::{self, BufReader};

use stc::Decoder;
use stc::io::DecodeReader;

use crate::args::Decode;
use crate::failure::{Failure, Status};
use crate::input::{CHUNK, Input, Source};
use crate::output::Output;
use crate::progress::Progress;

pub(crate) fn run(args: &Decode) -> Result<Status, Failure> {
    let source = Source::of(args.file.as_deref());
    let progress = Progress::with_output(args.stream.to_stdout());
    progress.expect(source.size());
    let mut input = Input::open(&source, args.stream.lines, &progress)?;
    let mut output = Output::create(args.stream.output.as_deref())?;
    let decoded = if args.stream.lines {
        let mut decoder = Decoder::with_options(args.options());
        stc::io::decode_lines(BufReader::with_capacity(CHUNK, &mut input), &mut output, &mut decoder)
    } else {
        io::copy(&mut DecodeReader::with_options(&mut input, args.options()), &mut output)
    };
    if let Err(error) = decoded {
        output.end_line()?;
        return Err(input.failure(error));
    }
    output.commit()?;
    Ok(Status::Fine)
}
