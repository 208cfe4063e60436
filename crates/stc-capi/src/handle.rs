//! A codec with the output that its stream lends to the caller; the same for both directions.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Failure, Status, reported};
use crate::memory::{Bytes, input};
use crate::options::Options;

/// What an encoder and a decoder have in common.
pub(crate) trait Codec {
    fn with_options(options: stc::Options) -> Self;
    fn whole(&mut self, document: &[u8]) -> Result<&[u8], stc::Error>;
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), stc::Error>;
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), stc::Error>;
    fn clear(&mut self);
}

/// A codec, its settings, and the output of the last chunk.
pub(crate) struct Handle<C> {
    codec: C,
    options: stc::Options,
    out: Vec<u8>,
}

/// Runs `work` and turns a panic into a status.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Failure> {
    // After a panic nothing that `work` touched is read again: handles make their codec anew.
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Failure::Call(Status::Panic))
}

impl<C: Codec> Handle<C> {
    /// Creates a handle with these settings, or the defaults.
    pub(crate) fn new(options: Option<&Options>) -> Result<Self, Failure> {
        let options = options.map_or(Ok(stc::Options::default()), Options::codec)?;
        guarded(|| Self { codec: C::with_options(options), options, out: Vec::new() })
    }

    fn renewed<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        if matches!(result, Err(Failure::Call(Status::Panic))) {
            self.codec = C::with_options(self.options);
        }
        result
    }

    fn whole(&mut self, document: &[u8]) -> Result<Bytes, Failure> {
        let codec = &mut self.codec;
        let result = guarded(|| codec.whole(document).map(Bytes::of).map_err(|error| Failure::of(error, document)));
        self.renewed(result)?
    }

    fn stream(&mut self, step: impl FnOnce(&mut C, &mut Vec<u8>) -> Result<(), stc::Error>) -> Result<Bytes, Failure> {
        self.out.clear();
        let Self { codec, out, .. } = self;
        let result = guarded(|| step(codec, out));
        self.renewed(result)?.map_err(|error| Failure::Rejected(error, None))?;
        Ok(Bytes::of(&self.out))
    }

    pub(crate) fn clear(&mut self) {
        let codec = &mut self.codec;
        let result = guarded(|| codec.clear());
        // After a panic the codec is a new one, which is clear.
        let _ = self.renewed(result);
    }
}

/// The last two arguments of a call with a handle.
pub(crate) struct Answer<'a> {
    pub(crate) out: Option<&'a mut MaybeUninit<Bytes>>,
    pub(crate) error: Option<&'a mut MaybeUninit<Error>>,
}

impl Answer<'_> {
    /// Writes what `work` returns. On an error the output is empty.
    pub(crate) fn write(self, work: impl FnOnce() -> Result<Bytes, Failure>) -> Status {
        let Some(out) = self.out else { return reported(Err(Failure::Call(Status::NullArgument)), self.error) };
        let result = work();
        out.write(*result.as_ref().unwrap_or(&Bytes::EMPTY));
        reported(result.map(drop), self.error)
    }
}

fn present<C>(handle: Option<&mut Handle<C>>) -> Result<&mut Handle<C>, Failure> {
    handle.ok_or(Failure::Call(Status::NullArgument))
}

/// Converts a whole document.
///
/// # Safety
///
/// As for [`input`].
pub(crate) unsafe fn whole<C: Codec>(
    handle: Option<&mut Handle<C>>,
    data: *const u8,
    len: usize,
    answer: Answer<'_>,
) -> Status {
    // SAFETY: the caller's promise, passed on.
    answer.write(|| present(handle)?.whole(unsafe { input(data, len) }?))
}

/// Takes a chunk of a document.
///
/// # Safety
///
/// As for [`input`].
pub(crate) unsafe fn push<C: Codec>(
    handle: Option<&mut Handle<C>>,
    data: *const u8,
    len: usize,
    answer: Answer<'_>,
) -> Status {
    answer.write(|| {
        let handle = present(handle)?;
        // SAFETY: the caller's promise, passed on.
        let chunk = unsafe { input(data, len) }?;
        handle.stream(|codec, out| codec.push(chunk, out))
    })
}

/// Ends a document.
pub(crate) fn finish<C: Codec>(handle: Option<&mut Handle<C>>, answer: Answer<'_>) -> Status {
    answer.write(|| present(handle)?.stream(|codec, out| codec.finish(out)))
}

/// Returns a new handle in memory of its own, or nothing and the reason.
pub(crate) fn boxed<H>(created: Result<H, Failure>, error: Option<&mut MaybeUninit<Error>>) -> Option<Box<H>> {
    match created {
        Ok(handle) => Some(Box::new(handle)),
        Err(failure) => {
            reported(Err(failure), error);
            None
        }
    }
}
