//! Merging by hand-made tables: ranks, limits met and passed by one, frequent values, objects that disagree.

use super::super::ColumnMemory;
use super::*;
use crate::v2::link::with_tree;
use crate::v2::plan::hash::Hasher;
use bumpalo::Bump;

/// Calls `read` with the columns of a table and the list of its rows, if there is one.
fn merged<R>(json: &str, max_columns: usize, read: impl FnOnce(&Columns<'_>, Option<ListId>) -> R) -> R {
    with_tree(json, |tree| {
        let (arena, mut memory) = (Bump::new(), ColumnMemory::default());
        let mut columns = Columns::new(&arena, &mut memory, Hasher::default(), 1 << 20, true, true);
        let list = columns.merge_table(tree, 0, max_columns);
        read(&columns, list)
    })
}

/// Returns the number of ranks renewed for each column.
fn renewed(json: &str, width: usize) -> usize {
    merged(json, 1 << 20, |columns, list| {
        let ranks: Vec<u32> = columns.of(list.expect("rows")).map(|id| columns.column(id).rank).collect();
        assert!(ranks.len() == width + 2 && ranks.is_sorted_by(|one, other| one < other), "{width}");
        columns.renumbered / width
    })
}

#[test]
fn few_ranks_are_renewed_for_a_column_that_is_added() {
    for width in [100, 1000, 4000, 20_000] {
        // The second row has columns that belong between two columns of the first.
        let keys: String = (0..width).map(|number| format!("\"k{number}\":2,")).collect();
        let json = format!("[{{\"a\":1,\"z\":3}},{{\"a\":1,{keys}\"z\":3}}]");
        assert!(renewed(&json, width) <= 1, "{width}");
        // Every row has a column of its own directly after the same one.
        let rows: String = (0..width).map(|number| format!(",{{\"a\":1,\"k{number}\":2}}")).collect();
        assert!((2..14).contains(&renewed(&format!("[{{\"a\":1,\"z\":3}}{rows}]"), width)), "{width}");
    }
}

#[test]
fn keys_out_of_order_are_compared_a_bounded_number_of_times() {
    for (width, is_table) in [(60, true), (400, false)] {
        let keys: Vec<String> = (0..width).map(|number| format!("\"k{number}\":1")).collect();
        let reversed: Vec<String> = keys.iter().rev().cloned().collect();
        let json = format!("[{{{}}},{{{}}}]", keys.join(","), reversed.join(","));
        with_tree(&json, |tree| {
            let (arena, mut memory) = (Bump::new(), ColumnMemory::default());
            let mut columns = Columns::new(&arena, &mut memory, Hasher::default(), 1 << 20, true, false);
            columns.open = true;
            assert_eq!(columns.merge_table(tree, 0, 1 << 20).is_some(), is_table, "{width}");
            let most = RENUMBERED_PER_TOKEN * tree.len() + RENUMBERED_PER_COMPARISON * width;
            assert!(columns.renumbered <= most, "{width}");
        });
    }
}

#[test]
fn a_limit_on_columns_met_exactly_is_kept_and_passed_by_one_is_not() {
    let json = r#"[{"a":1,"b":{"c":1,"d":2}},{"a":2,"b":{"c":2,"d":3}},{"a":3,"e":1}]"#;
    for (max_columns, is_table) in [(4, false), (5, true), (6, true)] {
        merged(json, max_columns, |columns, list| {
            assert_eq!(list.is_some(), is_table, "{max_columns}");
            assert_eq!(columns.columns.len(), if is_table { 5 } else { 0 });
        });
    }
}

#[test]
fn the_most_frequent_value_is_found_though_it_is_neither_first_nor_last() {
    let values = [1, 7, 7, 2, 7, 3, 7, 7, 4];
    let rows: Vec<String> = values.iter().map(|value| format!(r#"{{"a":{value}}}"#)).collect();
    merged(&format!("[{}]", rows.join(",")), 9, |columns, list| {
        let column = columns.column(columns.list(list.expect("rows")).head);
        assert_eq!((column.rows, column.uniform, column.frequent_count), (9, false, 5));
    });
}

#[test]
fn objects_that_disagree_with_the_order_end_a_table_or_are_left_out_of_a_list() {
    merged(r#"[{"a":1,"b":2},{"b":2,"a":1}]"#, 9, |_, list| assert_eq!(list, None));
    merged(r#"[{"a":1,"a":2},{"a":1}]"#, 9, |_, list| assert_eq!(list, None));
    let json = r#"[{"x":{"a":1,"b":2}},{"x":{"b":1,"a":2}},{"x":{"a":3,"b":4}}]"#;
    merged(json, 9, |columns, list| {
        let nested = columns.column(columns.list(list.expect("rows")).head).nested;
        assert_eq!((columns.list(nested).objects, columns.list(nested).complete), (2, false));
    });
}
