//! What a caller may choose: the format to write, the limits, and how much a streaming encoder may hold back.

/// The format that an [`Encoder`](crate::Encoder) writes. A [`Decoder`](crate::Decoder) reads them all, and needs no name.
///
/// The levels of STC 2 differ in how much they save and how well a model reads them; the README has the figures.
///
/// ```
/// use stc::{Encoder, Format, Options};
///
/// let format: Format = "stc2-dense".parse()?;
/// assert_eq!((format, format.name()), (Format::Stc2Dense, "stc2-dense"));
///
/// let json = br#"[{"id":1,"ok":true},{"id":2,"ok":false},{"id":3,"ok":true}]"#;
/// for format in Format::ALL {
///     let mut encoder = Encoder::with_options(Options::default().format(format));
///     let text = encoder.encode(json)?;
///     assert!(text.len() <= json.len(), "{format}");
///     assert_eq!(stc::decode(text)?, json);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// `json`: minified JSON, without insignificant whitespace.
    Json,
    /// `stc1`, STC 1: bare keys, compact arrays, and columnar values for arrays of flat objects. The only one that streams its output
    /// and fits on one line.
    Stc1,
    /// `stc2-labelled`, STC 2 as a model reads it best: rows keep their keys, and what all rows share stands once in a header. Never
    /// longer than the minified JSON. The default.
    #[default]
    Stc2Labelled,
    /// `stc2-dense`: rows are cells in the order of a header, with defaults, spliced objects and named shapes.
    Stc2Dense,
    /// `stc2`: dense, with a dictionary, templates and anchors besides. Saves the most, and is the hardest to read.
    Stc2,
}

/// The versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Json, Self::Stc1, Self::Stc2Labelled, Self::Stc2Dense, Self::Stc2];

    /// The formats of STC.
    pub const STC: [Self; 4] = [Self::Stc1, Self::Stc2Labelled, Self::Stc2Dense, Self::Stc2];

    /// Returns its name, as the command line and configurations spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Stc1 => "stc1",
            Self::Stc2Labelled => "stc2-labelled",
            Self::Stc2Dense => "stc2-dense",
            Self::Stc2 => "stc2",
        }
    }

    pub(crate) const fn version(self) -> Version {
        match self {
            Self::Stc1 => Version::V1,
            // JSON is STC 2 without a plan.
            Self::Json | Self::Stc2Labelled | Self::Stc2Dense | Self::Stc2 => Version::V2,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}

/// A name that is no [`Format`]'s.
///
/// ```
/// let error = "stc3".parse::<stc::Format>().unwrap_err();
/// assert_eq!(error, stc::UnknownFormat);
/// assert_eq!(error.to_string(), "not one of json, stc1, stc2-labelled, stc2-dense, stc2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat;

impl std::fmt::Display for UnknownFormat {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("not one of json, stc1, stc2-labelled, stc2-dense, stc2")
    }
}

impl std::error::Error for UnknownFormat {}

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or(UnknownFormat)
    }
}

/// Settings of an [`Encoder`](crate::Encoder) or a [`Decoder`](crate::Decoder). A decoder needs to know none of the
/// encoder's settings.
///
/// ```
/// use stc::{Encoder, Format, Limits, Options};
///
/// let options = Options::default().format(Format::Stc1).limits(Limits::default().depth(64)).window(1 << 20);
/// let mut encoder = Encoder::with_options(options);
/// assert_eq!(encoder.encode(br#"{"a": [1, 2]}"#)?, b"{a[2]: 1,2}");
/// # Ok::<(), stc::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) format: Format,
    /// Whether the caller has named the format: lines have another default.
    pub(crate) format_is_named: bool,
    pub(crate) limits: Limits,
    pub(crate) window: Option<usize>,
}

impl Options {
    /// Sets the format to write. [`Format::Stc2Labelled`] is the default; for [lines](crate::io::encode_lines) it is [`Format::Stc1`].
    #[must_use]
    pub const fn format(mut self, format: Format) -> Self {
        self.format = format;
        self.format_is_named = true;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Bounds what a streaming encoder may hold back.
    ///
    /// An array longer than `bytes`, counted from its `[` to its `]` without insignificant whitespace, is written plain.
    /// The default is 2 GiB: an array is held back as long as it may still become compact or columnar. (One scalar is
    /// also held back until its end.) The rule depends on the document alone, so every way to cut the input into chunks,
    /// and the whole-buffer calls too, write the same bytes.
    ///
    /// It is for STC 1. The other formats ignore it: all rows decide how a table is written, so a document is held until its end.
    #[must_use]
    pub const fn window(mut self, bytes: usize) -> Self {
        self.window = Some(bytes);
        self
    }
}

/// Bounds on the resources that one document may use. A document that exceeds one is refused with the
/// [`ErrorKind`](crate::ErrorKind) of that name, before the memory is allocated. The defaults suit a gateway that reads
/// untrusted documents.
///
/// ```
/// use stc::{Decoder, ErrorKind, Limits, Options};
///
/// let small = Limits::default().depth(64).input(1 << 20).output(4 << 20).ratio(20).ratio_after(64 << 10);
/// let small = small.columns(100).header(4 << 10).row(64 << 10).anchors(64 << 10);
/// assert!(small.output < Limits::DEFAULT.output);
///
/// let mut decoder = Decoder::with_options(Options::default().limits(small));
/// let error = decoder.decode(&[b'['; 100]).unwrap_err();
/// assert_eq!((error.kind(), error.offset()), (ErrorKind::Depth, 64));
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Containers open at once, counted in the JSON: 512.
    pub depth: usize,
    /// Bytes of a document's input: 256 MiB.
    pub input: u64,
    /// Bytes of a document's output: 1 GiB.
    pub output: u64,
    /// Decoding: bytes of output for each byte of input so far: 100. It applies from
    /// [`ratio_after`](Self::ratio_after) bytes of output on. An encoder writes nothing that a decoder with the same limit would refuse.
    pub ratio: u64,
    /// Decoding: bytes of output after which [`ratio`](Self::ratio) applies, whatever the input's size: 64 MiB.
    pub ratio_after: u64,
    /// Keys of a header; in version 2 also keys of a shape, and names of a kind (dictionary, shapes, anchors): 4,096 each. An encoder
    /// writes wider rows as plain objects.
    pub columns: usize,
    /// Bytes of a header's keys as written, and in version 2 of its constants, defaults and templates; also of the keys of all shapes
    /// together, and of the dictionary: 256 KiB each. An encoder writes rows with longer keys as plain objects.
    pub header: usize,
    /// Decoding: bytes of JSON of a row with templates, which is held until it is complete: 1 MiB. An encoder uses no
    /// templates in longer rows.
    pub row: usize,
    /// Bytes of JSON of all values that anchors name: 1 MiB.
    pub anchors: usize,
}

impl Limits {
    /// The defaults.
    pub const DEFAULT: Self = Self {
        depth: 512,
        input: 256 << 20,
        output: 1 << 30,
        ratio: 100,
        ratio_after: 64 << 20,
        columns: 4096,
        header: 256 << 10,
        row: 1 << 20,
        anchors: 1 << 20,
    };

    /// Sets [`depth`](Self::depth).
    #[must_use]
    pub const fn depth(mut self, containers: usize) -> Self {
        self.depth = containers;
        self
    }

    /// Sets [`input`](Self::input).
    #[must_use]
    pub const fn input(mut self, bytes: u64) -> Self {
        self.input = bytes;
        self
    }

    /// Sets [`output`](Self::output).
    #[must_use]
    pub const fn output(mut self, bytes: u64) -> Self {
        self.output = bytes;
        self
    }

    /// Sets [`ratio`](Self::ratio).
    #[must_use]
    pub const fn ratio(mut self, out_per_in: u64) -> Self {
        self.ratio = out_per_in;
        self
    }

    /// Sets [`ratio_after`](Self::ratio_after).
    #[must_use]
    pub const fn ratio_after(mut self, bytes: u64) -> Self {
        self.ratio_after = bytes;
        self
    }

    /// Sets [`columns`](Self::columns).
    #[must_use]
    pub const fn columns(mut self, keys: usize) -> Self {
        self.columns = keys;
        self
    }

    /// Sets [`header`](Self::header).
    #[must_use]
    pub const fn header(mut self, bytes: usize) -> Self {
        self.header = bytes;
        self
    }

    /// Sets [`row`](Self::row).
    #[must_use]
    pub const fn row(mut self, bytes: usize) -> Self {
        self.row = bytes;
        self
    }

    /// Sets [`anchors`](Self::anchors).
    #[must_use]
    pub const fn anchors(mut self, bytes: usize) -> Self {
        self.anchors = bytes;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_stc_2_and_not_named() {
        assert_eq!((Options::default().format, Format::default()), (Format::Stc2Labelled, Format::Stc2Labelled));
        assert!(!Options::default().format_is_named && Options::default().format(Format::Stc2Labelled).format_is_named);
    }

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert_eq!("stc3".parse::<Format>(), Err(UnknownFormat));
        assert_eq!(format!("{:>6}", Format::Stc2Labelled), "  stc2-labelled");
        assert!(Format::ALL.iter().all(|format| UnknownFormat.to_string().contains(format.name())));
    }
}
