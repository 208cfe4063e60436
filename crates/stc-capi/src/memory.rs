//! Memory that crosses the boundary: input that C lends, output that it borrows, and output that it owns.

use crate::error::{Failure, Status};

/// Bytes that belong to the library: valid until the next call with the handle that returned them. Not NUL-terminated.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// The first byte. Not NULL after STC_STATUS_OK, even if `len` is 0.
    pub data: *const u8,
    /// The number of bytes.
    pub len: usize,
}

impl Bytes {
    pub(crate) const EMPTY: Self = Self { data: std::ptr::null(), len: 0 };

    pub(crate) const fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), len: bytes.len() }
    }
}

/// Bytes that belong to the caller until stc_buffer_free. Not NUL-terminated. Initialise it with zeros.
#[repr(C)]
#[derive(Debug)]
pub struct OwnedBytes {
    /// The first byte; NULL in a buffer that was freed or never filled.
    pub data: *mut u8,
    /// The number of bytes.
    pub len: usize,
    /// Bytes of memory; for stc_buffer_free.
    pub capacity: usize,
}

impl OwnedBytes {
    pub(crate) const EMPTY: Self = Self { data: std::ptr::null_mut(), len: 0, capacity: 0 };

    pub(crate) fn of(mut bytes: Vec<u8>) -> Self {
        let owned = Self { data: bytes.as_mut_ptr(), len: bytes.len(), capacity: bytes.capacity() };
        std::mem::forget(bytes);
        owned
    }

    /// Frees the memory and leaves the buffer empty, so that freeing it again does nothing.
    pub(crate) fn release(&mut self) {
        let Self { data, len, capacity } = std::mem::replace(self, Self::EMPTY);
        if !data.is_null() {
            // SAFETY: `of` took the three from a vector, and the caller has not changed them; they are used once, because `self` is now empty.
            drop(unsafe { Vec::from_raw_parts(data, len, capacity) });
        }
    }
}

/// Returns the caller's input as a slice. NULL is the empty input if its length is 0.
///
/// # Safety
///
/// If `data` is not NULL, `len` bytes from it are initialised and unchanged as long as the slice is used.
pub(crate) unsafe fn input<'a>(data: *const u8, len: usize) -> Result<&'a [u8], Failure> {
    if len > isize::MAX as usize {
        return Err(Failure::Call(Status::Length));
    }
    if data.is_null() {
        return if len == 0 { Ok(&[]) } else { Err(Failure::Call(Status::NullArgument)) };
    }
    // SAFETY: not NULL and no longer than isize::MAX, as checked; the rest is the caller's promise, stated above and in stc.h.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}
