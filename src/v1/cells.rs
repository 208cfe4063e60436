//! Rows of a table whose shape is known, cell by cell, a [piece](super::block) at a time.
//!
//! A cell is copied with its comma, which is STC's too; behind a row's last one comes what separates it from the next.

use super::analyze::Expansion;
use super::block::{PIECE, window};
use super::fast_path::same;
use super::shape::Column;
use crate::buffer::Pen;
use crate::format::ROW_SEPARATOR;
use crate::json::scalar::{Scalar, ending};
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{copy, put_rest};
use crate::json::tape::follows;

/// All that rows need, in one place, as for [`Run`](super::members::Run).
pub(super) struct Rows<'a> {
    pub(super) text: &'a [u8],
    /// The text from the table's bracket on.
    pub(super) table: &'a [u8],
    pub(super) columns: &'a [Column],
    /// The entries that are left, from a row's brace on.
    pub(super) places: &'a [u32],
    /// Where to write.
    pub(super) room: &'a mut [u8],
    /// Is the table's last row to be taken too?
    pub(super) whole: bool,
    pub(super) expansion: Expansion,
    /// How far the next row may reach.
    pub(super) reach: u64,
}

impl Rows<'_> {
    /// Writes rows like the first, each with what separates it from the next. How many?
    #[inline(always)]
    pub(super) fn go<K: Kernel>(&mut self, kernel: K) -> u64 {
        let mut rows = 0;
        loop {
            rows += self.run(kernel);
            match self.other(kernel) {
                Some(()) => rows += 1,
                None => return rows,
            }
        }
    }

    /// Rows for as long as all is plain.
    #[inline(never)]
    fn run<K: Kernel>(&mut self, kernel: K) -> u64 {
        kernel.enter(
            #[inline(always)]
            || self.plain(kernel),
        )
    }

    #[inline(always)]
    fn plain<K: Kernel>(&mut self, kernel: K) -> u64 {
        let (text, entries) = (self.text, self.entries());
        let (mut places, mut reach) = (self.places, self.reach);
        let mut room = std::mem::take(&mut self.room);
        let mut rows = 0;
        while let Some(row) = places.get(..entries + 1) {
            let &[brace, ref members @ .., after] = row else { break };
            let &[first, .., close] = members else { break };
            if first != brace + 1 || u64::from(after) > reach {
                break;
            }
            let Some(bytes) = self.cells(kernel, members, room) else { break };
            let Some(behind) = window(text, close as usize) else { break };
            if *behind == *b"},{" {
                let Some(separator) = room.get_mut(bytes..bytes + ROW_SEPARATOR.len()) else { break };
                separator.copy_from_slice(ROW_SEPARATOR);
                room = &mut std::mem::take(&mut room)[bytes..];
                reach = self.expansion.reach(room.len());
                room = &mut std::mem::take(&mut room)[ROW_SEPARATOR.len()..];
            } else if self.whole && behind[..2] == *b"}]" {
                room = &mut std::mem::take(&mut room)[bytes..];
            } else {
                break;
            }
            rows += 1;
            places = &places[entries..];
        }
        (self.places, self.room, self.reach) = (places, room, reach);
        rows
    }

    /// How many entries a row has.
    #[inline(always)]
    fn entries(&self) -> usize {
        2 * self.columns.len() + 2
    }

    /// Writes the values of a row, from its first key to its closing brace. How many bytes they are, or none if anything
    /// is out of the ordinary.
    #[inline(always)]
    fn cells<K: Kernel>(&self, kernel: K, members: &[u32], room: &mut [u8]) -> Option<usize> {
        let (&[first], rest) = members.split_first_chunk::<1>()?;
        let (last, columns) = self.columns.split_last()?;
        let (pairs, []) = rest.as_chunks::<2>() else { return None };
        let (&[value, close], pairs) = pairs.split_last()?;
        let most = room.len();
        let mut room = room;
        let mut key = first;
        for (column, &[value, next]) in columns.iter().zip(pairs) {
            let bytes = self.cell::<false, K>(kernel, column, [key, value, next], room)?;
            room = &mut room[bytes..];
            key = next;
        }
        let bytes = self.cell::<true, K>(kernel, last, [key, value, close], room)?;
        Some(most - room.len() + bytes)
    }

    /// Writes a cell with what is behind it, up to the next entry. How many bytes is that?
    #[inline(always)]
    fn cell<const LAST: bool, K: Kernel>(
        &self,
        kernel: K,
        column: &Column,
        places: [u32; 3],
        room: &mut [u8],
    ) -> Option<usize> {
        let [key, value, next] = places.map(|place| place as usize);
        let piece: &[u8; PIECE] = window(self.text, key)?;
        let length = value.wrapping_sub(key);
        let wanted: &[u8; SPAN] = window(self.table, column.key_start())?;
        if length != column.key_len() || length >= SPAN || kernel.equal_len(piece.first_chunk()?, wanted) < length {
            return None;
        }
        let ending = ending(self.text, next)?;
        let scalar = Scalar::of(piece[length]);
        if !(if LAST { scalar.is_last(ending) } else { scalar.has_more(ending) }) {
            return None;
        }
        let bytes = next.wrapping_sub(value);
        let from: &[u8; PIECE] = window(self.text, value)?;
        *room.first_chunk_mut()? = *from;
        if bytes > PIECE && !put_rest(&self.text[value..], bytes, room) {
            return None;
        }
        Some(bytes)
    }

    /// A row that is like the first but not plain: with a long key, say, or at the end of the text.
    #[inline(never)]
    fn other<K: Kernel>(&mut self, kernel: K) -> Option<()> {
        let (text, entries) = (self.text, self.entries());
        let &[brace, ref members @ .., after] = self.places.get(..entries + 1)? else { return None };
        let mut key = *members.first()? as usize;
        if key != brace as usize + 1 || u64::from(after) > self.reach {
            return None;
        }
        crate::slow_path::count_slow_step();
        let mut pen = Pen::of(self.room);
        let mut last = true;
        for (column, pair) in self.columns.iter().zip(members[1..].as_chunks::<2>().0) {
            let [value, next] = pair.map(|place| place as usize);
            let first = column.key();
            let length = first.len();
            if value != key + length || !same(kernel, text, key, self.table, first.start, length) {
                return None;
            }
            last = !follows(text, value, next, b'}')?;
            // With its comma, which is STC's too.
            copy(text, value, next, &mut pen);
            key = next;
        }
        let mut bytes = pen.written();
        let mut reach = self.reach;
        match window(text, key)? {
            _ if !last => return None,
            b"},{" => {
                reach = self.expansion.reach(pen.left());
                pen.write(ROW_SEPARATOR);
                bytes = pen.written();
            }
            [_, b']', _] if self.whole => {}
            _ => return None,
        }
        self.room = &mut std::mem::take(&mut self.room)[bytes..];
        self.reach = reach;
        self.places = &self.places[entries..];
        Some(())
    }
}
