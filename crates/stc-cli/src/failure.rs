//! How a run ended: the exit code, and what stderr says about it.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::diagnose::Diagnosis;
use crate::style::Style;

/// The exit code of a run that came to its end, the worse ones last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    Fine,
    Refused,
    Io,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        // 2 is clap's, for usage; `args.rs` prints the whole list.
        Self::from(match status {
            Status::Fine => 0,
            Status::Refused => 1,
            Status::Io => 3,
        })
    }
}

/// The exit code after ^C, where something had to be tidied up first: a shell's 128 + SIGINT. SIGTERM and SIGHUP end so
/// too: the handler is not told which of them it was.
pub(crate) const INTERRUPTED: i32 = 130;

/// Why a run, or one file of it, did not go well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input is not what it has to be.
    Refused(Box<Diagnosis>),
    /// The operating system said no, to what was asked of the file called `name` if it was one.
    Io { name: Option<String>, message: String },
    /// Whoever read our stdout has seen enough. Nothing went wrong.
    Closed,
}

impl Failure {
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Refused(_) => Status::Refused,
            Self::Io { .. } => Status::Io,
            Self::Closed => Status::Fine,
        }
    }

    /// Tells stderr. Nothing is left to do if that is closed too.
    pub(crate) fn report(&self) {
        let style = Style::of(&io::stderr());
        let text = match self {
            Self::Refused(diagnosis) => diagnosis.render(style),
            Self::Io { name: Some(name), message } => format!("{}: {name}: {message}\n", style.error("error")),
            Self::Io { name: None, message } => format!("{}: {message}\n", style.error("error")),
            Self::Closed => return,
        };
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

impl From<Diagnosis> for Failure {
    fn from(diagnosis: Diagnosis) -> Self {
        Self::Refused(Box::new(diagnosis))
    }
}

/// For what [`Input`](crate::input::Input) and [`Output`](crate::output::Output) return: their errors name the file.
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

/// The same error with the name of the file, which an [`io::Error`] carries to where it becomes a [`Failure`].
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
