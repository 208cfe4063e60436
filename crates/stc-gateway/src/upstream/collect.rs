//! Bodies of requests that are read whole before they are forwarded.

use crate::client::pace::Pace;
use crate::upstream::failed::{BoxError, Failed, INCOMPLETE, TOO_LONG};
use crate::upstream::failure::find_in;
use crate::upstream::request_body::RequestBody;
use crate::upstream::upload::{Upload, UploadError};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};

/// The answer to a request whose body comes too slowly.
pub(crate) const TOO_SLOW: Failed = Failed(StatusCode::REQUEST_TIMEOUT, "the request's body took too long");

/// Collects a body of at most this many bytes. It may take any time, if the client sends it at this pace.
pub(crate) async fn collect(body: RequestBody, pace: Pace, most: usize) -> Result<Bytes, Failed> {
    let collected = Limited::new(Upload::new(body, pace, None), most).collect().await;
    collected.map(|body| body.to_bytes()).map_err(|error| answer_to(&error))
}

/// Returns the answer to a request whose body ended with this error.
pub(crate) fn answer_to(error: &BoxError) -> Failed {
    match error.downcast_ref::<UploadError>() {
        _ if find_in::<LengthLimitError>(&**error).is_some() => TOO_LONG,
        Some(UploadError::TooSlow) => TOO_SLOW,
        _ => INCOMPLETE,
    }
}
