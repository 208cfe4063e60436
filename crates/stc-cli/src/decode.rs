//! `stc decode`: STC to JSON as a stream, in constant memory.

use std::io::{self, BufReader};

use stc::Decoder;
use stc::io::DecodeReader;

use crate::args::Decode;
use crate::convert::{self, Extensions};
use crate::failure::{Failure, Status};
use crate::input::CHUNK;
use crate::pretty::Pretty;

pub(crate) fn run(args: &Decode) -> Result<Status, Failure> {
    let lines = args.stream.lines;
    let extensions = match lines {
        false => Extensions { from: &["stc"], to: "json" },
        true => Extensions { from: &["ndstc"], to: "ndjson" },
    };
    convert::run(&args.paths, &args.stream, &extensions, |input, output| {
        if lines {
            let mut decoder = Decoder::with_options(args.options());
            return stc::io::decode_lines(BufReader::with_capacity(CHUNK, input), output, &mut decoder).map(drop);
        }
        let mut json = DecodeReader::with_options(input, args.options());
        if args.pretty { io::copy(&mut json, &mut Pretty::new(output)) } else { io::copy(&mut json, output) }.map(drop)
    })
}
