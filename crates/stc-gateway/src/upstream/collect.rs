//! Bodies of requests that are read whole before they are forwarded.

use crate::client::memory::Purse;
use crate::client::pace::Pace;
use crate::upstream::failed::{Failed, INCOMPLETE, TOO_LONG};
use crate::upstream::failure::find_in;
use crate::upstream::request_body::RequestBody;
use crate::upstream::upload::{Upload, UploadError};
use bytes::Bytes;
use http::StatusCode;
use http_body::Body as _;
use http_body_util::{BodyExt, LengthLimitError};
use stc_layer::memory::{Gathered, Held, guarded};
use std::error::Error;
use std::sync::Arc;

/// The answer to a request whose body comes too slowly.
const TOO_SLOW: Failed = Failed(StatusCode::REQUEST_TIMEOUT, "the request's body took too long");

/// The answer to a request whose body would be over the limit of all bodies in memory.
const BUSY: Failed = Failed(StatusCode::SERVICE_UNAVAILABLE, "too many bodies are in memory");

/// Collects a body of at most this many bytes, which are counted until the last reference to them is gone. It may take any time, if the
/// client sends it at this pace. Its announced length does not count: a client that sends nothing keeps no other out. A body that is held
/// already is counted by what held it.
pub(crate) async fn collect(
    body: RequestBody,
    pace: Pace,
    most: usize,
    purse: &Purse,
    held: &Arc<Held>,
) -> Result<Bytes, Failed> {
    let body = match body.into_held().await {
        Ok(whole) if whole.len() > most => return Err(TOO_LONG),
        Ok(whole) => return Ok(whole),
        Err(body) => body,
    };
    let mut whole = Gathered::expecting(announced(&body));
    let mut upload = Upload::new(body, pace, None);
    while let Some(frame) = upload.frame().await {
        let frame = frame.map_err(|error| answer_to(&*error).unwrap_or(INCOMPLETE))?;
        // Trailers describe bytes that may change.
        let Ok(data) = frame.into_data() else { continue };
        if whole.len() + data.len() > most {
            return Err(TOO_LONG);
        }
        if !purse.grow(held, whole.with(data.len())).await {
            return Err(BUSY);
        }
        whole.push(data);
    }
    Ok(guarded(whole.into_bytes(), held.clone()))
}

/// Returns the length that a body is said to have.
pub(crate) fn announced(body: &RequestBody) -> Option<usize> {
    body.size_hint().exact().and_then(|length| usize::try_from(length).ok())
}

/// Returns the answer to a request whose own body failed; `None` if the error is about something else.
pub(crate) fn answer_to(error: &(dyn Error + 'static)) -> Option<Failed> {
    match find_in::<UploadError>(error) {
        _ if find_in::<LengthLimitError>(error).is_some() => Some(TOO_LONG),
        Some(UploadError::TooSlow) => Some(TOO_SLOW),
        Some(UploadError::Incomplete(_)) => Some(INCOMPLETE),
        None => None,
    }
}
