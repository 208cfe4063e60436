//! JSON lines on standard output, written by a thread of their own, so that a full disk or a stopped terminal holds up
//! nobody.

use super::config::Log;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Lines waiting for a slow disk; the next is dropped and counted.
const WAITING: usize = 4096;

/// How long the last lines may take when the program ends.
const LAST: Duration = Duration::from_secs(2);

/// What goes to the thread that writes.
enum Message {
    Line(String),
    /// Everything before this has been written.
    Flush(SyncSender<()>),
}

/// The log. Lines that it could not write are counted.
#[derive(Default)]
pub(crate) struct Lines {
    lines: Option<SyncSender<Message>>,
    lost: Arc<AtomicU64>,
}

impl Lines {
    pub(crate) fn new(log: Log) -> Self {
        let lost = Arc::new(AtomicU64::new(0));
        let lines = (log == Log::Json).then(|| {
            let (send, receive) = mpsc::sync_channel(WAITING);
            let lost = lost.clone();
            std::thread::spawn(move || {
                for message in receive {
                    // A disk that is full now may not be later.
                    let mut out = std::io::stdout().lock();
                    match message {
                        Message::Line(line) => {
                            if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
                                lost.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        Message::Flush(done) => {
                            let _ = done.send(());
                        }
                    }
                }
            });
            send
        });
        Self { lines, lost }
    }

    /// Whether anyone reads them.
    pub(crate) const fn is_on(&self) -> bool {
        self.lines.is_some()
    }

    /// Writes a line, its `time_ms` added.
    pub(crate) fn write(&self, mut line: serde_json::Value) {
        let Some(lines) = &self.lines else { return };
        line["time_ms"] = now_ms().into();
        if lines.try_send(Message::Line(format!("{line}\n"))).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until what was written so far is out, but not for ever.
    pub(crate) fn flush(&self) {
        let Some(lines) = &self.lines else { return };
        let (done, wait) = mpsc::sync_channel(1);
        if lines.try_send(Message::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(LAST);
        }
    }

    /// Lines that nobody will read.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
