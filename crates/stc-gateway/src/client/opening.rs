//! The start of a connection: the client must show its protocol within a time limit.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// What an HTTP/2 client sends first. hyper waits for it, or for a byte that differs, without a time limit.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream whose start has a time limit.
pub(crate) struct Opening<S> {
    stream: S,
    /// Set until the protocol is known.
    start: Option<Start>,
}

/// The start, as far as it matches [`PREFACE`].
struct Start {
    deadline: Pin<Box<Sleep>>,
    matched: usize,
}

impl<S> Opening<S> {
    pub(crate) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, start: Some(Start { deadline: Box::pin(tokio::time::sleep(limit)), matched: 0 }) }
    }
}

impl Start {
    /// Takes the next bytes; returns whether the protocol is still unknown.
    fn continues(&mut self, bytes: &[u8]) -> bool {
        let expected = &PREFACE[self.matched..];
        self.matched += bytes.len().min(expected.len());
        !bytes.is_empty() && bytes.len() < expected.len() && expected.starts_with(bytes)
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
            if read.is_ready() && !start.continues(&buffer.filled()[before..]) {
                self.start = None;
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
