//! Spans, and the queue in which they wait for the exporter.

use crate::traces::parent::{SpanId, TraceId};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;

/// The characters of an attribute that are kept: strangers name hosts and paths, and the queue must stay small.
const LONGEST_ATTRIBUTE: usize = 256;

/// What a span is about, with the number that OTLP has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Server = 2,
    Client = 3,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Cow<'static, str>),
    Number(u64),
    Flag(bool),
}

impl Value {
    /// Creates a text of a limited length.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.chars().take(LONGEST_ATTRIBUTE).collect::<String>().into())
    }
}

/// The attributes of a span, in the order in which they are sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes(pub(crate) Vec<(&'static str, Value)>);

impl Attributes {
    pub(crate) fn word(&mut self, name: &'static str, word: &'static str) {
        self.0.push((name, Value::Text(word.into())));
    }

    pub(crate) fn text(&mut self, name: &'static str, text: &str) {
        self.0.push((name, Value::text(text)));
    }

    pub(crate) fn number(&mut self, name: &'static str, number: u64) {
        self.0.push((name, Value::Number(number)));
    }

    pub(crate) fn flag(&mut self, name: &'static str, flag: bool) {
        self.0.push((name, Value::Flag(flag)));
    }
}

/// A span that has ended.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) trace: TraceId,
    pub(crate) id: SpanId,
    pub(crate) parent: Option<SpanId>,
    /// The flags of the trace.
    pub(crate) flags: u8,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) began: SystemTime,
    pub(crate) took: Duration,
    pub(crate) attributes: Attributes,
    pub(crate) failed: bool,
}

/// Why a span was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// The queue was full.
    Full,
    /// The collector could not be reached, or was not ready, too often.
    Failed,
    /// The collector answered that it does not accept the span.
    Rejected,
}

impl Dropped {
    pub(crate) const ALL: [Self; 3] = [Self::Full, Self::Failed, Self::Rejected];

    /// Returns the name used in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Full => "queue-full",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }
}

/// What became of spans.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) sent: AtomicU64,
    pub(crate) dropped: [AtomicU64; Dropped::ALL.len()],
}

impl Counts {
    pub(crate) fn lose(&self, why: Dropped, spans: u64) {
        self.dropped[why as usize].fetch_add(spans, Ordering::Relaxed);
    }
}

/// The queue, which all workers share. A span that does not fit is dropped and counted.
#[derive(Clone)]
pub(crate) struct Queue {
    spans: mpsc::Sender<Span>,
    counts: Arc<Counts>,
}

impl Queue {
    /// Creates a queue of at most this many spans, and returns its other end.
    pub(crate) fn new(most: usize, counts: Arc<Counts>) -> (Self, mpsc::Receiver<Span>) {
        let (spans, receiver) = mpsc::channel(most);
        (Self { spans, counts }, receiver)
    }

    pub(crate) fn push(&self, span: Span) {
        if self.spans.try_send(span).is_err() {
            self.counts.lose(Dropped::Full, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_and_counts() {
        let counts = Arc::new(Counts::default());
        let (queue, mut waiting) = Queue::new(2, counts.clone());
        for _ in 0..5 {
            queue.push(Span {
                trace: TraceId::random(),
                id: SpanId::random(),
                parent: None,
                flags: 1,
                kind: Kind::Server,
                name: "GET /".to_owned(),
                began: SystemTime::now(),
                took: Duration::ZERO,
                attributes: Attributes::default(),
                failed: false,
            });
        }
        assert_eq!(counts.dropped[Dropped::Full as usize].load(Ordering::Relaxed), 3);
        assert!(waiting.try_recv().is_ok() && waiting.try_recv().is_ok() && waiting.try_recv().is_err());
    }

    #[test]
    fn texts_have_a_limit() {
        assert_eq!(Value::text(&"é".repeat(1000)), Value::Text("é".repeat(LONGEST_ATTRIBUTE).into()));
    }
}
