//! The cells of rows, tuples and spliced objects (STC.md, sections 16.2, 17.4 and 17.9).
//!
//! Commas are counted before they are written: an empty cell is nothing but one comma more before the next cell. For the
//! columns `a,b?,c?,d` and the object `{"a":1,"d":2}` the cell of `d` comes after three commas: `1,,,2`.

use super::{Traversal, VisitFrame, VisitKind, Visitor};
use crate::format::{COMMA, LINE_FEED, TUPLE_CLOSE};
use crate::v2::plan::columns::filling::Filling;
use crate::v2::plan::columns::{ColumnId, ColumnRole, ListId, NONE};
use crate::v2::tree::{TextRange, Token};

impl VisitKind {
    /// Returns the row, tuple or spliced object, from this column on.
    #[inline(always)]
    fn at(self, column: ColumnId) -> Self {
        match self {
            Self::Row(_) => Self::Row(column),
            Self::Spliced(_) => Self::Spliced(column),
            _ => Self::Tuple(column),
        }
    }
}

impl<V: Visitor> Traversal<'_, '_, V> {
    /// Visits the cells of the innermost row, tuple or spliced object from this column on, up to one that is a container, or
    /// to the end.
    #[inline(always)]
    pub(super) fn cells(&mut self, mut id: ColumnId) {
        let tree = self.tree;
        let VisitFrame { kind, mut at, close, is_first, .. } = self.top;
        // The commas before the next cell.
        let mut commas = usize::from(!is_first);
        if id != NONE {
            let columns = self.columns;
            let objects = columns.list(columns.column(id).list).objects;
            while id != NONE {
                let mut column = columns.column(id);
                if column.rows != objects {
                    let empty;
                    (id, empty) = self.skip_absent(id, at, close);
                    commas += empty;
                    if id == NONE {
                        break;
                    }
                    column = columns.column(id);
                }
                let this = id;
                let value = at + 1;
                let (range, after) = tree.value_range(value);
                at = after;
                id = column.next;
                if matches!(column.role, ColumnRole::Constant | ColumnRole::Template(_))
                    || V::VISITS_OBJECTS_ONLY && !(column.writes_objects && tree.has_object(value))
                {
                    continue;
                }
                if column.role == ColumnRole::Spliced {
                    if V::VISITS_SPLICES || column.keeps_splice {
                        self.put_empty_cells(commas);
                        self.top.kind = kind.at(id);
                        self.top.at = at;
                        self.top.is_first = commas == 0;
                        return self.splice(value, column.nested);
                    }
                    self.visitor.spliced_object(value, this);
                }
                if column.has_default && tree.same_bytes(column.frequent_range, range) {
                    commas += 1;
                    continue;
                }
                self.put_empty_cells(commas);
                let comma = commas > 0;
                commas = 1;
                if after == value + 1 {
                    if let Some(filling) = columns.filling(column) {
                        self.filled(comma, value, range, filling);
                        continue;
                    }
                    self.scalar(comma, value, range);
                    continue;
                }
                if comma {
                    self.visitor.put(&[COMMA]);
                }
                self.top.kind = kind.at(id);
                self.go_on_at(at);
                let tuples = matches!(column.role, ColumnRole::Nested | ColumnRole::Spliced);
                return self.container(value, if tuples { column.nested } else { NONE });
            }
        }
        debug_assert_eq!(at, close, "an object has other keys than its columns");
        if at != close {
            self.visitor.fail();
        }
        self.end_cells(kind, commas);
    }

    /// Visits a scalar in the cell of a filled column (section 17.11): a word, a whole string in quotes, or a literal.
    fn filled(&mut self, comma: bool, value: Token, range: TextRange, filling: &Filling) {
        let text = self.tree.text;
        let (from, to) = match self.tree.first(value) {
            b'"' => match filling.word(text, range) {
                Some(word) => word,
                None => {
                    if comma {
                        self.visitor.put(&[COMMA]);
                    }
                    return self.visitor.string(self.tree, value, false);
                }
            },
            b't' | b'f' | b'n' => (range.start(), range.end()),
            // The plan has seen to it that there is no number.
            _ => return self.visitor.fail(),
        };
        self.visitor.copy(comma, text, from, to);
    }

    /// Returns the column of the key `at`, and how many empty cells come before its cell. The search begins at `column`. Each
    /// optional column that it passes is a key that the object lacks, so an empty cell. After the object's last key it returns
    /// [`NONE`] and counts all optional columns that are left.
    #[inline(always)]
    fn skip_absent(&self, column: ColumnId, at: Token, close: Token) -> (ColumnId, usize) {
        let (tree, columns) = (self.tree, self.columns);
        let from = columns.column(column);
        let found =
            if at < close { columns.find(tree, from.list, column, tree.key_range(at)).unwrap_or(NONE) } else { NONE };
        let optionals = match found {
            NONE => columns.list(from.list).optional_columns,
            found => columns.column(found).optionals_before,
        };
        (found, optionals.saturating_sub(from.optionals_before) as usize)
    }

    /// Ends a row, tuple or spliced object after its last cell.
    #[inline(always)]
    fn end_cells(&mut self, kind: VisitKind, commas: usize) {
        self.put_empty_cells(commas);
        match kind {
            VisitKind::Spliced(_) => {
                self.pop();
                self.top.is_first = commas == 0;
            }
            VisitKind::Row(_) => self.end(&[LINE_FEED]),
            _ => self.end(&[TUPLE_CLOSE]),
        }
    }

    /// Goes on with the cells of an object in the row or tuple around it.
    fn splice(&mut self, object: Token, list: ListId) {
        let is_first = self.top.is_first;
        self.push(object, VisitKind::Spliced(self.columns.list(list).head));
        self.top.is_first = is_first;
    }

    /// Writes all commas but the last, which belongs to the cell after them.
    #[inline(always)]
    fn put_empty_cells(&mut self, commas: usize) {
        if commas > 1 {
            self.put_commas(commas - 1);
        }
    }

    fn put_commas(&mut self, mut count: usize) {
        const COMMAS: &[u8; 64] = &[COMMA; 64];
        while count > 0 {
            let some = count.min(COMMAS.len());
            self.visitor.put(&COMMAS[..some]);
            count -= some;
        }
    }
}
