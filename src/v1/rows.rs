//! A table that lies whole in the text at hand, in one go.
//!
//! One idea: rows of one shape have their entries at equal distances. So the rows are counted by looking at every
//! row's braces only, before anything is written: most arrays that are no tables are found out there, and the count is
//! known when the header is written. What the window cuts off is for the steps and their roll-back.

use super::analyze::Expansion;
use super::cells::Rows;
use super::fast_path::{ahead, key};
use super::shape::Shape;
use super::write;
use crate::buffer::Pen;
use crate::format::COLON;
use crate::json::scan::arch::Kernel;
use crate::json::span::window;
use crate::options::Limits;

/// All that a table needs, in one place, as for [`Run`](super::members::Run).
pub(super) struct Grid<'a> {
    pub(super) text: &'a [u8],
    /// The entries that are left, from the bracket on, which has a brace right behind it.
    pub(super) index: &'a [u32],
    /// Where to write.
    pub(super) room: &'a mut [u8],
    pub(super) shape: &'a mut Shape,
    pub(super) limits: &'a Limits,
    /// How long a table may be.
    pub(super) window: usize,
    pub(super) expansion: Expansion,
}

/// What has become of an array of objects.
pub(super) enum Verdict {
    /// It has been written, in so many bytes; its closing bracket is this entry, counted from the opening one.
    Table { bracket: usize, bytes: usize },
    /// It stays as it is.
    Plain,
    /// Not enough of it is at hand, or something is wrong with it.
    Unknown,
}

impl Grid<'_> {
    #[inline(never)]
    pub(super) fn go<K: Kernel>(&mut self, kernel: K) -> Verdict {
        kernel.enter(
            #[inline(always)]
            || self.table(kernel),
        )
    }

    #[inline(always)]
    fn table<K: Kernel>(&mut self, kernel: K) -> Verdict {
        let (text, index, limits) = (self.text, self.index, self.limits);
        let Some([open, brace, first]) = ahead(text, index, 0) else { return Verdict::Unknown };
        if first != brace + 1 || text[first] != b'"' {
            return Verdict::Unknown;
        }
        let Braces { count, entries, bracket } = match survey(text, index) {
            Ok(braces) => braces,
            Err(verdict) => return verdict,
        };
        let keys = &index[2..entries];
        if index[bracket] as usize + 1 - open > self.window || keys.len() / 2 > limits.columns {
            return Verdict::Plain;
        }

        let mut pen = Pen::of(&mut *self.room);
        write::count(count, &mut pen);
        // The limit on expansion is reckoned without the count, which the steps do not know yet.
        let expansion = self.expansion.without(pen.written() - 2);
        let mut header = 0;
        self.shape.clear();
        pen.write(b"{");
        for pair in keys.as_chunks::<2>().0 {
            let [start, value] = pair.map(|place| place as usize);
            if window(text, value.wrapping_sub(2)) != Some(b"\":") {
                return Verdict::Unknown;
            }
            self.shape.push(start - open, value - open, value - open);
            let before = pen.written();
            key(kernel, text, start, value, &mut pen);
            header += pen.written() - before;
            pen.write(b",");
        }
        pen.back_to(pen.at() - 1);
        pen.write(b"}");
        pen.write(COLON);
        if header > limits.header || !self.shape.is_distinct(&text[open..]) {
            return Verdict::Plain;
        }

        let (table, columns, places) = (&text[open..], self.shape.columns(), &index[1..bracket + 1]);
        let written = pen.written();
        let most = self.room.len();
        let room = &mut self.room[written..];
        let mut rows = Rows { text, table, columns, places, room, whole: true, expansion, reach: u64::MAX };
        if rows.go(kernel) != count {
            return Verdict::Plain;
        }
        let bytes = most - rows.room.len();
        Verdict::Table { bracket, bytes }
    }
}

/// Where the braces are of an array of objects that may be a table.
struct Braces {
    count: u64,
    /// How many entries a row has.
    entries: usize,
    /// The closing bracket's entry.
    bracket: usize,
}

/// The first entry is a `[` with a `{` and a key right behind it.
#[inline(always)]
fn survey(text: &[u8], index: &[u32]) -> Result<Braces, Verdict> {
    // How many members has the first row, all scalar?
    let mut brace = 4;
    loop {
        let Some([value, next]) = ahead(text, index, brace - 1) else { return Err(Verdict::Unknown) };
        match (text[value], text[next]) {
            (b'{' | b'[', _) => return Err(Verdict::Plain),
            (_, b'}') => break,
            (_, b'"') => brace += 2,
            _ => return Err(Verdict::Unknown),
        }
    }
    // Every further row must have its braces in the same places.
    let entries = brace;
    let mut count = 1;
    loop {
        let Some([close, after]) = ahead(text, index, brace) else { return Err(Verdict::Unknown) };
        match text[after] {
            _ if text[close] != b'}' => return Err(Verdict::Plain),
            b']' if after == close + 1 && count > 1 => return Ok(Braces { count, entries, bracket: brace + 1 }),
            b'{' if after == close + 2 && text[close + 1] == b',' => {}
            _ => return Err(Verdict::Plain),
        }
        count += 1;
        brace += entries;
    }
}
