//! The columns of a table's header (grammar/STC.md, section 17), as types without code that reads them.
//!
//! Columns and lists are numbers into the flat vectors of a [`Schema`](crate::decode::v2::schema::Schema), and their texts are
//! ranges of its buffer, so that a header takes no allocation of its own.

use std::ops::Range;

/// The number of no column, or of no list.
pub(crate) const NONE: u32 = u32::MAX;

/// A column of a list, or the end of a spliced object.
#[derive(Clone, Debug)]
pub(crate) struct TableColumn {
    /// Its key, with quotes and colon.
    pub(crate) key: Range<usize>,
    /// The offset of its key in the document.
    pub(crate) offset: u64,
    pub(crate) kind: ColumnKind,
    /// The list that tuples in its cell have; [`NONE`] if tuples may not stand there.
    pub(crate) list: u32,
    /// The open list that objects in its cell have (STC.md, 17.10); [`NONE`] if they are plain.
    pub(crate) object_list: u32,
    /// The column that comes next in a row: of this list, of one spliced into it, or of the one around it.
    pub(crate) next: u32,
    /// The next column that has a cell.
    pub(crate) next_cell: u32,
    /// What a row has between its cell and that of `next_cell`, or the row's end.
    pub(crate) fixed_after: FixedText,
    /// Whether a template names it.
    pub(crate) in_template: bool,
    /// The template that words in its cell are filled into (STC.md, 17.11); [`NONE`] if it is not filled.
    pub(crate) filling: u32,
}

impl TableColumn {
    /// Returns whether an empty cell of it changes nothing but the column that comes next.
    #[inline(always)]
    pub(crate) fn skips_to_next_cell(&self) -> bool {
        let fixed = &self.fixed_after;
        self.kind == ColumnKind::Optional && fixed.is_empty() && !fixed.has_template && self.next_cell != NONE
    }
}

/// What a column is (STC.md, 17.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// `key`: a cell that must have a value (17.2).
    Cell,
    /// `key?`: an empty cell leaves the key out (17.2).
    Optional,
    /// `key?=value`: an empty cell means this value (17.8).
    Default(Range<usize>),
    /// `key=value`: no cell, always this value (17.3).
    Constant(Range<usize>),
    /// `key~"…"`: no cell, but this text with its placeholders filled (17.5).
    Template(TemplateText),
    /// `key.{…}`: no cell, but an object whose columns come next and end at column `end` (17.9).
    Splice { end: u32 },
    /// The end of a spliced object; its key is the closing brace.
    SpliceEnd,
}

/// What every row has between two cells: constants, and the braces of spliced objects.
///
/// In `[1]{a,b=1,c.{d},e}:` the fixed text between the cells of `a` and `d` is `,"b":1,"c":{`, the one between `d` and `e` is `}`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FixedText {
    /// Its range of the schema's text.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Whether it begins with a comma, which is left out before an object's first key.
    pub(crate) has_comma: bool,
    /// Spliced objects that it opens, less those that it closes.
    pub(crate) depth_change: isize,
    /// Whether it ends with `{`, so that the key after it is its object's first.
    pub(crate) ends_open: bool,
    /// Whether templates belong to it too, so that it has to be written column by column.
    pub(crate) has_template: bool,
}

impl FixedText {
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.to - self.from
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.to == self.from
    }

    /// Returns where it begins: after its comma if its object has no key yet.
    #[inline(always)]
    pub(crate) fn start(&self, has_key: bool) -> usize {
        self.from + usize::from(self.has_comma && !has_key)
    }
}

/// A list of columns: that of rows, of tuples in a cell, or of a spliced object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnList {
    pub(crate) head: u32,
    pub(crate) tail: u32,
    /// The column that it is spliced in at; [`NONE`] if it is that of rows or tuples.
    pub(crate) splice: u32,
    /// How many levels its constants, defaults and spliced objects nest (STC.md, 20.2).
    pub(crate) height: usize,
    /// The first column that has a cell.
    pub(crate) first_cell: u32,
    /// What a row or tuple has before that cell.
    pub(crate) fixed_before: FixedText,
    /// Its number among the open lists (STC.md, 17.10); [`NONE`] if it is not open.
    pub(crate) open_list: u32,
    /// Whether it is open, or has an open list at any depth inside it.
    pub(crate) holds_open: bool,
}

/// The template of a filled column (STC.md, 17.11): the text and the placeholders before and after its own placeholder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub(crate) before: TemplateText,
    pub(crate) after: TemplateText,
}

/// A range of the schema's text, with the numbers of the placeholders in it, the first and one past the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TemplateText {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) first: usize,
    pub(crate) end: usize,
}

impl TemplateText {
    #[inline(always)]
    pub(crate) fn has_names(&self) -> bool {
        self.end > self.first
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.to - self.from
    }
}

/// A placeholder `${name}` of a template (STC.md, 17.5).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placeholder {
    /// Its range of the schema's text, from `$` to `}`.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The offset of its `$` in the document.
    pub(crate) offset: u64,
    /// The column it names, once its list is complete.
    pub(crate) column: u32,
}
