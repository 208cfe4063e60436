//! Texts and figures about the format: version, legend, names of statuses, the estimate of tokens.

use std::ffi::c_char;

use crate::error::Status;
use crate::handle::guarded;
use crate::memory::{Bytes, input};
use crate::options::format;

/// Returns the version of the library, as "0.1.0". It ends with a NUL and is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn stc_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the lines that explain a format of stc_format to a model. JSON needs none. An unknown format has NULL. They are never
/// freed.
#[unsafe(no_mangle)]
pub extern "C" fn stc_legend(format: u32) -> Bytes {
    self::format(format).map_or(Bytes::EMPTY, |format| Bytes::of(stc::legend(format).as_bytes()))
}

/// Returns about how many tokens a text has; 0 if `text` is NULL or its length is invalid.
///
/// # Safety
///
/// `text` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stc_estimate_tokens(text: *const u8, len: usize) -> u64 {
    // SAFETY: the caller's promise, passed on.
    let Ok(text) = (unsafe { input(text, len) }) else { return 0 };
    guarded(|| stc::estimate_tokens(text)).unwrap_or(0)
}

/// Returns the name of a status, as "Truncated", or "Other" for a number that is none. It ends with a NUL and is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn stc_status_name(status: i32) -> *const c_char {
    let named = Status::ALL.iter().find(|(known, _)| *known as i32 == status);
    named.map_or("Other\0", |(_, name)| *name).as_ptr().cast()
}
