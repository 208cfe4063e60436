//! Everything outside tables: finds the tables, and meets the objects that are left to be written out.
//!
//! Without references both are one pass over the text. With them tables come first: what has been said before, and so
//! is not written at all, is known only once templates are.

use super::anchors::Anchors;
use super::columns::{ColumnId, Columns, ListId};
use super::dictionary::Dictionary;
use super::{DEFINES, Form, Forms, Plan, ShapeId, TUPLE, USES, cost};
use crate::options::Limits;
use crate::v2::tree::{Token, Tree};
use crate::v2::visit::{Frame, Page, walk};

/// A container that is no table, while what is in it is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    container: Token,
    is_object: bool,
    /// What comes next of it, and its end.
    at: Token,
    close: Token,
    /// Is there a table in it?
    table: bool,
    /// Of an object: how many members it has had, and how many values are literals.
    members: u32,
    literals: i64,
}

impl Plan {
    /// Finds the tables that pay, from the outside in, and meets the objects that stand in none of them if `SURVEY`.
    pub(super) fn tables<const SURVEY: bool>(&mut self, tree: Tree<'_>, limits: &Limits, stack: &mut Vec<Frame>) {
        let end = tree.len() as Token;
        // The document, like the one element of an array.
        let mut top = Open { container: 0, is_object: false, at: 0, close: end, table: false, members: 0, literals: 0 };
        self.open.clear();
        loop {
            while top.at < top.close {
                let value = top.at + Token::from(top.is_object);
                top.members += 1;
                top.at = tree.after(value);
                let first = tree.first(value);
                match first {
                    b'{' | b'[' if tree.is_flat(value) => {}
                    b'{' | b'[' => {
                        if let Some(list) = self.is_table(tree, value, limits) {
                            top.table = true;
                            if SURVEY && self.columns.list(list).leaves {
                                self.survey_table(tree, value, limits, stack);
                            }
                            continue;
                        }
                        self.open.push(top);
                        let (at, close) = (value + 1, tree.close(value));
                        let is_object = first == b'{';
                        top = Open { container: value, is_object, at, close, table: false, members: 0, literals: 0 };
                    }
                    b't' | b'f' | b'n' => top.literals += 1,
                    _ => {}
                }
            }
            if SURVEY && top.is_object {
                self.gain += cost::plain(tree, top.container, top.literals);
                if !top.table {
                    self.forms.meet(tree, top.container, top.members);
                }
            }
            let Some(around) = self.open.pop() else { break };
            top = Open { table: around.table | top.table, ..around };
        }
    }

    /// Meets the objects that are written out in the rows of a table.
    #[cold]
    fn survey_table(&mut self, tree: Tree<'_>, table: Token, limits: &Limits, stack: &mut Vec<Frame>) {
        let Self { columns, forms, anchors, dictionary, whole, .. } = self;
        let mut survey = Survey::<false> { forms, anchors, dictionary, whole, limits, gain: 0 };
        walk(tree, table, columns, stack, &mut survey);
        self.gain += survey.gain;
    }

    /// Meets everything that will be written, with what has been said before left out.
    pub(super) fn survey(&mut self, tree: Tree<'_>, limits: &Limits, stack: &mut Vec<Frame>) {
        let Self { columns, forms, anchors, dictionary, whole, .. } = self;
        dictionary.clear();
        whole.clear();
        anchors.begin(tree);
        let mut survey = Survey::<true> { forms, anchors, dictionary, whole, limits, gain: 0 };
        walk(tree, 0, columns, stack, &mut survey);
        self.gain = survey.gain + dictionary.decide(tree, limits) + anchors.saving() + self.templates.saving();
    }
}

impl Forms {
    /// Meets an object that is written out and has no table in it.
    fn meet(&mut self, tree: Tree<'_>, object: Token, members: u32) {
        if let Some((shape, first)) = self.shapes.meet(tree, object, members) {
            self.packed[object as usize] = if first { DEFINES | shape } else { USES | shape };
        }
    }
}

/// Sees which objects are left to be written out, now that the tables are known.
struct Survey<'a, const REFERENCES: bool> {
    forms: &'a mut Forms,
    anchors: &'a mut Anchors,
    dictionary: &'a mut Dictionary,
    whole: &'a mut Vec<(Token, ColumnId)>,
    limits: &'a Limits,
    gain: i64,
}

impl<const REFERENCES: bool> Page for Survey<'_, REFERENCES> {
    const CARES: bool = REFERENCES;
    const SHALLOW: bool = !REFERENCES;
    const SPLICES: bool = false;

    #[inline(always)]
    fn put(&mut self, _: &[u8]) {}

    #[inline(always)]
    fn copy(&mut self, _: bool, _: &[u8], _: usize, _: usize) {}

    #[inline(always)]
    fn key(&mut self, _: bool, _: &[u8], _: usize, _: usize) {}

    #[inline(always)]
    fn text(&mut self, tree: Tree<'_>, string: Token) {
        if REFERENCES {
            self.dictionary.meet(tree, string);
        }
    }

    fn template(&mut self, _: u32) {}

    #[inline(always)]
    fn form(&self, container: Token) -> Form {
        self.forms.of(container)
    }

    #[inline(always)]
    fn again(&mut self, tree: Tree<'_>, container: Token, names: bool) -> bool {
        REFERENCES && self.anchors.again(tree, container, names, self.limits)
    }

    /// Once, and whoever writes needs to look no further than at its form.
    fn fits(&mut self, tree: Tree<'_>, object: Token, columns: &Columns, list: ListId) -> bool {
        let fits = columns.fits(tree, object, list);
        if fits {
            self.forms.packed[object as usize] = TUPLE;
        }
        fits
    }

    fn name(&mut self, _: ShapeId) {}

    #[inline(always)]
    fn expands(&mut self, _: usize) {}

    #[inline(always)]
    fn whole(&mut self, object: Token, column: ColumnId) {
        if REFERENCES {
            self.whole.push((object, column));
        }
    }

    fn ended(&mut self, tree: Tree<'_>, object: Token, table: bool) {
        let (mut members, mut literals) = (0, 0);
        for value in tree.values(object) {
            members += 1;
            literals += i64::from(matches!(tree.first(value), b't' | b'f' | b'n'));
        }
        self.gain += cost::plain(tree, object, literals);
        if !table {
            self.forms.meet(tree, object, members);
        }
    }
}
