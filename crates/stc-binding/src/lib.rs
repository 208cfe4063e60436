//! What the bindings for Python, Node and WebAssembly share: errors as their users see them, settings by name, and codecs that
//! one-shot calls reuse.

mod explained;
mod reuse;

pub use explained::explained;
pub use reuse::{decode, encode};

/// A rejected document, with names instead of types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// A sentence for people.
    pub message: String,
    /// The name of the [`stc::ErrorKind`], without what was expected: "Syntax", "Depth".
    pub kind: String,
    /// Bytes of the document before the offending one.
    pub offset: u64,
    /// Line and column, from 1; unknown in a stream, whose earlier chunks are gone.
    pub position: Option<(usize, usize)>,
}

impl Rejection {
    /// Describes an error; with its place, if the whole input is at hand.
    pub fn new(error: stc::Error, input: Option<&[u8]>) -> Self {
        let shown = format!("{:?}", error.kind());
        let kind = shown.split('(').next().unwrap_or_default().to_owned();
        let position = input.map(|input| error.position(input)).map(|position| (position.line, position.column));
        Self { message: error.to_string(), kind, offset: error.offset(), position }
    }

    /// Describes the first place in a text that is not UTF-8; `None` if there is none. For calls that accept what is not JSON.
    pub fn of_text(text: &[u8]) -> Option<Self> {
        let first = text.utf8_chunks().next().filter(|chunk| !chunk.invalid().is_empty())?;
        let before = first.valid();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Some(Self {
            message: format!("{} at byte {}", stc::ErrorKind::Utf8, before.len()),
            kind: format!("{:?}", stc::ErrorKind::Utf8),
            offset: before.len() as u64,
            position: Some((before.matches('\n').count() + 1, column)),
        })
    }
}

/// Settings by name, as keywords of Python and members of a JavaScript object give them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    options: stc::Options,
    limits: stc::Limits,
}

impl Settings {
    /// The names that [`set`](Self::set) takes.
    pub const NAMES: [&'static str; 10] =
        ["window", "depth", "input", "output", "ratio", "ratio_after", "columns", "header", "row", "anchors"];

    /// Starts with the defaults and this format.
    pub fn of(format: stc::Format) -> Self {
        Self { options: stc::Options::default().format(format), limits: stc::Limits::default() }
    }

    /// Sets the window or a limit; returns whether there is one of this name.
    pub fn set(&mut self, name: &str, value: u64) -> bool {
        // A limit that memory cannot reach is no limit.
        let size = usize::try_from(value).unwrap_or(usize::MAX);
        match name {
            "window" => self.options = self.options.window(size),
            "depth" => self.limits.depth = size,
            "input" => self.limits.input = value,
            "output" => self.limits.output = value,
            "ratio" => self.limits.ratio = value,
            "ratio_after" => self.limits.ratio_after = value,
            "columns" => self.limits.columns = size,
            "header" => self.limits.header = size,
            "row" => self.limits.row = size,
            "anchors" => self.limits.anchors = size,
            _ => return false,
        }
        true
    }

    /// Returns the options of a codec.
    pub fn options(&self) -> stc::Options {
        self.options.limits(self.limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_has_the_name_of_its_kind() {
        let input = b"{\n  \"a\": [1, 2,]\n}";
        let error = stc::encode(input).expect_err("invalid");
        let rejection = Rejection::new(error, Some(input));
        assert_eq!((rejection.kind.as_str(), rejection.offset, rejection.position), ("Syntax", 15, Some((2, 14))));
        assert_eq!(Rejection::new(error, None).position, None);
        let deep = Rejection::new(stc::decode(&[b'['; 1000]).expect_err("deep"), None);
        assert_eq!(deep.kind, "Depth");
    }

    #[test]
    fn a_rejected_text_is_described_as_a_rejected_document() {
        for text in [&b"[\"\xc3\xa9\",\n \"\xc3\xa9\xed\xa0\x80\"]"[..], b"\"\xff"] {
            let error = stc::validate(text).expect_err("invalid");
            assert_eq!(Rejection::of_text(text), Some(Rejection::new(error, Some(text))));
        }
        let rejection = Rejection::of_text(b"no JSON\xff").expect("invalid");
        assert_eq!((rejection.offset, rejection.position), (7, Some((1, 8))));
        assert_eq!((Rejection::of_text(b""), Rejection::of_text("é\n".as_bytes())), (None, None));
    }

    #[test]
    fn every_name_sets_something() {
        for name in Settings::NAMES {
            let mut settings = Settings::of(stc::Format::Stc1);
            assert!(settings.set(name, 7), "{name}");
            assert_ne!(settings.options(), Settings::of(stc::Format::Stc1).options(), "{name}");
        }
        assert!(!Settings::default().set("Depth", 7));
    }
}
