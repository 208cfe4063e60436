//! What an operator sets. Every setting has a default; unknown names are rejected, and so are those of later versions.

use crate::{Api, later};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use stc_wire::Verify;
use std::path::PathBuf;

/// The settings of one route.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What happens to tool results: [`Mode::Lossless`].
    pub mode: Mode,
    /// What JSON becomes: [`Format::Stc2`].
    pub format: Format,
    /// Whether the first encoded text of a request begins with the legend: no. `stc2` is read without one.
    pub legend: Legend,
    /// The API of the requests: by the end of the path.
    pub api: ApiChoice,
    /// Texts shorter than this stay: 1,024.
    pub min_bytes: usize,
    /// Texts longer than this stay: 1 MiB.
    pub max_bytes: usize,
    /// Requests longer than this stay: 32 MiB.
    pub max_request_bytes: usize,
    /// Bytes of requests in memory at once; further requests stay as they are: 1 GiB. The core does not read this.
    pub max_held_bytes: usize,
    /// The share of its estimated tokens that a text must save: 0.02.
    #[serde(deserialize_with = "share")]
    pub min_saving: f64,
    /// Tools whose results stay, by family, name or glob: `read`, `edit`, `write`.
    pub skip_tools: Vec<String>,
    /// Whether results stay whose call is not in the request: no.
    pub skip_unknown: bool,
    /// Whether results that are errors are converted: no.
    pub errors: bool,
    /// Whether a result that repeats an earlier one of the same request becomes a line that names it: no.
    pub dedup: bool,
    /// How often an encoded text is decoded and compared before it is sent: off.
    pub verify: Verify,
    /// Whether the answer has `X-STC-Context`: yes.
    pub header: bool,
    /// Whether a request may have options of its own: yes.
    pub options: bool,
    /// The modes that a request may choose: all.
    pub allow: Vec<Mode>,
    /// The file for events. The core does not read this.
    pub telemetry: Telemetry,
    /// Whether messages of the user count that are one JSON text of at least 4,096 bytes: no.
    pub user_text: bool,
    /// Whether a response of Gemini counts as a whole, and becomes `{"output": "..."}`: no.
    pub gemini_wrap: bool,
    /// What is kept from one request of a session to the next.
    pub memo: MemoSettings,
    /// Where it is kept beside memory. The core does not read this.
    pub store: StoreSettings,
    /// What happens to the descriptions of tools: nothing.
    pub schemas: Schemas,
    /// Which secrets are replaced, and when.
    pub redact: RedactSettings,
    /// The bound of a text in the modes that lose something.
    pub cap: CapSettings,
    /// The lines of a text in [`Mode::Standard`] and [`Mode::Aggressive`].
    pub excerpt: ExcerptSettings,
    /// How repeated passages are found in [`Mode::Aggressive`].
    pub dictionary: DictionarySettings,
    #[doc(hidden)]
    #[serde(deserialize_with = "later::expand")]
    pub expand: (),
    #[doc(hidden)]
    #[serde(deserialize_with = "later::strategy")]
    pub strategy: (),
    #[doc(hidden)]
    #[serde(deserialize_with = "later::discovery")]
    pub discovery: (),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Lossless,
            format: Format::Stc2,
            legend: Legend::None,
            api: ApiChoice::Auto,
            min_bytes: 1024,
            max_bytes: 1 << 20,
            max_request_bytes: 32 << 20,
            max_held_bytes: 1 << 30,
            min_saving: 0.02,
            skip_tools: ["read", "edit", "write"].map(String::from).to_vec(),
            skip_unknown: false,
            errors: false,
            dedup: false,
            verify: Verify::Off,
            header: true,
            options: true,
            allow: Mode::ALL.to_vec(),
            telemetry: Telemetry::default(),
            user_text: false,
            gemini_wrap: false,
            schemas: Schemas::Keep,
            memo: MemoSettings::default(),
            store: StoreSettings::default(),
            redact: RedactSettings::default(),
            cap: CapSettings::default(),
            excerpt: ExcerptSettings::default(),
            dictionary: DictionarySettings::default(),
            expand: (),
            strategy: (),
            discovery: (),
        }
    }
}

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

/// The lines of a text in [`Mode::Standard`] and [`Mode::Aggressive`].
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

/// How repeated passages are found in [`Mode::Aggressive`].
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
    /// Compiles the rules. An error names the setting.
    pub fn redactor(&self) -> Result<stc_redact::Redactor, String> {
        let id = |rule: &String| match rule.strip_prefix('-') {
            Some(id) => Ok(id.to_owned()),
            None => Err(format!("`context.redact.rules`: expected ids with a hyphen before them, not `{rule}`")),
        };
        let off = self.rules.iter().map(id).collect::<Result<Vec<_>, _>>()?;
        stc_redact::Redactor::new(&off, &self.more).map_err(|why| format!("`context.redact`: {why}"))
    }
}

/// Defines an enumeration whose values have one name each, in settings and in options, and knows the names that a later
/// version brings.
macro_rules! named {
    (
        $(#[$about:meta])* $type:ident, $what:literal, later [$($later:literal),*]:
        $($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$doc])* $variant),* }

        impl $type {
            /// All values.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the name used in settings and options.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Returns the value of this name, or what is wrong with the name.
            pub(crate) fn named(name: &str) -> Result<Self, String> {
                let found = Self::ALL.into_iter().find(|value| value.name() == name);
                let later: &[&str] = &[$($later),*];
                let expected = crate::bad_option::listed(&Self::ALL.map(Self::name));
                found.ok_or_else(|| match later.iter().find(|later| **later == name) {
                    Some(later) => format!("{later} is not available in this version; expected {expected}"),
                    None => format!("expected {expected}"),
                })
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                Self::named(&name).map_err(|why| D::Error::custom(format!(concat!("`", $what, "`: {}"), why)))
            }
        }
    };
}

named! {
    /// What happens to tool results.
    Mode, "context.mode", later []:
    /// Nothing.
    Disabled = "disabled",
    /// JSON is sent in another format, from which it can be restored exactly.
    Lossless = "lossless",
    /// Also: escape sequences and secrets go, output that is not text is suppressed, long output is capped.
    Safe = "safe",
    /// Also: lines that say little go, what repeats or only aligns is written once.
    Standard = "standard",
    /// Also: lines that differ in times and ids alone are written once, repeated passages become markers.
    Aggressive = "aggressive",
}

impl Mode {
    /// Returns whether the mode may lose something.
    #[must_use]
    pub const fn is_lossy(self) -> bool {
        matches!(self, Self::Safe | Self::Standard | Self::Aggressive)
    }
}

named! {
    /// How repeated passages are found.
    Method, "context.dictionary.method", later []:
    /// Repeated runs of characters within a line.
    Lzw = "lzw",
    /// Repeated sequences of words, over at most two line feeds.
    Repair = "repair",
    /// The smaller of both.
    Auto = "auto",
}

impl From<Method> for stc_abridge::Dictionary {
    fn from(method: Method) -> Self {
        match method {
            Method::Lzw => Self::Lzw,
            Method::Repair => Self::Repair,
            Method::Auto => Self::Auto,
        }
    }
}

named! {
    /// What JSON becomes.
    Format, "context.format", later []:
    /// STC 2 as a model reads it best.
    Stc2 = "stc2",
    /// STC 2 in fewer tokens.
    Stc2Dense = "stc2-dense",
    /// STC 2 in the fewest tokens.
    Stc2Refs = "stc2-refs",
    /// TOON, if the host has an encoder for it. It keeps values, not their spelling.
    Toon = "toon",
    /// Minified JSON.
    Json = "json",
}

impl Format {
    /// Returns the codec's format; none for TOON, which the codec does not write.
    pub(crate) const fn codec(self) -> Option<stc::Format> {
        match self {
            Self::Stc2 => Some(stc::Format::Stc2),
            Self::Stc2Dense => Some(stc::Format::Stc2Dense),
            Self::Stc2Refs => Some(stc::Format::Stc2Refs),
            Self::Json => Some(stc::Format::Json),
            Self::Toon => None,
        }
    }

    /// Returns the lines that explain the format to a model; empty if it needs none.
    pub(crate) const fn legend(self) -> &'static str {
        match self.codec() {
            Some(format) => stc::legend(format),
            None => "",
        }
    }
}

named! {
    /// What happens to the descriptions of tools.
    Schemas, "context.schemas", later []:
    /// Nothing.
    Keep = "keep",
    /// Blanks that say nothing are removed, and descriptions that are empty.
    Minify = "minify",
}

named! {
    /// When secrets are replaced.
    RedactWhen, "context.redact.enabled", later []:
    /// In the modes that lose something.
    ByMode = "by-mode",
    /// In every mode but `disabled`. A text that cannot be looked through is sent as it is.
    On = "on",
    /// In every mode. A request with a text that cannot be looked through is not sent.
    Required = "required",
    /// Never.
    Off = "off",
}

named! {
    /// Whether a request explains its format to the model.
    Legend, "context.legend", later []:
    /// No.
    None = "none",
    /// The first text that saves as much as the legend costs begins with it.
    First = "first",
}

named! {
    /// The API of a route's requests.
    ApiChoice, "context.api", later []:
    /// By the end of the path.
    Auto = "auto",
    /// [`Api::OpenAiChat`], whatever the path.
    OpenAiChat = "openai-chat",
    /// [`Api::OpenAiResponses`], whatever the path.
    OpenAiResponses = "openai-responses",
    /// [`Api::Anthropic`], whatever the path.
    Anthropic = "anthropic",
    /// [`Api::Gemini`], whatever the path.
    Gemini = "gemini",
    /// [`Api::Bedrock`], whatever the path.
    Bedrock = "bedrock",
    /// [`Api::Ollama`], whatever the path.
    Ollama = "ollama",
}

named! {
    /// A place that may name the session of a request.
    SessionFrom, "context.memo.sessions_from", later []:
    /// The option `session_id`.
    Option = "option",
    /// The header `X-STC-Session`.
    Header = "header",
    /// The member `prompt_cache_key` of OpenAI's APIs.
    PromptCacheKey = "prompt_cache_key",
    /// The member `user_id` of `metadata`, of Anthropic's API.
    MetadataUserId = "metadata.user_id",
    /// The member `conversation` of OpenAI's Responses.
    Conversation = "conversation",
}

impl ApiChoice {
    /// Returns the API that is fixed, if any.
    #[must_use]
    pub const fn fixed(self) -> Option<Api> {
        match self {
            Self::Auto => None,
            Self::OpenAiChat => Some(Api::OpenAiChat),
            Self::OpenAiResponses => Some(Api::OpenAiResponses),
            Self::Anthropic => Some(Api::Anthropic),
            Self::Gemini => Some(Api::Gemini),
            Self::Bedrock => Some(Api::Bedrock),
            Self::Ollama => Some(Api::Ollama),
        }
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

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    let fits = (0.0..1.0).contains(&share);
    if fits { Ok(share) } else { Err(D::Error::custom("`context.min_saving`: expected a number from 0 to below 1")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_later_versions_are_refused_by_name() {
        for (text, expected) in [
            ("mode = \"best\"", "`context.mode`: expected disabled, lossless, safe, standard or aggressive"),
            ("allow = [\"all\"]", "`context.mode`: expected disabled, lossless"),
            ("[cap]\nbytes = 0", "`context.cap.bytes`: expected 1 to 1048576"),
            ("[cap]\nbytes = 1048577", "`context.cap.bytes`: expected 1 to 1048576"),
            ("[cap]\nlines = 9", "unknown field `lines`"),
            ("[dictionary]\nmethod = \"zip\"", "`context.dictionary.method`: expected lzw, repair or auto"),
            ("api = \"cohere\"", "`context.api`: expected auto, openai-chat,"),
            ("format = \"stc1\"", "`context.format`: expected stc2, stc2-dense, stc2-refs, toon or json"),
            ("schemas = \"tiny\"", "`context.schemas`: expected keep or minify"),
            ("[memo]\nsize = 1", "unknown field `size`"),
            ("[memo]\nsessions_from = [\"cookie\"]", "`context.memo.sessions_from`: expected option, header,"),
            ("[store]\nmemcached = \"x\"", "unknown field `memcached`"),
            ("[redact]\nenabled = \"yes\"", "`context.redact.enabled`: expected by-mode, on, required or off"),
            ("[redact]\nreplacement = \"x\"", "unknown field `replacement`"),
            ("[expand]", "`context.expand` is not available"),
            ("[strategy]", "`context.strategy` is not available"),
            ("[discovery]", "`context.discovery` is not available"),
            ("min_saving = 1.0", "`context.min_saving`: expected"),
            ("min_byte = 1", "unknown field `min_byte`"),
        ] {
            let error = toml::from_str::<Settings>(text).unwrap_err();
            assert!(error.message().contains(expected), "{text}: {}", error.message());
        }
    }

    #[test]
    fn rules_are_left_out_and_added() {
        let rule = "[[redact.more]]\nid = \"badge\"\nkeywords = [\"bdg-\"]\npattern = \"bdg-[0-9]{6}\"\nhit = \"bdg-123456\"\n";
        let settings: Settings = toml::from_str(&format!("[redact]\nrules = [\"-jwt\"]\n{rule}")).unwrap();
        let redactor = settings.redact.redactor().unwrap();
        assert!(redactor.ids().any(|id| id == "badge") && !redactor.ids().any(|id| id == "jwt"));
        for (text, expected) in [
            ("rules = [\"jwt\"]", "`context.redact.rules`: expected ids with a hyphen before them, not `jwt`"),
            ("rules = [\"-jwts\"]", "`context.redact`: rule `jwts`: no such rule"),
        ] {
            let settings: RedactSettings = toml::from_str(text).unwrap();
            assert_eq!(settings.redactor().unwrap_err(), expected);
        }
    }

    #[test]
    fn an_empty_table_has_the_defaults() {
        let settings: Settings = toml::from_str("schemas = \"keep\"\nuser_text = false").unwrap();
        assert_eq!(format!("{settings:?}"), format!("{:?}", Settings::default()));
    }
}
