//! The cost model: what a form saves, in estimated tokens.
//!
//! Values are written the same in every form, so the model does not read them, except where a form leaves some out. Forms
//! differ in keys and punctuation, and their cost is known well enough: byte-pair encodings take a word of a key as one token
//! and several punctuation marks as another. All costs are in quarters of a token ([`TOKEN_COST`] is 4).

use super::columns::{Column, ColumnId, ColumnRole, Columns, List, ListId, NONE};
use crate::estimate::{TOKEN_COST, tokens};
use crate::format::is_bare;
use crate::v2::tree::{Token, Tree};

/// The cost of an empty cell: its comma mostly shares a token with others.
const EMPTY_CELL_COST: i64 = 2;
/// The cost of a table besides its columns: `[12]`, `:` and the line feed.
const TABLE_COST: i64 = 4 * TOKEN_COST;
/// The cost of a tuple's brackets.
const TUPLE_COST: i64 = TOKEN_COST;
/// The cost of a nested list besides its columns: its braces.
const NESTED_LIST_COST: i64 = 2 * TOKEN_COST;
/// How many times as much a splice must save as a default, with references: an object that is frequent may get copies.
const SPLICE_OVER_DEFAULT: i64 = 4;
/// The most rows for each row that has the default. Rarer defaults would save a thousandth of a document.
const ROWS_PER_DEFAULT: u32 = 32;

/// Decides the role of each column of a table, and of the lists below it, and returns what the table saves.
pub(super) fn decide_table(tree: Tree<'_>, columns: &mut Columns<'_>, table: ListId) -> i64 {
    // The list of a column comes after the list that the column belongs to.
    for list in (table..columns.list_count()).rev() {
        let List { head, parent, complete, .. } = *columns.list(list);
        let mut saving = if parent == NONE { -TABLE_COST } else { -NESTED_LIST_COST };
        let (mut optional_columns, mut required_columns) = (0, 0);
        let mut writes_objects = !complete;
        let mut at = head;
        while at != NONE {
            let Column { rows, next, .. } = *columns.column(at);
            let objects = columns.list(list).objects;
            columns.column_mut(at).optionals_before = optional_columns;
            optional_columns += u32::from(rows > 0 && rows < objects);
            required_columns += u32::from(rows == objects);
            saving += decide_column(tree, columns, at, objects);
            writes_objects |= columns.column(at).writes_objects;
            at = next;
        }
        let decided = columns.list_mut(list);
        (decided.optional_columns, decided.required_columns) = (optional_columns, required_columns);
        (decided.saving, decided.writes_objects) = (saving, writes_objects);
    }
    columns.list(table).saving
}

/// Decides how a column is written and returns what that saves. The list below it is decided.
fn decide_column(tree: Tree<'_>, columns: &mut Columns<'_>, id: ColumnId, objects: u32) -> i64 {
    let column = *columns.column(id);
    let nested = if column.nested == NONE { None } else { Some(columns.list(column.nested)) };
    let (mut role, mut saving) = role_of(tree, &column, objects, nested.map_or(0, |nested| nested.saving));
    let mut by_default =
        if role == ColumnRole::Constant { 0 } else { default_saving(tree, columns, &column, objects).max(0) };
    let by_splice = splice_saving(columns, &column, objects);
    let weight = if columns.merged.is_some() { SPLICE_OVER_DEFAULT } else { 1 };
    let may_splice = role == ColumnRole::Nested && by_splice > by_default;
    let splices = may_splice && by_splice > weight * by_default;
    if splices {
        role = ColumnRole::Spliced;
        saving += by_splice;
        by_default = 0;
    }
    // A value that all objects share, except those that lack the column, has not been merged.
    let no_objects = nested.is_none() && (!column.uniform || column.rows > 0 && !tree.has_object(column.frequent));
    let nested_writes = nested.is_some_and(|nested| nested.writes_objects);
    columns.kept_for_anchors |= may_splice && !splices;
    let decided = columns.column_mut(id);
    decided.role = role;
    decided.has_default = by_default > 0;
    decided.writes_objects |= nested_writes || column.rows > 0 && role == ColumnRole::Cell && !no_objects;
    saving + by_default
}

/// Returns how a column is best written, and what that saves. `nested` is what the list below it saves.
fn role_of(tree: Tree<'_>, column: &Column, objects: u32, nested: i64) -> (ColumnRole, i64) {
    if column.rows == 0 {
        return (ColumnRole::Cell, 0);
    }
    let rows = i64::from(column.rows);
    let absent = i64::from(objects) - rows;
    // Every object that has it leaves out the key and its colon; the header has the key once.
    let key = tokens(tree.key_body(column.key)) + TOKEN_COST;
    let mut saved = (rows - 1) * key - absent * EMPTY_CELL_COST;
    if absent > 0 {
        saved -= TOKEN_COST;
    } else if column.uniform && rows > 1 {
        let value = tokens(tree.value(column.frequent)) + TOKEN_COST / 2;
        return (ColumnRole::Constant, saved + (rows - 1) * value);
    }
    if nested > 0 { (ColumnRole::Nested, saved + nested) } else { (ColumnRole::Cell, saved) }
}

/// Returns what it saves to have the frequent value in the header and empty cells for it; not positive if it does not pay.
fn default_saving(tree: Tree<'_>, columns: &Columns<'_>, column: &Column, objects: u32) -> i64 {
    let Column { rows, frequent, frequent_count, .. } = *column;
    // One empty cell never pays for the value in the header, and a rare one is not worth the reader's effort.
    if rows < objects || rows == 0 || column.uniform || frequent_count < 2 || frequent_count < rows / ROWS_PER_DEFAULT {
        return 0;
    }
    if !columns.container_defaults && tree.is_container(frequent) {
        return 0;
    }
    let value = if column.nested == NONE || tree.first(frequent) != b'{' {
        tokens(tree.value(frequent))
    } else {
        tuple_cost(tree, columns, column.nested, frequent)
    };
    i64::from(frequent_count) * (value - TOKEN_COST / 4) - value - 2 * TOKEN_COST
}

/// Returns what an object costs as a tuple of a list, without its keys and without what the header has of it.
pub(super) fn tuple_cost(tree: Tree<'_>, columns: &Columns<'_>, list: ListId, object: Token) -> i64 {
    let mut cost = TUPLE_COST;
    let mut cells = columns.of(list).map(|id| columns.column(id));
    for value in tree.values(object) {
        let key = tree.key_range(value - 1);
        let Some(cell) = cells.find(|cell| tree.same_bytes(cell.key_range, key)) else {
            return tokens(tree.value(object));
        };
        let is_default = cell.has_default && tree.same_bytes(cell.frequent_range, tree.value_range(value).0);
        cost +=
            if cell.role == ColumnRole::Constant || is_default { TOKEN_COST / 4 } else { tokens(tree.value(value)) };
    }
    cost
}

/// Returns what it saves to splice a column's objects into the row; zero if some row has no object there, or one that is no
/// tuple.
fn splice_saving(columns: &Columns<'_>, column: &Column, objects: u32) -> i64 {
    if column.nested == NONE || column.rows < objects {
        return 0;
    }
    let nested = columns.list(column.nested);
    if nested.in_arrays || nested.objects < column.rows { 0 } else { saving_of_splice(column) }
}

/// Returns what a column saves by being spliced: the brackets of a tuple in each row.
pub(super) fn saving_of_splice(column: &Column) -> i64 {
    i64::from(column.rows) * TUPLE_COST
}

/// What a row costs that is left out of its table's list: its mark, which shares no token with the bracket after it.
pub(super) const WHOLE_ROW: i64 = TOKEN_COST;

/// What a literal after a bare key saves: `:null` is one token where `":null` is two.
pub(super) const LITERAL: i64 = TOKEN_COST;

/// Returns what an object that is written out costs by its bare keys, besides what its literals save. Mostly that is nothing:
/// `":"` and `:"` are both one token. But `"},{"` and `[{"` are one token, and `"},{id` and `[{id` have one more. So has an
/// object whose own key keeps its quotes.
pub(super) fn written_out_cost(tree: Tree<'_>, object: Token) -> i64 {
    let before = &tree.text[..tree.start(object)];
    let costs = match before.last() {
        Some(b'[') => true,
        Some(b',') => before.ends_with(b"\"},"),
        // `":{"` is one token, `":{` two.
        Some(b':') => has_quoted_key(tree, object),
        _ => false,
    };
    i64::from(costs) * TOKEN_COST
}

/// Returns whether the key of a member keeps its quotes.
fn has_quoted_key(tree: Tree<'_>, value: Token) -> bool {
    !is_bare(tree.key_body(value - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{array, with_columns, with_tree};

    /// Returns what a table saves, in quarters of a token, and the roles and defaults of its columns.
    fn saving(json: &str) -> (i64, Vec<(ColumnRole, bool)>) {
        with_columns(json, 100, false, |tree, columns| {
            let list = columns.merge_table(tree, 0, 100).expect("rows");
            let saving = decide_table(tree, columns, list);
            (saving, columns.of(list).map(|id| (columns.column(id).role, columns.column(id).has_default)).collect())
        })
    }

    /// A key is a token, and so is its colon. All rows of a table but one leave both out.
    const KEY_COST: i64 = 2 * TOKEN_COST;

    #[test]
    fn a_table_saves_keys_and_costs_a_header() {
        for count in 2..9 {
            let json = array(count as usize, |row| format!(r#"{{"a":{row},"b":{}}}"#, row + 1));
            let cells = vec![(ColumnRole::Cell, false); 2];
            assert_eq!(saving(&json), (2 * (count - 1) * KEY_COST - TABLE_COST, cells), "{count} rows");
        }
    }

    #[test]
    fn a_constant_saves_its_values_too() {
        let json = r#"[{"a":1,"b":"open"},{"a":2,"b":"open"},{"a":3,"b":"open"}]"#;
        let value = tokens(br#""open""#) + TOKEN_COST / 2;
        let roles = vec![(ColumnRole::Cell, false), (ColumnRole::Constant, false)];
        assert_eq!(saving(json), (2 * 2 * KEY_COST + 2 * value - TABLE_COST, roles));
    }

    #[test]
    fn a_key_that_some_rows_lack_costs_a_question_mark_and_empty_cells() {
        let json = r#"[{"a":1,"b":4},{"a":2},{"a":3,"b":5}]"#;
        assert_eq!(saving(json).0, 2 * KEY_COST + KEY_COST - EMPTY_CELL_COST - TOKEN_COST - TABLE_COST);
    }

    #[test]
    fn a_default_pays_once_it_saves_more_than_it_costs() {
        let json = |often: usize| {
            let rows = (0..often).map(|row| format!(r#"{{"a":{row},"b":"a long and likely value"}}"#));
            let rows: Vec<String> = rows.chain([r#"{"a":0,"b":"other"}"#.to_owned()]).collect();
            format!("[{}]", rows.join(","))
        };
        let value = tokens(br#""a long and likely value""#);
        for often in 2..6 {
            let saved = often as i64 * (value - TOKEN_COST / 4) - value - 2 * TOKEN_COST;
            assert!(saved > 0);
            let roles = vec![(ColumnRole::Cell, false), (ColumnRole::Cell, true)];
            assert_eq!(saving(&json(often)), (2 * often as i64 * KEY_COST + saved - TABLE_COST, roles));
        }
        assert_eq!(saving(&json(1)).1[1], (ColumnRole::Cell, false));
    }

    #[test]
    fn an_object_in_every_row_is_spliced_and_saves_its_brackets() {
        let json = r#"[{"a":1,"b":{"c":1,"d":2}},{"a":2,"b":{"c":3,"d":4}},{"a":3,"b":{"c":5,"d":6}}]"#;
        let nested = 2 * 2 * KEY_COST - NESTED_LIST_COST;
        let roles = vec![(ColumnRole::Cell, false), (ColumnRole::Spliced, false)];
        assert_eq!(saving(json), (2 * 2 * KEY_COST + nested + 3 * TUPLE_COST - TABLE_COST, roles));
    }

    /// Calls `read` with the columns of a table, decided with or without references, their list and what the table saves.
    fn decided<R>(json: &str, references: bool, read: impl FnOnce(Tree<'_>, &Columns<'_>, ListId, i64) -> R) -> R {
        with_columns(json, 1000, references, |tree, columns| {
            let list = columns.merge_table(tree, 0, 1000).expect("rows");
            let saving = decide_table(tree, columns, list);
            read(tree, columns, list, saving)
        })
    }

    /// Every table of up to seven rows in which a column is absent, has one value or has another each time.
    #[test]
    fn a_column_saves_its_keys_and_what_the_header_has_of_its_values() {
        const SAME: &str = r#""a long and likely value""#;
        let value = tokens(SAME.as_bytes());
        for kinds in (2..8).flat_map(|count| (0..3_usize.pow(count)).map(move |number| (count, number))) {
            let (count, number) = (kinds.0 as usize, kinds.1);
            let kind = |row: usize| number / 3_usize.pow(row as u32) % 3;
            let json = array(count, |row| match kind(row) {
                0 => format!(r#"{{"a":1{row}}}"#),
                1 => format!(r#"{{"a":1{row},"b":{SAME}}}"#),
                _ => format!(r#"{{"a":1{row},"b":2{row}}}"#),
            });
            let [absent, same, others] =
                [0, 1, 2].map(|wanted| (0..count).filter(|&row| kind(row) == wanted).count() as i64);
            let (count, present) = (count as i64, same + others);
            decided(&json, false, |tree, columns, list, saving| {
                let column = columns.of(list).nth(1).map(|id| columns.column(id));
                // Of values that alternate not all are counted.
                let is_same = |column: &&Column| tree.value(column.frequent) == SAME.as_bytes();
                let counted = column.filter(is_same).map_or(0, |column| i64::from(column.frequent_count));
                assert!(counted <= same, "{json}");
                let by_default = counted * (value - TOKEN_COST / 4) - value - 2 * TOKEN_COST;
                let has_default = absent == 0 && others > 0 && counted > 1 && by_default > 0;
                let of_values = match (absent, others) {
                    (0, 0) => (count - 1) * (value + TOKEN_COST / 2),
                    _ if has_default => by_default,
                    _ => 0,
                };
                let empty = if absent > 0 { absent * EMPTY_CELL_COST + TOKEN_COST } else { 0 };
                let of_column = if present > 0 { (present - 1) * KEY_COST - empty + of_values } else { 0 };
                assert_eq!(saving, (count - 1) * KEY_COST + of_column - TABLE_COST, "{json}");
                assert_eq!(column.is_some_and(|column| column.has_default), has_default, "{json}");
            });
        }
    }

    #[test]
    fn a_default_is_in_one_of_so_many_rows() {
        let per_default = ROWS_PER_DEFAULT as usize;
        for (often, count) in (2..6)
            .flat_map(|often| (often * per_default - 2..often * per_default + 34).map(move |count| (often, count)))
        {
            let json = array(count, |row| {
                if row < often { r#"{"b":"a long and likely value"}"#.to_owned() } else { format!(r#"{{"b":{row}}}"#) }
            });
            decided(&json, false, |_, columns, list, _| {
                let column = columns.column(columns.list(list).head);
                assert_eq!(column.frequent_count as usize, often);
                assert_eq!(column.has_default, often >= count / per_default, "{often} of {count}");
            });
        }
    }

    /// A string that is frequent beside objects costs its own tokens, not those of a tuple.
    #[test]
    fn a_default_may_be_a_string_beside_objects() {
        const SAME: &str = r#""a long and likely value""#;
        let json = array(5, |row| if row < 4 { format!(r#"{{"b":{SAME}}}"#) } else { r#"{"b":{"c":1}}"#.to_owned() });
        let value = tokens(SAME.as_bytes());
        decided(&json, false, |_, columns, list, saving| {
            assert!(columns.column(columns.list(list).head).has_default);
            assert_eq!(saving, 4 * KEY_COST + 4 * (value - TOKEN_COST / 4) - value - 2 * TOKEN_COST - TABLE_COST);
        });
    }

    #[test]
    fn a_tuple_costs_little_for_what_the_header_has() {
        let json = array(9, |row| {
            let often = if row < 6 { "the usual text of it".to_owned() } else { format!("x{row}") };
            format!(r#"{{"id":{row},"of":{{"same":"in all of them","often":"{often}","n":1{row}}}}}"#)
        });
        decided(&json, false, |tree, columns, list, _| {
            let of = columns.of(list).nth(1).map(|id| columns.column(id).nested).expect("a column");
            for (row, object) in tree.values(0).map(|row| tree.values(row).nth(1).expect("of")).enumerate() {
                let often = if row < 6 { TOKEN_COST / 4 } else { tokens(br#""x7""#) };
                let expected = TUPLE_COST + TOKEN_COST / 4 + often + tokens(b"17");
                assert_eq!(tuple_cost(tree, columns, of, object), expected, "row {row}");
            }
        });
    }

    /// With references a splice must save four times as much as a default; a column that got the default for it is noted.
    #[test]
    fn an_object_is_spliced_where_that_saves_more_than_a_default() {
        let (mut spliced, mut kept) = (0, 0);
        for (count, often) in (2..16).flat_map(|count| (0..count).map(move |often| (count, often))) {
            let json = array(count, |row| {
                format!(r#"{{"a":1{row},"x":{{"p":{}}}}}"#, if row < often { 777 } else { 100 + row })
            });
            for (references, weight) in [(false, 1), (true, 4)] {
                decided(&json, references, |tree, columns, list, _| {
                    let column = columns.column(columns.of(list).nth(1).expect("x"));
                    let first = tree.values(tree.values(0).next().expect("a row")).nth(1).expect("x");
                    let value = tuple_cost(tree, columns, column.nested, first);
                    let by_default = (often as i64 * (value - TOKEN_COST / 4) - value - 2 * TOKEN_COST).max(0);
                    let by_default = if often < 2 { 0 } else { by_default };
                    let by_splice = count as i64 * TUPLE_COST;
                    let pays = columns.list(column.nested).saving > 0;
                    let is_spliced = pays && by_splice > weight * by_default;
                    let expected = match (pays, is_spliced) {
                        (true, true) => ColumnRole::Spliced,
                        (true, false) => ColumnRole::Nested,
                        _ => ColumnRole::Cell,
                    };
                    assert_eq!(column.role, expected, "{often} of {count}, {references}");
                    assert_eq!(
                        columns.kept_for_anchors,
                        pays && !is_spliced && by_splice > by_default,
                        "{often} of {count}"
                    );
                    spliced += usize::from(is_spliced);
                    kept += usize::from(columns.kept_for_anchors);
                });
            }
        }
        assert!(spliced > 20 && kept > 5, "{spliced} {kept}");
        // A column that some rows lack is never spliced, and nothing is kept for anchors.
        let json = array(9, |row| {
            if row < 4 {
                format!(r#"{{"a":1{row},"x":{{"p":1{row},"q":1{row}}}}}"#)
            } else {
                format!(r#"{{"a":1{row}}}"#)
            }
        });
        decided(&json, true, |_, columns, list, _| {
            assert_eq!(columns.column(columns.of(list).nth(1).expect("x")).role, ColumnRole::Nested);
            assert!(!columns.kept_for_anchors);
        });
        // One column that is kept, and others before and after it that are not.
        let json = array(9, |row| {
            let (often, id) = (if row < 4 { 777 } else { 100 + row }, 100 + row);
            format!(r#"{{"w":{id},"x":{{"p":{often}}},"y":{{"p":{id}}},"z":{{"p":{often}}}}}"#)
        });
        decided(&json, true, |_, columns, _, _| assert!(columns.kept_for_anchors));
    }

    #[test]
    fn a_table_knows_whether_objects_are_written_out_in_its_cells() {
        let cases = [
            // The same object in some rows, in others none or another value.
            (r#"[{"a":1,"x":{"p":1}},{"a":2},{"a":3,"x":{"p":1}}]"#, true),
            (r#"[{"a":1,"x":{"p":1},"y":{"q":1}},{"a":2},{"a":3,"x":{"p":1},"y":{"q":1}}]"#, true),
            (r#"[{"a":1,"x":{"p":1}},{"a":2,"x":3},{"a":4,"x":{"p":2}}]"#, true),
            // Objects that disagree.
            (r#"[{"x":{"a":1,"b":2}},{"x":{"b":1,"a":2}},{"x":{"a":3,"b":4}}]"#, true),
            (r#"[{"x":{"a":1,"b":2}},{"x":{"b":1,"zz":5,"a":2}},{"x":{"a":3}}]"#, true),
            // Arrays in arrays, alone and beside tuples.
            (r#"[{"a":1,"x":[[{"p":1}]]},{"a":2,"x":[[{"p":2}]]}]"#, true),
            (r#"[{"a":1,"x":[{"p":1},[{"q":1}]]},{"a":2,"x":[{"p":2},[{"q":2}]]}]"#, true),
            (r#"[{"a":1,"y":{"k":[[{"p":1}]],"l":1,"m":1}},{"a":2,"y":{"k":[[{"p":2}]],"l":2,"m":3}}]"#, true),
            (r#"[{"a":1,"x":[1]},{"a":2,"x":[2]}]"#, false),
            (r#"[{"a":1,"x":2},{"a":2}]"#, false),
            (r#"[{"a":1,"x":5},{"a":2},{"a":3,"x":5}]"#, false),
            (r#"[{"a":1,"x":[[]]},{"a":2},{"a":3,"x":[[]]}]"#, false),
            (r#"[{"a":1,"x":{"p":1}},{"a":2,"x":{"p":1}}]"#, false),
            (r#"[{"a":1,"x":{"p":1,"q":2}},{"a":2,"x":{"p":3,"q":4}},{"a":2,"x":{"p":5,"q":6}}]"#, false),
        ];
        for (json, expected) in cases {
            decided(json, false, |_, columns, list, _| {
                assert_eq!(columns.list(list).writes_objects, expected, "{json}")
            });
        }
    }

    /// Keys that only an object has that is left out of its list are no columns of the list.
    #[test]
    fn a_column_is_optional_if_objects_of_its_list_lack_it() {
        let json = r#"[{"x":{"a":1,"b":2,"c":3}},{"x":{"c":1,"zz":5,"a":2}},{"x":{"a":3,"c":4}}]"#;
        decided(json, false, |_, columns, list, _| {
            let nested = columns.column(columns.list(list).head).nested;
            let list = columns.list(nested);
            assert_eq!((list.optional_columns, list.required_columns, list.objects), (1, 2, 2));
        });
    }

    /// What one object has is no constant: the header, and its limit, has only the keys.
    #[test]
    fn a_list_of_one_object_has_no_constants() {
        let json = r#"[{"a":1,"x":{"k":"a long text"}},{"a":2,"x":3},{"a":4,"x":5}]"#;
        with_columns(json, 100, false, |tree, columns| {
            let before = columns.checkpoint();
            let list = columns.merge_table(tree, 0, 100).expect("rows");
            decide_table(tree, columns, list);
            assert_eq!(columns.measure_header(tree, list, &before), 3 * r#""a""#.len());
        });
    }

    #[test]
    fn a_key_keeps_its_quotes_unless_it_is_an_identifier() {
        with_tree(r#"{"ab":{},"a-b":{},"_1":{},"1a":{},"":{}}"#, |tree| {
            let quoted: Vec<bool> = tree.values(0).map(|value| has_quoted_key(tree, value)).collect();
            assert_eq!(quoted, [false, true, false, true, true]);
        });
    }
}
