//! The Python reference decoder, as a process that answers over a pipe.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Asserts that Rust and Python give the same JSON, or reject at the same offset.
pub fn assert_reference(stc: &[u8]) {
    let ours = stc::decode(stc).map_err(|error| error.offset());
    let theirs = PYTHON.with_borrow_mut(|python| python.get_or_insert_with(Python::start).decode(stc));
    assert_eq!(
        ours.as_deref().map(|json| json.escape_ascii().to_string()),
        theirs.as_deref().map(|json| json.escape_ascii().to_string()),
        "Rust against the Python reference"
    );
}

thread_local! {
    static PYTHON: RefCell<Option<Python>> = const { RefCell::new(None) };
}

struct Python {
    questions: ChildStdin,
    answers: ChildStdout,
    _process: Child,
}

impl Python {
    fn start() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/reference.py");
        let mut command = Command::new("python3");
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("python3 starts");
        let questions = process.stdin.take().expect("piped");
        let answers = process.stdout.take().expect("piped");
        Self { questions, answers, _process: process }
    }

    /// Sends and receives a length followed by that many bytes; a negative number n is a rejection at offset -n - 1.
    fn decode(&mut self, stc: &[u8]) -> Result<Vec<u8>, u64> {
        let question = [&(stc.len() as i64).to_le_bytes()[..], stc].concat();
        self.questions.write_all(&question).expect("the reference reads");
        let mut number = [0; 8];
        self.answers.read_exact(&mut number).expect("the reference answers");
        let number = i64::from_le_bytes(number);
        if number < 0 {
            return Err(number.abs_diff(-1));
        }
        let mut json = vec![0; number as usize];
        self.answers.read_exact(&mut json).expect("the reference answers");
        Ok(json)
    }
}
