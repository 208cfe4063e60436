//! The output: stdout, or a file that appears only on success.
//!
//! A named file is written to a temporary file in the same folder and renamed at the end. Any failure before that,
//! including an interrupt, leaves the old file unchanged and removes the temporary one.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use tempfile::NamedTempFile;

use crate::diagnose::visible;
use crate::failure::{Failure, INTERRUPTED, named};

const OUTPUT_BUFFER: usize = 64 << 10;

/// A stream of output. Its errors carry its name.
pub(crate) struct Output {
    name: String,
    place: Place,
    is_terminal: bool,
    /// The last byte written.
    last: Option<u8>,
}

enum Place {
    /// Written bytes are final.
    Open(BufWriter<Box<dyn Write>>),
    /// Written bytes become visible when the temporary file is renamed.
    Temporary { file: BufWriter<NamedTempFile>, target: PathBuf },
}

impl Output {
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout().lock();
        let is_terminal = stdout.is_terminal();
        Self { is_terminal, ..Self::open("<stdout>".to_owned(), Box::new(stdout)) }
    }

    /// Opens `path`, or stdout if there is none or it is `-`.
    pub(crate) fn create(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else { return Ok(Self::stdout()) };
        let name = visible(path.as_os_str().as_encoded_bytes());
        Self::create_named(&name, path).map_err(|error| named(&name, &error).into())
    }

    fn create_named(name: &str, path: &Path) -> io::Result<Self> {
        let old = fs::metadata(path).ok();
        // A device or a pipe cannot be replaced, and must not be: renaming over /dev/null would remove it.
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(Self::open(name.to_owned(), Box::new(file)));
        }
        let target = resolve_links(path)?;
        let file = create_temporary(&target)?;
        if let Some(old) = old {
            file.as_file().set_permissions(old.permissions())?;
        }
        Ok(Self {
            name: name.to_owned(),
            place: Place::Temporary { file: BufWriter::with_capacity(OUTPUT_BUFFER, file), target },
            is_terminal: false,
            last: None,
        })
    }

    fn open(name: String, writer: Box<dyn Write>) -> Self {
        let place = Place::Open(BufWriter::with_capacity(OUTPUT_BUFFER, writer));
        Self { name, place, is_terminal: false, last: None }
    }

    /// Returns whether written bytes can still be discarded.
    pub(crate) fn can_be_undone(&self) -> bool {
        matches!(self.place, Place::Temporary { .. })
    }

    /// Ends the last line on a terminal, so that a prompt or a message starts on a line of its own.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        if lacks_line_feed(self.is_terminal, self.last) { self.write_all(b"\n") } else { Ok(()) }
    }

    /// Flushes everything and puts the file in its place.
    pub(crate) fn commit(mut self) -> Result<(), Failure> {
        self.end_line()?;
        self.flush()?;
        let Place::Temporary { file, target } = self.place else { return Ok(()) };
        let file = file.into_inner().map_err(|error| named(&self.name, error.error()))?;
        file.persist(target).map_err(|error| named(&self.name, &error.error))?;
        pending(None);
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match &mut self.place {
            Place::Open(writer) => writer.write(bytes),
            Place::Temporary { file, .. } => file.write(bytes),
        }
        .map_err(|error| named(&self.name, &error))?;
        self.last = bytes[..count].last().copied().or(self.last);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            Place::Open(writer) => writer.flush(),
            Place::Temporary { file, .. } => file.flush(),
        }
        .map_err(|error| named(&self.name, &error))
    }
}

/// Returns whether an output needs a line feed that is not part of the document: only on a terminal, because a file or a
/// pipe receives exactly the bytes of the codec.
fn lacks_line_feed(is_terminal: bool, last: Option<u8>) -> bool {
    is_terminal && last.is_some_and(|last| last != b'\n')
}

/// Follows symbolic links. The link stays, and the file it names is written, also if that file does not exist yet, for
/// which `canonicalize` would fail.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    // The limit of Linux.
    const LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..=LINKS {
        match fs::read_link(&target) {
            Ok(named) => target = target.parent().unwrap_or(Path::new("")).join(named),
            // Not a link, or nothing there.
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// Creates a file in the folder of `target`, removed on drop or when the command is interrupted.
fn create_temporary(target: &Path) -> io::Result<NamedTempFile> {
    static TIDY: Once = Once::new();
    TIDY.call_once(|| {
        // Without the handler an interrupt leaves the temporary file, nothing worse.
        let _ = ctrlc::set_handler(|| {
            if let Some(path) = pending(None) {
                let _ = fs::remove_file(path);
            }
            std::process::exit(INTERRUPTED);
        });
    });
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    tempfile::Builder::new().prefix(".stc-").suffix(".tmp").make_in(folder, |path| {
        // Recorded before it exists, so that an interrupt at any moment removes it. Opened here and not by tempfile,
        // which would restrict it to its owner: the result has the permissions of any new file.
        pending(Some(path.to_owned()));
        File::options().write(true).create_new(true).open(path)
    })
}

/// Sets the file to remove on an interrupt; returns the previous one.
fn pending(path: Option<PathBuf>) -> Option<PathBuf> {
    static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);
    std::mem::replace(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner), path)
}

#[cfg(test)]
mod tests {
    use super::lacks_line_feed;

    #[test]
    fn only_a_terminal_gets_a_line_feed_and_only_one() {
        for last in [None, Some(b'\n'), Some(b']')] {
            assert!(!lacks_line_feed(false, last));
        }
        assert_eq!([None, Some(b'\n'), Some(b']')].map(|last| lacks_line_feed(true, last)), [false, false, true]);
    }
}
