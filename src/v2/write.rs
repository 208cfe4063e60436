//! The visitor that writes a planned document.

use bumpalo::Bump;

use crate::buffer::BLOCK;
use crate::buffer::Buffer;
use crate::format::{ANCHOR_SIGIL, COMMA, CONSTANT_SIGN, COPY_SIGIL, DENSE_COLON, DICTIONARY_SIGIL, LINE_FEED, QUOTE};
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{bytes_at, is_bare, is_bare_span, is_bare_string};
use crate::options::{Limits, Options};
use crate::v2::arena::ArenaVec;
use crate::v2::plan::Plan;
use crate::v2::plan::columns::{Columns, ListId};
use crate::v2::plan::form::ContainerForm;
use crate::v2::plan::shapes::ShapeId;
use crate::v2::tree::{Token, Tree};
use crate::v2::visit::{Visitor, visit};

/// Appends the document to `out`. Returns false if a decoder with the same limits might reject it because it expands too far.
#[inline(always)]
pub(crate) fn write<K: Kernel>(
    kernel: K,
    tree: Tree<'_>,
    plan: &Plan<'_>,
    options: &Options,
    arena: &Bump,
    out: &mut Buffer<u8>,
) -> bool {
    if options.has_references() {
        let mut writer = TextWriter::<_, true>::new(kernel, tree, plan, &options.limits, arena, out);
        visit(tree, 0, &plan.columns, arena, &mut writer);
        writer.within_limits
    } else {
        let mut writer = TextWriter::<_, false>::new(kernel, tree, plan, &options.limits, arena, out);
        visit(tree, 0, &plan.columns, arena, &mut writer);
        writer.within_limits
    }
}

/// Appends the definitions of the dictionary (STC.md, section 15.1).
fn write_definitions(tree: Tree<'_>, plan: &Plan<'_>, out: &mut Buffer<u8>) {
    for (number, body) in plan.dictionary.entries(tree).enumerate() {
        out.push(DICTIONARY_SIGIL);
        write_name(number as u32, out);
        out.extend(&[CONSTANT_SIGN, QUOTE]);
        out.extend(body);
        out.extend(&[QUOTE, LINE_FEED]);
    }
}

/// Writes a document. `REFERENCES` tells whether the plan may have a dictionary and anchors.
pub(crate) struct TextWriter<'a, K, const REFERENCES: bool> {
    kernel: K,
    plan: &'a Plan<'a>,
    shapes: Names<'a>,
    anchors: Names<'a>,
    /// The number of the next string that the dictionary may have an entry for.
    next_string: usize,
    limits: &'a Limits,
    /// Where the document begins in `out`.
    start: usize,
    /// Whether a decoder with these limits accepts what has been written.
    within_limits: bool,
    /// Whether the JSON is longer than what may expand freely.
    may_expand_too_far: bool,
    pub(crate) out: &'a mut Buffer<u8>,
}

impl<'a, K: Kernel, const REFERENCES: bool> TextWriter<'a, K, REFERENCES> {
    /// Returns a writer that appends to `out`, and appends the dictionary.
    pub(crate) fn new(
        kernel: K,
        tree: Tree<'_>,
        plan: &'a Plan<'a>,
        limits: &'a Limits,
        arena: &'a Bump,
        out: &'a mut Buffer<u8>,
    ) -> Self {
        let (start, json_len) = (out.len(), tree.text.len() as u64);
        if REFERENCES {
            write_definitions(tree, plan, out);
        }
        // A document of bare keys alone expands to up to twice its length.
        let within_limits = limits.ratio >= 2 || json_len <= limits.ratio_after;
        let (shapes, anchors) = (Names::new(arena), Names::new(arena));
        Self {
            kernel,
            plan,
            shapes,
            anchors,
            next_string: 0,
            limits,
            start,
            within_limits,
            may_expand_too_far: json_len > limits.ratio_after,
            out,
        }
    }

    /// Returns whether the scalar from `from` to `to` is a string that is written bare.
    #[inline(always)]
    fn is_bare_string(&self, text: &[u8], from: usize, to: usize) -> bool {
        text[from] == b'"' && is_bare_string(self.kernel, text, from + 1, to - 1)
    }
}

impl<K: Kernel, const REFERENCES: bool> Visitor for TextWriter<'_, K, REFERENCES> {
    const VISITS_STRINGS: bool = REFERENCES;
    const VISITS_OBJECTS_ONLY: bool = false;
    const VISITS_SPLICES: bool = true;

    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
    }

    #[inline(always)]
    fn copy(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        self.out.append(comma, text, from, to);
    }

    #[inline(always)]
    fn key(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        let quote = usize::from(is_bare(self.kernel, text, from + 1, to - 1));
        self.out.append(comma, text, from + quote, to - quote);
    }

    /// Writes a member; a short one by two or three stores, after one test whether there is text and room for all of them.
    #[inline(always)]
    fn member(&mut self, comma: bool, text: &[u8], from: usize, colon: usize, end: usize) {
        let (key, value) = (colon - from, end - colon);
        match bytes_at::<MEMBER_ROOM>(text, from) {
            Some(member) if key <= SPAN && value <= 2 * BLOCK => {
                let [_, body @ ..] = member.first_chunk::<{ 1 + SPAN }>().expect("a member is longer");
                let quote = usize::from(is_bare_span(self.kernel, body, key - 2));
                let value_quote = usize::from(self.is_bare_string(text, colon + 1, end));
                self.out.reserve(MEMBER_ROOM);
                let mut pen = self.out.pen();
                let room: &mut [u8; MEMBER_ROOM] = pen.chunk();
                // Without a comma the key takes its place.
                room[0] = COMMA;
                let at = usize::from(comma);
                room[at..at + SPAN].copy_from_slice(&member[quote..quote + SPAN]);
                // The colon, and the value without its quote if that is left out.
                let (colon, from) = (at + key - 2 * quote, key + value_quote);
                room[colon..colon + BLOCK].copy_from_slice(&member[from..from + BLOCK]);
                room[colon] = DENSE_COLON;
                if value > BLOCK {
                    room[colon + BLOCK..colon + 2 * BLOCK].copy_from_slice(&member[from + BLOCK..from + 2 * BLOCK]);
                }
                self.out.keep(colon + value - 2 * value_quote);
            }
            _ => {
                self.key(comma, text, from, colon);
                self.put(&[DENSE_COLON]);
                self.scalar(false, text, colon + 1, end);
            }
        }
    }

    #[inline(always)]
    fn scalar(&mut self, comma: bool, text: &[u8], from: usize, to: usize) {
        let quote = usize::from(self.is_bare_string(text, from, to));
        self.out.append(comma, text, from + quote, to - quote);
    }

    #[inline(always)]
    fn string(&mut self, tree: Tree<'_>, string: Token, may_be_bare: bool) {
        let (from, to) = (tree.start(string), tree.end(string));
        let entry = if REFERENCES { self.plan.dictionary.entry_of(&mut self.next_string, string) } else { None };
        let Some((entry, length)) = entry else {
            let quote = usize::from(may_be_bare && self.is_bare_string(tree.text, from, to));
            return self.out.append(false, tree.text, from + quote, to - quote);
        };
        let text = &tree.text[from..to];
        self.expands(tree.end(string));
        self.out.push(DICTIONARY_SIGIL);
        write_name(entry, self.out);
        // The rest of the body, between quotes, if the entry is not the whole string (section 15.2).
        if length + 2 < text.len() {
            self.out.push(QUOTE);
            self.out.extend(&text[1 + length..]);
        }
    }

    fn template(&mut self, template: u32) {
        self.out.extend(self.plan.templates.of(template));
    }

    #[inline(always)]
    fn form(&self, container: Token) -> ContainerForm {
        self.plan.forms.of(container)
    }

    #[inline(always)]
    fn begin_container(&mut self, _: Tree<'_>, container: Token, _: bool) -> bool {
        if !REFERENCES {
            return false;
        }
        let Some((anchor, has_name)) = self.plan.anchors.of(container) else { return false };
        self.out.push(if has_name { ANCHOR_SIGIL } else { COPY_SIGIL });
        write_name(self.anchors.number(anchor), self.out);
        !has_name
    }

    #[inline(always)]
    fn decide_tuple(&mut self, _: Tree<'_>, object: Token, _: &Columns<'_>, _: ListId) -> bool {
        self.form(object) == ContainerForm::Tuple
    }

    fn shape_name(&mut self, shape: ShapeId) {
        write_name(self.shapes.number(shape), self.out);
    }

    /// Checks the limit on expansion (sections 10.2 and 20.5).
    ///
    /// A decoder writes the JSON of a row while it reads the row, so what came before has to allow for it. Where only the
    /// free bytes do, the text that follows must not use them up before the ratio allows for more. That text is at least half
    /// as long as its JSON, as `a:` is of `"a":`.
    #[inline(always)]
    fn expands(&mut self, end: usize) {
        if !self.may_expand_too_far {
            return;
        }
        let Limits { ratio, ratio_after: free, .. } = *self.limits;
        let (end, stc) = (end as u64, (self.out.len() - self.start) as u64);
        let by_ratio = |stc: u64, json: u64| json <= ratio.saturating_mul(stc);
        self.within_limits &= by_ratio(stc, end) || end <= free && by_ratio(stc + (free - end) / 2, free);
    }

    #[cold]
    fn fail(&mut self) {
        self.within_limits = false;
    }

    fn end_object(&mut self, _: Tree<'_>, _: Token, _: bool) {}
}

/// What a short member is read from and written to: a comma, a key and its colon, and a value of two blocks.
const MEMBER_ROOM: usize = 1 + SPAN + 2 * BLOCK;

/// The names of one name space, given in the order of their definitions (section 21.2).
struct Names<'a> {
    /// By shape or anchor: the number of its name plus one; zero if it has none yet.
    numbers: ArenaVec<'a, u32>,
    given: u32,
}

impl<'a> Names<'a> {
    fn new(arena: &'a Bump) -> Self {
        Self { numbers: ArenaVec::new_in(arena), given: 0 }
    }

    /// Returns the number of a name, a new one at the first call.
    fn number(&mut self, named: u32) -> u32 {
        let named = named as usize;
        if self.numbers.len() <= named {
            self.numbers.resize(named + 1, 0);
        }
        if self.numbers[named] == 0 {
            self.given += 1;
            self.numbers[named] = self.given;
        }
        self.numbers[named] - 1
    }
}

/// The most letters that a name with a `u32` number has.
const MAX_LETTERS: usize = 8;

/// Appends the name with this number: `a` to `z`, `aa`, `ab` and so on.
fn write_name(number: u32, out: &mut Buffer<u8>) {
    let mut letters = [0; MAX_LETTERS];
    let mut start = letters.len();
    let mut rest = number + 1;
    while rest > 0 {
        rest -= 1;
        start -= 1;
        letters[start] = b'a' + (rest % 26) as u8;
        rest /= 26;
    }
    out.extend(&letters[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_like_columns_of_a_spreadsheet() {
        for (number, expected) in [(0, "a"), (25, "z"), (26, "aa"), (27, "ab"), (701, "zz"), (702, "aaa")] {
            let mut out = Buffer::default();
            write_name(number, &mut out);
            assert_eq!(&*out, expected.as_bytes());
        }
    }
}
