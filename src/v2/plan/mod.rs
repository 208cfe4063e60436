//! The plan of a document: the form of each container, decided before the first byte is written.
//!
//! Tables are found from the outside in: an array whose elements are all objects is tried as a table, an object whose values
//! are all objects as a keyed table. A table that pays, by the [cost model](cost), takes everything inside with it; inside one
//! that does not, the search goes on. Objects that are left to be written out are [surveyed](survey) for shapes and, with
//! references, for copies and common strings. STC.md, section 21.3, lists the rules.

mod anchors;
pub(crate) mod columns;
mod cost;
mod dictionary;
pub(crate) mod form;
mod hash;
mod open;
pub(crate) mod shapes;
mod survey;
mod tables;
mod templates;

use bumpalo::Bump;

use crate::options::{Format, Limits, Options};
use crate::v2::arena::ArenaVec;
use crate::v2::tree::{Token, Tree};
use anchors::{AnchorSlots, Anchors};
use columns::{ColumnId, ColumnMemory, ColumnRole, Columns};
use dictionary::{Dictionary, DictionarySlots};
use form::Forms;
pub(crate) use hash::Hasher;
use templates::Templates;

/// What a plan keeps in memory that is reused, and not in the arena: tables by token, which need no clearing, and what would
/// take twice the memory by growing in an arena.
#[derive(Debug, Default)]
pub(crate) struct PlanMemory {
    /// The [packed form](Forms) of each container.
    pub(crate) forms: Vec<u32>,
    columns: ColumnMemory,
    anchors: AnchorSlots,
    dictionary: DictionarySlots,
}

/// The decisions for one document.
pub(crate) struct Plan<'a> {
    pub(crate) columns: Columns<'a>,
    pub(crate) forms: Forms<'a>,
    pub(crate) templates: Templates<'a>,
    pub(crate) anchors: Anchors<'a>,
    pub(crate) dictionary: Dictionary<'a>,
    /// What all of it saves, in quarters of a token.
    saving: i64,
    /// What it must save at least to be used.
    margin: i64,
    /// What bare keys of objects that are written out save of that, with references.
    written_out_saving: i64,
    /// What tables and shapes save of it, or all that a plan without references would save if that is known.
    saving_without_references: i64,
    /// The objects of columns that are to be spliced, as the survey visited them.
    spliced_objects: ArenaVec<'a, (Token, ColumnId)>,
    hasher: Hasher,
    arena: &'a Bump,
}

/// Returns the most columns, shapes, anchors or strings that are held while a document of this length is planned. Each takes
/// more memory than the few bytes it may be found in. What is found after that is written out.
fn max_found(text_len: usize) -> usize {
    (1 << 14) + text_len / 128
}

impl<'a> Plan<'a> {
    /// Decides everything about a document of this depth. The form of each container in `memory` is zero.
    pub(crate) fn new(
        tree: Tree<'_>,
        depth: usize,
        options: &Options,
        memory: &'a mut PlanMemory,
        hasher: Hasher,
        arena: &'a Bump,
    ) -> Self {
        let (limits, references) = (&options.limits, options.format == Format::Stc2Refs);
        let max_found = max_found(tree.text.len());
        let container_defaults = depth.saturating_add(columns::MAX_LEVELS as usize) < limits.depth;
        let mut plan = Self {
            columns: Columns::new(arena, &mut memory.columns, hasher, max_found, container_defaults, references),
            forms: Forms::new(&mut memory.forms, arena, hasher, max_found),
            templates: Templates::new(arena),
            anchors: Anchors::new(arena, &mut memory.anchors, max_found),
            dictionary: Dictionary::new(arena, &mut memory.dictionary, hasher, max_found),
            saving: 0,
            margin: 0,
            written_out_saving: 0,
            saving_without_references: 0,
            spliced_objects: ArenaVec::new_in(arena),
            hasher,
            arena,
        };
        if references {
            plan.find_tables::<false>(tree, limits);
            plan.find_templates(tree, limits);
            plan.survey(tree, limits);
            if plan.keep_splices(tree) {
                plan.forms.clear_shapes(tree);
                plan.survey(tree, limits);
            }
            plan.undo_splices_with_anchors();
        } else {
            plan.columns.open = options.format == Format::Stc2;
            plan.find_tables::<true>(tree, limits);
        }
        plan.saving_without_references = plan.columns.saving() + plan.forms.decide_shapes(tree, limits);
        plan.saving += plan.saving_without_references;
        if plan.columns.open {
            plan.margin = open::margin(tree);
            // Where tables pay, bare strings are not needed to decide.
            if !plan.pays() {
                plan.saving += open::saving_of_bare_strings(tree, plan.margin - plan.saving);
            }
        }
        if references && !plan.depends_on_references() {
            plan.saving_without_references += plan.written_out_saving;
        }
        // A lower bound of what anchors save is mostly enough.
        if references && plan.saving <= 0 {
            plan.saving += plan.anchors.saving(tree) - plan.anchors.least_saving();
        }
        plan
    }

    /// Returns whether the document is better written by this plan than as minified JSON.
    pub(crate) fn pays(&self) -> bool {
        self.saving > self.margin
    }

    /// Returns whether a plan without references may pay if this one does not.
    pub(crate) fn may_pay_without_references(&self) -> bool {
        self.saving_without_references > 0
    }

    /// Returns whether a plan without references may have other tables or write out other objects: where there are tables or
    /// copies, or where a table was decided by what references may save.
    fn depends_on_references(&self) -> bool {
        self.columns.list_count() > 0 || self.columns.kept_for_anchors || self.anchors.has_copies()
    }

    /// Marks the columns whose splice saves more than anchors for their objects (STC.md, section 21.3, rule 6). Returns
    /// whether there are any.
    fn keep_splices(&mut self, tree: Tree<'_>) -> bool {
        let Self { columns, anchors, spliced_objects, .. } = self;
        let anchored =
            || spliced_objects.iter().filter_map(|&(object, id)| Some((object, id, anchors.copies(object)?)));
        for (object, id, (copies, has_name)) in anchored() {
            let column = *columns.column(id);
            // To compute the cost of a long object takes time, so the sum ends where it is decisive.
            if column.anchors_save <= cost::saving_of_splice(&column) {
                let saved = cost::tuple_cost(tree, columns, column.nested, object) - anchors::NAME_COST;
                // The object that has the name counts for all copies, in other columns too.
                let saved = if has_name { i64::from(copies) * saved - anchors::NAME_COST } else { saved };
                columns.column_mut(id).anchors_save += saved;
            }
        }
        let mut any = false;
        for (_, id, _) in anchored() {
            let column = columns.column_mut(id);
            column.keeps_splice = column.anchors_save <= cost::saving_of_splice(column);
            any |= column.keeps_splice;
        }
        any
    }

    /// Makes spliced columns nested ones if an object in them has a name or is a copy: only a tuple can be either.
    fn undo_splices_with_anchors(&mut self) {
        for &(object, column) in &self.spliced_objects {
            if self.anchors.of(object).is_some() {
                self.columns.column_mut(column).role = ColumnRole::Nested;
            }
        }
    }

    fn find_templates(&mut self, tree: Tree<'_>, limits: &Limits) {
        let Some(mut merged) = self.columns.merged.take() else { return };
        for list in 0..self.columns.list_count() {
            self.columns.list_mut(list).may_have_templates = Templates::may_be_in(tree, &self.columns, list);
        }
        merged.retain(|&(list, _)| self.columns.list(list).may_have_templates);
        // Objects of a list are in the order of the text, so the result is that of a stable sort, which would allocate.
        merged.sort_unstable();
        for objects in merged.chunk_by(|one, other| one.0 == other.0) {
            self.templates.find(tree, &mut self.columns, objects[0].0, objects, limits);
        }
        self.columns.merged = Some(merged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v2::link::with_tree;

    /// Returns whether the plan of a document in this format pays, and whether one without references may.
    fn pays(json: &str, format: Format) -> (bool, bool) {
        with_tree(json, |tree| {
            let mut memory = PlanMemory { forms: vec![0; tree.len()], ..PlanMemory::default() };
            let (options, arena) = (Options::default().format(format), Bump::new());
            let plan = Plan::new(tree, 4, &options, &mut memory, Hasher::default(), &arena);
            (plan.pays(), plan.may_pay_without_references())
        })
    }

    /// Returns rows: `differ` of them have a key that no row before them has, and `repeat` more have these keys again.
    fn rows(differ: usize, repeat: usize) -> String {
        let row = |number: usize| format!(r#"{{"always":"{number:09}","key_{}":"some text"}}"#, number % differ);
        let rows: Vec<String> = (0..differ + repeat).map(row).collect();
        format!("[{}]", rows.join(","))
    }

    #[test]
    fn a_second_plan_is_made_only_if_it_may_pay() {
        // Few shapes, which save less than bare keys cost; many shapes, which save more.
        for (json, expected) in [(rows(400, 40), false), (rows(400, 800), true)] {
            assert_eq!(pays(&json, Format::Stc2Dense).0, expected);
            assert_eq!(pays(&json, Format::Stc2Refs), (expected, expected));
        }
    }
}
