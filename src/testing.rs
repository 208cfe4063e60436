//! What the unit tests of several files need: texts of every combination, and documents as trees, columns and plans.
#![cfg(test)]

use crate::json::scan::arch::Fallback;
use crate::json::tape::{Indexed, Tape};
use crate::options::{Format, Limits, Options};
use crate::v2::link::Links;
use crate::v2::plan::columns::{ColumnMemory, Columns};
use crate::v2::plan::{Hasher, Plan, PlanMemory};
use crate::v2::tree::Tree;
use bumpalo::Bump;

/// What the encoder of version 2 plans with: the labelled format, the whole one, and the whole one without references, to which it
/// falls back.
pub(crate) const LABELLED: Options = WHOLE.format(Format::Stc2Labelled);
pub(crate) const WHOLE: Options = Options {
    format: Format::Stc2,
    format_is_named: true,
    references_are_off: false,
    limits: Limits::DEFAULT,
    window: None,
};
pub(crate) const NO_REFERENCES: Options = WHOLE.without_references();

/// Returns all texts of `length` of these tokens. tests/texts.rs has the same for the tests outside the crate.
pub(crate) fn texts<T: Copy>(tokens: &[T], length: u32) -> impl Iterator<Item = Vec<T>> {
    let token = |number: usize, at: u32| tokens[number / tokens.len().pow(at) % tokens.len()];
    (0..tokens.len().pow(length)).map(move |number| (0..length).map(|at| token(number, at)).collect())
}

/// Returns an array of `count` elements, each made from its number.
pub(crate) fn array(count: usize, element: impl Fn(usize) -> String) -> String {
    format!("[{}]", (0..count).map(element).collect::<Vec<_>>().join(","))
}

/// Calls `read` with the tree of a valid document.
pub(crate) fn with_tree<R>(json: &str, read: impl FnOnce(Tree<'_>) -> R) -> R {
    let (mut tape, mut links, mut at) = (Tape::default(), Links::default(), 0);
    while tape.index_in_place(Fallback, json.as_bytes(), &mut at) != Indexed::Ended {}
    links.link(Fallback, json.as_bytes(), &tape.index, 100, &mut Vec::new()).expect("JSON");
    read(links.tree(json.as_bytes(), &tape.index))
}

/// Calls `read` with the tree of a document and no columns yet, of which at most `max_found` come before the last table.
pub(crate) fn with_columns<R>(
    json: &str,
    max_found: usize,
    references: bool,
    read: impl FnOnce(Tree<'_>, &mut Columns<'_>) -> R,
) -> R {
    with_tree(json, |tree| {
        let (arena, mut memory) = (Bump::new(), ColumnMemory::default());
        read(tree, &mut Columns::new(&arena, &mut memory, Hasher::default(), max_found, true, references))
    })
}

/// Calls `read` with the tree of a document and its plan.
pub(crate) fn with_plan<R>(json: &str, options: &Options, read: impl FnOnce(Tree<'_>, &Plan<'_>) -> R) -> R {
    with_tree(json, |tree| {
        let (mut memory, arena) = (PlanMemory::default(), Bump::new());
        memory.forms = vec![0; tree.len()];
        read(tree, &Plan::new(tree, 4, options, &mut memory, Hasher::default(), &arena))
    })
}
