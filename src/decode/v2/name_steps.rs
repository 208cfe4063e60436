//! Names, byte by byte: definitions and references (grammar/STC.md, section 15), shapes (18), anchors and copies (19).

use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{LexemeRole, Sigil, State, Step, V2State};
use crate::decode::v2::columns::NONE;
use crate::decode::v2::context::{OpenAnchor, V2Context};
use crate::decode::v2::frames::FrameKind;
use crate::decode::v2::names::{AnchoredValue, Name};
use crate::decode::v2::shape_keys::NO_KEY;
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{COMMA, CONSTANT_SIGN, LINE_FEED, SHAPE_SIGIL, TUPLE_CLOSE, TUPLE_OPEN, is_in_name};
use crate::json::lexer::Lexeme;
use crate::json::nesting::Container;
use crate::options::Limits;

impl Machine {
    /// Reads a byte of a name, of a definition, or after an anchor (STC.md, 14.2, 15.1 and 19.1).
    pub(crate) fn step_name(
        &mut self,
        state: V2State,
        byte: u8,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        match (state, byte) {
            (V2State::Name(_), _) if is_in_name(byte) && self.v2.name.push(byte) => Ok(Step::Consumed),
            (V2State::Name(_), _) if self.v2.name.is_empty() => self.syntax_error(here),
            // A name of as many bytes as one may have goes on.
            (V2State::Name(_), _) if is_in_name(byte) => Err(Error::new(ErrorKind::Syntax(Expected::NameEnd), here)),
            (V2State::Name(sigil), _) => self.name_complete(sigil, Some(byte), here, limits, out),
            (V2State::Definition, b'"') => self.begin_lexeme(LexemeRole::Definition, byte, here),
            (V2State::DefinitionEnd, LINE_FEED) => {
                self.state = State::Value;
                Ok(Step::Consumed)
            }
            (V2State::Anchored, b'{' | b'[' | SHAPE_SIGIL) => {
                self.state = State::Value;
                Ok(Step::Reconsume)
            }
            (V2State::Anchored, TUPLE_OPEN) if self.tuple_list() != NONE => {
                self.state = State::Value;
                Ok(Step::Reconsume)
            }
            _ => self.syntax_error(here),
        }
    }

    /// Ends a name; `byte` is the one after it, none at the end of the input.
    fn name_complete(
        &mut self,
        sigil: Sigil,
        byte: Option<u8>,
        here: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        let (name, offset) = (self.v2.name, self.v2.sigil_offset);
        match (sigil, byte) {
            // A definition may only come before the document's value (STC.md, 14.3).
            (Sigil::Reference, Some(CONSTANT_SIGN)) if self.nesting.depth() == 0 && self.v2.is_idle() => {
                self.v2.definition = self.v2.dictionary.define(name, offset, limits)?;
                self.state = State::V2(V2State::Definition);
                Ok(Step::Consumed)
            }
            (Sigil::Reference, _) => self.write_reference(name, byte, here, out),
            (Sigil::Copy, _) => {
                let AnchoredValue { text, height } = self.v2.anchors.find(name, offset)?;
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
            (Sigil::Shape, Some(TUPLE_OPEN)) => {
                let shape = self.v2.shapes.find(name, offset)?;
                self.open(Container::Object, b"{", here, limits, out)?;
                let depth = self.nesting.depth();
                self.v2.push(depth, FrameKind::ShapeTuple { next: shape.head });
                self.state = State::V2(V2State::ShapeValue);
                Ok(Step::Consumed)
            }
            // A labelled object: its members are those of any object (STC.md, 18.1). A header's value defines nothing (17.3).
            (Sigil::Shape, Some(b'{')) if !self.in_header_value() => {
                let name = self.v2.shapes.define(name, offset, limits)?;
                self.open(Container::Object, b"{", here, limits, out)?;
                let depth = self.nesting.depth();
                self.v2.push(depth, FrameKind::LabelledObject { name, shape: None, width: 0 });
                self.state = State::Key { first: true };
                Ok(Step::Consumed)
            }
            _ => self.syntax_error(here),
        }
    }

    /// Ends the name that the input ends after.
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
        match self.name_complete(sigil, None, here, limits, out) {
            // A name that is not defined may have been cut (STC.md, 14.2).
            Err(error) if error.kind() == ErrorKind::Name => unfinished,
            Err(error) => Err(error),
            Ok(_) => self.value_done(here, out),
        }
    }

    /// Writes the string of a name; a quote directly after the name begins the text that is joined to it (STC.md, 15.2).
    fn write_reference(
        &mut self,
        name: Name,
        byte: Option<u8>,
        here: u64,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        let (start, end) = self.v2.dictionary.find(name, self.v2.sigil_offset)?;
        if byte == Some(b'"') {
            // The closing quote is that of the joined text.
            out.write(&self.v2.dictionary_text.text[start..end - 1], here)?;
            self.lexeme = Lexeme::text_body();
            self.state = State::Lexeme(LexemeRole::Value);
            return Ok(Step::Consumed);
        }
        out.write(&self.v2.dictionary_text.text[start..end], here)?;
        self.state = State::After;
        Ok(Step::Reconsume)
    }

    /// Ends the string of a definition; returns the state after it.
    pub(crate) fn defined(&mut self) -> State {
        let V2Context { dictionary, dictionary_text, definition, .. } = &mut self.v2;
        let end = dictionary_text.text.len();
        let start = definition.checked_sub(1).and_then(|before| dictionary.get(before)).map_or(0, |&(_, end)| end);
        dictionary.complete(*definition, (start, end));
        State::V2(V2State::DefinitionEnd)
    }

    /// Ends the anchored values that end with the value that is complete, and whose templates are filled by now (STC.md, 19.3); the
    /// byte after it is at `here`.
    pub(crate) fn value_done(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let depth = self.nesting.depth();
        while let Some(&anchor) = self.v2.open_anchors.last().filter(|anchor| anchor.depth == depth) {
            self.v2.open_anchors.pop();
            let text = out.end_anchor(anchor.start, here)?;
            self.v2.anchors.complete(anchor.name, AnchoredValue { text, height: anchor.deepest - depth });
            if let Some(outer) = self.v2.open_anchors.last_mut() {
                outer.deepest = outer.deepest.max(anchor.deepest);
            }
        }
        Ok(())
    }

    /// Writes the key of the next value of a shape's tuple.
    pub(crate) fn write_shape_key(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let key = self.v2.shape_key_within(usize::MAX);
        key.map_or(Ok(()), |(text, from, to)| out.write(&text[from..to], here))
    }

    /// Reads the byte after a value of a shape's tuple (STC.md, 18.2); `next` is the key of the value after it.
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
            TUPLE_CLOSE if next == NO_KEY => {
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
}
