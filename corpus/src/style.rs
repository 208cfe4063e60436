//! How a server prints its JSON: what stands between the values, and which characters it escapes.
//!
//! A codec that promises every lexeme back must see what servers really send: Python escapes everything that is not
//! ASCII, Go escapes `<`, `>` and `&` for HTML's sake, PHP escapes `/`, command-line tools indent.

/// What stands between the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Nothing: `{"a":1,"b":[2,3]}`.
    Minified,
    /// `json.dumps` of Python as it comes: `{"a": 1, "b": [2, 3]}`.
    Spaced,
    /// A line a value, indented by this many spaces, and a line feed at the end as command-line tools write it.
    Pretty(usize),
}

/// Which characters of a string are written as an escape though they need not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escaping {
    /// None.
    Bare,
    /// Everything that is not ASCII, as `\u` and lower-case hex (Python).
    Ascii,
    /// `<`, `>`, `&`, U+2028 and U+2029 (Go).
    Html,
    /// Everything that is not ASCII, and `/` (PHP).
    Slashes,
}

/// A layout and an escaping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// What stands between the values.
    pub layout: Layout,
    /// Which characters are escaped.
    pub escaping: Escaping,
}

impl Style {
    /// No spaces, no needless escapes: most REST servers.
    pub const MINIFIED: Style = Style { layout: Layout::Minified, escaping: Escaping::Bare };
    /// No spaces, `<`, `>` and `&` escaped: servers written in Go.
    pub const GO: Style = Style { layout: Layout::Minified, escaping: Escaping::Html };
    /// No spaces, `/` and all but ASCII escaped: servers written in PHP.
    pub const PHP: Style = Style { layout: Layout::Minified, escaping: Escaping::Slashes };
    /// `", "`, `": "` and only ASCII: servers written in Python.
    pub const PYTHON: Style = Style { layout: Layout::Spaced, escaping: Escaping::Ascii };
    /// Two spaces a level: `JSON.stringify(value, null, 2)`.
    pub const PRETTY_2: Style = Style { layout: Layout::Pretty(2), escaping: Escaping::Bare };
    /// Four spaces a level: the command lines of clouds and clusters.
    pub const PRETTY_4: Style = Style { layout: Layout::Pretty(4), escaping: Escaping::Bare };
}
