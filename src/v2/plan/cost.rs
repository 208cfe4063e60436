//! The cost model: what a form saves, in tokens as far as they can be guessed without a tokenizer.
//!
//! Values are written the same in every form, so nothing here looks at them, except where a form leaves some out. What
//! forms differ in is keys and punctuation, and of these the price is known well enough: byte-pair encodings take a
//! word of a key as one token and a bunch of punctuation as another.

use super::columns::{Column, Columns, List, ListId, NONE, Role};
use crate::estimate::{TOKEN, tokens};
use crate::v2::tree::{Token, Tree};

/// An empty cell: its comma mostly goes into a token with others.
const EMPTY: i64 = 2;
/// What a table has besides its columns: `[12]`, `:` and the line feed.
const TABLE: i64 = 4 * TOKEN;
/// The brackets of a tuple.
const SPLICED: i64 = TOKEN;
/// How much more it is worth, where there are names, to keep an object whole that comes often: others are copies of it.
const NAMED: i64 = 4;
/// One row in so many at the least must have a column's default: less would save a thousandth (toon files 0.667 for 0.668).
const SELDOM: u32 = 32;
/// What a nested list has besides its columns: its braces.
const NESTED: i64 = 2 * TOKEN;

/// Decides how each column of the table with this list, and of the lists below it, is written, and returns what the
/// table saves.
pub(crate) fn table(tree: Tree<'_>, columns: &mut Columns, table: ListId) -> i64 {
    // Lists that belong to a column come after the list of that column.
    for list in (table..columns.lists()).rev() {
        let List { head, objects, parent, .. } = *columns.list(list);
        let mut saving = if parent == NONE { -TABLE } else { -NESTED };
        let mut at = head;
        let mut leaves = !columns.list(list).complete;
        let (mut optionals, mut required) = (0, 0);
        while at != NONE {
            let column = *columns.column(at);
            columns.column_mut(at).optionals = optionals;
            optionals += u32::from(column.rows > 0 && column.rows < objects);
            required += u32::from(column.rows == objects);
            let nested = if column.list == NONE { 0 } else { columns.list(column.list).saving };
            let (mut role, saved) = of_column(tree, &column, objects, nested);
            let mut spared = if role == Role::Constant { 0 } else { of_default(tree, columns, &column, objects) };
            let spliced = of_splice(columns, &column, objects);
            let weight = if columns.merged.is_some() { NAMED } else { 1 };
            if role == Role::Nested && spliced > weight * spared.max(0) {
                role = Role::Spliced;
                saving += spliced;
                spared = 0;
            }
            // One that all share, but for objects that lack it, has not been looked into.
            let whole = column.list == NONE && (!column.same || column.rows > 0 && tree.is_plain(column.likely));
            let below = column.list != NONE && columns.list(column.list).leaves;
            let decided = columns.column_mut(at);
            decided.role = role;
            decided.default = spared > 0;
            decided.leaves |= below || column.rows > 0 && role == Role::Cell && !whole;
            leaves |= decided.leaves;
            saving += saved + spared.max(0);
            at = column.next;
        }
        let decided = columns.list_mut(list);
        (decided.optionals, decided.required, decided.saving, decided.leaves) = (optionals, required, saving, leaves);
    }
    columns.list(table).saving
}

/// How a column is best written, and what that saves.
fn of_column(tree: Tree<'_>, column: &Column, objects: u32, nested: i64) -> (Role, i64) {
    if column.rows == 0 {
        return (Role::Cell, 0);
    }
    let rows = i64::from(column.rows);
    let absent = i64::from(objects) - rows;
    // Every object that has it leaves out the key and its colon; the header has the key once.
    let key = tokens(unquoted(tree.key(column.key))) + TOKEN;
    let mut saved = (rows - 1) * key - absent * EMPTY;
    if absent > 0 {
        saved -= TOKEN;
    } else if column.same && rows > 1 {
        let value = tokens(tree.span(column.likely)) + TOKEN / 2;
        return (Role::Constant, saved + (rows - 1) * value);
    }
    if nested > 0 { (Role::Nested, saved + nested) } else { (Role::Cell, saved) }
}

/// What it saves to have the likely value in the header and empty cells for it.
fn of_default(tree: Tree<'_>, columns: &Columns, column: &Column, objects: u32) -> i64 {
    // One empty cell never pays for the value in the header, and one row in many is not worth the reader's trouble.
    if column.rows < objects || column.rows == 0 || column.same || column.hits < 2 || column.hits < column.rows / SELDOM
    {
        return 0;
    }
    if !columns.deep_defaults && tree.is_container(column.likely) {
        return 0;
    }
    let value = of_cell(tree, columns, column);
    i64::from(column.hits) * (value - TOKEN / 4) - value - 2 * TOKEN
}

/// What the likely value costs in a cell.
fn of_cell(tree: Tree<'_>, columns: &Columns, column: &Column) -> i64 {
    if column.list == NONE || tree.first(column.likely) != b'{' {
        return tokens(tree.span(column.likely));
    }
    of_tuple(tree, columns, column.list, column.likely)
}

/// What an object costs as a tuple of a list: its keys, and what the header has of it, are not there.
pub(super) fn of_tuple(tree: Tree<'_>, columns: &Columns, list: ListId, object: Token) -> i64 {
    let mut cost = TOKEN;
    let mut cells = columns.of(list).map(|id| columns.column(id));
    for value in tree.values(object) {
        let key = tree.key_place(value - 1);
        let Some(cell) = cells.find(|cell| tree.equal(cell.key_place, key)) else {
            return tokens(tree.span(object));
        };
        let default = cell.default && tree.equal(cell.likely_place, tree.place(value).0);
        cost += if cell.role == Role::Constant || default { TOKEN / 4 } else { tokens(tree.span(value)) };
    }
    cost
}

/// What it saves to have the cells of a column's objects in the row, without a tuple's brackets. Nothing if there are
/// rows with no object, or with one that is no tuple.
fn of_splice(columns: &Columns, column: &Column, objects: u32) -> i64 {
    if column.list == NONE || column.rows < objects {
        return 0;
    }
    let list = columns.list(column.list);
    if list.arrays || list.objects < column.rows { 0 } else { column.spliced() }
}

impl Column {
    /// What its splice saves.
    pub(super) fn spliced(&self) -> i64 {
        i64::from(self.rows) * SPLICED
    }
}

/// What an object saves that is written out, with nothing but its keys bare. Mostly that is nothing: `":"` and `:"` are
/// both one token. But `:null` is one where `":null` is two, and `"},{"` is one where `"},{` is two, as is `:[{`.
pub(crate) fn plain(tree: Tree<'_>, object: Token, literals: i64) -> i64 {
    let before = &tree.text[..tree.start(object)];
    let costs = before.ends_with(b"[") || before.ends_with(b"\"},");
    (literals - i64::from(costs)) * TOKEN
}

fn unquoted(key: &[u8]) -> &[u8] {
    &key[1..key.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scan::arch::Swar;
    use crate::json::tape::{Indexed, Tape};
    use crate::v2::tree::Links;

    /// What a table saves, in quarters of a token, and the roles and defaults of its columns.
    fn saving(json: &str) -> (i64, Vec<(Role, bool)>) {
        let (mut tape, mut links, mut at) = (Tape::default(), Links::default(), 0);
        while tape.index_in_place(Swar, json.as_bytes(), &mut at) != Indexed::Ended {}
        links.find(Swar, json.as_bytes(), &tape.index, 100, &mut Vec::new()).expect("JSON");
        let tree = links.tree(json.as_bytes(), &tape.index);
        let mut columns = Columns::default();
        columns.clear();
        (columns.few, columns.deep_defaults) = (100, true);
        let list = columns.table(tree, 0, 100).expect("rows");
        let saving = table(tree, &mut columns, list);
        (saving, columns.of(list).map(|id| (columns.column(id).role, columns.column(id).default)).collect())
    }

    // A key is a token, and so is its colon. Of a table all rows but one leave both out.
    const KEY: i64 = 2 * TOKEN;

    #[test]
    fn a_table_saves_keys_and_costs_a_header() {
        let rows = |count: i64| {
            let rows: Vec<String> = (0..count).map(|row| format!(r#"{{"a":{row},"b":{}}}"#, row + 1)).collect();
            format!("[{}]", rows.join(","))
        };
        for count in 2..9 {
            let cells = vec![(Role::Cell, false); 2];
            assert_eq!(saving(&rows(count)), (2 * (count - 1) * KEY - TABLE, cells), "{count} rows");
        }
    }

    #[test]
    fn a_constant_saves_its_values_too() {
        let json = r#"[{"a":1,"b":"open"},{"a":2,"b":"open"},{"a":3,"b":"open"}]"#;
        let value = tokens(br#""open""#) + TOKEN / 2;
        let roles = vec![(Role::Cell, false), (Role::Constant, false)];
        assert_eq!(saving(json), (2 * 2 * KEY + 2 * value - TABLE, roles));
    }

    #[test]
    fn a_key_that_some_rows_lack_costs_a_mark_and_empty_cells() {
        let json = r#"[{"a":1,"b":4},{"a":2},{"a":3,"b":5}]"#;
        assert_eq!(saving(json).0, 2 * KEY + KEY - EMPTY - TOKEN - TABLE);
    }

    #[test]
    fn a_default_pays_once_it_spares_more_than_it_says() {
        let json = |often: usize| {
            let rows = (0..often).map(|row| format!(r#"{{"a":{row},"b":"a long and likely value"}}"#));
            let rows: Vec<String> = rows.chain([r#"{"a":0,"b":"other"}"#.to_owned()]).collect();
            format!("[{}]", rows.join(","))
        };
        let value = tokens(br#""a long and likely value""#);
        for often in 2..6 {
            let spared = often as i64 * (value - TOKEN / 4) - value - 2 * TOKEN;
            assert!(spared > 0);
            let roles = vec![(Role::Cell, false), (Role::Cell, true)];
            assert_eq!(saving(&json(often)), (2 * often as i64 * KEY + spared - TABLE, roles));
        }
        assert_eq!(saving(&json(1)).1[1], (Role::Cell, false));
    }

    #[test]
    fn an_object_in_every_row_is_spliced_and_saves_its_brackets() {
        let json = r#"[{"a":1,"b":{"c":1,"d":2}},{"a":2,"b":{"c":3,"d":4}},{"a":3,"b":{"c":5,"d":6}}]"#;
        let nested = 2 * 2 * KEY - NESTED;
        let roles = vec![(Role::Cell, false), (Role::Spliced, false)];
        assert_eq!(saving(json), (2 * 2 * KEY + nested + 3 * SPLICED - TABLE, roles));
    }
}
