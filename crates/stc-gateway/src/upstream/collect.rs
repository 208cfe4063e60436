//! Bodies of requests that are read whole before they are forwarded.

use crate::client::pace::Pace;
use crate::upstream::failed::{Failed, INCOMPLETE, TOO_LONG};
use crate::upstream::failure::find_in;
use crate::upstream::request_body::RequestBody;
use crate::upstream::upload::{Upload, UploadError};
use bytes::{Bytes, BytesMut};
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The answer to a request whose body comes too slowly.
const TOO_SLOW: Failed = Failed(StatusCode::REQUEST_TIMEOUT, "the request's body took too long");

/// The answer to a request whose body would be over the limit of all bodies in memory.
const BUSY: Failed = Failed(StatusCode::SERVICE_UNAVAILABLE, "too many bodies of requests are in memory");

/// Bytes that count as held, until dropped.
pub(crate) struct HeldBytes<'a> {
    all: &'a AtomicUsize,
    bytes: usize,
}

impl<'a> HeldBytes<'a> {
    /// Adds to a count.
    pub(crate) fn new(all: &'a AtomicUsize, bytes: usize) -> Self {
        all.fetch_add(bytes, Ordering::Relaxed);
        Self { all, bytes }
    }

    /// Counts at least this many bytes. Returns the count of all.
    pub(crate) fn grow(&mut self, bytes: usize) -> usize {
        let more = bytes.saturating_sub(self.bytes);
        self.bytes += more;
        self.all.fetch_add(more, Ordering::Relaxed) + more
    }
}

impl Drop for HeldBytes<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Collects a body of at most this many bytes. It may take any time, if the client sends it at this pace.
pub(crate) async fn collect(body: RequestBody, pace: Pace, most: usize) -> Result<Bytes, Failed> {
    let collected = Limited::new(Upload::new(body, pace, None), most).collect().await;
    collected.map(|body| body.to_bytes()).map_err(|error| answer_to(&*error).unwrap_or(INCOMPLETE))
}

/// Collects a body whose bytes count as held, unless that makes more than `most` of all. Its announced length does not count: a client
/// that sends nothing keeps no other out.
pub(crate) async fn collect_held(
    body: RequestBody,
    pace: Pace,
    held: &mut HeldBytes<'_>,
    most: u64,
) -> Result<Bytes, Failed> {
    let mut upload = Upload::new(body, pace, None);
    let mut whole = BytesMut::new();
    while let Some(frame) = upload.frame().await {
        let frame = frame.map_err(|error| answer_to(&*error).unwrap_or(INCOMPLETE))?;
        // Trailers describe bytes that may change.
        let Ok(data) = frame.into_data() else { continue };
        if held.grow(whole.len() + data.len()) as u64 > most {
            return Err(BUSY);
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
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
