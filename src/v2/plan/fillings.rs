//! Filled columns (STC.md, section 17.11): what all strings of a column begin and end with stands in the header.
//!
//! One pass over the objects of a list finds the common beginning and end of each column, a second one what they save. In
//!
//! ```text
//! {"at":"2026-05-12T08:00:00Z"},{"at":"2026-05-13T09:30:00Z"},{"at":null}
//! ```
//!
//! the strings have `2026-05-1` and `Z` in common. The beginning is cut back to `2026-05-`, so that no number and no word is in two
//! pieces, and the column becomes `at~"2026-05-${}Z"` with the cells `12T08:00:00`, `13T09:30:00` and `null`.

use bumpalo::Bump;

use super::columns::{Column, ColumnId, ColumnRole, Columns, ListId, NONE};
use super::dictionary;
use crate::estimate::{TOKEN_COST, tokens};
use crate::format::{
    PLACEHOLDER_CLOSE, PLACEHOLDER_OPEN, PLACEHOLDER_SIGN, QUOTE, continues_bare_string, is_bare_string, is_literal,
    starts_word,
};
use crate::options::Limits;
use crate::v2::arena::ArenaVec;
use crate::v2::tree::{TextRange, Token, Tree};

/// The most bytes of a beginning or an end.
const MAX_BYTES: usize = 512;
/// The cost of a template besides its text: `~"`, `${` and `}"`, with something for the reader's effort.
const TEMPLATE_COST: i64 = 5 * TOKEN_COST;
/// The bytes of a template besides its text, as the limit on headers counts them: `"${}"`.
const TEMPLATE_BYTES: usize = 5;

/// What the strings of a column begin and end with, as ranges of the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling {
    pub(crate) start: (usize, usize),
    pub(crate) end: (usize, usize),
}

impl Filling {
    /// Returns the part of a string, which is a range of the text with its quotes, that is a word in the cell; none if the string
    /// has to be written whole.
    pub(crate) fn word(&self, text: &[u8], string: TextRange) -> Option<(usize, usize)> {
        let (from, to) = (string.start() + 1, string.end() - 1);
        let (start, end) = (&text[self.start.0..self.start.1], &text[self.end.0..self.end.1]);
        let word = text[from..to].strip_prefix(start)?.strip_suffix(end)?;
        let good = starts_word(*word.first()?) && word.iter().all(|&byte| continues_bare_string(byte));
        (good && !is_literal(word)).then(|| (from + start.len(), to - end.len()))
    }
}

/// The string that the ranges were taken from, for what explains them.
impl Filling {
    /// Returns the template, with its quotes.
    pub(crate) fn template(&self, text: &[u8]) -> Vec<u8> {
        let (start, end) = (&text[self.start.0..self.start.1], &text[self.end.0..self.end.1]);
        [&[QUOTE], start, PLACEHOLDER_OPEN, &[PLACEHOLDER_CLOSE], end, &[QUOTE]].concat()
    }

    /// Returns the string, with its quotes.
    pub(crate) fn string<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start.0 - 1..self.end.1 + 1]
    }

    /// Returns the part of it that is in the cell.
    pub(crate) fn cell<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start.1..self.end.0]
    }
}

/// What the strings of a column have in common so far.
#[derive(Clone, Copy, Debug)]
struct Common {
    column: ColumnId,
    /// The first string, without its quotes.
    first: (usize, usize),
    start: CommonPart,
    end: CommonPart,
    strings: u32,
    /// Whether the column cannot be filled.
    is_out: bool,
    /// The last string, without its quotes.
    last: (usize, usize),
    costs: Costs,
}

/// What the strings of a column cost.
#[derive(Clone, Copy, Debug, Default)]
struct Costs {
    /// As they are.
    plain: i64,
    /// With entries of the dictionary for what follows each other.
    named: i64,
    /// With the words between beginning and end.
    filled: i64,
}

/// How many bytes of one end of the first string all strings have, and whether some string is cut there inside a word or number.
#[derive(Clone, Copy, Debug)]
struct CommonPart {
    length: usize,
    cuts: bool,
}

impl CommonPart {
    /// Takes another string. Both are functions of the distance from the end that is compared.
    fn add(&mut self, first: impl Fn(usize) -> Option<u8>, other: impl Fn(usize) -> Option<u8>) {
        let length = (0..self.length).take_while(|&at| first(at) == other(at)).count();
        let is_cut = |next: Option<u8>| length > 0 && next.is_some_and(|next| is_inside(first(length - 1), next));
        if length < self.length {
            *self = Self { length, cuts: is_cut(first(length)) };
        }
        self.cuts |= is_cut(other(length));
    }

    /// Returns the length after which no word or number is in two pieces, before a byte that a template cannot hold as it is.
    fn whole(&self, first: impl Fn(usize) -> Option<u8>) -> usize {
        let held = |byte: u8| byte != b'\\' && byte != PLACEHOLDER_SIGN;
        let most = self.length.min(MAX_BYTES);
        let length = (0..most).take_while(|&at| first(at).is_some_and(held)).count();
        if length == self.length && !self.cuts {
            return length;
        }
        let is_whole = |&length: &usize| first(length).is_none_or(|next| !is_inside(first(length - 1), next));
        (1..=length).rev().filter(|&length| length < self.length).find(is_whole).unwrap_or(0)
    }
}

/// Returns whether two bytes that stand side by side are of one word or number.
fn is_inside(byte: Option<u8>, next: u8) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    byte.is_some_and(|byte| is_letter(byte) && is_letter(next) || byte.is_ascii_digit() && next.is_ascii_digit())
}

/// Returns whether the beginning of an address goes on after its host, or after the service of an ARN.
fn has_host(start: &[u8]) -> bool {
    start.starts_with(b"arn:") || start.iter().filter(|&&byte| byte == b'/').count() > 2
}

/// Returns whether a list may have filled columns.
pub(super) fn may_be_in(tree: Tree<'_>, columns: &Columns<'_>, list: ListId) -> bool {
    !columns.list(list).is_open && columns.of(list).any(|id| is_candidate(tree, columns.column(id)))
}

fn is_candidate(tree: Tree<'_>, column: &Column) -> bool {
    let is_cell = column.role == ColumnRole::Cell && !column.in_template && column.nested == NONE;
    is_cell && column.rows > 1 && !column.uniform && is_string_or_literal(tree.first(column.frequent))
}

/// Returns whether a value that begins with this byte is a string, `true`, `false` or `null`.
fn is_string_or_literal(first: u8) -> bool {
    matches!(first, b'"' | b't' | b'f' | b'n')
}

/// Finds the filled columns of one list, and returns what they save. `objects` are the objects that the list describes and that
/// will be written.
pub(super) fn find(
    tree: Tree<'_>,
    columns: &mut Columns<'_>,
    list: ListId,
    objects: &[(ListId, Token)],
    limits: &Limits,
    arena: &Bump,
) -> i64 {
    let of_list = columns.of(list).filter(|&id| is_candidate(tree, columns.column(id)));
    let (start, end) = (CommonPart { length: 0, cuts: false }, CommonPart { length: 0, cuts: false });
    let new = |column| Common {
        column,
        first: (0, 0),
        start,
        end,
        strings: 0,
        is_out: false,
        last: (0, 0),
        costs: Costs::default(),
    };
    let mut found = ArenaVec::from_iter_in(of_list.map(new), arena);
    for (number, common) in found.iter().enumerate() {
        columns.column_mut(common.column).filling = number as u32;
    }
    read_all(tree, columns, list, objects, &mut found, |common, value| common.add(tree, value));
    for common in &mut found {
        common.cut(tree);
    }
    read_all(tree, columns, list, objects, &mut found, |common, value| common.add_costs(tree, value));
    let mut saving = 0;
    for common in &found {
        columns.column_mut(common.column).filling = NONE;
        if common.is_out {
            continue;
        }
        let filling = common.filling();
        let (start, end) = (&tree.text[filling.start.0..filling.start.1], &tree.text[filling.end.0..filling.end.1]);
        let Costs { plain, named, filled } = common.costs;
        let saved = plain.min(named + dictionary::ENTRY_COST) - filled - tokens(start) - tokens(end) - TEMPLATE_COST;
        let root = columns.list(list).root;
        let header_bytes = columns.list(root).header_bytes + start.len() + end.len() + TEMPLATE_BYTES;
        if saved > 0 && header_bytes <= limits.header {
            columns.list_mut(root).header_bytes = header_bytes;
            columns.fill(common.column, filling);
            saving += saved;
        }
    }
    saving
}

/// Calls `read` with each value of the columns that are left in `found`, but for defaults, until it returns false. While this runs
/// a column has its place in `found` as its number.
fn read_all(
    tree: Tree<'_>,
    columns: &Columns<'_>,
    list: ListId,
    objects: &[(ListId, Token)],
    found: &mut [Common],
    mut read: impl FnMut(&mut Common, Token) -> bool,
) {
    if found.iter().all(|common| common.is_out) {
        return;
    }
    for &(_, object) in objects {
        let mut due = columns.list(list).head;
        for value in tree.values(object) {
            let Some(id) = columns.find(tree, list, due, tree.key_range(value - 1)) else { continue };
            let column = columns.column(id);
            due = column.next;
            let Some(common) = found.get_mut(column.filling as usize).filter(|common| !common.is_out) else { continue };
            let is_default = column.has_default && tree.same_bytes(column.frequent_range, tree.value_range(value).0);
            common.is_out = !is_default && !read(common, value);
        }
    }
}

impl Common {
    /// Takes a value; returns whether the column may be filled.
    fn add(&mut self, tree: Tree<'_>, value: Token) -> bool {
        if tree.first(value) != b'"' {
            return is_string_or_literal(tree.first(value)) || tree.is_container(value);
        }
        let (from, to) = (tree.start(value) + 1, tree.end(value) - 1);
        self.strings += 1;
        if self.strings == 1 {
            self.first = (from, to);
            (self.start.length, self.end.length) = (to - from, to - from);
        } else {
            let (first, other) = (self.body(tree), &tree.text[from..to]);
            self.start.add(|at| first.get(at).copied(), |at| other.get(at).copied());
            self.end.add(|at| first.iter().nth_back(at).copied(), |at| other.iter().nth_back(at).copied());
        }
        self.start.length + self.end.length > 0
    }

    fn body<'t>(&self, tree: Tree<'t>) -> &'t [u8] {
        &tree.text[self.first.0..self.first.1]
    }

    /// Decides how much of the common beginning and end the template has.
    fn cut(&mut self, tree: Tree<'_>) {
        let first = self.body(tree);
        self.start.length = self.start.whole(|at| first.get(at).copied());
        // Of an address more than its scheme; what follows is better named.
        if dictionary::is_address(first) && !has_host(&first[..self.start.length]) {
            self.start.length = 0;
        }
        self.end.length = self.end.whole(|at| first.iter().nth_back(at).copied()).min(first.len() - self.start.length);
        self.is_out |= self.strings < 2 || self.start.length + self.end.length == 0;
    }

    fn filling(&self) -> Filling {
        let (from, to) = self.first;
        Filling { start: (from, from + self.start.length), end: (to - self.end.length, to) }
    }

    fn add_costs(&mut self, tree: Tree<'_>, value: Token) -> bool {
        let (range, filling) = (tree.value_range(value).0, self.filling());
        if tree.first(value) == b'"' {
            let (from, to) = (range.start() + 1, range.end() - 1);
            let (whole, body, last) = (tree.value(value), &tree.text[from..to], &tree.text[self.last.0..self.last.1]);
            let plain = tokens(if is_bare_string(body) { body } else { whole });
            let Costs { plain: plains, named, filled } = &mut self.costs;
            *plains += plain;
            *named += plain.min(dictionary::cost_after(body, last));
            *filled += match filling.word(tree.text, range) {
                Some((from, to)) => tokens(&tree.text[from..to]),
                None => tokens(whole),
            };
            self.last = (from, to);
        }
        true
    }
}

#[cfg(test)]
mod tests;
