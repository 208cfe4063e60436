//! Refuses, while a document arrives, what no further bytes can make JSON.
//!
//! The [links](super::link) check a document at its end. This check reads the same tokens as they come and keeps none of them,
//! so that a stream of anything but JSON is refused in the first chunks and not after the last.
//!
//! The scanner has checked the inside of strings and numbers. What is left is the order of tokens, and a token is decided by
//! its first byte, the first byte of the next token, and what is between its end and that byte: nothing, a comma or a colon.
//!
//! ```text
//! text     {"a":1,}         {"a":1 "b"              [1,,,,,
//! tokens   { "a" 1 }        { "a" 1 "b"             [ 1
//! refused  1, before }:     1, before "b":          1, as the text ends in two commas:
//!          a comma          nothing in between      no token may follow
//! ```

use crate::error::Refused;
use crate::json::lexer::Kind;
use crate::json::nesting::{Container, Nesting};
use crate::json::tape::{is_key, may_go_on};
use crate::v2::link::is_whole_scalar;

/// The order of the tokens of a document so far.
#[derive(Debug, Default)]
pub(super) struct Structure {
    nesting: Nesting,
    /// The last token, whose end is not known yet. Its first byte has been checked.
    last: Option<u32>,
    /// Whether the last token is a key.
    at_key: bool,
}

impl Structure {
    /// Prepares for another document.
    pub(super) fn clear(&mut self) {
        self.nesting.clear();
        (self.last, self.at_key) = (None, false);
    }

    /// Checks the tokens that begin at `starts`, which follow those of the calls before, with at most `max_depth` containers
    /// open. `is_open` tells that the text ends inside a string.
    pub(super) fn check(
        &mut self,
        text: &[u8],
        starts: &[u32],
        is_open: bool,
        max_depth: usize,
    ) -> Result<(), Refused> {
        for &start in starts {
            let is_good = match self.last {
                Some(last) => self.follows(text, last as usize, start as usize, max_depth),
                None => start == 0 && begins_value(text[0]),
            };
            if !is_good {
                return Err(Refused);
            }
            self.last = Some(start);
        }
        if is_open || may_go_on(text, self.last) { Ok(()) } else { Err(Refused) }
    }

    /// Takes the token at `start`, now that the next one is known to begin at `next`. Returns whether both are good.
    #[inline(always)]
    fn follows(&mut self, text: &[u8], start: usize, next: usize, max_depth: usize) -> bool {
        let first = text[next];
        match text[start] {
            b'"' if self.at_key => {
                self.at_key = false;
                is_key(text, start, next) && begins_value(first)
            }
            bracket @ (b'{' | b'[') => {
                if next != start + 1 || self.nesting.depth() == max_depth {
                    return false;
                }
                if bracket == b'{' {
                    self.nesting.open(Container::Object);
                    self.at_key = first == b'"';
                    self.at_key || first == b'}'
                } else {
                    self.nesting.open(Container::Array);
                    first == b']' || begins_value(first)
                }
            }
            b'}' | b']' => {
                self.nesting.close();
                self.follows_value(text, start + 1, next)
            }
            _ => {
                let end = next - usize::from(!matches!(first, b'}' | b']'));
                is_whole_scalar(text, start, end) && self.follows_value(text, end, next)
            }
        }
    }

    /// Returns whether the token at `next` may follow a value that ends at `end`.
    #[inline(always)]
    fn follows_value(&mut self, text: &[u8], end: usize, next: usize) -> bool {
        let first = text[next];
        let has_comma = next == end + 1 && text[end] == b',';
        match self.nesting.innermost() {
            Some(Container::Object) if has_comma => {
                self.at_key = first == b'"';
                self.at_key
            }
            Some(Container::Array) if has_comma => begins_value(first),
            Some(Container::Object) => next == end && first == b'}',
            Some(Container::Array) => next == end && first == b']',
            None => false,
        }
    }
}

/// Returns whether a value may begin with this byte.
#[inline(always)]
fn begins_value(first: u8) -> bool {
    Kind::of(first).is_some() || matches!(first, b'{' | b'[')
}
