//! A client's socket, closed when the client is too slow to accept what was written to it.

use crate::client::activity::Activity;
use crate::client::pace::{Meter, Pace};
use crate::metrics::{Metrics, Stalled};
use socket2::SockRef;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The most that the kernel queues before it is sent. A client's progress shows in steps of up to this: without the limit
/// a queue grows to megabytes, and a slow reader that drains it steadily looks like one that has stopped.
const UNSENT: u32 = 64 << 10;

/// The socket, with the pace of its reader.
pub(crate) struct Socket {
    socket: TcpStream,
    meter: Meter,
    written: u64,
    activity: Arc<Activity>,
    metrics: Arc<Metrics>,
}

impl Socket {
    /// Wraps a new connection.
    pub(crate) fn new(socket: TcpStream, pace: Pace, activity: Arc<Activity>, metrics: Arc<Metrics>) -> Self {
        let _ = socket.set_nodelay(true);
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT);
        Self { socket, meter: Meter::new(pace), written: 0, activity, metrics }
    }

    fn written(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.activity.set_unwritten(true);
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

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
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
        self.activity.set_unwritten(false);
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
