//! The objects of open lists: rows and objects inside them that keep their keys (STC.md, section 17.10).

use super::{Traversal, VisitFrame, VisitKind, Visitor};
use crate::format::{DENSE_COLON, OBJECT_CLOSE, OPEN_ROW_END};
use crate::v2::plan::columns::{ColumnId, ColumnRole, ListId, NONE};

impl<V: Visitor> Traversal<'_, '_, V> {
    /// Visits the members of the innermost object of an open list that the header does not have, up to one whose value is a
    /// container, or to the end. `due` is the column that comes next if the object has all columns.
    #[inline(always)]
    pub(super) fn open_members(&mut self, list: ListId, mut due: ColumnId, row: bool) {
        let VisitFrame { mut at, close, is_first, .. } = self.top;
        let (tree, columns) = (self.tree, self.columns);
        let regular = columns.list(list).regular;
        let mut comma = !is_first;
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
            self.top.kind = VisitKind::Open { list, due, row };
            self.go_on_after(value);
            return self.open(value, if column.role == ColumnRole::Nested { column.nested } else { NONE });
        }
        self.end(if row { OPEN_ROW_END } else { &[OBJECT_CLOSE] });
    }
}
