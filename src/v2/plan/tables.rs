//! The search for tables, from the outside in (STC.md, section 21.3, rule 1).

use super::Plan;
use super::columns::ListId;
use super::{cost, open};
use crate::options::Limits;
use crate::v2::arena::{ArenaVec, FIRST_CAPACITY};
use crate::v2::tree::{Token, Tree};

/// The most containers around a table that were tried in vain, where rows keep their keys. A container is merged with what is
/// inside it whenever one around it was, and in a tree of nodes few levels pay: with 2 such a tree takes an eighth longer, and
/// one of 140 files is shorter, by nine bytes.
const MAX_TRIED_AROUND: u32 = 1;

/// A container that is no table, while the search is inside.
#[derive(Clone, Copy, Debug)]
struct OpenContainer {
    container: Token,
    is_object: bool,
    /// The key or value that comes next, and the closing bracket.
    at: Token,
    close: Token,
    /// Whether a table is inside.
    has_table: bool,
    /// Of an object: the members so far, and how many of their values are literals.
    members: u32,
    literals: i64,
    /// The containers from the document to this one that were tried as tables.
    tried: u32,
}

impl Plan<'_> {
    /// Finds the tables that pay. With `SURVEY`, objects in none of them are added to the shapes, and so are objects that are
    /// written out inside tables.
    ///
    /// Without references tables and shapes are found in one pass. With references tables come first: which values are
    /// copies, and so not written at all, is known only once templates are.
    pub(super) fn find_tables<const SURVEY: bool>(&mut self, tree: Tree<'_>, limits: &Limits) {
        let open = |container, is_object, at, close| OpenContainer {
            container,
            is_object,
            at,
            close,
            has_table: false,
            members: 0,
            literals: 0,
            tried: 0,
        };
        // The document is read like the only element of an array.
        let mut top = open(0, false, 0, tree.len() as Token);
        let mut stack = ArenaVec::with_capacity_in(FIRST_CAPACITY, self.arena);
        loop {
            while top.at < top.close {
                let value = top.at + Token::from(top.is_object);
                top.members += 1;
                top.at = tree.after(value);
                let first = tree.first(value);
                match first {
                    b'{' | b'[' if tree.is_flat(value) => {
                        self.is_copy(tree, value, top.is_object, limits);
                    }
                    b'{' | b'[' => {
                        let may_try = !self.columns.open || top.tried <= MAX_TRIED_AROUND;
                        let tries = may_try && has_rows(tree, value);
                        if tries && let Some(list) = self.try_table(tree, value, limits) {
                            top.has_table = true;
                            if SURVEY && !self.columns.open && self.columns.list(list).writes_objects {
                                self.survey_table(tree, value, limits);
                            }
                            self.find_copies_in_table(tree, value, list, limits);
                            continue;
                        }
                        if self.is_copy(tree, value, top.is_object, limits) {
                            continue;
                        }
                        stack.push(top);
                        let tried = top.tried + u32::from(tries);
                        top = open(value, first == b'{', value + 1, tree.close(value));
                        top.tried = tried;
                    }
                    b't' | b'f' | b'n' => top.literals += 1,
                    _ => {}
                }
            }
            if SURVEY && top.is_object {
                self.saving += cost::LITERAL * top.literals - cost::written_out_cost(tree, top.container);
                if self.columns.open && open::has_quoted_key(tree, top.container) {
                    self.saving -= open::QUOTED_KEY;
                }
                if !top.has_table && !self.columns.open {
                    self.forms.add_object(tree, top.container, top.members);
                }
            }
            let Some(around) = stack.pop() else { break };
            top = OpenContainer { has_table: around.has_table | top.has_table, ..around };
        }
    }

    /// Makes the container a table, if that pays and is within the limits, and returns its list.
    fn try_table(&mut self, tree: Tree<'_>, container: Token, limits: &Limits) -> Option<ListId> {
        let before = self.columns.checkpoint();
        let list = self.columns.merge_table(tree, container, limits.columns)?;
        let decide = if self.columns.open { open::decide_table } else { cost::decide_table };
        let pays = decide(tree, &mut self.columns, list) > 0;
        if !pays || self.columns.measure_header(tree, list, &before) > limits.header {
            self.columns.roll_back(before);
            return None;
        }
        self.forms.set_table(container, list);
        Some(list)
    }
}

/// Returns whether a container has at least two values, and all of them are objects with keys.
fn has_rows(tree: Tree<'_>, container: Token) -> bool {
    let is_row = |value: &Token| tree.first(*value) == b'{' && tree.close(*value) > *value + 1;
    let mut values = tree.values(container);
    values.by_ref().take_while(is_row).take(2).count() == 2 && values.all(|value| is_row(&value))
}
