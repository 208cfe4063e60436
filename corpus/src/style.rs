//! How a server prints its JSON: the whitespace between values, and the characters it escapes.
//!
//! A lossless codec must be tested on what servers really send: Python escapes everything that is not ASCII, Go escapes
//! `<`, `>` and `&` for HTML, PHP escapes `/`, command-line tools indent.

/// The whitespace between values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// None: `{"a":1,"b":[2,3]}`.
    Minified,
    /// Python's `json.dumps` by default: `{"a": 1, "b": [2, 3]}`.
    Spaced,
    /// Each value on its own line, indented by this many spaces a level, with a line feed at the end.
    Pretty(usize),
}

/// The characters of a string that are escaped without need.
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
    /// The whitespace between values.
    pub layout: Layout,
    /// Which characters are escaped.
    pub escaping: Escaping,
}

impl Style {
    /// No spaces, no unnecessary escapes: most REST servers.
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
