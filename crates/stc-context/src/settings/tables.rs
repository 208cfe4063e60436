//! The tables of the settings, each with its defaults.

use crate::settings::choices::{Method, RedactWhen, SessionFrom};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use stc_redact::Redactor;
use std::path::PathBuf;
use std::sync::Arc;

/// Where events are written, and how many may wait.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Telemetry {
    /// The file, to which lines are appended: none.
    pub file: Option<PathBuf>,
    /// Lines that wait for the disk; the next is dropped and counted: 256.
    pub queue: usize,
    /// The longest line in bytes; a longer one is dropped and counted: 64 KiB.
    pub event_bytes: usize,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { file: None, queue: 256, event_bytes: 64 << 10 }
    }
}

/// The bound of a text in the modes that lose something.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct CapSettings {
    /// The most bytes of a text; of a longer one the middle goes, but for its first error: 64 KiB.
    #[serde(deserialize_with = "cap_bytes")]
    pub bytes: usize,
}

impl CapSettings {
    /// The most bytes that the settings or a request can choose.
    pub const MOST: usize = 1 << 20;
}

impl Default for CapSettings {
    fn default() -> Self {
        Self { bytes: 64 << 10 }
    }
}

/// The lines of a text in the modes `standard` and `aggressive`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct ExcerptSettings {
    /// The lines that stay of a text of more than twice as many, beside those about problems: 160. 0 means all.
    pub lines: usize,
}

impl Default for ExcerptSettings {
    fn default() -> Self {
        Self { lines: 160 }
    }
}

/// How repeated passages are found in the mode `aggressive`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct DictionarySettings {
    /// The method: [`Method::Lzw`].
    pub method: Method,
}

impl Default for DictionarySettings {
    fn default() -> Self {
        Self { method: Method::Lzw }
    }
}

/// What is kept of a session, and how much.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct MemoSettings {
    /// Whether anything is kept: yes, for requests that name a session.
    pub enabled: bool,
    /// The longest value in bytes: 16 KiB.
    pub entry_bytes: usize,
    /// Bytes of a session, whose oldest values are dropped first: 512 KiB.
    pub session_bytes: usize,
    /// Sessions, of which the least recently used is dropped first: 4,096.
    pub sessions: usize,
    /// Bytes of all sessions: 256 MiB.
    pub total_bytes: usize,
    /// Seconds that a session is kept without use: 21,600.
    pub ttl: u64,
    /// The places that may name the session of a request, the first first.
    pub sessions_from: Vec<SessionFrom>,
}

impl Default for MemoSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            entry_bytes: 16 << 10,
            session_bytes: 512 << 10,
            sessions: 4096,
            total_bytes: 256 << 20,
            ttl: 21_600,
            sessions_from: vec![SessionFrom::Option, SessionFrom::Header],
        }
    }
}

/// A store that several gateways share.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// The address of a Redis: none.
    pub redis: Option<String>,
    /// The environment variable with the secret by which sessions are named, the same on every replica.
    pub secret_env: Option<String>,
    /// Seconds that a request waits for the store at most: 0.02.
    #[serde(deserialize_with = "seconds")]
    pub timeout: f64,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { redis: None, secret_env: None, timeout: 0.02 }
    }
}

/// Which secrets are replaced, and when.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct RedactSettings {
    /// When secrets are replaced: in the modes that lose something.
    pub enabled: RedactWhen,
    /// The rules that are left out, each with a hyphen before its id: none.
    pub rules: Vec<String>,
    /// More rules: none.
    pub more: Vec<stc_redact::RuleText>,
}

impl Default for RedactSettings {
    fn default() -> Self {
        Self { enabled: RedactWhen::ByMode, rules: Vec::new(), more: Vec::new() }
    }
}

impl RedactSettings {
    /// Compiles the rules; without settings of their own, the whole program shares them. An error names the setting.
    pub fn redactor(&self) -> Result<Arc<Redactor>, String> {
        if self.rules.is_empty() && self.more.is_empty() {
            return Ok(Redactor::shared());
        }
        let id = |rule: &String| match rule.strip_prefix('-') {
            Some(id) => Ok(id.to_owned()),
            None => Err(format!("`context.redact.rules`: expected ids with a hyphen before them, not `{rule}`")),
        };
        let off = self.rules.iter().map(id).collect::<Result<Vec<_>, _>>()?;
        Redactor::new(&off, &self.more).map(Arc::new).map_err(|why| format!("`context.redact`: {why}"))
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    let fits = seconds > 0.0 && seconds <= 10.0;
    if fits {
        Ok(seconds)
    } else {
        Err(D::Error::custom("`context.store.timeout`: expected seconds, above 0 and at most 10"))
    }
}

fn cap_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let bytes = usize::deserialize(deserializer)?;
    let fits = (1..=CapSettings::MOST).contains(&bytes);
    if fits { Ok(bytes) } else { Err(D::Error::custom("`context.cap.bytes`: expected 1 to 1048576")) }
}
