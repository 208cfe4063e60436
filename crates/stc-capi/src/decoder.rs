//! Decoder handles.

use std::mem::MaybeUninit;

use crate::error::{Error, Status};
use crate::handle::{self, Answer, Codec, Handle};
use crate::memory::Bytes;
use crate::options::Options;

/// A decoder: STC of any format or JSON in, minified JSON out. Reuse it: once its buffers are large enough, it allocates nothing.
pub struct Decoder(Handle<stc::Decoder>);

impl Codec for stc::Decoder {
    fn with_options(options: stc::Options) -> Self {
        Self::with_options(options)
    }
    fn whole(&mut self, document: &[u8]) -> Result<&[u8], stc::Error> {
        self.decode(document)
    }
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), stc::Error> {
        self.push(chunk, out)
    }
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), stc::Error> {
        self.finish(out)
    }
    fn clear(&mut self) {
        self.clear();
    }
}

/// Creates a decoder; `options` may be NULL for the defaults. Returns NULL if the format is unknown.
#[unsafe(no_mangle)]
pub extern "C" fn stc_decoder_new(
    options: Option<&Options>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Option<Box<Decoder>> {
    handle::boxed(Handle::new(options).map(Decoder), error)
}

/// Frees a decoder and sets the variable to NULL, so that a second call does nothing. Copies of the pointer must not be used
/// after it.
#[unsafe(no_mangle)]
pub extern "C" fn stc_decoder_free(decoder: Option<&mut Option<Box<Decoder>>>) {
    let _ = handle::guarded(|| drop(decoder.and_then(Option::take)));
}

/// Decodes a whole document. `out` is valid until the next call with this decoder, and empty after an error. A document begun
/// with stc_decoder_push is discarded.
///
/// # Safety
///
/// `text` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_decoder_decode(
    decoder: Option<&mut Decoder>,
    text: *const u8,
    len: usize,
    out: Option<&mut MaybeUninit<Bytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    // SAFETY: the caller's promise, passed on.
    unsafe { handle::whole(decoder.map(|decoder| &mut decoder.0), text, len, Answer { out, error }) }
}

/// Takes the next chunk of a document and returns what is certain so far: `out` is valid until the next call with this decoder.
/// Every way to cut a document into chunks gives the same bytes and the same error.
///
/// # Safety
///
/// `chunk` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_decoder_push(
    decoder: Option<&mut Decoder>,
    chunk: *const u8,
    len: usize,
    out: Option<&mut MaybeUninit<Bytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    // SAFETY: the caller's promise, passed on.
    unsafe { handle::push(decoder.map(|decoder| &mut decoder.0), chunk, len, Answer { out, error }) }
}

/// Ends a document and returns the rest of it. The decoder is then ready for another.
#[unsafe(no_mangle)]
pub extern "C" fn stc_decoder_finish(
    decoder: Option<&mut Decoder>,
    out: Option<&mut MaybeUninit<Bytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    handle::finish(decoder.map(|decoder| &mut decoder.0), Answer { out, error })
}

/// Discards a document that was begun and not finished; the memory is kept.
#[unsafe(no_mangle)]
pub extern "C" fn stc_decoder_clear(decoder: Option<&mut Decoder>) {
    if let Some(decoder) = decoder {
        decoder.0.clear();
    }
}
