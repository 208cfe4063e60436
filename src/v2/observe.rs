//! The visitor that records what [`explain`](mod@crate::explain) tells: the document is written once more, and each array and
//! name is noted with the bytes it became.
//!
//! It decides nothing and only reads what the writer has appended, so it cannot disagree with the encoder.

use std::cell::{Cell, RefCell};

use bumpalo::Bump;

use crate::buffer::Buffer;
use crate::estimate::{TOKEN_COST, all_tokens as tokens};
use crate::format::DICTIONARY_SIGIL;
use crate::json::scan::arch::Fallback;
use crate::options::Options;
use crate::v2::plan::Plan;
use crate::v2::plan::columns::{Columns, ListId, NONE};
use crate::v2::plan::form::ContainerForm;
use crate::v2::plan::shapes::ShapeId;
use crate::v2::tree::{Token, Tree};
use crate::v2::visit::{Visitor, visit};
use crate::v2::write::TextWriter;

/// What was observed while a document was written.
#[derive(Default)]
pub(crate) struct Observed {
    /// In the order in which they ended.
    pub(crate) arrays: Vec<ObservedArray>,
    /// In the order of their definitions, and so of the text.
    pub(crate) shapes: Vec<ObservedName>,
    pub(crate) dictionary: Vec<ObservedName>,
    pub(crate) anchors: Vec<ObservedName>,
}

/// An array with two or more objects, or a keyed table.
pub(crate) struct ObservedArray {
    pub(crate) container: Token,
    /// The columns of a table.
    pub(crate) list: Option<ListId>,
    /// Where it is in the output.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A name, and what it saves: bytes, and quarters of a token.
#[derive(Default)]
pub(crate) struct ObservedName {
    pub(crate) name: String,
    /// The container that got the name; nothing for an entry of the dictionary.
    pub(crate) container: Token,
    /// What is named. Of a shape: its keys.
    pub(crate) text: Vec<u8>,
    pub(crate) uses: u64,
    pub(crate) saved_bytes: i64,
    pub(crate) saved_quarters: i64,
}

impl ObservedName {
    fn add_use(&mut self, json: &[u8], written: &[u8]) {
        self.uses += 1;
        self.saved_bytes += json.len() as i64 - written.len() as i64;
        self.saved_quarters += tokens(json) - tokens(written);
    }
}

/// Appends the document to `out` and returns what was observed.
pub(crate) fn observe(
    tree: Tree<'_>,
    plan: &Plan<'_>,
    options: &Options,
    arena: &Bump,
    out: &mut Buffer<u8>,
) -> Observed {
    if options.has_references() {
        observe_as::<true>(tree, plan, options, arena, out)
    } else {
        observe_as::<false>(tree, plan, options, arena, out)
    }
}

fn observe_as<const REFERENCES: bool>(
    tree: Tree<'_>,
    plan: &Plan<'_>,
    options: &Options,
    arena: &Bump,
    out: &mut Buffer<u8>,
) -> Observed {
    let mut observed = Observed::default();
    if REFERENCES {
        observed.dictionary = plan.dictionary.entries(tree).map(entry).collect();
    }
    let writer = TextWriter::<_, REFERENCES>::new(Fallback, tree, plan, &options.limits, arena, out);
    let mut observer = Observer {
        writer,
        tree,
        observed,
        last_container: Cell::new(0),
        open: RefCell::default(),
        table: Cell::new(NONE),
        shape_numbers: Vec::new(),
    };
    visit(tree, 0, &plan.columns, arena, &mut observer);
    observer.observed
}

/// Returns an entry of the dictionary with this body, before its first use. Its name is known from the first use on.
fn entry(body: &[u8]) -> ObservedName {
    let saved_bytes = -((body.len() + "$=\"\"\n".len()) as i64);
    let saved_quarters = -(tokens(body) + 3 * TOKEN_COST);
    ObservedName { text: body.to_vec(), saved_bytes, saved_quarters, ..ObservedName::default() }
}

/// A writer, and the notes on what it writes.
struct Observer<'a, const REFERENCES: bool> {
    writer: TextWriter<'a, Fallback, REFERENCES>,
    tree: Tree<'a>,
    observed: Observed,
    /// The container whose form was read last.
    last_container: Cell<Token>,
    /// The open arrays outside tables, and where each begins in the output.
    open: RefCell<Vec<(Token, usize)>>,
    /// The table that is being written.
    table: Cell<Token>,
    /// By shape: its number among the named ones, plus one.
    shape_numbers: Vec<usize>,
}

impl<const REFERENCES: bool> Visitor for Observer<'_, REFERENCES> {
    const VISITS_STRINGS: bool = REFERENCES;
    const VISITS_OBJECTS_ONLY: bool = false;
    const VISITS_SPLICES: bool = true;

    fn put(&mut self, bytes: &[u8]) {
        self.writer.put(bytes);
    }

    fn copy(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        self.writer.copy(comma, text, from, to);
    }

    fn key(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        self.writer.key(comma, text, from, to);
    }

    fn scalar(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        self.writer.scalar(comma, text, from, to);
    }

    fn string(&mut self, tree: Tree<'_>, string: Token, may_be_bare: bool) {
        let start = self.writer.out.len();
        self.writer.string(tree, string, may_be_bare);
        let written = &self.writer.out[start..];
        if written[0] == DICTIONARY_SIGIL {
            let name = letters(&written[1..]);
            let entry = &mut self.observed.dictionary[number(name)];
            if entry.uses == 0 {
                entry.name = String::from_utf8_lossy(name).into_owned();
                entry.saved_bytes -= name.len() as i64;
            }
            entry.add_use(tree.value(string), written);
        }
    }

    fn template(&mut self, template: u32) {
        self.writer.template(template);
    }

    fn form(&self, container: Token) -> ContainerForm {
        let form = self.writer.form(container);
        self.last_container.set(container);
        let is_table = matches!(form, ContainerForm::Table(_));
        let is_array = self.tree.first(container) == b'[' && !self.tree.is_flat(container);
        if self.table.get() == NONE && (is_table || is_array) {
            self.open.borrow_mut().push((container, self.writer.out.len()));
            self.table.set(if is_table { container } else { NONE });
        }
        form
    }

    fn is_table(&self, container: Token) -> bool {
        self.writer.is_table(container)
    }

    fn begin_container(&mut self, tree: Tree<'_>, container: Token, may_name: bool) -> bool {
        let start = self.writer.out.len();
        let is_copy = self.writer.begin_container(tree, container, may_name);
        let written = &self.writer.out[start..];
        if is_copy {
            self.observed.anchors[number(&written[1..])].add_use(tree.value(container), written);
            self.open.borrow_mut().pop_if(|(open, _)| *open == container);
        } else if !written.is_empty() {
            self.observed.anchors.push(ObservedName {
                name: String::from_utf8_lossy(&written[1..]).into_owned(),
                container,
                text: tree.value(container).to_vec(),
                uses: 0,
                saved_bytes: -(written.len() as i64),
                saved_quarters: -2 * TOKEN_COST,
            });
        }
        is_copy
    }

    fn decide_tuple(&mut self, tree: Tree<'_>, object: Token, columns: &Columns<'_>, list: ListId) -> bool {
        self.writer.decide_tuple(tree, object, columns, list)
    }

    fn shape_name(&mut self, shape: ShapeId) {
        let start = self.writer.out.len();
        self.writer.shape_name(shape);
        let name = String::from_utf8_lossy(&self.writer.out[start..]).into_owned();
        let (tree, object) = (self.tree, self.last_container.get());
        let keys = || tree.values(object).map(|value| value - 1);
        let shape = shape as usize;
        self.shape_numbers.resize(self.shape_numbers.len().max(shape + 1), 0);
        // The cost of the name with its sigil, where it is defined and where it is used.
        let (bytes, quarters) = (name.len() as i64 + 1, 2 * TOKEN_COST);
        if self.shape_numbers[shape] == 0 {
            self.observed.shapes.push(ObservedName {
                name,
                container: object,
                text: keys().map(|key| tree.key(key)).collect::<Vec<_>>().join(&b','),
                uses: 0,
                saved_bytes: -bytes,
                saved_quarters: -quarters,
            });
            self.shape_numbers[shape] = self.observed.shapes.len();
            return;
        }
        let named = &mut self.observed.shapes[self.shape_numbers[shape] - 1];
        named.uses += 1;
        named.saved_bytes += keys().map(|key| tree.key(key).len() as i64 + 1).sum::<i64>() - bytes;
        named.saved_quarters += keys().map(|key| tokens(tree.key_body(key)) + TOKEN_COST).sum::<i64>() - quarters;
    }

    fn expands(&mut self, end: usize) {
        self.writer.expands(end);
    }

    fn end_object(&mut self, tree: Tree<'_>, object: Token, has_table: bool) {
        self.writer.end_object(tree, object, has_table);
    }

    fn end_array(&mut self, container: Token) {
        let Some((_, start)) = self.open.get_mut().pop_if(|(open, _)| *open == container) else { return };
        let list = match self.writer.form(container) {
            ContainerForm::Table(list) => Some(list),
            _ => None,
        };
        self.table.set(NONE);
        let tree = self.tree;
        let objects = tree.values(container).filter(|&value| tree.first(value) == b'{');
        if list.is_some() || objects.take(2).count() == 2 {
            self.observed.arrays.push(ObservedArray { container, list, start, end: self.writer.out.len() });
        }
    }
}

/// Returns the letters that `text` begins with.
fn letters(text: &[u8]) -> &[u8] {
    &text[..text.iter().take_while(|byte| byte.is_ascii_lowercase()).count()]
}

/// Returns the number of a name, from zero.
fn number(name: &[u8]) -> usize {
    name.iter().fold(0, |number, letter| number * 26 + usize::from(letter - b'a') + 1) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_name_is_its_place_among_all_names() {
        let letters: Vec<String> = (b'a'..=b'z').map(|letter| char::from(letter).to_string()).collect();
        let twos = letters.iter().flat_map(|one| letters.iter().map(move |two| format!("{one}{two}")));
        for (expected, name) in letters.iter().cloned().chain(twos).chain(["aaa".to_owned()]).enumerate() {
            assert_eq!(number(name.as_bytes()), expected, "{name}");
        }
    }
}
