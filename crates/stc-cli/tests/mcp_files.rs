//! `stc mcp` around a server of files: an agent reads a file, edits it by what it has read, and writes one.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use crate::command::stc;

/// Returns what a tool of the official server of files does: it reads, edits by exact text, and writes.
fn tool(call: &Value) -> (String, bool) {
    let arguments = &call["params"]["arguments"];
    let argument = |name: &str| arguments[name].as_str().expect("a string").to_owned();
    let path = argument("path");
    let text = std::fs::read_to_string(&path).expect("read");
    let text = match call["params"]["name"].as_str().expect("a name") {
        "read_text_file" | "list_rows" => return (text, false),
        "write_file" => argument("content"),
        _ if !text.contains(&argument("old")) => return ("Could not find exact match".to_owned(), true),
        _ => text.replacen(&argument("old"), &argument("new"), 1),
    };
    std::fs::write(&path, &text).expect("written");
    (text, false)
}

/// Serves the requests of one named pipe through another.
fn serve(requests: &Path, answers: &Path) {
    let requests = BufReader::new(File::open(requests).expect("opened"));
    let mut answers = File::options().write(true).open(answers).expect("opened");
    for line in requests.lines() {
        let call: Value = serde_json::from_str(&line.expect("read")).expect("JSON");
        let (text, is_error) = tool(&call);
        let result = json!({"content": [{"type": "text", "text": text}], "isError": is_error});
        writeln!(answers, "{}", json!({"jsonrpc": "2.0", "id": call["id"], "result": result})).expect("written");
    }
}

struct Agent {
    pipe: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Agent {
    fn new(folder: &Path, flags: &[&str]) -> Self {
        let [requests, answers] = ["requests", "answers"].map(|name| folder.join(name));
        for pipe in [&requests, &answers] {
            let _ = std::fs::remove_file(pipe);
            assert!(Command::new("mkfifo").arg(pipe).status().expect("started").success());
        }
        let mut command = stc(&["mcp"]);
        let script = r#"cat <"$1" & exec cat >"$0""#;
        command.args(flags).args(["--", "sh", "-c", script]).arg(&requests).arg(&answers);
        thread::spawn(move || serve(&requests, &answers));
        let mut pipe = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("started");
        let (input, output) = (pipe.stdin.take(), BufReader::new(pipe.stdout.take().expect("piped")));
        Self { pipe, input, output, calls: 0 }
    }

    /// Calls a tool; returns its text as the model gets it, and whether it is an error.
    fn call(&mut self, tool: &str, arguments: &Value) -> (String, bool) {
        self.calls += 1;
        let params = json!({"name": tool, "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params});
        writeln!(self.input.as_mut().expect("open"), "{request}").expect("written");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("read");
        let result = &serde_json::from_str::<Value>(&line).expect("JSON")["result"];
        let text = result["content"][0]["text"].as_str().expect("a text");
        (text.to_owned(), result["isError"] == true)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.pipe.wait();
    }
}

fn rows() -> String {
    let rows: Vec<_> = (0..30).map(|id| json!({"id": id, "state": "open", "kind": "sensor"})).collect();
    serde_json::to_string_pretty(&rows).expect("JSON")
}

#[test]
fn an_agent_reads_edits_and_writes_a_file() {
    let folder = std::env::temp_dir().join(format!("stc-mcp-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("rows.json");
    std::fs::write(&path, rows()).expect("written");
    let at = path.to_str().expect("Unicode");
    let mut agent = Agent::new(&folder, &[]);
    let (read, _) = agent.call("read_text_file", &json!({"path": at}));
    assert_eq!(read, rows(), "the file's own bytes");
    // What an agent copies: whole lines of what it has read.
    let old: String = read.lines().skip(5).take(6).map(|line| format!("{line}\n")).collect();
    let new = old.replace("open", "shut");
    let (edited, is_error) = agent.call("edit_file", &json!({"path": at, "old": old, "new": new}));
    assert!(!is_error, "{edited}");
    assert_eq!(edited, rows().replacen(&old, &new, 1));
    let (written, _) = agent.call("write_file", &json!({"path": at, "content": edited}));
    assert_eq!((written, std::fs::read_to_string(&path).expect("read")), (edited.clone(), edited.clone()));
    let (listed, _) = agent.call("list_rows", &json!({"path": at}));
    assert!(listed.starts_with("[30]"), "other tools' results are STC: {listed}");
    drop(agent);
    let (read, _) = Agent::new(&folder, &["--skip-tools", ""]).call("read_text_file", &json!({"path": at}));
    assert!(read.starts_with("[30]"), "{read}");
    let (listed, _) = Agent::new(&folder, &["--skip-tools", "list_*"]).call("list_rows", &json!({"path": at}));
    assert_eq!(listed, edited);
    std::fs::remove_dir_all(&folder).expect("removed");
}
