//! The command `stc`, run as a user runs it: bytes in, bytes out, exit code, and what stderr says.

#![cfg(not(miri))]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

/// The three examples of the ADR: JSON, STC.
const ADR: [(&str, &str); 3] = [
    (r#"{"name": "foo", "api_version": "v2", "count": 42}"#, r#"{name: "foo", api_version: "v2", count: 42}"#),
    (
        r#"{"tags": ["api", "gateway", "mcp"], "scores": [95, 87, 91]}"#,
        r#"{tags[3]: "api","gateway","mcp", scores[3]: 95,87,91}"#,
    ),
    (
        r#"[{"id": 1, "name": "users", "method": "GET"}, {"id": 2, "name": "orders", "method": "POST"}]"#,
        r#"[2]{id,name,method}: 1,"users","GET" / 2,"orders","POST""#,
    ),
];

/// The command, built once a run into the same target folder and profile as this test. It belongs to another package,
/// so cargo neither builds it for us nor says where it is.
fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let test = std::env::current_exe().expect("the path of this test");
        // target/PROFILE/deps/main-…
        let folder = test.ancestors().nth(2).expect("the folder of the profile");
        let target = folder.parent().expect("the target folder");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") => "dev",
            Some(profile) => profile,
            None => panic!("no profile in {}", test.display()),
        };
        let built = Command::new(env!("CARGO"))
            .args(["build", "--package", "stc-cli", "--profile", profile, "--target-dir"])
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs");
        assert!(built.status.success(), "stc-cli does not build:\n{}", String::from_utf8_lossy(&built.stderr));
        folder.join("stc").with_extension(std::env::consts::EXE_EXTENSION)
    })
}

fn stc(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// How a run ended.
struct Ran {
    code: Option<i32>,
    out: Vec<u8>,
    errors: String,
}

impl Ran {
    #[track_caller]
    fn fine(self) -> Vec<u8> {
        assert_eq!((self.code, self.errors.as_str()), (Some(0), ""));
        self.out
    }

    /// Refused with nothing on stdout; gives what stderr said.
    #[track_caller]
    fn refused(self) -> String {
        assert_eq!(self.code, Some(1), "{}", self.errors);
        assert_eq!(self.out.escape_ascii().to_string(), "");
        self.errors
    }
}

fn run(arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut child = stc(arguments).stdin(Stdio::piped()).spawn().expect("stc starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref();
    std::thread::scope(|scope| {
        // Apart, since neither side waits for the other; a command that has refused does not read to the end.
        scope.spawn(move || drop(stdin.write_all(input)));
        let ended = child.wait_with_output().expect("stc ends");
        Ran { code: ended.status.code(), out: ended.stdout, errors: String::from_utf8(ended.stderr).expect("UTF-8") }
    })
}

/// An empty folder for one test.
fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder to write in");
    path
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

fn nested(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

/// A document longer than any buffer on the way.
fn long() -> String {
    let rows: Vec<String> =
        (0..100_000).map(|n| format!(r#"{{"id":{n},"text":"row {n}","more":[{n},null]}}"#)).collect();
    format!("[{}]", rows.join(","))
}

#[test]
fn the_examples_of_the_adr_through_pipes() {
    for (json, stc) in ADR {
        assert_eq!(String::from_utf8(run(&["encode"], json).fine()).unwrap(), stc);
        assert_eq!(run(&["decode"], stc).fine(), stc::laws::minify(json.as_bytes()));
        assert_eq!(run(&["decode", "-"], json).fine(), stc::laws::minify(json.as_bytes()));
    }
}

#[test]
fn the_examples_of_the_adr_through_files() {
    let folder = folder("files");
    let [json, stc, back] = ["a.json", "a.stc", "back.json"].map(|name| folder.join(name));
    for (example, encoded) in ADR {
        fs::write(&json, example).unwrap();
        assert_eq!(run(&["encode", text(&json), "-o", text(&stc)], "").fine(), b"");
        assert_eq!(fs::read_to_string(&stc).unwrap(), encoded);
        assert_eq!(run(&["decode", text(&stc), "--output", text(&back)], "").fine(), b"");
        assert_eq!(fs::read(&back).unwrap(), stc::laws::minify(example.as_bytes()));
        assert_eq!(run(&["encode", text(&json)], "").fine(), encoded.as_bytes());
    }
    assert_eq!(names(&folder), ["a.json", "a.stc", "back.json"]);
}

/// Rows that nest, leave keys out and repeat themselves; of version 1 they are plain.
const NESTED: &str = r#"{"items": [{"id": 1, "state": "open", "by": {"name": "ann", "age": 7}}, {"id": 2, "state": "open",
    "by": {"name": "bob", "age": 8}, "note": "x"}, {"id": 3, "state": "open", "by": {"name": "cy", "age": 9}}]}"#;

#[test]
fn every_format_is_written_and_read_back() {
    let stc2 = "{items:[3]{id,state=\"open\",by.{name,age},note?}:\n1,\"ann\",7,\n2,\"bob\",8,\"x\"\n3,\"cy\",9,\n}";
    let stc = run(&["encode", "--format", "stc2"], NESTED).fine();
    assert_eq!(String::from_utf8(stc).unwrap(), stc2);
    assert_eq!(run(&["encode", "-f", "stc1"], NESTED).fine(), run(&["encode"], NESTED).fine());
    for json in [NESTED, ADR[0].0, ADR[1].0, ADR[2].0, &long()] {
        let mut texts = Vec::new();
        for format in ["stc1", "stc2", "stc2-refs"] {
            let stc = run(&["encode", "--format", format], json).fine();
            assert_eq!(run(&["decode"], &stc).fine(), stc::laws::minify(json.as_bytes()), "{format}");
            assert_eq!(run(&["check", "--stc"], &stc).fine(), b"<stdin>: ok\n", "{format}");
            texts.push(stc);
        }
        assert_ne!(texts[0], texts[1]);
    }
    // A text that only references shorten.
    let json = format!("[{}]", [r#""https://example.org/a/rather/long/way/to/go/1""#; 4].join(","));
    let [plain, named] = ["stc2", "stc2-refs"].map(|format| run(&["encode", "--format", format], &json).fine());
    assert_eq!(plain, json.as_bytes());
    assert!(named.starts_with(b"$a=\"https://") && named.len() < json.len());
    assert_eq!(run(&["encode", "--format", "stc3"], NESTED).code, Some(2));
}

#[test]
fn flags_that_version_2_cannot_keep_are_refused() {
    for format in ["stc2", "stc2-refs"] {
        for (flags, why) in [(&["--lines"][..], "STC 2 holds line feeds"), (&["--window", "1K"], "the whole document")]
        {
            let arguments: Vec<&str> = ["encode", "--format", format].iter().chain(flags).copied().collect();
            let ran = run(&arguments, "[1]\n");
            assert_eq!((ran.code, ran.out.as_slice()), (Some(2), &b""[..]));
            assert!(ran.errors.contains(why) && ran.errors.contains(flags[0]), "{}", ran.errors);
            assert!(ran.errors.contains("--format stc1") && ran.errors.contains("Usage: stc encode"), "{}", ran.errors);
        }
    }
    assert_eq!(run(&["encode", "--format", "stc1", "--lines"], "[1]\n").fine(), b"[1]\n");
}

#[test]
fn a_legend_for_every_format() {
    let legend = |format: &str| String::from_utf8(run(&["legend", "--format", format], "").fine()).unwrap();
    assert_eq!(legend("stc1").as_bytes(), run(&["legend"], "").fine());
    assert_eq!(legend("stc2"), stc::legend(stc::Version::V2, false));
    assert_eq!(legend("stc2-refs"), stc::legend(stc::Version::V2, true));
}

#[test]
fn explain_says_what_was_chosen_and_what_it_saved() {
    let report = String::from_utf8(run(&["explain", "--format", "stc2"], NESTED).fine()).unwrap();
    let lines: Vec<Vec<&str>> = report.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0][..3], ["arrays", "form", "rows"]);
    assert_eq!(lines[1][..4], [".items", "table", "3", "167"]);
    assert_eq!(lines[2], [r#"[3]{id,state="open",by.{name,age},note?}"#]);
    assert!(report.contains("total") && report.contains("tokens, estimated"), "{report}");

    let rows = |n: usize| format!(r#"{{"id": {n}, "url": "https://example.org/some/where/{n}"}}"#);
    let json = format!("[{}]", (0..9).map(rows).collect::<Vec<_>>().join(","));
    let explained: Value = serde_json::from_slice(&run(&["explain", "--json"], &json).fine()).expect("JSON");
    assert_eq!(explained["arrays"][0]["path"], ".");
    assert_eq!(explained["arrays"][0]["form"], "table");
    assert_eq!(explained["templates"][0]["name"], "url");
    assert_eq!(explained["templates"][0]["uses"], 9);
    let stc = run(&["encode", "--format", "stc2-refs"], &json).fine();
    assert_eq!(explained["stc"]["bytes"], stc.len());
    assert_eq!(explained["stc"]["tokens"], stc::estimate_tokens(&stc));

    let report = String::from_utf8(run(&["explain"], "[1, 2]").fine()).unwrap();
    assert!(report.starts_with("STC 2 refs does not pay here"), "{report}");
    assert!(run(&["explain"], "[1, 2").refused().contains("<stdin>:1:6"));
    assert_eq!(run(&["explain", "--format", "stc1"], "[1]").code, Some(2));
    // Many arrays: the first ones, unless all are asked for.
    let many = format!("[{}]", vec![r#"[{"a": 1}, {"a": 2}]"#; 50].join(","));
    let [few, all] = [&["explain"][..], &["explain", "--all"]]
        .map(|arguments| String::from_utf8(run(arguments, &many).fine()).unwrap());
    assert!(few.contains("… and 30 more (--all)") && few.lines().count() < 60, "{few}");
    assert!(all.contains(".[49] ") && !all.contains("more (--all)"), "{all}");
}

#[test]
fn a_file_can_be_replaced_by_its_own_encoding() {
    let file = folder("in-place").join("a.json");
    fs::write(&file, long()).unwrap();
    run(&["encode", text(&file), "-o", text(&file)], "").fine();
    assert_eq!(fs::read(&file).unwrap(), stc::encode(long().as_bytes()).unwrap());
}

#[test]
fn a_refused_document_leaves_stdout_empty_and_shows_the_place() {
    let errors = run(&["encode"], "{\"a\": 1,\n  \"日本\": 01}").refused();
    let shown: Vec<&str> = errors.lines().collect();
    assert!(shown[0].starts_with("error: expected ',' or '}', found '1'"), "{errors}");
    assert_eq!(shown[1], " --> <stdin>:2:10 (byte 22)");
    assert_eq!(shown[3], "2 |   \"日本\": 01}");
    // Two wide characters stand before the caret.
    assert_eq!(shown[4], format!("  | {}^", " ".repeat(11)));

    // Far behind what any buffer holds, from a pipe and from a file.
    let wrong = long() + "\n\n  x";
    let errors = run(&["encode"], &wrong).refused();
    let file = folder("refused").join("wrong.json");
    fs::write(&file, &wrong).unwrap();
    assert!(errors.contains(&format!("<stdin>:3:3 (byte {})", wrong.len() - 1)), "{errors}");
    let errors = run(&["encode", text(&file)], "").refused();
    assert!(errors.contains(&format!("{}:3:3 (byte {})", file.display(), wrong.len() - 1)), "{errors}");
    assert!(errors.contains("expected the end of the document, found 'x'"), "{errors}");
}

#[test]
fn a_place_long_gone_by_is_shown_from_a_file_and_bounded_in_a_pipe() {
    let wrong = format!("{{\"b\": 1,\n\"a\": trux{}}}", " ".repeat(3_000_000));
    let folder = folder("long-gone");
    let [file, out] = ["ws.json", "out.stc"].map(|name| folder.join(name));
    fs::write(&file, &wrong).unwrap();
    let place = |name: &str| format!("{name}:2:9 (byte 17)\n  |\n2 | \"a\": trux");
    for arguments in [
        &["encode", text(&file)][..],
        &["encode", text(&file), "-o", text(&out)],
        &["decode", text(&file), "-o", text(&out)],
    ] {
        let errors = run(arguments, "").refused();
        assert!(errors.contains(&place(text(&file))), "{errors}");
        assert!(errors.contains(&format!("\n  | {}^\n", " ".repeat(8))), "{errors}");
        assert!(errors.contains(", found 'x'"), "{errors}");
    }
    // A pipe is not there any more; what is said about it is true.
    let errors = run(&["encode"], &wrong).refused();
    let shown = errors.contains(&place("<stdin>"));
    assert!(shown || errors.contains("<stdin> (byte 17)\n  = help: on line 2 at the latest"), "{errors}");

    // A line whose end is far away, and one that stands far into the file.
    let lines = folder.join("ws.ndjson");
    fs::write(&lines, "[1]\n".repeat(500_000) + &wrong.replace('\n', " ")).unwrap();
    for arguments in [&["encode", "--lines", text(&lines), "-o", text(&out)][..], &["check", text(&lines)]] {
        let errors = run(arguments, "").errors;
        assert!(errors.contains(&format!("{}:500001:18 (byte 2000017)", lines.display())), "{errors}");
        assert!(errors.contains("\n500001 | {\"b\": 1, \"a\": trux  "), "{errors}");
    }
    assert_eq!(names(&folder), ["ws.json", "ws.ndjson"]);
}

#[test]
fn an_input_that_ends_too_early_says_what_was_to_come() {
    let errors = run(&["encode"], "[1, 2").refused();
    assert!(errors.contains("the input ends where"), "{errors}");
    assert!(errors.contains("<stdin>:1:6 (byte 5)"), "{errors}");
    assert!(errors.contains("1 | [1, 2\n  |      ^"), "{errors}");
    for empty in ["", " \n"] {
        assert!(run(&["encode"], empty).refused().contains(&format!("(byte {})", empty.len())));
    }
}

#[test]
fn what_is_shown_is_short_and_safe() {
    let errors = run(&["encode"], format!("[\"{}\", \x1B]", "é".repeat(500_000))).refused();
    assert!(errors.lines().all(|line| line.chars().count() < 110), "{errors}");
    assert!(errors.contains("<stdin>:1:500006"), "{errors}");
    assert!(errors.contains("found U+001B") && errors.contains('…') && !errors.contains('\x1B'), "{errors}");
    let errors = run(&["encode"], b"[\"ab\xFFc\"]").refused();
    assert!(errors.contains("invalid UTF-8") && errors.contains("[\"ab\u{FFFD}c\"]"), "{errors}");
}

#[test]
fn a_streamed_decode_knows_line_and_column_far_into_the_stream() {
    let rows: Vec<String> = (0..200_000).map(|n| format!("{{id: {n}, ok: true}}")).collect();
    let wrong = format!("[{},\n{{id: 1, ok: maybe}}]", rows.join(",\n"));
    let ran = run(&["decode"], &wrong);
    assert_eq!(ran.code, Some(1));
    assert!(ran.errors.contains("<stdin>:200001:13"), "{}", ran.errors);
    assert!(ran.errors.contains("200001 | {id: 1, ok: maybe}]"), "{}", ran.errors);
    // What came out before is right.
    let right: Vec<String> = (0..200_000).map(|n| format!("{{\"id\":{n},\"ok\":true}}")).collect();
    assert!(format!("[{},{{\"id\":1,\"ok\":", right.join(",")).as_bytes().starts_with(&ran.out));
}

#[test]
fn a_file_appears_only_when_all_went_well() {
    let folder = folder("only-then");
    let [wrong, out, missing] = ["wrong.json", "out.stc", "missing.json"].map(|name| folder.join(name));
    // Long, so that much of it has been written when the error comes.
    fs::write(&wrong, long() + "]").unwrap();
    for command in ["encode", "decode"] {
        run(&[command, text(&wrong), "-o", text(&out)], "").refused();
        assert_eq!(names(&folder), ["wrong.json"]);
    }
    fs::write(&out, "as it was").unwrap();
    for command in ["encode", "decode"] {
        run(&[command, text(&wrong), "-o", text(&out)], "").refused();
        run(&[command, "--lines", "-o", text(&out)], "1\n{]\n").refused();
        assert_eq!(run(&[command, text(&missing), "-o", text(&out)], "").code, Some(3));
        assert_eq!(fs::read_to_string(&out).unwrap(), "as it was");
        assert_eq!(names(&folder), ["out.stc", "wrong.json"]);
    }
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions_and_its_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("replaced");
    let [file, link] = ["file.stc", "link.stc"].map(|name| folder.join(name));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file.stc", &link).unwrap();
    run(&["encode", "-o", text(&link)], "[1]").fine();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "[1]");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_yet_stays_and_gets_its_file() {
    use std::os::unix::fs::symlink;
    let folder = folder("dangling");
    let [link, further, round] = ["link.stc", "further.stc", "round.stc"].map(|name| folder.join(name));
    fs::create_dir(folder.join("deeper")).unwrap();
    symlink("deeper/link.stc", &link).unwrap();
    symlink("../made.stc", folder.join("deeper/link.stc")).unwrap();
    symlink(folder.join("missing/made.stc"), &further).unwrap();
    symlink("round.stc", &round).unwrap();
    // Refused: nothing is made.
    run(&["encode", "-o", text(&link)], "[").refused();
    assert!(!folder.join("made.stc").exists());
    run(&["encode", "-o", text(&link)], "[1]").fine();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::symlink_metadata(folder.join("deeper/link.stc")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(folder.join("made.stc")).unwrap(), "[1]");
    for nowhere in [&further, &round] {
        assert_eq!(run(&["encode", "-o", text(nowhere)], "[1]").code, Some(3));
        assert!(fs::symlink_metadata(nowhere).unwrap().is_symlink());
    }
    assert_eq!(names(&folder), ["deeper", "further.stc", "link.stc", "made.stc", "round.stc"]);
    assert_eq!(names(&folder.join("deeper")), ["link.stc"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let folder = folder("interrupted");
    for signal in ["-INT", "-TERM"] {
        let mut child =
            stc(&["encode", "-o", text(&folder.join("out.stc"))]).stdin(Stdio::piped()).spawn().expect("stc starts");
        // Held until the end: waiting for a child closes its input, and an input that ends is an answer of its own.
        let input = child.stdin.take();
        // It waits for its input; the file beside the place says that it has begun.
        while names(&folder).is_empty() {
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs").success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        drop(input);
        assert!(names(&folder).is_empty());
    }
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
fn a_refused_line_is_counted_in_the_stream() {
    let before = "{\"a\": 1}\n\n".repeat(100_000);
    let ran = run(&["encode", "--lines"], format!("{before}{{\"a\" 1}}\n[2]\n"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.errors.contains(&format!("<stdin>:200001:6 (byte {})", before.len() + 5)), "{}", ran.errors);
    assert_eq!(ran.out, "{a: 1}\n\n".repeat(100_000).as_bytes());

    // The first byte of a line that is longer than what a stream remembers.
    let long = format!("1\n?{}\n", "1".repeat(5 << 20));
    for command in ["encode", "decode"] {
        let ran = run(&[command, "--lines"], &long);
        assert_eq!((ran.code, ran.out.as_slice()), (Some(1), &b"1\n"[..]));
        assert!(ran.errors.contains("<stdin>:2:1 (byte 2)"), "{}", ran.errors);
        assert!(ran.errors.contains("2 | ?111") && ran.errors.contains("\n  | ^"), "{}", ran.errors);
    }
}

#[test]
fn depth_is_a_limit_and_never_the_stack() {
    let deep = nested(100_000);
    for command in ["encode", "decode"] {
        let errors = run(&[command, "-o", "-"], &deep).errors;
        assert!(errors.contains("depth limit") && errors.contains("(byte 512)"), "{errors}");
        assert!(errors.contains("--max-depth"), "{errors}");
        assert_eq!(run(&[command, "--max-depth", "200000"], &deep).fine(), deep.as_bytes());
    }
    assert_eq!(run(&["check", "--max-depth", "200000"], &deep).fine(), b"<stdin>: ok\n");
}

#[test]
fn what_was_meant_is_guessed() {
    for stc in [
        "{name: 1}",
        "{\"a\": 1, _b: 2}",
        "{\"a b\"[2]: 1,2}",
        ADR[2].1,
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
            let errors = run(arguments, broken).errors;
            assert!(errors.contains("= help: no line break may stand between the colon"), "{broken}\n{errors}");
        }
    }
    let errors = run(&["decode"], "[2]{a,b}:\n1,2 / 3,4").errors;
    assert!(errors.contains("= help: behind a header that ends its line every row has a line of its own"), "{errors}");
    for other in ["[2]{a,b}: 1,]", "[2]{a}: 1,2", "[2]{a}: 1 /", "{a[2]:\n1\n}"] {
        let errors = run(&["decode"], other).errors;
        assert!(errors.contains("error: ") && !errors.contains("help:"), "{other}\n{errors}");
    }
}

#[test]
fn a_line_too_long_is_refused_before_it_is_read() {
    for command in ["encode", "decode", "check", "stats"] {
        // Who reads on waits for a line feed that never comes; the pipe stays open.
        for endless in ["[1, 2, 3, 4]", "                      "] {
            let mut child =
                stc(&[command, "--lines", "--max-input", "8"]).stdin(Stdio::piped()).spawn().expect("stc starts");
            let mut stdin = child.stdin.take().expect("a pipe");
            stdin.write_all(format!("[1,2,33]\n\n{endless}").as_bytes()).expect("stc reads");
            let mut errors = String::new();
            child.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("UTF-8");
            assert_eq!(child.wait().unwrap().code(), Some(1), "{command}");
            assert!(errors.contains("input limit") && errors.contains("<stdin>:3:9 (byte 18)"), "{command}\n{errors}");
            assert!(errors.contains("--max-input"), "{errors}");
            drop(stdin);
        }
    }
}

#[test]
fn every_limit_is_a_flag() {
    let columnar = r#"[3]{id,name}: 1,"a" / 2,"b" / 3,"c""#;
    let limits: [(&[&str], &str); 6] = [
        (&["--max-input", "10"], "input limit"),
        (&["--max-output", "10"], "output limit"),
        (&["--max-ratio", "1", "--max-free", "10"], "ratio limit"),
        (&["--max-columns", "1"], "more columns"),
        (&["--max-header", "4"], "header longer"),
        (&["--max-depth", "1"], "depth limit"),
    ];
    for (flags, message) in limits {
        let arguments: Vec<&str> = ["decode"].iter().chain(flags).copied().collect();
        let ran = run(&arguments, columnar);
        assert_eq!(ran.code, Some(1), "{flags:?}");
        assert!(ran.errors.contains(message) && ran.errors.contains(flags[0]), "{}", ran.errors);
    }
    let named = "[&a{b:[1,2,3]},*a]";
    let filled = "[1]{id,url~\"https://example.org/${id}\"}:\n1\n";
    for (stc, flags, message) in [
        (named, ["--max-anchors", "8"], "anchor"),
        (filled, ["--max-row", "8"], "row"),
        (filled, ["--max-header", "8"], "header longer"),
    ] {
        let errors = run(&["decode", flags[0], flags[1]], stc).errors;
        assert!(errors.contains(message) && errors.contains(flags[0]), "{errors}");
        run(&["decode", flags[0], "1K"], stc).fine();
    }
    let errors = run(&["decode", "--max-ratio", "1", "--max-free", "10"], columnar).errors;
    assert!(errors.contains("--max-ratio") && errors.contains("--max-free"), "{errors}");
    let json = run(&["decode", "--max-output", "1K", "--max-input", "1M"], columnar).fine();
    assert_eq!(run(&["encode"], &json).fine(), columnar.as_bytes());
    assert_eq!(
        run(&["encode", "--max-columns", "1"], &json).fine(),
        b"[{id: 1, name: \"a\"},{id: 2, name: \"b\"},{id: 3, name: \"c\"}]"
    );
    assert_ne!(run(&["encode", "--window", "16"], &json).fine(), columnar.as_bytes());
    assert_eq!(run(&["encode", "--max-input", "lots"], &json).code, Some(2));
}

#[test]
fn check_says_ok_or_why_not() {
    let folder = folder("check");
    fs::write(folder.join("a.json"), ADR[2].0).unwrap();
    fs::write(folder.join("b.stc"), ADR[2].1).unwrap();
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
    assert!(report.starts_with(&format!("{}: ok\n{}: refused, ", at("a.json"), at("b.stc"))), "{report}");
    assert!(ran.errors.contains(&format!("{}:1:14 (byte 13)", at("b.stc"))), "{}", ran.errors);
    assert!(ran.errors.contains(&format!("{}:3:6 (byte 8)", at("c.ndjson"))), "{}", ran.errors);

    assert_eq!(run(&["check", "--stc"], ADR[1].1).fine(), b"<stdin>: ok\n");
    assert_eq!(run(&["check", "--stc", "--lines"], "{a: 1}\n[2]{x}: 1 / 2\n").fine(), b"<stdin>: ok\n");
    assert_eq!(run(&["check"], ADR[1].1).code, Some(1));
    assert_eq!(run(&["check", text(&folder.join("missing.json"))], "").code, Some(3));
}

#[cfg(target_os = "linux")]
#[test]
fn check_says_it_once_on_a_terminal() {
    let file = folder("check-terminal").join("a.json");
    fs::write(&file, "[1,,2]").unwrap();
    let command = format!("'{}' check '{}'", binary().display(), file.display());
    // util-linux's, which gives a command a terminal.
    let ran = Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output();
    let ran = ran.expect("script, of the package bsdutils, is needed to test what a terminal shows");
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(said.matches("expected a value").count(), 1, "{said}");
    assert_eq!(said.matches("a.json").count(), 1, "{said}");
    assert_eq!(ran.status.code(), Some(1), "{said}");
    // Apart, each stream says it.
    let ran = run(&["check", text(&file)], "");
    let out = String::from_utf8(ran.out).unwrap();
    assert!(out.contains(": refused, expected a value") && ran.errors.contains("expected a value"), "{out}");
}

#[test]
fn stats_for_machines() {
    let folder = folder("stats");
    fs::create_dir(folder.join("deeper")).unwrap();
    let [first, second] = [folder.join("a.json"), folder.join("deeper/b.jsonl")];
    fs::write(&first, format!("{}\n", ADR[2].0)).unwrap();
    fs::write(&second, format!("{}\n{}\n", ADR[0].0, ADR[1].0)).unwrap();
    let minified = ADR.map(|(json, _)| stc::laws::minify(json.as_bytes()).len());
    let stats: Value = serde_json::from_slice(&run(&["stats", "--json", text(&folder)], "").fine()).expect("JSON");
    let bytes = |of: &Value| ["as_is", "minified", "stc1"].map(|format| of[format]["bytes"].as_u64().unwrap() as usize);
    let expected = [
        [ADR[2].0.len() + 1, minified[2], ADR[2].1.len()],
        [ADR[0].0.len() + ADR[1].0.len() + 2, minified[0] + minified[1] + 2, ADR[0].1.len() + ADR[1].1.len() + 2],
    ];
    assert_eq!(stats["files"].as_array().unwrap().iter().map(bytes).collect::<Vec<_>>(), expected);
    assert_eq!(bytes(&stats["total"]), [0, 1, 2].map(|format| expected[0][format] + expected[1][format]));
    assert_eq!(stats["files"][0]["file"], text(&first));
    assert_eq!(stats["files"][1]["file"], text(&second));
    // tiktoken says so.
    assert_eq!(stats["files"][0]["stc1"]["o200k"], 23);
    assert_eq!(stats["files"][0]["stc1"]["cl100k"], 23);
    let ratio = stats["files"][0]["stc1_to_minified"]["bytes"].as_f64().unwrap();
    assert!((ratio - ADR[2].1.len() as f64 / minified[2] as f64).abs() < 1e-9);
    assert_eq!(stats["failed"].as_array().unwrap().len(), 0);
    // Version 2, as `encode` writes it.
    for (format, key) in [("stc2", "stc2"), ("stc2-refs", "stc2_refs")] {
        let stc = run(&["encode", "--format", format, text(&first)], "").fine();
        assert_eq!(stats["files"][0][key]["bytes"], stc.len());
        let ratio = stats["files"][0][format!("{key}_to_minified")]["bytes"].as_f64().unwrap();
        assert!((ratio - stc.len() as f64 / minified[2] as f64).abs() < 1e-9);
    }
}

#[test]
fn stats_goes_on_behind_a_refused_file() {
    let folder = folder("stats-refused");
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

    // What cannot be read is told apart like what is refused.
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
fn stats_for_people() {
    let table = String::from_utf8(run(&["stats"], ADR[2].0).fine()).unwrap();
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let stc = ["STC", "1", "/min", "STC", "2", "/min", "STC", "2", "refs", "/min"];
    assert_eq!(lines[0], [&["unit", "as", "is", "minified"][..], &stc].concat());
    assert_eq!(lines[1], ["<stdin>"]);
    let sizes = ["bytes", "92", "81", "56", "69.1", "%", "55", "67.9", "%", "55", "67.9", "%"];
    assert_eq!(lines[2], sizes);
    assert_eq!((lines[3][0], lines[4][0]), ("o200k", "cl100k"));
    assert!(table.lines().all(|line| line.len() <= 100));
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = String::from_utf8(run(&["completions", shell], "").fine()).unwrap();
        for word in ["max-depth", "format", "legend", "explain"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // The other two complete no values.
        assert_eq!(script.contains("stc2-refs"), matches!(shell, "bash" | "zsh" | "fish"), "{shell}");
    }
    assert_eq!(run(&["completions", "abacus"], "").code, Some(2));
}

#[test]
fn help_has_examples_and_exit_codes() {
    for arguments in [
        &["--help"][..],
        &[],
        &["encode", "--help"],
        &["decode", "-h"],
        &["check", "--help"],
        &["stats", "--help"],
        &["explain", "--help"],
        &["legend", "--help"],
    ] {
        let help = String::from_utf8(run(arguments, "").fine()).unwrap();
        assert!(help.contains("Usage: stc") && help.contains("Examples:"), "{arguments:?}\n{help}");
        assert!(help.contains("Exit codes:\n  0    all went well"), "{arguments:?}\n{help}");
    }
    let help = String::from_utf8(run(&["decode", "--help"], "").fine()).unwrap();
    assert!(help.contains(&format!("[default: {}]", stc::Limits::DEFAULT.depth)), "{help}");
    assert_eq!(run(&["no-such-command"], "").code, Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_noticed_whatever_is_written() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &[],
        &["stats", "-h"],
        &["completions", "zsh"],
        &["encode"],
        &["legend"],
        &["explain"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
        let mut child = stc(arguments).stdin(Stdio::piped()).stdout(full).spawn().expect("stc starts");
        child.stdin.take().expect("a pipe").write_all(b"[1]").ok();
        let ended = child.wait_with_output().expect("stc ends");
        assert_eq!(ended.status.code(), Some(3), "{arguments:?}");
        assert!(ended.stderr.starts_with(b"error: <stdout>: "), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_disk_that_fills_up_leaves_the_old_file_and_nothing_else() {
    let folder = folder("fills-up");
    let [long_file, target] = ["long.json", "out"].map(|name| folder.join(name));
    fs::write(&long_file, long()).unwrap();
    fs::write(&target, "as it was").unwrap();
    for command in ["encode", "decode"] {
        // No file may become longer than 16 KiB, and who tries is told so, as on a disk without room.
        let limited = format!("trap '' XFSZ; ulimit -f 16; exec \"$0\" {command} \"$1\" -o \"$2\"");
        let ended = Command::new("bash").args(["-c", &limited]).args([binary(), &long_file, &target]).output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(3), "{errors}");
        assert!(errors.starts_with("error: "), "{errors}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "as it was");
        assert_eq!(names(&folder), ["long.json", "out"]);
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_one_that_ends_too_early() {
    let folder = folder("shrinks");
    let file = folder.join("long.json");
    // Longer than all that can be under way between the two: pipe and buffers have some hundred KiB.
    let rows = format!("[{}1]", "[1,[2]],".repeat(1 << 20));
    let shrink = || {
        let file = fs::File::options().write(true).open(&file).unwrap();
        file.set_len(rows.len() as u64 - 5).unwrap();
    };
    fs::write(&file, &rows).unwrap();
    let mut child = stc(&["decode", text(&file)]).spawn().expect("stc starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0; 3]).expect("a beginning");
    // It cannot go on until somebody reads; meanwhile the file loses its end.
    shrink();
    stdout.read_to_end(&mut Vec::new()).expect("readable");
    let ended = child.wait_with_output().expect("stc ends");
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{errors}");
    assert!(errors.contains("the input ends where"), "{errors}");

    // To a file nothing is written unless it is whole; which it is depends on who was first.
    let out = folder.join("out");
    for command in ["encode", "decode"] {
        fs::write(&file, &rows).unwrap();
        let mut child = stc(&[command, text(&file), "-o", text(&out)]).spawn().expect("stc starts");
        while names(&folder).len() == 1 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        shrink();
        match child.wait().unwrap().code() {
            Some(0) => assert_eq!(fs::read(&out).unwrap(), rows.as_bytes()),
            code => assert_eq!((code, out.exists()), (Some(1), false)),
        }
        let _ = fs::remove_file(&out);
        assert_eq!(names(&folder), ["long.json"]);
    }
}

#[test]
fn no_colours_in_a_pipe() {
    for arguments in [&["--help"][..], &["stats"], &["check"], &["encode"], &["explain"]] {
        for input in ["[1,2]", "[1,,2]"] {
            let ran = run(arguments, input);
            assert!(!ran.out.contains(&0x1B) && !ran.errors.contains('\x1B'), "{arguments:?}");
        }
    }
}

#[test]
fn a_closed_pipe_is_no_reason_to_complain() {
    let folder = folder("closed-pipe");
    let [file, lines] = ["long.json", "long.ndjson"].map(|name| folder.join(name));
    fs::write(&file, long()).unwrap();
    fs::write(&lines, "{\"a\": 1}\n".repeat(500_000)).unwrap();
    for arguments in [&["encode", text(&file)][..], &["decode", text(&file)], &["encode", "--lines", text(&lines)]] {
        let mut child = stc(arguments).spawn().expect("stc starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        stdout.read_exact(&mut [0; 3]).expect("a beginning");
        drop(stdout);
        let ended = child.wait_with_output().expect("stc ends");
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{arguments:?}");
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}");
    }
}
