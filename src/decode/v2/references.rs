//! Names in the reading (grammar/STC.md, sections 15, 18 and 19): what they are defined as, and what they stand for;
//! first byte by byte, then as the [`sprint`](crate::decode::fast_path) meets them.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, SLACK};
use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{Role, Sigil, State, Step, V2State};
use crate::decode::v2::frames::FrameKind;
use crate::decode::v2::names::{Anchored, NO_KEY, Name};
use crate::decode::v2::state::{OpenAnchor, V2Context};
use crate::error::{Error, ErrorKind, Expected};
use crate::format::COMMA;
use crate::json::lexer::Lexeme;
use crate::json::nesting::Container;
use crate::json::scan::arch::Kernel;
use crate::json::span::{copy, text_end};
use crate::options::Limits;

impl Machine {
    /// A name is complete; `byte` comes behind it, if anything does.
    pub(crate) fn named(
        &mut self,
        sigil: Sigil,
        byte: Option<u8>,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        let (name, offset) = (self.v2.name, self.v2.sigil_at);
        match (sigil, byte) {
            (Sigil::Reference, Some(b'=')) if self.nesting.depth() == 0 && self.v2.is_idle() => {
                self.v2.definition = self.v2.dictionary.define(name, offset, limits)?;
                self.state = State::V2(V2State::Definition);
                Ok(Step::Consumed)
            }
            (Sigil::Reference, _) => {
                let (_, (start, end)) = self.v2.dictionary.find(name, offset)?;
                // Between the quotes of the definition.
                let joined = byte == Some(b'"');
                let end = if joined { end - 1 } else { end };
                out.write(&self.v2.dictionary_text.text[start..end], here)?;
                if joined {
                    self.lexeme = Lexeme::text_body();
                    self.state = State::Lexeme(Role::Value);
                    return Ok(Step::Consumed);
                }
                self.state = State::After;
                Ok(Step::Reconsume)
            }
            (Sigil::Copy, _) => {
                let (_, Anchored { text, height }) = self.v2.anchors.find(name, offset)?;
                self.check_depth(height, offset, limits)?;
                self.v2.opened(self.nesting.depth() + height);
                out.copy_anchored(text, here)?;
                self.state = State::After;
                Ok(Step::Reconsume)
            }
            (Sigil::Anchor, Some(_)) => {
                let number = self.v2.anchors.define(name, offset, limits)?;
                let depth = self.nesting.depth();
                let start = out.begin_anchor();
                self.v2.open_anchors.push(OpenAnchor { name: number, depth, start, deepest: depth });
                self.state = State::V2(V2State::Anchored);
                Ok(Step::Reconsume)
            }
            (Sigil::Shape, Some(b'(')) => {
                let (_, shape) = self.v2.shapes.find(name, offset)?;
                self.open(Container::Object, b"{", here, limits, out)?;
                let depth = self.nesting.depth();
                self.v2.push(depth, FrameKind::Shape { next: shape.head });
                self.state = State::V2(V2State::ShapeValue);
                Ok(Step::Consumed)
            }
            (Sigil::Shape, Some(b'{')) if !self.in_header() => {
                let name = self.v2.shapes.define(name, offset, limits)?;
                self.open(Container::Object, b"{", here, limits, out)?;
                let depth = self.nesting.depth();
                self.v2.push(depth, FrameKind::Label { name, shape: None, width: 0 });
                self.state = State::Key { first: true };
                Ok(Step::Consumed)
            }
            _ => self.wrong(here),
        }
    }

    /// The input has ended behind a name.
    pub(crate) fn name_ended(
        &mut self,
        sigil: Sigil,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<(), Error> {
        let unfinished = Err(Error::new(ErrorKind::Truncated(Expected::Name), here));
        if self.v2.name.is_empty() {
            return unfinished;
        }
        // What is not defined may be the beginning of a name that is.
        self.named(sigil, None, here, limits, out).map(|_| ()).or(unfinished)?;
        self.value_done(here, out)
    }

    /// The string of a definition is complete.
    pub(crate) fn defined(&mut self) -> State {
        let V2Context { dictionary, dictionary_text, definition, .. } = &mut self.v2;
        let end = dictionary_text.text.len();
        let start = definition.checked_sub(1).and_then(|before| dictionary.get(before)).map_or(0, |&(_, end)| end);
        dictionary.complete(*definition, (start, end));
        State::V2(V2State::DefinitionEnd)
    }

    /// Writes the key of the shape's value that comes next.
    pub(crate) fn shape_key(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let key = self.v2.shape_key_within(usize::MAX);
        key.map_or(Ok(()), |(text, from, to)| out.write(&text[from..to], here))
    }

    /// A value is complete; the byte behind it is at `here`.
    pub(crate) fn value_done(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let depth = self.nesting.depth();
        while let Some(&anchor) = self.v2.open_anchors.last().filter(|anchor| anchor.depth == depth) {
            self.v2.open_anchors.pop();
            let text = out.end_anchor(anchor.start, here)?;
            self.v2.anchors.complete(anchor.name, Anchored { text, height: anchor.deepest - depth });
            if let Some(outer) = self.v2.open_anchors.last_mut() {
                outer.deepest = outer.deepest.max(anchor.deepest);
            }
        }
        Ok(())
    }

    pub(crate) fn after_shape_value(
        &mut self,
        next: u32,
        byte: u8,
        here: u64,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        match byte {
            COMMA if next != NO_KEY => {
                out.write(b",", here)?;
                self.state = State::V2(V2State::ShapeValue);
                Ok(Step::Consumed)
            }
            b')' if next == NO_KEY => {
                self.v2.pop();
                self.close(b'}', here, out)?;
                Ok(Step::Consumed)
            }
            _ => {
                let expected = if next == NO_KEY { Expected::TupleClose } else { Expected::Comma };
                Err(Error::new(ErrorKind::Count(expected), here))
            }
        }
    }

    /// What comes behind a value of a shape: the comma, or the end.
    #[inline(always)]
    pub(crate) fn behind_shape_value(&mut self, byte: u8, pen: &mut Pen<'_, u8>) -> Option<State> {
        match (byte, self.v2.shape_is_full()) {
            (b',', false) => {
                pen.write(b",");
                Some(State::V2(V2State::ShapeValue))
            }
            (b')', true) => {
                pen.write(b"}");
                self.nesting.close();
                self.v2.pop();
                Some(State::After)
            }
            _ => None,
        }
    }

    /// Writes the key of the shape's value that comes next, if there is room for it.
    #[inline(always)]
    pub(crate) fn shape_key_fits(&mut self, pen: &mut Pen<'_, u8>) -> bool {
        let room = pen.left();
        self.v2.shape_key_within(room.saturating_sub(SLACK)).is_some_and(|(text, from, to)| {
            copy(text, from, to, pen);
            true
        })
    }

    /// What the `$` or `*` at the cursor stands for.
    #[inline(always)]
    pub(crate) fn reference<'a, K: Kernel>(
        &'a self,
        cursor: &Cursor<'_, K>,
        anchored: &'a [u8],
    ) -> Option<Reference<'a>> {
        let (bytes, at) = (cursor.within(), cursor.at);
        let (name, end) = Name::at(bytes, at + 1)?;
        if bytes[at] == b'*' {
            let (_, Anchored { text, height }) = self.v2.anchors.find(name, 0).ok()?;
            return Some(Reference { text: &anchored[text], rest: (end, end), end, height });
        }
        let (_, (start, stop)) = self.v2.dictionary.find(name, 0).ok()?;
        let entry = &self.v2.dictionary_text.text;
        if bytes[end] == b'"' {
            // The closing quote is that of what comes behind.
            let behind = text_end(cursor.kernel, bytes, end)?;
            let (text, rest) = (&entry[start..stop - 1], (end + 1, behind));
            return (behind < bytes.len()).then_some(Reference { text, rest, end: behind, height: 0 });
        }
        Some(Reference { text: &entry[start..stop], rest: (end, end), end, height: 0 })
    }
}

/// What a name stands for.
pub(crate) struct Reference<'a> {
    text: &'a [u8],
    /// The piece of the input that comes behind it.
    rest: (usize, usize),
    /// Where it ends in the input.
    pub(crate) end: usize,
    /// How many levels it nests.
    pub(crate) height: usize,
}

impl Reference<'_> {
    pub(crate) fn len(&self) -> usize {
        self.text.len() + self.rest.1 - self.rest.0
    }

    #[inline(always)]
    pub(crate) fn write(&self, bytes: &[u8], pen: &mut Pen<'_, u8>) {
        pen.write(self.text);
        copy(bytes, self.rest.0, self.rest.1, pen);
    }
}
