//! The key of an object of an open list (grammar/STC.md, section 17.10), held until it is known which constants come before it.
//!
//! A key that is longer than every key of the list is no column of it, so no more than that is held: the rest is written at once.

use crate::decode::output::Output;
use crate::error::Error;
use crate::json::lexer::Sink;

/// A key that is being read.
#[derive(Debug, Default)]
pub(crate) struct ListedKey {
    /// What there is of it, with its quotes.
    text: Vec<u8>,
    /// The offset of its first byte.
    pub(crate) offset: u64,
    /// The length of the longest key that has to be held.
    most: usize,
    /// Whether it is longer, and so has been written.
    is_written: bool,
}

impl ListedKey {
    /// Begins a key at `offset`, of which at most `most` bytes are held. A bare key gets the quote that it leaves out.
    pub(crate) fn begin(&mut self, bare: bool, offset: u64, most: usize) {
        self.text.clear();
        if bare {
            self.text.push(b'"');
        }
        (self.offset, self.most, self.is_written) = (offset, most, false);
    }

    /// Returns the key, if it was held to its end.
    pub(crate) fn held(&self) -> Option<&[u8]> {
        (!self.is_written).then_some(&self.text)
    }

    /// Returns the sink for the bytes of the key; `out` gets a key that is too long to be held.
    pub(crate) fn sink<'a, 'o>(&'a mut self, out: &'a mut Output<'o>) -> impl Sink + use<'a, 'o> {
        ListedKeySink { key: self, out }
    }
}

struct ListedKeySink<'a, 'o> {
    key: &'a mut ListedKey,
    out: &'a mut Output<'o>,
}

impl Sink for ListedKeySink<'_, '_> {
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let Self { key, out } = self;
        let mut held = 0;
        if !key.is_written {
            held = key.most.saturating_sub(key.text.len()).min(bytes.len());
            key.text.extend_from_slice(&bytes[..held]);
            if held == bytes.len() {
                return Ok(());
            }
            out.write(&key.text, offset + held as u64)?;
            key.is_written = true;
        }
        out.copy(&bytes[held..], offset + held as u64)
    }
}
