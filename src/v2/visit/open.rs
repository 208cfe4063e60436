//! The objects of open lists: rows and objects inside them that keep their keys (STC.md, section 17.10).

use super::{Traversal, VisitFrame, VisitKind, Visitor};
use crate::format::{DENSE_COLON, OBJECT_CLOSE, OPEN_ROW_END};
use crate::v2::plan::columns::{ColumnId, ColumnRole, ListId, NONE};
use crate::v2::tree::Token;

impl<V: Visitor> Traversal<'_, '_, V> {
    /// Visits the members of the innermost object of an open list that the header does not have, up to one whose value is a
    /// container, or to the end. `due` is the column that comes next if the object has all columns.
    #[inline(always)]
    pub(super) fn open_members(&mut self, list: ListId, due: ColumnId, row: bool) {
        let VisitFrame { at, close, is_first, .. } = self.top;
        match self.open_scalar_members(list, due, at, close, !is_first) {
            Some(PausedObject { value, due, nested }) => {
                self.top.kind = VisitKind::Open { list, due, row };
                self.go_on_after(value);
                self.open(value, nested);
            }
            None => self.end(end_of(row)),
        }
    }

    /// Visits the members and the end of an object of an open list that has only scalars inside.
    #[inline(always)]
    pub(super) fn open_leaf(&mut self, object: Token, list: ListId, row: bool) {
        self.open_scalar_members(list, self.columns.list(list).head, object + 1, self.tree.close(object), false);
        self.visitor.put(end_of(row));
    }

    /// Visits members from `at` on that the header does not have, and stops after the key of one whose value is a container.
    #[inline(always)]
    fn open_scalar_members(
        &mut self,
        list: ListId,
        mut due: ColumnId,
        mut at: Token,
        close: Token,
        mut comma: bool,
    ) -> Option<PausedObject> {
        let (tree, columns) = (self.tree, self.columns);
        let regular = columns.list(list).regular;
        while at < close {
            let key = at;
            let value = key + 1;
            let (range, after) = tree.value_range(value);
            let id = if regular { due } else { columns.find(tree, list, due, tree.key_range(key)).unwrap_or(NONE) };
            if id == NONE {
                debug_assert!(false, "an object has other keys than its columns");
                self.visitor.fail();
                break;
            }
            let column = columns.column(id);
            (at, due) = (after, column.next);
            if column.role == ColumnRole::Constant {
                continue;
            }
            let (start, colon) = (tree.start(key), range.start() - 1);
            // A string too: where there are open lists, there are no references.
            if after == value + 1 {
                self.visitor.member(comma, tree.text, start, colon, range.end());
                comma = true;
                continue;
            }
            self.visitor.key(comma, tree.text, start, colon);
            self.visitor.put(&[DENSE_COLON]);
            let nested = if column.role == ColumnRole::Nested { column.nested } else { NONE };
            return Some(PausedObject { value, due, nested });
        }
        None
    }
}

/// Where the visit of an object of an open list stops: at a container, which belongs to the list `nested`. `due` is the column
/// after it.
struct PausedObject {
    value: Token,
    due: ColumnId,
    nested: ListId,
}

/// Returns the end of a row, or of an object inside one.
fn end_of(row: bool) -> &'static [u8] {
    if row { OPEN_ROW_END } else { &[OBJECT_CLOSE] }
}
