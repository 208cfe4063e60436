//! The rows of open lists on the fast path (grammar/STC.md, section 17.10): how they begin and end. What is in them is for the
//! [fast path over objects](super::object_fast_path).

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, SLACK};
use crate::decode::machine::Machine;
use crate::decode::state::{State, V2State};
use crate::decode::v2::columns::NONE;
use crate::decode::v2::frames::{FrameKind, ListedObject};
use crate::decode::v2::open_lists::OpenList;
use crate::format::{DENSE_COLON, LINE_FEED, OBJECT_OPEN};
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;

impl Machine {
    /// Opens a row, at its first byte.
    #[inline(always)]
    pub(super) fn begin_listed_row<K: Kernel>(
        &mut self,
        keyed: bool,
        cursor: &mut Cursor<'_, K>,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let levels = 1 + self.v2.schema.list(0).height;
        if self.nesting.depth() + levels > cursor.limits.depth || self.v2.schema.has_templates() {
            return None;
        }
        let mut at = cursor.at;
        if keyed {
            let (end, bare) = cursor.key_end(at)?;
            if end - at + SLACK > pen.left() || !cursor.bytes[end..].starts_with(&[DENSE_COLON, OBJECT_OPEN]) {
                return None;
            }
            cursor.copy_key(at, end, bare, pen);
            at = end + 1;
        } else if cursor.bytes[at] != b'{' {
            return None;
        }
        cursor.at = at + 1;
        self.push_listed(true, 0, pen);
        Some(State::Key { first: true })
    }

    /// Opens an object of an open list, after its `{`. There must be room, and the depth must be within the limit.
    #[inline(always)]
    pub(super) fn push_listed(&mut self, row: bool, list: u32, pen: &mut Pen<'_, u8>) {
        pen.write(b"{");
        let list = self.v2.schema.list(list);
        let (open_list, height) = (list.open_list, list.height);
        let OpenList { first: next, constants, .. } = *self.v2.schema.open_lists.list(open_list);
        self.nesting.open(Container::Object);
        self.nesting.reach(height);
        let object = ListedObject { row, has_key: false, open_list, next, constants, member: NONE };
        self.v2.push(self.nesting.depth(), FrameKind::ListedObject(object));
    }

    /// Ends a row, at its line feed, and the table after its last row.
    #[inline(always)]
    pub(super) fn end_listed_row<K: Kernel>(
        &mut self,
        cursor: &mut Cursor<'_, K>,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let depth = self.nesting.depth();
        let held = self.v2.schema.has_templates();
        let Some(FrameKind::Table { keyed, left }) = self.v2.at(depth) else { return None };
        if held || cursor.byte() != LINE_FEED {
            return None;
        }
        let (keyed, more) = (*keyed, *left > 1);
        *left -= 1;
        cursor.at += 1;
        // Tokens may go on to the end of the next line.
        cursor.end = cursor.token_end(cursor.at);
        if more {
            pen.write(b",");
            return Some(State::V2(V2State::Row));
        }
        pen.write(if keyed { b"}" } else { b"]" });
        self.v2.pop();
        self.nesting.close();
        Some(State::V2(V2State::AfterTable))
    }
}
