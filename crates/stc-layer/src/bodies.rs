//! The conversion of a body that is whole in memory.

use crate::convert::transcode;
use crate::headers;
use crate::job::Job;
use crate::mcp::{self, Findings};
use crate::memory::fitted;
use crate::{Engine, Exchange, Skip};
use bytes::Bytes;
use http::HeaderMap;
use stc_wire::Transcoded;
use std::borrow::Cow;
use std::time::Instant;

impl Engine {
    /// Converts a whole body and sets its headers. On a [`Skip`] the headers contain the reason, and the caller sends the
    /// original body.
    pub fn whole(&self, exchange: &Exchange, job: &Job, headers: &mut HeaderMap, body: &[u8]) -> Result<Bytes, Skip> {
        let began = Instant::now();
        let done = || {
            let plain = self.plain(job, body)?;
            if plain.len() < self.policy().min_bytes {
                return Err(Skip::TooSmall);
            }
            let transcoded = transcode(&plain, job.format, self.policy().verify)?;
            let (saved, texts) = (transcoded.saved, Some((&*plain, &*transcoded.bytes)));
            let took = job.decompressed_in + began.elapsed();
            self.tell(exchange, job.ask, Some(job), Ok(saved), took, texts);
            Ok(transcoded)
        };
        match done() {
            Ok(Transcoded { bytes, saved }) => {
                let is_stc = job.format.version().is_some();
                let (bytes, coding) =
                    if is_stc { exchange.accepted.stc(bytes) } else { exchange.accepted.whole(bytes) };
                headers::whole(headers, job.format, saved, bytes.len(), coding);
                self.vary_by_rules(job.ask, headers);
                Ok(fitted(bytes))
            }
            Err(skip) => {
                self.skip(exchange, job.ask, skip, headers);
                Err(skip)
            }
        }
    }

    /// Converts the texts of an MCP message or batch and sets the headers. Returns `None` if the caller is to send the
    /// original body.
    pub fn message(&self, exchange: &Exchange, job: &Job, headers: &mut HeaderMap, body: &[u8]) -> Option<Bytes> {
        let began = Instant::now();
        let mut findings = Findings::default();
        let plain = match self.plain(job, body) {
            Ok(plain) => plain,
            Err(skip) => {
                self.skip(exchange, job.ask, skip, headers);
                return None;
            }
        };
        let rewritten = mcp::rewrite(&plain, self.setting(job), &mut findings);
        if let Some(skip) = findings.skipped.filter(|_| findings.changed == 0) {
            self.skip(exchange, job.ask, skip, headers);
        }
        let rewritten = rewritten?;
        if findings.changed > 0 {
            let (saved, texts) = (findings.saved, Some((&*plain, &*rewritten)));
            let took = job.decompressed_in + began.elapsed();
            self.tell(exchange, job.ask, Some(&findings.job(job)), Ok(saved), took, texts);
        }
        let (rewritten, coding) = exchange.accepted.whole(rewritten);
        headers::message(headers, job.format, rewritten.len(), coding);
        Some(fitted(rewritten))
    }

    /// Returns the decompressed body, if neither form is too large.
    fn plain<'a>(&self, job: &Job, body: &'a [u8]) -> Result<Cow<'a, [u8]>, Skip> {
        let most = self.policy().max_bytes;
        if body.len() > most { Err(Skip::TooLarge) } else { job.coding.decompress(body, most) }
    }
}
