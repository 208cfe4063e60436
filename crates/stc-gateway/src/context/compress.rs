//! `POST /v1/compress`: rows of a conversation in, the same rows with shorter tool results out, for hosts that send the
//! request to the model themselves. LiteLLM's guardrail `headroom` calls it.

use super::options::Options;
use super::settings::compile;
use crate::body::{RequestBody, ResponseBody};
use crate::client::memory::{Count, Purse};
use crate::client::pace::Pace;
use crate::metrics::Metrics;
use crate::pool::Threads;
use crate::upstream::collect::collect;
use crate::upstream::failed::Failed;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use stc_context::{Api, Compressed, Context, Refused, Settings};
use stc_layer::Pool;
use stc_layer::memory::{fitted, guarded};
use std::sync::Arc;
use std::time::Instant;

/// A path that compresses.
pub(crate) struct Compressor {
    /// The path, without a slash at its end.
    pub(crate) path: String,
    context: Context,
    /// Bytes of requests in memory.
    held: Arc<Count>,
    pool: Arc<Threads>,
    metrics: Arc<Metrics>,
}

impl Compressor {
    pub(crate) fn new(
        path: String,
        settings: Settings,
        pool: &Arc<Threads>,
        metrics: &Arc<Metrics>,
    ) -> Result<Self, String> {
        let (pool, metrics, held) = (pool.clone(), metrics.clone(), Arc::default());
        Ok(Self { path, context: compile(settings)?, held, pool, metrics })
    }

    /// Answers a request.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<RequestBody>,
        pace: Pace,
        purse: Purse,
    ) -> Result<Response<ResponseBody>, Failed> {
        let (mut parts, body) = request.into_parts();
        if parts.method != Method::POST {
            return Err(Failed(StatusCode::METHOD_NOT_ALLOWED, "POST only"));
        }
        let options = Options::take(&mut parts.headers, self.context.settings().options);
        let settings = self.context.settings();
        let held = purse.hold_within(&self.held, settings.max_held_bytes);
        let body = collect(body, pace, settings.longest_request(), &purse, &held).await?;
        let began = Instant::now();
        let (send, receive) = tokio::sync::oneshot::channel();
        let this = self.clone();
        let work = move |body: Bytes| this.context.compress(&body, options.headers());
        let length = body.len();
        // The job leaves the queue with the request.
        let _ticket = self.pool.queue(length, Box::new(move || drop(send.send(work(body)))));
        match receive.await {
            Ok(Ok(Some(Compressed { body, report }))) => {
                self.metrics.context.note(&report, began.elapsed());
                held.shrink(body.len());
                Ok(json(StatusCode::OK, guarded(fitted(body), held)))
            }
            Ok(Ok(None)) => Err(Failed(StatusCode::BAD_REQUEST, "expected JSON with `messages` or `input`")),
            Ok(Err(why)) => {
                match why {
                    Refused::Option(_) => self.metrics.context.refuse(),
                    Refused::Redaction => self.metrics.context.fail_redaction(1),
                }
                let status = StatusCode::from_u16(why.status()).unwrap_or(StatusCode::BAD_GATEWAY);
                Ok(json(status, Api::OpenAiChat.error(&why).into_bytes().into()))
            }
            Err(_) => Err(Failed(StatusCode::INTERNAL_SERVER_ERROR, "the compression failed")),
        }
    }
}

fn json(status: StatusCode, body: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
