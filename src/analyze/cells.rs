//! A row of a table, cell by cell, a [piece](super::piece) at a time.

use super::piece::{PIECE, Scalar, ending, is_odd, is_short, put_rest, window};
use super::shape::Column;
use crate::scan::arch::{Kernel, SPAN};

/// All that a row needs, in one place, as for [`Run`](super::member::Run).
pub(super) struct Row<'a> {
    pub(super) text: &'a [u8],
    /// The text from the table's bracket on.
    pub(super) table: &'a [u8],
    pub(super) columns: &'a [Column],
    /// The entries of the row, from its first key to its closing brace.
    pub(super) places: &'a [u32],
    /// Where to write.
    pub(super) room: &'a mut [u8],
}

impl Row<'_> {
    /// Writes the row's values, if all is plain. How many bytes they are, or none if anything is out of the ordinary.
    #[inline(never)]
    pub(super) fn go<K: Kernel>(&mut self, kernel: K) -> Option<usize> {
        kernel.enter(
            #[inline(always)]
            || self.cells(kernel),
        )
    }

    #[inline(always)]
    fn cells<K: Kernel>(&mut self, kernel: K) -> Option<usize> {
        let (&[first], rest) = self.places.split_first_chunk::<1>()?;
        let (last, columns) = self.columns.split_last()?;
        let (pairs, []) = rest.as_chunks::<2>() else { return None };
        let (&last_pair, pairs) = pairs.split_last()?;
        if pairs.len() != columns.len() {
            return None;
        }
        let mut room = std::mem::take(&mut self.room);
        let most = room.len();
        let mut key = first;
        for (column, &[value, next]) in columns.iter().zip(pairs) {
            let bytes = self.cell::<false, K>(kernel, column, [key, value, next], room)?;
            room = &mut room[bytes..];
            key = next;
        }
        let bytes = self.cell::<true, K>(kernel, last, [key, last_pair[0], last_pair[1]], room)?;
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
        let (whole, bytes) = (next.wrapping_sub(key), next.wrapping_sub(value));
        let from: &[u8; PIECE] = window(self.text, value)?;
        *room.first_chunk_mut()? = *from;
        if is_short(whole) {
            if is_odd(piece, length, piece[if LAST { whole - 1 } else { whole - 2 }]) {
                return None;
            }
        } else if piece[length] != b'"' || !put_rest(&self.text[value..], bytes, room) {
            return None;
        }
        Some(bytes)
    }
}
