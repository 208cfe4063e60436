//! The spans of one request: which requests have spans, the server span, and a client span for each call of an upstream.

use crate::log::FLUSH_TIME;
use crate::traces::parent::{Parent, SAMPLED, SpanId, TRACEPARENT, TRACESTATE, TraceId};
use crate::traces::span::{Attributes, Counts, Kind, Queue, Span};
use http::uri::Scheme;
use http::{HeaderMap, Method, Request, StatusCode, Uri, Version};
use stc_layer::{Observer, Report, RequestObserver, Saved};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};
use tokio::sync::mpsc;

/// Decides which requests have spans. By default none has.
#[derive(Clone, Default)]
pub(crate) struct Traces {
    active: Option<Active>,
    pub(crate) counts: Arc<Counts>,
}

#[derive(Clone)]
struct Active {
    queue: Queue,
    /// Traces whose randomness is lower are sampled.
    threshold: u64,
    ending: mpsc::Sender<SyncSender<()>>,
}

impl Traces {
    /// Creates the decision: `sample` is the share of requests without a parent that have spans; `ending` tells the exporter that
    /// the program ends.
    pub(crate) fn new(queue: Queue, counts: Arc<Counts>, sample: f64, ending: mpsc::Sender<SyncSender<()>>) -> Self {
        let threshold = (sample * (1_u64 << 56) as f64) as u64;
        Self { active: Some(Active { queue, threshold, ending }), counts }
    }

    /// Decides about a request by its `traceparent`, which names the request's span afterwards. A parent that is not sampled
    /// passes as it came.
    pub(crate) fn begin(&self, headers: &mut HeaderMap) -> Option<Trace> {
        let active = self.active.as_ref()?;
        let parent = Parent::of(headers);
        if parent.is_some_and(|parent| !parent.is_sampled()) {
            return None;
        }
        let span = SpanId::random();
        let own = match parent {
            Some(parent) => Parent { span, ..parent },
            None => {
                // It belongs to a parent that cannot be read.
                headers.remove(TRACESTATE);
                let trace = TraceId::random();
                Parent { trace, span, flags: u8::from(trace.randomness() < active.threshold) * SAMPLED }
            }
        };
        headers.insert(TRACEPARENT, own.header());
        let known = Known {
            queue: active.queue.clone(),
            own,
            parent: parent.map(|parent| parent.span),
            began: (SystemTime::now(), Instant::now()),
            calls: AtomicU64::new(0),
            learned: Mutex::default(),
        };
        own.is_sampled().then(|| Trace(Arc::new(known)))
    }

    /// Sends the spans that wait, for a limited time.
    pub(crate) fn finish(&self) {
        let Some(active) = &self.active else { return };
        let (done, wait) = std::sync::mpsc::sync_channel(1);
        if active.ending.try_send(done).is_ok() {
            let _ = wait.recv_timeout(FLUSH_TIME);
        }
    }
}

/// A sampled request, in its extensions. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Trace(Arc<Known>);

struct Known {
    queue: Queue,
    /// The server span.
    own: Parent,
    /// The span that sent the request.
    parent: Option<SpanId>,
    began: (SystemTime, Instant),
    /// Calls of upstreams so far.
    calls: AtomicU64,
    learned: Mutex<Learned>,
}

/// What is learned on the way.
#[derive(Default)]
struct Learned {
    /// The cause of the latest failure of an upstream.
    cause: Option<&'static str>,
    tool: Option<String>,
    /// The sum of the conversions, if there were any.
    saved: Option<Saved>,
}

impl Known {
    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Known {
    fn transformed(&self, report: &Report<'_>) {
        let mut learned = self.learned();
        if learned.tool.is_none() {
            learned.tool = report.tool.map(String::from);
        }
        if let Ok(saved) = report.outcome {
            *learned.saved.get_or_insert_default() += saved;
        }
    }
}

impl Trace {
    /// Returns what the layer reports the conversions of this request to.
    pub(crate) fn observer(&self) -> RequestObserver {
        RequestObserver(self.0.clone())
    }

    /// Starts the span of a call of an upstream, and names it in the call's `traceparent`.
    pub(crate) fn call<B>(&self, request: &mut Request<B>) -> ClientSpan {
        let own = Parent { span: SpanId::random(), ..self.0.own };
        request.headers_mut().insert(TRACEPARENT, own.header());
        let mut attributes = Attributes::default();
        attributes.word("http.request.method", method(request.method()));
        let uri = request.uri();
        attributes.text("server.address", uri.host().unwrap_or_default());
        attributes.number("server.port", port(uri));
        // Without the query.
        let scheme = uri.scheme_str().unwrap_or("http");
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        attributes.text("url.full", &format!("{scheme}://{authority}{}", uri.path()));
        let resent = self.0.calls.fetch_add(1, Ordering::Relaxed);
        if resent > 0 {
            attributes.number("http.request.resend_count", resent);
        }
        ClientSpan(Box::new(Call {
            trace: self.clone(),
            own,
            name: method(request.method()),
            began: (SystemTime::now(), Instant::now()),
            attributes,
            failed: false,
        }))
    }
}

/// The span of a call of an upstream. It ends on drop.
pub(crate) struct ClientSpan(Box<Call>);

struct Call {
    trace: Trace,
    own: Parent,
    name: &'static str,
    began: (SystemTime, Instant),
    attributes: Attributes,
    failed: bool,
}

impl ClientSpan {
    /// Notes the status of the response.
    pub(crate) fn answered(&mut self, status: StatusCode) {
        self.0.attributes.number("http.response.status_code", status.as_u16().into());
        if status.is_client_error() || status.is_server_error() {
            self.0.failed = true;
            self.0.attributes.text("error.type", status.as_str());
        }
    }

    /// Notes why there is no response, or why its body ended early.
    pub(crate) fn failed(&mut self, cause: &'static str) {
        self.0.failed = true;
        self.0.attributes.word("error.type", cause);
        self.0.trace.0.learned().cause = Some(cause);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let known = &self.trace.0;
        known.queue.push(Span {
            trace: self.own.trace,
            id: self.own.span,
            parent: Some(known.own.span),
            flags: self.own.flags,
            kind: Kind::Client,
            name: self.name.to_owned(),
            began: self.began.0,
            took: self.began.1.elapsed(),
            attributes: std::mem::take(&mut self.attributes),
            failed: self.failed,
        });
    }
}

/// The server span of a request.
pub(crate) struct ServerSpan {
    trace: Trace,
    name: String,
    pub(crate) attributes: Attributes,
}

impl ServerSpan {
    /// Starts the span with what the head of the request says.
    pub(crate) fn new<B>(trace: Trace, request: &Request<B>, at: &Arrival<'_>) -> Self {
        let mut attributes = Attributes::default();
        let method = method(request.method());
        attributes.word("http.request.method", method);
        attributes.text("url.path", request.uri().path());
        attributes.word("url.scheme", at.scheme);
        attributes.text("server.address", at.host);
        attributes.word(
            "network.protocol.version",
            match request.version() {
                Version::HTTP_10 => "1.0",
                Version::HTTP_2 => "2",
                _ => "1.1",
            },
        );
        let name = match at.route {
            Some(route) => {
                attributes.text("http.route", route);
                format!("{method} {route}")
            }
            None => method.to_owned(),
        };
        Self { trace, name, attributes }
    }

    /// Ends the span. `status` is that of the response; a response that is not complete ended early.
    pub(crate) fn finish(mut self, status: Option<u16>, complete: bool) {
        let known = &self.trace.0;
        let learned = known.learned();
        if let Some(tool) = &learned.tool {
            self.attributes.text("stc.tool", tool);
        }
        if let Some(saved) = learned.saved {
            self.attributes.number("stc.bytes_saved", saved.bytes_in.saturating_sub(saved.bytes_out));
            self.attributes.number("stc.estimated_tokens_saved", saved.tokens_in.saturating_sub(saved.tokens_out));
        }
        // A call that failed and was repeated with success is no failure of the request.
        let failed = status.is_some_and(|status| status >= 500);
        match learned.cause.filter(|_| failed || !complete) {
            Some(cause) => self.attributes.word("error.type", cause),
            None if failed => self.attributes.text("error.type", &status.unwrap_or_default().to_string()),
            None => {}
        }
        let failed = failed || (!complete && learned.cause.is_some());
        drop(learned);
        known.queue.push(Span {
            trace: known.own.trace,
            id: known.own.span,
            parent: known.parent,
            flags: known.own.flags,
            kind: Kind::Server,
            name: self.name,
            began: known.began.0,
            took: known.began.1.elapsed(),
            attributes: self.attributes,
            failed,
        });
    }
}

/// Where a request arrived.
pub(crate) struct Arrival<'a> {
    /// `http` or `https`.
    pub(crate) scheme: &'static str,
    /// The host that the request names.
    pub(crate) host: &'a str,
    /// The name of its route.
    pub(crate) route: Option<&'a str>,
}

/// Returns a method by name; strangers cannot add names.
fn method(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT"];
    KNOWN.into_iter().find(|known| *known == method.as_str()).unwrap_or("_OTHER")
}

fn port(uri: &Uri) -> u64 {
    let usual = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
    uri.port_u16().map_or(usual, u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn traces(sample: f64) -> (Traces, mpsc::Receiver<Span>) {
        let counts = Arc::new(Counts::default());
        let (queue, waiting) = Queue::new(9, counts.clone());
        (Traces::new(queue, counts, sample, mpsc::channel(1).0), waiting)
    }

    fn headers(parent: &str) -> HeaderMap {
        let lines = [(TRACEPARENT, parent), (TRACESTATE, "a=b")];
        lines.into_iter().map(|(name, line)| (name, HeaderValue::from_str(line).unwrap())).collect()
    }

    #[test]
    fn the_parent_decides() {
        let (sampled, not) = (
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
        );
        let mut came = headers(sampled);
        assert!(traces(0.0).0.begin(&mut came).is_some());
        assert!(came[TRACEPARENT] != sampled && came[TRACESTATE] == "a=b");
        assert_eq!(came[TRACEPARENT].as_bytes()[..36], sampled.as_bytes()[..36], "the same trace");
        let mut came = headers(not);
        assert!(traces(1.0).0.begin(&mut came).is_none());
        assert!(came[TRACEPARENT] == not && came[TRACESTATE] == "a=b");
        let mut came = headers(sampled);
        assert!(Traces::default().begin(&mut came).is_none());
        assert_eq!(came[TRACEPARENT], sampled);
    }

    #[test]
    fn without_a_parent_the_share_decides() {
        for (sample, expected) in [(0.0, 0..=0), (0.5, 350..=650), (1.0, 1000..=1000)] {
            let traces = traces(sample).0;
            let mut count = 0;
            for _ in 0..1000 {
                let mut came = headers("00-unreadable");
                count += usize::from(traces.begin(&mut came).is_some());
                assert!(Parent::of(&came).is_some() && !came.contains_key(TRACESTATE));
            }
            assert!(expected.contains(&count), "{sample}: {count}");
        }
    }

    #[test]
    fn a_repeated_call_that_succeeds_is_no_failure() {
        let (traces, mut waiting) = traces(1.0);
        let mut request = Request::get("http://u:9/a?secret=1").body(()).unwrap();
        let trace = traces.begin(request.headers_mut()).unwrap();
        let at = Arrival { scheme: "http", host: "h", route: Some("/") };
        let server = ServerSpan::new(trace.clone(), &request, &at);
        trace.call(&mut request).failed("refused");
        trace.call(&mut request).answered(StatusCode::OK);
        server.finish(Some(200), true);
        let spans = [(); 3].map(|()| waiting.try_recv().unwrap());
        assert_eq!(spans.each_ref().map(|span| span.failed), [true, false, false]);
        assert!(spans[..2].iter().all(|span| span.parent == Some(spans[2].id)) && spans[2].parent.is_none());
        assert!(!format!("{spans:?}").contains("secret"));
        assert!(format!("{:?}", spans[1].attributes).contains("(\"http.request.resend_count\", Number(1))"));
    }
}
