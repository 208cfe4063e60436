//! The members of objects that are written out, and the values of shapes.

use super::{Traversal, VisitFrame, VisitKind, Visitor};
use crate::format::{COMMA, DENSE_COLON, OBJECT_CLOSE, OBJECT_OPEN, TUPLE_CLOSE};
use crate::v2::plan::columns::NONE;
use crate::v2::tree::Token;

impl<V: Visitor> Traversal<'_, '_, V> {
    /// Visits the members of an object, up to one whose value is a container, or to the end.
    #[inline(always)]
    pub(super) fn members(&mut self) {
        let VisitFrame { at, close, is_first, .. } = self.top;
        let comma = !is_first && !self.after_table;
        self.after_table = false;
        let (key, comma) = self.scalar_members(at, close, comma);
        if key < close {
            let value = key + 1;
            self.key(comma, key);
            // A table with an open list stands directly after its key (section 16.6).
            if !(self.columns.open && self.visitor.is_table(value)) {
                self.visitor.put(&[DENSE_COLON]);
            }
            self.go_on_after(value);
            return self.open(value, NONE);
        }
        if !self.in_header {
            self.visitor.end_object(self.tree, self.top.open, self.tables > self.top.tables);
        }
        self.end(&[OBJECT_CLOSE]);
    }

    /// Visits the members and the end of the object that has only scalars inside, if one has been opened, and of those that
    /// follow it in an array.
    #[inline(always)]
    pub(super) fn leaf_object(&mut self) {
        let Some(mut object) = self.leaf.take() else { return };
        loop {
            self.scalar_members(object + 1, self.tree.close(object), false);
            self.visitor.end_object(self.tree, object, false);
            self.visitor.put(&[OBJECT_CLOSE]);
            let VisitFrame { kind: VisitKind::Array(NONE), at, close, .. } = self.top else { return };
            if at == close || !self.is_plain_leaf(at) {
                return;
            }
            self.visitor.put(&[COMMA, OBJECT_OPEN]);
            self.go_on_after(at);
            object = at;
        }
    }

    /// Visits members from `at` on, up to one whose value is a container, or to the end. Returns the key there, and whether a
    /// comma comes before it.
    #[inline(always)]
    fn scalar_members(&mut self, mut at: Token, close: Token, mut comma: bool) -> (Token, bool) {
        let tree = self.tree;
        while at < close {
            let value = at + 1;
            if V::VISITS_OBJECTS_ONLY {
                if tree.is_container(value) {
                    break;
                }
                at += 2;
                continue;
            }
            let (range, after) = tree.value_range(value);
            if after > value + 1 {
                break;
            }
            let (start, colon) = (tree.start(at), range.start() - 1);
            if V::VISITS_STRINGS && tree.first(value) == b'"' {
                self.visitor.key(comma, tree.text, start, colon);
                self.visitor.put(&[DENSE_COLON]);
                self.visitor.string(tree, value, true);
            } else {
                self.visitor.member(comma, tree.text, start, colon, range.end());
            }
            at = after;
            comma = true;
        }
        (at, comma)
    }

    /// Visits the values of a shape's tuple, up to a container, or to the end.
    #[inline(always)]
    pub(super) fn shape_values(&mut self) {
        let VisitFrame { mut at, close, is_first, .. } = self.top;
        let mut comma = !is_first && !self.after_table;
        self.after_table = false;
        while at < close {
            let value = at + 1;
            let (range, after) = self.tree.value_range(value);
            at = after;
            if after > value + 1 {
                if comma {
                    self.visitor.put(&[COMMA]);
                }
                self.go_on_at(at);
                return self.container(value, NONE);
            }
            self.scalar(comma, value, range);
            comma = true;
        }
        self.end(&[TUPLE_CLOSE]);
    }
}
