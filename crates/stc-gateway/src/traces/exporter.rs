//! The thread that sends spans to the collector in batches, with OTLP/HTTP.
//!
//! A collector that fails delays only this thread: the batch is tried again a few times, later each time, while the queue fills
//! and further spans are dropped.

use crate::config::Config;
use crate::traces::otlp;
use crate::traces::request::Traces;
use crate::traces::settings::TracesSettings;
use crate::traces::span::{Counts, Dropped, Queue, Span};
use crate::upstream::clients::{Clients, UpstreamClient};
use crate::upstream::connections::ClientError;
use crate::upstream::failure::Failure;
use crate::upstream::tls;
use crate::upstream::upload::Upload;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// The most spans of one request to the collector.
const SPANS_PER_BATCH: usize = 512;

/// How often a batch is sent before it is dropped.
const TRIES: u32 = 4;

/// The pause before a batch is sent again. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause that a collector can request.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The time for one request to the collector.
const EXPORT_TIME: Duration = Duration::from_secs(10);

/// The longest answer of the collector that is read.
const LONGEST_ANSWER: usize = 64 << 10;

/// What sends spans.
pub(crate) struct Exporter {
    settings: TracesSettings,
    headers: HeaderMap,
    client: UpstreamClient,
}

impl Exporter {
    /// Creates the exporter of a configuration; `None` if it has no traces.
    pub(crate) fn new(config: &Config) -> Result<Option<Self>, String> {
        let Some(settings) = config.traces.clone() else { return Ok(None) };
        let mut headers = settings.headers()?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("stc-gateway/", env!("CARGO_PKG_VERSION"))));
        let tls = tls::client_config(settings.endpoint.is_secure)?;
        let client = Clients::new(&config.timeouts, &tls).choose(true).clone();
        Ok(Some(Self { settings, headers, client }))
    }

    /// Starts the thread.
    pub(crate) fn start(self) -> Result<Traces, String> {
        let counts = Arc::new(Counts::default());
        let (queue, spans) = Queue::new(self.settings.queue, counts.clone());
        let (ending, end) = mpsc::channel(1);
        let traces = Traces::new(queue, counts.clone(), self.settings.sample, ending);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("traces: {error}"))?;
        let sending = Sending { exporter: self, spans, end, done: None, counts, fails: false };
        let thread = std::thread::Builder::new().name("traces".to_owned());
        thread.spawn(move || runtime.block_on(sending.run())).map_err(|error| format!("traces: {error}"))?;
        Ok(traces)
    }

    /// Posts a batch, and returns how many of its spans were rejected.
    async fn post(&self, batch: Bytes) -> Result<u64, Refusal> {
        let mut request = Request::new(Upload::held(batch));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.settings.endpoint.url.clone();
        *request.headers_mut() = self.headers.clone();
        let response = match timeout(EXPORT_TIME, self.client.request(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Refusal::again(Failure::of(&ClientError::General(error)).detail)),
            Err(_) => return Err(Refusal::again(format!("no answer within {EXPORT_TIME:?}"))),
        };
        let status = response.status();
        let why = format!("status {}", status.as_u16());
        match status {
            _ if status.is_success() => {
                let answer = timeout(EXPORT_TIME, Limited::new(response.into_body(), LONGEST_ANSWER).collect()).await;
                Ok(answer.ok().and_then(Result::ok).map_or(0, |answer| otlp::rejected(&answer.to_bytes())))
            }
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => {
                let pause = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
                Err(Refusal {
                    pause: pause.map(|pause| Duration::from_secs(pause).min(LONGEST_PAUSE)),
                    ..Refusal::again(why)
                })
            }
            _ => Err(Refusal { is_final: true, ..Refusal::again(why) }),
        }
    }
}

/// Why a batch was not accepted.
struct Refusal {
    why: String,
    /// Whether another try cannot succeed.
    is_final: bool,
    /// The pause that the collector requests.
    pause: Option<Duration>,
}

impl Refusal {
    const fn again(why: String) -> Self {
        Self { why, is_final: false, pause: None }
    }
}

/// The state of the thread.
struct Sending {
    exporter: Exporter,
    spans: mpsc::Receiver<Span>,
    /// Receives what to confirm when the program ends.
    end: mpsc::Receiver<SyncSender<()>>,
    done: Option<SyncSender<()>>,
    counts: Arc<Counts>,
    /// Whether the latest try failed.
    fails: bool,
}

impl Sending {
    async fn run(mut self) {
        let mut batch = Vec::new();
        while self.done.is_none() {
            tokio::select! {
                done = self.end.recv() => match done {
                    Some(done) => self.done = Some(done),
                    None => return,
                },
                () = fill(&mut self.spans, &mut batch, self.exporter.settings.interval.0) => self.deliver(&mut batch).await,
            }
        }
        // What is left, each batch once.
        loop {
            while batch.len() < SPANS_PER_BATCH
                && let Ok(span) = self.spans.try_recv()
            {
                batch.push(span);
            }
            if batch.is_empty() {
                break;
            }
            self.deliver(&mut batch).await;
        }
        if let Some(done) = self.done {
            let _ = done.send(());
        }
    }

    /// Sends a batch, several times if need be, and clears it.
    async fn deliver(&mut self, batch: &mut Vec<Span>) {
        let count = batch.len() as u64;
        let body = Bytes::from(otlp::encode(batch, &self.exporter.settings.service_name));
        batch.clear();
        let mut pause = FIRST_PAUSE;
        for left in (0..TRIES).rev() {
            let refusal = match self.exporter.post(body.clone()).await {
                Ok(rejected) => {
                    let rejected = rejected.min(count);
                    self.counts.sent.fetch_add(count - rejected, Ordering::Relaxed);
                    self.counts.lose(Dropped::Rejected, rejected);
                    return self.note(None);
                }
                Err(refusal) => refusal,
            };
            self.note(Some(&refusal.why));
            if refusal.is_final {
                return self.counts.lose(Dropped::Rejected, count);
            }
            if left == 0 || self.done.is_some() {
                return self.counts.lose(Dropped::Failed, count);
            }
            tokio::select! {
                () = sleep(refusal.pause.unwrap_or(pause)) => pause *= 2,
                done = self.end.recv() => self.done = done,
            }
        }
    }

    /// Logs when the collector starts to fail, and when it answers again.
    fn note(&mut self, why: Option<&str>) {
        let collector = tracing::field::display(&self.exporter.settings.endpoint.url);
        match (self.fails, why) {
            (false, Some(why)) => tracing::warn!(target: "traces", collector, why, "the collector fails"),
            (true, None) => tracing::info!(target: "traces", collector, "the collector accepts spans again"),
            _ => {}
        }
        self.fails = why.is_some();
    }
}

/// Waits for a span, and then for more until the batch is full or the interval has passed.
async fn fill(spans: &mut mpsc::Receiver<Span>, batch: &mut Vec<Span>, interval: Duration) {
    if batch.is_empty() && spans.recv_many(batch, SPANS_PER_BATCH).await == 0 {
        // Nothing can come any more; the end is told apart.
        return std::future::pending().await;
    }
    let end = Instant::now() + interval;
    while batch.len() < SPANS_PER_BATCH {
        let room = SPANS_PER_BATCH - batch.len();
        if !timeout_at(end, spans.recv_many(batch, room)).await.is_ok_and(|count| count > 0) {
            return;
        }
    }
}
