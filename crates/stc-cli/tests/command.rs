//! Helpers: runs the command and collects its result, and makes folders and documents.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Three examples: JSON, STC.
pub(crate) const EXAMPLES: [(&str, &str); 3] = [
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

/// The formats, by their names on the command line.
pub(crate) const FORMATS: [&str; 3] = ["stc1", "stc2", "stc2-labelled"];

/// Returns the path of the command.
pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_stc"))
}

pub(crate) fn stc(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The result of a run.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) errors: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn fine(self) -> Vec<u8> {
        assert_eq!((self.code, self.errors.as_str()), (Some(0), ""));
        self.out
    }

    /// Asserts a rejection with nothing on stdout; returns stderr.
    #[track_caller]
    pub(crate) fn rejected(self) -> String {
        assert_eq!(self.code, Some(1), "{}", self.errors);
        assert_eq!(self.out.escape_ascii().to_string(), "");
        self.errors
    }
}

pub(crate) fn run(arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut child = stc(arguments).stdin(Stdio::piped()).spawn().expect("stc starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref();
    std::thread::scope(|scope| {
        // On a thread, so that neither side blocks the other; a command that rejects its input does not read to the end.
        scope.spawn(move || drop(stdin.write_all(input)));
        let ended = child.wait_with_output().expect("stc ends");
        Ran { code: ended.status.code(), out: ended.stdout, errors: String::from_utf8(ended.stderr).expect("UTF-8") }
    })
}

/// Runs a line of shell with stdin, stdout and stderr in a terminal; `$STC` is the command. Returns the exit code and
/// what the terminal shows.
#[cfg(target_os = "linux")]
pub(crate) fn in_terminal(line: &str) -> (Option<i32>, String) {
    let ran = terminal(line).output().expect("`script` (package bsdutils) is needed to test terminal output");
    (ran.status.code(), String::from_utf8(ran.stdout).expect("UTF-8").replace("\r\n", "\n"))
}

/// Returns a command that runs a line of shell in a terminal, which gets no bar, however slow the machine is.
#[cfg(target_os = "linux")]
pub(crate) fn terminal(line: &str) -> Command {
    // `script` of util-linux runs a command in a terminal.
    let mut script = Command::new("script");
    script
        .args(["-qec", line, "/dev/null"])
        .env("STC", binary())
        .envs([("TERM", "dumb"), ("NO_COLOR", "1")])
        .stdin(Stdio::null());
    script
}

/// Creates an empty folder for one test.
pub(crate) fn folder(test: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(test);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder to write in");
    path
}

/// Returns the path of a file in a folder as the command prints it, with the system's own separators.
pub(crate) fn inside(folder: &Path, name: &str) -> String {
    let path = name.split('/').fold(folder.to_owned(), |path, part| path.join(part));
    text(&path).to_owned()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

pub(crate) fn nested(levels: usize) -> String {
    "[".repeat(levels) + &"]".repeat(levels)
}

/// Returns a document longer than any buffer.
pub(crate) fn long() -> String {
    let rows: Vec<String> =
        (0..100_000).map(|n| format!(r#"{{"id":{n},"text":"row {n}","more":[{n},null]}}"#)).collect();
    format!("[{}]", rows.join(","))
}

/// Nested, ragged and repetitive rows, which version 1 writes plain.
pub(crate) const NESTED: &str = r#"{"items": [{"id": 1, "state": "open", "by": {"name": "ann", "age": 7}}, {"id": 2, "state": "open",
    "by": {"name": "bob", "age": 8}, "note": "x"}, {"id": 3, "state": "open", "by": {"name": "cy", "age": 9}}]}"#;
