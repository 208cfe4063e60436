//! The settings of traces, as they are written.

use crate::config::values::{Seconds, count};
use crate::upstream::target::Target;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Where spans go, and of which requests.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TracesSettings {
    /// The collector's URL, to which `/v1/traces` is appended.
    pub(crate) endpoint: Endpoint,
    /// The share of requests without a `traceparent` that have spans: 1.
    #[serde(default = "all", deserialize_with = "share")]
    pub(crate) sample: f64,
    /// The name of this service in the spans: `stc-gateway`.
    #[serde(default = "usual_name", deserialize_with = "name")]
    pub(crate) service_name: String,
    /// The environment variable with headers for the collector, as `name=value,name=value`; values can contain `%2C`.
    #[serde(default)]
    pub(crate) headers_env: Option<String>,
    /// Spans that can wait; the next is dropped: 2,048.
    #[serde(default = "usual_queue", deserialize_with = "count")]
    pub(crate) queue: usize,
    /// Seconds that a span waits for others at the most: 5.
    #[serde(default = "usual_interval")]
    pub(crate) interval: Seconds,
}

const fn all() -> f64 {
    1.0
}

fn usual_name() -> String {
    "stc-gateway".to_owned()
}

const fn usual_queue() -> usize {
    2048
}

const fn usual_interval() -> Seconds {
    Seconds::of(5)
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(D::Error::custom("a number between 0 and 1 is required")) }
}

fn name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if name.is_empty() { Err(D::Error::custom("a name is required")) } else { Ok(name) }
}

/// The URL to which spans are posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) url: Uri,
    pub(crate) is_secure: bool,
}

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let target = Target::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)?;
        let base = target.name();
        if base.ends_with("/v1/traces") {
            return Err(D::Error::custom("the URL is required without `/v1/traces`"));
        }
        let url = format!("{base}/v1/traces").parse().map_err(D::Error::custom)?;
        Ok(Self { url, is_secure: target.is_secure() })
    }
}

impl TracesSettings {
    /// Reads the headers from the environment. An error never contains a value.
    pub(crate) fn headers(&self) -> Result<HeaderMap, String> {
        let Some(name) = &self.headers_env else { return Ok(HeaderMap::new()) };
        let text = std::env::var(name).map_err(|_| format!("`traces.headers_env`: {name} is not set"))?;
        headers(&text).ok_or_else(|| format!("`traces.headers_env`: {name} is not a list of `name=value`"))
    }
}

fn headers(text: &str) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let mut value = HeaderValue::from_bytes(&unescaped(value.trim())?).ok()?;
        value.set_sensitive(true);
        headers.append(name.trim().parse::<HeaderName>().ok()?, value);
    }
    Some(headers)
}

/// Replaces `%2C` and the like.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_a_variable() {
        let read = headers(" api-key = a%2Cb , x-team=red,").unwrap();
        assert_eq!((&read["api-key"], &read["x-team"]), (&"a,b".parse().unwrap(), &"red".parse().unwrap()));
        assert!(!format!("{read:?}").contains("red"), "values are secrets");
        for wrong in ["a", "a b=c", "a=%2", "a=%zz", "a=%+1", "a=\u{7f}"] {
            assert!(headers(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn endpoints() {
        let read = |text: &str| toml::from_str::<TracesSettings>(&format!("endpoint = \"{text}\"\n"));
        for (text, url) in [
            ("http://collector:4318", "http://collector:4318/v1/traces"),
            ("https://a/otlp/", "https://a/otlp/v1/traces"),
        ] {
            assert_eq!(read(text).unwrap().endpoint.url, url, "{text}");
        }
        for wrong in ["collector:4318", "http://a/v1/traces", "grpc://a", "http://a?x=1", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
