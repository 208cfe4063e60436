//! The input: a file or stdin. To show the place of an error in bytes that have already been read, a file is read again;
//! for other inputs the most recent bytes are kept.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use stc::io::LineError;

use crate::diagnose::{Diagnosis, visible};
use crate::failure::{Failure, named};
use crate::lines::{is_longer, read_line, without_feed};
use crate::progress::Progress;
use crate::trail::{Place, Trail};

/// Bytes that are read at a time.
pub(crate) const CHUNK: usize = 64 << 10;

/// A stream of input. Its errors carry its name.
pub(crate) struct Input<'a> {
    name: String,
    stream: Stream,
    progress: &'a Progress,
}

enum Stream {
    /// A file, which can be read again through the same handle.
    File(File),
    /// A pipe or device, which can be read only once.
    Passing { reader: Box<dyn Read>, trail: Trail },
}

impl<'a> Input<'a> {
    /// Opens a source; `lines` if the reader keeps whole lines in memory.
    pub(crate) fn open(source: &Source, lines: bool, progress: &'a Progress) -> Result<Self, Failure> {
        let name = source.name();
        let passing = |reader| Stream::Passing { reader, trail: Trail::new(lines) };
        let stream = match source {
            Source::Stdin => passing(Box::new(io::stdin().lock())),
            Source::File(path) => {
                let file = File::open(path).map_err(|error| named(&name, &error))?;
                let stays = file.metadata().is_ok_and(|metadata| metadata.is_file());
                if stays { Stream::File(file) } else { passing(Box::new(file)) }
            }
        };
        Ok(Self { name, stream, progress })
    }

    /// Converts an error of reading: a rejection by the codec, with its place in this input, or an I/O error.
    pub(crate) fn failure(&self, error: io::Error) -> Failure {
        let inner = error.get_ref();
        let of_line = inner.and_then(|inner| inner.downcast_ref::<LineError>()).map(|line| line.error);
        match of_line.or_else(|| inner.and_then(|inner| inner.downcast_ref::<stc::Error>()).copied()) {
            Some(error) => self.rejected(error),
            None => error.into(),
        }
    }

    /// Describes a rejection by the codec, its offset counted from the start of this input.
    pub(crate) fn rejected(&self, error: stc::Error) -> Failure {
        self.diagnosed(error.offset(), |place| Diagnosis::new(&self.name, error, place))
    }

    /// Describes a rejection for any other reason.
    pub(crate) fn rejected_for(&self, message: String, offset: u64) -> Failure {
        self.diagnosed(offset, |place| Diagnosis::with_message(&self.name, message, offset, place))
    }

    /// Calls `diagnose` with the place at an offset. Nothing can be read from this input afterwards.
    fn diagnosed(&self, offset: u64, diagnose: impl FnOnce(Option<Place<'_>>) -> Diagnosis) -> Failure {
        match &self.stream {
            Stream::File(file) => {
                let mut file = file;
                let again = file.rewind().and_then(|()| Trail::around(offset, file)).ok();
                diagnose(again.as_ref().and_then(|trail| trail.place(offset))).into()
            }
            Stream::Passing { trail, .. } => match trail.place(offset) {
                Some(place) => diagnose(Some(place)).into(),
                None => diagnose(None)
                    .with_help(format!(
                        "on line {} or before, which is no longer available; a file given by name can be read again to show it",
                        trail.first_line()
                    ))
                    .into(),
            },
        }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = match &mut self.stream {
            Stream::File(file) => file.read(buffer),
            Stream::Passing { reader, trail } => reader.read(buffer).inspect(|&count| trail.record(&buffer[..count])),
        }
        .map_err(|error| named(&self.name, &error))?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// The input that a path on the command line means.
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

    /// Returns the name for messages, safe to print.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "<stdin>".to_owned(),
            Self::File(path) => visible(path.as_os_str().as_encoded_bytes()),
        }
    }

    /// Returns whether the file's name ends in one of `extensions`.
    pub(crate) fn has_extension(&self, extensions: &[&str]) -> bool {
        match self {
            Self::Stdin => false,
            Self::File(path) => has_extension(path, extensions),
        }
    }

    /// Reads the whole input. If a document (a line, if `lines`) is longer than `longest` bytes, stops as soon as it is long
    /// enough for the codec to reject it.
    pub(crate) fn read(&self, lines: bool, longest: u64) -> Result<Vec<u8>, Failure> {
        let read = match self {
            Self::Stdin => read_bounded(io::stdin().lock(), None, lines, longest),
            Self::File(path) => File::open(path).and_then(|file| read_bounded(file, self.size(), lines, longest)),
        };
        read.map_err(|error| named(&self.name(), &error).into())
    }

    /// Returns the size in bytes, if it is known before reading.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Stdin => None,
            Self::File(path) => std::fs::metadata(path).ok().filter(Metadata::is_file).map(|metadata| metadata.len()),
        }
    }
}

fn read_bounded(reader: impl Read, size: Option<u64>, lines: bool, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if !lines {
        let enough = longest.saturating_add(1);
        // An optimisation only: if memory is short, the read below fails.
        let _ = bytes.try_reserve_exact(usize::try_from(size.unwrap_or(0).min(enough)).unwrap_or(0));
        reader.take(enough).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let mut reader = BufReader::with_capacity(CHUNK, reader);
    loop {
        let before = bytes.len();
        if read_line(&mut reader, longest, &mut bytes)? == 0 || is_longer(without_feed(&bytes[before..]), longest) {
            return Ok(bytes);
        }
    }
}

/// Returns whether the name ends in one of `extensions`, ignoring case.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|extension| own.eq_ignore_ascii_case(extension)))
}
