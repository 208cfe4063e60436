//! W3C Trace Context: the ids of traces and spans, and the header that carries them.

use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The header that names a request's trace and the span that sent it.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The header with what tracing systems add for themselves.
pub(crate) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The flag of a trace whose spans are kept.
pub(crate) const SAMPLED: u8 = 1;

/// The flags that are defined: sampled, and random id.
const KNOWN_FLAGS: u8 = 3;

/// The id of a trace. Not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceId(u128);

impl TraceId {
    pub(crate) fn random() -> Self {
        Self((u128::from(random()) << 64) | u128::from(random().max(1)))
    }

    /// Returns the last 56 bits, which are random by W3C Trace Context, level 2.
    pub(crate) const fn randomness(self) -> u64 {
        self.0 as u64 & ((1 << 56) - 1)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The id of a span. Not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanId(u64);

impl SpanId {
    pub(crate) fn random() -> Self {
        Self(random().max(1))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Returns the next of a sequence that cannot be guessed: a keyed hash of a counter.
fn random() -> u64 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    KEYS.hash_one(COUNT.fetch_add(1, Ordering::Relaxed))
}

/// What a `traceparent` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parent {
    pub(crate) trace: TraceId,
    pub(crate) span: SpanId,
    pub(crate) flags: u8,
}

impl Parent {
    /// Reads the header of a request; `None` if there is none, more than one, or a malformed one.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut lines = headers.get_all(TRACEPARENT).iter();
        let line = lines.next()?;
        if lines.next().is_some() { None } else { Self::parse(line) }
    }

    fn parse(line: &HeaderValue) -> Option<Self> {
        let fields: Vec<&str> = line.to_str().ok()?.split('-').collect();
        let [version, trace, span, flags, ..] = fields[..] else { return None };
        let digits = |field: &str, length| {
            field.len() == length && field.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        };
        let known = digits(version, 2) && version != "ff" && (version != "00" || fields.len() == 4);
        if !known || !digits(trace, 32) || !digits(span, 16) || !digits(flags, 2) {
            return None;
        }
        let trace = u128::from_str_radix(trace, 16).ok().filter(|trace| *trace != 0)?;
        let span = u64::from_str_radix(span, 16).ok().filter(|span| *span != 0)?;
        let flags = u8::from_str_radix(flags, 16).ok()? & KNOWN_FLAGS;
        Some(Self { trace: TraceId(trace), span: SpanId(span), flags })
    }

    pub(crate) const fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Creates the header.
    pub(crate) fn header(&self) -> HeaderValue {
        let text = format!("00-{}-{}-{:02x}", self.trace, self.span, self.flags);
        HeaderValue::try_from(text).expect("digits and hyphens")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed_parents() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        for (parent, expected) in [
            (format!("00-{trace}-{span}-01"), Some(format!("00-{trace}-{span}-01"))),
            (format!("00-{trace}-{span}-00"), Some(format!("00-{trace}-{span}-00"))),
            (format!("01-{trace}-{span}-ff-more"), Some(format!("00-{trace}-{span}-03"))),
            (format!("00-{trace}-{span}-01-more"), None),
            (format!("ff-{trace}-{span}-01"), None),
            (format!("00-{}-{span}-01", "0".repeat(32)), None),
            (format!("00-{trace}-{}-01", "0".repeat(16)), None),
            (format!("00-{}-{span}-01", trace.to_uppercase()), None),
            (format!("00-{trace}-{span}"), None),
            (String::new(), None),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(TRACEPARENT, HeaderValue::try_from(&parent).unwrap());
            let read = Parent::of(&headers);
            assert_eq!(read.map(|read| read.header()), expected.map(|text| text.try_into().unwrap()), "{parent}");
            headers.append(TRACEPARENT, HeaderValue::try_from(&parent).unwrap());
            assert_eq!(Parent::of(&headers), None, "two of them");
        }
    }

    #[test]
    fn random_ids_differ_and_are_well_formed() {
        let made = || Parent { trace: TraceId::random(), span: SpanId::random(), flags: SAMPLED };
        let (one, other) = (made(), made());
        assert!(one.trace != other.trace && one.span != other.span);
        assert_eq!(Parent::parse(&one.header()), Some(one));
    }
}
