//! Columns of a header of version 2, many at a time, in input that is clean: under the rules of the
//! [`sprint`](crate::decode::fast_path).

use crate::decode::cursor::Cursor;
use crate::decode::machine::Machine;
use crate::decode::state::{State, V2State};
use crate::decode::v2::schema::Kind;
use crate::format::COMMA;
use crate::json::scan::arch::Kernel;

impl Machine {
    /// Reads columns from a key of a list on; returns the position it came to. Takes cells, constants that are scalars, optional
    /// columns, and what opens a list.
    pub(crate) fn fast_columns<K: Kernel>(&mut self, mut cursor: Cursor<'_, K>) -> usize {
        cursor.kernel.enter(
            #[inline(always)]
            || {
                while let Some(end) = self.column(&cursor) {
                    cursor.at = end;
                    if self.state != State::V2(V2State::ListKey) {
                        break;
                    }
                }
                cursor.at
            },
        )
    }

    /// Reads a column from its key on, and returns where the next is; none, and nothing done, if it is for the machine.
    #[inline(always)]
    fn column<K: Kernel>(&mut self, cursor: &Cursor<'_, K>) -> Option<usize> {
        let Cursor { bytes, at, limits, .. } = *cursor;
        let (end, bare) = cursor.key_end(at)?;
        let room = self.v2.schema.room(limits).checked_sub(end - at)?;
        let behind: &[u8; 2] = bytes.get(end..)?.first_chunk()?;
        let value = end + 1;
        let constant = match behind {
            [b'=', _] => {
                let after = cursor.scalar_end(value)?;
                (after - value <= room && matches!(bytes.get(after), Some(&COMMA | b'}'))).then_some(after)?;
                Some(after)
            }
            _ => None,
        };
        let schema = &mut self.v2.schema;
        schema.begin_key(cursor.offset(), limits).ok()?;
        if bare {
            schema.quote();
        }
        schema.put_key(&bytes[at..end]);
        schema.counted(end - at);
        if bare {
            schema.quote();
        }
        schema.end_key();
        let (state, next) = match (behind, constant) {
            (_, Some(after)) => {
                schema.set_value(false, &bytes[value..after], 0);
                let more = bytes[after] == COMMA;
                (
                    if more { V2State::ListKey } else { V2State::AfterColumn { default: false } },
                    after + usize::from(more),
                )
            }
            ([COMMA, _], _) => (V2State::ListKey, end + 1),
            ([b'?', COMMA], _) => {
                schema.last().kind = Kind::Optional;
                (V2State::ListKey, end + 2)
            }
            ([b'.', b'{'], _) => {
                schema.open_splice();
                (V2State::ListKey, end + 2)
            }
            ([b'{', _], _) => {
                schema.open_list();
                (V2State::ListKey, end + 1)
            }
            _ => (V2State::AfterListKey, end),
        };
        self.state = State::V2(state);
        Some(next)
    }
}
