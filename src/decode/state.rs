//! The states of the decoder, and what each expects next. A leaf: the machine, its fast paths and version 2 share these types.
//!
//! The state says which byte may come next, and nothing else: counts, keys and containers are fields of the machine. A state
//! is two bytes and `Copy`, so that a fast path can keep it in a register.

/// What the next byte is part of. Whitespace may come before it unless a variant says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Any value (STC.md, 3.1).
    Value,
    /// A value or `]`, directly after `[` (3.5).
    First,
    /// A key, or `}` directly after `{` (4.2).
    Key { first: bool },
    /// The `:` after a key, or the `[` of a compact array (4.2, 5.1).
    AfterKey,
    /// What comes after a value: the innermost container decides.
    After,
    /// Inside a string, number or literal (2.4 to 2.6).
    Lexeme(LexemeRole),
    /// Inside a bare key (4.1), or a bare string (14.5).
    Bare(LexemeRole),

    /// Digits after a value's `[`: a count, or the first element of an array (7.3).
    Digits,
    /// After such digits and whitespace.
    AfterDigits,
    /// Directly after `[12]`: this byte, whitespace or not, decides (7.3).
    Closed,

    /// The count of a compact array, from its first digit on (5.1, 7.1).
    Count,
    /// After a compact array's count and whitespace.
    AfterCount,
    /// Directly after the `]` of a count: a `{` here makes the array a table (16.6).
    CountClosed,
    /// The colon of a compact array.
    CompactColon,
    /// An element of a compact array (5.2).
    Element,
    /// The comma before a further element.
    AfterElement,

    /// A key of a columnar header (6.2).
    HeaderKey,
    /// The comma after a header's key, or the header's `}`.
    AfterHeaderKey,
    /// The colon of a header.
    HeaderColon,
    /// Directly after a header's colon: a line feed makes the value a table of version 2 (6.4).
    ColumnarOrTable,
    /// A cell of a columnar value: only SP and TAB may come before it (6.3, 6.4).
    Cell,
    /// The comma before a further cell, or the slash before a further row: only SP and TAB may come before it.
    AfterCell,

    /// A state that only version 2 has.
    V2(V2State),
}

/// The states that only version 2 has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum V2State {
    /// The letters of a name, after its sigil (STC.md, 14.2).
    Name(Sigil),
    /// The string of a definition, directly after `=` (15).
    Definition,
    /// The line feed after a definition.
    DefinitionEnd,
    /// A container, directly after `&a` (19.1).
    Anchored,

    /// The first digit of the count of a keyed table that directly follows its key (16.6).
    MemberCount,
    /// The count of a keyed table, from its second digit on.
    KeyedCount,
    /// After a keyed table's count and whitespace.
    AfterKeyedCount,
    /// The `{` directly after a keyed table's `}`.
    KeyedHeader,

    /// A key of a list of columns (17).
    ColumnKey,
    /// After the `*` of an open list (17.10).
    AfterMark,
    /// After a column's key: what kind of column it is, or its end.
    AfterColumnKey,
    /// The `{` directly after a key's dot (17.9).
    Splice,
    /// After the `?` of an optional column.
    AfterOptional,
    /// The end of a column; `default` if `=` may follow.
    AfterColumn { default: bool },
    /// The string of a template (17.5).
    Template,
    /// The colon of a table's header.
    ListColon,
    /// The line feed directly after a table's header.
    HeaderEnd,

    /// The first byte of a row (16).
    Row,
    /// The key of a row of a keyed table.
    RowKey,
    /// The colon after such a key.
    RowColon,
    /// Directly after that colon.
    RowStart,
    /// The object of a row of an open list (17.10).
    RowObject,
    /// The line feed after such an object.
    RowEnd,
    /// A cell of a row or tuple.
    Cell,
    /// The comma before a further cell, or what ends the row or tuple.
    AfterCell,
    /// After the line feed of a table's last row.
    AfterTable,

    /// A value of a shape's tuple (18.2).
    ShapeValue,
}

/// The byte that begins a name, by what the name is of (STC.md, 14.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sigil {
    /// `$`: a dictionary entry (15).
    Reference,
    /// `@`: a shape (18).
    Shape,
    /// `&`: gives a container a name (19.1).
    Anchor,
    /// `*`: the container of that name again (19.2).
    Copy,
}

/// What a lexeme or a bare key is part of, and so where its bytes go and which state comes after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LexemeRole {
    /// A value where any value is allowed; or a bare string.
    Value,
    /// A key of an object.
    Key,
    /// An element of a compact array.
    Element,
    /// A key of a columnar header.
    HeaderKey,
    /// A cell of a columnar value.
    Cell,
    /// The string of a definition.
    Definition,
    /// A key of a list of columns.
    ColumnKey,
    /// The string of a template.
    Template,
    /// The key of a row of a keyed table.
    RowKey,
    /// A key of an object of an open list.
    ListedKey,
}

/// What a word may still be.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Word {
    /// The literal that it begins like; empty once the word is known to be a string.
    pub(crate) literal: &'static [u8],
    /// The bytes of it that have been read, and held back.
    pub(crate) held: usize,
    /// The offset of its first byte.
    pub(crate) offset: u64,
    /// The template that it is filled into (STC.md, 17.11); none if it is a bare string.
    pub(crate) filling: Option<u32>,
}

/// Whether a step consumed its byte, or the byte is read again in the new state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Consumed,
    Reconsume,
}
