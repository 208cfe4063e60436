//! Version 2: a planned document to bytes.

use crate::buffer::Buffer;
use crate::plan::columns::{Columns, ListId};
use crate::plan::{Form, Forms, Plan, ShapeId};
use crate::tree::{Token, Tree};
use crate::walk::{Frame, Page, walk};

/// Memory that is kept between documents.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By shape: its number in the order of the text, plus one.
    numbers: Vec<u32>,
    given: u32,
}

/// Appends the document to `out`.
pub(crate) fn write(tree: Tree<'_>, plan: &Plan, stack: &mut Vec<Frame>, names: &mut Names, out: &mut Buffer<u8>) {
    names.numbers.clear();
    names.given = 0;
    walk(tree, &plan.columns, stack, &mut Text { forms: &plan.forms, names, out });
}

struct Text<'a> {
    forms: &'a Forms,
    names: &'a mut Names,
    out: &'a mut Buffer<u8>,
}

impl Page for Text<'_> {
    const CARES: bool = false;

    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        self.out.extend(bytes);
    }

    #[inline(always)]
    fn text(&mut self, tree: Tree<'_>, string: Token) {
        self.out.extend(tree.span(string));
    }

    fn template(&mut self, _: u32) {}

    #[inline(always)]
    fn form(&self, container: Token) -> Form {
        self.forms.of(container)
    }

    #[inline(always)]
    fn again(&mut self, _: Tree<'_>, _: Token) -> bool {
        false
    }

    fn fits(&mut self, _: Tree<'_>, _: &Columns, object: Token, _: ListId) -> bool {
        self.forms.of(object) == Form::Tuple
    }

    fn name(&mut self, shape: ShapeId) {
        let number = self.names.of(shape);
        name(number, self.out);
    }

    fn ended(&mut self, _: Tree<'_>, _: Token, _: bool) {}
}

impl Names {
    /// The number of a shape's name, a new one if it has none.
    fn of(&mut self, shape: ShapeId) -> u32 {
        let shape = shape as usize;
        if self.numbers.len() <= shape {
            self.numbers.resize(shape + 1, 0);
        }
        if self.numbers[shape] == 0 {
            self.given += 1;
            self.numbers[shape] = self.given;
        }
        self.numbers[shape] - 1
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
