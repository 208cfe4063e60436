//! Templates (STC.md, section 17.5): columns whose strings follow from other columns of the same objects.
//!
//! A string that contains the value of another column is guessed to contain it in every object. The guess is made from the
//! first object and then tested on all others. In
//!
//! ```text
//! {"id":7,"url":"/users/7"},{"id":12,"url":"/users/12"}
//! ```
//!
//! the first object gives the template `"/users/${id}"`, and the second confirms it. Guesses are made with one column first,
//! then with two.

use std::ops::Range;

use bumpalo::Bump;

use super::columns::{Column, ColumnId, ColumnRole, Columns, ListId};
use crate::estimate::{TOKEN_COST, tokens};
use crate::format::{PLACEHOLDER_CLOSE, PLACEHOLDER_OPEN, PLACEHOLDER_SIGN, QUOTE, is_bare};
use crate::options::Limits;
use crate::v2::arena::ArenaVec;
use crate::v2::tree::{Token, Tree};

/// The most columns of a list that are considered. More would take more time than they are worth.
const MAX_COLUMNS: usize = 64;
/// The most columns that are tried in pairs.
const MAX_PAIRED: usize = 6;
/// The most parts of a template.
const MAX_PARTS: usize = 9;
/// The places that are tried one by one before a search is prepared, which costs more than most searches.
const MAX_PLACES: usize = 32;

/// The templates of a document.
pub(crate) struct Templates<'a> {
    /// All templates, each with its quotes.
    text: ArenaVec<'a, u8>,
    ranges: ArenaVec<'a, Range<usize>>,
    saving: i64,
    arena: &'a Bump,
}

/// The values that the objects of one list have in the columns that may be templates or be named in one.
struct Candidates<'a> {
    columns: ArenaVec<'a, ColumnId>,
    /// The values, object by object.
    values: ArenaVec<'a, Token>,
}

/// A part of a template.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Bytes of the document.
    Text(usize, usize),
    /// A placeholder: the number of a candidate.
    Column(usize),
}

impl<'a> Templates<'a> {
    /// Returns no templates.
    pub(super) fn new(arena: &'a Bump) -> Self {
        Self { text: ArenaVec::new_in(arena), ranges: ArenaVec::new_in(arena), saving: 0, arena }
    }

    /// Returns an estimate of what the templates save.
    pub(super) fn saving(&self) -> i64 {
        self.saving
    }

    /// Returns a template with its quotes.
    pub(crate) fn of(&self, template: u32) -> &[u8] {
        &self.text[self.ranges[template as usize].clone()]
    }

    /// Finds the templates among the columns of one list, and makes those columns [`ColumnRole::Template`]. `objects` are the objects
    /// that the list describes: the rows of its table, or the tuples or spliced objects in them.
    pub(super) fn find(
        &mut self,
        tree: Tree<'_>,
        columns: &mut Columns<'_>,
        list: ListId,
        objects: &[(ListId, Token)],
        limits: &Limits,
    ) {
        let root = columns.list(list).root;
        // A decoder holds a row that has templates (section 20.4).
        if objects.len() < 2 || columns.list(root).longest_row > limits.row {
            return;
        }
        let Some(candidates) = Candidates::collect(self.arena, tree, columns, list, objects) else { return };
        // The shorter the column that stays, the more is saved; a column that is a template cannot be named in another.
        let mut order = ArenaVec::from_iter_in(0..candidates.columns.len(), self.arena);
        order.sort_unstable_by_key(|&source| (body(tree, candidates.value(0, source)).len(), source));
        let mut parts = ArenaVec::with_capacity_in(MAX_PARTS + 2, self.arena);
        for target in 0..candidates.columns.len() {
            let id = candidates.columns[target];
            if columns.column(id).in_template || !candidates.all_start_with(tree, target, |first| first == b'"') {
                continue;
            }
            if candidates.guess(tree, columns, target, &order, &mut parts) {
                self.add_if_it_pays(tree, columns, &candidates, target, &parts, limits);
            }
        }
    }

    /// Returns whether a list may have templates: strings, and something else that they could contain.
    pub(super) fn may_be_in(tree: Tree<'_>, columns: &Columns<'_>, list: ListId) -> bool {
        let objects = columns.list(list).objects;
        let candidates = columns.of(list).map(|id| columns.column(id)).filter(|column| is_candidate(column, objects));
        let (mut strings, mut all) = (0, 0);
        for first in candidates.map(|column| tree.first(column.frequent)) {
            strings += usize::from(first == b'"');
            all += usize::from(is_string_or_number(first));
        }
        strings > 0 && all > 1
    }

    /// Makes the target a template of these parts, if that pays.
    fn add_if_it_pays(
        &mut self,
        tree: Tree<'_>,
        columns: &mut Columns<'_>,
        candidates: &Candidates<'_>,
        target: usize,
        parts: &[Part],
        limits: &Limits,
    ) {
        let start = self.text.len();
        self.write(tree, columns, candidates, parts);
        let id = candidates.columns[target];
        let column = columns.column(id);
        // Empty cells of a default would not have been written.
        let written = match column.has_default {
            true => i64::from(column.rows.saturating_sub(column.frequent_count)) + 1,
            false => i64::from(column.rows),
        };
        let root = columns.list(column.list).root;
        let header_bytes = columns.list(root).header_bytes + self.text.len() - start;
        let each = tokens(tree.value(candidates.value(0, target)));
        let saved = each * written - tokens(&self.text[start..]) - 2 * TOKEN_COST;
        if saved <= 0 || header_bytes > limits.header {
            self.text.truncate(start);
            return;
        }
        columns.list_mut(root).header_bytes = header_bytes;
        self.saving += saved;
        let template = self.ranges.len() as u32;
        self.ranges.push(start..self.text.len());
        let column = columns.column_mut(id);
        (column.role, column.has_default) = (ColumnRole::Template(template), false);
        for part in parts {
            if let Part::Column(source) = *part {
                let source = columns.column_mut(candidates.columns[source]);
                (source.in_template, source.has_default) = (true, false);
            }
        }
    }

    /// Appends a template to the text.
    fn write(&mut self, tree: Tree<'_>, columns: &Columns<'_>, candidates: &Candidates<'_>, parts: &[Part]) {
        self.text.push(QUOTE);
        for part in parts {
            match *part {
                Part::Text(from, to) => self.text.extend_from_slice_copy(&tree.text[from..to]),
                Part::Column(column) => {
                    let key = columns.column(candidates.columns[column]).key;
                    self.text.extend_from_slice_copy(PLACEHOLDER_OPEN);
                    self.text.extend_from_slice_copy(tree.key_body(key));
                    self.text.push(PLACEHOLDER_CLOSE);
                }
            }
        }
        self.text.push(QUOTE);
    }
}

impl<'a> Candidates<'a> {
    /// Collects the values of the columns that every object has. Returns none if there are less than two such columns.
    fn collect(
        arena: &'a Bump,
        tree: Tree<'_>,
        columns: &Columns<'_>,
        list: ListId,
        objects: &[(ListId, Token)],
    ) -> Option<Self> {
        let total = columns.list(list).objects;
        let of_list = columns.of(list).filter(|&id| is_candidate(columns.column(id), total)).take(MAX_COLUMNS);
        let found = ArenaVec::from_iter_in(of_list, arena);
        let mut values = ArenaVec::with_capacity_in(found.len() * objects.len(), arena);
        for &(_, object) in objects {
            let mut due = 0;
            for value in tree.values(object) {
                if let Some(&column) = found.get(due)
                    && tree.same_bytes(columns.column(column).key_range, tree.key_range(value - 1))
                {
                    values.push(value);
                    due += 1;
                }
            }
            if due < found.len() {
                return None;
            }
        }
        (found.len() > 1).then_some(Self { columns: found, values })
    }

    fn value(&self, object: usize, column: usize) -> Token {
        self.values[object * self.columns.len() + column]
    }

    fn objects(&self) -> usize {
        self.values.len() / self.columns.len()
    }

    /// Returns whether the first byte of every value of a column is as wanted.
    fn all_start_with(&self, tree: Tree<'_>, column: usize, wanted: impl Fn(u8) -> bool) -> bool {
        (0..self.objects()).all(|object| wanted(tree.first(self.value(object, column))))
    }

    /// Finds parts that give the target in every object. Sources are tried in this order, alone and then in pairs.
    fn guess(
        &self,
        tree: Tree<'_>,
        columns: &Columns<'_>,
        target: usize,
        order: &[usize],
        parts: &mut ArenaVec<'_, Part>,
    ) -> bool {
        let mut paired = [0; MAX_PAIRED];
        let mut count = 0;
        for &source in order {
            let column = columns.column(self.columns[source]);
            if source == target
                || matches!(column.role, ColumnRole::Template(_))
                || !is_bare(tree.key_body(column.key))
                || !self.cut(tree, target, &[source], parts)
                || !self.all_start_with(tree, source, is_string_or_number)
            {
                continue;
            }
            if self.confirm(tree, target, parts) {
                return true;
            }
            if count < MAX_PAIRED {
                paired[count] = source;
                count += 1;
            }
        }
        for &one in &paired[..count] {
            for &other in &paired[..count] {
                if one != other && self.cut(tree, target, &[one, other], parts) && self.confirm(tree, target, parts) {
                    return true;
                }
            }
        }
        false
    }

    /// Cuts the first object's target at the values of `sources`. Returns false if one of them is not in it, or if the parts
    /// would not be a template: text that is read as a placeholder, or the beginning of an escape.
    fn cut(&self, tree: Tree<'_>, target: usize, sources: &[usize], parts: &mut ArenaVec<'_, Part>) -> bool {
        let start = tree.start(self.value(0, target)) + 1;
        parts.clear();
        parts.push(Part::Text(start, start + body(tree, self.value(0, target)).len()));
        for &source in sources {
            let wanted = body(tree, self.value(0, source));
            if wanted.is_empty() {
                return false;
            }
            let mut found = false;
            let mut at = 0;
            while at < parts.len() {
                if let Part::Text(from, to) = parts[at]
                    && let Some(place) = find(&tree.text[from..to], wanted)
                {
                    let place = from + place;
                    if ends_inside_escape(&tree.text[from..place]) {
                        return false;
                    }
                    parts[at] = Part::Text(from, place);
                    parts.insert(at + 1, Part::Column(source));
                    parts.insert(at + 2, Part::Text(place + wanted.len(), to));
                    found = true;
                    at += 1;
                }
                at += 1;
            }
            if !found || parts.len() > MAX_PARTS {
                return false;
            }
        }
        let may_open =
            |part: &Part| matches!(*part, Part::Text(from, to) if may_open_placeholder(&tree.text[from..to]));
        !parts.iter().any(may_open)
    }

    /// Returns whether the parts give the target in every object after the first.
    fn confirm(&self, tree: Tree<'_>, target: usize, parts: &[Part]) -> bool {
        (1..self.objects()).all(|object| {
            let mut rest = body(tree, self.value(object, target));
            parts.iter().all(|part| {
                let part = match *part {
                    Part::Text(from, to) => &tree.text[from..to],
                    Part::Column(column) => body(tree, self.value(object, column)),
                };
                rest.strip_prefix(part).map(|after| rest = after).is_some()
            }) && rest.is_empty()
        })
    }
}

/// Returns whether a column has a cell in each of the objects, of which there are some.
fn is_candidate(column: &Column, objects: u32) -> bool {
    column.role == ColumnRole::Cell && column.rows == objects && objects > 0
}

/// Returns whether a value that begins with this byte may fill a placeholder (section 17.6).
fn is_string_or_number(first: u8) -> bool {
    matches!(first, b'"' | b'-' | b'0'..=b'9')
}

/// Returns a string without its quotes, or a number.
fn body<'t>(tree: Tree<'t>, value: Token) -> &'t [u8] {
    let text = tree.value(value);
    if text[0] == b'"' { &text[1..text.len() - 1] } else { text }
}

/// Returns whether the text, the beginning of a string's body, ends inside an escape: `\`, `\u`, `\u0`, `\u00` and `\u004`
/// do, `\\`, `\n` and `\u0041` do not.
fn ends_inside_escape(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(backslash) = text.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += backslash;
        at += if text.get(at + 1) == Some(&b'u') { 6 } else { 2 };
    }
    at > text.len()
}

/// Returns where `wanted` is in `text`.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    if text.len() < wanted.len() {
        return None;
    }
    for (tried, place) in memchr::memchr_iter(first, text).enumerate() {
        if text[place..].starts_with(wanted) {
            return Some(place);
        }
        if tried == MAX_PLACES {
            return memchr::memmem::find(&text[place..], wanted).map(|offset| place + offset);
        }
    }
    None
}

/// Returns whether a text has `${`, or ends in a `$` that may open a placeholder together with what comes after it.
fn may_open_placeholder(text: &[u8]) -> bool {
    memchr::memchr_iter(PLACEHOLDER_SIGN, text).any(|place| matches!(text.get(place + 1), None | Some(b'{')))
}

#[cfg(test)]
mod tests;
