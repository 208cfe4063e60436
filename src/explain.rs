//! Why a document became what it is in version 2: what was chosen for each array, and what it saved.
//!
//! The document is planned and written once more, and an observer (`v2/observe.rs`) records where each array begins and
//! ends, which names are defined and how often they are used. Nothing is decided here, so an explanation cannot disagree with
//! the encoder.
//!
//! ```
//! use stc::explain::{Array, Explanation, Form, Named, Planned, Size};
//! use stc::{Encoder, Format, Options};
//!
//! let json = br#"{"rows":[{"id":1,"ok":true,"at":"x"},{"id":2,"ok":true,"at":"y"},{"id":3,"ok":true,"at":"z"}]}"#;
//! let mut encoder = Encoder::with_options(Options::default().format(Format::Stc2));
//! let Explanation { json: before, stc: after, planned, arrays, shapes, .. } = encoder.explain(json)?;
//!
//! assert_eq!(before, Size { bytes: json.len() as u64, tokens: stc::estimate_tokens(json) });
//! assert!(after.bytes < before.bytes);
//! assert_eq!(planned, Planned::All);
//! let Array { path, form, header, rows, .. } = &arrays[0];
//! assert_eq!((path.as_str(), *form, *rows), (".rows", Form::Table, 3));
//! assert_eq!(header, "[3]{id,ok=true,at}");
//! let uses = |shape: &Named| shape.uses;
//! assert_eq!(shapes.iter().map(uses).sum::<u64>(), 0);
//! # Ok::<(), stc::Error>(())
//! ```

use bumpalo::Bump;

use crate::buffer::Buffer;
use crate::encode::Encoder;
use crate::error::Error;
use crate::estimate::estimate_tokens;
use crate::estimate::{TOKEN_COST, all_tokens as tokens};
use crate::format::is_bare;
use crate::json::tape::trimmed;
use crate::options::{Format, Options};
use crate::v2::observe::{ObservedArray, ObservedName, observe};
use crate::v2::plan::Plan;
use crate::v2::plan::columns::{Column, ColumnRole, Columns, ListId, NONE};
use crate::v2::tree::{Token, Tree};

/// What an [`Encoder`] of version 2 made of a document.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The size of the JSON without insignificant whitespace.
    pub json: Size,
    /// The size of the STC.
    pub stc: Size,
    /// Whether the document was written as minified JSON, because nothing saved anything or nothing was tried. The fields
    /// below then describe what was tried.
    pub plain: bool,
    /// How much was tried.
    pub planned: Planned,
    /// Arrays with two or more objects, and objects that became keyed tables, in the order of the text. Arrays inside a table
    /// are part of it and are not listed.
    pub arrays: Vec<Array>,
    /// `@a`: keys that several objects share.
    pub shapes: Vec<Named>,
    /// `$a`: strings, or beginnings of strings, that repeat.
    pub dictionary: Vec<Named>,
    /// `key~"…"`: columns that are filled from others or, where the template holds `${}`, from their own cells. Their name is their
    /// key, after those of the columns around it.
    pub templates: Vec<Named>,
    /// `&a`: objects and arrays that repeat.
    pub anchors: Vec<Named>,
}

/// How much an encoder tried, which depends on how much memory the document would take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planned {
    /// Everything that the options allow.
    #[default]
    All,
    /// Everything but references: the document has more than half a million tokens of less than eight bytes on average, or more
    /// than 32,768 levels.
    NoReferences,
    /// Nothing: the document has more than a million tokens of less than four bytes on average, or more than 65,536 levels.
    Nothing,
}

/// The size of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// In bytes.
    pub bytes: u64,
    /// In tokens, by [`estimate_tokens`].
    pub tokens: u64,
}

/// An array, or an object that became a keyed table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Where it is in the JSON, as a jq path: `.items[0].labels`.
    pub path: String,
    /// What it became.
    pub form: Form,
    /// The header of a table as it is written, without its colon; empty if it is no table.
    pub header: String,
    /// The number of elements or members.
    pub rows: u32,
    /// Its size as JSON.
    pub json: Size,
    /// Its size as it is written.
    pub stc: Size,
}

/// What became of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A table: `[2]{…}:` and rows.
    Table,
    /// A keyed table: `{2}{…}:` and rows with keys.
    KeyedTable,
    /// Written out, because a table would not have saved anything.
    Plain,
}

/// Something that got a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, without its sigil.
    pub name: String,
    /// Where it is defined in the JSON, as a jq path; empty for an entry of the dictionary.
    pub path: String,
    /// The string, the template, the keys or the beginning of the value.
    pub text: String,
    /// The number of uses, besides the definition.
    pub uses: u64,
    /// The bytes it saves: fewer than JSON where it is used, more where it is defined. For a template, computed as if all its
    /// strings were as long as one of them.
    pub saved_bytes: i64,
    /// The same in tokens, estimated.
    pub saved_tokens: i64,
}

/// The most characters of a value that are shown.
const MAX_SHOWN: usize = 60;

impl Encoder {
    /// Encodes a whole document, as [`Format::Stc2`] if the options name STC 1, and returns what was chosen and what it saved.
    /// It takes several times as long as encoding and allocates memory that is not kept.
    ///
    /// ```
    /// let explanation = stc::Encoder::new().explain(br#"[{"a":1},{"b":2}]"#)?;
    /// assert_eq!(explanation.json.bytes, 17);
    /// # Ok::<(), stc::Error>(())
    /// ```
    pub fn explain(&mut self, json: &[u8]) -> Result<Explanation, Error> {
        let options = self.options;
        if options.format == Format::Stc1 {
            self.options.format = Format::Stc2;
        }
        let encoded = self.encode(json).map(drop);
        self.options = options;
        encoded?;
        let Self { tape, v2, out, .. } = self;
        // A document without whitespace was not copied to the tape.
        let text: &[u8] = if tape.text.is_empty() { trimmed(json) } else { &tape.text };
        let explained = v2.with_plan(text, &tape.index, |tree, plan, planned, arena| {
            explain(tree, plan, planned, arena, **out == *text)
        });
        let Some(mut explained) = explained else { return Ok(Explanation::of_unplanned(out)) };
        if v2.had_no_room_for_references() {
            explained.planned = Planned::NoReferences;
        }
        Ok(explained)
    }
}

/// Explains the plan of a document. `plain` tells that it was not used.
fn explain(tree: Tree<'_>, plan: &Plan<'_>, options: &Options, arena: &Bump, plain: bool) -> Explanation {
    let mut out = Buffer::default();
    let mut observed = observe(tree, plan, options, arena, &mut out);
    let json = Size::of(tree.text);
    let stc = if plain { json } else { Size::of(&out) };
    observed.arrays.sort_by_key(|array| array.container);
    let mut explanation = Explanation { json, stc, plain, ..Explanation::default() };
    let array_paths = paths(tree, observed.arrays.iter().map(|array| array.container));
    for (array, path) in observed.arrays.iter().zip(array_paths) {
        if let Some(list) = array.list {
            explanation.templates.extend(templates(tree, plan, list, &path));
        }
        explanation.arrays.push(Array::of(array, tree, &out, path));
    }
    let all_named = |names: &[ObservedName]| -> Vec<Named> {
        let paths = paths(tree, names.iter().map(|name| name.container));
        names.iter().zip(paths).map(|(name, path)| Named::of(name, path)).collect()
    };
    explanation.shapes = all_named(&observed.shapes);
    explanation.anchors = all_named(&observed.anchors);
    explanation.dictionary = observed.dictionary.iter().map(|entry| Named::of(entry, String::new())).collect();
    explanation
}

impl Explanation {
    /// Returns the explanation of a document that is too long, of too short tokens or too deep to be planned.
    fn of_unplanned(json: &[u8]) -> Self {
        let size = Size::of(json);
        Self { json: size, stc: size, plain: true, planned: Planned::Nothing, ..Self::default() }
    }
}

impl Size {
    fn of(text: &[u8]) -> Self {
        Self { bytes: text.len() as u64, tokens: estimate_tokens(text) }
    }
}

impl Array {
    fn of(observed: &ObservedArray, tree: Tree<'_>, out: &[u8], path: String) -> Self {
        let ObservedArray { container, list, start, end } = *observed;
        let written = &out[start..end];
        let form = match list {
            Some(_) if tree.first(container) == b'{' => Form::KeyedTable,
            Some(_) => Form::Table,
            None => Form::Plain,
        };
        let header = match memchr::memchr(b'\n', written) {
            Some(line_feed) if list.is_some() => String::from_utf8_lossy(&written[..line_feed - 1]).into_owned(),
            _ => String::new(),
        };
        let (rows, json) = (tree.child_count(container), Size::of(tree.value(container)));
        Self { path, form, header, rows, json, stc: Size::of(written) }
    }
}

impl Named {
    fn of(observed: &ObservedName, path: String) -> Self {
        Self {
            name: observed.name.clone(),
            path,
            text: shown(&observed.text),
            uses: observed.uses,
            saved_bytes: observed.saved_bytes,
            saved_tokens: observed.saved_quarters / TOKEN_COST,
        }
    }
}

/// Returns the templates of the table with this list.
fn templates(tree: Tree<'_>, plan: &Plan<'_>, table: ListId, path: &str) -> Vec<Named> {
    let columns = &plan.columns;
    let lists = (table..columns.list_count()).take_while(|&list| columns.list(list).root == table);
    let mut templates = Vec::new();
    for list in lists {
        for column in columns.of(list).map(|column| columns.column(column)) {
            let filled;
            // A string of the column, what its cell has of it, and the bytes of a comma that is left out.
            let (text, value, cell, comma) = match (column.role, columns.filling(column)) {
                (ColumnRole::Template(template), _) => {
                    (plan.templates.of(template), tree.value(column.frequent), &b""[..], 1)
                }
                (_, Some(filling)) => {
                    filled = filling.template(tree.text);
                    (&*filled, filling.string(tree.text), filling.cell(tree.text), 0)
                }
                _ => continue,
            };
            let uses = u64::from(column.rows);
            let saved = |all: i64, header: i64| uses as i64 * all - header;
            templates.push(Named {
                name: column_name(tree, columns, column),
                path: path.to_owned(),
                text: shown(text),
                uses,
                saved_bytes: saved((value.len() - cell.len()) as i64 + comma, text.len() as i64 + 1),
                saved_tokens: saved(tokens(value) - tokens(cell), tokens(text) + TOKEN_COST) / TOKEN_COST,
            });
        }
    }
    templates
}

/// Returns a column's key after those of the columns around it: `user.url`.
fn column_name(tree: Tree<'_>, columns: &Columns<'_>, column: &Column) -> String {
    let mut keys = vec![column.key];
    let mut parent = columns.list(column.list).parent;
    while parent != NONE {
        keys.push(columns.column(parent).key);
        parent = columns.list(columns.column(parent).list).parent;
    }
    let unquoted = |&key: &Token| shown(tree.key_body(key));
    keys.iter().rev().map(unquoted).collect::<Vec<_>>().join(".")
}

/// Returns the jq paths of values, which must be in the order of the text.
fn paths(tree: Tree<'_>, values: impl Iterator<Item = Token>) -> Vec<String> {
    // The containers around a value, each with its next child and the number of that child.
    let mut around: Vec<(Token, Token, u32)> = Vec::new();
    let keys = |container: Token| u32::from(tree.first(container) == b'{');
    let mut paths = Vec::new();
    for value in values {
        while around.last().is_some_and(|&(container, ..)| tree.close(container) < value) {
            around.pop();
        }
        let mut found = if around.is_empty() { 0 } else { NONE };
        while found != value {
            if found != NONE {
                around.push((found, found + 1 + keys(found), 0));
            }
            let Some((container, child, index)) = around.last_mut() else { break };
            while tree.after(*child) <= value {
                *child = tree.after(*child) + keys(*container);
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

/// Returns a text as it is shown: its first [`MAX_SHOWN`] characters.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(MAX_SHOWN) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}
