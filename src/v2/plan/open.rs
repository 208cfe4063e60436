//! Tables with an open list (STC.md, section 17.10): rows keep their keys, and the header holds what all of them share.
//!
//! A small model reads `{id:1,name:"x"}` as well as JSON and misreads cells that have to be counted, so this is the form of
//! `stc2-labelled`; eval/README.md has the measurement. Of the other constructs of version 2 it has bare strings alone. Of 178
//! answers in tuples of two to four values a model lost 14 points with the question after the data and 7 with it on both
//! sides, and of 185 in copies (section 19.2), which would save nearly eight per cent of JSON's tokens, 16 and 3.
//!
//! A constant stands directly before the first of an object's keys that come after it in the header. So the header also names
//! each key that may come directly after a constant. For rows `{"id":…,"state":"open","title":…}` that is `title`:
//! `{*,state=open,title}`.

use super::columns::{Column, ColumnRole, Columns, List, ListId, NONE};
use crate::estimate::{TOKEN_COST, tokens};
use crate::v2::tree::Tree;

/// The cost of a table besides its columns: `[12]`, `{*`, `}:` and the line feed.
const OPEN_TABLE_COST: i64 = 5 * TOKEN_COST;
/// The cost of a row: `}`, a line feed and `{`, where JSON has `},{`.
const ROW_COST: i64 = TOKEN_COST;
/// The cost of a list besides its columns: its braces and its mark.
const OPEN_LIST_COST: i64 = 3 * TOKEN_COST;
/// The cost of a key that the header names, besides its letters.
const NAMED_KEY_COST: i64 = TOKEN_COST / 2;

/// Decides the form of each list of a table, and the role of each column, and returns what the table saves.
pub(super) fn decide_table(tree: Tree<'_>, columns: &mut Columns<'_>, table: ListId) -> i64 {
    // The list of a column comes after the list that the column belongs to.
    for list in (table..columns.list_count()).rev() {
        columns.list_mut(list).is_open = true;
        // A list below a row that is not complete is not used.
        if columns.list(list).complete {
            mark_before_displaced(columns, list);
            let saving = decide_open(tree, columns, list);
            columns.list_mut(list).saving = saving - if list == table { OPEN_TABLE_COST } else { OPEN_LIST_COST };
        }
    }
    columns.list_mut(table).saving -= ROW_COST * i64::from(columns.list(table).objects);
    columns.list(table).saving
}

/// Returns whether all objects of a list have the column, with one value.
fn is_constant(column: &Column, objects: u32) -> bool {
    column.uniform && column.rows == objects && objects > 1
}

/// Decides the columns of an open list and returns what it saves: the constants and what is in the lists below, less the keys
/// that the header names.
fn decide_open(tree: Tree<'_>, columns: &mut Columns<'_>, list: ListId) -> i64 {
    let objects = columns.list(list).objects;
    let mut saving = 0;
    // Whether the keys up to the next one that all objects have may come directly after a constant.
    let mut after_constant = false;
    let mut at = columns.list(list).head;
    while at != NONE {
        let (id, column) = (at, *columns.column(at));
        at = column.next;
        if column.rows == 0 {
            continue;
        }
        let key = || tokens(tree.key_body(column.key));
        let (mut role, mut in_header) = (ColumnRole::Cell, after_constant && !column.displaced);
        if is_constant(&column, objects) && !column.displaced && !column.before_displaced {
            let member = key() + TOKEN_COST + tokens(tree.value(column.frequent)) + TOKEN_COST / 2;
            saving += i64::from(objects - 1) * member;
            (role, in_header, after_constant) = (ColumnRole::Constant, true, true);
        } else {
            let mut below = saving_below(columns, &column);
            if in_header {
                saving -= key() + NAMED_KEY_COST;
            } else if below > 0 {
                below -= key() + NAMED_KEY_COST;
            }
            if below > 0 && !column.displaced {
                saving += below;
                (role, in_header) = (ColumnRole::Nested, true);
            }
            after_constant &= column.rows < objects || column.displaced;
        }
        let decided = columns.column_mut(id);
        (decided.role, decided.in_header) = (role, in_header);
    }
    saving
}

/// Marks the column that all objects have before each displaced column, as if the displaced one came directly after it: the
/// header cannot name a displaced column, so a constant cannot stand before it.
fn mark_before_displaced(columns: &mut Columns<'_>, list: ListId) {
    let List { head, objects, regular, .. } = *columns.list(list);
    if regular {
        return;
    }
    let (mut at, mut required) = (head, NONE);
    while at != NONE {
        let Column { displaced, rows, next, .. } = *columns.column(at);
        if !displaced && rows == objects {
            required = at;
        } else if displaced && required != NONE {
            columns.column_mut(required).before_displaced = true;
        }
        at = next;
    }
}

/// Returns what the list below a column saves; not positive if there is none that does.
fn saving_below(columns: &Columns<'_>, column: &Column) -> i64 {
    if column.nested == NONE { 0 } else { columns.list(column.nested).saving }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{array, with_columns};

    /// Returns what a table saves, and for each of its columns, with those of nested lists after their own, its role and whether the
    /// header names it.
    fn decided(json: &str) -> (i64, String) {
        with_columns(json, 100, false, |tree, columns| {
            columns.open = true;
            let table = columns.merge_table(tree, 0, 100).expect("rows");
            let saving = decide_table(tree, columns, table);
            (saving, header(tree, columns, table))
        })
    }

    /// Returns the header of a list, without the mark.
    fn header(tree: Tree<'_>, columns: &Columns<'_>, list: ListId) -> String {
        let named = columns.of(list).map(|id| columns.column(id)).filter(|column| column.in_header && column.rows > 0);
        let text = |column: &Column| {
            let key = String::from_utf8_lossy(tree.key_body(column.key));
            match column.role {
                ColumnRole::Constant => format!("{key}={}", String::from_utf8_lossy(tree.value(column.frequent))),
                ColumnRole::Nested => format!("{key}{{{}}}", header(tree, columns, column.nested)),
                _ => key.into_owned(),
            }
        };
        named.map(text).collect::<Vec<_>>().join(",")
    }

    /// What a key of up to eight letters costs where the header names it.
    const NAMED: i64 = TOKEN_COST + NAMED_KEY_COST;

    /// What a row saves by leaving out a member whose key is a word and whose value has these tokens, with its colon and half a comma.
    const fn member(value: i64) -> i64 {
        2 * TOKEN_COST + value * TOKEN_COST + TOKEN_COST / 2
    }

    #[test]
    fn a_table_saves_its_constants_and_costs_its_header_and_rows() {
        // The members of each row, the header, what a constant of one row saves, and what the keys in the header cost.
        let cases = [
            (r#""id":N,"state":"open""#, r#"state="open""#, member(3), 0),
            (r#""state":"open","id":N"#, r#"state="open",id"#, member(3), NAMED),
            (r#""a":1,"b":true,"id":N"#, "a=1,b=true,id", 2 * member(1), NAMED),
            (r#""a":1,"id":N,"n":N,"b":true"#, "a=1,id,b=true", 2 * member(1), NAMED),
            (r#""a":1,"id":N,"b":true,"n":N"#, "a=1,id,b=true,n", 2 * member(1), 2 * NAMED),
            (r#""id":N,"a":{"x":1,"y":[2]}"#, r#"a={"x":1,"y":[2]}"#, member(0) + tokens(br#"{"x":1,"y":[2]}"#), 0),
        ];
        for (members, names, constants, named) in cases {
            for count in 2..10 {
                let json =
                    array(count as usize, |row| format!("{{{}}}", members.replace('N', &format!("{}", 10 + row))));
                let saving = (count - 1) * constants - named - OPEN_TABLE_COST - count * ROW_COST;
                assert_eq!(decided(&json), (saving, names.to_owned()), "{json}");
            }
        }
    }

    #[test]
    fn keys_that_may_come_directly_after_a_constant_are_named() {
        // The same members, and in the last row others.
        let cases = [
            (r#""k":"same","a":N,"b":1N"#, r#""k":"same","b":7"#, r#"k="same",a,b"#, 2 * NAMED),
            (r#""k":"same","b":1N"#, r#""k":"same","a":7,"b":7"#, r#"k="same",a,b"#, 2 * NAMED),
            (r#""k":"same","a":N,"b":1N"#, r#""k":"same","a":7"#, r#"k="same",a"#, NAMED),
            // Out of order: a constant may not stand before such a key, nor may the header name it.
            (r#""a":N,"k":"same","b":1N"#, r#""k":"same","b":7,"a":8"#, r#"k="same",b"#, NAMED),
            (r#""a":N,"k":"same","b":1N"#, r#""k":"same","a":7,"b":8"#, "", 0),
        ];
        for (members, last, names, named) in cases {
            for count in 3..7 {
                let row = |row: usize| {
                    if row + 1 == count as usize { last.to_owned() } else { members.replace('N', &row.to_string()) }
                };
                let json = array(count as usize, |number| format!("{{{}}}", row(number)));
                let constants = if names.is_empty() { 0 } else { (count - 1) * member(3) };
                let saving = constants - named - OPEN_TABLE_COST - count * ROW_COST;
                assert_eq!(decided(&json), (saving, names.to_owned()), "{json}");
            }
        }
    }

    #[test]
    fn a_list_below_a_row_is_used_if_it_saves_more_than_its_key_costs() {
        let rest = |count: i64| -OPEN_TABLE_COST - count * ROW_COST;
        for count in 2..10 {
            // The list has a constant and names the key after it. The key of the list costs where no constant is before it.
            for (value, tokens) in [("1", 1), (r#""w""#, 3), (r#""two-words""#, 5), (r#""a-b-c-d-e""#, 11)] {
                let below = (count - 1) * member(tokens) - NAMED - OPEN_LIST_COST;
                let json = array(count as usize, |row| format!(r#"{{"id":{row},"in":{{"k":{value},"n":{row}}}}}"#));
                let used = (below - NAMED + rest(count), format!("in{{k={value},n}}"));
                let expected = if below > NAMED { used } else { (rest(count), String::new()) };
                assert_eq!(decided(&json), expected, "{json}");

                let json = array(count as usize, |row| format!(r#"{{"s":5,"in":{{"k":{value},"n":{row}}}}}"#));
                let around = (count - 1) * member(1) - NAMED + rest(count);
                let used = (around + below, format!("s=5,in{{k={value},n}}"));
                let expected = if below > 0 { used } else { (around, "s=5,in".to_owned()) };
                assert_eq!(decided(&json), expected, "{json}");

                // One list in another: the outer one saves what the inner one does.
                let inner = |row: usize| format!(r#"{{"a":{row},"b":{{"k":{value},"n":{row}}}}}"#);
                let json = array(count as usize, |row| format!(r#"{{"id":{row},"in":{}}}"#, inner(row)));
                let outer = below - NAMED - OPEN_LIST_COST;
                let used = (outer - NAMED + rest(count), format!("in{{b{{k={value},n}}}}"));
                let expected = if outer > NAMED { used } else { (rest(count), String::new()) };
                assert_eq!(decided(&json), expected, "{json}");
            }
        }
    }

    #[test]
    fn a_header_counts_all_keys_and_the_values_in_it() {
        let cases = [
            (r#"[{"k":"same","n":1},{"k":"same","n":2}]"#, r#""k""n""same""#),
            (r#"[{"n":1,"k":"same","b":[1,2]},{"n":2,"k":"same","b":[1,2]}]"#, r#""n""k""b""same"[1,2]"#),
            // A list of one object has no constants.
            (r#"[{"k":"same","x":{"a":"one"}},{"k":"same","x":2}]"#, r#""k""x""a""same""#),
            (r#"[{"n":1,"x":{"a":"one","b":1}},{"n":2,"x":{"a":"one","b":2}}]"#, r#""n""x""a""b""one""#),
        ];
        for (json, counted) in cases {
            with_columns(json, 100, false, |tree, columns| {
                columns.open = true;
                let before = columns.checkpoint();
                let table = columns.merge_table(tree, 0, 100).expect("rows");
                decide_table(tree, columns, table);
                assert_eq!(columns.measure_header(tree, table, &before), counted.len(), "{json}");
                assert_eq!(columns.list(table).header_bytes, counted.len());
            });
        }
    }
}
