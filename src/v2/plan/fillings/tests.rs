//! Filled columns by the header and the cells that a document gets.

use crate::{Decoder, Encoder, Format, Options};

/// Returns the text of rows with these values in one column, beside a number that differs.
fn encoded(values: &[&str]) -> String {
    let row = |(number, value): (usize, &&str)| format!(r#"{{"n":{},"at":{value}}}"#, 100 + number * number * 7);
    let rows: Vec<String> = values.iter().enumerate().map(row).collect();
    let json = format!("[{}]", rows.join(","));
    let stc = Encoder::with_options(Options::default().format(Format::Stc2)).encode(json.as_bytes());
    let stc = stc.expect("JSON").to_vec();
    assert_eq!(Decoder::new().decode(&stc), Ok(json.as_bytes()), "{}", stc.escape_ascii());
    String::from_utf8(stc).expect("UTF-8")
}

/// Returns what the header has of the column, and its cells.
fn column(values: &[&str]) -> (String, Vec<String>) {
    let stc = encoded(values);
    let (header, rows) = stc.split_once(":\n").expect("a table");
    let at = header.find(",at").expect("the column");
    let cells = rows.lines().map(|row| row.split_once(',').map_or("", |(_, cell)| cell).to_owned());
    (header[at + 3..header.len() - 1].to_owned(), cells.collect())
}

/// Returns the template of a column, if it is filled.
fn template(values: &[&str]) -> Option<String> {
    let (header, _) = column(values);
    header.split_once("~\"").map(|(_, rest)| rest.split_once('"').expect("a quote").0.to_owned())
}

/// Returns strings with these words in one text.
fn strings(start: &str, words: &[&str], end: &str) -> Vec<String> {
    words.iter().map(|word| format!("\"{start}{word}{end}\"")).collect()
}

fn of_strings(start: &str, words: &[&str], end: &str) -> Option<String> {
    let strings = strings(start, words, end);
    template(&strings.iter().map(String::as_str).collect::<Vec<_>>())
}

const TIMES: [&str; 5] = ["12T08:00:00", "13T09:30:00", "17T11:15:20", "19T23:59:59", "18T00:00:01"];

#[test]
fn what_all_strings_share_is_in_the_header() {
    let strings = strings("2026-05-", &TIMES, "Z");
    let (header, cells) = column(&strings.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((&*header, cells), (r#"~"2026-05-${}Z""#, TIMES.map(str::to_owned).to_vec()));
}

#[test]
fn no_word_and_no_number_is_in_two_pieces() {
    // All words begin with `1`, end with `0`, or have letters beside those of the text.
    let cases = [
        ("2026-05-", ["11T10", "12T20", "13T30", "14T40"], "Z", "2026-05-${}Z"),
        ("a long text then-", ["abc", "abd", "abe", "abf"], "-end", "a long text then-${}-end"),
        ("a long text then-x", ["ab", "cd", "ef", "gh"], "y-end", "a long text then-${}-end"),
        ("a long text then-7", ["12", "34", "56", "89"], "0 end", "a long text then-${} end"),
        ("a long text then-v", ["1", "2", "3", "4"], "ms in all", "a long text then-v${}ms in all"),
    ];
    for (start, words, end, expected) in cases {
        let found = of_strings(start, &words, end);
        assert_eq!(found.as_deref(), Some(expected), "{start:?} {end:?}");
    }
}

#[test]
fn a_template_holds_no_escape_and_no_dollar() {
    let words = ["k1", "m2", "n3", "p4", "q5"];
    // Where an escape or a dollar is between a word and the template, no string has a word left.
    for (start, end) in [
        (r"a long text before-\u00e9", ""),
        (r"a long text before-\u00e", ""),
        ("a long $ text before-", "-and a long text after it"),
        ("a long text before-", "-$a long text after it"),
        ("a long text before-", r#"-\"a long text after it"#),
    ] {
        assert_eq!(of_strings(start, &words, end), None, "{start:?} {end:?}");
    }
}

#[test]
fn what_is_no_word_is_written_whole() {
    let whole = [r#""2026-05-two wordsZ""#, r#""2026-05-Z""#, r#""2026-05-nullZ""#, r#""2026-05-@Z""#, "null", "true"];
    let strings = strings("2026-05-", &TIMES, "Z");
    for value in whole {
        let values: Vec<&str> = strings.iter().map(String::as_str).chain([value]).collect();
        let (header, cells) = column(&values);
        assert_eq!(header, r#"~"2026-05-${}Z""#, "{value}");
        assert_eq!(cells.last().map(String::as_str), Some(value));
    }
}

#[test]
fn a_column_with_numbers_is_not_filled() {
    let strings = strings("2026-05-", &TIMES, "Z");
    for value in ["1", "-1.5e3"] {
        let values: Vec<&str> = strings.iter().map(String::as_str).chain([value]).collect();
        assert_eq!(template(&values), None, "{value}");
    }
}

#[test]
fn what_saves_nothing_is_not_filled() {
    // Too few, too short, or nothing in common.
    assert_eq!(of_strings("2026-05-", &TIMES[..1], "Z"), None);
    assert_eq!(of_strings("x-", &["ab", "cd", "ef"], ""), None);
    assert_eq!(template(&[r#""one of them""#, r#""another text""#, r#""the third""#]), None);
}

#[test]
fn an_address_keeps_its_host_with_its_scheme() {
    let hosts = ["one.example/a", "two.example/b", "three.example/c", "four.example/d", "five.example/e"];
    assert_eq!(of_strings("https://", &hosts, ""), None);
    let paths = ["first", "second", "third", "fourth", "fifth"];
    let found = of_strings("https://example.org/items/of/", &paths, "/all");
    assert_eq!(found.as_deref(), Some("https://example.org/items/of/${}/all"));
}

#[test]
fn absent_cells_and_defaults_stay() {
    let with = |values: [&str; 7], expected: &str| {
        let row = |(number, value): (usize, &&str)| match value.is_empty() {
            true => format!(r#"{{"n":{}}}"#, 50 + number * number),
            false => format!(r#"{{"n":{},"at":{value}}}"#, 50 + number * number),
        };
        let json = format!("[{}]", values.iter().enumerate().map(row).collect::<Vec<_>>().join(","));
        let stc = Encoder::with_options(Options::default().format(Format::Stc2)).encode(json.as_bytes());
        let stc = String::from_utf8(stc.expect("JSON").to_vec()).expect("UTF-8");
        assert_eq!(Decoder::new().decode(stc.as_bytes()), Ok(json.as_bytes()), "{stc}");
        assert!(stc.contains(expected), "{stc}");
    };
    let [a, b, c, d] =
        ["10T11:12:13", "11T14:15:16", "12T17:18:19", "13T20:21:22"].map(|word| format!("\"2026-05-{word}Z\""));
    with([&a, "", &b, &c, "", &d, ""], r#"at?~"2026-05-${}Z"}"#);
    with(
        [&a, r#""no time at all""#, &b, r#""no time at all""#, &c, r#""no time at all""#, &d],
        r#"at?~"2026-05-${}Z"="no time at all"}"#,
    );
    with([&a, "null", &b, &c, "true", &d, "null"], r#"at~"2026-05-${}Z"}"#);
}
