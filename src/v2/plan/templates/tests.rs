//! Templates: what every row must confirm, what pays, and the limits met exactly.

use super::*;
use crate::options::{Format, Options};
use crate::testing::with_plan;

#[test]
fn every_beginning_of_an_escape_ends_inside_it() {
    for escape in [r"\n", r"\\", r#"\""#, r"\/", r"\u0041", r"\ud83d\ude00"] {
        for before in ["", "a", r"\\", r"\u005c", r"\ud83d\ude00"] {
            for cut in 0..=escape.len() {
                let text = [before, &escape[..cut]].concat();
                // A surrogate pair may be cut between its escapes: each is complete.
                let whole = matches!(cut, 0 | 6) || cut == escape.len();
                assert_eq!(ends_inside_escape(text.as_bytes()), !whole, "{text}");
            }
        }
    }
}

#[test]
fn a_dollar_opens_a_placeholder_before_a_brace_and_at_the_end() {
    for (text, opens) in [("a${b", true), ("a$", true), ("$", true), ("a$b", false), ("$ {", false), ("{$}", false)] {
        assert_eq!(may_open_placeholder(text.as_bytes()), opens, "{text}");
    }
}

#[test]
fn a_text_is_found_before_and_after_a_search_is_prepared() {
    for repeats in [0, 1, MAX_PLACES - 1, MAX_PLACES, MAX_PLACES + 1, 3 * MAX_PLACES] {
        let text = ["ab".repeat(repeats), "ac".to_owned()].concat();
        assert_eq!(find(text.as_bytes(), b"ac"), Some(2 * repeats));
        assert_eq!(find(text.as_bytes(), b"ad"), None);
        assert_eq!(find(text.as_bytes(), text.as_bytes()), Some(0));
    }
    assert_eq!(find(b"a", b"ab"), None);
    assert_eq!(find(b"a", b""), None);
}

/// Returns the templates that a plan finds, as keys with their texts, and what they save.
fn found(json: &str, limits: Limits) -> (Vec<(String, String)>, i64) {
    with_plan(json, &Options::default().format(Format::Stc2).limits(limits), |tree, plan| {
        let (columns, templates) = (&plan.columns, &plan.templates);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let template = |id| match columns.column(id).role {
            ColumnRole::Template(at) => Some((text(tree.key_body(columns.column(id).key)), text(templates.of(at)))),
            _ => None,
        };
        let found = (0..columns.list_count()).flat_map(|list| columns.of(list)).filter_map(template).collect();
        (found, templates.saving())
    })
}

/// Returns what a template saves: the cells it leaves out, of which the first is given, less its own cost.
fn saved(cell: &str, cells: i64, template: &str) -> i64 {
    cells * tokens(cell.as_bytes()) - tokens(template.as_bytes()) - 2 * TOKEN_COST
}

/// What rows show, the rows, and the columns that are templates.
type Case = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const CASES: [Case; 25] = [
    ("a number", &[r#""id":7,"u":"/a/7""#, r#""id":12,"u":"/a/12""#, r#""id":3,"u":"/a/3""#], &[("u", "/a/${id}")]),
    ("a text", &[r#""s":"x","u":"a-x""#, r#""s":"yy","u":"a-yy""#, r#""s":"","u":"a-""#], &[("u", "a-${s}")]),
    (
        "two columns",
        &[r#""a":"p1","b":31,"u":"/p1-31""#, r#""a":"p2","b":5,"u":"/p2-5""#, r#""a":"q","b":6,"u":"/q-6""#],
        &[("u", "/${a}-${b}")],
    ),
    ("two rows", &[r#""id":7,"n":"x","u":"/a/b/c/7""#, r#""id":8,"n":"y","u":"/a/b/c/8""#], &[("u", "/a/b/c/${id}")]),
    (
        "only one row has both",
        &[r#""a":"p1","b":31,"u":"/p1-31""#, r#""a":"p2","b":5,"u":"/x""#, r#""a":"q","b":6,"u":"/y""#],
        &[],
    ),
    ("a text after the last part", &[r#""id":7,"u":"/a/7""#, r#""id":8,"u":"/a/8?x""#, r#""id":9,"u":"/a/9""#], &[]),
    ("another text before it", &[r#""id":7,"u":"/a/7""#, r#""id":8,"u":"/b/8""#, r#""id":9,"u":"/a/9""#], &[]),
    ("no column contains another", &[r#""id":7,"s":"ann""#, r#""id":8,"s":"bob""#, r#""id":9,"s":"eve""#], &[]),
    ("numbers that are equal", &[r#""id":7,"ref":7"#, r#""id":8,"ref":8"#, r#""id":9,"ref":9"#], &[]),
    ("a number among strings", &[r#""id":7,"u":"7""#, r#""id":8,"u":8"#, r#""id":9,"u":"9""#], &[]),
    ("a literal", &[r#""ok":true,"u":"/x/true""#, r#""ok":false,"u":"/x/false""#, r#""ok":null,"u":"/x/null""#], &[]),
    ("a literal among numbers", &[r#""n":7,"u":"/x/7""#, r#""n":null,"u":"/x/null""#, r#""n":8,"u":"/x/8""#], &[]),
    ("a key with quotes", &[r#""a-b":7,"u":"/a/7""#, r#""a-b":8,"u":"/a/8""#, r#""a-b":9,"u":"/a/9""#], &[]),
    (
        "a key with quotes beside another",
        &[r#""a-b":7,"id":"7","u":"/a/7""#, r#""a-b":8,"id":"8","u":"/a/8""#, r#""a-b":9,"id":"9","u":"/a/9""#],
        &[("u", "/a/${id}")],
    ),
    ("a key that a row lacks", &[r#""id":7,"u":"/a/7""#, r#""id":8,"u":"/a/8""#, r#""u":"/a/9""#], &[]),
    (
        "a key beside that a row lacks",
        &[r#""id":7,"o":1,"u":"/a/7""#, r#""id":8,"u":"/a/8""#, r#""id":9,"o":2,"u":"/a/9""#],
        &[("u", "/a/${id}")],
    ),
    ("a constant", &[r#""k":"same","u":"/same/a""#, r#""k":"same","u":"/same/b""#, r#""k":"same","u":"/same/c""#], &[]),
    (
        "objects beside",
        &[r#""id":7,"o":{"x":7},"u":"/a/7""#, r#""id":8,"o":{"x":5},"u":"/a/8""#, r#""id":9,"o":{"x":4},"u":"/a/9""#],
        &[("u", "/a/${id}")],
    ),
    (
        "inside an object",
        &[
            r#""n":1,"o":{"id":7,"u":"/a/b/7"}"#,
            r#""n":2,"o":{"id":8,"u":"/a/b/8"}"#,
            r#""n":3,"o":{"id":9,"u":"/a/b/9"}"#,
        ],
        &[("u", "/a/b/${id}")],
    ),
    (
        "a column that is named is no template",
        &[
            r#""t":"11-11-11","a":"11","id":1"#,
            r#""t":"22-22-22","a":"22","id":2"#,
            r#""t":"33-33-33","a":"33","id":3"#,
        ],
        &[("t", "${a}-${a}-${a}")],
    ),
    (
        "a template is not named",
        &[
            r#""id":1,"a":"11","t":"11-11-11""#,
            r#""id":2,"a":"22","t":"22-22-22""#,
            r#""id":3,"a":"33","t":"33-33-33""#,
        ],
        &[("a", "${id}${id}")],
    ),
    (
        "four placeholders",
        &[r#""id":1,"t":"1-1-1-1""#, r#""id":2,"t":"2-2-2-2""#, r#""id":3,"t":"3-3-3-3""#],
        &[("t", "${id}-${id}-${id}-${id}")],
    ),
    ("five", &[r#""id":1,"t":"1-1-1-1-1""#, r#""id":2,"t":"2-2-2-2-2""#, r#""id":3,"t":"3-3-3-3-3""#], &[]),
    ("a placeholder in the text", &[r#""id":1,"t":"${id}1""#, r#""id":2,"t":"${id}2""#, r#""id":3,"t":"${id}3""#], &[]),
    (
        "an escape that is cut",
        &[r#""id":1,"t":"long text \u0041""#, r#""id":2,"t":"long text \u0042""#, r#""id":3,"t":"long text \u0043""#],
        &[],
    ),
];

#[test]
fn templates_are_found_where_every_row_confirms_them() {
    for (why, rows, expected) in CASES {
        let json = format!("[{{{}}}]", rows.join("},{"));
        let quoted = |&(key, template): &(&str, &str)| (key.to_owned(), format!("\"{template}\""));
        let expected: Vec<_> = expected.iter().map(quoted).collect();
        let (templates, saving) = found(&json, Limits::DEFAULT);
        assert_eq!(templates, expected, "{why}");
        let cell = |key: &str| rows[0].split(&format!("\"{key}\":")).nth(1).map(|rest| rest.split([',', '}']).next());
        let of = |(key, template): &(String, String)| {
            saved(cell(key).flatten().expect("a cell"), rows.len() as i64, template)
        };
        assert_eq!(saving, expected.iter().map(of).sum::<i64>(), "{why}");
    }
}

/// Columns that are in the first string, but not in the others, are tried in pairs too; those that are not in it are not.
#[test]
fn six_columns_are_tried_in_pairs() {
    for (decoys, others, is_found) in [(4, 0, true), (4, 7, true), (5, 0, false), (0, 9, true), (9, 0, false)] {
        let row = |row: usize| {
            let member = |key: String, value: String| format!("\"{key}\":\"{value}\",");
            // In the first row, each decoy is a digit of the text, and none of the others is in it.
            let decoy = |at: usize| (if row == 0 { at + 1 } else { 50 + 10 * row + at }).to_string();
            let decoys: String = (0..decoys).map(|at| member(format!("d{at}"), decoy(at))).collect();
            let other = |at: u8| char::from(b'p' + at).to_string() + &"p".repeat(row);
            let others: String = (0..others).map(|at| member(format!("o{at}"), other(at))).collect();
            format!(r#"{{{decoys}{others}"a":"aa{row}a","b":"bb{row}b","t":"aa{row}a-bb{row}b /012345678"}}"#)
        };
        let rows: Vec<String> = (0..4).map(row).collect();
        let expected = if is_found { vec![("t".to_owned(), "\"${a}-${b} /012345678\"".to_owned())] } else { vec![] };
        assert_eq!(found(&format!("[{}]", rows.join(",")), Limits::DEFAULT).0, expected, "{decoys} {others}");
    }
}

#[test]
fn a_template_pays_if_its_cells_cost_more() {
    let mut nothing_saved = 0;
    for (length, rows) in (1..60).flat_map(|length| (2..6).map(move |rows| (length, rows))) {
        let key = "k".repeat(length);
        let row = |row: i64| {
            let other = char::from(b'p' + row as u8);
            format!(r#"{{"{key}":{row},"u":"{row}","another_key":"{other}"}}"#)
        };
        let json = format!("[{}]", (3..3 + rows).map(row).collect::<Vec<_>>().join(","));
        let template = format!("\"${{{key}}}\"");
        let saved = saved("\"3\"", rows, &template);
        nothing_saved += usize::from(saved == 0);
        let expected = if saved > 0 { (vec![("u".to_owned(), template)], saved) } else { (Vec::new(), 0) };
        assert_eq!(found(&json, Limits::DEFAULT), expected, "{json}");
    }
    assert!(nothing_saved > 0);
    // Cells that a default leaves empty save nothing once more: the header has their value.
    for often in 3..9 {
        let row = |row: i64| {
            format!(r#"{{"id":{0},"u":"/a/long/text/{0}","n":{row}}}"#, if row < often { 7 } else { row + 10 })
        };
        let json = format!("[{}]", (0..often + 4).map(row).collect::<Vec<_>>().join(","));
        let template = "\"/a/long/text/${id}\"";
        let saved = saved("\"/a/long/text/7\"", 5, template);
        assert_eq!(found(&json, Limits::DEFAULT), (vec![("u".to_owned(), template.to_owned())], saved), "{json}");
    }
}

#[test]
fn templates_use_their_limits_up_to_the_last_byte() {
    let row = |id: usize| format!(r#"{{"id":{id},"u":"/users/{id}","v":"/views/of/{id}"}}"#);
    let rows: Vec<String> = (8..12).map(row).collect();
    let json = format!("[{}]", rows.join(","));
    let count = |limits| found(&json, limits).0.len();
    // The keys, and the templates.
    let keys = r#""id""u""v""#.len();
    let ends = [keys, keys + r#""/users/${id}""#.len(), keys + r#""/users/${id}""/views/of/${id}""#.len()];
    for header in ends[0]..ends[2] + 3 {
        let first_fits = header >= ends[1];
        // If the first does not fit, the second, which is longer, does not either.
        let expected = usize::from(first_fits) + usize::from(header >= ends[2]);
        assert_eq!(count(Limits::DEFAULT.header(header)), expected, "{header} bytes, of {ends:?}");
    }
    let longest = rows[3].len();
    for (row, expected) in [(longest - 1, 0), (longest, 2), (longest + 1, 2)] {
        assert_eq!(count(Limits::DEFAULT.row(row)), expected, "{row} bytes");
    }
}
