//! What a caller may choose: the version to write, the limits, and how much a streaming encoder may hold back.

/// The version of the format that an [`Encoder`](crate::Encoder) writes. A [`Decoder`](crate::Decoder) reads them all.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// STC 1: bare keys, compact arrays, columnar runs of flat objects.
    #[default]
    V1,
    /// STC 2: tables of ragged and nested rows, constants in their headers, named shapes. Never longer than the minified
    /// JSON. A document with more than a million very short tokens, or nested very deep, is written as minified JSON, so
    /// that planning never takes more than a few bytes of memory for each byte of input.
    V2,
}

/// Settings of an [`Encoder`](crate::Encoder) or a [`Decoder`](crate::Decoder). A decoder needs to know none of the
/// encoder's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) version: Version,
    pub(crate) references: bool,
    pub(crate) limits: Limits,
    pub(crate) window: Option<usize>,
}

impl Options {
    /// Sets the version to write. Version 1 is the default.
    #[must_use]
    pub const fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Version 2: sets whether repeated strings and objects may be replaced by references: a dictionary, templates and
    /// anchors. Off by default: references save the most, and are the hardest part for a model to read.
    #[must_use]
    pub const fn references(mut self, references: bool) -> Self {
        self.references = references;
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
    /// Version 2 ignores it: all rows decide how a table is written, so a document is held until its end.
    #[must_use]
    pub const fn window(mut self, bytes: usize) -> Self {
        self.window = Some(bytes);
        self
    }
}

/// Bounds on the resources that one document may use. A document that exceeds one is refused with the
/// [`ErrorKind`](crate::ErrorKind) of that name, before the memory is allocated. The defaults suit a gateway that reads
/// untrusted documents.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Containers open at once, counted in the JSON: 512.
    pub depth: usize,
    /// Bytes of a document's input: 256 MiB.
    pub input: u64,
    /// Bytes of a document's output: 1 GiB.
    pub output: u64,
    /// Decoding: bytes of output for each byte of input so far: 100. It does not apply to the first [`free`](Self::free)
    /// bytes. An encoder writes nothing that a decoder with the same limit would refuse.
    pub ratio: u64,
    /// Decoding: bytes of output to which [`ratio`](Self::ratio) does not apply: 64 MiB.
    pub free: u64,
    /// Keys of a columnar header: 4,096. An encoder writes wider rows as plain objects.
    pub columns: usize,
    /// Bytes of a columnar header's keys as written, and in version 2 of its constants, defaults and templates: 256 KiB. An
    /// encoder writes rows with longer keys as plain objects.
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
        free: 64 << 20,
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

    /// Sets [`free`](Self::free).
    #[must_use]
    pub const fn free(mut self, bytes: u64) -> Self {
        self.free = bytes;
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
