//! Where bytes come from: a file or stdin, remembering enough of what went by to show where it was wrong.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::diagnose::{Diagnosis, visible};
use crate::failure::{Failure, named};
use crate::progress::Progress;
use crate::trail::Trail;

/// A stream of input. Its errors carry its name.
pub(crate) struct Input<'a> {
    name: String,
    reader: Box<dyn Read>,
    trail: Trail,
    progress: &'a Progress,
}

impl<'a> Input<'a> {
    /// `lines` if the reader will hold whole lines.
    pub(crate) fn open(source: &Source, lines: bool, progress: &'a Progress) -> Result<Self, Failure> {
        let name = source.name();
        let reader: Box<dyn Read> = match source {
            Source::Stdin => Box::new(io::stdin().lock()),
            Source::File(path) => Box::new(File::open(path).map_err(|error| named(&name, &error))?),
        };
        Ok(Self { name, reader, trail: Trail::new(lines), progress })
    }

    /// What an error met on the way means: a refusal by the codec, with its place in this input, or I/O.
    pub(crate) fn failure(&self, error: io::Error) -> Failure {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<stc::Error>()) {
            Some(&error) => self.refused(error),
            None => error.into(),
        }
    }

    /// A refusal by the codec, its offset counted from the start of this input.
    pub(crate) fn refused(&self, error: stc::Error) -> Failure {
        Diagnosis::new(&self.name, error, self.trail.place(error.offset())).into()
    }

    /// A refusal for any other reason.
    pub(crate) fn refused_for(&self, message: String, offset: u64) -> Failure {
        Diagnosis::with_message(&self.name, message, offset, self.trail.place(offset)).into()
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer).map_err(|error| named(&self.name, &error))?;
        self.trail.record(&buffer[..count]);
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// What a path on the command line stands for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl Source {
    pub(crate) fn of(path: Option<&Path>) -> Self {
        match path {
            Some(path) if path != Path::new("-") => Self::File(path.to_owned()),
            _ => Self::Stdin,
        }
    }

    /// The name for messages, safe to print.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".to_owned(),
            Self::File(path) => visible(path.as_os_str().as_encoded_bytes()),
        }
    }

    /// Whether the file's name ends in one of `extensions`.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        match self {
            Self::Stdin => false,
            Self::File(path) => has_extension(path, extensions),
        }
    }

    /// All of it at once.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Failure> {
        let read = match self {
            Self::Stdin => {
                let mut bytes = Vec::new();
                io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
            }
            Self::File(path) => std::fs::read(path),
        };
        read.map_err(|error| named(&self.name(), &error).into())
    }

    /// How many bytes it has, if that can be told before reading.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Stdin => None,
            Self::File(path) => std::fs::metadata(path).ok().filter(Metadata::is_file).map(|metadata| metadata.len()),
        }
    }
}

/// Whether the name ends in one of `extensions`, in any case.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|extension| own.eq_ignore_ascii_case(extension)))
}
