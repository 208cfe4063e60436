//! The log: events of `tracing` as lines of JSON or text on standard output, written by a separate thread, so that a full disk or
//! a stopped terminal delays no request.
//!
//! The target of an event says what it is about: `access` (one for each request), `response` (one for each conversion), `upstream`
//! (a failure, with its cause), `plugin` (a fault), `traces` (the collector) and `gateway` (the program itself).

use crate::config::Log;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// Lines that can wait for a slow disk; the next is dropped and counted.
const WAITING_LINES: usize = 4096;

/// The time that the last lines, and the last spans, may take when the program ends.
pub(crate) const FLUSH_TIME: Duration = Duration::from_secs(2);

/// A message to the thread that writes.
enum Message {
    Line(Vec<u8>),
    /// A request for confirmation that everything before it was written.
    Flush(SyncSender<()>),
}

/// The log. Lines that cannot be written are counted.
#[derive(Clone, Default)]
pub(crate) struct Lines {
    lines: Option<SyncSender<Message>>,
    lost: Arc<AtomicU64>,
}

impl Lines {
    /// Starts the log for the whole process.
    pub(crate) fn start(log: Log, levels: &Targets) -> Result<Self, String> {
        if log == Log::Off {
            return Ok(Self::default());
        }
        let lost = Arc::new(AtomicU64::new(0));
        let lines = Self { lines: Some(write_lines(lost.clone())), lost };
        let layer = tracing_subscriber::fmt::layer().with_writer(lines.clone()).with_ansi(false);
        let started = match log {
            Log::Json => {
                let layer = layer.json().flatten_event(true).with_current_span(false).with_span_list(false);
                let registry = tracing_subscriber::registry().with(levels.clone()).with(layer);
                tracing::subscriber::set_global_default(registry)
            }
            Log::Text | Log::Off => {
                let registry = tracing_subscriber::registry().with(levels.clone()).with(layer);
                tracing::subscriber::set_global_default(registry)
            }
        };
        started.map_err(|error| format!("the log: {error}"))?;
        Ok(lines)
    }

    /// Waits until earlier lines are written, for a limited time.
    pub(crate) fn flush(&self) {
        let Some(lines) = &self.lines else { return };
        let (done, wait) = mpsc::sync_channel(1);
        if lines.try_send(Message::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(FLUSH_TIME);
        }
    }

    /// Returns the number of lines that were dropped.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// Starts the thread that writes lines.
fn write_lines(lost: Arc<AtomicU64>) -> SyncSender<Message> {
    let (send, receive) = mpsc::sync_channel(WAITING_LINES);
    std::thread::spawn(move || {
        for message in receive {
            // After an error the next line is tried again: a full disk may have room later.
            let mut out = io::stdout().lock();
            match message {
                Message::Line(line) => {
                    if out.write_all(&line).and_then(|()| out.flush()).is_err() {
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
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The formatter writes each line at once.
impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let sent = self.lines.as_ref().is_some_and(|lines| lines.try_send(Message::Line(line.to_vec())).is_ok());
        if !sent {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
