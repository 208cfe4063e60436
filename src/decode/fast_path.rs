//! The fast path over tokens: values, keys and brackets of both versions, and the cells and elements of version 1.
//!
//! It can be left out: it takes whole tokens, and stops before one that is unusual, wrong or not complete in the bytes at hand. The
//! machine then reads that token byte by byte, and the fast path is tried again after it. So this file knows what is common, and
//! only the machine knows what is an error. The cursor's input is clean, as [`Cursor`] says.

use crate::buffer::Pen;
use crate::decode::columnar::may_begin_table;
use crate::decode::cursor::{Cursor, LOOKAHEAD, SLACK};
use crate::decode::machine::Machine;
use crate::decode::members::{Members, Stop};
use crate::decode::output::Output;
use crate::decode::segment::control_from;
use crate::decode::spacing::Spacing;
use crate::decode::state::{State, V2State};
use crate::decode::v2::columns::NONE;
use crate::decode::v2::context::{Boundary, BoundaryKind};
use crate::decode::v2::frames::FrameKind;
use crate::decode::v2::names::Name;
use crate::format::{COLON, COMMA, COMPACT_COLON, COPY_SIGIL, DICTIONARY_SIGIL, SHAPE_SIGIL, TUPLE_OPEN};
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;

impl Machine {
    /// Reads tokens until one is not for the fast path; returns the position it came to.
    pub(crate) fn fast_tokens<K: Kernel>(&mut self, cursor: Cursor<'_, K>, out: &mut Output<'_>) -> usize {
        let mut at = cursor.at;
        if cursor.has_lookahead() {
            at = self.tokens_until(cursor, out);
        }
        let rest = &cursor.bytes[at..];
        if (1..LOOKAHEAD).contains(&rest.len()) {
            // So near the end a kernel cannot load whole spans. It can in a copy with zeros after it, where no token goes on.
            let mut tail = [0; 2 * LOOKAHEAD];
            tail[..rest.len()].copy_from_slice(rest);
            let end = control_from(rest, 0) + 1;
            let (stop, end) = (rest.len(), end.min(rest.len()));
            // The last byte of the input is the last one that a token may begin with.
            let bytes = &tail[..stop + LOOKAHEAD - 1];
            let padded = Cursor { bytes, at: 0, end, stop, base: cursor.base + at as u64, ..cursor };
            at += self.tokens_until(padded, out);
        }
        at
    }

    #[inline(never)]
    fn tokens_until<K: Kernel>(&mut self, cursor: Cursor<'_, K>, out: &mut Output<'_>) -> usize {
        // Documents of version 1 do not pay for what version 2 may have at every token: 8 % of the instructions.
        if self.v2.is_idle() && !self.v2.has_names() {
            return cursor.kernel.enter(
                #[inline(always)]
                || self.tokens::<K, false>(cursor, out),
            );
        }
        cursor.kernel.enter(
            #[inline(always)]
            || self.tokens::<K, true>(cursor, out),
        )
    }

    /// Reads token after token. `V2` if there are containers or names of version 2.
    #[inline(always)]
    fn tokens<K: Kernel, const V2: bool>(&mut self, mut cursor: Cursor<'_, K>, out: &mut Output<'_>) -> usize {
        let (mut pen, anchored) = out.pen(8 * (cursor.bytes.len() - cursor.at), cursor.offset());
        let mut state = self.state;
        let mut spacing = Spacing(usize::from(!V2));
        // Inside the boundary everything is as in version 1.
        let mut boundary = if V2 { self.v2.boundary() } else { Boundary { depth: 0, kind: BoundaryKind::Other } };
        while cursor.has_lookahead() && pen.left() >= SLACK {
            let byte = cursor.byte();
            let outside = self.nesting.depth() <= boundary.depth;
            if outside {
                if V2 && state == State::After && boundary.kind == BoundaryKind::ShapeTuple {
                    let Some(next) = self.fast_after_shape_value(byte, &mut pen) else { break };
                    cursor.at += 1;
                    boundary = self.v2.boundary();
                    state = next;
                    continue;
                }
                let listed = boundary.kind == BoundaryKind::ListedObject
                    || matches!(state, State::V2(V2State::Row | V2State::RowEnd));
                if V2
                    && listed
                    && let Some(next) = self.fast_listed(state, &mut cursor, &mut spacing, &mut pen)
                {
                    boundary = self.v2.boundary();
                    state = next;
                    continue;
                }
                if !self.may_continue(boundary.kind, state, byte) {
                    break;
                }
            }
            let label = V2 && outside && boundary.kind == BoundaryKind::LabelledObject;
            let place = Place { boundary: boundary.depth, label, skips: !V2 || !self.v2.is_inline() };
            let next = match state {
                State::Key { .. } => self.members(&mut cursor, &mut spacing, place, &mut pen),
                State::V2(V2State::ShapeValue) if V2 && byte > b' ' => {
                    self.write_shape_key_within(&mut pen).then_some(State::Value)
                }
                State::Value | State::First if V2 && matches!(byte, SHAPE_SIGIL | DICTIONARY_SIGIL | COPY_SIGIL) => {
                    self.named_value(&mut cursor, anchored, &mut pen)
                }
                State::Value | State::First => self.value(state, place, &mut cursor, &mut pen),
                State::After => self.after_value(byte, &mut cursor, &spacing, &mut pen),
                // Canonical text has a space after the colon of a header.
                State::HeaderColon if cursor.bytes[cursor.at..].starts_with(COLON) => {
                    self.column = 0;
                    cursor.at += COLON.len();
                    Some(State::Cell)
                }
                State::Element => self.elements(&mut cursor, &mut pen),
                State::Cell => self.cells(&mut cursor, &mut pen),
                _ => None,
            };
            // No token begins with whitespace, so that needs no test before the others.
            let Some(next) = next else {
                if place.skips && skip_white(state, &mut cursor) {
                    continue;
                }
                break;
            };
            if V2 && next == State::V2(V2State::ShapeValue) {
                boundary = self.v2.boundary();
            }
            state = next;
        }
        self.state = state;
        let written = pen.written();
        out.keep(written);
        cursor.at
    }

    /// Returns whether the fast path knows how to continue at the boundary, where a container of version 2 or the document is.
    #[inline(always)]
    fn may_continue(&self, kind: BoundaryKind, state: State, byte: u8) -> bool {
        match kind {
            BoundaryKind::ShapeTuple => true,
            // The machine completes the shape.
            BoundaryKind::LabelledObject => state != State::After || byte != b'}',
            BoundaryKind::ListedObject | BoundaryKind::Other if state != State::Value => false,
            BoundaryKind::ListedObject | BoundaryKind::Other => match byte {
                b'{' => self.object_list() == NONE,
                b'[' => self.cell_array().is_none(),
                SHAPE_SIGIL | COPY_SIGIL | DICTIONARY_SIGIL => true,
                _ => kind == BoundaryKind::ListedObject,
            },
        }
    }

    /// Reads a value that is given by a name, or the name of a shape and what opens its tuple.
    #[inline(always)]
    fn named_value<K: Kernel>(
        &mut self,
        cursor: &mut Cursor<'_, K>,
        anchored: &[u8],
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let (depth, limits) = (self.nesting.depth(), cursor.limits);
        if cursor.byte() == SHAPE_SIGIL {
            let (name, end) = Name::at(cursor.within(), cursor.at + 1)?;
            let shape = self.v2.shapes.find(name, 0).ok()?;
            if cursor.bytes[end] != TUPLE_OPEN || depth >= limits.depth {
                return None;
            }
            cursor.at = end + 1;
            pen.write(b"{");
            self.nesting.open(Container::Object);
            self.v2.push(depth + 1, FrameKind::ShapeTuple { next: shape.head });
            return Some(State::V2(V2State::ShapeValue));
        }
        // Outside of every container it may be a definition.
        if depth == 0 {
            return None;
        }
        let found = self.named_text(cursor, anchored)?;
        if found.len() + SLACK > pen.left() || depth + found.height > limits.depth {
            return None;
        }
        found.write(cursor.bytes, pen);
        cursor.at = found.end;
        let height = found.height;
        self.nesting.reach(height);
        Some(State::After)
    }

    /// Reads a value: what opens or closes a container, the header of a columnar value, or a scalar.
    #[inline(always)]
    fn value<K: Kernel>(
        &mut self,
        state: State,
        place: Place,
        cursor: &mut Cursor<'_, K>,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let may_open = self.nesting.depth() < cursor.limits.depth;
        match cursor.byte() {
            b'{' if may_open => {
                self.nesting.open(Container::Object);
                pen.write(b"{");
                cursor.at += 1;
                if cursor.byte() != b'}' {
                    return Some(State::Key { first: true });
                }
                self.close_container(b"}", cursor, pen)
            }
            b'[' if may_open => {
                self.nesting.open(Container::Array);
                pen.write(b"[");
                cursor.at += 1;
                Some(State::First)
            }
            b']' if state == State::First => self.close_container(b"]", cursor, pen),
            b'1'..=b'9' if state == State::First => {
                if self.may_be_table()
                    && let Some(next) = self.header(cursor)
                {
                    return Some(next);
                }
                self.scalar::<K, true>(place, cursor, pen)
            }
            _ => self.scalar::<K, false>(place, cursor, pen),
        }
    }

    /// Reads a scalar, and further ones if it is an element of an array. `MAY_COUNT` if it begins with digits directly after a
    /// bracket: alone they may be a count, as the bytes after them tell.
    #[inline(always)]
    fn scalar<K: Kernel, const MAY_COUNT: bool>(
        &mut self,
        place: Place,
        cursor: &mut Cursor<'_, K>,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let at = cursor.at;
        let in_array = self.nesting.depth() > place.boundary && self.nesting.innermost() == Some(Container::Array);
        // The machine reads a bare string here: members are read elsewhere.
        let end = match MAY_COUNT {
            true => cursor.number_end(at)?,
            false if in_array => cursor.scalar_end(at)?,
            false => cursor.member_end(at).filter(|&(_, bare)| !bare)?.0,
        };
        if end - at + SLACK > pen.left() || MAY_COUNT && may_begin_table(cursor.within(), end) {
            return None;
        }
        cursor.copy(at, end, pen);
        cursor.at = end;
        if in_array {
            cursor.further_elements(place.skips, pen);
        }
        Some(State::After)
    }

    /// Reads what comes after a value: a comma, or what closes the innermost container.
    #[inline(always)]
    fn after_value<K: Kernel>(
        &mut self,
        byte: u8,
        cursor: &mut Cursor<'_, K>,
        spacing: &Spacing,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        match (self.nesting.innermost()?, byte) {
            (Container::Object, COMMA) => {
                pen.write(b",");
                cursor.at += 1 + spacing.after_comma(cursor.bytes[cursor.at + 1]);
                Some(State::Key { first: false })
            }
            (Container::Array, COMMA) => {
                pen.write(b",");
                cursor.at += 1;
                Some(State::Value)
            }
            (Container::Object, b'}') => self.close_container(b"}", cursor, pen),
            (Container::Array, b']') => self.close_container(b"]", cursor, pen),
            _ => None,
        }
    }

    #[inline(always)]
    fn close_container<K: Kernel>(
        &mut self,
        bracket: &[u8],
        cursor: &mut Cursor<'_, K>,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        self.nesting.close();
        pen.write(bracket);
        cursor.at += 1;
        Some(State::After)
    }

    /// Reads members, from a key on: those that [`Members`] takes, in and out of objects, and others of the object as long as
    /// their values are scalars.
    #[inline(always)]
    fn members<K: Kernel>(
        &mut self,
        cursor: &mut Cursor<'_, K>,
        spacing: &mut Spacing,
        place: Place,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let mut came = None;
        loop {
            if !place.label {
                match self.plain_members(cursor, spacing, place, pen) {
                    Stop::Here => {}
                    Stop::Member => came = Some(State::Key { first: false }),
                    Stop::First => came = Some(State::Key { first: true }),
                    Stop::After => return Some(State::After),
                }
            }
            let Some(state) = self.key(cursor, spacing, place.label, pen) else { return came };
            if state != State::Value {
                return Some(state);
            }
            came = Some(State::Value);
            let at = cursor.at;
            let Some((end, bare)) = cursor.member_end(at) else { return came };
            if end + LOOKAHEAD > cursor.bytes.len() || end - at + SLACK > pen.left() {
                return came;
            }
            cursor.copy_scalar(at, end, bare, pen);
            match &cursor.bytes[end..end + 2] {
                [COMMA, next] => {
                    pen.write(b",");
                    cursor.at = end + 1 + spacing.after_comma(*next);
                    came = Some(State::Key { first: false });
                    if cursor.byte() <= b' ' && place.skips {
                        (cursor.at, cursor.end) = cursor.skip_white(cursor.at);
                    }
                }
                [b'}', _] if !place.label => {
                    pen.write(b"}");
                    cursor.at = end + 1;
                    self.nesting.close();
                    return Some(State::After);
                }
                _ => {
                    cursor.at = end;
                    return Some(State::After);
                }
            }
        }
    }

    #[inline(always)]
    fn plain_members<K: Kernel>(
        &mut self,
        cursor: &mut Cursor<'_, K>,
        spacing: &Spacing,
        place: Place,
        pen: &mut Pen<'_, u8>,
    ) -> Stop {
        let room = pen.rest();
        let most = room.len();
        let Place { boundary, skips, .. } = place;
        let nesting = &mut self.nesting;
        let mut members = Members { cursor: *cursor, room, nesting, boundary, space: spacing.0, skips };
        let stopped = members.read();
        let written = most - members.room.len();
        (cursor.at, cursor.end) = (members.cursor.at, members.cursor.end);
        pen.keep(written);
        stopped
    }

    /// Reads a key and what follows it up to its value: `key: ` or `key[3]: ` (STC.md, 8.3 and 8.5). `label` if the key becomes
    /// part of a shape.
    #[inline(always)]
    fn key<K: Kernel>(
        &mut self,
        cursor: &mut Cursor<'_, K>,
        spacing: &mut Spacing,
        label: bool,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let Cursor { bytes, at, limits, .. } = *cursor;
        let (end, bare) = cursor.key_end(at)?;
        if end - at + SLACK > pen.left() {
            return None;
        }
        let (after, state) = match bytes.get(end..end + 2)? {
            [b':', next] => (end + 1 + spacing.after_colon(*next), State::Value),
            [b'[', _] if !label => {
                let (count, after) = cursor.count(end + 1)?;
                if bytes.get(after..after + 3)? != COMPACT_COLON || self.nesting.depth() >= limits.depth {
                    return None;
                }
                self.nesting.open(Container::Array);
                self.left = count;
                self.kind = None;
                (after + 3, State::Element)
            }
            _ => return None,
        };
        if label && !self.v2.label_key(&bytes[at..end], bare, limits) {
            return None;
        }
        cursor.copy_key(at, end, bare, pen);
        if state == State::Element {
            pen.write(b"[");
        }
        cursor.at = after;
        Some(state)
    }
}

/// Skips the whitespace at the cursor; returns false if there is none, or it may not be there in this state.
#[inline(always)]
fn skip_white<K: Kernel>(state: State, cursor: &mut Cursor<'_, K>) -> bool {
    if !matches!(state, State::Value | State::First | State::Key { .. } | State::After | State::Element) {
        return false;
    }
    let from = cursor.at;
    if cursor.byte() <= b' ' {
        (cursor.at, cursor.end) = cursor.skip_white(from);
    }
    cursor.at > from
}

/// Where members are read.
#[derive(Clone, Copy)]
struct Place {
    /// The depth of the innermost container that is not as in version 1.
    boundary: usize,
    /// Whether the keys of the object become a shape.
    label: bool,
    /// Whether any whitespace may be skipped.
    skips: bool,
}
