//! Fast path: rows of a table whose shape is known, cell by cell.
//!
//! A row has the first row's bytes where that has keys, so keys are compared and never read. A cell is copied with the
//! comma after it, which STC has too; after the last cell of a row comes the row separator.
//!
//! ```text
//! keys of the first row   "id":  "name":
//! in                      {"id":7,"name":"x"},{"id":8,"name":"y"}]
//! out                     7,"x" / 8,"y"
//! ```

use super::cursor::{Cursor, bytes_at, is_equal};
use super::shape::ShapeColumn;
use crate::buffer::{BLOCK, Pen};
use crate::format::ROW_SEPARATOR;
use crate::json::scalar::{Scalar, ending};
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::span::{copy, copy_further_blocks};
use crate::json::tape::follows;

/// The fast path over rows.
pub(super) struct Rows<'a> {
    /// At a row's brace.
    pub(super) cursor: Cursor<'a>,
    /// The text from the table's bracket on.
    pub(super) table: &'a [u8],
    pub(super) columns: &'a [ShapeColumn],
    /// Whether to write the table's last row too, after which `]` comes.
    pub(super) writes_last: bool,
    /// The offset that the next row may reach by the limit on expansion.
    pub(super) reach: u64,
}

impl Rows<'_> {
    /// Writes rows that have the shape of the first, each with the separator after it. Returns how many.
    #[inline(always)]
    pub(super) fn write<K: Kernel>(&mut self, kernel: K) -> u64 {
        let mut rows = 0;
        loop {
            rows += self.write_plain(kernel);
            match self.write_other(kernel) {
                Some(()) => rows += 1,
                None => return rows,
            }
        }
    }

    /// Writes rows up to the first with a long key or near the end of the text.
    #[inline(never)]
    fn write_plain<K: Kernel>(&mut self, kernel: K) -> u64 {
        kernel.enter(
            #[inline(always)]
            || self.plain_rows(kernel),
        )
    }

    #[inline(always)]
    fn plain_rows<K: Kernel>(&mut self, kernel: K) -> u64 {
        let (text, entries) = (self.cursor.text, self.entries());
        let (mut index, mut reach) = (self.cursor.index, self.reach);
        let mut room = std::mem::take(&mut self.cursor.room);
        let mut rows = 0;
        while let Some(row) = index.get(..entries + 1) {
            let &[brace, ref members @ .., after] = row else { break };
            let &[first, .., close] = members else { break };
            if first != brace + 1 || u64::from(after) > reach {
                break;
            }
            let Some(bytes) = self.write_cells(kernel, members, room) else { break };
            let Some(end) = bytes_at(text, close as usize) else { break };
            if *end == *b"},{" {
                let Some(separator) = room.get_mut(bytes..bytes + ROW_SEPARATOR.len()) else { break };
                separator.copy_from_slice(ROW_SEPARATOR);
                room = &mut std::mem::take(&mut room)[bytes..];
                reach = self.cursor.expansion.reach(room.len());
                room = &mut std::mem::take(&mut room)[ROW_SEPARATOR.len()..];
            } else if self.writes_last && end[..2] == *b"}]" {
                room = &mut std::mem::take(&mut room)[bytes..];
            } else {
                break;
            }
            rows += 1;
            index = &index[entries..];
        }
        (self.cursor.index, self.cursor.room, self.reach) = (index, room, reach);
        rows
    }

    /// Returns how many entries a row has.
    #[inline(always)]
    fn entries(&self) -> usize {
        2 * self.columns.len() + 2
    }

    /// Writes the cells of a row, whose entries from the first key to the closing brace are `members`. Returns the number of
    /// bytes, or none if a cell needs [`write_other`](Self::write_other) or the slow path.
    #[inline(always)]
    fn write_cells<K: Kernel>(&self, kernel: K, members: &[u32], room: &mut [u8]) -> Option<usize> {
        let (&[first], rest) = members.split_first_chunk::<1>()?;
        let (last, columns) = self.columns.split_last()?;
        let (pairs, []) = rest.as_chunks::<2>() else { return None };
        let (&[value, close], pairs) = pairs.split_last()?;
        let room_len = room.len();
        let mut room = room;
        let mut key = first;
        for (column, &[value, next]) in columns.iter().zip(pairs) {
            let bytes = self.write_cell::<false, K>(kernel, column, [key, value, next], room)?;
            room = &mut room[bytes..];
            key = next;
        }
        let bytes = self.write_cell::<true, K>(kernel, last, [key, value, close], room)?;
        Some(room_len - room.len() + bytes)
    }

    /// Writes a cell and the comma after it, if it is not the last of its row. `places` are the entries of its key, its value
    /// and what follows. Returns the number of bytes.
    #[inline(always)]
    fn write_cell<const LAST: bool, K: Kernel>(
        &self,
        kernel: K,
        column: &ShapeColumn,
        places: [u32; 3],
        room: &mut [u8],
    ) -> Option<usize> {
        let text = self.cursor.text;
        let [key, value, next] = places.map(|place| place as usize);
        let member: &[u8; BLOCK] = bytes_at(text, key)?;
        let length = value.wrapping_sub(key);
        let expected: &[u8; SPAN] = bytes_at(self.table, column.key_start())?;
        if length != column.key_len() || length >= SPAN || kernel.equal_len(member.first_chunk()?, expected) < length {
            return None;
        }
        let ending = ending(text, next)?;
        let scalar = Scalar::of(member[length]);
        if !(if LAST { scalar.is_last(ending) } else { scalar.has_more(ending) }) {
            return None;
        }
        let bytes = next.wrapping_sub(value);
        let from: &[u8; BLOCK] = bytes_at(text, value)?;
        *room.first_chunk_mut()? = *from;
        if bytes > BLOCK && !copy_further_blocks(&text[value..], bytes, room) {
            return None;
        }
        Some(bytes)
    }

    /// Writes one row with keys of any length, anywhere in the text.
    #[inline(never)]
    fn write_other<K: Kernel>(&mut self, kernel: K) -> Option<()> {
        let (text, entries) = (self.cursor.text, self.entries());
        let &[brace, ref members @ .., after] = self.cursor.index.get(..entries + 1)? else { return None };
        let mut key = *members.first()? as usize;
        if key != brace as usize + 1 || u64::from(after) > self.reach {
            return None;
        }
        crate::slow_path::count_slow_step();
        let mut pen = Pen::of(self.cursor.room);
        let mut is_last = true;
        for (column, pair) in self.columns.iter().zip(members[1..].as_chunks::<2>().0) {
            let [value, next] = pair.map(|place| place as usize);
            let first_row = column.key();
            let length = first_row.len();
            if value != key + length || !is_equal(kernel, text, key, self.table, first_row.start, length) {
                return None;
            }
            is_last = !follows(text, value, next, b'}')?;
            // With the comma, which STC has too.
            copy(text, value, next, &mut pen);
            key = next;
        }
        let mut bytes = pen.written();
        let mut reach = self.reach;
        match bytes_at(text, key)? {
            _ if !is_last => return None,
            b"},{" => {
                reach = self.cursor.expansion.reach(pen.left());
                pen.write(ROW_SEPARATOR);
                bytes = pen.written();
            }
            [_, b']', _] if self.writes_last => {}
            _ => return None,
        }
        self.cursor.room = &mut std::mem::take(&mut self.cursor.room)[bytes..];
        self.reach = reach;
        self.cursor.index = &self.cursor.index[entries..];
        Some(())
    }
}
