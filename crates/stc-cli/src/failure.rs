//! The result of a run: the exit code, and the message on stderr.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::diagnose::Diagnosis;
use crate::style::Style;

/// The result of a run that was not interrupted, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Fine,
    Rejected,
    Usage,
    Io,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        // Clap exits with the code of `Usage` too; `args.rs` prints the whole list.
        Self::from(match status {
            Status::Fine => 0,
            Status::Rejected => 1,
            Status::Usage => 2,
            Status::Io => 3,
        })
    }
}

/// The exit code after an interrupt that required cleaning up: 128 + SIGINT, as in shells. SIGTERM and SIGHUP use it too:
/// the handler does not know which signal it was.
pub(crate) const INTERRUPTED: i32 = 130;

/// The reason why a run, or one of its files, failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is rejected.
    Rejected(Box<Diagnosis>),
    /// Arguments that cannot be carried out together.
    Usage(String),
    /// An I/O error, of the file called `name` if there is one.
    Io { name: Option<String>, message: String },
    /// The reader of stdout closed the pipe; not an error.
    Closed,
}

impl Failure {
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Rejected(_) => Status::Rejected,
            Self::Usage(_) => Status::Usage,
            Self::Io { .. } => Status::Io,
            Self::Closed => Status::Fine,
        }
    }

    /// Reports to stderr; a closed stderr is ignored.
    pub(crate) fn report(&self) {
        let style = Style::of(&io::stderr());
        let text = match self {
            Self::Rejected(diagnosis) => diagnosis.render(style),
            Self::Io { name: Some(name), message } => format!("{}: {name}: {message}\n", style.error("error")),
            Self::Usage(message) | Self::Io { name: None, message } => format!("{}: {message}\n", style.error("error")),
            Self::Closed => return,
        };
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

impl From<Diagnosis> for Failure {
    fn from(diagnosis: Diagnosis) -> Self {
        Self::Rejected(Box::new(diagnosis))
    }
}

/// Converts errors of inputs and outputs, which carry the name of their file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::Closed;
        }
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Named>()) {
            Some(Named { name, message }) => Self::Io { name: Some(name.clone()), message: message.clone() },
            None => Self::Io { name: None, message: error.to_string() },
        }
    }
}

/// Adds the name of the file to an error, for its conversion to a [`Failure`].
pub(crate) fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), Named { name: name.to_owned(), message: error.to_string() })
}

#[derive(Debug)]
struct Named {
    name: String,
    message: String,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for Named {}
