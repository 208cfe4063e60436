//! A body that is compressed as it passes.

use crate::BodyRoom;
use crate::compress::Compressor;
use bytes::Bytes;
use http::HeaderMap;

/// The most that is compressed at once, so that a long frame delays no other connection for long.
const COMPRESSED_AT_ONCE: usize = 64 << 10;

/// The state of a compressed body.
pub(super) struct Compressing {
    compressor: Option<Compressor>,
    /// The rest of the latest frame.
    rest: Bytes,
    /// Whether there is input that the client cannot read yet.
    unflushed: bool,
    trailers: Option<HeaderMap>,
    /// The compressor's room in memory.
    held: Option<BodyRoom>,
}

/// What the body does next.
pub(super) enum Step {
    /// Sends this.
    Send(Vec<u8>),
    /// Takes the next frame.
    Next,
}

impl Compressing {
    pub(super) const fn new(compressor: Compressor, held: BodyRoom) -> Self {
        let held = Some(held);
        Self { compressor: Some(compressor), rest: Bytes::new(), unflushed: false, trailers: None, held }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.compressor.is_none() && self.trailers.is_none()
    }

    pub(super) fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
    }

    /// Takes a frame's data.
    pub(super) fn data(&mut self, data: Bytes) {
        self.rest = data;
    }

    /// Compresses some of the latest frame.
    pub(super) fn step(&mut self) -> Step {
        let Some(compressor) = self.compressor.as_mut().filter(|_| !self.rest.is_empty()) else { return Step::Next };
        let chunk = self.rest.split_to(self.rest.len().min(COMPRESSED_AT_ONCE));
        compressor.push(&chunk);
        self.unflushed = true;
        Step::Send(compressor.take())
    }

    /// Returns what the client can have while the service sends nothing.
    pub(super) fn flush(&mut self) -> Vec<u8> {
        match self.compressor.as_mut().filter(|_| std::mem::take(&mut self.unflushed)) {
            Some(compressor) => {
                compressor.flush();
                compressor.take()
            }
            None => Vec::new(),
        }
    }

    /// Ends the body, and returns the rest of it.
    pub(super) fn finish(&mut self, trailers: Option<HeaderMap>) -> Vec<u8> {
        self.held = None;
        self.trailers = trailers;
        self.compressor.take().map(Compressor::finish).unwrap_or_default()
    }
}
