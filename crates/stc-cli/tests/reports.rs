//! The reports: `check`, `stats`, `explain` and `legend`.

use std::fs;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::{io::Read, process::Stdio};

use serde_json::Value;

use crate::command::{EXAMPLES, NESTED, folder, nested, run, text};
#[cfg(target_os = "linux")]
use crate::command::{in_terminal, terminal};

#[test]
fn check_reports_ok_or_a_reason() {
    let folder = folder("check");
    fs::write(folder.join("a.json"), EXAMPLES[2].0).unwrap();
    fs::write(folder.join("b.stc"), EXAMPLES[2].1).unwrap();
    fs::write(folder.join("c.ndjson"), "1\n\n{\"a\": [true]}\n").unwrap();
    fs::write(folder.join("other.txt"), "not JSON").unwrap();
    let at = |name: &str| folder.join(name).display().to_string();
    let report = String::from_utf8(run(&["check", text(&folder)], "").fine()).unwrap();
    assert_eq!(report, format!("{}: ok\n{}: ok\n{}: ok\n", at("a.json"), at("b.stc"), at("c.ndjson")));

    fs::write(folder.join("b.stc"), "[2]{id}: 1 / ").unwrap();
    fs::write(folder.join("c.ndjson"), "1\n\n{\"a\" true}\n").unwrap();
    let ran = run(&["check", text(&folder)], "");
    let report = String::from_utf8(ran.out).unwrap();
    assert_eq!(ran.code, Some(1));
    assert!(report.starts_with(&format!("{}: ok\n{}: rejected, ", at("a.json"), at("b.stc"))), "{report}");
    let lines: Vec<&str> = report.lines().collect();
    assert!(lines[1].ends_with(" at 1:14 (byte 13)") && lines[3] == "1 | [2]{id}: 1 / ", "{report}");
    assert!(lines[5].starts_with(&at("c.ndjson")) && lines[5].ends_with("found 't' at 3:6 (byte 8)"), "{report}");
    // Each refusal once, and nothing of it on stderr.
    assert_eq!((report.matches("rejected").count(), ran.errors.as_str()), (2, ""), "{report}");
    assert_eq!(report.matches("b.stc").count(), 1, "{report}");

    assert_eq!(run(&["check", "--stc"], EXAMPLES[1].1).fine(), b"<stdin>: ok\n");
    assert_eq!(run(&["check", "--stc", "--lines"], "{a: 1}\n[2]{x}: 1 / 2\n").fine(), b"<stdin>: ok\n");
    assert_eq!(run(&["check"], EXAMPLES[1].1).code, Some(1));
    assert_eq!(run(&["check", text(&folder.join("missing.json"))], "").code, Some(3));
}

#[cfg(target_os = "linux")]
#[test]
fn check_reports_once_on_a_terminal() {
    let file = folder("check-terminal").join("a.json");
    fs::write(&file, "[1,,2]").unwrap();
    let (code, said) = in_terminal(&format!("$STC check '{}'", file.display()));
    assert_eq!(said.matches("expected a value").count(), 1, "{said}");
    assert_eq!(said.matches("a.json").count(), 1, "{said}");
    assert_eq!(code, Some(1), "{said}");
    // A pipe receives the same report.
    let ran = run(&["check", text(&file)], "");
    assert_eq!((String::from_utf8(ran.out).unwrap(), ran.errors), (said, String::new()));
}

#[test]
fn stats_as_json() {
    let folder = folder("stats");
    fs::create_dir(folder.join("deeper")).unwrap();
    let [first, second] = [folder.join("a.json"), folder.join("deeper").join("b.jsonl")];
    fs::write(&first, format!("{}\n", EXAMPLES[2].0)).unwrap();
    fs::write(&second, format!("{}\n{}\n", EXAMPLES[0].0, EXAMPLES[1].0)).unwrap();
    let minified = EXAMPLES.map(|(json, _)| stc::laws::minify(json.as_bytes()).len());
    let stats: Value = serde_json::from_slice(&run(&["stats", "--json", text(&folder)], "").fine()).expect("JSON");
    let bytes = |of: &Value| ["as_is", "minified", "stc1"].map(|format| of[format]["bytes"].as_u64().unwrap() as usize);
    let expected = [
        [EXAMPLES[2].0.len() + 1, minified[2], EXAMPLES[2].1.len()],
        [
            EXAMPLES[0].0.len() + EXAMPLES[1].0.len() + 2,
            minified[0] + minified[1] + 2,
            EXAMPLES[0].1.len() + EXAMPLES[1].1.len() + 2,
        ],
    ];
    assert_eq!(stats["files"].as_array().unwrap().iter().map(bytes).collect::<Vec<_>>(), expected);
    assert_eq!(bytes(&stats["total"]), [0, 1, 2].map(|format| expected[0][format] + expected[1][format]));
    assert_eq!(stats["files"][0]["file"], text(&first));
    assert_eq!(stats["files"][1]["file"], text(&second));
    // The counts of tiktoken.
    assert_eq!(stats["files"][0]["stc1"]["o200k"], 23);
    assert_eq!(stats["files"][0]["stc1"]["cl100k"], 23);
    let saved = |key: &str| stats["files"][0][key]["saved"]["bytes"].as_f64().unwrap();
    let of_minified = |bytes: usize| 1.0 - bytes as f64 / minified[2] as f64;
    assert!((saved("stc1") - of_minified(EXAMPLES[2].1.len())).abs() < 1e-9);
    assert!((saved("as_is") - of_minified(EXAMPLES[2].0.len() + 1)).abs() < 1e-9);
    assert_eq!(stats["files"][0]["minified"].get("saved"), None, "the baseline");
    assert_eq!(stats["failed"].as_array().unwrap().len(), 0);
    // Version 2 is the output of `encode`.
    for (format, key) in [("stc2", "stc2"), ("stc2-labelled", "stc2_labelled")] {
        let stc = run(&["encode", "--format", format, text(&first)], "").fine();
        assert_eq!(stats["files"][0][key]["bytes"], stc.len());
        assert!((saved(key) - of_minified(stc.len())).abs() < 1e-9);
    }
    let toon = "[2]{id,name,method}:\n  1,users,GET\n  2,orders,POST";
    assert_eq!(stats["files"][0]["toon"]["bytes"], toon.len());
    // A document deeper than the parser of TOON's library accepts.
    let deep: Value = serde_json::from_slice(&run(&["stats", "--json"], nested(200)).fine()).expect("JSON");
    assert_eq!((&deep["total"]["toon"], &deep["total"]["minified"]["bytes"]), (&Value::Null, &400.into()));
}

#[test]
fn stats_continues_after_a_rejected_file() {
    let folder = folder("stats-rejected");
    fs::write(folder.join("a.json"), "{\n]").unwrap();
    fs::write(folder.join("b.json"), "[1, 2]").unwrap();
    let ran = run(&["stats", "--json", text(&folder), text(&folder.join("b.json"))], "");
    assert_eq!(ran.code, Some(1));
    assert!(ran.errors.contains("a.json:2:1 (byte 2)"), "{}", ran.errors);
    let stats: Value = serde_json::from_slice(&ran.out).expect("JSON");
    assert_eq!(stats["files"].as_array().unwrap().len(), 2);
    assert_eq!(stats["failed"][0]["offset"], 2);
    assert_eq!(stats["failed"][0]["line"], 2);
    assert_eq!(run(&["stats", text(&folder.join("missing"))], "").code, Some(3));

    // Unreadable files are listed like rejected ones.
    fs::create_dir(folder.join("empty")).unwrap();
    let [missing, empty] = ["missing.json", "empty"].map(|name| folder.join(name));
    let ran = run(&["stats", "--json", text(&folder.join("a.json")), text(&missing), text(&empty)], "");
    assert_eq!(ran.code, Some(3));
    let stats: Value = serde_json::from_slice(&ran.out).expect("JSON");
    let keys = |failed: &Value| failed.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let failed = stats["failed"].as_array().unwrap();
    assert_eq!(failed.len(), 3);
    for (failed_one, path) in failed.iter().zip([&folder.join("a.json"), &missing, &empty]) {
        assert_eq!(failed_one["file"], text(path));
        assert!(!failed_one["error"].as_str().unwrap().contains(text(path)), "{failed_one}");
        assert_eq!(keys(failed_one), keys(&failed[0]));
    }
    assert!(ran.errors.contains(&format!("error: {}: ", missing.display())), "{}", ran.errors);
}

#[test]
fn stats_as_a_table() {
    let table = String::from_utf8(run(&["stats"], EXAMPLES[2].0).fine()).unwrap();
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let units = ["bytes", "saved", "o200k", "saved", "cl100k", "saved"];
    assert_eq!(lines[0], [&["saved", "against", "minified", "JSON"][..], &units].concat());
    assert_eq!(lines[1], ["<stdin>"]);
    assert_eq!(lines[2][..6], ["JSON", "as", "given", "92", "-13.6", "%"]);
    assert_eq!(lines[3][..3], ["minified", "JSON", "81"]);
    assert_eq!(lines[4][..4], ["TOON", "50", "38.3", "%"]);
    assert_eq!(lines[5], ["STC", "1", "56", "30.9", "%", "23", "14.8", "%", "23", "14.8", "%"]);
    assert_eq!(lines[6][..5], ["STC", "2", "47", "42.0", "%"]);
    assert_eq!(lines[7][..3], ["STC", "2", "labelled"]);
    assert_eq!(lines.len(), 8);
    assert!(table.lines().all(|line| line.len() <= 100));
}

#[test]
fn stats_compare_stc_2_with_minified_json_and_toon() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/made/issues.json");
    let stats: Value = serde_json::from_slice(&run(&["stats", "--json", text(&file)], "").fine()).expect("JSON");
    let [json, toon, stc2] = ["minified", "toon", "stc2"]
        .map(|key| ["bytes", "o200k", "cl100k"].map(|unit| stats["total"][key][unit].as_u64().expect("a number")));
    assert_eq!(stc2[0], run(&["encode", text(&file)], "").fine().len() as u64);
    for unit in 0..3 {
        assert!(stc2[unit] < json[unit] && stc2[unit] < toon[unit], "{stc2:?} {json:?} {toon:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn stats_show_progress_before_the_first_byte_is_read() {
    // `cat` waits until the pipe has a writer, `stc` for `cat`.
    let pipe = folder("progress").join("pipe");
    let mut script = terminal(&format!("mkfifo '{0}' && cat '{0}' | $STC stats", pipe.display()));
    let mut running = script.env("TERM", "xterm").stdout(Stdio::piped()).spawn().expect("`script` starts");
    let mut screen = running.stdout.take().expect("a pipe");
    let mut before = String::new();
    while !before.contains("0 B  <stdin>") {
        let mut bytes = [0; 256];
        let count = screen.read(&mut bytes).expect("what the terminal shows");
        assert!(count > 0, "no bar: {before}");
        before += &String::from_utf8_lossy(&bytes[..count]);
    }
    assert!(!before.contains("saved"), "{before}");
    fs::write(&pipe, "[1]").unwrap();
    let mut after = String::new();
    screen.read_to_string(&mut after).unwrap();
    let (_, table) = after.split_once("saved against minified JSON").expect("a table");
    assert!(running.wait().unwrap().success() && table.contains("<stdin>\r\n"), "{before}{after}");
    // A terminal that cannot take a bar away is shown none.
    let (_, shown) = in_terminal("(sleep 1; echo '[1]') | $STC stats");
    assert!(shown.starts_with("saved against"), "{shown}");
}

#[test]
fn explain_lists_forms_and_savings() {
    for (format, header) in
        [("stc2", r#"[3]{id,state=open,by.{name,age},note?}"#), ("stc2-labelled", "[3]{*,state=open,by}")]
    {
        let report = String::from_utf8(run(&["explain", "--format", format], NESTED).fine()).unwrap();
        let lines: Vec<Vec<&str>> = report.lines().map(|line| line.split_whitespace().collect()).collect();
        let units = ["JSON", "bytes", "saved", "JSON", "tokens", "saved"];
        assert_eq!(lines[0], [&["arrays", "form", "rows"][..], &units].concat());
        assert_eq!(lines[1][..4], [".items", "table", "3", "167"]);
        assert_eq!(lines[2], [header]);
        let total = lines.iter().find(|line| line.first() == Some(&"total")).expect("a total");
        assert_eq!(total.last(), Some(&"saved"), "{report}");
        // The same share as `stats` prints.
        let stats = String::from_utf8(run(&["stats"], NESTED).fine()).unwrap();
        let named = format!("  {}  ", format.replace("stc2", "STC 2").replace('-', " "));
        let of_stats = stats.lines().find(|line| line.starts_with(&named)).expect("a line");
        let bytes = lines.iter().find(|line| line.first() == Some(&"bytes")).expect("a line");
        assert!(of_stats.contains(&format!("{} %", bytes[3])), "{report}{stats}");
        assert!(report.contains("tokens, estimated"), "{report}");
    }
    assert_eq!(run(&["explain"], NESTED).fine(), run(&["explain", "--format", "stc2"], NESTED).fine());

    let rows = |n: usize| format!(r#"{{"id": {n}, "url": "https://example.org/some/where/{n}"}}"#);
    let json = format!("[{}]", (0..9).map(rows).collect::<Vec<_>>().join(","));
    let explained: Value =
        serde_json::from_slice(&run(&["explain", "--format", "stc2", "--json"], &json).fine()).expect("JSON");
    assert_eq!(explained["arrays"][0]["path"], ".");
    assert_eq!(explained["arrays"][0]["form"], "table");
    assert_eq!(explained["templates"][0]["name"], "url");
    assert_eq!(explained["templates"][0]["uses"], 9);
    let stc = run(&["encode", "--format", "stc2"], &json).fine();
    assert_eq!(explained["stc"]["bytes"], stc.len());
    assert_eq!(explained["stc"]["tokens"], stc::estimate_tokens(&stc));

    let report = String::from_utf8(run(&["explain"], "[1, 2]").fine()).unwrap();
    assert!(report.starts_with("STC 2 is not shorter here"), "{report}");
    assert!(run(&["explain"], "[1, 2").rejected().contains("<stdin>:1:6"));
    assert_eq!(run(&["explain", "--format", "stc1"], "[1]").code, Some(2));
    // Many arrays: only the first ones without --all.
    let many = format!("[{}]", vec![r#"[{"a": 1}, {"a": 2}]"#; 50].join(","));
    let [few, all] = [&["explain"][..], &["explain", "--all"]]
        .map(|arguments| String::from_utf8(run(arguments, &many).fine()).unwrap());
    assert!(few.contains("… and 30 more (--all)") && few.lines().count() < 60, "{few}");
    assert!(all.contains(".[49] ") && !all.contains("more (--all)"), "{all}");

    // A long header, and the names of what saves: whole with --wide.
    let keys: Vec<String> = (0..30).map(|n| format!(r#""column_{n}":{n}"#)).collect();
    let rows = format!("[{}]", vec![format!("{{{}}}", keys.join(",")); 3].join(","));
    let nested = format!(r#"{{"a rather long name of a member": {{"and another one inside": {rows}}}}}"#);
    let explain = |flags: &[&str]| {
        let arguments = [&["explain", "--format", "stc2"], flags].concat();
        String::from_utf8(run(&arguments, &nested).fine()).unwrap()
    };
    let (cut, wide) = (explain(&[]), explain(&["--wide"]));
    assert!(cut.contains('…') && !cut.contains("column_29") && cut.lines().all(|line| line.chars().count() <= 100));
    assert!(!wide.contains('…') && wide.contains("column_29") && wide.contains("a rather long name"), "{wide}");
}

#[test]
fn a_legend_for_every_format() {
    let legend = |format: &str| String::from_utf8(run(&["legend", "--format", format], "").fine()).unwrap();
    assert_eq!(legend("stc2").as_bytes(), run(&["legend"], "").fine());
    for format in stc::Format::STC {
        assert_eq!(legend(format.name()), stc::legend(format));
    }
}
