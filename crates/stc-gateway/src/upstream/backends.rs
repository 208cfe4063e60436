//! The backends of a route: which one gets a request, and which are left out because they fail.
//!
//! Requests go to the backends in turn. A backend that fails several times without a success is left out for a while, longer
//! each time; so is one that its health check finds down. If all are left out, all get requests: an answer that may fail is
//! better than one that does. Requests of an MCP session go to the backend that opened it. All of this stays when the
//! configuration is read again, for the backends that it still names.

use crate::upstream::failure::Failure;
use crate::upstream::target::Target;
use http::{HeaderName, HeaderValue, StatusCode};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The header that names an MCP session.
pub(crate) const MCP_SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Failures without a success between them after which a backend is left out.
const FAILURES_TO_LEAVE_OUT: u32 = 3;
/// How long it is left out the first time; each further time takes that much longer.
const LEFT_OUT: Duration = Duration::from_secs(10);
/// How long it is left out at the most.
const LONGEST_LEFT_OUT: Duration = Duration::from_secs(300);
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
    record: Arc<Record>,
    /// Set by its health check. Not a part of the record: the checks of a former configuration may go on as long as a request with it.
    down: AtomicBool,
}

/// How a backend has answered.
struct Record {
    began: Instant,
    failures: AtomicU32,
    /// How often it was left out since it last answered well.
    ejections: AtomicU32,
    /// Milliseconds after `began` until which it is left out.
    out_until: AtomicU64,
}

impl Record {
    fn new() -> Self {
        let (failures, ejections, out_until) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU64::new(0));
        Self { began: Instant::now(), failures, ejections, out_until }
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

impl Backend {
    pub(crate) fn new(target: Target) -> Self {
        Self { name: target.name(), target, record: Arc::new(Record::new()), down: AtomicBool::new(false) }
    }

    /// Returns whether it gets requests.
    pub(crate) fn is_in(&self) -> bool {
        !self.down.load(Ordering::Relaxed) && self.record.now() >= self.record.out_until.load(Ordering::Relaxed)
    }

    /// Notes the status of a response: 502, 503 and 504 are failures of what is after it.
    pub(crate) fn answered(&self, status: StatusCode) {
        if matches!(status, StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT) {
            return self.count_failure(Some(status));
        }
        // Loads first: a write would move the cache line between cores with every request.
        let Record { failures, ejections, .. } = &*self.record;
        if failures.load(Ordering::Relaxed) > 0 {
            failures.store(0, Ordering::Relaxed);
        }
        if ejections.load(Ordering::Relaxed) > 0 && self.is_in() {
            ejections.store(0, Ordering::Relaxed);
        }
    }

    /// Notes a failure, which has a line in the log.
    pub(crate) fn failed(&self) {
        self.count_failure(None);
    }

    /// Counts a failure: a response with this status, or none.
    fn count_failure(&self, status: Option<StatusCode>) {
        let Record { failures, ejections, out_until, .. } = &*self.record;
        if failures.fetch_add(1, Ordering::Relaxed) + 1 < FAILURES_TO_LEAVE_OUT {
            return;
        }
        failures.store(0, Ordering::Relaxed);
        let ejections = ejections.fetch_add(1, Ordering::Relaxed) + 1;
        let time = LEFT_OUT.saturating_mul(ejections).min(LONGEST_LEFT_OUT);
        out_until.store(self.record.now() + time.as_millis() as u64, Ordering::Relaxed);
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
}

/// The backends of a route. Not empty.
pub(crate) struct Backends {
    all: Vec<Arc<Backend>>,
    turn: AtomicUsize,
    sessions: Arc<Mutex<Sessions>>,
}

/// The backends of MCP sessions. When `new` is full it becomes `old`, so that sessions in use stay.
#[derive(Default)]
struct Sessions {
    new: HashMap<HeaderValue, Arc<Record>>,
    old: HashMap<HeaderValue, Arc<Record>>,
}

impl Sessions {
    fn find(&mut self, session: &HeaderValue) -> Option<Arc<Record>> {
        if let Some(backend) = self.new.get(session) {
            return Some(backend.clone());
        }
        let backend = self.old.remove(session)?;
        self.note(session, backend.clone());
        Some(backend)
    }

    fn note(&mut self, session: &HeaderValue, backend: Arc<Record>) {
        if self.new.len() >= SESSIONS {
            self.old = std::mem::take(&mut self.new);
        }
        self.new.insert(session.clone(), backend);
    }
}

impl Backends {
    pub(crate) fn new(targets: impl IntoIterator<Item = Target>) -> Self {
        let all = targets.into_iter().map(|target| Arc::new(Backend::new(target))).collect();
        Self { all, turn: AtomicUsize::new(0), sessions: Arc::default() }
    }

    /// Takes over what was known of the same backends before the configuration was read again, and of the sessions. What their health
    /// checks found is taken over if the checks are the same.
    pub(crate) fn after(mut self, before: &Self, checks_stay: bool) -> Self {
        let mut left: Vec<_> = before.all.iter().collect();
        let continued = |backend: Arc<Backend>| {
            let Some(place) = left.iter().position(|earlier| earlier.name == backend.name) else { return backend };
            let earlier = left.remove(place);
            let down = AtomicBool::new(checks_stay && earlier.down.load(Ordering::Relaxed));
            let (target, name, record) = (backend.target.clone(), backend.name.clone(), earlier.record.clone());
            Arc::new(Backend { target, name, record, down })
        };
        self.all = self.all.into_iter().map(continued).collect();
        self.sessions = before.sessions.clone();
        self
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
        let known = session.and_then(|session| self.sessions().find(session));
        let place = known.and_then(|known| self.all.iter().position(|backend| Arc::ptr_eq(&backend.record, &known)));
        let known = place.filter(|place| !tried.contains(place));
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
            self.sessions().note(session, self.all[place].record.clone());
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
    fn a_reload_keeps_what_is_known() {
        let before = backends();
        let sessions = ["a", "b", "c"].map(HeaderValue::from_static);
        (0..3).for_each(|place| before.remember(&sessions[place], place));
        (0..3).for_each(|_| before.all[1].failed());
        before.all[2].checked(Err(Sick::Status(StatusCode::NOT_FOUND)));
        let targets = || ["http://d", "http://c", "http://b"].map(|url| Target::parse(url).unwrap());
        let after = Backends::new(targets()).after(&before, true);
        let ins = |backends: &Backends| -> Vec<bool> { backends.all.iter().map(|backend| backend.is_in()).collect() };
        assert_eq!(ins(&after), [true, false, false]);
        let of = |session: usize| after.choose(Some(&sessions[session]), &[]).unwrap().0;
        assert_eq!([of(2), of(1), of(0)], [1, 2, 0], "that of the backend that is gone goes elsewhere");
        // Requests that began before the reload count too.
        before.remember(&HeaderValue::from_static("late"), 2);
        assert_eq!(after.choose(Some(&HeaderValue::from_static("late")), &[]).unwrap().0, 1);
        assert_eq!(ins(&Backends::new(targets()).after(&before, false)), [true, true, false], "other checks");
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
