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

/// What is in an object that is no table.
#[derive(Clone, Copy, Debug, Default)]
struct ObjectSurvey {
    /// The members, and how many of their values are literals.
    members: u32,
    literals: i64,
    /// Whether a table is inside.
    has_table: bool,
}

/// A container that is no table, while the search is inside.
#[derive(Clone, Copy, Debug)]
struct OpenContainer {
    container: Token,
    is_object: bool,
    /// The key or value that comes next, and the closing bracket.
    at: Token,
    close: Token,
    /// What has been seen so far.
    survey: ObjectSurvey,
    /// The containers from the document to this one that were tried as tables.
    tried: u32,
}

impl Plan<'_> {
    /// Finds the tables that pay. With `SURVEY`, also counts what objects outside of them save, and at `stc2` without references adds
    /// every object that is written out to the shapes. With references shapes come later: which values are copies, and so not
    /// written at all, is known only once templates are.
    pub(super) fn find_tables<const SURVEY: bool>(&mut self, tree: Tree<'_>, limits: &Limits) {
        let begin = |container, is_object, at, close, tried| OpenContainer {
            container,
            is_object,
            at,
            close,
            survey: ObjectSurvey::default(),
            tried,
        };
        // The document is read like the only element of an array.
        let mut top = begin(0, false, 0, tree.len() as Token, 0);
        let mut stack = ArenaVec::with_capacity_in(FIRST_CAPACITY, self.arena);
        loop {
            while top.at < top.close {
                let value = top.at + Token::from(top.is_object);
                top.survey.members += 1;
                top.at = tree.after(value);
                let first = tree.first(value);
                match first {
                    b'[' if tree.is_flat(value) => {}
                    b'{' if SURVEY && tree.is_leaf(value) => self.survey_leaf(tree, value),
                    b'{' if tree.is_leaf(value) => {}
                    b'{' | b'[' => {
                        let may_try = !self.columns.open || top.tried <= MAX_TRIED_AROUND;
                        let tries = may_try && has_rows(tree, value);
                        if tries && let Some(list) = self.try_table(tree, value, limits) {
                            top.survey.has_table = true;
                            if SURVEY && !self.columns.open && self.columns.list(list).writes_objects {
                                self.survey_table(tree, value, limits);
                            }
                            continue;
                        }
                        stack.push(top);
                        let tried = top.tried + u32::from(tries);
                        top = begin(value, first == b'{', value + 1, tree.close(value), tried);
                    }
                    b't' | b'f' | b'n' => top.survey.literals += 1,
                    _ => {}
                }
            }
            let Some(around) = stack.pop() else { break };
            if SURVEY && top.is_object {
                self.survey_object(tree, top.container, top.survey);
            }
            let has_table = top.survey.has_table;
            top = around;
            top.survey.has_table |= has_table;
        }
    }

    /// Adds an object that is in no table.
    #[inline(always)]
    fn survey_object(&mut self, tree: Tree<'_>, object: Token, survey: ObjectSurvey) {
        self.saving += cost::LITERAL * survey.literals - cost::written_out_cost(tree, object);
        if !self.columns.open && !survey.has_table {
            self.forms.add_object(tree, object, survey.members);
        }
    }

    /// Adds an object that is in no table and has only scalars inside: the links have its literals.
    #[inline(always)]
    fn survey_leaf(&mut self, tree: Tree<'_>, object: Token) {
        let (members, literals) = ((tree.close(object) - object) / 2, i64::from(tree.leaf_literals(object)));
        self.survey_object(tree, object, ObjectSurvey { members, literals, has_table: false });
    }

    /// Makes the container a table, if that pays and is within the limits, and returns its list.
    fn try_table(&mut self, tree: Tree<'_>, container: Token, limits: &Limits) -> Option<ListId> {
        let found = self.try_rows(tree, container, limits);
        if found.is_some() || self.columns.open || !self.columns.disagreed {
            return found;
        }
        self.columns.leaves_out_rows = true;
        let found = self.try_rows(tree, container, limits);
        self.columns.leaves_out_rows = false;
        found
    }

    /// The same for rows that all agree, or of which those that do not are left out.
    fn try_rows(&mut self, tree: Tree<'_>, container: Token, limits: &Limits) -> Option<ListId> {
        let before = self.columns.checkpoint();
        let list = self.columns.merge_table(tree, container, limits.columns)?;
        let decide = if self.columns.open { open::decide_table } else { cost::decide_table };
        let mut saving = decide(tree, &mut self.columns, list);
        if self.columns.leaves_out_rows {
            let left_out = tree.child_count(container) - self.columns.list(list).objects;
            saving -= i64::from(left_out) * cost::WHOLE_ROW;
            self.columns.list_mut(list).saving = saving;
        }
        let pays = saving > 0;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_tree;

    #[test]
    fn rows_are_two_or_more_objects_with_keys_and_nothing_else() {
        for json in [r#"[{"a":1},{"a":2}]"#, r#"[{"a":{}},{"b":[]},{"c":3}]"#, r#"{"k":{"a":1},"l":{"a":2}}"#] {
            assert!(with_tree(json, |tree| has_rows(tree, 0)), "{json}");
        }
        for json in [
            "[]",
            "{}",
            "[1,2]",
            "[{},{}]",
            r#"[{"a":1}]"#,
            r#"[{"a":1},{}]"#,
            r#"[{},{"a":1}]"#,
            r#"[{"a":1},{"a":2},{}]"#,
            r#"[{"a":1},{},{"a":2}]"#,
            r#"[{"a":1},{"a":2},3]"#,
            r#"[{"a":1},{"a":2},[]]"#,
            r#"{"k":{"a":1},"l":{}}"#,
            r#"{"k":{"a":1}}"#,
        ] {
            assert!(!with_tree(json, |tree| has_rows(tree, 0)), "{json}");
        }
    }
}
