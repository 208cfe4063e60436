//! Version 2 of a document: all of it is scanned, then planned, then written.
//!
//! A table cannot be begun before its last row has been seen, so there is nothing to hand out on the way: in pieces,
//! the input is scanned as it comes and the rest is done at its end.

use crate::error::Refused;
pub(crate) mod plan;
pub(crate) mod tree;
pub(crate) mod visit;
pub(crate) mod write;

use crate::buffer::BLOCK;
use crate::buffer::Buffer;
use crate::json::diagnose::Checker;
use crate::json::scan::arch::Kernel;
use crate::json::tape::{Indexed, Tape, trimmed};
use crate::options::Options;

use plan::Plan;
use tree::{LONGEST, Links};
use visit::Frame;
use write::Names;

/// So many tokens are planned whatever they are like. A token takes twelve bytes of memory, a byte of text should take no
/// more than eight with all that is found in it, so of more tokens each must be [`SPARSE`] bytes long on average.
const MANY: usize = if FUZZING { 1 << 9 } else { 1 << 20 };
const SPARSE: usize = 4;

/// How many tokens go by between two looks at that.
const STEP: usize = if FUZZING { 1 << 5 } else { 1 << 16 };

/// The same for references, which take twice as much.
const MANY_REFERRED: usize = MANY / 2;
const SPARSE_REFERRED: usize = 2 * SPARSE;

/// A container takes more memory than the two bytes it may be, so deeper ones are not planned.
const DEEPEST: usize = if FUZZING { 1 << 10 } else { 1 << 16 };

/// A fuzzer's documents are small: what else only large ones meet, they meet sooner. (Nothing had, when `[1 2,1,1,…]` with a
/// million ones was taken for `[12,1,1,…]`; somebody read it.)
const FUZZING: bool = cfg!(fuzzing);

/// What version 2 needs besides the tape.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    pub(crate) links: Links,
    pub(crate) plan: Plan,
    pub(crate) stack: Vec<Frame>,
    pub(crate) names: [Names; 2],
    /// How many looks were taken at how long tokens are, and whether they were found too short. What is found depends on
    /// nothing but the text, wherever it was cut.
    looks: usize,
    dense: bool,
    /// Were there two scalars with nothing but whitespace between them? Only an index tells, so it is asked before it goes.
    parted: bool,
    /// What the last document was planned with, if it was.
    pub(crate) planned: Option<Options>,
}

impl Writer {
    /// Forgets what was found about the last document.
    pub(crate) fn begin(&mut self) {
        (self.looks, self.dense, self.parted, self.planned) = (0, false, false, None);
    }

    /// Looks at what has been added to the index of `text`, and gives it up if it would take too much memory to go on.
    pub(crate) fn look(&mut self, text: &[u8], index: &mut Buffer<u32>) {
        while !self.dense
            && let Some(&start) = index.get(MANY + self.looks * STEP)
        {
            self.dense = (start as usize) < SPARSE * (MANY + self.looks * STEP);
            self.looks += 1;
        }
        if self.dense {
            self.parted |= is_parted(text, index);
            index.clear();
        }
    }

    /// Writes the document with this text and index behind what `out` holds; never longer than the text.
    pub(crate) fn write<K: Kernel>(
        &mut self,
        kernel: K,
        text: &[u8],
        index: &[u32],
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        if self.dense || text.len() > LONGEST {
            let parted = self.parted || is_parted(text, index);
            return if parted { Err(Refused) } else { as_it_is(text, options, out) };
        }
        let deepest = kernel.enter(
            #[inline(always)]
            || self.links.find(kernel, text, index, options.limits.depth, &mut self.plan.forms.packed),
        )?;
        let before = out.len();
        out.expect(text.len() + BLOCK);
        if deepest > DEEPEST {
            out.extend(text);
            return Ok(());
        }
        let tree = self.links.tree(text, index);
        let mut options = referring(options, text, index);
        loop {
            self.plan.make(tree, deepest, &options, &mut self.stack);
            self.planned = Some(options);
            let good = self.plan.pays()
                && kernel.enter(
                    #[inline(always)]
                    || write::write(kernel, tree, &self.plan, &options, &mut self.stack, &mut self.names, out),
                )
                && out.len() - before < text.len();
            if good {
                return Ok(());
            }
            out.truncate(before);
            if !(options.references && self.plan.may_pay_unnamed()) {
                out.extend(text);
                return Ok(());
            }
            // With names it does not pay; without them it may.
            options = options.references(false);
            self.plan.forms.forget(tree, false);
        }
    }

    /// Encodes a whole document.
    #[inline(always)]
    pub(crate) fn whole<K: Kernel>(
        &mut self,
        kernel: K,
        json: &[u8],
        tape: &mut Tape,
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        let json = trimmed(json);
        // A document without whitespace is planned where it lies.
        let mut at = 0;
        while !self.dense {
            let indexed = tape.index_in_place(kernel, json, &mut at);
            self.look(json, &mut tape.index);
            let ended = indexed == Indexed::Ended;
            if tape.scanner.is_wrong() || ended && !tape.scanner.may_end() {
                return Err(Refused);
            }
            if ended {
                return self.write(kernel, json, &tape.index, options, out);
            }
            if indexed == Indexed::Stopped {
                break;
            }
        }
        tape.hold(&json[..at], 0);
        let mut rest = &json[at..];
        while !rest.is_empty() {
            rest = tape.take(kernel, rest);
            tape.forget_input();
            self.look(&tape.text, &mut tape.index);
            if tape.scanner.is_wrong() {
                return Err(Refused);
            }
        }
        self.end(kernel, tape, options, out)
    }

    /// Plans and writes a document that is on the tape as a whole.
    #[inline(always)]
    pub(crate) fn end<K: Kernel>(
        &mut self,
        kernel: K,
        tape: &mut Tape,
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        tape.end(kernel);
        self.look(&tape.text, &mut tape.index);
        if tape.scanner.is_wrong() || !tape.scanner.may_end() {
            return Err(Refused);
        }
        self.write(kernel, &tape.text, &tape.index, options, out)
    }
}

/// The options that a document is planned with: of very many tokens there are no references.
pub(crate) fn referring(options: &Options, text: &[u8], index: &[u32]) -> Options {
    let sparse = index.len() <= MANY_REFERRED || text.len() / index.len() >= SPARSE_REFERRED;
    options.references(options.references && sparse)
}

/// Does a scalar begin right behind another? Then there was whitespace between them, which a text without it does not show:
/// `[1 2]` is not `[12]`.
#[cold]
fn is_parted(text: &[u8], index: &[u32]) -> bool {
    let is_scalar = |&byte: &u8| !matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':');
    index.iter().any(|&start| {
        let start = start as usize;
        start > 0 && text.get(start).is_some_and(is_scalar) && is_scalar(&text[start - 1])
    })
}

/// Writes a text that cannot be planned: JSON without whitespace is version 2 too. What whitespace has parted
/// is for [`is_parted`] to say.
#[cold]
fn as_it_is(text: &[u8], options: &Options, out: &mut Buffer<u8>) -> Result<(), Refused> {
    let mut checker = Checker::new(options.limits.depth);
    checker.feed(text, 0).and_then(|()| checker.end(text.len() as u64)).map_err(|_| Refused)?;
    out.reserve(text.len());
    out.extend(text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoder;
    use crate::options::{Limits, Version};

    #[test]
    fn a_text_too_long_for_links_is_checked_and_sent_as_it_is() {
        let mut out = Buffer::default();
        assert!(as_it_is(b"[1,{}]", &Options::default(), &mut out).is_ok());
        assert_eq!(*out, *b"[1,{}]");
        assert!(as_it_is(b"[1,{]", &Options::default(), &mut out).is_err());
        assert_eq!(*out, *b"[1,{}]");
    }

    /// What the second row has belongs between two columns of the first.
    #[test]
    fn columns_that_come_between_others_are_not_numbered_for_ever() {
        let per_token = |columns: usize| {
            let keys: String = (0..columns).map(|number| format!("\"k{number}\":2,")).collect();
            let json = format!("[{{\"a\":1,\"z\":3}},{{\"a\":1,{keys}\"z\":3}}]");
            let limits = Limits::default().columns(1 << 20);
            let mut encoder = Encoder::with_options(Options::default().version(Version::V2).limits(limits));
            assert!(encoder.encode(json.as_bytes()).is_ok());
            encoder.v2.plan.columns.numbered / encoder.tape.index.len()
        };
        // As many as there may be if nobody raises the limit, and more.
        assert_eq!(per_token(4094), 93);
        assert_eq!(per_token(20_000), 256);
    }
}
