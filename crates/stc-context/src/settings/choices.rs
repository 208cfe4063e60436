//! Settings with a fixed set of values, each with one name in settings and in options.

use crate::Api;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

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
                    None => match former_format(name) {
                        Some(hint) => format!("{hint}; expected {expected}"),
                        None => format!("expected {expected}"),
                    },
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

/// Returns what became of a format, if it had this name before.
fn former_format(name: &str) -> Option<&'static str> {
    name.parse::<stc::Format>().err().and_then(stc::UnknownFormat::hint)
}

named! {
    /// What happens to tool results.
    Mode, "context.mode", later []:
    /// Nothing: requests pass as they came.
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
    Format, "context.readers", later []:
    /// STC 2, for large models.
    Stc2 = "stc2",
    /// STC 2 for small models: rows keep their keys.
    Stc2Labelled = "stc2-labelled",
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
            Self::Stc2Labelled => Some(stc::Format::Stc2Labelled),
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
    /// What JSON becomes, or who decides it.
    FormatChoice, "context.format", later []:
    /// What suits the model that reads.
    ByModel = "by-model",
    /// [`Format::Stc2`], whoever reads.
    Stc2 = "stc2",
    /// [`Format::Stc2Labelled`], whoever reads.
    Stc2Labelled = "stc2-labelled",
    /// [`Format::Toon`], whoever reads.
    Toon = "toon",
    /// [`Format::Json`], whoever reads.
    Json = "json",
}

impl FormatChoice {
    /// Returns the format that is fixed, if any.
    #[must_use]
    pub const fn fixed(self) -> Option<Format> {
        match self {
            Self::ByModel => None,
            Self::Stc2Labelled => Some(Format::Stc2Labelled),
            Self::Stc2 => Some(Format::Stc2),
            Self::Toon => Some(Format::Toon),
            Self::Json => Some(Format::Json),
        }
    }
}

impl From<Format> for FormatChoice {
    fn from(format: Format) -> Self {
        match format {
            Format::Stc2Labelled => Self::Stc2Labelled,
            Format::Stc2 => Self::Stc2,
            Format::Toon => Self::Toon,
            Format::Json => Self::Json,
        }
    }
}

named! {
    /// How much a model reads without a mistake.
    Reader, "context.unknown_reader", later []:
    /// All of the format: rows as cells, defaults, templates, names.
    Large = "large",
    /// Keys beside values.
    Small = "small",
}

impl Reader {
    /// Returns the format for this level.
    #[must_use]
    pub const fn format(self) -> Format {
        match self {
            Self::Large => Format::Stc2,
            Self::Small => Format::Stc2Labelled,
        }
    }

    /// Returns the level that a format is for, if it is for one.
    pub(crate) fn of(format: Format) -> Option<Self> {
        Self::ALL.into_iter().find(|reader| reader.format() == format)
    }
}

named! {
    /// Who reads the requests of a route.
    ReaderChoice, "context.reader", later []:
    /// Whom the request names.
    Auto = "auto",
    /// [`Reader::Large`], whatever the model's name.
    Large = "large",
    /// [`Reader::Small`], whatever the model's name.
    Small = "small",
}

named! {
    /// What happens to the descriptions of tools.
    Schemas, "context.schemas", later []:
    /// They stay as they are.
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
    /// The legend is not sent.
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
