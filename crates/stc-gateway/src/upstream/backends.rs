//! The backends of a route: which one gets a request, and which are left out because they fail.
//!
//! Requests go to the backends in turn. A backend that fails several times without a success is left out for a while, longer
//! each time; so is one that its health check finds down. If all are left out, all get requests: an answer that may fail is
//! better than one that does. Requests of an MCP session go to the backend that opened it.

use crate::upstream::failure::Failure;
use crate::upstream::target::Target;
use http::{HeaderName, HeaderValue, StatusCode};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The header that names an MCP session.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Failures without a success between them after which a backend is left out.
const FAILURES: u32 = 3;
/// How long it is left out the first time; each further time takes that much longer.
const LEFT_OUT: Duration = Duration::from_secs(10);
/// How long it is left out at the most.
const LONGEST: Duration = Duration::from_secs(300);
/// Sessions that are remembered: at least this many, and at most twice as many.
const SESSIONS: usize = 20_000;

/// Why a health check found a backend down.
#[derive(Debug)]
pub(crate) enum Sick {
    /// It answered with a status other than 200 to 299.
    Status(StatusCode),
    /// It did not answer.
    Failed(Failure),
}

/// A backend and its state, which all workers share.
pub(crate) struct Backend {
    pub(crate) target: Target,
    /// Its URL in logs and metrics.
    pub(crate) name: Arc<str>,
    began: Instant,
    failures: AtomicU32,
    /// How often it was left out since it last answered well.
    ejections: AtomicU32,
    /// Milliseconds after `began` until which it is left out.
    out_until: AtomicU64,
    /// Set by its health check.
    down: AtomicBool,
}

impl Backend {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            name: target.name(),
            target,
            began: Instant::now(),
            failures: AtomicU32::new(0),
            ejections: AtomicU32::new(0),
            out_until: AtomicU64::new(0),
            down: AtomicBool::new(false),
        }
    }

    /// Returns whether it gets requests.
    pub(crate) fn is_in(&self) -> bool {
        !self.down.load(Ordering::Relaxed) && self.now() >= self.out_until.load(Ordering::Relaxed)
    }

    /// Notes the status of a response: 502, 503 and 504 are failures of what is after it.
    pub(crate) fn answered(&self, status: StatusCode) {
        if matches!(status, StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT) {
            return self.count_failure(Some(status));
        }
        // Loads first: a write would move the cache line between cores with every request.
        if self.failures.load(Ordering::Relaxed) > 0 {
            self.failures.store(0, Ordering::Relaxed);
        }
        if self.ejections.load(Ordering::Relaxed) > 0 && self.is_in() {
            self.ejections.store(0, Ordering::Relaxed);
        }
    }

    /// Notes a failure, which has a line in the log.
    pub(crate) fn failed(&self) {
        self.count_failure(None);
    }

    /// Counts a failure: a response with this status, or none.
    fn count_failure(&self, status: Option<StatusCode>) {
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 < FAILURES {
            return;
        }
        self.failures.store(0, Ordering::Relaxed);
        let ejections = self.ejections.fetch_add(1, Ordering::Relaxed) + 1;
        let time = LEFT_OUT.saturating_mul(ejections).min(LONGEST);
        self.out_until.store(self.now() + time.as_millis() as u64, Ordering::Relaxed);
        let status = status.map(|status| status.as_u16());
        tracing::warn!(target: "upstream", upstream = &*self.name, status, seconds = time.as_secs(), "left out");
    }

    /// Notes the result of a health check.
    pub(crate) fn checked(&self, result: Result<(), Sick>) {
        if self.down.swap(result.is_err(), Ordering::Relaxed) == result.is_err() {
            return;
        }
        let upstream = &*self.name;
        match result {
            Ok(()) => tracing::warn!(target: "upstream", upstream, state = "up", "health check"),
            Err(Sick::Status(status)) => {
                let status = status.as_u16();
                tracing::warn!(target: "upstream", upstream, state = "down", status, "health check");
            }
            Err(Sick::Failed(Failure { cause, detail })) => {
                let (cause, why) = (cause.name(), detail.as_str());
                tracing::warn!(target: "upstream", upstream, state = "down", cause, why, "health check");
            }
        }
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

/// The backends of a route. Not empty.
pub(crate) struct Backends {
    all: Vec<Arc<Backend>>,
    turn: AtomicUsize,
    sessions: Mutex<Sessions>,
}

/// The backends of MCP sessions. When `new` is full it becomes `old`, so that sessions in use stay.
#[derive(Default)]
struct Sessions {
    new: HashMap<HeaderValue, usize>,
    old: HashMap<HeaderValue, usize>,
}

impl Sessions {
    fn find(&mut self, session: &HeaderValue) -> Option<usize> {
        if let Some(place) = self.new.get(session) {
            return Some(*place);
        }
        let place = self.old.remove(session)?;
        self.note(session, place);
        Some(place)
    }

    fn note(&mut self, session: &HeaderValue, place: usize) {
        if self.new.len() >= SESSIONS {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(session.clone(), place);
    }
}

impl Backends {
    pub(crate) fn new(targets: impl IntoIterator<Item = Target>) -> Self {
        let all = targets.into_iter().map(|target| Arc::new(Backend::new(target))).collect();
        Self { all, turn: AtomicUsize::new(0), sessions: Mutex::default() }
    }

    pub(crate) fn all(&self) -> &[Arc<Backend>] {
        &self.all
    }

    pub(crate) fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Returns the backend for a request, but none that was tried already; `None` if all were.
    pub(crate) fn choose(&self, session: Option<&HeaderValue>, tried: &[usize]) -> Option<(usize, &Arc<Backend>)> {
        if !self.are_several() {
            return self.all.first().filter(|_| tried.is_empty()).map(|backend| (0, backend));
        }
        let known = session.and_then(|session| self.sessions().find(session)).filter(|place| !tried.contains(place));
        if let Some(place) = known {
            return Some((place, &self.all[place]));
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let untried: Vec<usize> = (0..self.all.len()).filter(|place| !tried.contains(place)).collect();
        let ins: Vec<usize> = untried.iter().copied().filter(|place| self.all[*place].is_in()).collect();
        let places = if ins.is_empty() { untried } else { ins };
        let place = *places.get(turn.checked_rem(places.len())?)?;
        Some((place, &self.all[place]))
    }

    /// Remembers the backend that opened a session.
    pub(crate) fn remember(&self, session: &HeaderValue, place: usize) {
        if self.are_several() {
            self.sessions().note(session, place);
        }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backends() -> Backends {
        Backends::new(["http://a", "http://b", "http://c"].map(|url| Target::parse(url).unwrap()))
    }

    fn chosen(backends: &Backends, count: usize) -> Vec<usize> {
        let mut places: Vec<_> = (0..count).map(|_| backends.choose(None, &[]).unwrap().0).collect();
        places.sort_unstable();
        places
    }

    #[test]
    fn requests_go_round_and_past_those_that_fail() {
        let backends = backends();
        assert_eq!(chosen(&backends, 6), [0, 0, 1, 1, 2, 2]);
        for _ in 0..2 {
            backends.all[1].failed();
        }
        backends.all[1].answered(StatusCode::OK);
        for _ in 0..2 {
            backends.all[1].failed();
        }
        assert!(backends.all[1].is_in(), "never three in a row");
        backends.all[1].answered(StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(chosen(&backends, 6), [0, 0, 0, 2, 2, 2]);
        backends.all[0].checked(Err(Sick::Status(StatusCode::NOT_FOUND)));
        assert_eq!(chosen(&backends, 2), [2, 2]);
        backends.all[2].checked(Err(Sick::Status(StatusCode::NOT_FOUND)));
        assert_eq!(chosen(&backends, 3), [0, 1, 2], "all are left out: all are tried");
        backends.all[0].checked(Ok(()));
        assert_eq!(chosen(&backends, 2), [0, 0]);
    }

    #[test]
    fn a_retry_goes_elsewhere() {
        let backends = backends();
        let (first, _) = backends.choose(None, &[]).unwrap();
        let (second, _) = backends.choose(None, &[first]).unwrap();
        let (third, _) = backends.choose(None, &[first, second]).unwrap();
        assert_eq!(first + second + third, 3);
        assert!(backends.choose(None, &[0, 1, 2]).is_none());
    }

    #[test]
    fn sessions_stay_where_they_were_opened() {
        let backends = backends();
        let session = HeaderValue::from_static("s");
        backends.remember(&session, 2);
        for number in 0..3 * SESSIONS {
            if number % 1000 == 0 {
                assert_eq!(backends.choose(Some(&session), &[]).unwrap().0, 2, "in use: remembered");
            }
            backends.remember(&HeaderValue::from(number), 1);
        }
        let sessions = backends.sessions();
        assert!(sessions.new.len() + sessions.old.len() <= 2 * SESSIONS);
    }
}
