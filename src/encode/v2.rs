//! Version 2 of a document: all of it is scanned, then planned, then written.
//!
//! A table cannot be begun before its last row has been seen, so there is nothing to hand out on the way: in pieces,
//! the input is scanned as it comes and the rest is done at its end.

use super::{Encoder, trimmed};
use crate::analyze::Refused;
use crate::buffer::Buffer;
use crate::check::Checker;
use crate::error::Error;
use crate::explain::{Explanation, explain};
use crate::options::{Options, Version};
use crate::plan::Plan;
use crate::scan::BLOCK;
use crate::scan::arch::Kernel;
use crate::tree::{LONGEST, Links};
use crate::walk::Frame;
use crate::write::v2::{self as write, Names};

/// What version 2 needs besides the tape.
#[derive(Debug, Default)]
pub(super) struct Second {
    links: Links,
    plan: Plan,
    stack: Vec<Frame>,
    names: [Names; 2],
}

impl Second {
    /// Writes the document with this text and index behind what `out` holds; never longer than the text.
    pub(super) fn write<K: Kernel>(
        &mut self,
        kernel: K,
        text: &[u8],
        index: &[u32],
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        if text.len() > LONGEST {
            return as_it_is(text, options, out);
        }
        kernel.enter(
            #[inline(always)]
            || self.links.find(text, index, options.limits.depth),
        )?;
        let tree = self.links.tree(text, index);
        self.plan.make(tree, options, &mut self.stack);
        let before = out.len();
        out.reserve(text.len() + BLOCK);
        let good = self.plan.pays()
            && kernel.enter(
                #[inline(always)]
                || write::write(kernel, tree, &self.plan, options, &mut self.stack, &mut self.names, out),
            )
            && out.len() - before < text.len();
        if !good {
            out.truncate(before);
            out.extend(text);
        }
        Ok(())
    }
}

/// Writes a text too long for links to reach across: JSON without whitespace is version 2 too.
#[cold]
fn as_it_is(text: &[u8], options: &Options, out: &mut Buffer<u8>) -> Result<(), Refused> {
    let mut checker = Checker::new(options.limits.depth);
    checker.feed(text, 0).and_then(|()| checker.end(text.len() as u64)).map_err(|_| Refused)?;
    out.reserve(text.len());
    out.extend(text);
    Ok(())
}

impl Encoder {
    /// A whole document.
    #[inline(always)]
    pub(super) fn second<K: Kernel>(&mut self, kernel: K, json: &[u8]) -> Result<(), Refused> {
        let Self { tape, second, options, out, .. } = self;
        let json = trimmed(json);
        // Walked where it lies, if it has no whitespace.
        let taken = tape.scanner.index(kernel, json, 0, &mut tape.index);
        let rest = &json[taken..];
        if rest.len() < BLOCK && tape.scanner.index_rest(kernel, rest, taken, &mut tape.index) {
            tape.index.push(json.len() as u32);
            if tape.scanner.is_wrong() || !tape.scanner.may_end() {
                return Err(Refused);
            }
            return second.write(kernel, json, &tape.index, options, out);
        }
        tape.hold(&json[..taken], 0);
        let mut rest = rest;
        while !rest.is_empty() {
            rest = tape.take(kernel, rest);
            tape.forget_input();
            if tape.scanner.is_wrong() {
                return Err(Refused);
            }
        }
        self.second_end(kernel)
    }

    /// The input has ended, all of it is on the tape.
    #[inline(always)]
    pub(super) fn second_end<K: Kernel>(&mut self, kernel: K) -> Result<(), Refused> {
        let Self { tape, second, options, out, .. } = self;
        tape.end(kernel);
        if tape.scanner.is_wrong() || !tape.scanner.may_end() {
            return Err(Refused);
        }
        second.write(kernel, &tape.text, &tape.index, options, out)
    }

    /// Encodes a whole document as version 2, whatever version the options name, and tells what was chosen where, and
    /// what it saved. For people who wonder: it takes several times as long as encoding, and memory that is not kept.
    pub fn explain(&mut self, json: &[u8]) -> Result<Explanation, Error> {
        let options = self.options;
        self.options.version = Version::V2;
        let encoded = self.encode(json).map(drop);
        self.options = options;
        encoded?;
        let Self { tape, second, options, out, .. } = self;
        if tape.index.is_empty() {
            // Longer than an index can be, with its whitespace: it came in pieces, and nothing of it was kept.
            return Ok(Explanation::default());
        }
        // A document without whitespace was not copied.
        let text: &[u8] = if tape.text.is_empty() { trimmed(json) } else { &tape.text };
        let tree = second.links.tree(text, &tape.index);
        Ok(explain(tree, &second.plan, options, &mut second.stack, &mut second.names, **out == *text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_too_long_for_links_is_checked_and_sent_as_it_is() {
        let mut out = Buffer::default();
        assert!(as_it_is(b"[1,{}]", &Options::default(), &mut out).is_ok());
        assert_eq!(*out, *b"[1,{}]");
        assert!(as_it_is(b"[1,{]", &Options::default(), &mut out).is_err());
        assert_eq!(*out, *b"[1,{}]");
    }
}
