//! Bare strings (grammar/STC.md, section 14.5): strings without quotes, as the value of a member, a constant or a cell.
//!
//! A word that begins like `true`, `false` or `null` may be that literal, so its letters are held back until a byte decides:
//!
//! ```text
//! state:open      the quote is written at the `o`
//! state:nullable  nothing is written up to the second `a`, then `"nulla`
//! state:null      nothing is written up to the byte after the word, then `null`
//! ```
//!
//! A word in the cell of a filled column is read in the same way, with the column's template in place of the quotes (17.11).

use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{LexemeRole, State, Step, Word};
use crate::decode::v2::context::V2Context;
use crate::decode::v2::frames::FrameKind;
use crate::decode::v2::table_steps::write_template;
use crate::error::{Error, ErrorKind, Expected};
use crate::format::continues_bare_string;
use crate::json::lexer::Sink;
use crate::json::nesting::Container;

impl Machine {
    /// Returns whether the value that begins here may be a bare string: neither the document nor an element of an array may.
    pub(crate) fn may_be_bare(&self) -> bool {
        match self.frame() {
            // The default of a filled column may not (STC.md, 17.11).
            Some(FrameKind::HeaderValue { .. }) => !self.v2.schema.last_is_filled(),
            Some(FrameKind::WholeRow) => false,
            _ => self.nesting.innermost() == Some(Container::Object),
        }
    }

    /// Begins a bare string or a literal with its first byte, which is read again as part of it. In the cell of a filled column
    /// it is a word, and goes into the template `filling`.
    pub(crate) fn begin_word(
        &mut self,
        filling: Option<u32>,
        first: u8,
        here: u64,
        out: &mut Output<'_>,
    ) -> Result<Step, Error> {
        let literal: &[u8] = match first {
            b't' => b"true",
            b'f' => b"false",
            b'n' => b"null",
            _ => b"",
        };
        self.v2.word = Word { literal, held: 0, offset: here, filling };
        if literal.is_empty() {
            self.open_word(here, out)?;
        }
        self.state = State::Bare(LexemeRole::Value);
        Ok(Step::Reconsume)
    }

    /// Reads the rest of a bare string or a literal, as far as there is input.
    pub(crate) fn bare_string_step(&mut self, bytes: &[u8], here: u64, out: &mut Output<'_>) -> Result<usize, Error> {
        let Word { literal, held, offset, .. } = self.v2.word;
        let mut read = 0;
        if !literal.is_empty() {
            read = literal[held..].iter().zip(bytes).take_while(|(want, have)| want == have).count();
            let held = held + read;
            self.v2.word.held = held;
            let Some(&next) = bytes.get(read) else { return Ok(read) };
            let decided = here + read as u64;
            if held == literal.len() && !continues_bare_string(next) {
                // A template names the column (STC.md, 17.6). The error is at the literal's first byte (20.1).
                if self.v2.open_cell_text.is_some() {
                    return Err(Error::new(ErrorKind::Syntax(Expected::StringOrNumber), offset));
                }
                out.write(literal, decided)?;
                self.lexeme_done(LexemeRole::Value, decided, out)?;
                return Ok(read);
            }
            self.open_word(decided, out)?;
            out.write(&literal[..held], decided)?;
            (self.v2.word.literal, self.v2.word.held) = (b"", 0);
        }
        let more = bytes[read..].iter().take_while(|&&byte| continues_bare_string(byte)).count();
        out.copy(&bytes[read..read + more], here + read as u64)?;
        read += more;
        if read < bytes.len() {
            let end = here + read as u64;
            self.close_word(end, out)?;
            self.lexeme_done(LexemeRole::Value, end, out)?;
        }
        Ok(read)
    }

    /// Writes what comes before a word: a quote, or the beginning of a template.
    fn open_word(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let V2Context { schema, insertions, word, .. } = &mut self.v2;
        match word.filling {
            None => out.write(b"\"", here),
            Some(filling) => write_template(schema, insertions, schema.filling(filling).before, here, out),
        }
    }

    /// Writes what comes after a word: a quote, or the end of a template.
    fn close_word(&mut self, here: u64, out: &mut Output<'_>) -> Result<(), Error> {
        let V2Context { schema, insertions, word, .. } = &mut self.v2;
        match word.filling {
            None => out.write(b"\"", here),
            Some(filling) => write_template(schema, insertions, schema.filling(filling).after, here, out),
        }
    }
}
