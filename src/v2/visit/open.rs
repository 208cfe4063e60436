//! The objects of open lists: rows and objects inside them that keep their keys (STC.md, section 17.10).

use super::{Frame, FrameKind, Traversal, Visitor};
use crate::format::{DENSE_COLON, OPEN_ROW_END};
use crate::v2::plan::columns::{ColumnId, ListId, NONE, Role};

impl<V: Visitor> Traversal<'_, '_, V> {
    /// Visits the members of the innermost object of an open list that the header does not have, up to one whose value is a
    /// container, or to the end. `due` is the column that comes next if the object has all columns.
    #[inline(always)]
    pub(super) fn open_members(&mut self, list: ListId, mut due: ColumnId, row: bool) {
        let (tree, columns) = (self.tree, self.columns);
        let Frame { mut at, close, is_first, .. } = self.top;
        let mut comma = !is_first;
        let regular = columns.list(list).regular;
        while at < close {
            let key = at;
            let value = key + 1;
            let (range, after) = tree.value_range(value);
            let id = if regular { Some(due) } else { columns.find(tree, list, due, tree.key_range(key)) };
            let Some(column) = id.filter(|&id| id != NONE).map(|id| columns.column(id)) else {
                debug_assert!(false, "an object has other keys than its columns");
                self.visitor.fail();
                break;
            };
            (at, due) = (after, column.next);
            if column.role == Role::Constant {
                continue;
            }
            let (start, colon) = (tree.start(key), range.start() - 1);
            if after == value + 1 && !(V::VISITS_STRINGS && tree.first(value) == b'"') {
                self.visitor.member(comma, tree.text, start, colon, range.end());
                comma = true;
                continue;
            }
            self.visitor.key(comma, tree.text, start, colon);
            self.visitor.put(&[DENSE_COLON]);
            comma = true;
            if after > value + 1 {
                self.top.kind = FrameKind::Open { list, due, row };
                self.go_on_at(at);
                return self.container(value, if column.role == Role::Nested { column.nested } else { NONE });
            }
            self.visitor.string(tree, value);
        }
        self.end(if row { OPEN_ROW_END } else { b"}" });
    }
}
