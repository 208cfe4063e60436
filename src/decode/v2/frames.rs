//! The open containers of version 2, innermost last.
//!
//! The machine's nesting has one bit for each open container: array or object. Most containers of version 2 need more, such as
//! the rows that are left or the column of the next cell, so they have a frame besides. A frame knows the depth it is at: when
//! the innermost frame is at the machine's depth, that frame decides what comes next.
//!
//! Only the innermost frame is ever read, and the one around a row. What a step has to know of the frames around it (whether one of them is a header's
//! value, whether one of them is inline) is kept up to date when a frame is pushed or popped, so a step costs the same at any
//! depth.

use crate::decode::v2::shape_keys::Shape;
use crate::format::{LINE_FEED, TUPLE_CLOSE};

/// A container that one bit of the nesting cannot describe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    /// The depth inside it; of a tuple, inside the spliced object that is being read.
    pub(crate) depth: usize,
    pub(crate) kind: FrameKind,
}

/// The containers that have a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FrameKind {
    /// A table (STC.md, 16.1) or keyed table (16.5), and the rows still to come.
    Table { keyed: bool, left: u64 },
    /// A row that is a value (16.7). Its depth is that of its table.
    WholeRow,
    /// A row or a tuple (16.2, 17.4).
    Tuple(OpenTuple),
    /// An array that is a cell: its direct elements may be tuples of this list (17.4).
    TupleArray { list: u32 },
    /// An object of an open list (17.10).
    ListedObject(ListedObject),
    /// An array that is a cell: its direct elements that are objects are of this open list (17.10).
    ObjectArray { list: u32 },
    /// A tuple of a shape, and the key that comes next (18.2).
    ShapeTuple { next: u32 },
    /// A labelled object: its keys become a shape (18.1).
    LabelledObject { name: u32, shape: Option<Shape>, width: usize },
    /// A constant or default in a header (17.3, 17.8). Its depth is that around it.
    HeaderValue { default: bool, list: u32 },
}

impl FrameKind {
    /// Returns whether the values in it are inline values (STC.md, 14.4). Those of a labelled object may be tables (18.1).
    fn is_inline(self) -> bool {
        !matches!(self, Self::LabelledObject { .. } | Self::Table { .. })
    }
}

/// A tuple that is being read, or a row, which is read as a tuple is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenTuple {
    /// Whether it is a row.
    pub(crate) row: bool,
    /// The column that comes next.
    pub(crate) column: u32,
    /// Whether the innermost object of it has a key already, so that a comma goes before the next.
    pub(crate) has_key: bool,
    /// How many placeholders of the held row were unfilled before it.
    pub(crate) insertions: usize,
}

impl OpenTuple {
    /// Returns the byte that ends it.
    #[inline(always)]
    pub(crate) fn end(self) -> u8 {
        if self.row { LINE_FEED } else { TUPLE_CLOSE }
    }
}

/// An object of an open list that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedObject {
    /// Whether it is a row.
    pub(crate) row: bool,
    /// Whether it has a key already.
    pub(crate) has_key: bool,
    /// The number of its list among the open lists.
    pub(crate) open_list: u32,
    /// The first column of the list that its next key may be.
    pub(crate) next: u32,
    /// Where the constants that it does not have yet begin in the schema's text.
    pub(crate) constants: usize,
    /// The column whose key it had last; [`NONE`](crate::decode::v2::columns::NONE) if the key is no column's.
    pub(crate) member: u32,
}

/// The frames that are open.
#[derive(Debug, Default)]
pub(crate) struct FrameStack {
    frames: Vec<Frame>,
    /// How many of them are inline.
    inline: usize,
    /// The depth around the header's value that is open. There is at most one: a header's value is inline, and an inline value
    /// has no table in it.
    header_value: Option<usize>,
}

impl FrameStack {
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.inline = 0;
        self.header_value = None;
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Returns the innermost frame.
    #[inline(always)]
    pub(crate) fn innermost(&self) -> Option<&Frame> {
        count_frames_read(1);
        self.frames.last()
    }

    /// Returns the innermost frame, to be changed; its kind stays.
    #[inline(always)]
    pub(crate) fn innermost_mut(&mut self) -> Option<&mut Frame> {
        count_frames_read(1);
        self.frames.last_mut()
    }

    /// Returns the frame around the innermost, to be changed; its kind stays.
    #[inline(always)]
    pub(crate) fn around_mut(&mut self) -> Option<&mut Frame> {
        count_frames_read(1);
        let around = self.frames.len().checked_sub(2)?;
        self.frames.get_mut(around)
    }

    /// Returns what the innermost frame is, if that frame is at `depth`.
    #[inline(always)]
    pub(crate) fn at(&mut self, depth: usize) -> Option<&mut FrameKind> {
        self.innermost_mut().filter(|frame| frame.depth == depth).map(|frame| &mut frame.kind)
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, depth: usize, kind: FrameKind) {
        self.inline += usize::from(kind.is_inline());
        if let FrameKind::HeaderValue { .. } = kind {
            self.header_value = Some(depth);
        }
        self.frames.push(Frame { depth, kind });
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.inline -= usize::from(frame.kind.is_inline());
            if let FrameKind::HeaderValue { .. } = frame.kind {
                self.header_value = None;
            }
        }
    }

    /// Returns whether any open frame is inline.
    #[inline(always)]
    pub(crate) fn is_inline(&self) -> bool {
        self.inline > 0
    }

    /// Returns the depth around the constant or default that is being read, if one is.
    #[inline(always)]
    pub(crate) fn header_value(&self) -> Option<usize> {
        self.header_value
    }
}

/// Test hook: counts the frames that were read.
#[inline(always)]
fn count_frames_read(_frames: u64) {
    #[cfg(test)]
    tests::FRAMES_READ.with(|read| read.set(read.get() + _frames));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decoder, Limits, Options};

    std::thread_local! {
        pub(super) static FRAMES_READ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }

    /// Decodes `stc` byte by byte, so that no fast path takes part, and returns how many frames were read.
    fn frames_read(stc: &str) -> u64 {
        let mut decoder = Decoder::with_options(Options::default().limits(Limits::default().depth(usize::MAX)));
        let mut json = Vec::new();
        FRAMES_READ.set(0);
        for byte in stc.as_bytes().chunks(1) {
            decoder.push(byte, &mut json).expect("it is STC");
        }
        decoder.finish(&mut json).expect("it is STC");
        FRAMES_READ.get()
    }

    #[test]
    fn a_level_reads_as_many_frames_at_any_depth() {
        // A shape's tuples, labelled objects, tuples of a column in arrays, a constant that is deep, and objects of open lists, in
        // arrays or not, with plain objects in the innermost.
        let labels = |depth: usize| (0..depth).map(|name| format!("@{}{{a:", letters(name))).collect::<String>();
        let open = |depth: usize| format!("{}k=1{}", "*,a{".repeat(depth), "}".repeat(depth));
        let texts: [&dyn Fn(usize) -> String; 7] = [
            &|depth| format!("[@a{{k:1}},{}1{}]", "@a(".repeat(depth), ")".repeat(depth)),
            &|depth| format!("{}1{}", labels(depth), "}".repeat(depth)),
            &|depth| format!("[@a{{k:1}},[1]{{c{{d}}}}:\n[({}1{})]\n]", "[@a(".repeat(depth), ")]".repeat(depth)),
            &|depth| format!("[@a{{k:1}},[1]{{c={}1{}}}:\n\n]", "@a(".repeat(depth), ")".repeat(depth)),
            &|depth| format!("[1]{{{}}}:\n{}1{}\n", open(depth), "{a:".repeat(depth), "}".repeat(depth)),
            &|depth| format!("[1]{{{}}}:\n{}{}\n", open(depth), "{a:[".repeat(depth), "]}".repeat(depth)),
            &|depth| format!("[1]{{*,a{{*,k=1}}}}:\n{{a:{}1{}}}\n", "{b:".repeat(depth), "}".repeat(depth)),
        ];
        for text in texts {
            let [few, twice, thrice] = [200, 400, 600].map(|depth| frames_read(&text(depth)));
            assert!(few > 200, "the count counts: {few}");
            assert_eq!(thrice - twice, twice - few, "{few} {twice} {thrice}");
        }
    }

    /// Returns a name of three letters for each number below 17,576.
    fn letters(number: usize) -> String {
        [number / 676, number / 26 % 26, number % 26].iter().map(|&letter| char::from(b'a' + letter as u8)).collect()
    }

    #[test]
    fn what_is_counted_is_what_is_open() {
        let kinds = [
            FrameKind::Table { keyed: false, left: 1 },
            FrameKind::LabelledObject { name: 0, shape: None, width: 0 },
            FrameKind::Table { keyed: true, left: 1 },
            FrameKind::HeaderValue { default: false, list: 0 },
            FrameKind::TupleArray { list: 0 },
            FrameKind::ShapeTuple { next: 0 },
        ];
        let mut stack = FrameStack::default();
        for (depth, kind) in kinds.into_iter().enumerate() {
            stack.push(depth, kind);
            assert_eq!((stack.is_inline(), stack.header_value()), (depth >= 3, (depth >= 3).then_some(3)));
        }
        for depth in (0..kinds.len()).rev() {
            assert!(stack.at(depth).is_some() && stack.at(depth + 1).is_none());
            stack.pop();
            assert_eq!((stack.is_inline(), stack.header_value()), (depth > 3, (depth > 3).then_some(3)));
        }
        assert!(stack.is_empty());
        stack.push(0, kinds[3]);
        stack.clear();
        assert!(stack.is_empty() && !stack.is_inline() && stack.header_value().is_none());
    }
}
