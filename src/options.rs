//! What a caller may choose: the version to write, the limits to keep, how much to hold back.

/// The version of the format that an [`Encoder`](crate::Encoder) writes. A [`Decoder`](crate::Decoder) reads them all.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// STC 1: bare keys, compact arrays, columnar runs of flat objects.
    #[default]
    V1,
    /// STC 2: tables of ragged and nested rows, constants in their headers, named shapes. Never longer than the JSON; and
    /// just that, without its whitespace, if there are a million tokens and they are too short, or nested too deep, to be
    /// planned in a few bytes of memory for each byte.
    V2,
}

/// Settings of an [`Encoder`](crate::Encoder) or a [`Decoder`](crate::Decoder). Nothing here has to be told to the
/// other side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(crate) version: Version,
    pub(crate) references: bool,
    pub(crate) limits: Limits,
    pub(crate) window: Option<usize>,
}

impl Options {
    /// The version to write.
    #[must_use]
    pub const fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Version 2: whether texts and objects that repeat may be said by a name: a dictionary, templates and anchors. It
    /// saves most, and asks most of the reader.
    #[must_use]
    pub const fn references(mut self, references: bool) -> Self {
        self.references = references;
        self
    }

    /// The limits to keep.
    #[must_use]
    pub const fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Bounds what a streaming encoder may hold back: an array longer than `bytes`, counted from its `[` to its `]`
    /// without insignificant whitespace, is written plain. By default it is 2 GiB: an array is held for as long as it
    /// could still become compact or columnar. (Besides, one scalar is held until its end has come.) The rule looks at
    /// the document alone, so every way to cut the input into chunks, and the whole-buffer calls too, write the same
    /// bytes. Version 2 has no use for it: a table cannot be begun before its last row is known, so a document is held
    /// whole until its end.
    #[must_use]
    pub const fn window(mut self, bytes: usize) -> Self {
        self.window = Some(bytes);
        self
    }
}

/// Bounds on what a document may ask of the codec. Meeting one is an error of that name, found before the memory it
/// guards is taken. The defaults are for a gateway that reads what strangers send.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Containers open at once, as the JSON has them: 512.
    pub depth: usize,
    /// Bytes of a document as it comes in: 256 MiB.
    pub input: u64,
    /// Bytes of a document as it goes out: 1 GiB.
    pub output: u64,
    /// Decoding: bytes out for each byte in so far: 100. It does not bind below [`free`](Self::free). An encoder writes
    /// nothing that its own limit would refuse.
    pub ratio: u64,
    /// Decoding: bytes out that no [`ratio`](Self::ratio) is asked of: 64 MiB.
    pub free: u64,
    /// Keys of a columnar header: 4,096. An encoder leaves wider rows as they are.
    pub columns: usize,
    /// Bytes of a columnar header's keys as written, and in version 2 of its constants, defaults and templates: 256 KiB. An
    /// encoder leaves longer ones as they are.
    pub header: usize,
    /// Decoding: bytes of JSON of a row that has templates, which is held until it is complete: 1 MiB. An encoder makes
    /// none of longer rows.
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
