//! Bodies of requests that are read whole before they are forwarded.

use crate::client::pace::Pace;
use crate::upstream::failed::{Failed, INCOMPLETE, TOO_LONG};
use crate::upstream::failure::find_in;
use crate::upstream::request_body::RequestBody;
use crate::upstream::upload::{Upload, UploadError};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::error::Error;

/// The answer to a request whose body comes too slowly.
pub(crate) const TOO_SLOW: Failed = Failed(StatusCode::REQUEST_TIMEOUT, "the request's body took too long");

/// Collects a body of at most this many bytes. It may take any time, if the client sends it at this pace.
pub(crate) async fn collect(body: RequestBody, pace: Pace, most: usize) -> Result<Bytes, Failed> {
    let collected = Limited::new(Upload::new(body, pace, None), most).collect().await;
    collected.map(|body| body.to_bytes()).map_err(|error| answer_to(&*error).unwrap_or(INCOMPLETE))
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
