//! Why a request to an upstream failed, from the errors of the libraries below.

use crate::upstream::connections::ClientError;
use crate::upstream::failed::Failed;
use http::StatusCode;
use std::error::Error;
use std::io;

/// The cause of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Nothing listens at its address.
    Refused,
    /// Its name has no address.
    Dns,
    /// No connection for another reason: no route, a time limit.
    Connect,
    /// TLS: a certificate, a name, a version.
    Tls,
    /// It closed the connection before the head of its response was complete.
    Closed,
    /// The head of its response is not HTTP.
    Malformed,
    /// The head of its response has too many headers or bytes.
    LargeHead,
    /// The head of its response did not arrive in time.
    Timeout,
    /// Its body ended early or contradicted its head.
    Broken,
    /// Its body stopped arriving.
    Silent,
}

impl Cause {
    pub(crate) const ALL: [Self; 10] = [
        Self::Refused,
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::Closed,
        Self::Malformed,
        Self::LargeHead,
        Self::Timeout,
        Self::Broken,
        Self::Silent,
    ];

    /// Returns the name used in logs and metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::Closed => "closed",
            Self::Malformed => "malformed",
            Self::LargeHead => "large-head",
            Self::Timeout => "timeout",
            Self::Broken => "broken",
            Self::Silent => "silent",
        }
    }

    /// Returns whether the upstream cannot have seen the request.
    pub(crate) const fn is_before_request(self) -> bool {
        matches!(self, Self::Refused | Self::Dns | Self::Connect | Self::Tls)
    }

    /// Returns what the client gets.
    pub(crate) const fn answer(self) -> Failed {
        let text = match self {
            Self::Refused => "the upstream refused the connection",
            Self::Dns => "the upstream's name has no address",
            Self::Connect => "the upstream cannot be reached",
            Self::Tls => "TLS with the upstream failed",
            Self::Closed => "the upstream closed the connection before it answered",
            Self::Malformed => "the upstream's response is not valid HTTP",
            Self::LargeHead => "the upstream's response has too many headers, or too long ones",
            Self::Timeout => return Failed(StatusCode::GATEWAY_TIMEOUT, "the upstream took too long"),
            Self::Broken | Self::Silent => "the upstream's response is incomplete",
        };
        Failed(StatusCode::BAD_GATEWAY, text)
    }
}

/// A cause with what the library says about it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    pub(crate) detail: String,
}

impl Failure {
    pub(crate) fn new(cause: Cause, detail: impl Into<String>) -> Self {
        Self { cause, detail: detail.into() }
    }

    /// Finds the cause of an error of the client.
    pub(crate) fn of(failed: &ClientError) -> Self {
        let error = failed.inner();
        let cause = if let Some(why) = chain(error).find_map(find::<rustls::Error>) {
            return Self::new(Cause::Tls, why.to_string());
        } else if failed.is_connect() {
            match chain(error).find_map(|error| find::<io::Error>(error).map(io::Error::kind)) {
                Some(io::ErrorKind::ConnectionRefused) => Cause::Refused,
                // The resolver's error has no type of its own.
                _ if chain(error).any(|error| error.to_string().starts_with("dns error")) => Cause::Dns,
                _ => Cause::Connect,
            }
        } else {
            match chain(error).find_map(find::<hyper::Error>) {
                Some(error) if error.is_parse_too_large() => Cause::LargeHead,
                Some(error) if error.is_parse() => Cause::Malformed,
                _ => Cause::Closed,
            }
        };
        Self::new(cause, shown(error))
    }
}

/// Returns an error and its sources.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        // `source` of an I/O error passes over the error that it wraps.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        wrapped.map(|wrapped| wrapped as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

/// Returns the error of a type in a chain.
pub(crate) fn find_in<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    chain(error).find_map(find::<T>)
}

fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    error.downcast_ref()
}

/// Formats the innermost errors, which say most.
pub(crate) fn shown(error: &(dyn Error + 'static)) -> String {
    let mut texts: Vec<String> = chain(error).map(ToString::to_string).collect();
    // An error often repeats its source.
    texts.dedup_by(|later, earlier| earlier.contains(later.as_str()));
    texts.join(": ")
}
