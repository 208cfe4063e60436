//! Writing version 2: the whole document is scanned, then linked, then planned, then written.
//!
//! A table cannot begin before its last row has been read, so a streaming caller gets nothing before the end: chunks are
//! scanned as they arrive, with a check of the order of tokens, and everything else happens at the end of the document.

pub(crate) mod arena;
pub(crate) mod link;
pub(crate) mod observe;
pub(crate) mod plan;
mod structure;
pub(crate) mod tree;
pub(crate) mod visit;
pub(crate) mod write;

use bumpalo::Bump;

use crate::buffer::BLOCK;
use crate::buffer::Buffer;
use crate::error::Refused;
use crate::json::diagnose::Checker;
use crate::json::scan::arch::Kernel;
use crate::json::tape::{Indexed, Tape, trimmed};
use crate::options::{Format, Options};

use arena::Arena;
use link::Links;
use plan::form::clear_forms;
use plan::{Hasher, Plan, PlanMemory};
use structure::Structure;
use tree::{MAX_TEXT_LEN, Tree};

/// The documents of a fuzzer are small, so the limits below are small too: otherwise it would never meet them.
const FUZZING: bool = cfg!(fuzzing);

/// The tokens that are planned whatever their length. A token takes twelve bytes of memory, and a byte of text should take no
/// more than eight with everything that is found in it. So of more tokens each must have [`MIN_TOKEN_BYTES`] on average.
const MAX_TOKENS: usize = if FUZZING { 1 << 9 } else { 1 << 20 };
const MIN_TOKEN_BYTES: usize = 4;

/// The same for references, which take twice as much memory.
const MAX_TOKENS_WITH_REFERENCES: usize = MAX_TOKENS / 2;
const MIN_TOKEN_BYTES_WITH_REFERENCES: usize = 2 * MIN_TOKEN_BYTES;

/// The tokens between two checks of their average length.
const TOKENS_PER_CHECK: usize = if FUZZING { 1 << 5 } else { 1 << 16 };

/// The most levels that are planned: a container takes more memory than the two bytes it may be.
const MAX_DEPTH: usize = if FUZZING { 1 << 10 } else { 1 << 16 };

/// The same for references, which take more memory a level: half a megabyte of 65,536 levels would take 24 MB, and 21 are allowed.
const MAX_DEPTH_WITH_REFERENCES: usize = MAX_DEPTH / 2;

/// The encoder of version 2: what it keeps between chunks and documents, besides the tape.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    links: Links,
    memory: PlanMemory,
    arena: Arena,
    hasher: Hasher,
    /// The order of tokens of a document that comes in chunks, and how many entries of the index it has read.
    structure: Structure,
    ordered: usize,
    /// The number of checks of how long tokens are, and whether one found them too short. The checks are at fixed tokens, so
    /// their result depends on the text alone and not on how it was cut into chunks.
    density_checks: usize,
    is_dense: bool,
    /// Whether two scalars had nothing but whitespace between them. Only the index shows it, so it is recorded before the
    /// index is dropped.
    has_adjacent_scalars: bool,
    /// What the last document was planned with, if it was planned.
    planned_with: Option<PlannedWith>,
}

/// What a document was planned with.
#[derive(Clone, Copy, Debug)]
struct PlannedWith {
    options: Options,
    depth: usize,
    /// Whether the document had room for the references that its options allow.
    has_room: bool,
}

impl Writer {
    /// Prepares for another document.
    pub(crate) fn begin(&mut self) {
        self.structure.clear();
        self.ordered = 0;
        (self.density_checks, self.is_dense) = (0, false);
        (self.has_adjacent_scalars, self.planned_with) = (false, None);
    }

    /// Checks what has been added to the index of `text`, and drops the index if the plan would take too much memory.
    pub(crate) fn check_density(&mut self, text: &[u8], index: &mut Buffer<u32>) {
        while !self.is_dense
            && let Some(&start) = index.get(MAX_TOKENS + self.density_checks * TOKENS_PER_CHECK)
        {
            let tokens = MAX_TOKENS + self.density_checks * TOKENS_PER_CHECK;
            self.is_dense = (start as usize) < MIN_TOKEN_BYTES * tokens;
            self.density_checks += 1;
        }
        if self.is_dense {
            self.has_adjacent_scalars |= has_adjacent_scalars(text, index);
            index.clear();
        }
    }

    /// Checks what a chunk has added to the tape.
    pub(crate) fn push(&mut self, tape: &mut Tape, options: &Options) -> Result<(), Refused> {
        let Tape { scanner, text, index, .. } = tape;
        if scanner.is_wrong() {
            return Err(Refused);
        }
        self.structure.check(text, &index[self.ordered..], !scanner.may_end(), options.limits.depth)?;
        self.check_density(text, index);
        self.ordered = index.len();
        Ok(())
    }

    /// Encodes a whole document and appends it to `out`.
    #[inline(always)]
    pub(crate) fn encode<K: Kernel>(
        &mut self,
        kernel: K,
        json: &[u8],
        tape: &mut Tape,
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        let json = trimmed(json);
        // A document without whitespace is planned in the caller's buffer.
        let mut at = 0;
        while !self.is_dense {
            let indexed = tape.index_in_place(kernel, json, &mut at);
            self.check_density(json, &mut tape.index);
            let has_ended = indexed == Indexed::Ended;
            if tape.scanner.is_wrong() || has_ended && !tape.scanner.may_end() {
                return Err(Refused);
            }
            if has_ended {
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
            self.check_density(&tape.text, &mut tape.index);
            if tape.scanner.is_wrong() {
                return Err(Refused);
            }
        }
        self.finish(kernel, tape, options, out)
    }

    /// Encodes a document that is on the tape as a whole and appends it to `out`.
    #[inline(always)]
    pub(crate) fn finish<K: Kernel>(
        &mut self,
        kernel: K,
        tape: &mut Tape,
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        tape.end(kernel);
        self.check_density(&tape.text, &mut tape.index);
        if tape.scanner.is_wrong() || !tape.scanner.may_end() {
            return Err(Refused);
        }
        self.write(kernel, &tape.text, &tape.index, options, out)
    }

    /// Checks, plans and writes the document with this text and index, and appends it to `out`; never longer than the text
    /// (grammar/STC.md, section 21.1).
    fn write<K: Kernel>(
        &mut self,
        kernel: K,
        text: &[u8],
        index: &[u32],
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> Result<(), Refused> {
        if self.is_dense || text.len() > MAX_TEXT_LEN {
            let adjacent = self.has_adjacent_scalars || has_adjacent_scalars(text, index);
            return if adjacent { Err(Refused) } else { copy_json(text, options, out) };
        }
        let depth = kernel.enter(
            #[inline(always)]
            || self.links.link(kernel, text, index, options.limits.depth, &mut self.memory.forms),
        )?;
        out.expect(text.len() + BLOCK);
        let plans = options.format != Format::Json && depth <= MAX_DEPTH;
        let written = plans && self.write_planned(kernel, text, index, depth, options, out);
        if !written {
            out.extend(text);
        }
        Ok(())
    }

    /// Plans a linked document and appends it to `out`. Returns false, and leaves `out` as it was, if that does not pay.
    #[inline(always)]
    fn write_planned<K: Kernel>(
        &mut self,
        kernel: K,
        text: &[u8],
        index: &[u32],
        depth: usize,
        options: &Options,
        out: &mut Buffer<u8>,
    ) -> bool {
        let before = out.len();
        let tree = self.links.tree(text, index);
        let requested = options.has_references();
        let mut options = options_for(options, depth, text, index);
        let has_room = options.has_references() == requested;
        self.arena.expect(index.len(), options.has_references());
        loop {
            let plan = Plan::new(tree, depth, &options, &mut self.memory, self.hasher, &self.arena);
            self.planned_with = Some(PlannedWith { options, depth, has_room });
            let good = plan.pays()
                && kernel.enter(
                    #[inline(always)]
                    || write::write(kernel, tree, &plan, &options, &self.arena, out),
                )
                && out.len() - before < text.len();
            let may_retry = options.has_references() && plan.may_pay_without_references();
            drop(plan);
            self.arena.reset();
            if good {
                return true;
            }
            out.truncate(before);
            if !may_retry {
                return false;
            }
            options = options.without_references();
            clear_forms(&mut self.memory.forms, tree);
        }
    }

    /// Returns whether the last document was too long or deep for the references that its options have.
    pub(crate) fn had_no_room_for_references(&self) -> bool {
        self.planned_with.is_some_and(|planned| !planned.has_room)
    }

    /// Plans the last document, which has this text and index, once more and calls `read` with its plan. Returns none if the
    /// document was not planned.
    pub(crate) fn with_plan<R>(
        &mut self,
        text: &[u8],
        index: &[u32],
        read: impl FnOnce(Tree<'_>, &Plan<'_>, &Options, &Bump) -> R,
    ) -> Option<R> {
        let PlannedWith { options, depth, .. } = self.planned_with?;
        let tree = self.links.tree(text, index);
        clear_forms(&mut self.memory.forms, tree);
        let plan = Plan::new(tree, depth, &options, &mut self.memory, self.hasher, &self.arena);
        let result = read(tree, &plan, &options, &self.arena);
        drop(plan);
        self.arena.reset();
        Some(result)
    }
}

/// Returns the options that a document is planned with: many short tokens or levels get no references.
fn options_for(options: &Options, depth: usize, text: &[u8], index: &[u32]) -> Options {
    let tokens = index.len();
    let has_room_for_tokens =
        tokens <= MAX_TOKENS_WITH_REFERENCES || text.len() / tokens >= MIN_TOKEN_BYTES_WITH_REFERENCES;
    let has_room = has_room_for_tokens && depth <= MAX_DEPTH_WITH_REFERENCES;
    if options.has_references() && !has_room { options.without_references() } else { *options }
}

/// Returns whether a scalar begins directly after another. Then there was whitespace between them, which the text does not
/// show any more: `[1 2]` is not `[12]`.
#[cold]
fn has_adjacent_scalars(text: &[u8], index: &[u32]) -> bool {
    let is_scalar = |&byte: &u8| !matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',' | b':');
    index.iter().any(|&start| {
        let start = start as usize;
        start > 0 && text.get(start).is_some_and(is_scalar) && is_scalar(&text[start - 1])
    })
}

/// Checks a text that is not planned and appends it as it is: minified JSON is version 2 too. Whether whitespace separated
/// scalars is for [`has_adjacent_scalars`] to find.
#[cold]
fn copy_json(text: &[u8], options: &Options, out: &mut Buffer<u8>) -> Result<(), Refused> {
    let mut checker = Checker::new(options.limits.depth);
    checker.feed(text, 0).and_then(|()| checker.end(text.len() as u64)).map_err(|_| Refused)?;
    out.reserve(text.len());
    out.extend(text);
    Ok(())
}

#[cfg(test)]
mod tests;
