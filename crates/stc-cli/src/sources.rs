//! The inputs that the paths on a command line mean: files, stdin, and the files inside folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnose::visible;
use crate::failure::{Failure, named};
use crate::input::{Source, has_extension};

/// Returns every input in the order of the command line, the files of a folder sorted, with errors in their place.
/// A named file may have any name; a file in a folder needs one of `extensions`.
pub(crate) fn sources(paths: &[PathBuf], extensions: &[&str]) -> Vec<Result<Source, Failure>> {
    if paths.is_empty() {
        return vec![Ok(Source::Stdin)];
    }
    let mut found = Vec::new();
    for path in paths {
        match Source::of(Some(path)) {
            Source::File(path) if path.is_dir() => folder(&path, extensions, &mut found),
            source => found.push(Ok(source)),
        }
    }
    found
}

fn folder(top: &Path, extensions: &[&str], found: &mut Vec<Result<Source, Failure>>) {
    let (mut files, mut failures) = (Vec::new(), Vec::new());
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        if let Err(error) = list(&folder, extensions, &mut folders, &mut files) {
            failures.push(Err(named(&visible(folder.as_os_str().as_encoded_bytes()), &error).into()));
        }
    }
    if files.is_empty() && failures.is_empty() {
        let name = visible(top.as_os_str().as_encoded_bytes());
        let message = format!("no .{} file in this folder", extensions.join(" or ."));
        failures.push(Err(Failure::Io { name: Some(name), message }));
    }
    files.sort();
    found.extend(files.into_iter().map(|path| Ok(Source::File(path))));
    found.append(&mut failures);
}

fn list(
    folder: &Path,
    extensions: &[&str],
    folders: &mut Vec<PathBuf>,
    files: &mut Vec<PathBuf>,
) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Links to folders are not followed: a link may lead to a folder above it.
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        } else if has_extension(&entry.path(), extensions) && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}
