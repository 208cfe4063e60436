//! `stc-corpus`: writes and checks the files of `corpus/made/`, and makes large documents for benchmarks.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Makes the JSON tool responses of the corpus.

Usage:
  stc-corpus list                              every kind, and every file of corpus/made
  stc-corpus one NAME [--bytes N] [--seed N]   one document of a kind, to standard output
  stc-corpus make [--dir DIR]                  writes every file of corpus/made
  stc-corpus check [--dir DIR]                 fails if a file there differs from what `make` writes
  stc-corpus requests [--count N] [--seed N] --dir DIR
                                               requests to models with tool results, as SEED.API.json

N of --bytes may end in KB, MB or GB (default: 64KB); --seed is 1, --count is 100 and --dir is corpus/made by default.
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(code) => code,
        // The reader closed the pipe (`stc-corpus one pods | head`): not a failure.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(error)) => {
            eprintln!("stc-corpus: {error}");
            ExitCode::FAILURE
        }
        Err(Failure::Usage(message)) => {
            eprintln!("stc-corpus: {message}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

enum Failure {
    Usage(String),
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

fn run(words: &[String]) -> Result<ExitCode, Failure> {
    let Some((command, rest)) = words.split_first() else {
        return Err(Failure::Usage("no command given".into()));
    };
    match command.as_str() {
        "list" => list(Request::read(rest, &[])?),
        "one" => one(Request::read(rest, &["--bytes", "--seed"])?),
        "make" => make(Request::read(rest, &["--dir"])?),
        "check" => check(Request::read(rest, &["--dir"])?),
        "requests" => requests(Request::read(rest, &["--count", "--seed", "--dir"])?),
        "help" | "--help" | "-h" => {
            io::stdout().write_all(USAGE.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        other => Err(Failure::Usage(format!("unknown command {other:?}"))),
    }
}

/// The parsed command line.
struct Request {
    name: Option<String>,
    bytes: usize,
    seed: u64,
    count: u64,
    dir: PathBuf,
}

impl Request {
    fn read(words: &[String], known: &[&str]) -> Result<Self, Failure> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("made");
        let mut request = Request { name: None, bytes: 64_000, seed: 1, count: 100, dir };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if !word.starts_with('-') && known.contains(&"--bytes") && request.name.is_none() {
                request.name = Some(word.clone());
                continue;
            }
            // Accepts both `--seed 7` and `--seed=7`.
            let (option, joined) = word.split_once('=').map_or((word.as_str(), None), |(o, v)| (o, Some(v.to_owned())));
            if !known.contains(&option) {
                return Err(Failure::Usage(format!("unexpected argument {word:?}")));
            }
            let Some(value) = joined.or_else(|| words.next().cloned()) else {
                return Err(Failure::Usage(format!("{option} needs a value")));
            };
            let wrong = || Failure::Usage(format!("{option}: invalid value {value:?}"));
            match option {
                "--bytes" => request.bytes = size(&value).ok_or_else(wrong)?,
                "--count" => request.count = value.parse().map_err(|_| wrong())?,
                "--seed" => request.seed = value.parse().map_err(|_| wrong())?,
                _ => request.dir = PathBuf::from(value),
            }
        }
        Ok(request)
    }
}

/// Parses `4096`, `64KB`, `10MB` or `1GB`; a kilobyte is a thousand bytes.
fn size(text: &str) -> Option<usize> {
    let upper = text.to_ascii_uppercase();
    let digits = upper.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &upper[digits.len()..] {
        "" | "B" => 1,
        "K" | "KB" => 1_000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

fn list(_: Request) -> Result<ExitCode, Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "Kinds:")?;
    for kind in stc_corpus::catalogue() {
        writeln!(out, "  {:18} {}", kind.name, kind.about)?;
    }
    writeln!(out, "\nFiles of corpus/made:")?;
    for file in stc_corpus::made() {
        writeln!(out, "  {:26} {:>6}  {}", file.name, file.bytes.len(), file.about)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn one(request: Request) -> Result<ExitCode, Failure> {
    let name = request.name.ok_or_else(|| Failure::Usage("no kind given".into()))?;
    let document = stc_corpus::make(&name, request.seed, request.bytes)
        .ok_or_else(|| Failure::Usage(format!("unknown kind {name:?}; `stc-corpus list` prints all kinds")))?;
    io::stdout().lock().write_all(&document)?;
    Ok(ExitCode::SUCCESS)
}

fn make(request: Request) -> Result<ExitCode, Failure> {
    std::fs::create_dir_all(&request.dir)?;
    let files = stc_corpus::made();
    for file in &files {
        std::fs::write(request.dir.join(&file.name), &file.bytes)?;
    }
    let total: usize = files.iter().map(|file| file.bytes.len()).sum();
    println!("{} files, {total} bytes", files.len());
    Ok(ExitCode::SUCCESS)
}

fn requests(request: Request) -> Result<ExitCode, Failure> {
    if request.dir.ends_with("made") {
        return Err(Failure::Usage("requests need a folder of their own: --dir DIR".into()));
    }
    std::fs::create_dir_all(&request.dir)?;
    for seed in request.seed..request.seed.saturating_add(request.count) {
        let made = stc_corpus::request(seed);
        std::fs::write(request.dir.join(format!("{seed:06}.{}.json", made.api)), &made.body)?;
    }
    println!("{} requests", request.count);
    Ok(ExitCode::SUCCESS)
}

fn check(request: Request) -> Result<ExitCode, Failure> {
    let files = stc_corpus::made();
    let mut wrong = 0;
    for file in &files {
        let found = match std::fs::read(request.dir.join(&file.name)) {
            Ok(bytes) if bytes == file.bytes => continue,
            Ok(_) => "differs",
            Err(_) => "cannot be read",
        };
        wrong += 1;
        eprintln!("{}: {found}", file.name);
    }
    for entry in std::fs::read_dir(&request.dir)? {
        let name = entry?.file_name();
        if !files.iter().any(|file| name == *file.name) {
            wrong += 1;
            eprintln!("{}: not a file that `make` writes", name.to_string_lossy());
        }
    }
    println!("{} files, {wrong} wrong", files.len());
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
