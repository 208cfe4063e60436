//! `stc mcp -- COMMAND`: an MCP server as a child, with its tool results as STC.
//!
//! ```text
//! client ── stdin ──▶ requests: noted, forwarded ──▶ server
//! client ◀─ stdout ── responses: texts converted ◀── server
//! ```
//!
//! A message is a line. Requests are forwarded byte for byte; what is noted of them is the method and the tool of each id, until
//! the answer arrives. A line that is longer than the policy allows is forwarded in parts as it arrives, so that memory is bounded.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use bytes::Bytes;
use stc_layer::mcp::{Calls, convert};
use stc_layer::{Format, Policy};

use super::lines::{Line, lines};
use crate::failure::{Failure, named};

/// Requests whose answer is awaited; older ones are forgotten, and their answers are read as those of unknown tools, which
/// stay where tools are skipped.
const AWAITED: usize = 1024;
/// The exit code of a shell for a command that does not exist.
const NOT_FOUND: u8 = 127;

/// Runs a command until it ends; its exit code is the result.
pub(crate) fn run(command: &[OsString], policy: Policy, format: Format) -> Result<ExitCode, Failure> {
    let name = command[0].to_string_lossy().into_owned();
    let arguments = &command[1..];
    let mut command = Command::new(&command[0]);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = match command.spawn() {
        Ok(server) => server,
        Err(error) => {
            let failure = Failure::from(named(&name, &error));
            if error.kind() == io::ErrorKind::NotFound {
                failure.report();
                return Ok(ExitCode::from(NOT_FOUND));
            }
            return Err(failure);
        }
    };
    forward_signals(&server)?;
    let awaited = Arc::new(Awaited::default());
    let (input, output) = (server.stdin.take().expect("piped"), server.stdout.take().expect("piped"));
    let requests = Arc::clone(&awaited);
    let longest = policy.max_bytes;
    // Not joined: the client may keep its end open after the server has ended.
    thread::spawn(move || forward_requests(io::stdin().lock(), input, &requests, longest));
    let delivered = deliver(BufReader::new(output), &mut io::stdout().lock(), &awaited, &policy, format);
    // A client that has gone does not end the server by itself: its standard input is closed, which it notices.
    let status = server.wait()?;
    if let Err(error) =
        delivered.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    {
        Failure::from(error).report();
    }
    Ok(exit_code(status))
}

/// The requests whose answers have not arrived.
#[derive(Default)]
struct Awaited(Mutex<VecDeque<Calls>>);

impl Awaited {
    fn note(&self, request: &[u8]) {
        let calls = Calls::read(&Bytes::copy_from_slice(request));
        if calls == Calls::default() {
            return;
        }
        let mut awaited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        awaited.push_back(calls);
        if awaited.len() > AWAITED {
            awaited.pop_front();
        }
    }

    /// Removes and returns the request that a message answers.
    fn answered(&self, message: &[u8]) -> Calls {
        let mut awaited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = awaited.iter().position(|calls| calls.are_answered_by(message));
        found.and_then(|at| awaited.remove(at)).unwrap_or_default()
    }
}

/// Forwards what the client sends, byte for byte, and notes the requests in it. The server's input is closed at its end.
fn forward_requests(client: impl BufRead, mut server: impl Write, awaited: &Awaited, longest: usize) {
    // Errors mean that the server has ended; its status says why.
    let _ = lines(client, longest, |line| {
        let (Line::Whole(bytes) | Line::Part(bytes)) = line;
        if let Line::Whole(request) = line {
            awaited.note(request);
        }
        server.write_all(bytes)?;
        server.flush()
    });
}

/// Delivers what the server sends, with its tool results converted.
fn deliver(
    server: impl BufRead,
    client: &mut impl Write,
    awaited: &Awaited,
    policy: &Policy,
    format: Format,
) -> io::Result<()> {
    lines(server, policy.max_bytes, |line| {
        match line {
            Line::Part(part) => client.write_all(part)?,
            Line::Whole(line) => {
                let message = line.trim_ascii_end();
                let converted = convert(message, &awaited.answered(message), policy, format);
                client.write_all(converted.as_deref().unwrap_or(message))?;
                client.write_all(&line[message.len()..])?;
            }
        }
        client.flush()
    })
}

/// Sends the signals that this process gets to the server. The server decides what they mean, and this process ends with it.
#[cfg(unix)]
fn forward_signals(server: &Child) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

    let Some(server) = Pid::from_raw(server.id().cast_signed()) else { return Ok(()) };
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    thread::spawn(move || {
        for number in &mut signals {
            if let Some(signal) = Signal::from_named_raw(number) {
                // A server that has ended is no error: its status arrives next.
                let _ = kill_process(server, signal);
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn forward_signals(_: &Child) -> io::Result<()> {
    Ok(())
}

/// Returns the server's exit code; after a signal, 128 and its number, as in shells.
fn exit_code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    // Codes of Windows have 32 bits; those that do not fit are failures all the same.
    ExitCode::from(status.code().map_or(u8::MAX, |code| u8::try_from(code).unwrap_or(u8::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight rows as a text in JSON.
    fn rows() -> String {
        let rows: Vec<String> = (1..9).map(|id| format!(r#"{{\"id\": {id}, \"ok\": true}}"#)).collect();
        format!("[{}]", rows.join(", "))
    }

    fn delivered(sent: &str, longest: usize) -> String {
        let policy = Policy { min_bytes: 16, max_bytes: longest, ..Policy::default() };
        let (mut out, awaited) = (Vec::new(), Awaited::default());
        for _ in 0..2 {
            awaited.note(br#"{"id":1,"method":"tools/call","params":{"name":"rows"}}"#);
        }
        deliver(sent.as_bytes(), &mut out, &awaited, &policy, Format::Stc2Labelled).expect("written");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn texts_change_and_every_other_byte_stays() {
        let result = format!(r#"{{ "id": 1,"result":{{"content":[{{"type":"text","text":"{}"}}]}} }}"#, rows());
        let others = ["not JSON", "", "  ", r#"{"method": "notifications/x"}"#, r#"{"id":2,"error":{"code":1}}"#];
        let sent = format!("{}\r\n{result}\r\n{result}", others.join("\n"));
        let got = delivered(&sent, 1 << 20);
        let mut lines = got.split('\n').zip(sent.split('\n'));
        for _ in others {
            let (got, sent) = lines.next().expect("a line");
            assert_eq!(got, sent);
        }
        for (got, _) in lines {
            assert!(
                got.starts_with(r#"{ "id": 1,"result":{"content":[{"type":"text","text":"[8]{*,ok=true}:\n{id:1}"#),
                "{got}"
            );
            assert!(
                got.trim_end_matches('\r').ends_with(r#""_meta":{"io.stoa/stc":{"format":"stc2-labelled"}}}]} }"#),
                "{got}"
            );
        }
        assert_eq!(got.matches("io.stoa/stc").count(), 2);
        assert_eq!(got.matches('\r').count(), sent.matches('\r').count());
        assert!(!got.ends_with('\n'));
    }

    #[test]
    fn a_line_that_is_too_long_is_forwarded_as_it_is() {
        let result = format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#, rows());
        for longest in [1, 7, result.len() / 2, result.len() - 1, result.len()] {
            let sent = format!("{result}\n{result}\nshort\n");
            assert_eq!(delivered(&sent, longest), sent, "{longest}");
        }
        assert_ne!(delivered(&format!("{result}\n"), result.len() + 1), format!("{result}\n"));
    }

    #[test]
    fn a_request_is_noted_until_its_answer() {
        let awaited = Awaited::default();
        for id in 0..2 * AWAITED {
            awaited.note(format!(r#"{{"id":{id},"method":"tools/list"}}"#).as_bytes());
        }
        awaited.note(b"not a request");
        let last = format!(r#"{{"id":{},"result":{{}}}}"#, 2 * AWAITED - 1);
        assert_ne!(awaited.answered(last.as_bytes()), Calls::default());
        assert_eq!(awaited.answered(last.as_bytes()), Calls::default(), "it is answered once");
        assert_eq!(awaited.answered(br#"{"id":0,"result":{}}"#), Calls::default(), "it is forgotten");
        assert_eq!(awaited.0.lock().expect("not poisoned").len(), AWAITED - 1);
    }
}
