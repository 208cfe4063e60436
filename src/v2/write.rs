//! Version 2: a planned document to bytes.

use crate::buffer::BLOCK;
use crate::buffer::Buffer;
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{is_bare, is_bare_span, window};
use crate::options::{Limits, Options};
use crate::v2::plan::columns::{Columns, ListId};
use crate::v2::plan::{Form, Plan, ShapeId};
use crate::v2::tree::{Token, Tree};
use crate::v2::visit::{Frame, Page, walk};

/// The names that things have got; memory that is kept between documents.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By what is named: its number in the order of the text, plus one.
    numbers: Vec<u32>,
    given: u32,
}

/// Appends the document to `out`. False if a decoder with the same limits might refuse it for expanding too far.
#[inline(always)]
pub(crate) fn write<K: Kernel>(
    kernel: K,
    tree: Tree<'_>,
    plan: &Plan,
    options: &Options,
    stack: &mut Vec<Frame>,
    names: &mut [Names; 2],
    out: &mut Buffer<u8>,
) -> bool {
    if options.references {
        let start = out.len();
        definitions(tree, plan, out);
        let mut text = Text::<_, true>::new(kernel, plan, &options.limits, tree.text.len(), names, out);
        text.start = start;
        walk(tree, 0, &plan.columns, stack, &mut text);
        text.within
    } else {
        let mut text = Text::<_, false>::new(kernel, plan, &options.limits, tree.text.len(), names, out);
        walk(tree, 0, &plan.columns, stack, &mut text);
        text.within
    }
}

/// The lines of the dictionary, before the document's value.
pub(crate) fn definitions(tree: Tree<'_>, plan: &Plan, out: &mut Buffer<u8>) {
    for (number, body) in plan.dictionary.entries(tree).enumerate() {
        out.push(b'$');
        name(number as u32, out);
        out.extend(b"=\"");
        out.extend(body);
        out.extend(b"\"\n");
    }
}

/// The page that a document is written on.
pub(crate) struct Text<'a, K, const REFERENCES: bool> {
    kernel: K,
    plan: &'a Plan,
    shapes: &'a mut Names,
    anchors: &'a mut Names,
    /// How many strings that the dictionary knows have been written.
    strings: usize,
    limits: &'a Limits,
    /// Where the document begins in `out`, and whether a decoder with these limits would take it.
    start: usize,
    within: bool,
    /// How long the JSON is.
    length: u64,
    pub(crate) out: &'a mut Buffer<u8>,
}

impl<'a, K: Kernel, const REFERENCES: bool> Text<'a, K, REFERENCES> {
    /// A page behind what `out` holds, for a document of this length.
    pub(crate) fn new(
        kernel: K,
        plan: &'a Plan,
        limits: &'a Limits,
        length: usize,
        [shapes, anchors]: &'a mut [Names; 2],
        out: &'a mut Buffer<u8>,
    ) -> Self {
        shapes.clear();
        anchors.clear();
        let (start, length) = (out.len(), length as u64);
        // A bare key stands for up to twice as much, anywhere.
        let within = limits.ratio >= 2 || length <= limits.free;
        Self { kernel, plan, shapes, anchors, strings: 0, limits, start, within, length, out }
    }
}

impl<K: Kernel, const REFERENCES: bool> Page for Text<'_, K, REFERENCES> {
    const CARES: bool = REFERENCES;
    const SHALLOW: bool = false;
    const SPLICES: bool = true;

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

    /// Most members are short: two stores, or three, and one look at whether there is text and room for all.
    #[inline(always)]
    fn member(&mut self, comma: bool, text: &[u8], from: usize, colon: usize, end: usize) {
        let (key, value) = (colon - from, end - colon);
        match window::<{ SPAN + 2 * BLOCK }>(text, from) {
            Some(member) if key <= SPAN && value <= 2 * BLOCK => {
                let [_, body @ ..] = member.first_chunk::<{ 1 + SPAN }>().expect("a member is longer");
                let quote = usize::from(is_bare_span(self.kernel, body, key - 2));
                self.out.reserve(1 + SPAN + 2 * BLOCK);
                let mut pen = self.out.pen();
                let room: &mut [u8; 1 + SPAN + 2 * BLOCK] = pen.chunk();
                // As in `append`.
                room[0] = b',';
                let at = usize::from(comma);
                room[at..at + SPAN].copy_from_slice(&member[quote..quote + SPAN]);
                let colon = at + key - 2 * quote;
                room[colon..colon + BLOCK].copy_from_slice(&member[key..key + BLOCK]);
                if value > BLOCK {
                    room[colon + BLOCK..colon + 2 * BLOCK].copy_from_slice(&member[key + BLOCK..key + 2 * BLOCK]);
                }
                self.out.keep(colon + value);
            }
            _ => {
                self.key(comma, text, from, colon);
                self.copy(false, text, colon, end);
            }
        }
    }

    #[inline(always)]
    fn text(&mut self, tree: Tree<'_>, string: Token) {
        if !REFERENCES {
            return self.out.append(false, tree.text, tree.start(string), tree.end(string));
        }
        let span = tree.span(string);
        if let Some((entry, length)) = self.plan.dictionary.look_up(&mut self.strings, string) {
            self.expands(tree.end(string));
            self.out.push(b'$');
            name(entry, self.out);
            // The body's beginning is the entry's; an opening quote takes its place.
            if length + 2 < span.len() {
                self.out.push(b'"');
                self.out.extend(&span[1 + length..]);
            }
            return;
        }
        self.out.extend(span);
    }

    fn template(&mut self, template: u32) {
        self.out.extend(self.plan.templates.of(template));
    }

    #[inline(always)]
    fn form(&self, container: Token) -> Form {
        self.plan.forms.of(container)
    }

    #[inline(always)]
    fn again(&mut self, _: Tree<'_>, container: Token, _: bool) -> bool {
        if !REFERENCES {
            return false;
        }
        let Some((anchor, names)) = self.plan.anchors.of(container) else { return false };
        self.out.push(if names { b'&' } else { b'*' });
        name(self.anchors.of(anchor), self.out);
        !names
    }

    #[inline(always)]
    fn fits(&mut self, _: Tree<'_>, object: Token, _: &Columns, _: ListId) -> bool {
        self.form(object) == Form::Tuple
    }

    fn name(&mut self, shape: ShapeId) {
        let number = self.shapes.of(shape);
        name(number, self.out);
    }

    /// A decoder writes what a row stands for while it reads it, so the row must be allowed by what came before. Where only
    /// what is free of the ratio allows it, what follows plainly must not use that up before the ratio is met. It is at
    /// least half as long as what it stands for, as `a:` is of `"a":`.
    #[inline(always)]
    fn expands(&mut self, end: usize) {
        let Limits { ratio, free, .. } = *self.limits;
        let (end, stc) = (end as u64, (self.out.len() - self.start) as u64);
        let by_ratio = |stc: u64, json: u64| json <= ratio.saturating_mul(stc);
        self.within &=
            by_ratio(stc, end) || end <= free && by_ratio(stc + (free - end) / 2, free) || self.length <= free;
    }

    #[cold]
    fn fails(&mut self) {
        self.within = false;
    }

    fn ended(&mut self, _: Tree<'_>, _: Token, _: bool) {}
}

impl Names {
    fn clear(&mut self) {
        self.numbers.clear();
        self.given = 0;
    }

    /// The number of a name, a new one if there is none yet.
    fn of(&mut self, named: u32) -> u32 {
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

/// Names in order: `a` to `z`, `aa`, `ab` and so on.
fn name(number: u32, out: &mut Buffer<u8>) {
    let mut letters = [0; 8];
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
            name(number, &mut out);
            assert_eq!(&*out, expected.as_bytes());
        }
    }
}
