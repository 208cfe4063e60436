//! Templates: columns whose strings can be said by other columns of the same objects.
//!
//! A string that holds the value of another column is guessed to do so in every object; the guess is made from one
//! object and then held against all the others. Guesses are tried with one column first, then with two.

use std::ops::Range;

use super::columns::{Column, ColumnId, Columns, ListId, Role};
use crate::estimate::{TOKEN, tokens};
use crate::format::is_bare;
use crate::options::Limits;
use crate::v2::tree::{Token, Tree};

/// The most columns of a list that are looked at; more would take more time than they are worth.
const MOST: usize = 64;
/// The most columns that a string is tried with two of.
const PAIRED: usize = 6;

/// The templates of a document, and the memory to find them.
#[derive(Debug, Default)]
pub(crate) struct Templates {
    /// All of them, each with its quotes.
    text: Vec<u8>,
    spans: Vec<Range<usize>>,
    /// The columns of the list in hand that might be templates or stand in one.
    columns: Vec<ColumnId>,
    /// The values of these columns, object by object.
    values: Vec<Token>,
    saving: i64,
    order: Vec<usize>,
    /// The template that is being tried: text, and columns between.
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    /// Bytes of the document.
    Text(usize, usize),
    /// The number of a column among those looked at.
    Column(usize),
}

impl Templates {
    /// About what they save.
    pub(super) fn saving(&self) -> i64 {
        self.saving
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.spans.clear();
        self.saving = 0;
    }

    /// A template, with its quotes.
    pub(crate) fn of(&self, template: u32) -> &[u8] {
        &self.text[self.spans[template as usize].clone()]
    }

    /// Finds the templates among the columns of one list, which `objects` have.
    pub(super) fn find(
        &mut self,
        tree: Tree<'_>,
        columns: &mut Columns,
        list: ListId,
        objects: &[(ListId, Token)],
        limits: &Limits,
    ) {
        let root = columns.list(list).root;
        // A row that has templates is held by the decoder.
        if objects.len() < 2 || columns.list(root).longest > limits.row || !self.gather(tree, columns, list, objects) {
            return;
        }
        // The shorter the column that is said instead, the more is saved; and what is said by it can say no other.
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..self.columns.len());
        order.sort_unstable_by_key(|&source| (body(tree, self.value(0, source)).len(), source));
        for target in 0..self.columns.len() {
            let id = self.columns[target];
            if columns.column(id).stays || !self.all_text(tree, target) {
                continue;
            }
            if self.guess(tree, columns, target, &order) {
                self.settle(tree, columns, target, limits);
            }
        }
        self.order = order;
    }

    /// May there be templates in a list at all? There have to be strings, and something besides that they might hold.
    pub(super) fn may_be_in(tree: Tree<'_>, columns: &Columns, list: ListId) -> bool {
        let total = columns.list(list).objects;
        let firsts = columns.of(list).map(|id| columns.column(id)).filter(|column| is_candidate(column, total));
        let (mut texts, mut all) = (0, 0);
        for first in firsts.map(|column| tree.first(column.likely)) {
            texts += usize::from(first == b'"');
            all += usize::from(matches!(first, b'"' | b'-' | b'0'..=b'9'));
        }
        texts > 0 && all > 1
    }

    /// Lines up the values of the columns that every object has, as strings or numbers only.
    fn gather(&mut self, tree: Tree<'_>, columns: &Columns, list: ListId, objects: &[(ListId, Token)]) -> bool {
        let total = columns.list(list).objects;
        self.columns.clear();
        self.columns.extend(columns.of(list).filter(|&id| is_candidate(columns.column(id), total)).take(MOST));
        self.values.clear();
        for &(_, object) in objects {
            let mut due = 0;
            for value in tree.values(object) {
                if let Some(&column) = self.columns.get(due)
                    && tree.equal(columns.column(column).key_place, tree.key_place(value - 1))
                {
                    self.values.push(value);
                    due += 1;
                }
            }
            if due < self.columns.len() {
                return false;
            }
        }
        self.columns.len() > 1
    }

    fn value(&self, object: usize, column: usize) -> Token {
        self.values[object * self.columns.len() + column]
    }

    fn objects(&self) -> usize {
        self.values.len() / self.columns.len()
    }

    fn all_text(&self, tree: Tree<'_>, column: usize) -> bool {
        (0..self.objects()).all(|object| tree.first(self.value(object, column)) == b'"')
    }

    fn all_sources(&self, tree: Tree<'_>, column: usize) -> bool {
        (0..self.objects()).all(|object| matches!(tree.first(self.value(object, column)), b'"' | b'-' | b'0'..=b'9'))
    }

    /// Finds parts that give the target in every object; sources are tried in this order.
    fn guess(&mut self, tree: Tree<'_>, columns: &Columns, target: usize, order: &[usize]) -> bool {
        let mut promising = [0; PAIRED];
        let mut count = 0;
        for &source in order {
            let column = columns.column(self.columns[source]);
            let key = tree.key(column.key);
            if source == target
                || matches!(column.role, Role::Template(_))
                || !is_bare(&key[1..key.len() - 1])
                || !self.cut(tree, target, &[source])
                || !self.all_sources(tree, source)
            {
                continue;
            }
            if self.holds(tree, target) {
                return true;
            }
            if count < PAIRED {
                promising[count] = source;
                count += 1;
            }
        }
        for &one in &promising[..count] {
            for &other in &promising[..count] {
                if one != other && self.cut(tree, target, &[one, other]) && self.holds(tree, target) {
                    return true;
                }
            }
        }
        false
    }

    /// Cuts the target of the first object at the values of `sources`; false if one of them is not in it.
    fn cut(&mut self, tree: Tree<'_>, target: usize, sources: &[usize]) -> bool {
        let body = body(tree, self.value(0, target));
        let start = tree.start(self.value(0, target)) + 1;
        self.parts.clear();
        self.parts.push(Part::Text(start, start + body.len()));
        for &source in sources {
            let wanted = self::body(tree, self.value(0, source));
            if wanted.is_empty() {
                return false;
            }
            let mut found = false;
            let mut at = 0;
            while at < self.parts.len() {
                if let Part::Text(from, to) = self.parts[at]
                    && let Some(place) = find(&tree.text[from..to], wanted)
                {
                    let place = from + place;
                    if ends_inside_escape(&tree.text[from..place]) {
                        return false;
                    }
                    let behind = place + wanted.len();
                    self.parts[at] = Part::Text(from, place);
                    self.parts.insert(at + 1, Part::Column(source));
                    self.parts.insert(at + 2, Part::Text(behind, to));
                    found = true;
                    at += 1;
                }
                at += 1;
            }
            if !found || self.parts.len() > 9 {
                return false;
            }
        }
        // What is not cut out must not look like a placeholder, not even together with what comes behind it.
        let literal = |part: &Part| matches!(*part, Part::Text(from, to) if contains_dollar(&tree.text[from..to]));
        !self.parts.iter().any(literal)
    }

    /// Do the parts give the target in every object?
    fn holds(&self, tree: Tree<'_>, target: usize) -> bool {
        (1..self.objects()).all(|object| {
            let mut rest = body(tree, self.value(object, target));
            self.parts.iter().all(|part| {
                let part = match *part {
                    Part::Text(from, to) => &tree.text[from..to],
                    Part::Column(column) => body(tree, self.value(object, column)),
                };
                rest.strip_prefix(part).map(|behind| rest = behind).is_some()
            }) && rest.is_empty()
        })
    }

    /// Makes the target a template of the parts, if that pays.
    fn settle(&mut self, tree: Tree<'_>, columns: &mut Columns, target: usize, limits: &Limits) {
        let start = self.text.len();
        self.text.push(b'"');
        for part in &self.parts {
            match *part {
                Part::Text(from, to) => self.text.extend_from_slice(&tree.text[from..to]),
                Part::Column(column) => {
                    let key = tree.key(columns.column(self.columns[column]).key);
                    self.text.extend_from_slice(b"${");
                    self.text.extend_from_slice(&key[1..key.len() - 1]);
                    self.text.push(b'}');
                }
            }
        }
        self.text.push(b'"');
        let each = tokens(tree.span(self.value(0, target)));
        let id = self.columns[target];
        let written = match columns.column(id) {
            column if column.default => i64::from(column.rows.saturating_sub(column.hits)) + 1,
            column => i64::from(column.rows),
        };
        let root = columns.list(columns.column(id).owner).root;
        let header = columns.list(root).header + self.text.len() - start;
        let saved = each * written - tokens(&self.text[start..]) - 2 * TOKEN;
        if saved <= 0 || header > limits.header {
            self.text.truncate(start);
            return;
        }
        columns.list_mut(root).header = header;
        self.saving += saved;
        let template = self.spans.len() as u32;
        self.spans.push(start..self.text.len());
        let column = columns.column_mut(id);
        column.role = Role::Template(template);
        column.default = false;
        for part in &self.parts {
            if let Part::Column(source) = *part {
                let source = columns.column_mut(self.columns[source]);
                source.stays = true;
                source.default = false;
            }
        }
    }
}

/// Has every object, if there are any, a cell of its own in the column?
fn is_candidate(column: &Column, total: u32) -> bool {
    column.role == Role::Cell && column.rows == total && total > 0
}

/// A string between its quotes, or a number.
fn body<'a>(tree: Tree<'a>, value: Token) -> &'a [u8] {
    let span = tree.span(value);
    if span[0] == b'"' { &span[1..span.len() - 1] } else { span }
}

/// Does the text, the beginning of a string's body, end in the middle of an escape?
fn ends_inside_escape(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(backslash) = text.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += backslash;
        at += if text.get(at + 1) == Some(&b'u') { 6 } else { 2 };
    }
    at > text.len()
}

/// Where `wanted` is in `text`. To prepare a search costs more than most searches, so a few places are tried first.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    const FEW: usize = 32;
    let first = *wanted.first()?;
    if text.len() < wanted.len() {
        return None;
    }
    for (tries, place) in memchr::memchr_iter(first, text).enumerate() {
        if text[place..].starts_with(wanted) {
            return Some(place);
        }
        if tries == FEW {
            return memchr::memmem::find(&text[place..], wanted).map(|behind| place + behind);
        }
    }
    None
}

/// Does the text hold what would look like a placeholder, maybe together with what comes behind it?
fn contains_dollar(text: &[u8]) -> bool {
    memchr::memchr_iter(b'$', text).any(|place| matches!(text.get(place + 1), None | Some(b'{')))
}
