//! JSON lines on standard output, written by a separate thread, so that a full disk or a stopped terminal delays no
//! request.

use crate::config::Log;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Lines that can wait for a slow disk; the next is dropped and counted.
const WAITING: usize = 4096;

/// The time that the last lines may take when the program ends.
const LAST: Duration = Duration::from_secs(2);

/// A message to the thread that writes.
enum Message {
    Line(String),
    /// A request for confirmation that everything before it was written.
    Flush(SyncSender<()>),
}

/// The log. Lines that cannot be written are counted.
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
                    // After an error the next line is tried again: a full disk may have room later.
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

    /// Returns whether lines are written.
    pub(crate) const fn is_on(&self) -> bool {
        self.lines.is_some()
    }

    /// Writes a line with `time_ms` added.
    pub(crate) fn write(&self, mut line: serde_json::Value) {
        let Some(lines) = &self.lines else { return };
        line["time_ms"] = now_ms().into();
        if lines.try_send(Message::Line(format!("{line}\n"))).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until earlier lines are written, for a limited time.
    pub(crate) fn flush(&self) {
        let Some(lines) = &self.lines else { return };
        let (done, wait) = mpsc::sync_channel(1);
        if lines.try_send(Message::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(LAST);
        }
    }

    /// Returns the number of lines that were dropped.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// Returns the milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
