//! Names as the fast paths meet them: references and copies (grammar/STC.md, sections 15.2 and 19.2), and the tuples of shapes
//! (18.2), a whole token at a time.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, SLACK};
use crate::decode::machine::Machine;
use crate::decode::state::{State, V2State};
use crate::decode::v2::names::{AnchoredValue, Name};
use crate::format::{COPY_SIGIL, TUPLE_CLOSE};
use crate::json::scan::arch::Kernel;
use crate::json::span::copy;

/// The text that a reference or a copy means.
pub(crate) struct NamedText<'a> {
    /// The text of the name.
    text: &'a [u8],
    /// The range of the input that is joined to it.
    joined: (usize, usize),
    /// Where the reference or copy ends in the input.
    pub(crate) end: usize,
    /// How many levels it nests.
    pub(crate) height: usize,
}

impl NamedText<'_> {
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.text.len() + self.joined.1 - self.joined.0
    }

    #[inline(always)]
    pub(crate) fn write(&self, bytes: &[u8], pen: &mut Pen<'_, u8>) {
        pen.write(self.text);
        copy(bytes, self.joined.0, self.joined.1, pen);
    }
}

impl Machine {
    /// Returns what the `$` or `*` at the cursor means. `anchored` are the texts of anchored values.
    #[inline(always)]
    pub(crate) fn named_text<'a, K: Kernel>(
        &'a self,
        cursor: &Cursor<'_, K>,
        anchored: &'a [u8],
    ) -> Option<NamedText<'a>> {
        let (bytes, at) = (cursor.within(), cursor.at);
        let (name, end) = Name::at(bytes, at + 1)?;
        if bytes[at] == COPY_SIGIL {
            let AnchoredValue { text, height } = self.v2.anchors.find(name, 0).ok()?;
            return Some(NamedText { text: &anchored[text], joined: (end, end), end, height });
        }
        let (from, to) = self.v2.dictionary.find(name, 0).ok()?;
        let dictionary = &self.v2.dictionary_text.text;
        if bytes[end] == b'"' {
            // The closing quote is that of the joined text.
            let joined_end = cursor.text_end(end)?;
            let (text, joined) = (&dictionary[from..to - 1], (end + 1, joined_end));
            return Some(NamedText { text, joined, end: joined_end, height: 0 });
        }
        Some(NamedText { text: &dictionary[from..to], joined: (end, end), end, height: 0 })
    }

    /// Writes the key of the next value of a shape's tuple; returns false, and does nothing, if there is no room for it.
    #[inline(always)]
    pub(crate) fn write_shape_key_within(&mut self, pen: &mut Pen<'_, u8>) -> bool {
        let room = pen.left();
        self.v2.shape_key_within(room.saturating_sub(SLACK)).is_some_and(|(text, from, to)| {
            copy(text, from, to, pen);
            true
        })
    }

    /// Reads the byte after a value of a shape's tuple: the comma before a further value, or the end of the tuple.
    #[inline(always)]
    pub(crate) fn fast_after_shape_value(&mut self, byte: u8, pen: &mut Pen<'_, u8>) -> Option<State> {
        match (byte, self.v2.shape_is_full()) {
            (b',', false) => {
                pen.write(b",");
                Some(State::V2(V2State::ShapeValue))
            }
            (TUPLE_CLOSE, true) => {
                pen.write(b"}");
                self.nesting.close();
                self.v2.pop();
                Some(State::After)
            }
            _ => None,
        }
    }
}
