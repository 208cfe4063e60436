//! Merging by hand-made tables and by a naive model: ranks, limits met and passed by one, frequent values, objects that disagree.

use super::naive::assert_merged;
use super::*;
use crate::testing::{array, with_columns};

/// Calls `read` with the columns of a table and the list of its rows, if there is one.
fn merged<R>(json: &str, max_columns: usize, read: impl FnOnce(&Columns<'_>, Option<ListId>) -> R) -> R {
    with_columns(json, 1 << 20, true, |tree, columns| {
        let list = columns.merge_table(tree, 0, max_columns);
        read(columns, list)
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
        with_columns(&json, 1 << 20, false, |tree, columns| {
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
fn rows_that_disagree_are_left_out_if_they_may_be() {
    // The rows that are in the list, whether all are, and its columns.
    let cases = [
        (r#"[{"a":1,"b":2},{"a":3,"b":4}]"#, 2, true, "ab"),
        (r#"[{"a":1,"b":2},{"b":2,"a":1}]"#, 1, false, "ab"),
        // The most frequent keys come first, and of equally frequent ones those that came first.
        (r#"[{"b":2,"a":1},{"a":1,"b":2},{"a":3,"b":4}]"#, 2, false, "ab"),
        (r#"[{"b":2,"a":1},{"a":1,"b":2},{"b":2,"a":1},{"a":3,"b":4}]"#, 2, false, "ba"),
        // Rows that lack some of them fit.
        (r#"[{"c":2,"a":1},{"a":1,"b":2,"c":3},{"a":3,"b":4,"c":5},{"a":6,"c":7},{"d":8}]"#, 4, false, "dabc"),
        (r#"[{"a":1,"a":2},{"a":3},{"a":4,"c":5}]"#, 2, false, "ac"),
    ];
    for (json, rows, complete, names) in cases {
        with_columns(json, 1 << 20, true, |tree, columns| {
            columns.leaves_out_rows = true;
            let list = columns.merge_table(tree, 0, 99).expect("rows");
            let used = columns.of(list).map(|id| columns.column(id)).filter(|column| column.rows > 0);
            let keys: Vec<u8> = used.flat_map(|column| tree.key_body(column.key).to_vec()).collect();
            let found = (columns.list(list).objects, columns.list(list).complete, String::from_utf8_lossy(&keys));
            assert_eq!(found, (rows, complete, names.into()), "{json}");
        });
    }
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

/// Keys that have one bit of the filter in common.
const KEYS: [&str; 3] = ["aXb", "aYb", "aZb"];

/// Returns every object of some of the keys in any order, one with a key twice, and one without keys. The value of the first key is
/// always the same, that of the second is the row, and that of the third changes once.
fn objects(row: usize) -> Vec<String> {
    let mut orders: Vec<Vec<usize>> = vec![vec![]];
    let mut all = vec!["{}".to_owned()];
    for _ in KEYS {
        let longer = |order: &Vec<usize>| (0..KEYS.len()).map(|key| [&order[..], &[key]].concat()).collect::<Vec<_>>();
        orders = orders
            .iter()
            .flat_map(longer)
            .filter(|order| !order[..order.len() - 1].contains(&order[order.len() - 1]))
            .collect();
        all.extend(orders.iter().map(|order| object(order, row)));
    }
    all.push(object(&[0, 1, 0], row));
    all
}

fn object(order: &[usize], row: usize) -> String {
    let value = |key: usize| [7, row, row / 2][key];
    let members: Vec<String> = order.iter().map(|&key| format!("\"{}\":{}", KEYS[key], value(key))).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn three_objects_with_any_keys_are_merged_as_the_rules_say() {
    // What is around each object: nothing, a member, a member beside another key, an array with another object, and two levels.
    let around: [fn(&str, usize) -> String; 5] = [
        |object, _| object.to_owned(),
        |object, _| format!(r#"{{"x":{object}}}"#),
        |object, row| {
            object.replacen('{', &format!(r#"{{"n":{{"m":{row}}}{}"#, if object == "{}" { "" } else { "," }), 1)
        },
        |object, row| format!(r#"{{"id":{row},"x":[{object},{row},{{"aXb":{row}}}]}}"#),
        |object, _| format!(r#"{{"k":5,"x":{{"y":{object}}}}}"#),
    ];
    let rows: Vec<Vec<String>> = (0..4).map(objects).collect();
    let kinds = rows[0].len();
    let (mut documents, mut tables) = (0, [0; 2]);
    for (number, around) in around.into_iter().enumerate() {
        for at in 0..kinds * kinds * kinds {
            let kinds = [at / kinds / kinds, at / kinds % kinds, at % kinds];
            // A row of a table has keys. The fourth row is like one before it.
            if number == 0 && kinds.contains(&0) {
                continue;
            }
            let of_row = |row: usize| around(&rows[row][kinds[if row == 3 { at % 3 } else { row }]], row);
            let json: Vec<String> = (0..4 - at % 2).map(of_row).collect();
            let found = assert_merged(&format!("[{}]", json.join(",")));
            documents += 1;
            (0..2).for_each(|open| tables[open] += usize::from(found[open]));
        }
    }
    assert!(tables.iter().all(|&tables| tables > documents / 4 && tables < documents), "{tables:?} of {documents}");
}

/// Whether a list is given up depends on the constants in it and in the two lists around it, where two, four, eight or more of its
/// objects have been merged.
#[test]
fn lists_without_constants_are_given_up_on_the_third_level() {
    // Each level has a value that is the same in so many of the rows.
    const SAME: [usize; 4] = [1, 3, 5, 9];
    for at in 0..4_usize.pow(4) {
        let same: Vec<usize> = (0..4).map(|level| SAME[at / 4_usize.pow(level) % 4]).collect();
        let row = |row: usize| {
            let member = |level: usize| format!(r#""k{level}":{},"v{level}":{row}"#, row.max(same[level]));
            format!(r#"{{{},"a":{{{},"b":{{{},"c":{{{}}}}}}}}}"#, member(0), member(1), member(2), member(3))
        };
        for rows in [1, 2, 3, 4, 6, 9] {
            assert_merged(&array(rows, row));
        }
    }
}

/// Whatever the order of values, the frequent one is the first until another, elected by a majority vote among the rest, has been met
/// more often. In an array a value stands for all rows before it.
#[test]
fn a_frequent_value_is_elected_from_every_sequence() {
    for at in 0..3_usize.pow(7) {
        let row = |row: u32| format!(r#"{{"a":{}}}"#, if row == 0 { 0 } else { at / 3_usize.pow(row - 1) % 3 });
        let rows: Vec<String> = (0..8).map(row).collect();
        assert_merged(&format!("[{}]", rows.join(",")));
        if at < 3_usize.pow(6) {
            let same = format!(r#"{{"x":[{}]}}"#, rows[1..4].join(","));
            assert_merged(&format!(r#"[{same},{same},{{"x":{}}},{{"x":{}}},{{"x":{}}}]"#, rows[4], rows[5], rows[6]));
        }
    }
}

#[test]
fn no_table_begins_after_the_most_columns_and_lists() {
    // Four columns and two lists, twice.
    let rows = r#"[{"a":1,"b":2,"c":{"d":1}},{"a":2,"b":3,"c":{"d":2}}]"#;
    for max_found in 1..12 {
        with_columns(&format!("[{rows},{rows}]"), max_found, false, |tree, columns| {
            let tables: Vec<Token> = tree.values(0).collect();
            assert_eq!(columns.merge_table(tree, tables[0], 100), Some(0), "{max_found}");
            assert_eq!(columns.merge_table(tree, tables[1], 100).is_some(), max_found >= 6, "{max_found}");
        });
    }
}

#[test]
fn a_table_has_at_most_so_many_objects_below_its_rows() {
    for max_found in 1..5 {
        let most = PENDING_PER_FOUND * max_found;
        for rows in [most - 1, most, most + 1] {
            with_columns(&array(rows, |row| format!(r#"{{"x":{{"a":{row}}}}}"#)), max_found, false, |tree, columns| {
                assert_eq!(columns.merge_table(tree, 0, 100).is_some(), rows <= most, "{rows} rows, {max_found}");
            });
        }
    }
}

#[test]
fn a_table_has_so_many_comparisons_of_keys_out_of_order_and_none_more() {
    const WIDTH: usize = 160;
    let keys: Vec<String> = (0..WIDTH).map(|number| format!("\"k{number}\":1")).collect();
    let reversed: Vec<String> = keys.iter().rev().cloned().collect();
    // All keys but the first are out of order, and each is compared with those before it. An array adds tokens.
    let comparisons = WIDTH * (WIDTH - 1) / 2;
    let tokens = comparisons * RENUMBERED_PER_COMPARISON / RENUMBERED_PER_TOKEN;
    assert_eq!(tokens * RENUMBERED_PER_TOKEN, comparisons * RENUMBERED_PER_COMPARISON);
    let elements = tokens - (4 * WIDTH + 5) - 1;
    for before in [0, 10_000] {
        for (elements, is_table) in [(elements - 1, false), (elements, true), (elements + 1, true)] {
            let row = keys.join(",").replacen(":1", &format!(":[{}]", vec!["1"; elements].join(",")), 1);
            let before = format!("[{}]", vec!["1"; before].join(","));
            let json = format!("[{before},[{{{row}}},{{{}}}]]", reversed.join(","));
            with_columns(&json, 1 << 20, false, |tree, columns| {
                columns.open = true;
                let table = tree.values(0).nth(1).expect("rows");
                assert_eq!(columns.merge_table(tree, table, 1 << 20).is_some(), is_table, "{elements}");
            });
        }
    }
}

#[test]
fn a_new_key_gets_a_column_while_there_is_room_and_time() {
    for (columns_left, renumbered, is_taken) in [(0, 9, true), (0, 10, true), (0, 11, false), (1, 10, true)] {
        with_columns(r#"[{"a":1,"b":2},{"a":2,"b":3},{"a":3,"c":4}]"#, 100, false, |tree, columns| {
            let rows: Vec<Token> = tree.values(0).collect();
            let list = columns.add_list(NONE, 0);
            columns.max_columns = 100;
            assert!(columns.merge_row(tree, rows[0], list) && columns.merge_row(tree, rows[1], list));
            (columns.max_columns, columns.renumbered, columns.max_renumbered) = (2 + columns_left, renumbered, 10);
            assert_eq!(columns.merge_row(tree, rows[2], list), is_taken, "{columns_left} {renumbered}");
            // There is one more column than there may be: the table is given up after the row.
            assert_eq!(columns.has_room(), !is_taken || columns_left > 0);
        });
    }
    with_columns(r#"[{"a":1,"b":2},{"a":3,"c":4}]"#, 100, false, |tree, columns| {
        let rows: Vec<Token> = tree.values(0).collect();
        let list = columns.add_list(NONE, 0);
        columns.max_columns = 100;
        assert!(columns.merge_row(tree, rows[0], list));
        columns.max_columns = 1;
        assert!(!columns.merge_row(tree, rows[1], list));
        assert_eq!(columns.columns.len(), 2);
    });
}

/// Wide lists are searched in a map that all lists share.
#[test]
fn keys_of_wide_lists_are_found_in_the_list_that_has_them() {
    for width in [31, 32, 33, 34, 70, 200] {
        let object = |wanted: &dyn Fn(usize) -> bool| {
            let keys = (0..width).filter(|&key| wanted(key));
            format!("{{{}}}", keys.map(|key| format!("\"k{key:03}\":1")).collect::<Vec<_>>().join(","))
        };
        let all = object(&|_| true);
        let others: [String; 4] = [
            object(&|key| key % 2 == 0),
            object(&|key| key % 9 == 3),
            object(&|key| key + 1 == width),
            object(&|key| key == 0),
        ];
        for other in &others {
            let new = other.replacen('{', r#"{"new":1,"#, 1);
            let last = other.replace('}', r#","new":1}"#);
            for [one, two, three] in
                [[&all, other, other], [other, &all, other], [&all, &new, &last], [&all, &last, other]]
            {
                assert_merged(&format!("[{one},{two},{three}]"));
                assert_merged(&format!(
                    r#"[{{"y":{one},"x":{two}}},{{"y":{two},"x":{one}}},{{"y":{three},"x":{three}}}]"#
                ));
            }
        }
    }
}

/// Returns the ranks of a list of as many columns after a new one has been given a rank after the first, and how many were renewed.
fn spread(ranks: &[u32]) -> (Vec<u32>, usize) {
    let members: Vec<String> = (0..ranks.len()).map(|key| format!("\"k{key}\":1")).collect();
    with_columns(&format!("[{{{0}}},{{{0}}}]", members.join(",")), 100, false, |tree, columns| {
        let list = columns.merge_table(tree, 0, ranks.len()).expect("rows");
        for (id, &rank) in ranks.iter().enumerate() {
            columns.column_mut(id as ColumnId).rank = rank;
        }
        columns.spread(list, 1, ranks[0]);
        (columns.of(list).map(|id| columns.column(id).rank).collect(), columns.renumbered)
    })
}

#[test]
fn ranks_are_spread_up_to_the_first_that_is_more_than_the_square_of_its_distance_away() {
    const HIGH: u32 = u32::MAX - 5000;
    let wide: Vec<u32> = (0..600).map(|rank: u32| rank.saturating_sub(1)).collect();
    let wide_after: Vec<u32> = (0..600).map(|place| 1200 * place).collect();
    let cases: [(&[u32], &[u32], usize); 11] = [
        (&[5, 5, 6, 7, 9, 40], &[5, 12, 19, 26, 33, 40], 5),
        (&[5, 5, 10, 11], &[5, 7, 10, 11], 2),
        (&[5, 5, 9, 14], &[5, 5 + 1024, 5 + 2048, 5 + 3072], 4),
        (&[5, 5, 9, 15], &[5, 8, 11, 15], 3),
        (&[0, 0, 1, 9, 17], &[0, 4, 8, 12, 17], 4),
        // Up to the end of the list there is a gap for each.
        (&[7, 7], &[7, 7 + 1024], 2),
        (&[7, 7, 8, 9], &[7, 7 + 1024, 7 + 2048, 7 + 3072], 4),
        (&[HIGH, HIGH, HIGH + 1], &[HIGH, HIGH + 1024, HIGH + 2048], 3),
        // Of many columns, twice as wide as they are many.
        (&wide, &wide_after, 600),
        (&[u32::MAX - 2048; 2], &[u32::MAX - 2048, u32::MAX - 1024], 2),
        // There is no room: all ranks are given anew.
        (&[HIGH, HIGH, HIGH + 1, HIGH + 2, HIGH + 3], &[1024, 2048, 3072, 4096, 5120], 5),
    ];
    for (before, after, renewed) in cases {
        assert_eq!(spread(before), (after.to_vec(), renewed), "{before:?}");
    }
}

/// A rank is renewed only where none is left between two, which takes ten columns at one place.
#[test]
fn a_column_that_finds_a_free_rank_renews_none() {
    for (width, place) in (1..120).flat_map(|width| [0, 1, 2].map(|place| (width, place))) {
        let keys: String = (0..width).map(|number| format!("\"k{number}\":2,")).collect();
        let first = r#"{"a":1,"z":3}"#;
        let second = match place {
            0 => format!(r#"{{{keys}"a":1,"z":3}}"#),
            1 => format!(r#"{{"a":1,{keys}"z":3}}"#),
            _ => format!(r#"{{"a":1,"z":3,{}}}"#, keys.trim_end_matches(',')),
        };
        let renewed = renewed(&format!("[{first},{second}]"), width);
        let expected = if place == 2 || width < 10 { 0 } else { 2 };
        assert!(renewed <= expected, "{width} columns at place {place}: {renewed} for each");
        let rows: String = (0..width).map(|number| format!(r#",{{"a":1,"k{number}":2}}"#)).collect();
        let json = format!("[{first}{rows}]");
        assert!(self::renewed(&json, width) <= if width < 10 { 0 } else { 13 }, "{width}");
        assert_merged(&json);
    }
}

/// The objects after that are not merged, and need no columns.
#[test]
fn a_list_that_is_given_up_gets_no_more_columns() {
    // The list `x` has one object, as the other has a key twice, and so no constant.
    let json = r#"[{"id":1,"x":{"y":[{"a":1},{"b":2},{"c":3},{"d":4}]}},{"id":2,"x":{"y":[{"e":1}],"y":0}}]"#;
    for (max_columns, is_table) in [(4, false), (5, true), (8, true)] {
        with_columns(json, 100, false, |tree, columns| {
            columns.open = true;
            assert_eq!(columns.merge_table(tree, 0, max_columns).is_some(), is_table, "{max_columns}");
            assert_eq!(columns.columns.len(), if is_table { 5 } else { 0 });
        });
    }
}
