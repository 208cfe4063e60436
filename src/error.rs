//! What went wrong and where: a kind and a byte offset. An error is small, `Copy`, and allocates nothing.
//!
//! The offset is that of the first byte at which the input is no longer the beginning of anything valid, counted from the
//! start of the document (grammar/STC.md, section 9). [`Error::position`] computes line and column from it.

use std::fmt;

/// Why a document was refused, and at which byte. It is `Copy`, `Send` and `Sync`.
///
/// ```
/// use stc::{ErrorKind, Expected, Position};
///
/// let input = b"{\n  \"a\": [1, 2,]\n}";
/// let error = stc::encode(input).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Syntax(Expected::Value));
/// assert_eq!(error.offset(), 15);
/// assert_eq!(error.position(input), Position { line: 2, column: 14 });
/// assert_eq!(error.to_string(), "expected a value at byte 15");
///
/// // In a stream in which 100 bytes come before this document.
/// assert_eq!(error.shifted(100).offset(), 115);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    offset: u64,
}

impl Error {
    pub(crate) const fn new(kind: ErrorKind, offset: u64) -> Self {
        Self { kind, offset }
    }

    /// Returns what was wrong.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the offset of the offending byte, or the input's length if the input ended too early.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the same error for a stream in which `by` bytes come before this document.
    #[must_use]
    pub const fn shifted(self, by: u64) -> Self {
        Self { kind: self.kind, offset: self.offset + by }
    }

    /// Returns the line and column of the offset in `input`, the bytes that were refused.
    pub fn position(&self, input: &[u8]) -> Position {
        let end = usize::try_from(self.offset).unwrap_or(usize::MAX).min(input.len());
        let before = &input[..end];
        let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        // Bytes that continue a UTF-8 sequence do not start a character.
        let column = before[line_start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        Position { line: memchr::memchr_iter(b'\n', before).count() + 1, column: column + 1 }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)
    }
}

impl std::error::Error for Error {}

impl From<Error> for std::io::Error {
    /// Returns an I/O error of kind `InvalidData` around this one.
    fn from(error: Error) -> Self {
        Self::new(std::io::ErrorKind::InvalidData, error)
    }
}

/// A place in a text, for people. Line and column count from 1, the column in characters.
///
/// ```
/// let input = "[\"\u{e9}\"\n x]".as_bytes();
/// let stc::Position { line, column } = stc::encode(input).unwrap_err().position(input);
/// assert_eq!((line, column), (2, 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line feeds before the place, plus one.
    pub line: usize,
    /// Characters between the start of the line and the place, plus one.
    pub column: usize,
}

/// The kind of an [`Error`].
///
/// ```
/// use stc::{ErrorKind, Expected};
///
/// let kind = |stc: &[u8]| stc::decode(stc).unwrap_err().kind();
/// assert_eq!(kind(b"[1,]"), ErrorKind::Syntax(Expected::Value));
/// assert_eq!(kind(b"[1"), ErrorKind::Truncated(Expected::CommaOrBracket));
/// assert_eq!(kind(b"{a[3]: 1,2}"), ErrorKind::Count(Expected::Comma));
/// assert_eq!(kind(&[b'['; 1000]), ErrorKind::Depth);
/// assert!(kind(&[b'['; 1000]).is_limit());
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A byte that the grammar does not allow at this place.
    Syntax(Expected),
    /// The input ended before the document did.
    Truncated(Expected),
    /// Bytes that are not UTF-8.
    Utf8,
    /// A control character (U+0000 to U+001F) inside a string, not escaped.
    Control,
    /// STC: fewer or more values than the count says.
    Count(Expected),
    /// STC: a header has a key twice, or an object of an open list has a key that it must not have there.
    DuplicateColumn,
    /// [`Limits::depth`](crate::Limits::depth): containers nested too deep.
    Depth,
    /// [`Limits::input`](crate::Limits::input): the document is too long.
    Input,
    /// [`Limits::output`](crate::Limits::output): the result would be too long.
    Output,
    /// [`Limits::ratio`](crate::Limits::ratio): the result would be too many times the size of the input.
    Ratio,
    /// [`Limits::columns`](crate::Limits::columns): a header or a shape has too many keys, or there are too many names.
    Columns,
    /// [`Limits::header`](crate::Limits::header): a header, the keys of all shapes, or the dictionary are too long.
    Header,
    /// STC 2: a name is not defined at this place, or is defined already.
    Name,
    /// STC 2: a template names no column that could fill it.
    Placeholder,
    /// [`Limits::row`](crate::Limits::row): a row with templates is too long.
    Row,
    /// [`Limits::anchors`](crate::Limits::anchors): the anchored values are too long.
    Anchors,
    /// A defect of the encoder: the document was refused, and nothing wrong was found in it. The offset is the
    /// number of bytes that were read.
    Defect,
}

impl ErrorKind {
    /// Returns whether a limit was exceeded: the document may be accepted under larger [`Limits`](crate::Limits).
    pub const fn is_limit(self) -> bool {
        matches!(
            self,
            Self::Depth
                | Self::Input
                | Self::Output
                | Self::Ratio
                | Self::Columns
                | Self::Header
                | Self::Row
                | Self::Anchors
        )
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(expected) => write!(f, "expected {expected}"),
            Self::Truncated(expected) => write!(f, "the input ends where {expected} was expected"),
            Self::Utf8 => f.write_str("invalid UTF-8"),
            Self::Control => f.write_str("a control character in a string (expected it escaped)"),
            Self::Count(expected) => write!(f, "a count disagrees with what follows: expected {expected}"),
            Self::DuplicateColumn => f.write_str("a key that the header or the open list has already"),
            Self::Depth => f.write_str("nested deeper than the depth limit"),
            Self::Input => f.write_str("longer than the input limit"),
            Self::Output => f.write_str("the result exceeds the output limit"),
            Self::Ratio => f.write_str("the result exceeds the output-to-input ratio limit"),
            Self::Columns => f.write_str("more columns than the limit"),
            Self::Header => f.write_str("a header longer than the limit"),
            Self::Name => f.write_str("a name that is not defined here, or is defined already"),
            Self::Placeholder => f.write_str("a template names no plain column"),
            Self::Row => f.write_str("a row with templates longer than the limit"),
            Self::Anchors => f.write_str("anchored values longer than the limit"),
            Self::Defect => f.write_str("a defect of the encoder refused the document"),
        }
    }
}

/// What would have been valid at the offset of an [`Error`].
///
/// ```
/// use stc::{ErrorKind, Expected};
///
/// let ErrorKind::Syntax(expected) = stc::encode(br#"{"a" 1}"#).unwrap_err().kind() else { unreachable!() };
/// assert_eq!(expected, Expected::Colon);
/// assert_eq!(expected.to_string(), "':'");
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expected {
    /// Any value.
    Value,
    /// A value, or the `]` of an empty array.
    ValueOrClose,
    /// JSON: an object key, which is a string.
    QuotedKey,
    /// JSON: an object key, or the `}` of an empty object.
    QuotedKeyOrClose,
    /// An object key.
    Key,
    /// An object key, or the `}` of an empty object.
    KeyOrClose,
    /// The `:` after a key.
    Colon,
    /// STC: `:` or `[` after a key.
    ColonOrCount,
    /// `,` or `}` after a member.
    CommaOrBrace,
    /// `,` or `]` after an element.
    CommaOrBracket,
    /// Nothing more after the document.
    End,
    /// The rest of `true`, `false` or `null`.
    Literal,
    /// A digit of a number.
    Digit,
    /// One of `"\/bfnrtu` after a backslash.
    Escape,
    /// A hexadecimal digit of a `\u` escape.
    Hex,
    /// The closing quote of a string.
    Quote,
    /// STC: a count, of 1 to 19 digits without a leading zero.
    Count,
    /// STC: the `]` after a count.
    CountClose,
    /// STC: `,` or `}` after a key in a columnar header.
    CommaOrHeaderClose,
    /// STC: the `:` after the count of a compact array, or after a header.
    HeaderColon,
    /// STC: a string, number, boolean or null in a columnar row.
    Cell,
    /// STC: an element of the same kind as the compact array's first: string, number or boolean.
    SameKind,
    /// STC: the comma between values, of which the count announces more.
    Comma,
    /// STC: the `/` between rows, of which the count announces more.
    Slash,
    /// STC 2: a string.
    String,
    /// STC 2: a name, which begins with a letter.
    Name,
    /// STC 2: the end of a name, which has at most 24 bytes.
    NameEnd,
    /// STC 2: `{` or `(` after a shape's name.
    ShapeOpen,
    /// STC 2: a container after an anchor.
    Container,
    /// STC 2: the line feed that ends a header, a row or a definition.
    LineFeed,
    /// STC 2: the `{` after the count of a keyed table.
    HeaderOpen,
    /// STC 2: the `{` right after the dot of a key whose object is spliced in.
    SpliceOpen,
    /// STC 2: the `}` after the count of a keyed table.
    KeyedCountClose,
    /// STC 2: `,` or `}` after a column.
    ColumnEnd,
    /// STC 2: the `)` of a tuple that has all its values.
    TupleClose,
    /// STC 2: a cell of a table.
    TableCell,
    /// STC 2: the object of a row whose list is open.
    RowObject,
    /// STC 2: a string or a number, because a template uses the column.
    StringOrNumber,
    /// STC 2: a placeholder in a template.
    Placeholder,
    /// STC 2: a bare key in a placeholder.
    BareKey,
    /// STC 2: the `}` of a placeholder.
    PlaceholderClose,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value => "a value",
            Self::ValueOrClose => "a value or ']'",
            Self::QuotedKey => "a key in quotes",
            Self::QuotedKeyOrClose => "a key in quotes or '}'",
            Self::Key => "a key",
            Self::KeyOrClose => "a key or '}'",
            Self::Colon => "':'",
            Self::ColonOrCount => "':' or '[' after the key",
            Self::CommaOrBrace => "',' or '}'",
            Self::CommaOrBracket => "',' or ']'",
            Self::End => "the end of the document",
            Self::Literal => "true, false or null",
            Self::Digit => "a digit",
            Self::Escape => "one of \"\\/bfnrtu after the backslash",
            Self::Hex => "a hexadecimal digit",
            Self::Quote => "the closing quote of the string",
            Self::Count => "a count (1 to 19 digits, no leading zero)",
            Self::CountClose => "a further digit or ']' after the count",
            Self::CommaOrHeaderClose => "',' or '}' in the columnar header",
            Self::HeaderColon => "':' after the count or the header",
            Self::Cell => "a string, number, boolean or null",
            Self::SameKind => "a string, a number or a boolean, all of one kind",
            Self::Comma => "','",
            Self::Slash => "'/' between rows",
            Self::String => "a string",
            Self::Name => "a name, which begins with a letter",
            Self::NameEnd => "the end of a name of at most 24 bytes",
            Self::ShapeOpen => "'{' or '(' after the shape's name",
            Self::Container => "a container after the anchor",
            Self::LineFeed => "a line feed",
            Self::HeaderOpen => "'{' after the count",
            Self::SpliceOpen => "'{' after the dot",
            Self::KeyedCountClose => "a further digit or '}' after the count",
            Self::ColumnEnd => "',' or '}' in the list of columns",
            Self::TupleClose => "')' of the tuple",
            Self::TableCell => "a cell",
            Self::RowObject => "the '{' of the row's object",
            Self::StringOrNumber => "a string or a number, since a template names this column",
            Self::Placeholder => "a placeholder in the template",
            Self::BareKey => "a bare key in the placeholder",
            Self::PlaceholderClose => "'}' after the placeholder's key",
        })
    }
}

/// A fast pass met something that is not JSON or exceeds a limit. It carries nothing: the slow reader
/// ([`diagnose`](crate::json::diagnose)) reads the document again and finds the kind and the offset.
#[derive(Debug)]
pub(crate) struct Refused;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let at = |offset, input: &str| {
            let Position { line, column } = Error::new(ErrorKind::Utf8, offset).position(input.as_bytes());
            (line, column)
        };
        assert_eq!(at(0, ""), (1, 1));
        assert_eq!(at(2, "ab"), (1, 3));
        assert_eq!(at(3, "é\n"), (2, 1));
        assert_eq!(at(2, "éx"), (1, 2));
        assert_eq!(at(99, "a\nb"), (2, 2));
    }

    #[test]
    fn an_error_is_small() {
        assert!(size_of::<Error>() <= 16);
    }
}
