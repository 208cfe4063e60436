//! The codec fed in chunks, as a gateway feeds it: the whole time, and the time after the last chunk has arrived, which
//! is what a user waits for.

use std::time::{Duration, Instant};

use stc::internal::Kernel;
use stc::{Decoder, Encoder, Error};

use crate::cases::{Case, Document};
use crate::codecs::exactly;
use crate::contender::{Ready, Turn};
use crate::rotation::Rotation;

/// Bytes of a chunk.
pub(crate) const CHUNK: usize = 16 << 10;

/// The streaming interface that both directions have.
trait Push {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error>;
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error>;
}

impl Push for Encoder {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        Encoder::push(self, chunk, out)
    }
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        Encoder::finish(self, out)
    }
}

impl Push for Decoder {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        Decoder::push(self, chunk, out)
    }
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        Decoder::finish(self, out)
    }
}

/// A codec and the buffer it writes to; both are reused.
struct Stream<P> {
    codec: P,
    out: Vec<u8>,
}

impl<P: Push> Stream<P> {
    /// Pushes everything but the last chunk, which is returned.
    fn begin<'b>(&mut self, bytes: &'b [u8]) -> Result<&'b [u8], Error> {
        self.out.clear();
        let (before, last) = bytes.split_at(bytes.len().saturating_sub(1) / CHUNK * CHUNK);
        before.chunks(CHUNK).try_for_each(|chunk| self.codec.push(chunk, &mut self.out))?;
        Ok(last)
    }

    fn end(&mut self, last: &[u8]) -> Result<usize, Error> {
        self.codec.push(last, &mut self.out)?;
        self.codec.finish(&mut self.out)?;
        Ok(self.out.len())
    }

    fn show(
        mut self,
        case: &Case,
        read: fn(&Document) -> &[u8],
        wanted: fn(&Document) -> &[u8],
    ) -> Result<Self, String> {
        for document in &case.documents {
            let last = self.begin(read(document)).map_err(|error| error.to_string())?;
            self.end(last).map_err(|error| error.to_string())?;
            exactly(&self.out, wanted(document))?;
        }
        Ok(self)
    }

    fn whole(&mut self, rotation: &mut Rotation<'_>, documents: usize) -> Duration {
        rotation.take(documents, |_, bytes| self.begin(bytes).and_then(|last| self.end(last)).unwrap_or(0))
    }

    fn tail(&mut self, rotation: &mut Rotation<'_>, documents: usize) -> Duration {
        let mut spent = Duration::ZERO;
        rotation.take(documents, |_, bytes| {
            let Ok(last) = self.begin(bytes) else { return 0 };
            let begun = Instant::now();
            let written = self.end(last).unwrap_or(0);
            spent += begun.elapsed();
            written
        });
        spent
    }
}

fn encoding(case: &Case, kernel: Kernel) -> Result<Stream<Encoder>, String> {
    let stream = Stream { codec: stc::internal::encoder(case.options, kernel), out: Vec::new() };
    stream.show(case, |document| &document.json, |document| &document.stc)
}

fn decoding(case: &Case, kernel: Kernel) -> Result<Stream<Decoder>, String> {
    let stream = Stream { codec: stc::internal::decoder(case.options, kernel), out: Vec::new() };
    stream.show(case, |document| &document.stc, |document| &document.minified)
}

pub(crate) fn encode(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let mut stream = encoding(case, kernel)?;
    let turn: Turn<'_> = Box::new(move |rotations, documents| stream.whole(&mut rotations.json, documents));
    Ok(Ready { turn, exact: true })
}

pub(crate) fn decode(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let mut stream = decoding(case, kernel)?;
    let turn: Turn<'_> = Box::new(move |rotations, documents| stream.whole(&mut rotations.stc, documents));
    Ok(Ready { turn, exact: true })
}

pub(crate) fn encode_tail(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let mut stream = encoding(case, kernel)?;
    let turn: Turn<'_> = Box::new(move |rotations, documents| stream.tail(&mut rotations.json, documents));
    Ok(Ready { turn, exact: true })
}

pub(crate) fn decode_tail(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let mut stream = decoding(case, kernel)?;
    let turn: Turn<'_> = Box::new(move |rotations, documents| stream.tail(&mut rotations.stc, documents));
    Ok(Ready { turn, exact: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_chunk_is_never_empty_and_never_too_long() {
        for bytes in [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let text = [b"\"", &vec![b'a'; bytes][..], b"\""].concat();
            let mut stream = Stream { codec: Encoder::new(), out: Vec::new() };
            let last = stream.begin(&text).expect("valid so far");
            assert!(!last.is_empty() && last.len() <= CHUNK, "{bytes}");
            stream.end(last).expect("valid");
            assert_eq!(stream.out, text);
        }
    }
}
