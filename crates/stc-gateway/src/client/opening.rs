//! The start of a connection: the client must show its protocol within a time limit.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// What an HTTP/2 client sends first. hyper waits for it, or for a byte that differs, without a time limit.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The place of the first frame's type, after its length, and the type that it must have (RFC 9113, 3.4). h2 does not check it.
const TYPE: usize = PREFACE.len() + 3;
const SETTINGS: u8 = 4;

/// A stream whose start has a time limit.
pub(crate) struct Opening<S> {
    stream: S,
    /// Set until the protocol is known.
    start: Option<Start>,
}

/// The start, as far as it matches HTTP/2.
struct Start {
    deadline: Pin<Box<Sleep>>,
    matched: usize,
}

/// What the bytes so far say about the protocol.
#[derive(Debug, PartialEq, Eq)]
enum Protocol {
    Unknown,
    Known,
    /// HTTP/2 whose first frame is not SETTINGS.
    Invalid,
}

impl<S> Opening<S> {
    pub(crate) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, start: Some(Start { deadline: Box::pin(tokio::time::sleep(limit)), matched: 0 }) }
    }
}

impl Start {
    /// Takes the next bytes; none are the end of the stream.
    fn take(&mut self, bytes: &[u8]) -> Protocol {
        if bytes.is_empty() {
            return Protocol::Known;
        }
        for byte in bytes {
            match self.matched {
                TYPE if *byte == SETTINGS => return Protocol::Known,
                TYPE => return Protocol::Invalid,
                place if PREFACE.get(place).is_some_and(|expected| expected != byte) => return Protocol::Known,
                _ => self.matched += 1,
            }
        }
        Protocol::Unknown
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Opening<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Some(start) = &mut self.start {
            if read.is_pending() && start.deadline.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            if read.is_ready() {
                match start.take(&buffer.filled()[before..]) {
                    Protocol::Unknown => {}
                    Protocol::Known => self.start = None,
                    Protocol::Invalid => return Poll::Ready(Err(io::ErrorKind::InvalidData.into())),
                }
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Opening<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn starts() {
        let with = |rest: &[u8]| [PREFACE, rest].concat();
        for (bytes, expected) in [
            (&b"GET /"[..], Protocol::Known),
            (b"PRI * HTTP/1.1", Protocol::Known),
            (b"PRI * HT", Protocol::Unknown),
            (PREFACE, Protocol::Unknown),
            (&with(b"\0\0\0"), Protocol::Unknown),
            (&with(b"\0\0\0\x04\0"), Protocol::Known),
            (&with(b"\0\0\x08\x06\0"), Protocol::Invalid),
            (b"", Protocol::Known),
        ] {
            for step in 1..=bytes.len().max(1) {
                let mut start = Start { deadline: Box::pin(tokio::time::sleep(Duration::from_secs(1))), matched: 0 };
                let mut seen = bytes.chunks(step).map(|part| start.take(part)).find(|seen| *seen != Protocol::Unknown);
                if bytes.is_empty() {
                    seen = Some(start.take(b""));
                }
                assert_eq!(seen.unwrap_or(Protocol::Unknown), expected, "{bytes:?} in steps of {step}");
            }
        }
    }
}
