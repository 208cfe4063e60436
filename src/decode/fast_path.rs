//! The common cases, many at a time, in input that is clean.
//!
//! Like the encoder's sprints these can be left out: they take whole values, keys and cells in canonical spacing and
//! stop before whatever is not plainly good, or does not end in the bytes at hand. The machine then takes it byte by
//! byte. Clean input is UTF-8 without control characters, which is checked for a window at once, so that to find a
//! string's end is all there is to do about it. STC 1 as encoders write it is clean throughout.

use crate::buffer::Pen;
use crate::decode::columnar::{count, may_head};
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
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::scan::{Choice, is_utf8, torn_len, with_kernel};
use crate::json::span::{copy, number_len, text_end};
use crate::options::Limits;

/// How much input is checked at once.
pub(crate) const WINDOW: usize = 32 << 10;

/// With less input than this a sprint is not worth it.
pub(crate) const SPRINT: usize = 2 * SPAN;

/// What any token may need besides its own length.
pub(crate) const SLACK: usize = 3 * SPAN;

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

/// A lexeme in the input: where it ends.
#[inline(always)]
pub(crate) fn lexeme_end<K: Kernel>(kernel: K, bytes: &[u8], at: usize, kind: Kind) -> Option<usize> {
    let literal = |word: &[u8]| bytes[at..].starts_with(word).then(|| at + word.len());
    match kind {
        Kind::Text => text_end(kernel, bytes, at),
        Kind::Number => Some(at + number_len(kernel, bytes, at)?),
        Kind::Boolean => literal(b"true").or_else(|| literal(b"false")),
        Kind::Null => literal(b"null"),
    }
}

impl Machine {
    /// Goes on from `at` in `bytes`, which stand at `offset` and are clean; returns how far it came.
    pub(crate) fn sprint<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        at: usize,
        offset: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> usize {
        let mut at = at;
        if at + SPRINT <= bytes.len() {
            at = self.dash(kernel, bytes, bytes.len(), at, offset, limits, out);
        }
        let rest = &bytes[at..];
        if (1..SPRINT).contains(&rest.len()) {
            // So near the end spans cannot be loaded whole: they can in a copy with zeros behind, where nothing goes on.
            let mut tail = [0; 2 * SPRINT];
            tail[..rest.len()].copy_from_slice(rest);
            let padded = &tail[..rest.len() + SPRINT];
            at += self.dash(kernel, padded, rest.len(), 0, offset + at as u64, limits, out);
        }
        at
    }

    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "all of it is what a sprint needs")]
    fn dash<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        end: usize,
        at: usize,
        offset: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> usize {
        // Documents of version 1 do not pay for what version 2 may have at every turn: 8 % of the instructions.
        if self.v2.is_idle() && !self.v2.has_names() {
            return kernel.enter(
                #[inline(always)]
                || self.tokens::<K, false>(kernel, bytes, end, at, offset, limits, out),
            );
        }
        kernel.enter(
            #[inline(always)]
            || self.tokens::<K, true>(kernel, bytes, end, at, offset, limits, out),
        )
    }

    /// Token after token, of those that end before `stop`. `SECOND` if there are containers or names of version 2.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "all of it is what a sprint needs")]
    fn tokens<K: Kernel, const SECOND: bool>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        stop: usize,
        mut at: usize,
        offset: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> usize {
        let (mut pen, anchored) = out.pen(8 * (bytes.len() - at), offset + at as u64);
        let mut state = self.state;
        // Inside the boundary everything is as in version 1.
        let mut boundary = if SECOND { self.v2.boundary() } else { Boundary { depth: 0, kind: BoundaryKind::Other } };
        let array = !SECOND || self.cell_list() == NONE;
        let mut spacing = Spacing(usize::from(!SECOND));
        while at + SPRINT <= bytes.len() && pen.left() >= SLACK {
            let byte = bytes[at];
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
                if SECOND && state == State::After && boundary.kind == BoundaryKind::Shape {
                    let Some(next) = self.behind_shape_value(byte, &mut pen) else { break };
                    at += 1;
                    boundary = self.v2.boundary();
                    state = next;
                    continue;
                }
            }
            state = match (state, byte) {
                (State::Key { .. }, _) => {
                    let label = SECOND && depth == boundary.depth && boundary.kind == BoundaryKind::Label;
                    let members = self.members(
                        kernel,
                        bytes,
                        stop,
                        &mut at,
                        &mut spacing,
                        boundary.depth,
                        label,
                        limits,
                        &mut pen,
                    );
                    let Some(next) = members else { break };
                    next
                }
                (State::V2(V2State::ShapeValue), _) if SECOND => {
                    if !self.shape_key_fits(&mut pen) {
                        break;
                    }
                    State::Value
                }
                (State::Value | State::First, b'@') if SECOND && depth < limits.depth => {
                    let Some((name, end)) = Name::at(&bytes[..stop], at + 1) else { break };
                    let Ok((_, shape)) = self.v2.shapes.find(name, 0) else { break };
                    if bytes[end] != b'(' {
                        break;
                    }
                    at = end + 1;
                    pen.write(b"{");
                    self.nesting.open(Container::Object);
                    self.v2.push(depth + 1, FrameKind::Shape { next: shape.head });
                    boundary = self.v2.boundary();
                    State::V2(V2State::ShapeValue)
                }
                // At the top it may be a definition.
                (State::Value | State::First, b'$' | b'*') if SECOND && depth > 0 => {
                    let Some(found) = self.reference(kernel, &bytes[..stop], at, anchored) else { break };
                    if found.len() + SLACK > pen.left() || depth + found.height > limits.depth {
                        break;
                    }
                    found.write(bytes, &mut pen);
                    at = found.end;
                    self.nesting.reach(found.height);
                    State::After
                }
                (State::Value | State::First, b'{') if self.nesting.depth() < limits.depth => {
                    self.nesting.open(Container::Object);
                    pen.write(b"{");
                    at += 1;
                    if bytes[at] == b'}' {
                        self.nesting.close();
                        pen.write(b"}");
                        at += 1;
                        State::After
                    } else {
                        State::Key { first: true }
                    }
                }
                (State::Value | State::First, b'[') if self.nesting.depth() < limits.depth => {
                    self.nesting.open(Container::Array);
                    pen.write(b"[");
                    at += 1;
                    State::First
                }
                (State::First, b']') => {
                    self.nesting.close();
                    pen.write(b"]");
                    at += 1;
                    State::After
                }
                (State::First, b'1'..=b'9')
                    if self.may_be_table() && self.header(kernel, bytes, &mut at, offset, limits) =>
                {
                    State::Cell
                }
                (State::Value | State::First, _) => {
                    let Some(end) = Kind::of(byte).and_then(|kind| lexeme_end(kernel, bytes, at, kind)) else { break };
                    // Digits alone, right after a bracket, may be a count: if what they count comes behind.
                    let may_be_count = state == State::First && byte.is_ascii_digit() && may_head(&bytes[..stop], end);
                    if end >= stop || end - at + SLACK > pen.left() || may_be_count {
                        break;
                    }
                    copy(bytes, at, end, &mut pen);
                    at = end;
                    if depth > boundary.depth && self.nesting.innermost() == Some(Container::Array) {
                        at = further(kernel, bytes, stop, at, &mut pen);
                    }
                    State::After
                }
                (State::After, b',') => match self.nesting.innermost() {
                    Some(Container::Object) => {
                        pen.write(b",");
                        at += 1 + spacing.behind(bytes[at + 1]);
                        State::Key { first: false }
                    }
                    Some(Container::Array) => {
                        pen.write(b",");
                        at += 1;
                        State::Value
                    }
                    None => break,
                },
                (State::After, b'}') if self.nesting.innermost() == Some(Container::Object) => {
                    self.nesting.close();
                    pen.write(b"}");
                    at += 1;
                    State::After
                }
                (State::After, b']') if self.nesting.innermost() == Some(Container::Array) => {
                    self.nesting.close();
                    pen.write(b"]");
                    at += 1;
                    State::After
                }
                (State::Element, _) => {
                    let came = at;
                    let next = self.elements(kernel, bytes, stop, &mut at, &mut pen);
                    if at == came {
                        break;
                    }
                    next
                }
                (State::Cell, _) => {
                    let came = at;
                    let next = self.cells(kernel, bytes, stop, &mut at, &mut pen);
                    if at == came {
                        break;
                    }
                    next
                }
                // Canonical spacing has a space after the colon of a header.
                (State::HeaderColon, b':') if bytes[at + 1] == b' ' => {
                    self.column = 0;
                    at += 2;
                    State::Cell
                }
                _ => break,
            };
        }
        self.state = state;
        let written = pen.written();
        out.keep(written);
        at
    }

    /// Members, from a key on: those that a run takes, in and out of objects, and others of the object for as long as their values
    /// are scalars. `label` if its keys become a shape.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "all of it is what a sprint needs")]
    fn members<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        stop: usize,
        at: &mut usize,
        spacing: &mut Spacing,
        floor: usize,
        label: bool,
        limits: &Limits,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let mut came = None;
        loop {
            if !label {
                match self.run_of_members(kernel, bytes, at, spacing, floor, limits, pen) {
                    Stop::Here => {}
                    Stop::Member => came = Some(State::Key { first: false }),
                    Stop::First => came = Some(State::Key { first: true }),
                    Stop::Behind => return Some(State::After),
                }
            }
            let Some(state) = self.key(kernel, bytes, at, spacing, label, limits, pen) else { return came };
            if state != State::Value {
                return Some(state);
            }
            came = Some(State::Value);
            let scalar = bytes.get(*at).and_then(|&byte| Kind::of(byte));
            let Some(end) = scalar.and_then(|kind| lexeme_end(kernel, bytes, *at, kind)) else { return came };
            if end >= stop || end + SPRINT > bytes.len() || end - *at + SLACK > pen.left() {
                return came;
            }
            // With the comma or the brace behind it.
            match &bytes[end..end + 2] {
                [b',', next] => {
                    copy(bytes, *at, end + 1, pen);
                    *at = end + 1 + spacing.behind(*next);
                    came = Some(State::Key { first: false });
                }
                [b'}', _] if !label => {
                    copy(bytes, *at, end + 1, pen);
                    *at = end + 1;
                    self.nesting.close();
                    return Some(State::After);
                }
                _ => {
                    copy(bytes, *at, end, pen);
                    *at = end;
                    return Some(State::After);
                }
            }
        }
    }

    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "all of it is what a sprint needs")]
    fn run_of_members<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        at: &mut usize,
        spacing: &Spacing,
        floor: usize,
        limits: &Limits,
        pen: &mut Pen<'_, u8>,
    ) -> Stop {
        let room = pen.rest();
        let most = room.len();
        let (nesting, depth, space) = (&mut self.nesting, limits.depth, spacing.0);
        let mut run = Run { bytes, at: *at, room, nesting, depth, floor, space };
        let stopped = run.go(kernel);
        let written = most - run.room.len();
        *at = run.at;
        pen.keep(written);
        stopped
    }

    /// A key and what comes behind it, up to its value: `key: ` or `key[3]: `.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "all of it is what a sprint needs")]
    fn key<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        at: &mut usize,
        spacing: &mut Spacing,
        label: bool,
        limits: &Limits,
        pen: &mut Pen<'_, u8>,
    ) -> Option<State> {
        let (end, bare) = key_end(kernel, bytes, *at)?;
        if end - *at + SLACK > pen.left() {
            return None;
        }
        let (behind, state) = match bytes.get(end..end + 2)? {
            [b':', next] => (end + 1 + spacing.behind(*next), State::Value),
            [b'[', _] if !label => {
                let (count, behind) = count(bytes, end + 1)?;
                if bytes.get(behind..behind + 3)? != b"]: " || self.nesting.depth() >= limits.depth {
                    return None;
                }
                self.nesting.open(Container::Array);
                self.left = count;
                self.kind = None;
                (behind + 3, State::Element)
            }
            _ => return None,
        };
        if label && !self.v2.label_key(&bytes[*at..end], bare, limits) {
            return None;
        }
        put_key(bytes, *at, end, bare, pen);
        if state == State::Element {
            pen.write(b"[");
        }
        *at = behind;
        Some(state)
    }
}

/// How many spaces there are behind a colon, and a comma between members: one in version 1, none in version 2. It is
/// remembered, so that the next place to look at does not wait for a byte to be loaded, and learnt where it is wrong.
struct Spacing(usize);

impl Spacing {
    #[inline(always)]
    fn behind(&mut self, next: u8) -> usize {
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

/// Further elements of an array, from the comma at `at` on, for as long as they are scalars; where they end.
#[inline(always)]
fn further<K: Kernel>(kernel: K, bytes: &[u8], stop: usize, mut at: usize, pen: &mut Pen<'_, u8>) -> usize {
    while at + SPRINT < bytes.len() && bytes[at] == b',' {
        let scalar = Kind::of(bytes[at + 1]).and_then(|kind| lexeme_end(kernel, bytes, at + 1, kind));
        let Some(end) = scalar.filter(|&end| end < stop && end - at + SLACK <= pen.left()) else { break };
        copy(bytes, at, end, pen);
        at = end;
    }
    at
}

/// Where the key at `at` ends, and whether it is bare.
#[inline(always)]
pub(crate) fn key_end<K: Kernel>(kernel: K, bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let body: &[u8; SPAN] = bytes.get(at..)?.first_chunk()?;
    if body[0] == b'"' {
        return Some((text_end(kernel, bytes, at)?, false));
    }
    let mut length = kernel.identifier_len(body);
    // Few keys are so long, but byte by byte they took ten times as long.
    let mut further = length;
    while further == SPAN {
        further = kernel.identifier_len(bytes.get(at + length..)?.first_chunk()?);
        length += further;
    }
    (length > 0 && !body[0].is_ascii_digit()).then_some((at + length, true))
}

/// A key of the input in quotes, with its colon.
#[inline(always)]
pub(crate) fn put_key(bytes: &[u8], from: usize, to: usize, bare: bool, pen: &mut Pen<'_, u8>) {
    if let Some(body) = bytes[from..].first_chunk::<SPAN>()
        && bare
        && to - from < SPAN
    {
        return quoted(body, to - from, pen);
    }
    let quote = if bare { &b"\""[..] } else { b"" };
    pen.write(quote);
    copy(bytes, from, to, pen);
    pen.write(quote);
    pen.write(b":");
}

/// A bare key, in quotes, with its colon.
#[inline(always)]
fn quoted(body: &[u8; SPAN], length: usize, pen: &mut Pen<'_, u8>) {
    let room = pen.chunk::<{ SPAN + SPAN }>();
    room[0] = b'"';
    room[1..1 + SPAN].copy_from_slice(body);
    room[1 + length..3 + length].copy_from_slice(b"\":");
    pen.keep(length + 3);
}
