//! A client's socket: closed when the client is too slow to accept what was written to it, and not while the rest of a refused body comes.

use crate::client::activity::Activity;
use crate::client::pace::{Meter, Pace};
use crate::metrics::{Metrics, Stalled};
use socket2::SockRef;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// The most that the kernel queues before it is sent. A client's progress shows in steps of up to this: without the limit
/// a queue grows to megabytes, and a slow reader that drains it steadily looks like one that has stopped.
const UNSENT: u32 = 64 << 10;

/// How long the rest of a body that was not wanted is read and dropped, after the response was written. A socket that is closed while
/// bytes are unread resets the connection, and the client might never see why its body was refused (RFC 9112, 9.6).
const LINGER: Duration = Duration::from_secs(5);

/// The socket, with the pace of its reader.
pub(crate) struct Socket {
    socket: TcpStream,
    /// The client has ended its side.
    ended: bool,
    /// Set when the gateway has ended its own.
    linger: Option<Pin<Box<Sleep>>>,
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
        Self { socket, ended: false, linger: None, meter: Meter::new(pace), written: 0, activity, metrics }
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
        let before = buffer.remaining();
        let read = Pin::new(&mut self.socket).poll_read(cx, buffer);
        self.ended |= read.is_ready() && before > 0 && buffer.remaining() == before;
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
        self.activity.set_unwritten(false);
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(Pin::new(&mut self.socket).poll_shutdown(cx))?;
        }
        let mut dropped = [0; 4096];
        while !self.ended && self.activity.is_unread() {
            let linger = self.linger.get_or_insert_with(|| Box::pin(sleep(LINGER)));
            if linger.as_mut().poll(cx).is_ready() {
                break;
            }
            ready!(self.as_mut().poll_read(cx, &mut ReadBuf::new(&mut dropped)))?;
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    /// Returns a client and the gateway's socket to it.
    async fn connect(activity: &Arc<Activity>) -> (TcpStream, Socket) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let server = listener.accept().await.unwrap().0;
        let metrics = Arc::new(Metrics::new(crate::log::Lines::default(), Default::default()));
        let pace = Pace { period: Duration::from_secs(60), rate: 1 };
        (client, Socket::new(server, pace, activity.clone(), metrics))
    }

    /// A client that is refused in the middle of its body can send all of it, and reads the answer.
    #[tokio::test]
    async fn what_a_client_still_sends_is_dropped() {
        let activity = Arc::<Activity>::default();
        let (mut client, mut socket) = connect(&activity).await;
        activity.set_unread(true);
        let refused = async {
            socket.write_all(b"no").await.unwrap();
            socket.shutdown().await.unwrap();
            drop(socket);
        };
        let client = async {
            let mut answer = Vec::new();
            client.write_all(&vec![0; 16 << 20]).await.unwrap();
            client.shutdown().await.unwrap();
            client.read_to_end(&mut answer).await.unwrap();
            answer
        };
        assert_eq!(tokio::join!(refused, client).1, b"no");
    }

    /// A client that neither sends the rest nor closes is waited for no longer than [`LINGER`]; other clients not at all.
    #[tokio::test(start_paused = true)]
    async fn a_client_is_waited_for() {
        for (unread, closes) in [(true, false), (false, false), (true, true)] {
            let activity = Arc::<Activity>::default();
            let (mut client, mut socket) = connect(&activity).await;
            activity.set_unread(unread);
            if closes {
                client.shutdown().await.unwrap();
                assert_eq!(socket.read(&mut [0]).await.unwrap(), 0);
            }
            let began = tokio::time::Instant::now();
            socket.shutdown().await.unwrap();
            let expected = if unread && !closes { LINGER } else { Duration::ZERO };
            assert_eq!(began.elapsed().as_secs(), expected.as_secs());
        }
    }

    /// A write that is done at once, as that of a PING, does not end the time for which a connection is idle.
    #[tokio::test]
    async fn a_connection_is_idle_unless_a_write_waits() {
        let activity = Arc::new(Activity::default());
        let (mut client, mut socket) = connect(&activity).await;
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
