//! The common cases, many at a time, in input that is clean.
//!
//! Like the encoder's sprints these can be left out: they take whole values, keys and cells in canonical spacing and
//! stop before whatever is not plainly good, or does not end in the bytes at hand. The machine then takes it byte by
//! byte. Clean input is UTF-8 without control characters, which is checked for a window at once, so that to find a
//! string's end is all there is to do about it. STC 1 as encoders write it is clean throughout.

use crate::buffer::Pen;
use crate::decode::columnar::may_head;
use crate::decode::cursor::{Cursor, LOOKAHEAD, SLACK};
use crate::decode::machine::Machine;
use crate::decode::members::{Run, Stop};
use crate::decode::output::Output;
use crate::decode::state::{State, V2State};
use crate::decode::v2::names::Name;
use crate::decode::v2::schema::NONE;
use crate::decode::v2::state::{Boundary, BoundaryKind, FrameKind};
use crate::format::LINE_FEED;
use crate::json::lexer::Kind;
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;
use crate::json::scan::{Choice, is_utf8, torn_len, with_kernel};

/// How much input is checked at once.
pub(crate) const WINDOW: usize = 32 << 10;

/// How many of these bytes, but for a torn character at their end, are clean or line feeds: all or none.
pub(crate) fn clean_len(kernel: Choice, bytes: &[u8]) -> usize {
    let whole = &bytes[..bytes.len() - torn_len(bytes)];
    let (control, high) = with_kernel!(kernel, kernel => kernel.enter(
        #[inline(always)]
        || {
            // A fold instead of a search: it has no early exit, so the compiler makes it SIMD.
            whole.iter().fold((false, false), |(control, high), &byte| {
                (control | (byte < 0x20 && byte != LINE_FEED), high | (byte > 0x7F))
            })
        },
    ));
    if control || high && !is_utf8(whole) { 0 } else { whole.len() }
}

impl Machine {
    /// Reads tokens until one is not for a fast path; returns the position it came to.
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
            let bytes = &tail[..rest.len() + LOOKAHEAD];
            let padded = Cursor { bytes, at: 0, end: rest.len(), base: cursor.base + at as u64, ..cursor };
            at += self.tokens_until(padded, out);
        }
        at
    }

    #[inline(never)]
    fn tokens_until<K: Kernel>(&mut self, cursor: Cursor<'_, K>, out: &mut Output<'_>) -> usize {
        // Documents of version 1 do not pay for what version 2 may have at every turn: 8 % of the instructions.
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
        let Cursor { bytes, limits, .. } = cursor;
        let (mut pen, anchored) = out.pen(8 * (bytes.len() - cursor.at), cursor.offset());
        let mut state = self.state;
        // Inside the boundary everything is as in version 1.
        let mut boundary = if V2 { self.v2.boundary() } else { Boundary { depth: 0, kind: BoundaryKind::Other } };
        let array = !V2 || self.cell_list() == NONE;
        let mut spacing = Spacing(usize::from(!V2));
        while cursor.has_lookahead() && pen.left() >= SLACK {
            let byte = cursor.byte();
            let depth = self.nesting.depth();
            if depth <= boundary.depth {
                let known = match boundary.kind {
                    BoundaryKind::Shape => true,
                    // The machine completes the shape.
                    BoundaryKind::Label => state != State::After || byte != b'}',
                    BoundaryKind::Other => {
                        state == State::Value && (matches!(byte, b'{' | b'@' | b'*' | b'$') || byte == b'[' && array)
                    }
                };
                if !known {
                    break;
                }
                if V2 && state == State::After && boundary.kind == BoundaryKind::Shape {
                    let Some(next) = self.behind_shape_value(byte, &mut pen) else { break };
                    cursor.at += 1;
                    boundary = self.v2.boundary();
                    state = next;
                    continue;
                }
            }
            state = match (state, byte) {
                (State::Key { .. }, _) => {
                    let label = V2 && depth == boundary.depth && boundary.kind == BoundaryKind::Label;
                    let place = Place { boundary: boundary.depth, label };
                    let Some(next) = self.members(&mut cursor, &mut spacing, place, &mut pen) else { break };
                    next
                }
                (State::V2(V2State::ShapeValue), _) if V2 => {
                    if !self.shape_key_fits(&mut pen) {
                        break;
                    }
                    State::Value
                }
                (State::Value | State::First, b'@') if V2 && depth < limits.depth => {
                    let Some((name, end)) = Name::at(cursor.unpadded(), cursor.at + 1) else { break };
                    let Ok((_, shape)) = self.v2.shapes.find(name, 0) else { break };
                    if bytes[end] != b'(' {
                        break;
                    }
                    cursor.at = end + 1;
                    pen.write(b"{");
                    self.nesting.open(Container::Object);
                    self.v2.push(depth + 1, FrameKind::Shape { next: shape.head });
                    boundary = self.v2.boundary();
                    State::V2(V2State::ShapeValue)
                }
                // At the top it may be a definition.
                (State::Value | State::First, b'$' | b'*') if V2 && depth > 0 => {
                    let Some(found) = self.reference(&cursor, anchored) else { break };
                    if found.len() + SLACK > pen.left() || depth + found.height > limits.depth {
                        break;
                    }
                    found.write(bytes, &mut pen);
                    cursor.at = found.end;
                    self.nesting.reach(found.height);
                    State::After
                }
                (State::Value | State::First, b'{') if self.nesting.depth() < limits.depth => {
                    self.nesting.open(Container::Object);
                    pen.write(b"{");
                    cursor.at += 1;
                    if cursor.byte() == b'}' {
                        self.nesting.close();
                        pen.write(b"}");
                        cursor.at += 1;
                        State::After
                    } else {
                        State::Key { first: true }
                    }
                }
                (State::Value | State::First, b'[') if self.nesting.depth() < limits.depth => {
                    self.nesting.open(Container::Array);
                    pen.write(b"[");
                    cursor.at += 1;
                    State::First
                }
                (State::First, b']') => {
                    self.nesting.close();
                    pen.write(b"]");
                    cursor.at += 1;
                    State::After
                }
                (State::First, b'1'..=b'9') if self.may_be_table() && self.header(&mut cursor) => State::Cell,
                (State::Value | State::First, _) => {
                    let at = cursor.at;
                    let Some(end) = Kind::of(byte).and_then(|kind| cursor.lexeme_end(at, kind)) else { break };
                    // Digits alone, right after a bracket, may be a count: if what they count comes behind.
                    let may_be_count =
                        state == State::First && byte.is_ascii_digit() && may_head(cursor.unpadded(), end);
                    if end >= cursor.end || end - at + SLACK > pen.left() || may_be_count {
                        break;
                    }
                    cursor.copy(at, end, &mut pen);
                    cursor.at = end;
                    if depth > boundary.depth && self.nesting.innermost() == Some(Container::Array) {
                        elements(&mut cursor, &mut pen);
                    }
                    State::After
                }
                (State::After, b',') => match self.nesting.innermost() {
                    Some(Container::Object) => {
                        pen.write(b",");
                        cursor.at += 1 + spacing.before(bytes[cursor.at + 1]);
                        State::Key { first: false }
                    }
                    Some(Container::Array) => {
                        pen.write(b",");
                        cursor.at += 1;
                        State::Value
                    }
                    None => break,
                },
                (State::After, b'}') if self.nesting.innermost() == Some(Container::Object) => {
                    self.nesting.close();
                    pen.write(b"}");
                    cursor.at += 1;
                    State::After
                }
                (State::After, b']') if self.nesting.innermost() == Some(Container::Array) => {
                    self.nesting.close();
                    pen.write(b"]");
                    cursor.at += 1;
                    State::After
                }
                (State::Element, _) => {
                    let came = cursor.at;
                    let next = self.elements(&mut cursor, &mut pen);
                    if cursor.at == came {
                        break;
                    }
                    next
                }
                (State::Cell, _) => {
                    let came = cursor.at;
                    let next = self.cells(&mut cursor, &mut pen);
                    if cursor.at == came {
                        break;
                    }
                    next
                }
                // Canonical spacing has a space after the colon of a header.
                (State::HeaderColon, b':') if bytes[cursor.at + 1] == b' ' => {
                    self.column = 0;
                    cursor.at += 2;
                    State::Cell
                }
                _ => break,
            };
        }
        self.state = state;
        let written = pen.written();
        out.keep(written);
        cursor.at
    }

    /// Reads members, from a key on: those that the path of members takes, in and out of objects, and others of the object for
    /// as long as their values are scalars.
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
                match self.run_of_members(cursor, spacing, place.boundary, pen) {
                    Stop::Here => {}
                    Stop::Member => came = Some(State::Key { first: false }),
                    Stop::First => came = Some(State::Key { first: true }),
                    Stop::Behind => return Some(State::After),
                }
            }
            let Some(state) = self.key(cursor, spacing, place.label, pen) else { return came };
            if state != State::Value {
                return Some(state);
            }
            came = Some(State::Value);
            let at = cursor.at;
            let Some(end) = cursor.scalar_end(at) else { return came };
            if end >= cursor.end || end + LOOKAHEAD > cursor.bytes.len() || end - at + SLACK > pen.left() {
                return came;
            }
            // With the comma or the brace after it.
            match &cursor.bytes[end..end + 2] {
                [b',', next] => {
                    cursor.copy(at, end + 1, pen);
                    cursor.at = end + 1 + spacing.before(*next);
                    came = Some(State::Key { first: false });
                }
                [b'}', _] if !place.label => {
                    cursor.copy(at, end + 1, pen);
                    cursor.at = end + 1;
                    self.nesting.close();
                    return Some(State::After);
                }
                _ => {
                    cursor.copy(at, end, pen);
                    cursor.at = end;
                    return Some(State::After);
                }
            }
        }
    }

    #[inline(always)]
    fn run_of_members<K: Kernel>(
        &mut self,
        cursor: &mut Cursor<'_, K>,
        spacing: &Spacing,
        boundary: usize,
        pen: &mut Pen<'_, u8>,
    ) -> Stop {
        let room = pen.rest();
        let most = room.len();
        let mut run = Run { cursor: *cursor, room, nesting: &mut self.nesting, boundary, space: spacing.0 };
        let stopped = run.go();
        let written = most - run.room.len();
        cursor.at = run.cursor.at;
        pen.keep(written);
        stopped
    }

    /// Reads a key and what follows it up to its value: `key: ` or `key[3]: `. `label` if the key becomes part of a shape.
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
            [b':', next] => (end + 1 + spacing.before(*next), State::Value),
            [b'[', _] if !label => {
                let (count, after) = cursor.count(end + 1)?;
                if bytes.get(after..after + 3)? != b"]: " || self.nesting.depth() >= limits.depth {
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

/// Where members are read.
#[derive(Clone, Copy)]
struct Place {
    /// The depth of the innermost container that is not as in version 1.
    boundary: usize,
    /// Whether the keys of the object become a shape.
    label: bool,
}

/// How many spaces there are behind a colon, and a comma between members: one in version 1, none in version 2. It is
/// remembered, so that the next place to look at does not wait for a byte to be loaded, and learnt where it is wrong.
struct Spacing(usize);

impl Spacing {
    #[inline(always)]
    fn before(&mut self, next: u8) -> usize {
        if (next == b' ') != (self.0 == 1) {
            self.change();
        }
        self.0
    }

    #[cold]
    #[inline(never)]
    fn change(&mut self) {
        self.0 = 1 - self.0;
    }
}

/// Reads further elements of an array, each with the comma before it, for as long as they are scalars.
#[inline(always)]
fn elements<K: Kernel>(cursor: &mut Cursor<'_, K>, pen: &mut Pen<'_, u8>) {
    while cursor.at + LOOKAHEAD < cursor.bytes.len() && cursor.byte() == b',' {
        let at = cursor.at;
        let scalar = cursor.scalar_end(at + 1);
        let Some(end) = scalar.filter(|&end| end < cursor.end && end - at + SLACK <= pen.left()) else { break };
        cursor.copy(at, end, pen);
        cursor.at = end;
    }
}
