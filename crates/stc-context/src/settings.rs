//! What an operator sets. Every setting has a default; unknown names are rejected, and so are those of later versions.

mod choices;
mod readers;
mod tables;

pub use choices::{
    ApiChoice, Format, FormatChoice, Legend, Method, Mode, Reader, ReaderChoice, RedactWhen, Schemas, SessionFrom,
};
pub(crate) use readers::MOST_LINES;
pub use readers::ReaderLine;
pub use tables::{
    CapSettings, DictionarySettings, ExcerptSettings, MemoSettings, RedactSettings, StoreSettings, Telemetry,
};

use crate::later;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use stc_wire::Verify;

/// The settings of one route.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What happens to tool results: [`Mode::Lossless`].
    pub mode: Mode,
    /// What JSON becomes: [`FormatChoice::ByModel`].
    pub format: FormatChoice,
    /// What models read, before `readers.toml` is asked: nothing. The first line that fits a name decides.
    pub readers: Vec<ReaderLine>,
    /// Who reads, where no line of `readers` fits: [`ReaderChoice::Auto`].
    pub reader: ReaderChoice,
    /// Who reads, where nothing is known of a model: [`Reader::Small`].
    pub unknown_reader: Reader,
    /// Whether the first encoded text of a request begins with the legend: no. `stc2-labelled` is read without one.
    pub legend: Legend,
    /// The API of the requests: by the end of the path.
    pub api: ApiChoice,
    /// Texts shorter than this stay: 1,024.
    pub min_bytes: usize,
    /// Texts longer than this stay: 1 MiB.
    pub max_bytes: usize,
    /// Results that end after this many bytes of the conversation stay: 32 MiB. Requests longer than
    /// [`longest_request`](Self::longest_request) stay as a whole.
    pub max_request_bytes: usize,
    /// Bytes of one route's requests in memory at once; further requests stay as they are: 1 GiB. The core does not read this.
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

impl Settings {
    /// Returns the longest request in bytes that is read: twice `max_request_bytes`, so that a conversation which grows past
    /// that bound keeps what became of its earlier messages.
    #[must_use]
    pub const fn longest_request(&self) -> usize {
        self.max_request_bytes.saturating_mul(2)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::Lossless,
            format: FormatChoice::ByModel,
            readers: Vec::new(),
            reader: ReaderChoice::Auto,
            unknown_reader: Reader::Small,
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

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    let fits = (0.0..1.0).contains(&share);
    if fits { Ok(share) } else { Err(D::Error::custom("`context.min_saving`: expected a number from 0 to below 1")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_settings_and_those_of_later_versions_are_named() {
        for (text, expected) in [
            ("mode = \"best\"", "`context.mode`: expected disabled, lossless, safe, standard or aggressive"),
            ("allow = [\"all\"]", "`context.mode`: expected disabled, lossless"),
            ("[cap]\nbytes = 0", "`context.cap.bytes`: expected 1 to 1048576"),
            ("[cap]\nbytes = 1048577", "`context.cap.bytes`: expected 1 to 1048576"),
            ("[cap]\nlines = 9", "unknown field `lines`"),
            ("[dictionary]\nmethod = \"zip\"", "`context.dictionary.method`: expected lzw, repair or auto"),
            ("api = \"cohere\"", "`context.api`: expected auto, openai-chat,"),
            ("format = \"stc1\"", "`context.format`: expected by-model, stc2, stc2-labelled, toon or json"),
            (
                "format = \"stc2-refs\"",
                "`context.format`: stc2-refs is now stc2; expected by-model, stc2, stc2-labelled, toon or json",
            ),
            ("reader = \"huge\"", "`context.reader`: expected auto, large or small"),
            ("unknown_reader = \"auto\"", "`context.unknown_reader`: expected large or small"),
            ("readers = [{ modle = \"a\" }]", "unknown field `modle`, expected `model` or `format`"),
            ("readers = [{ model = \"a\" }]", "missing field `format`"),
            (
                "readers = [{ model = \"a\", format = \"by-model\" }]",
                "`context.readers`: expected stc2, stc2-labelled, toon or json",
            ),
            ("readers = [{ model = \"a b\", format = \"json\" }]", "`context.readers`: expected 1 to 128 letters,"),
            ("readers = [{ model = \"\", format = \"json\" }]", "`context.readers`: expected 1 to 128 letters,"),
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
