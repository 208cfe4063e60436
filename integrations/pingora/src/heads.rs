//! The heads of a request and its response, by the rules of `stc-layer`.

use http::header::{ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, TRANSFER_ENCODING, VARY};
use http::{HeaderMap, HeaderValue, Method};
use pingora::Result;
use pingora::http::{RequestHeader, ResponseHeader};
use stc::Options;
use stc_layer::mcp::Calls;
use stc_layer::{Ask, Engine, Exchange, Format, Plan, STC_VERSION, Skip, options_for};

/// A longer body, or one of unknown length, is sent as STC 1, which needs a window of the document and not all of it.
const HELD: u64 = 8 << 20;
const WINDOW: usize = 1 << 20;

/// Reads the head of a request; `None` if its response needs no attention.
pub(crate) fn open(engine: &Engine, request: &mut RequestHeader) -> Result<Option<Exchange>> {
    if request.method == Method::HEAD {
        return Ok(None);
    }
    let mut headers = request.headers.clone();
    let Some(exchange) = engine.open(&request.method, request.uri.path(), &mut headers).filter(|open| !open.is_mcp())
    else {
        return Ok(None);
    };
    let before = request.headers.clone();
    for name in before.keys().filter(|name| !headers.contains_key(*name)) {
        request.remove_header(name);
    }
    for (name, value) in changed(&before, &headers) {
        request.insert_header(name.clone(), value)?;
    }
    Ok(Some(exchange))
}

/// Decides by the head of a response and changes it; returns the options of the encoder if the body is to be converted.
pub(crate) fn plan(engine: &Engine, mut exchange: Exchange, response: &mut ResponseHeader) -> Result<Option<Options>> {
    let mut headers = response.headers.clone();
    let plan = engine.plan(&mut exchange, Calls::default, response.status, &headers);
    let options = match plan {
        Plan::Whole(job) if headers.contains_key(CONTENT_ENCODING) => {
            engine.skip(&exchange, job.ask(), Skip::Encoded, &mut headers);
            None
        }
        Plan::Whole(job) => converted(job.ask(), &mut headers),
        Plan::Skip(ask, skip) => {
            engine.skip(&exchange, ask, skip, &mut headers);
            None
        }
        Plan::Agree => {
            engine.agree(&exchange, &mut headers);
            None
        }
        Plan::Unknown => {
            engine.unknown(&mut headers);
            None
        }
        Plan::Leave | Plan::Message(_) | Plan::Events(_) => None,
    };
    let before = response.headers.clone();
    for name in before.keys().filter(|name| !headers.contains_key(*name)) {
        response.remove_header(name);
    }
    for (name, value) in changed(&before, &headers) {
        response.insert_header(name.clone(), value)?;
    }
    Ok(options)
}

/// Sets the headers of a body whose new length is unknown, and returns the options of its encoder.
fn converted(ask: Ask, headers: &mut HeaderMap) -> Option<Options> {
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let is_short = length.is_some_and(|length| length <= HELD);
    let format = if is_short { ask.format } else { Format::Stc1 };
    let options = options_for(format)?;
    headers.remove(CONTENT_LENGTH);
    headers.remove(ACCEPT_RANGES);
    headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    headers.insert(CONTENT_TYPE, format.content_type());
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("stc"));
    if let Some(version) = format.version() {
        headers.insert(STC_VERSION, version);
    }
    headers.append(VARY, HeaderValue::from_static("Accept, Accept-Encoding, X-Prefer-Format, X-STC-Version"));
    // The bytes are others, so a strong tag becomes weak.
    let weak =
        headers.get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/")).map(|tag| [b"W/", tag.as_bytes()].concat());
    if let Some(weak) = weak.and_then(|weak| HeaderValue::from_bytes(&weak).ok()) {
        headers.insert(ETAG, weak);
    }
    Some(if is_short { options } else { options.window(WINDOW) })
}

/// Returns the headers that differ, with their values as one line each.
fn changed<'a>(before: &'a HeaderMap, after: &'a HeaderMap) -> Vec<(&'a http::HeaderName, HeaderValue)> {
    let differs = |name: &&http::HeaderName| !before.get_all(*name).iter().eq(after.get_all(*name).iter());
    let line = |name| {
        let values: Vec<&[u8]> = after.get_all(name).iter().map(HeaderValue::as_bytes).collect();
        (name, HeaderValue::from_bytes(&values.join(&b", "[..])).expect("values without line ends"))
    };
    after.keys().filter(differs).map(line).collect()
}
