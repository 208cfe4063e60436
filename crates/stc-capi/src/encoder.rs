//! Encoder handles.

use std::mem::MaybeUninit;

use crate::error::{Error, Status};
use crate::handle::{self, Answer, Codec, Handle};
use crate::memory::Bytes;
use crate::options::Options;

/// An encoder: JSON in, STC out. Reuse it: once its buffers are large enough, it allocates nothing.
pub struct Encoder(Handle<stc::Encoder>);

impl Codec for stc::Encoder {
    fn with_options(options: stc::Options) -> Self {
        Self::with_options(options)
    }
    fn whole(&mut self, document: &[u8]) -> Result<&[u8], stc::Error> {
        self.encode(document)
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

/// Creates an encoder; `options` may be NULL for the defaults. Returns NULL if the format is unknown.
#[unsafe(no_mangle)]
pub extern "C" fn stc_encoder_new(
    options: Option<&Options>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Option<Box<Encoder>> {
    handle::boxed(Handle::new(options).map(Encoder), error)
}

/// Frees an encoder and sets the variable to NULL, so that a second call does nothing. Copies of the pointer must not be used
/// after it.
#[unsafe(no_mangle)]
pub extern "C" fn stc_encoder_free(encoder: Option<&mut Option<Box<Encoder>>>) {
    let _ = handle::guarded(|| drop(encoder.and_then(Option::take)));
}

/// Encodes a whole document. `out` is valid until the next call with this encoder, and empty after an error. A document begun
/// with stc_encoder_push is discarded.
///
/// # Safety
///
/// `json` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_encoder_encode(
    encoder: Option<&mut Encoder>,
    json: *const u8,
    len: usize,
    out: Option<&mut MaybeUninit<Bytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    // SAFETY: the caller's promise, passed on.
    unsafe { handle::whole(encoder.map(|encoder| &mut encoder.0), json, len, Answer { out, error }) }
}

/// Takes the next chunk of a document and returns what is certain so far: `out` is valid until the next call with this encoder.
/// Every way to cut a document into chunks gives the same bytes and the same error.
///
/// # Safety
///
/// `chunk` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_encoder_push(
    encoder: Option<&mut Encoder>,
    chunk: *const u8,
    len: usize,
    out: Option<&mut MaybeUninit<Bytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    // SAFETY: the caller's promise, passed on.
    unsafe { handle::push(encoder.map(|encoder| &mut encoder.0), chunk, len, Answer { out, error }) }
}

/// Ends a document and returns the rest of it. The encoder is then ready for another.
#[unsafe(no_mangle)]
pub extern "C" fn stc_encoder_finish(
    encoder: Option<&mut Encoder>,
    out: Option<&mut MaybeUninit<Bytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    handle::finish(encoder.map(|encoder| &mut encoder.0), Answer { out, error })
}

/// Discards a document that was begun and not finished; the memory is kept.
#[unsafe(no_mangle)]
pub extern "C" fn stc_encoder_clear(encoder: Option<&mut Encoder>) {
    if let Some(encoder) = encoder {
        encoder.0.clear();
    }
}
