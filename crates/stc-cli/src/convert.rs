//! What `encode` and `decode` share: the inputs of the command line, and where the output of each is written.
//!
//! Mistakes in the command line are reported before anything is written; afterwards a file that is rejected does not stop the
//! others.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::args::Stream;
use crate::diagnose::visible;
use crate::failure::{Failure, Status, named};
use crate::input::{Input, Source};
use crate::output::Output;
use crate::progress::Progress;
use crate::sources::sources;

/// The extensions of the files that a folder is searched for, and the one that their outputs have.
pub(crate) struct Extensions {
    pub(crate) from: &'static [&'static str],
    pub(crate) to: &'static str,
}

/// An input, and the file it is written to; `None` for stdout.
#[derive(Debug)]
struct Job {
    source: Source,
    target: Option<PathBuf>,
}

/// Calls `convert` for each input with its output.
pub(crate) fn run(
    paths: &[PathBuf],
    stream: &Stream,
    extensions: &Extensions,
    convert: impl Fn(&mut Input<'_>, &mut Output) -> io::Result<()>,
) -> Result<Status, Failure> {
    let jobs = jobs(paths, stream, extensions)?;
    let progress = Progress::with_output(stream.to_stdout());
    progress.expect(jobs.iter().flatten().map(|job| job.source.size()).sum());
    let mut status = Status::Fine;
    for job in jobs {
        if let Err(failure) = job.and_then(|job| one(&job, stream.lines, &progress, &convert)) {
            progress.aside(|| failure.report());
            status = status.max(failure.status());
        }
    }
    Ok(status)
}

fn one(
    job: &Job,
    lines: bool,
    progress: &Progress,
    convert: impl Fn(&mut Input<'_>, &mut Output) -> io::Result<()>,
) -> Result<(), Failure> {
    progress.name(&job.source.name());
    let mut input = Input::open(&job.source, lines, progress)?;
    let mut output = Output::create(job.target.as_deref())?;
    if let Err(error) = convert(&mut input, &mut output) {
        output.end_line()?;
        return Err(input.failure(error));
    }
    output.commit()
}

fn jobs(paths: &[PathBuf], stream: &Stream, extensions: &Extensions) -> Result<Vec<Result<Job, Failure>>, Failure> {
    let Some(folder) = &stream.out_dir else {
        let path = match paths {
            [] => None,
            [path] if path.is_dir() => {
                return Err(Failure::Usage(format!(
                    "{} is a folder: --out-dir names the folder for the outputs of its files",
                    shown(path)
                )));
            }
            [path] => Some(path.as_path()),
            _ => {
                return Err(Failure::Usage(format!(
                    "{} inputs need --out-dir, the folder for their outputs",
                    paths.len()
                )));
            }
        };
        return Ok(vec![Ok(Job { source: Source::of(path), target: stream.output.clone() })]);
    };
    if paths.is_empty() || paths.iter().any(|path| path == Path::new("-")) {
        return Err(Failure::Usage("--out-dir keeps the names of its inputs, and stdin has none: use -o".to_owned()));
    }
    let mut jobs = Vec::new();
    for path in paths {
        for source in sources(std::slice::from_ref(path), extensions.from) {
            jobs.push(source.and_then(|source| {
                let target = folder.join(name_in(path, &source)?).with_extension(extensions.to);
                Ok(Job { source, target: Some(target) })
            }));
        }
    }
    refuse_overwriting(&jobs)?;
    for target in jobs.iter().flatten().filter_map(|job| job.target.as_deref()) {
        let folder = target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(|error| named(&shown(folder), &error))?;
    }
    Ok(jobs)
}

/// Returns the name that a source keeps: the path inside the folder that was named, or the name of the file.
fn name_in(named_path: &Path, source: &Source) -> Result<PathBuf, Failure> {
    let Source::File(path) = source else { return Ok(PathBuf::new()) };
    let inside = path.strip_prefix(named_path).ok().filter(|inside| *inside != Path::new(""));
    match inside.or_else(|| path.file_name().map(Path::new)) {
        Some(name) => Ok(name.to_owned()),
        None => Err(Failure::Usage(format!("{} has no name that --out-dir could keep", shown(path)))),
    }
}

/// Fails if an output would replace an input, or if two inputs have the same output.
fn refuse_overwriting(jobs: &[Result<Job, Failure>]) -> Result<(), Failure> {
    let path = |job: &Job| match &job.source {
        Source::File(path) => fs::canonicalize(path).ok(),
        Source::Stdin => None,
    };
    let inputs: HashSet<PathBuf> = jobs.iter().flatten().filter_map(path).collect();
    let mut targets: HashMap<&Path, &Source> = HashMap::new();
    for job in jobs.iter().flatten() {
        let Some(target) = job.target.as_deref() else { continue };
        if fs::canonicalize(target).is_ok_and(|target| inputs.contains(&target)) {
            return Err(Failure::Usage(format!(
                "the output of {} would replace an input, {}: choose another --out-dir",
                job.source.name(),
                shown(target)
            )));
        }
        if let Some(other) = targets.insert(target, &job.source) {
            return Err(Failure::Usage(format!(
                "{} and {} have the same output, {}: convert them one after the other",
                other.name(),
                job.source.name(),
                shown(target)
            )));
        }
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    visible(path.as_os_str().as_encoded_bytes())
}
