//! `POST /v1/compress`: rows of a conversation in, the same rows with shorter tool results out, for hosts that send the
//! request to the model themselves. LiteLLM's guardrail `headroom` calls it.

use super::options::Options;
use super::settings::compile;
use crate::body::{RequestBody, ResponseBody};
use crate::client::pace::Pace;
use crate::metrics::Metrics;
use crate::pool::Threads;
use crate::upstream::collect::collect;
use crate::upstream::failed::Failed;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use stc_context::{Api, Compressed, Context, Refused, Settings};
use stc_layer::Pool;
use std::sync::Arc;
use std::time::Instant;

/// A path that compresses.
pub(crate) struct Compressor {
    /// The path, without a slash at its end.
    pub(crate) path: String,
    context: Context,
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
        Ok(Self { path, context: compile(settings)?, pool: pool.clone(), metrics: metrics.clone() })
    }

    /// Answers a request.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<RequestBody>,
        pace: Pace,
    ) -> Result<Response<ResponseBody>, Failed> {
        let (mut parts, body) = request.into_parts();
        if parts.method != Method::POST {
            return Err(Failed(StatusCode::METHOD_NOT_ALLOWED, "POST only"));
        }
        let options = Options::take(&mut parts.headers, self.context.settings().options);
        let most = self.context.settings().longest_request();
        let body = collect(body, pace, most).await?;
        let began = Instant::now();
        let (send, receive) = tokio::sync::oneshot::channel();
        let this = self.clone();
        self.pool.run(Box::new(move || {
            let _ = send.send(this.context.compress(&body, options.headers()));
        }));
        match receive.await {
            Ok(Ok(Some(Compressed { body, report }))) => {
                self.metrics.context.note(&report, began.elapsed());
                Ok(json(StatusCode::OK, body))
            }
            Ok(Ok(None)) => Err(Failed(StatusCode::BAD_REQUEST, "expected JSON with `messages` or `input`")),
            Ok(Err(why)) => {
                match why {
                    Refused::Option(_) => self.metrics.context.refuse(),
                    Refused::Redaction => self.metrics.context.fail_redaction(1),
                }
                let status = StatusCode::from_u16(why.status()).unwrap_or(StatusCode::BAD_GATEWAY);
                Ok(json(status, Api::OpenAiChat.error(&why).into_bytes()))
            }
            Err(_) => Err(Failed(StatusCode::INTERNAL_SERVER_ERROR, "the compression failed")),
        }
    }
}

fn json(status: StatusCode, body: Vec<u8>) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
