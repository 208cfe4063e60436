//! What a caller may choose: the format to write, the limits, and how much a streaming encoder may hold back.

/// The format that an [`Encoder`](crate::Encoder) writes. A [`Decoder`](crate::Decoder) reads them all, and needs no name.
///
/// Choose by the reader: [`Stc2`](Self::Stc2) for large models and programs, [`Stc2Labelled`](Self::Stc2Labelled) for small models,
/// [`Stc1`](Self::Stc1) for streams. The README has the figures.
///
/// ```
/// use stc::{Encoder, Format, Options};
///
/// let format: Format = "stc2-labelled".parse()?;
/// assert_eq!((format, format.name()), (Format::Stc2Labelled, "stc2-labelled"));
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
    /// `stc2`, the whole of STC 2: rows are cells in the order of a header, with defaults, spliced objects and named shapes, and with a
    /// dictionary, templates and anchors. For large models and for programs. Never longer than the minified JSON. The default.
    #[default]
    Stc2,
    /// `stc2-labelled`, the part of STC 2 that small models read best: rows keep their keys, and what all rows share stands once in a
    /// header. Never longer than the minified JSON.
    Stc2Labelled,
}

/// The versions of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Json, Self::Stc1, Self::Stc2, Self::Stc2Labelled];

    /// The formats of STC.
    pub const STC: [Self; 3] = [Self::Stc1, Self::Stc2, Self::Stc2Labelled];

    /// Returns its name, as the command line and configurations spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Stc1 => "stc1",
            Self::Stc2 => "stc2",
            Self::Stc2Labelled => "stc2-labelled",
        }
    }

    pub(crate) const fn version(self) -> Version {
        match self {
            Self::Stc1 => Version::V1,
            // JSON is STC 2 without a plan.
            Self::Json | Self::Stc2 | Self::Stc2Labelled => Version::V2,
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
/// assert_eq!(error.to_string(), "not one of json, stc1, stc2, stc2-labelled");
/// let error = "stc2-refs".parse::<stc::Format>().unwrap_err();
/// assert_eq!(error.to_string(), "stc2-refs is now stc2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFormat {
    hint: Option<&'static str>,
}

impl UnknownFormat {
    fn new(name: &str) -> Self {
        let hint = match name {
            "stc2-refs" => Some("stc2-refs is now stc2"),
            "stc2-dense" => Some("stc2-dense is part of stc2"),
            _ => None,
        };
        Self { hint }
    }

    /// Returns what became of the format, if a format had this name before: for programs with a list of names of their own.
    ///
    /// ```
    /// let error = "stc2-dense".parse::<stc::Format>().unwrap_err();
    /// assert_eq!(error.hint(), Some("stc2-dense is part of stc2"));
    /// ```
    #[must_use]
    pub const fn hint(self) -> Option<&'static str> {
        self.hint
    }
}

impl std::fmt::Display for UnknownFormat {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.hint.unwrap_or("not one of json, stc1, stc2, stc2-labelled"))
    }
}

impl std::error::Error for UnknownFormat {}

impl std::str::FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat::new(name))
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
    /// Whether [`Format::Stc2`] is written without its references: dictionary, templates and anchors.
    pub(crate) references_are_off: bool,
    pub(crate) limits: Limits,
    pub(crate) window: Option<usize>,
}

impl Options {
    /// Sets the format to write. [`Format::Stc2`] is the default; for [lines](crate::io::encode_lines) it is [`Format::Stc1`].
    #[must_use]
    pub const fn format(mut self, format: Format) -> Self {
        self.format = format;
        self.format_is_named = true;
        self
    }

    /// Returns whether the encoder may write a dictionary, templates and anchors.
    pub(crate) const fn has_references(&self) -> bool {
        matches!(self.format, Format::Stc2) && !self.references_are_off
    }

    /// Leaves the references out of [`Format::Stc2`], for documents that have no room for them or where they do not pay. This level has
    /// no name: to a reader it is the same format.
    pub(crate) const fn without_references(mut self) -> Self {
        self.references_are_off = true;
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
    /// Decoding: bytes of JSON of a row with templates that name columns, which is held until it is complete: 1 MiB. An
    /// encoder uses no templates in longer rows.
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
    fn references_are_only_in_the_whole_format() {
        for format in Format::ALL {
            let options = Options::default().format(format);
            assert_eq!(options.has_references(), format == Format::Stc2, "{format}");
            assert!(!options.without_references().has_references() && options.without_references().format == format);
        }
    }

    #[test]
    fn the_default_is_stc_2_and_not_named() {
        assert_eq!((Options::default().format, Format::default()), (Format::Stc2, Format::Stc2));
        assert!(!Options::default().format_is_named && Options::default().format(Format::Stc2).format_is_named);
    }

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let message = |name: &str| name.parse::<Format>().unwrap_err().to_string();
        assert!(Format::ALL.iter().all(|format| message("stc3").contains(format.name())));
        assert_eq!(format!("{:>6}", Format::Stc2), "  stc2");
    }

    #[test]
    fn a_name_of_before_is_refused_with_what_it_is_now() {
        for (name, expected) in [("stc2-refs", "stc2-refs is now stc2"), ("stc2-dense", "stc2-dense is part of stc2")] {
            assert_eq!(name.parse::<Format>().unwrap_err().to_string(), expected);
        }
    }
}
