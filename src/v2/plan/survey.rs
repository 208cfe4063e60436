//! The survey: visits what will be written, now that the tables are known, and collects what can be named.

use super::Plan;
use super::anchors::Anchors;
use super::columns::{ColumnId, Columns, ListId};
use super::cost;
use super::dictionary::Dictionary;
use super::form::{ContainerForm, Forms};
use super::shapes::ShapeId;
use crate::options::Limits;
use crate::v2::arena::ArenaVec;
use crate::v2::tree::{Token, Tree};
use crate::v2::visit::{Visitor, visit};

impl Plan<'_> {
    /// Adds the objects that are written out in the rows of a table to the shapes.
    #[cold]
    pub(super) fn survey_table(&mut self, tree: Tree<'_>, table: Token, limits: &Limits) {
        let Self { columns, forms, anchors, dictionary, spliced_objects, arena, .. } = self;
        let mut survey =
            Survey::<false> { forms, anchors, dictionary, spliced_objects, copies: None, limits, saving: 0 };
        visit(tree, table, columns, arena, &mut survey);
        self.saving += survey.saving;
    }

    /// Visits everything that will be written, copies left out, and decides on the dictionary.
    pub(super) fn survey(&mut self, tree: Tree<'_>, limits: &Limits) {
        let Self { columns, forms, anchors, dictionary, spliced_objects, copies, hasher, arena, .. } = self;
        dictionary.clear();
        spliced_objects.clear();
        copies.clear();
        let copies = columns.may_fill_inside_rows().then_some(copies);
        anchors.begin(arena, *hasher, tree);
        let mut survey = Survey::<true> { forms, anchors, dictionary, spliced_objects, copies, limits, saving: 0 };
        visit(tree, 0, columns, arena, &mut survey);
        self.written_out_saving = survey.saving;
        self.saving = survey.saving
            + dictionary.decide(tree, limits)
            + anchors.least_saving()
            + self.templates.saving()
            + self.fillings_save;
    }
}

/// A visitor that collects what can be named.
struct Survey<'a, 'p, const REFERENCES: bool> {
    forms: &'a mut Forms<'p>,
    anchors: &'a mut Anchors<'p>,
    dictionary: &'a mut Dictionary<'p>,
    spliced_objects: &'a mut ArenaVec<'p, (Token, ColumnId)>,
    /// The containers that are copies, if they are wanted.
    copies: Option<&'a mut ArenaVec<'p, Token>>,
    limits: &'a Limits,
    /// What objects that are written out save by their bare keys.
    saving: i64,
}

impl<const REFERENCES: bool> Visitor for Survey<'_, '_, REFERENCES> {
    const VISITS_STRINGS: bool = REFERENCES;
    const VISITS_OBJECTS_ONLY: bool = !REFERENCES;
    const VISITS_SPLICES: bool = false;

    #[inline(always)]
    fn put(&mut self, _: &[u8]) {}

    #[inline(always)]
    fn copy(&mut self, _: bool, _: &[u8], _: usize, _: usize) {}

    #[inline(always)]
    fn key(&mut self, _: bool, _: &[u8], _: usize, _: usize) {}

    #[inline(always)]
    fn string(&mut self, tree: Tree<'_>, string: Token, _: bool) {
        if REFERENCES {
            self.dictionary.add(tree, string);
        }
    }

    fn template(&mut self, _: u32) {}

    #[inline(always)]
    fn form(&self, container: Token) -> ContainerForm {
        self.forms.of(container)
    }

    #[inline(always)]
    fn begin_container(&mut self, tree: Tree<'_>, container: Token, may_name: bool) -> bool {
        let is_copy = REFERENCES && self.anchors.add(tree, container, may_name, self.limits);
        if let Some(copies) = &mut self.copies
            && is_copy
        {
            copies.push(container);
        }
        is_copy
    }

    /// Records the answer as the object's form, so that the object is compared with its list only here.
    fn decide_tuple(&mut self, tree: Tree<'_>, object: Token, columns: &Columns<'_>, list: ListId) -> bool {
        let agrees = columns.agrees(tree, object, list);
        if agrees {
            self.forms.set_tuple(object);
        }
        agrees
    }

    fn shape_name(&mut self, _: ShapeId) {}

    #[inline(always)]
    fn expands(&mut self, _: usize) {}

    #[inline(always)]
    fn spliced_object(&mut self, object: Token, column: ColumnId) {
        if REFERENCES {
            self.spliced_objects.push((object, column));
        }
    }

    fn end_object(&mut self, tree: Tree<'_>, object: Token, has_table: bool) {
        let (mut members, mut literals) = (0, 0);
        for value in tree.values(object) {
            members += 1;
            literals += i64::from(matches!(tree.first(value), b't' | b'f' | b'n'));
        }
        self.saving += cost::LITERAL * literals - cost::written_out_cost(tree, object);
        if !has_table {
            self.forms.add_object(tree, object, members);
        }
    }
}
