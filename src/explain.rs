//! Why a document became what it is in version 2: form by form, what was chosen and what came of it.
//!
//! The document is written once more, and the page it is written on notes where each array begins and ends, which names
//! are given and how often they are used. Nothing is decided here, so nothing here can disagree with the encoder.

use std::cell::{Cell, RefCell};

use crate::buffer::Buffer;
use crate::encode::Encoder;
use crate::error::Error;
use crate::estimate::estimate_tokens;
use crate::estimate::{TOKEN, all_tokens as tokens};
use crate::format::is_bare;
use crate::json::scan::arch::Swar;
use crate::json::tape::trimmed;
use crate::options::{Options, Version};
use crate::v2;
use crate::v2::plan::columns::{Column, Columns, ListId, NONE, Role};
use crate::v2::plan::{self, Plan, ShapeId};
use crate::v2::tree::{Token, Tree};
use crate::v2::visit::{Frame, Page, walk};
use crate::v2::write::{Names, Text, definitions};

/// What an [`Encoder`](crate::Encoder) of version 2 made of a document.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The JSON without insignificant whitespace.
    pub json: Size,
    /// The STC.
    pub stc: Size,
    /// The document stands as it was: nothing paid, and what follows is what was tried; or nothing was tried.
    pub plain: bool,
    /// What was tried.
    pub planned: Planned,
    /// Arrays with two or more objects, and objects that became keyed tables, in the order of the text. What stands inside
    /// a table is the table's.
    pub arrays: Vec<Array>,
    /// `@a`: keys that several objects share.
    pub shapes: Vec<Named>,
    /// `$a`: strings, or beginnings of strings, that come again.
    pub dictionary: Vec<Named>,
    /// `key~"…"`: columns that others fill. They have no name but their key, and those of the columns around it.
    pub templates: Vec<Named>,
    /// `&a`: values that come again.
    pub anchors: Vec<Named>,
}

/// What an encoder tries depends on how much memory it would take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planned {
    /// All that the options allow.
    #[default]
    All,
    /// All but references: there are more than half a million tokens, of less than eight bytes on average.
    NoReferences,
    /// Nothing: there are more than a million tokens, of less than four bytes on average, or more than 65,536 levels.
    Nothing,
}

/// How long a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// In bytes.
    pub bytes: u64,
    /// In tokens, by [`estimate_tokens`].
    pub tokens: u64,
}

/// An array, or an object, and its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Where it is, as jq has it: `.items[0].labels`.
    pub path: String,
    /// What it became.
    pub form: Form,
    /// The header of a table as it is written, without its colon; nothing if there is none.
    pub header: String,
    /// Elements, or members.
    pub rows: u32,
    /// As JSON.
    pub json: Size,
    /// As written.
    pub stc: Size,
}

/// What became of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `[2]{…}:` and rows.
    Table,
    /// `{2}{…}:` and rows with keys.
    KeyedTable,
    /// Written out: its objects do not agree, or a table would not have paid.
    Plain,
}

/// Something that got a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, without its sigil.
    pub name: String,
    /// Where it got it; for an entry of the dictionary, nowhere.
    pub path: String,
    /// The string, the template, the keys or the beginning of the value.
    pub text: String,
    /// How often it is used, besides where it got the name.
    pub uses: u64,
    /// Bytes less than JSON has in the places where it is used, and more where it got the name. Of a template, as if all its
    /// strings were as long as one of them.
    pub saved_bytes: i64,
    /// The same in tokens, estimated.
    pub saved_tokens: i64,
}

/// How much of a value is shown.
const SHOWN: usize = 60;

impl Encoder {
    /// Encodes a whole document as version 2, whatever version the options name, and tells what was chosen where, and
    /// what it saved. For people who wonder: it takes several times as long as encoding, and memory that is not kept.
    pub fn explain(&mut self, json: &[u8]) -> Result<Explanation, Error> {
        let options = self.options;
        self.options.version = Version::V2;
        let encoded = self.encode(json).map(drop);
        self.options = options;
        encoded?;
        let Self { tape, v2, out, .. } = self;
        let Some(planned) = v2.planned else { return Ok(Explanation::as_it_is(out)) };
        // A document without whitespace was not copied.
        let text: &[u8] = if tape.text.is_empty() { trimmed(json) } else { &tape.text };
        let tree = v2.links.tree(text, &tape.index);
        let mut explained = explain(tree, &v2.plan, &planned, &mut v2.stack, &mut v2.names, **out == *text);
        if options.references && !v2::referring(&options, text, &tape.index).references {
            explained.planned = Planned::NoReferences;
        }
        Ok(explained)
    }
}

/// Explains the plan of a document. `plain` if it was not used.
pub(crate) fn explain(
    tree: Tree<'_>,
    plan: &Plan,
    options: &Options,
    stack: &mut Vec<Frame>,
    names: &mut [Names; 2],
    plain: bool,
) -> Explanation {
    let mut out = Buffer::default();
    let mut notes = if options.references {
        definitions(tree, plan, &mut out);
        watch::<true>(tree, plan, options, stack, names, &mut out)
    } else {
        watch::<false>(tree, plan, options, stack, names, &mut out)
    };
    let json = Size::of(tree.text);
    let stc = if plain { json } else { Size::of(&out) };
    notes.arrays.sort_by_key(|noted| noted.container);
    let mut explanation = Explanation { json, stc, plain, ..Explanation::default() };
    for (noted, path) in notes.arrays.iter().zip(paths(tree, notes.arrays.iter().map(|noted| noted.container))) {
        if let Some(list) = noted.list {
            explanation.templates.extend(templates(tree, plan, list, &path));
        }
        explanation.arrays.push(noted.array(tree, &out, path));
    }
    // Names are given in the order of the text, so their places are in order too.
    let places = paths(tree, notes.shapes.iter().map(|shape| shape.container));
    explanation.shapes = notes.shapes.iter().zip(places).map(|(shape, path)| shape.named(path)).collect();
    let places = paths(tree, notes.anchors.iter().map(|anchor| anchor.container));
    explanation.anchors = notes.anchors.iter().zip(places).map(|(anchor, path)| anchor.named(path)).collect();
    for (entry, body) in notes.dictionary.iter_mut().zip(plan.dictionary.entries(tree)) {
        entry.text = shown(body);
        entry.bytes -= (body.len() + entry.name.len() + "$=\"\"\n".len()) as i64;
        entry.tokens -= tokens(body) + 3 * TOKEN;
    }
    explanation.dictionary = notes.dictionary.iter().map(|entry| entry.named(String::new())).collect();
    explanation
}

impl Explanation {
    /// Of a document that is too long, too dense or too deep to be planned.
    pub(crate) fn as_it_is(json: &[u8]) -> Self {
        let size = Size::of(json);
        Self { json: size, stc: size, plain: true, planned: Planned::Nothing, ..Self::default() }
    }
}

impl Size {
    fn of(text: &[u8]) -> Self {
        Self { bytes: text.len() as u64, tokens: estimate_tokens(text) }
    }
}

/// An array or keyed table that was written.
struct Noted {
    container: Token,
    /// The columns of a table.
    list: Option<ListId>,
    /// What was written.
    start: usize,
    end: usize,
}

impl Noted {
    fn array(&self, tree: Tree<'_>, out: &[u8], path: String) -> Array {
        let written = &out[self.start..self.end];
        let form = match self.list {
            Some(_) if tree.first(self.container) == b'{' => Form::KeyedTable,
            Some(_) => Form::Table,
            None => Form::Plain,
        };
        let header = match memchr::memchr(b'\n', written) {
            Some(feed) if self.list.is_some() => String::from_utf8_lossy(&written[..feed - 1]).into_owned(),
            _ => String::new(),
        };
        let rows = tree.children(self.container);
        Array { path, form, header, rows, json: Size::of(tree.span(self.container)), stc: Size::of(written) }
    }
}

/// A name that was given, and what its uses save: bytes, and quarters of a token.
#[derive(Default)]
struct Given {
    name: String,
    container: Token,
    text: String,
    uses: u64,
    bytes: i64,
    tokens: i64,
}

impl Given {
    fn named(&self, path: String) -> Named {
        let Self { name, text, uses, bytes, tokens, .. } = self;
        let (name, text) = (name.clone(), text.clone());
        Named { name, path, text, uses: *uses, saved_bytes: *bytes, saved_tokens: tokens / TOKEN }
    }

    fn used(&mut self, json: &[u8], written: &[u8]) {
        self.uses += 1;
        self.bytes += json.len() as i64 - written.len() as i64;
        self.tokens += tokens(json) - tokens(written);
    }
}

/// What was seen while the document was written.
#[derive(Default)]
struct Notes {
    arrays: Vec<Noted>,
    shapes: Vec<Given>,
    dictionary: Vec<Given>,
    anchors: Vec<Given>,
}

fn watch<const REFERENCES: bool>(
    tree: Tree<'_>,
    plan: &Plan,
    options: &Options,
    stack: &mut Vec<Frame>,
    names: &mut [Names; 2],
    out: &mut Buffer<u8>,
) -> Notes {
    let text = Text::<_, REFERENCES>::new(Swar, plan, &options.limits, tree.text.len(), names, out);
    let mut notes = Notes::default();
    let entries = if REFERENCES { plan.dictionary.entries(tree).count() } else { 0 };
    notes.dictionary.resize_with(entries, Given::default);
    let (met, open, table) = (Cell::new(0), RefCell::default(), Cell::new(NONE));
    let mut page = Watched { text, tree, notes, met, open, table, numbers: Vec::new() };
    walk(tree, 0, &plan.columns, stack, &mut page);
    page.notes
}

/// The page that is written on, and whoever looks over its shoulder.
struct Watched<'a, const REFERENCES: bool> {
    text: Text<'a, Swar, REFERENCES>,
    tree: Tree<'a>,
    notes: Notes,
    /// The container whose form was asked for last.
    met: Cell<Token>,
    /// Arrays that have begun, and where; none inside of a table.
    open: RefCell<Vec<(Token, usize)>>,
    /// The table that is being written.
    table: Cell<Token>,
    /// By shape: its number among those named, plus one.
    numbers: Vec<usize>,
}

impl<const REFERENCES: bool> Watched<'_, REFERENCES> {
    /// What was written since `start`.
    fn since(&self, start: usize) -> &[u8] {
        &self.text.out[start..]
    }
}

impl<const REFERENCES: bool> Page for Watched<'_, REFERENCES> {
    const CARES: bool = REFERENCES;
    const SHALLOW: bool = false;
    const SPLICES: bool = true;

    fn put(&mut self, bytes: &[u8]) {
        self.text.put(bytes);
    }

    fn copy(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        self.text.copy(comma, text, from, to);
    }

    fn key(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        self.text.key(comma, text, from, to);
    }

    fn text(&mut self, tree: Tree<'_>, string: Token) {
        let start = self.text.out.len();
        self.text.text(tree, string);
        let written = &self.text.out[start..];
        if written[0] == b'$' {
            let name = letters(&written[1..]);
            let entry = &mut self.notes.dictionary[number(name)];
            entry.name = String::from_utf8_lossy(name).into_owned();
            entry.used(tree.span(string), written);
        }
    }

    fn template(&mut self, template: u32) {
        self.text.template(template);
    }

    fn form(&self, container: Token) -> plan::Form {
        let form = self.text.form(container);
        self.met.set(container);
        let is_table = matches!(form, plan::Form::Table(_));
        let is_array = self.tree.first(container) == b'[' && !self.tree.is_flat(container);
        if self.table.get() == NONE && (is_table || is_array) {
            self.open.borrow_mut().push((container, self.text.out.len()));
            self.table.set(if is_table { container } else { NONE });
        }
        form
    }

    fn again(&mut self, tree: Tree<'_>, container: Token, names: bool) -> bool {
        let start = self.text.out.len();
        let again = self.text.again(tree, container, names);
        let written = &self.text.out[start..];
        if again {
            self.notes.anchors[number(&written[1..])].used(tree.span(container), written);
            self.open.borrow_mut().pop_if(|(open, _)| *open == container);
        } else if !written.is_empty() {
            let name = String::from_utf8_lossy(&written[1..]).into_owned();
            let (bytes, text) = (-(written.len() as i64), shown(tree.span(container)));
            self.notes.anchors.push(Given { name, container, text, uses: 0, bytes, tokens: -2 * TOKEN });
        }
        again
    }

    fn fits(&mut self, tree: Tree<'_>, object: Token, columns: &Columns, list: ListId) -> bool {
        self.text.fits(tree, object, columns, list)
    }

    fn name(&mut self, shape: ShapeId) {
        let start = self.text.out.len();
        self.text.name(shape);
        let name = String::from_utf8_lossy(self.since(start)).into_owned();
        let (tree, object) = (self.tree, self.met.get());
        let keys = || tree.values(object).map(|value| tree.key(value - 1));
        let shape = shape as usize;
        self.numbers.resize(self.numbers.len().max(shape + 1), 0);
        // What the name takes, with its sigil: where it is given as well as where it is used.
        let (bytes, quarters) = (name.len() as i64 + 1, 2 * TOKEN);
        if self.numbers[shape] == 0 {
            let text = shown(&keys().collect::<Vec<_>>().join(&b','));
            self.notes.shapes.push(Given { name, container: object, text, uses: 0, bytes: -bytes, tokens: -quarters });
            self.numbers[shape] = self.notes.shapes.len();
            return;
        }
        let given = &mut self.notes.shapes[self.numbers[shape] - 1];
        given.uses += 1;
        given.bytes += keys().map(|key| key.len() as i64 + 1).sum::<i64>() - bytes;
        given.tokens += keys().map(|key| tokens(&key[1..key.len() - 1]) + TOKEN).sum::<i64>() - quarters;
    }

    fn expands(&mut self, end: usize) {
        self.text.expands(end);
    }

    fn ended(&mut self, tree: Tree<'_>, object: Token, table: bool) {
        self.text.ended(tree, object, table);
    }

    fn left(&mut self, container: Token) {
        let Some((_, start)) = self.open.get_mut().pop_if(|(open, _)| *open == container) else { return };
        let list = match self.text.form(container) {
            plan::Form::Table(list) => Some(list),
            _ => None,
        };
        self.table.set(NONE);
        let tree = self.tree;
        let objects = tree.values(container).filter(|&value| tree.first(value) == b'{');
        if list.is_some() || objects.take(2).count() == 2 {
            self.notes.arrays.push(Noted { container, list, start, end: self.text.out.len() });
        }
    }
}

/// The templates of the table with this list.
fn templates(tree: Tree<'_>, plan: &Plan, table: ListId, path: &str) -> Vec<Named> {
    let columns = &plan.columns;
    let lists = (table..columns.lists()).take_while(|&list| columns.list(list).root == table);
    let mut templates = Vec::new();
    for list in lists {
        for column in columns.of(list).map(|column| columns.column(column)) {
            let Role::Template(template) = column.role else { continue };
            let (text, uses, value) = (plan.templates.of(template), u64::from(column.rows), tree.span(column.likely));
            templates.push(Named {
                name: column_name(tree, columns, column),
                path: path.to_owned(),
                text: shown(text),
                uses,
                saved_bytes: uses as i64 * (value.len() as i64 + 1) - text.len() as i64 - 1,
                saved_tokens: (uses as i64 * tokens(value) - tokens(text) - TOKEN) / TOKEN,
            });
        }
    }
    templates
}

/// A column's key behind those of the columns around it: `user.url`.
fn column_name(tree: Tree<'_>, columns: &Columns, column: &Column) -> String {
    let mut keys = vec![column.key];
    let mut parent = columns.list(column.owner).parent;
    while parent != NONE {
        keys.push(columns.column(parent).key);
        parent = columns.list(columns.column(parent).owner).parent;
    }
    let unquoted = |&key: &Token| shown(&tree.key(key)[1..tree.key(key).len() - 1]);
    keys.iter().rev().map(unquoted).collect::<Vec<_>>().join(".")
}

/// Where these values are, which have to come in the order of the text.
fn paths(tree: Tree<'_>, values: impl Iterator<Item = Token>) -> Vec<String> {
    // The containers around a value: itself, the child of it that is next, and the number of that.
    let mut around: Vec<(Token, Token, u32)> = Vec::new();
    let skip = |container: Token| u32::from(tree.first(container) == b'{');
    let mut paths = Vec::new();
    for value in values {
        while around.last().is_some_and(|&(container, ..)| tree.close(container) < value) {
            around.pop();
        }
        let mut found = if around.is_empty() { 0 } else { NONE };
        while found != value {
            if found != NONE {
                around.push((found, found + 1 + skip(found), 0));
            }
            let Some((container, child, index)) = around.last_mut() else { break };
            while tree.after(*child) <= value {
                *child = tree.after(*child) + skip(*container);
                *index += 1;
            }
            found = *child;
        }
        let mut path = String::new();
        for &(container, child, index) in &around {
            if tree.first(container) == b'[' {
                path += &format!("[{index}]");
                continue;
            }
            let key = tree.key(child - 1);
            let (body, quoted) = (String::from_utf8_lossy(&key[1..key.len() - 1]), String::from_utf8_lossy(key));
            path += &if is_bare(body.as_bytes()) { format!(".{body}") } else { format!("[{quoted}]") };
        }
        paths.push(if path.starts_with('.') { path } else { format!(".{path}") });
    }
    paths
}

/// A text, cut where it would be too long to be shown.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}

/// The letters that `text` begins with.
fn letters(text: &[u8]) -> &[u8] {
    &text[..text.iter().take_while(|byte| byte.is_ascii_lowercase()).count()]
}

/// The number of a name, from zero.
fn number(name: &[u8]) -> usize {
    name.iter().fold(0, |number, letter| number * 26 + usize::from(letter - b'a') + 1) - 1
}
