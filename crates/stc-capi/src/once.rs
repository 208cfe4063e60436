//! One-shot calls: a codec for one document, and a buffer that belongs to the caller. For many documents a handle is faster.

use std::mem::MaybeUninit;

use crate::error::{Error, Failure, Status, reported};
use crate::handle::guarded;
use crate::memory::{OwnedBytes, input};
use crate::options::format;

/// Encodes a document in a format of stc_format, with the default limits. `out` belongs to the caller until stc_buffer_free;
/// what it held before is not freed.
///
/// # Safety
///
/// `json` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_encode(
    json: *const u8,
    len: usize,
    format: u32,
    out: Option<&mut MaybeUninit<OwnedBytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    // SAFETY: the caller's promise, passed on.
    let json = unsafe { input(json, len) };
    let work = || {
        let json = json?;
        let options = stc::Options::default().format(self::format(format)?);
        let mut text = Vec::new();
        let mut encode = || stc::Encoder::with_options(options).encode_into(json, &mut text);
        guarded(|| encode().map_err(|error| Failure::of(error, json)))??;
        Ok(text)
    };
    write(out, work, error)
}

/// Decodes STC of any format, or JSON, to minified JSON, with the default limits. `out` belongs to the caller until
/// stc_buffer_free; what it held before is not freed.
///
/// # Safety
///
/// `text` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_decode(
    text: *const u8,
    len: usize,
    out: Option<&mut MaybeUninit<OwnedBytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    // SAFETY: the caller's promise, passed on.
    let text = unsafe { input(text, len) };
    let work = || {
        let text = text?;
        let mut json = Vec::new();
        let mut decode = || stc::Decoder::new().decode_into(text, &mut json);
        guarded(|| decode().map_err(|error| Failure::of(error, text)))??;
        Ok(json)
    };
    write(out, work, error)
}

/// Explains which form each array of objects gets in a format of STC 2, and what that saves: JSON, with the members of
/// `stc explain --json`. `out` belongs to the caller until stc_buffer_free.
///
/// # Safety
///
/// `json` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_explain(
    json: *const u8,
    len: usize,
    format: u32,
    out: Option<&mut MaybeUninit<OwnedBytes>>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    // SAFETY: the caller's promise, passed on.
    let json = unsafe { input(json, len) };
    let work = || {
        let json = json?;
        let options = stc::Options::default().format(self::format(format)?);
        let explain = || stc::Encoder::with_options(options).explain(json).map(|found| stc_binding::explained(&found));
        Ok(guarded(|| explain().map_err(|error| Failure::of(error, json)))??.into_bytes())
    };
    write(out, work, error)
}

/// Returns memory for `len` bytes, as input of a program that has no allocator of its own, as one around a WebAssembly module. It
/// belongs to the caller until stc_buffer_free; the bytes are zeros. A length above PTRDIFF_MAX, or one that memory does not have,
/// is an empty buffer.
#[unsafe(no_mangle)]
pub extern "C" fn stc_buffer_new(len: usize) -> OwnedBytes {
    let mut bytes = Vec::new();
    if bytes.try_reserve_exact(len).is_err() {
        return OwnedBytes::EMPTY;
    }
    bytes.resize(len, 0);
    OwnedBytes::of(bytes)
}

/// Frees a buffer and leaves it empty, so that a second call does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn stc_buffer_free(buffer: Option<&mut OwnedBytes>) {
    if let Some(buffer) = buffer {
        buffer.release();
    }
}

/// Writes what `work` returns. On an error the buffer is empty, and there is nothing to free.
fn write(
    out: Option<&mut MaybeUninit<OwnedBytes>>,
    work: impl FnOnce() -> Result<Vec<u8>, Failure>,
    error: Option<&mut MaybeUninit<Error>>,
) -> Status {
    let Some(out) = out else { return reported(Err(Failure::Call(Status::NullArgument)), error) };
    let (bytes, result) = match work() {
        Ok(bytes) => (OwnedBytes::of(bytes), Ok(())),
        Err(failure) => (OwnedBytes::EMPTY, Err(failure)),
    };
    out.write(bytes);
    reported(result, error)
}
