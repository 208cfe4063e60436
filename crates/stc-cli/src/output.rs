//! Where bytes go: stdout, or a file that appears only when all went well.
//!
//! A named file is written beside its place, in the same folder, and renamed over it at the end; whatever happens
//! before that, ^C included, leaves the old one as it was and takes the new one away.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, PoisonError};

use tempfile::NamedTempFile;

use crate::diagnose::visible;
use crate::failure::{Failure, INTERRUPTED, named};

const BUFFER: usize = 64 << 10;

/// A stream of output. Its errors carry its name.
pub(crate) struct Output {
    name: String,
    place: Place,
}

enum Place {
    /// What is written is out.
    Open(BufWriter<Box<dyn Write>>),
    /// What is written counts only once it is renamed.
    Beside { file: BufWriter<NamedTempFile>, target: PathBuf },
}

impl Output {
    pub(crate) fn stdout() -> Self {
        Self::open("<stdout>".to_owned(), Box::new(io::stdout().lock()))
    }

    /// Opens `path`, or stdout if there is none or it is `-`.
    pub(crate) fn create(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else { return Ok(Self::stdout()) };
        let name = visible(path.as_os_str().as_encoded_bytes());
        Self::create_named(&name, path).map_err(|error| named(&name, &error).into())
    }

    fn create_named(name: &str, path: &Path) -> io::Result<Self> {
        let old = fs::metadata(path).ok();
        // A device or a pipe cannot be replaced, and must not be: renaming over /dev/null would take it away.
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let file = File::options().write(true).open(path)?;
            return Ok(Self::open(name.to_owned(), Box::new(file)));
        }
        let target = behind_links(path)?;
        let file = create_beside(&target)?;
        if let Some(old) = old {
            file.as_file().set_permissions(old.permissions())?;
        }
        Ok(Self {
            name: name.to_owned(),
            place: Place::Beside { file: BufWriter::with_capacity(BUFFER, file), target },
        })
    }

    fn open(name: String, writer: Box<dyn Write>) -> Self {
        Self { name, place: Place::Open(BufWriter::with_capacity(BUFFER, writer)) }
    }

    /// Whether what is written can still be taken back.
    pub(crate) fn can_be_taken_back(&self) -> bool {
        matches!(self.place, Place::Beside { .. })
    }

    /// All went well: everything is out, and the file stands where it should.
    pub(crate) fn commit(mut self) -> Result<(), Failure> {
        self.flush()?;
        let Place::Beside { file, target } = self.place else { return Ok(()) };
        let file = file.into_inner().map_err(|error| named(&self.name, error.error()))?;
        file.persist(target).map_err(|error| named(&self.name, &error.error))?;
        pending(None);
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.place {
            Place::Open(writer) => writer.write(bytes),
            Place::Beside { file, .. } => file.write(bytes),
        }
        .map_err(|error| named(&self.name, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.place {
            Place::Open(writer) => writer.flush(),
            Place::Beside { file, .. } => file.flush(),
        }
        .map_err(|error| named(&self.name, &error))
    }
}

/// Where `path` leads. A link stays, and the file it names is written, even if that is still to be made: `canonicalize`
/// would want it to be there.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    // As many as Linux follows.
    const LINKS: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..=LINKS {
        match fs::read_link(&target) {
            Ok(named) => target = target.parent().unwrap_or(Path::new("")).join(named),
            // No link, or nothing at all.
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many links, one behind the other"))
}

/// A new file in the folder of `target`, removed when it is dropped or when the command is interrupted.
fn create_beside(target: &Path) -> io::Result<NamedTempFile> {
    static TIDY: Once = Once::new();
    TIDY.call_once(|| {
        // Without the handler ^C leaves the unfinished file behind, nothing worse.
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
        // Noted before it exists, so that no moment is left to be interrupted in. Opened here and not by tempfile,
        // which would make it the owner's only: a result has the permissions of any new file.
        pending(Some(path.to_owned()));
        File::options().write(true).create_new(true).open(path)
    })
}

/// Sets the file to remove when interrupted; returns the one it was.
fn pending(path: Option<PathBuf>) -> Option<PathBuf> {
    static PENDING: Mutex<Option<PathBuf>> = Mutex::new(None);
    std::mem::replace(&mut *PENDING.lock().unwrap_or_else(PoisonError::into_inner), path)
}
