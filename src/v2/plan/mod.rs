//! Version 2: what form each container takes, decided before a byte is written.
//!
//! From the outside in: an array whose elements are all objects is tried as a table, an object whose values are as a
//! keyed one. If the table pays, by [`cost`], it takes everything inside with it; if not, what is inside is tried.
//! What is left to be written out is [surveyed](survey) for shapes that repeat.

mod anchors;
pub(crate) mod columns;
mod cost;
mod dictionary;
mod hash;
mod shapes;
mod survey;
mod templates;

use crate::options::{Limits, Options};
use crate::v2::tree::{Token, Tree};
use crate::v2::visit::Frame;
use anchors::Anchors;
use columns::{ColumnId, Columns, ListId, Role};
use dictionary::Dictionary;
pub(crate) use shapes::ShapeId;
use shapes::Shapes;
use templates::Templates;

/// How a container is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    /// As a table, or a keyed one, with these columns.
    Table(ListId),
    /// The object that a shape is taken from.
    Defines(ShapeId),
    /// An object of a shape that was defined before.
    Uses(ShapeId),
    /// An object that agrees with the columns of its list, of which others do not.
    Tuple,
}

/// The decisions for one document, and the memory they are made in.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) columns: Columns,
    pub(crate) forms: Forms,
    pub(crate) templates: Templates,
    pub(crate) anchors: Anchors,
    pub(crate) dictionary: Dictionary,
    /// What all of it saves, in quarters of a token.
    gain: i64,
    /// The part of tables and shapes in that.
    unnamed: i64,
    /// The objects of columns that are to be spliced in, as the survey met them.
    whole: Vec<(Token, ColumnId)>,
    /// What columns merge while there are references; only memory.
    merged: Vec<(ListId, Token)>,
    /// Containers that the search for tables is in; only memory.
    open: Vec<survey::Open>,
}

/// The form of every container.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    /// By token, packed. Before a document is planned all its containers have zero, which whoever finds them sees to: to
    /// clear what keys and scalars have too took two per cent of an encoder's time.
    pub(crate) packed: Vec<u32>,
    shapes: Shapes,
}

const KIND: u32 = 7 << 29;
const TABLE: u32 = 1 << 29;
const DEFINES: u32 = 2 << 29;
const USES: u32 = 3 << 29;
const TUPLE: u32 = 4 << 29;

/// How many of anything that is found may be held while a document is planned: found in a few bytes, it would take many
/// times more. What comes behind so many is written out.
fn few(length: usize) -> usize {
    (1 << 14) + length / 128
}

impl Plan {
    /// Decides everything about the document, which is so deep.
    pub(crate) fn make(&mut self, tree: Tree<'_>, depth: usize, options: &Options, stack: &mut Vec<Frame>) {
        let limits = &options.limits;
        let merged = self.columns.merged.take().unwrap_or_else(|| std::mem::take(&mut self.merged));
        if options.references {
            self.columns.merged = Some(merged);
        } else {
            self.merged = merged;
        }
        let few = few(tree.text.len());
        self.columns.clear();
        (self.columns.few, self.forms.shapes.few) = (few, few);
        self.columns.deep_defaults = depth.saturating_add(columns::DEEPEST as usize) < limits.depth;
        (self.anchors.few, self.dictionary.few) = (few, few);
        self.forms.shapes.clear();
        self.gain = 0;
        if options.references {
            self.tables::<false>(tree, limits, stack);
            self.find_templates(tree, limits);
            self.survey(tree, limits, stack);
            if self.keep_spliced(tree) {
                self.forms.forget(tree, true);
                self.survey(tree, limits, stack);
            }
            self.keep_named();
        } else {
            self.templates.clear();
            self.tables::<true>(tree, limits, stack);
        }
        self.unnamed = self.columns.saving() + self.forms.shapes.decide(tree, limits);
        self.gain += self.unnamed;
        // What names save at the least is mostly enough to know.
        if options.references && self.gain <= 0 {
            self.gain += self.anchors.saving_in_all(tree) - self.anchors.saving();
        }
    }

    /// Is the document better written by this plan than left as it is?
    pub(crate) fn pays(&self) -> bool {
        self.gain > 0
    }

    /// Finds the columns whose splice is worth more than names for a few of their objects. Are there any?
    fn keep_spliced(&mut self, tree: Tree<'_>) -> bool {
        let Self { columns, anchors, whole, .. } = self;
        let named = || whole.iter().filter_map(|&(object, column)| Some((object, column, anchors.uses(object)?)));
        for (object, id, (uses, names)) in named() {
            let column = *columns.column(id);
            // Enough is enough: a long object takes its time.
            if column.named <= column.spliced() {
                let saved = cost::of_tuple(tree, columns, column.list, object) - anchors::NAME;
                // Where it is given, a name is worth what it saves wherever it is used, in other columns too.
                columns.column_mut(id).named += if names { i64::from(uses) * saved - anchors::NAME } else { saved };
            }
        }
        let mut any = false;
        for (_, id, _) in named() {
            let column = columns.column_mut(id);
            column.firm = column.named <= column.spliced();
            any |= column.firm;
        }
        any
    }

    /// If it does not pay with names: may it without?
    pub(crate) fn may_pay_unnamed(&self) -> bool {
        self.unnamed > 0
    }

    /// Only a tuple can have a name, or be said by one: takes its splice back from every column with such an object.
    fn keep_named(&mut self) {
        for &(object, column) in &self.whole {
            if self.anchors.of(object).is_some() {
                self.columns.column_mut(column).role = Role::Nested;
            }
        }
    }

    fn find_templates(&mut self, tree: Tree<'_>, limits: &Limits) {
        self.templates.clear();
        let Some(mut merged) = self.columns.merged.take() else { return };
        for list in 0..self.columns.lists() {
            self.columns.list_mut(list).templates = Templates::may_be_in(tree, &self.columns, list);
        }
        merged.retain(|&(list, _)| self.columns.list(list).templates);
        // Not the stable sort, which allocates: objects come in order anyway.
        merged.sort_unstable();
        for objects in merged.chunk_by(|one, other| one.0 == other.0) {
            self.templates.find(tree, &mut self.columns, objects[0].0, objects, limits);
        }
        self.columns.merged = Some(merged);
    }

    /// The columns of the container, if it is best written as a table.
    fn is_table(&mut self, tree: Tree<'_>, container: Token, limits: &Limits) -> Option<ListId> {
        let is_row = |value: &Token| tree.first(*value) == b'{' && tree.close(*value) > *value + 1;
        let mut values = tree.values(container);
        if values.by_ref().take_while(is_row).take(2).count() < 2 || !values.all(|value| is_row(&value)) {
            return None;
        }
        let mark = self.columns.mark();
        let list = self.columns.table(tree, container, limits.columns)?;
        let pays = cost::table(tree, &mut self.columns, list) > 0;
        if !pays || self.columns.measure_header(tree, list, &mark) > limits.header {
            self.columns.forget(mark);
            return None;
        }
        self.forms.packed[container as usize] = TABLE | list;
        Some(list)
    }
}

impl Forms {
    /// Before the objects of a document are met once more, or its tables are looked for once more unless those are `kept`.
    #[cold]
    pub(crate) fn forget(&mut self, tree: Tree<'_>, kept: bool) {
        self.shapes.clear();
        for token in (0..tree.len() as Token).filter(|&token| matches!(tree.first(token), b'{' | b'[')) {
            let packed = &mut self.packed[token as usize];
            if !kept || matches!(*packed & KIND, DEFINES | USES) {
                *packed = 0;
            }
        }
    }

    #[inline(always)]
    pub(crate) fn of(&self, container: Token) -> Form {
        let packed = self.packed[container as usize];
        let id = packed & !KIND;
        match packed & KIND {
            TABLE => Form::Table(id),
            DEFINES if self.shapes.pays(id) => Form::Defines(id),
            USES if self.shapes.pays(id) => Form::Uses(id),
            TUPLE => Form::Tuple,
            _ => Form::Plain,
        }
    }
}
