//! A client's socket, closed when the client is too slow to accept what was written to it.

use crate::metrics::{Metrics, Stalled};
use crate::pace::{Meter, Pace};
use socket2::SockRef;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// The most that the kernel queues before it is sent. A client's progress shows in steps of up to this: without the limit
/// a queue grows to megabytes, and a slow reader that drains it steadily looks like one that has stopped.
const UNSENT: u32 = 64 << 10;

/// What an HTTP/2 client sends first. hyper waits for it, or for a byte that differs, without a time limit.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The socket, with the pace of its reader.
pub(crate) struct Socket {
    socket: TcpStream,
    meter: Meter,
    written: u64,
    /// Set until the protocol is known.
    opening: Option<Opening>,
    metrics: Arc<Metrics>,
}

impl Socket {
    /// Wraps a new connection, whose client must show its protocol within `limit`.
    pub(crate) fn new(socket: TcpStream, limit: Duration, pace: Pace, metrics: Arc<Metrics>) -> Self {
        let _ = socket.set_nodelay(true);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT);
        let opening = Some(Opening { deadline: Box::pin(tokio::time::sleep(limit)), matched: 0 });
        Self { socket, meter: Meter::new(pace), written: 0, opening, metrics }
    }

    fn written(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(count)) = written {
            self.written += count as u64;
        }
        if written.is_pending() && self.meter.poll_waiting(cx, self.written, UNSENT.into()).is_ready() {
            self.metrics.stalled(Stalled::Connection);
            // A reset instead of an orderly end: the response is not whole, and the kernel drops what it has queued.
            let _ = SockRef::from(&self.socket).set_linger(Some(Duration::ZERO));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        written
    }
}

/// The start of a connection, as far as it matches [`PREFACE`].
struct Opening {
    deadline: Pin<Box<Sleep>>,
    matched: usize,
}

impl Opening {
    /// Takes the next bytes; returns whether the protocol is still unknown.
    fn continues(&mut self, bytes: &[u8]) -> bool {
        let expected = &PREFACE[self.matched..];
        self.matched += bytes.len().min(expected.len());
        !bytes.is_empty() && bytes.len() < expected.len() && expected.starts_with(bytes)
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, buffer);
        if let Some(opening) = &mut self.opening {
            if read.is_pending() && opening.deadline.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            if read.is_ready() && !opening.continues(&buffer.filled()[before..]) {
                self.opening = None;
            }
        }
        read
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    /// Called by hyper when all it had was written: nothing waits.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.meter.idle();
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
