//! Where bytes come from: a file or stdin, and how to show where they were wrong when they have gone by. A file is read
//! again for that, up to the place; of anything else the last stretch is remembered.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use crate::diagnose::{Diagnosis, visible};
use crate::failure::{Failure, named};
use crate::lines::{is_longer, read_line, without_feed};
use crate::progress::Progress;
use crate::trail::{Place, Trail};

/// How much is read at a time.
pub(crate) const CHUNK: usize = 64 << 10;

/// A stream of input. Its errors carry its name.
pub(crate) struct Input<'a> {
    name: String,
    stream: Stream,
    progress: &'a Progress,
}

enum Stream {
    /// There to be read again, whatever its name may mean by then.
    File(File),
    /// Gone once it is read.
    Passing { reader: Box<dyn Read>, trail: Trail },
}

impl<'a> Input<'a> {
    /// `lines` if the reader will hold whole lines.
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

    /// What an error met on the way means: a refusal by the codec, with its place in this input, or I/O.
    pub(crate) fn failure(&self, error: io::Error) -> Failure {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<stc::Error>()) {
            Some(&error) => self.refused(error),
            None => error.into(),
        }
    }

    /// A refusal by the codec, its offset counted from the start of this input.
    pub(crate) fn refused(&self, error: stc::Error) -> Failure {
        self.diagnosed(error.offset(), |place| Diagnosis::new(&self.name, error, place))
    }

    /// A refusal for any other reason.
    pub(crate) fn refused_for(&self, message: String, offset: u64) -> Failure {
        self.diagnosed(offset, |place| Diagnosis::with_message(&self.name, message, offset, place))
    }

    /// What `diagnose` makes of the place at an offset. Nothing can be read from this input afterwards.
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
                        "on line {} at the latest, which has gone by; a file, given by name, is read again to show it",
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

    /// All of it at once; or, if a document of it (a line of it, if `lines`) is longer than `longest` bytes, enough of it
    /// for the codec to refuse that.
    pub(crate) fn read(&self, lines: bool, longest: u64) -> Result<Vec<u8>, Failure> {
        let read = match self {
            Self::Stdin => read_bounded(io::stdin().lock(), None, lines, longest),
            Self::File(path) => File::open(path).and_then(|file| read_bounded(file, self.size(), lines, longest)),
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

fn read_bounded(reader: impl Read, size: Option<u64>, lines: bool, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if !lines {
        let enough = longest.saturating_add(1);
        // Only to be spared the growing: what there is no memory for is found out below.
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

/// Whether the name ends in one of `extensions`, in any case.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|extension| own.eq_ignore_ascii_case(extension)))
}
