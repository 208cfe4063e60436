//! The conversion of an event stream, event by event.

use crate::headers;
use crate::job::Job;
use crate::mcp::{self, Findings};
use crate::memory::{BodyRoom, fitted, guarded};
use crate::pool::{LONG_TO_CONVERT, Pool};
use crate::{Engine, Exchange, Skip};
use bytes::Bytes;
use http::HeaderMap;
use stc_wire::sse::Events;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Engine {
    /// Starts to convert a stream of MCP messages and sets the headers.
    #[must_use]
    pub fn events(&self, exchange: &Exchange, job: Job, headers: &mut HeaderMap) -> EventStream {
        headers::stream(headers, job.format);
        let events = Events::new(self.policy().max_bytes);
        EventStream { engine: self.clone(), exchange: exchange.clone(), job, events, held: None, sent: None }
    }
}

/// A stream of MCP messages that is converted event by event.
pub struct EventStream {
    engine: Engine,
    exchange: Exchange,
    job: Job,
    events: Events,
    /// Room for the event that is held in part: an open stream that holds nothing reserves nothing.
    held: Option<BodyRoom>,
    /// The room of an event that was held and is complete, until what became of it is sent.
    sent: Option<BodyRoom>,
}

impl EventStream {
    /// Returns the pool and the length of the work, if the next chunk could end an event whose conversion takes long.
    pub(crate) fn pool_for(&self, chunk: usize) -> Option<(&Arc<dyn Pool>, usize)> {
        let length = self.events.held_len() + chunk;
        self.engine.pool().filter(|_| length > LONG_TO_CONVERT).map(|pool| (pool, length))
    }

    /// Takes the next chunk and appends what can be sent.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let Self { engine, exchange, job, events, held, sent } = self;
        let with_chunk = events.held_len() + chunk.len();
        let mut rewrite = |message: &[u8]| {
            let began = Instant::now();
            let mut findings = Findings::default();
            let rewritten = mcp::rewrite(message, engine.setting(job), &mut findings);
            if findings.changed > 0 {
                let texts = rewritten.as_deref().map(|rewritten| (message, rewritten));
                engine.tell(exchange, job.ask, Some(&findings.job(job)), Ok(findings.saved), began.elapsed(), texts);
            } else if let Some(skip) = findings.skipped {
                engine.tell(exchange, job.ask, Some(job), Err(skip), began.elapsed(), None);
            }
            rewritten
        };
        events.push(chunk, out, &mut rewrite);
        let waiting = events.held_len();
        if waiting < with_chunk {
            *sent = held.take().or(sent.take());
        }
        if waiting == 0 {
            return;
        }
        if held.is_none() {
            // Without a further one, the room of what is sent goes on.
            *held = engine.hold_for(exchange).or_else(|| sent.take());
        }
        let room = held.as_ref().map(BodyRoom::bytes);
        room.inspect(|bytes| bytes.shrink(waiting));
        if !room.is_some_and(|bytes| bytes.grow(waiting)) {
            events.let_go(out);
            *sent = held.take().or(sent.take());
            engine.tell(exchange, job.ask, Some(job), Err(Skip::Busy), Duration::ZERO, None);
        }
    }

    /// Returns what can be sent as bytes that are counted, if an event was held for them, until they are sent.
    pub(crate) fn counted(&mut self, out: Vec<u8>) -> Bytes {
        match self.sent.take() {
            Some(room) => {
                room.bytes().shrink(out.len());
                guarded(fitted(out), room)
            }
            None => out.into(),
        }
    }

    /// Ends the stream: appends what was held.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.events.finish(out);
        self.sent = self.held.take().or(self.sent.take());
    }
}
