//! Version 2 of a document: all of it is scanned, then planned, then written.
//!
//! A table cannot be begun before its last row has been seen, so there is nothing to hand out on the way: in pieces,
//! the input is scanned as it comes and the rest is done at its end.

use super::{Encoder, trimmed};
use crate::analyze::Refused;
use crate::buffer::Buffer;
use crate::options::Options;
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
    pub(super) fn write(
        &mut self,
        text: &[u8],
        index: &[u32],
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        if text.len() > LONGEST {
            return Err(Refused);
        }
        self.links.find(text, index, options.limits.depth)?;
        let tree = self.links.tree(text, index);
        self.plan.make(tree, options, &mut self.stack);
        let before = out.len();
        out.reserve(text.len() + BLOCK);
        let good = self.plan.pays()
            && write::write(tree, &self.plan, options, &mut self.stack, &mut self.names, out)
            && out.len() - before < text.len();
        if !good {
            out.truncate(before);
            out.extend(text);
        }
        Ok(())
    }
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
            return second.write(json, &tape.index, options, out);
        }
        tape.hold(&json[..taken], 0);
        let mut rest = rest;
        while !rest.is_empty() {
            rest = tape.take(kernel, rest);
            tape.forget_input();
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
        second.write(&tape.text, &tape.index, options, out)
    }
}
