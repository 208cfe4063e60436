//! Messages for rejected input: what was expected, where, and hints.

use std::fs;

use crate::command::{EXAMPLES, folder, long, names, run, text};

#[test]
fn a_rejected_document_leaves_stdout_empty_and_shows_the_place() {
    let errors = run(&["encode"], "{\"a\": 1,\n  \"日本\": 01}").rejected();
    let shown: Vec<&str> = errors.lines().collect();
    assert!(shown[0].starts_with("error: expected ',' or '}', found '1'"), "{errors}");
    assert_eq!(shown[1], " --> <stdin>:2:10 (byte 22)");
    assert_eq!(shown[3], "2 |   \"日本\": 01}");
    // Two wide characters are before the caret.
    assert_eq!(shown[4], format!("  | {}^", " ".repeat(11)));

    // Far past the size of any buffer, from a pipe and from a file.
    let wrong = long() + "\n\n  x";
    let errors = run(&["encode"], &wrong).rejected();
    let file = folder("rejected").join("wrong.json");
    fs::write(&file, &wrong).unwrap();
    assert!(errors.contains(&format!("<stdin>:3:3 (byte {})", wrong.len() - 1)), "{errors}");
    let errors = run(&["encode", text(&file)], "").rejected();
    assert!(errors.contains(&format!("{}:3:3 (byte {})", file.display(), wrong.len() - 1)), "{errors}");
    assert!(errors.contains("expected the end of the document, found 'x'"), "{errors}");
}

#[test]
fn an_early_place_is_shown_from_a_file_and_bounded_in_a_pipe() {
    let wrong = format!("{{\"b\": 1,\n\"a\": 1.0x{}}}", " ".repeat(3_000_000));
    let folder = folder("long-gone");
    let [file, out] = ["ws.json", "out.stc"].map(|name| folder.join(name));
    fs::write(&file, &wrong).unwrap();
    let place = |name: &str| format!("{name}:2:9 (byte 17)\n  |\n2 | \"a\": 1.0x");
    for arguments in [
        &["encode", text(&file)][..],
        &["encode", text(&file), "-o", text(&out)],
        &["decode", text(&file), "-o", text(&out)],
    ] {
        let errors = run(arguments, "").rejected();
        assert!(errors.contains(&place(text(&file))), "{errors}");
        assert!(errors.contains(&format!("\n  | {}^\n", " ".repeat(8))), "{errors}");
        assert!(errors.contains(", found 'x'"), "{errors}");
    }
    // The bytes of a pipe are no longer available; the message says so.
    let errors = run(&["encode"], &wrong).rejected();
    let shown = errors.contains(&place("<stdin>"));
    assert!(shown || errors.contains("<stdin> (byte 17)\n  = help: on line 2 or before"), "{errors}");

    // A very long line, far into the file.
    let lines = folder.join("ws.ndjson");
    fs::write(&lines, "[1]\n".repeat(500_000) + &wrong.replace('\n', " ")).unwrap();
    let errors = run(&["encode", "--lines", text(&lines), "-o", text(&out)], "").errors;
    let report = String::from_utf8(run(&["check", text(&lines)], "").out).unwrap();
    for (said, place) in [(errors, format!("{}:500001:18 (byte", lines.display())), (report, "500001:18 (byte".into())]
    {
        assert!(said.contains(&format!("{place} 2000017)")), "{said}");
        assert!(said.contains("\n500001 | {\"b\": 1, \"a\": 1.0x  "), "{said}");
    }
    assert_eq!(names(&folder), ["ws.json", "ws.ndjson"]);
}

#[test]
fn a_truncated_input_says_what_was_expected() {
    let errors = run(&["encode"], "[1, 2").rejected();
    assert!(errors.contains("the input ends where"), "{errors}");
    assert!(errors.contains("<stdin>:1:6 (byte 5)"), "{errors}");
    assert!(errors.contains("1 | [1, 2\n  |      ^"), "{errors}");
    for empty in ["", " \n"] {
        assert!(run(&["encode"], empty).rejected().contains(&format!("(byte {})", empty.len())));
    }
}

#[test]
fn excerpts_are_short_and_safe() {
    let errors = run(&["encode"], format!("[\"{}\", \x1B]", "é".repeat(500_000))).rejected();
    assert!(errors.lines().all(|line| line.chars().count() < 110), "{errors}");
    assert!(errors.contains("<stdin>:1:500006"), "{errors}");
    assert!(errors.contains("found U+001B") && errors.contains('…') && !errors.contains('\x1B'), "{errors}");
    let errors = run(&["encode"], b"[\"ab\xFFc\"]").rejected();
    assert!(errors.contains("invalid UTF-8") && errors.contains("[\"ab\u{FFFD}c\"]"), "{errors}");
}

#[test]
fn a_streamed_decode_reports_line_and_column() {
    let rows: Vec<String> = (0..200_000).map(|n| format!("{{id: {n}, ok: true}}")).collect();
    let wrong = format!("[{},\n{{id: 1, ok: +maybe}}]", rows.join(",\n"));
    let ran = run(&["decode"], &wrong);
    assert_eq!(ran.code, Some(1));
    assert!(ran.errors.contains("<stdin>:200001:13"), "{}", ran.errors);
    assert!(ran.errors.contains("200001 | {id: 1, ok: +maybe}]"), "{}", ran.errors);
    // The output before the error is correct.
    let right: Vec<String> = (0..200_000).map(|n| format!("{{\"id\":{n},\"ok\":true}}")).collect();
    assert!(format!("[{},{{\"id\":1,\"ok\":", right.join(",")).as_bytes().starts_with(&ran.out));
}

/// Returns what a command that rejects its input says, on stdout and on stderr.
#[track_caller]
fn said(arguments: &[&str], input: impl AsRef<[u8]>) -> String {
    let ran = run(arguments, input);
    assert_eq!(ran.code, Some(1), "{}", ran.errors);
    String::from_utf8_lossy(&ran.out).into_owned() + &ran.errors
}

/// Returns the only line of help.
#[track_caller]
fn hint(arguments: &[&str], input: impl AsRef<[u8]>) -> String {
    let said = said(arguments, input);
    let hints: Vec<&str> = said.lines().filter_map(|line| line.trim_start().strip_prefix("= help: ")).collect();
    assert_eq!(hints.len(), 1, "{arguments:?}\n{said}");
    hints[0].to_owned()
}

/// Texts of version 2: a dense table, rows that keep their keys, a keyed table, a table inside an object, a definition.
const TABLES: [&str; 5] = [
    "[2]{a,b?}:\n1,2\n3,4\n",
    "[2]{*,a=1}:\n {b:1}\n {b:2}\n",
    "{2}{a}:\nx:1\ny:2\n",
    "[2]{a,b}:\n1,2\n3,4\n",
    "$a=\"xyz\"\n[$a,$a]",
];

#[test]
fn crlf_in_version_2_gets_a_hint() {
    for stc in TABLES {
        run(&["decode"], stc).fine();
        let feeds: Vec<usize> = stc.match_indices('\n').map(|(at, _)| at).collect();
        // Every line, and each of them alone.
        let mut texts = vec![stc.replace('\n', "\r\n")];
        texts.extend(feeds.iter().map(|&at| format!("{}\r{}", &stc[..at], &stc[at..])));
        for text in texts {
            for arguments in [&["decode"][..], &["check", "--stc"]] {
                let hint = hint(arguments, &text);
                assert!(
                    hint.starts_with("the lines end with CRLF") && hint.contains("tr -d '\\r'"),
                    "{text:?}: {hint}"
                );
            }
        }
    }
    // JSON and STC 1 may have CRLF between tokens.
    assert_eq!(run(&["decode"], "{a[2]: 1,2,\r\nb: 3}\r\n").fine(), br#"{"a":[1,2],"b":3}"#);
}

#[test]
fn a_missing_last_line_feed_gets_a_hint() {
    for stc in &TABLES[..4] {
        for arguments in [&["decode"][..], &["check", "--stc"]] {
            let hint = hint(arguments, stc.trim_end());
            assert!(hint.starts_with("the last line feed of a table is part of STC 2"), "{stc:?}: {hint}");
        }
    }
    // Input that ends anywhere else is only truncated.
    for cut in ["[2]{a,b?}:\n1,", "[2]{a", "[1,", "{a:"] {
        assert!(!said(&["decode"], cut).contains("help:"), "{cut}");
    }
}

#[test]
fn a_byte_order_mark_gets_a_hint() {
    for (arguments, text) in [
        (&["decode"][..], "{a:1}"),
        (&["decode"], TABLES[0]),
        (&["check", "--stc"], TABLES[1]),
        (&["check"], "[1]"),
        (&["encode"], "{\"a\":1}"),
        (&["stats"], "[1]"),
    ] {
        let hint = hint(arguments, format!("\u{FEFF}{text}"));
        assert!(hint.starts_with("this is a byte order mark (BOM)") && hint.contains("tail -c +4"), "{hint}");
    }
    // Inside a string it is a character like others.
    assert_eq!(run(&["encode", "-f", "json"], "[\"\u{FEFF}\"]").fine(), "[\"\u{FEFF}\"]".as_bytes());
}

#[test]
fn probable_mistakes_get_a_hint() {
    for stc in [
        "{name: 1}",
        "{\"a\": 1, _b: 2}",
        "{\"a b\"[2]: 1,2}",
        EXAMPLES[2].1,
        "[[12]{id}: 1",
        "{\"a\": [3]{id}: 1",
        "[2]{a?}:\n1\n\n",
        "{2}{a}:\nx:1\ny:2\n",
        "$a=\"x\"\n[$a]",
        "[@a{x: 1},@a(2)]",
        "[&a[1],*a]",
    ] {
        for command in ["encode", "stats"] {
            let errors = run(&[command], stc).errors;
            assert!(errors.contains("= help: this looks like STC; did you mean stc decode"), "{stc}\n{errors}");
        }
    }
    for neither in ["{1: 2}", "{", "[1]{\"a\": 1}", "[1, 2]{a", "[0]{a", "{\"a\" 1}", "nul", "[1] {a"] {
        for command in ["encode", "decode"] {
            let ran = run(&[command], neither);
            assert!(ran.code == Some(1) && !ran.errors.contains("help:"), "{neither}\n{}", ran.errors);
        }
    }
    for broken in ["[2]{a,b}: 1,\r\n2 / 3,4", "[2]{a,b}: 1,2\n/ 3,4", "[2]{a,b}: 1\r\n,2 /"] {
        for arguments in [&["decode"][..], &["check", "--stc"]] {
            let errors = said(arguments, broken);
            assert!(
                errors.contains("= help: a columnar header on one line allows no line break"),
                "{broken}\n{errors}"
            );
        }
    }
    let errors = run(&["decode"], "[2]{a,b}:\n1,2\n3\n").errors;
    assert!(errors.contains("= help: this row has fewer cells than its header has columns"), "{errors}");
    let errors = run(&["decode"], "[2]{a,b}:\n1,2 / 3,4").errors;
    assert!(errors.contains("= help: after a header that ends its line, every row has its own line"), "{errors}");
    for other in ["[2]{a,b}: 1,]", "[2]{a}: 1,2", "[2]{a}: 1 /", "{a[2]:\n1\n}"] {
        let errors = run(&["decode"], other).errors;
        assert!(errors.contains("error: ") && !errors.contains("help:"), "{other}\n{errors}");
    }
}
