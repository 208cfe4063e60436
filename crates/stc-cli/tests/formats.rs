//! Encoding and decoding through pipes and files, in every format and line by line.

use std::fs;

use crate::command::{EXAMPLES, FORMATS, NESTED, folder, long, names, run, text};

#[test]
fn examples_through_pipes() {
    for (json, stc) in EXAMPLES {
        assert_eq!(String::from_utf8(run(&["encode", "--format", "stc1"], json).fine()).unwrap(), stc);
        assert_eq!(run(&["decode"], stc).fine(), stc::laws::minify(json.as_bytes()));
        assert_eq!(run(&["decode", "-"], json).fine(), stc::laws::minify(json.as_bytes()));
    }
}

#[test]
fn examples_through_files() {
    let folder = folder("files");
    let [json, stc, back] = ["a.json", "a.stc", "back.json"].map(|name| folder.join(name));
    for (example, encoded) in EXAMPLES {
        fs::write(&json, example).unwrap();
        assert_eq!(run(&["encode", "--format", "stc1", text(&json), "-o", text(&stc)], "").fine(), b"");
        assert_eq!(fs::read_to_string(&stc).unwrap(), encoded);
        assert_eq!(run(&["decode", text(&stc), "--output", text(&back)], "").fine(), b"");
        assert_eq!(fs::read(&back).unwrap(), stc::laws::minify(example.as_bytes()));
        assert_eq!(run(&["encode", "-f", "stc1", text(&json)], "").fine(), encoded.as_bytes());
    }
    assert_eq!(names(&folder), ["a.json", "a.stc", "back.json"]);
}

#[test]
fn every_format_is_written_and_read_back() {
    let cells = "{items:[3]{id,state=open,by.{name,age},note?}:\n1,ann,7,\n2,bob,8,x\n3,cy,9,\n}";
    assert_eq!(String::from_utf8(run(&["encode", "-f", "stc2"], NESTED).fine()).unwrap(), cells);
    for json in [NESTED, EXAMPLES[0].0, EXAMPLES[1].0, EXAMPLES[2].0, &long()] {
        let mut texts = Vec::new();
        for format in FORMATS {
            let stc = run(&["encode", "--format", format], json).fine();
            assert_eq!(run(&["decode"], &stc).fine(), stc::laws::minify(json.as_bytes()), "{format}");
            assert_eq!(run(&["check", "--stc"], &stc).fine(), b"<stdin>: ok\n", "{format}");
            texts.push(stc);
        }
        assert_ne!(texts[0], texts[1]);
    }
    // A text that only references shorten.
    let json = format!("[{}]", [r#""https://example.org/a/rather/long/way/to/go/1""#; 4].join(","));
    let [_, named, labelled] = FORMATS.map(|format| run(&["encode", "--format", format], &json).fine());
    assert_eq!(labelled, json.as_bytes());
    assert!(named.starts_with(b"$a=\"https://") && named.len() < json.len());
    for wrong in ["stc3", "STC2", "stc2-"] {
        let ran = run(&["encode", "--format", wrong], NESTED);
        assert_eq!((ran.code, ran.out.as_slice()), (Some(2), &b""[..]), "{wrong}");
        assert!(ran.errors.contains("[possible values: json, stc1, stc2, stc2-labelled]"), "{}", ran.errors);
    }
}

#[test]
fn names_of_before_are_refused_with_what_they_are_now() {
    for (name, hint) in [("stc2-refs", "stc2-refs is now stc2"), ("stc2-dense", "stc2-dense is part of stc2")] {
        for command in ["encode", "explain", "legend", "context", "mcp"] {
            let ran = run(&[command, "--format", name], NESTED);
            assert_eq!((ran.code, ran.out.as_slice()), (Some(2), &b""[..]), "{command} {name}");
            assert!(ran.errors.contains(hint), "{command}: {}", ran.errors);
        }
    }
}

#[test]
fn every_subcommand_has_the_same_default() {
    let named = |command: &str| [run(&[command], NESTED).fine(), run(&[command, "--format", "stc2"], NESTED).fine()];
    for command in ["encode", "explain", "legend"] {
        let [default, stc2] = named(command);
        assert_eq!(default, stc2, "{command}");
    }
    let stc2 = stc::Options::default().format(stc::Format::Stc2);
    assert_eq!(run(&["encode"], NESTED).fine(), stc::Encoder::with_options(stc2).encode(NESTED.as_bytes()).unwrap());
    // Input that is nothing but JSON is written as minified JSON: no format is shorter.
    assert_eq!(run(&["encode"], " [ 1 ] ").fine(), b"[1]");
}

#[test]
fn flags_that_version_2_does_not_support_are_rejected() {
    let refused = |arguments: &[&str], why: &str| {
        let ran = run(arguments, "[1]\n");
        assert_eq!((ran.code, ran.out.as_slice()), (Some(2), &b""[..]), "{arguments:?}");
        assert!(ran.errors.contains(why), "{}", ran.errors);
        assert!(ran.errors.contains("--format stc1") && ran.errors.contains("Usage: stc encode"), "{}", ran.errors);
    };
    for format in &FORMATS[1..] {
        let lines = format!("{format} has line feeds inside a document");
        refused(&["encode", "--lines", "--format", format], &lines);
        let window = format!("{format} reads the whole document before it writes: --window needs");
        refused(&["encode", "--window", "1K", "--format", format], &window);
    }
    refused(&["encode", "--window", "1K"], "stc2 reads the whole document");
    for format in ["stc1", "json"] {
        assert_eq!(run(&["encode", "--lines", "--format", format], "[1]\n").fine(), b"[1]\n");
    }
    // Without a name, --lines writes STC 1; so it may have a window.
    for arguments in [&["encode", "--lines"][..], &["encode", "-l", "--window", "1K"]] {
        assert_eq!(run(arguments, "{\"a\": [1, 2]}\n").fine(), b"{a[2]: 1,2}\n");
    }
    assert_eq!(run(&["encode", "--lines", "--format", "json"], "{\"a\": [1, 2]}\n").fine(), b"{\"a\":[1,2]}\n");
}

#[test]
fn a_file_can_be_replaced_by_its_own_encoding() {
    let file = folder("in-place").join("a.json");
    fs::write(&file, long()).unwrap();
    run(&["encode", text(&file), "-o", text(&file)], "").fine();
    assert_eq!(stc::decode(&fs::read(&file).unwrap()).unwrap(), long().as_bytes());
    let stc1 = ["encode", "-f", "stc1"];
    fs::write(&file, long()).unwrap();
    run(&[&stc1[..], &[text(&file), "-o", text(&file)]].concat(), "").fine();
    assert_eq!(fs::read(&file).unwrap(), run(&stc1, long()).fine());
    assert!(fs::metadata(&file).unwrap().len() < long().len() as u64);
}

#[test]
fn lines_both_ways() {
    let json = "{\"a\": [1, 2]}\n\n  \n[{\"x\": 1}, {\"x\": 2}]\r\n\"last\"";
    let stc = run(&["encode", "--lines"], json).fine();
    assert_eq!(String::from_utf8(stc.clone()).unwrap(), "{a[2]: 1,2}\n\n\n[2]{x}: 1 / 2\n\"last\"\n");
    let back = run(&["decode", "--lines"], stc).fine();
    assert_eq!(String::from_utf8(back).unwrap(), "{\"a\":[1,2]}\n\n\n[{\"x\":1},{\"x\":2}]\n\"last\"\n");
    assert_eq!(run(&["encode", "--lines"], "").fine(), b"");
}

#[test]
fn a_rejected_line_has_its_place_in_the_stream() {
    let before = "{\"a\": 1}\n\n".repeat(100_000);
    let ran = run(&["encode", "--lines"], format!("{before}{{\"a\" 1}}\n[2]\n"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.errors.contains(&format!("<stdin>:200001:6 (byte {})", before.len() + 5)), "{}", ran.errors);
    assert_eq!(ran.out, "{a: 1}\n\n".repeat(100_000).as_bytes());

    // The first byte of a line that is longer than the bytes that are kept of a stream.
    let long = format!("1\n?{}\n", "1".repeat(5 << 20));
    for command in ["encode", "decode"] {
        let ran = run(&[command, "--lines"], &long);
        assert_eq!((ran.code, ran.out.as_slice()), (Some(1), &b"1\n"[..]));
        assert!(ran.errors.contains("<stdin>:2:1 (byte 2)"), "{}", ran.errors);
        assert!(ran.errors.contains("2 | ?111") && ran.errors.contains("\n  | ^"), "{}", ran.errors);
    }
}

#[test]
fn pretty_json_is_indented_and_keeps_its_digits() {
    let stc = run(&["encode"], r#"{"a": [1.50, {}], "b": []}"#).fine();
    let pretty = "{\n  \"a\": [\n    1.50,\n    {}\n  ],\n  \"b\": []\n}";
    assert_eq!(String::from_utf8(run(&["decode", "--pretty"], stc).fine()).unwrap(), pretty);
    assert_eq!(run(&["encode", "--format", "json"], pretty).fine(), br#"{"a":[1.50,{}],"b":[]}"#);
    let indented = run(&["decode", "-p"], long()).fine();
    assert_eq!(stc::minify(&indented).unwrap(), long().as_bytes());
    let ran = run(&["decode", "--pretty", "--lines"], "[1]\n");
    assert!(ran.code == Some(2) && ran.errors.contains("cannot be used with '--lines'"), "{}", ran.errors);
}
