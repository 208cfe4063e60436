//! The fast path over a short tuple (grammar/STC.md, section 17.4) whose cells are scalars, as a part of the
//! [fast path over objects of open lists](crate::decode::v2::object_fast_path).
//!
//! Most tuples in such objects are of this kind. Their frame need not be opened: with one, and with the change to the fast path over
//! rows and back, a tuple took twice as many instructions.

use crate::buffer::Pen;
use crate::decode::cursor::{Cursor, SLACK};
use crate::decode::v2::columns::{ColumnKind, ColumnList, FixedText, NONE};
use crate::decode::v2::schema::Schema;
use crate::format::COMMA;
use crate::json::scan::arch::Kernel;
use crate::json::span::copy;

/// The most cells of a tuple that is read here.
const MAX_CELLS: usize = 8;

/// A cell that has been found.
#[derive(Clone, Copy, Default)]
struct Found {
    start: usize,
    end: usize,
    bare: bool,
}

/// Reads the rest of the tuple at the cursor, after its parenthesis, and writes it as an object; returns where it ends. None, and
/// nothing is written, if the tuple has another form or too many cells, or there is no room. What is before its first cell has
/// been looked at: it opens nothing and has no template.
#[inline(always)]
pub(super) fn short_tuple<K: Kernel>(
    schema: &Schema,
    list: &ColumnList,
    cursor: &Cursor<'_, K>,
    pen: &mut Pen<'_, u8>,
) -> Option<usize> {
    let mut cells = [Found::default(); MAX_CELLS];
    let (mut start, mut id, mut length) = (cursor.at, list.first_cell, list.fixed_before.len());
    // All cells are found before the first is written.
    for cell in &mut cells {
        let column = schema.column(id);
        let fixed = column.fixed_after;
        if column.kind != ColumnKind::Cell || column.in_template || fixed.has_template || fixed.depth_change != 0 {
            return None;
        }
        let (end, bare) = cursor.member_end(start)?;
        *cell = Found { start, end, bare };
        // With the comma before the key, and two quotes.
        length += column.key.len() + fixed.len() + end - start + 3;
        start = end + 1;
        id = column.next_cell;
        if cursor.bytes[end] != if id == NONE { b')' } else { COMMA } {
            return None;
        }
        if id == NONE {
            break;
        }
    }
    if id != NONE || length + SLACK > pen.left() {
        return None;
    }
    pen.write(b"{");
    let mut has_key = write_fixed(schema, list.fixed_before, false, pen);
    let mut id = list.first_cell;
    for cell in cells {
        let column = schema.column(id);
        copy(&schema.text, column.key.start - usize::from(has_key), column.key.end, pen);
        cursor.copy_scalar(cell.start, cell.end, cell.bare, pen);
        has_key = write_fixed(schema, column.fixed_after, true, pen);
        id = column.next_cell;
        if id == NONE {
            break;
        }
    }
    pen.write(b"}");
    Some(start)
}

/// Writes what every tuple has before or after a cell; returns whether the object has a key now.
#[inline(always)]
fn write_fixed(schema: &Schema, fixed: FixedText, has_key: bool, pen: &mut Pen<'_, u8>) -> bool {
    if !fixed.is_empty() {
        copy(&schema.text, fixed.start(has_key), fixed.to, pen);
    }
    has_key || !fixed.is_empty()
}
