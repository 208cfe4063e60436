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
        if written.is_pending() {
            self.activity.set_unwritten(true);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    /// A write that is done at once, as that of a PING, does not end the time for which a connection is idle.
    #[tokio::test]
    async fn a_connection_is_idle_unless_a_write_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let server = listener.accept().await.unwrap().0;
        let activity = Arc::new(Activity::default());
        let metrics = Arc::new(Metrics::new(crate::log::Lines::default(), Default::default()));
        let pace = Pace { period: Duration::from_secs(60), rate: 1 };
        let mut socket = Socket::new(server, pace, activity.clone(), metrics);
        socket.write_all(b"ping").await.unwrap();
        assert!(activity.is_idle(), "the kernel has it");
        let long = vec![0; 64 << 20];
        let mut written = std::pin::pin!(async {
            socket.write_all(&long).await.unwrap();
            socket.flush().await.unwrap();
        });
        assert!(timeout(Duration::from_millis(100), written.as_mut()).await.is_err());
        assert!(!activity.is_idle(), "the client does not read");
        let mut read = vec![0; 4 + long.len()];
        let (_, count) = tokio::join!(written, client.read_exact(&mut read));
        assert!(count.is_ok() && activity.is_idle());
    }
}
