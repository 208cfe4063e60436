//! The fast path over objects of open lists (grammar/STC.md, section 17.10), a member at a time, and from object to object.
//!
//! It is a part of the [fast path over tokens](crate::decode::fast_path), which reads what is plain in such an object: members of
//! other objects, and arrays. A key is mostly no column of the list, which one bit of a filter tells; a column's key is compared
//! with that of the next column. The machine reads keys that are an error, tuples, and the rows of a table that has templates.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, LOOKAHEAD, SLACK};
use crate::decode::machine::Machine;
use crate::decode::spacing::Spacing;
use crate::decode::state::{State, V2State};
use crate::decode::v2::columns::NONE;
use crate::decode::v2::frames::{FrameKind, ListedObject};
use crate::decode::v2::open_lists::{Listed, OpenList, key_word_at};
use crate::format::{COMMA, OPEN_ROW_END};
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;
use crate::json::span::{bytes_at, copy};

impl Machine {
    /// Reads on in an object of an open list, or where a row of an open list begins or ends; none if that is not for this path.
    #[inline(always)]
    pub(crate) fn fast_listed<K: Kernel>(
        &mut self,
        state: State,
        cursor: &mut Cursor<'_, K>,
        spacing: &mut Spacing,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let depth = self.nesting.depth();
        let mut reader = match (state, self.v2.at(depth)?) {
            (State::V2(V2State::Row), &mut FrameKind::Table { keyed, .. }) => {
                return self.begin_listed_row(keyed, cursor, pen);
            }
            (State::V2(V2State::RowEnd), FrameKind::Table { .. }) => return self.end_listed_row(cursor, pen),
            (State::V2(_), _) => return None,
            (_, &mut FrameKind::ListedObject(object)) => {
                let list = *self.v2.schema.open_lists.list(object.open_list);
                ListedReader { machine: self, cursor, pen, object, list }
            }
            _ => return None,
        };
        reader.read(state, spacing)
    }
}

/// An object of an open list that is being read.
struct ListedReader<'r, 'c, 'o, K> {
    machine: &'r mut Machine,
    cursor: &'r mut Cursor<'c, K>,
    pen: &'r mut Pen<'o, u8>,
    /// The object. Its frame is not up to date while it is here.
    object: ListedObject,
    list: OpenList,
}

impl<K: Kernel> ListedReader<'_, '_, '_, K> {
    /// Reads on from a key, a value to which a list applies, a comma after a value or the `}`: for as long as it is in objects of
    /// open lists. Returns the state it came to; none if it read nothing. One function for all, so that what it calls is compiled
    /// once: it is all inlined, for each kernel, and was half of the time that the codec takes to compile.
    #[inline(always)]
    fn read(&mut self, mut state: State, spacing: &mut Spacing) -> Option<State> {
        let mut came = None;
        while self.cursor.has_lookahead() && self.pen.left() >= SLACK {
            let byte = self.cursor.byte();
            let mut is_other_object = false;
            let next = match state {
                State::Key { .. } if byte != b'}' || self.object.has_key => self.members(spacing),
                State::After if byte == COMMA => {
                    self.pen.write(b",");
                    self.cursor.at += 1;
                    self.cursor.at += spacing.after_comma(self.cursor.byte());
                    Some(State::Key { first: false })
                }
                State::After if byte == b'}' && self.next_row() => Some(State::Key { first: true }),
                State::Key { .. } | State::After if byte == b'}' => {
                    is_other_object = true;
                    self.close()
                }
                State::Value if self.object.member != NONE => {
                    is_other_object = true;
                    self.keep();
                    self.value()
                }
                _ => None,
            };
            let Some(next) = next else { break };
            (came, state) = (Some(next), next);
            if is_other_object && !self.take() {
                return came;
            }
        }
        self.keep();
        came
    }

    /// Reads members as long as their values are scalars. Returns the state it came to; none if it read nothing.
    #[inline(always)]
    fn members(&mut self, spacing: &mut Spacing) -> Option<State> {
        let mut came = None;
        while self.key(spacing).is_some() {
            came = Some(State::Value);
            if self.object.member != NONE && self.has_lists() {
                break;
            }
            let Cursor { bytes, at, .. } = *self.cursor;
            let Some((end, bare)) = self.cursor.member_end(at) else { break };
            if end + LOOKAHEAD > bytes.len() || end - at + SLACK > self.pen.left() {
                break;
            }
            self.cursor.copy_scalar(at, end, bare, self.pen);
            if bytes[end] != COMMA {
                self.cursor.at = end;
                return Some(State::After);
            }
            self.pen.write(b",");
            self.cursor.at = end + 1 + spacing.after_comma(bytes[end + 1]);
            came = Some(State::Key { first: false });
        }
        came
    }

    /// Takes the object that the innermost frame is of, after another one was opened or closed; returns false if it is none of an
    /// open list, or if the value that has ended has an anchor, which the machine ends.
    #[inline(always)]
    fn take(&mut self) -> bool {
        let depth = self.machine.nesting.depth();
        match self.machine.v2.at(depth).copied() {
            Some(FrameKind::ListedObject(object)) if !self.machine.v2.is_anchored(depth + 1) => {
                self.object = object;
                self.list = *self.machine.v2.schema.open_lists.list(object.open_list);
                true
            }
            _ => false,
        }
    }

    /// Closes the object, at its `}`, and opens the next if both are rows: `}`, a line feed and `{`. Returns false, and does nothing,
    /// if they are not. The two have one frame.
    #[inline(always)]
    fn next_row(&mut self) -> bool {
        let Cursor { bytes, at, stop, .. } = *self.cursor;
        let OpenList { first, constants, constants_end, .. } = self.list;
        let room = constants_end - self.object.constants + 2 * SLACK;
        if !self.object.row || !bytes[at..].starts_with(OPEN_ROW_END) || room > self.pen.left() {
            return false;
        }
        let brace = at + 2;
        if brace >= stop || bytes[brace] != b'{' {
            return false;
        }
        let held = self.machine.v2.schema.has_templates();
        match self.machine.v2.frames.around_mut().map(|frame| &mut frame.kind) {
            Some(FrameKind::Table { keyed: false, left }) if !held && *left > 1 => *left -= 1,
            _ => return false,
        }
        if self.object.constants < constants_end {
            copy(&self.machine.v2.schema.text, self.object.constants, constants_end, self.pen);
        }
        self.pen.write(b"},{");
        self.cursor.at = brace + 1;
        // Tokens may go on to the end of the next line.
        self.cursor.end = self.cursor.token_end(brace);
        self.object = ListedObject { has_key: false, next: first, constants, member: NONE, ..self.object };
        true
    }

    /// Reads a key and its colon, and writes the constants that come before the key, and the key. Returns none, with nothing read or
    /// written, if the slow path has to read the key.
    #[inline(always)]
    fn key(&mut self, spacing: &mut Spacing) -> Option<()> {
        let Cursor { bytes, at, .. } = *self.cursor;
        let left = self.pen.left();
        if !self.cursor.has_lookahead() || left < SLACK {
            return None;
        }
        let (end, bare) = self.cursor.key_end(at)?;
        let body = if bare { (at, end) } else { (at + 1, end - 1) };
        let &[b':', next] = bytes_at(bytes, end)? else { return None };
        let word = key_word_at(bytes, body.0, body.1 - body.0)?;
        let room = left.checked_sub(end - at + SLACK)?;
        let schema = &self.machine.v2.schema;
        match schema.open_lists.find(&self.list, self.object.next, word, &bytes[body.0..body.1], &schema.text) {
            Listed::Taken => return None,
            Listed::Absent => self.object.member = NONE,
            Listed::Column { column, constants_end } => {
                let from = self.object.constants;
                if from < constants_end {
                    room.checked_sub(constants_end - from + SLACK)?;
                    // The comma before the first of them has been written.
                    copy(&schema.text, from + 1, constants_end, self.pen);
                    self.pen.write(b",");
                    self.object.constants = constants_end;
                }
                (self.object.next, self.object.member) = (column + 1, column);
            }
        }
        self.object.has_key = true;
        self.cursor.copy_key(at, end, bare, self.pen);
        self.cursor.at = end + 1 + spacing.after_colon(next);
        Some(())
    }

    /// Returns whether a list of columns applies to the value of the last key.
    #[inline(always)]
    fn has_lists(&self) -> bool {
        let lists = self.machine.v2.schema.open_lists.value_lists(self.object.member);
        lists.tuples != NONE || lists.objects != NONE
    }

    /// Opens a value to which an open list applies: an object, or an array and its first object.
    #[inline(always)]
    fn value(&mut self) -> Option<State> {
        let list = self.machine.v2.schema.open_lists.value_lists(self.object.member).objects;
        let array = self.cursor.byte() == b'[';
        let brace = self.cursor.at + usize::from(array);
        if list == NONE || self.cursor.bytes[brace] != b'{' || !self.may_open(list, usize::from(array)) {
            return None;
        }
        if array {
            self.pen.write(b"[");
            self.machine.nesting.open(Container::Array);
            let depth = self.machine.nesting.depth();
            self.machine.v2.push(depth, FrameKind::ObjectArray { list });
        }
        self.cursor.at = brace + 1;
        self.machine.push_listed(false, list, self.pen);
        Some(State::Key { first: true })
    }

    /// Returns whether an object of a list may be opened here, `levels` deeper.
    #[inline(always)]
    fn may_open(&self, list: u32, levels: usize) -> bool {
        let levels = levels + 1 + self.machine.v2.schema.list(list).height;
        self.machine.nesting.depth() + levels <= self.cursor.limits.depth && self.pen.left() >= SLACK
    }

    /// Closes the object, at its `}`: writes the constants that are left. Goes on to the next element if there is one. None, and
    /// nothing is done, if there is no room.
    #[inline(always)]
    fn close(&mut self) -> Option<State> {
        let ListedObject { row, has_key, constants, .. } = self.object;
        let end = self.list.constants_end;
        if end - constants + 2 * SLACK > self.pen.left() {
            return None;
        }
        if constants < end {
            copy(&self.machine.v2.schema.text, constants + usize::from(!has_key), end, self.pen);
        }
        self.pen.write(b"}");
        self.cursor.at += 1;
        self.machine.v2.pop();
        self.machine.nesting.close();
        if row {
            return Some(State::V2(V2State::RowEnd));
        }
        if !self.cursor.has_lookahead() {
            return Some(State::After);
        }
        let depth = self.machine.nesting.depth();
        Some(match self.machine.v2.at(depth).copied() {
            // The machine ends the value of an anchor.
            Some(FrameKind::ObjectArray { list }) if !self.machine.v2.is_anchored(depth + 1) => {
                self.after_element(list)
            }
            _ => State::After,
        })
    }

    /// Reads what comes after an object in an array: a further object, or the end of the array.
    #[inline(always)]
    fn after_element(&mut self, list: u32) -> State {
        match self.cursor.bytes[self.cursor.at..] {
            [b']', ..] => {
                self.pen.write(b"]");
                self.cursor.at += 1;
                self.machine.v2.pop();
                self.machine.nesting.close();
                State::After
            }
            [COMMA, b'{', ..] if self.may_open(list, 0) => {
                self.pen.write(b",");
                self.cursor.at += 2;
                self.machine.push_listed(false, list, self.pen);
                State::Key { first: true }
            }
            _ => State::After,
        }
    }

    /// Brings the object's frame up to date.
    #[inline(always)]
    fn keep(&mut self) {
        if let Some(frame) = self.machine.v2.frames.innermost_mut() {
            frame.kind = FrameKind::ListedObject(self.object);
        }
    }
}

#[cfg(test)]
mod tests;
