//! `tokens`: what every way to write a document costs, in bytes and in the tokens of two vocabularies. Nothing is timed:
//! the numbers are the same on every machine, and what STC writes is read back and compared before it counts.

mod tables;
mod texts;

use std::path::PathBuf;
use std::thread;

use bpe_openai::Tokenizer;
use serde::Serialize;

use crate::show::show;
use crate::{Chosen, progress};
use stc_perf::cases;
pub(crate) use texts::{FORMATS, MINIFIED};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// JSON lines instead of Markdown: one a file and format, then one a group and format.
    #[arg(long)]
    json: bool,
    /// Only the groups, not every file.
    #[arg(long)]
    brief: bool,
}

/// What is counted: bytes, then tokens.
pub(crate) const UNITS: [&str; 3] = ["bytes", "o200k", "cl100k"];
/// Where the tokens of GPT-4o and later stand.
pub(crate) const O200K: usize = 1;
/// Where those of GPT-4 stand.
pub(crate) const CL100K: usize = 2;

/// A file in one format. `None` where the format has no text for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    pub(crate) o200k: u64,
    pub(crate) cl100k: u64,
    /// What [`stc::estimate_tokens`] says.
    pub(crate) estimate: u64,
}

impl Size {
    fn of(text: &str) -> Self {
        let count = |tokenizer: &Tokenizer| tokenizer.count(text) as u64;
        thread::scope(|scope| {
            let o200k = scope.spawn(|| count(bpe_openai::o200k_base()));
            let cl100k = count(bpe_openai::cl100k_base());
            let o200k = o200k.join().expect("counting does not fail");
            Self { bytes: text.len() as u64, o200k, cl100k, estimate: stc::estimate_tokens(text.as_bytes()) }
        })
    }

    pub(crate) fn unit(&self, unit: usize) -> u64 {
        [self.bytes, self.o200k, self.cl100k][unit]
    }
}

/// A file in every one of [`FORMATS`].
pub(crate) struct Measured {
    pub(crate) file: String,
    pub(crate) sizes: [Option<Size>; FORMATS.len()],
}

impl Measured {
    pub(crate) fn new(file: String, json: &[u8]) -> Result<Self, String> {
        let texts = texts::texts(json).map_err(|error| format!("{file}: {error}"))?;
        Ok(Self { file, sizes: texts.map(|text| text.as_deref().map(Size::of)) })
    }

    /// A format's share of minified JSON.
    pub(crate) fn share(&self, format: usize, unit: usize) -> Option<f64> {
        self.ratio(format, MINIFIED, unit)
    }

    pub(crate) fn ratio(&self, format: usize, other: usize, unit: usize) -> Option<f64> {
        let [size, other] = [format, other].map(|format| self.sizes[format].map(|size| size.unit(unit) as f64));
        // Of nothing there are no shares: an empty object is no token of TOON.
        other.filter(|&other| other > 0.0).and_then(|other| Some(size? / other))
    }

    /// What stands before `__` in the file's name.
    pub(crate) fn prefix(&self) -> Option<&str> {
        self.file.split_once("__").map(|(prefix, _)| prefix)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let Chosen { file, dir } = &arguments.chosen;
    let (measured, refused) =
        if file.is_empty() && dir.is_empty() { (made()?, 0) } else { of_files(&cases::files(file, dir)?) };
    show(if arguments.json { tables::lines(&measured) } else { tables::markdown(&measured, arguments.brief) })?;
    if refused > 0 { Err(format!("{refused} files were refused")) } else { Ok(()) }
}

/// The files, and how many of them were refused, which is said.
fn of_files(paths: &[PathBuf]) -> (Vec<Measured>, usize) {
    let bar = progress::bar(paths.len());
    let (mut measured, mut refused) = (Vec::new(), 0);
    for (path, name) in paths.iter().zip(cases::names(paths)) {
        bar.set_message(name.clone());
        let json = std::fs::read(path).map_err(|error| format!("{name}: {error}"));
        match json.and_then(|json| Measured::new(name, &json)) {
            Ok(file) => measured.push(file),
            Err(error) => {
                bar.suspend(|| eprintln!("stc-perf: {error}"));
                refused += 1;
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    (measured, refused)
}

/// The files of corpus/made.
pub(crate) fn made() -> Result<Vec<Measured>, String> {
    let name = |name: &str| name.trim_end_matches(".json").to_owned();
    stc_corpus::made().iter().map(|file| Measured::new(name(&file.name), &file.bytes)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A file as a run would have measured it; tokens are a quarter of the bytes.
    pub(crate) fn measured(file: &str, bytes: [Option<u64>; FORMATS.len()]) -> Measured {
        let size = |bytes| Size { bytes, o200k: bytes / 4, cl100k: bytes / 4, estimate: bytes / 5 };
        Measured { file: file.into(), sizes: bytes.map(|bytes| bytes.map(size)) }
    }

    #[test]
    fn tokens_are_those_of_tiktoken() {
        let size = Size::of(r#"[2]{id,name,method}: 1,"users","GET" / 2,"orders","POST""#);
        assert_eq!((size.bytes, size.o200k, size.cl100k), (56, 23, 23));
    }

    #[test]
    fn a_file_is_measured_in_every_format() {
        let json = br#"[{"id": 1, "ok": true}, {"id": 2, "ok": true}, {"id": 3, "ok": true}]"#;
        let measured = Measured::new("api__a".into(), json).expect("JSON");
        assert_eq!(measured.prefix(), Some("api"));
        assert_eq!(measured.share(MINIFIED, 0), Some(1.0));
        for (format, name) in FORMATS.iter().enumerate() {
            assert_eq!(measured.share(format, O200K).is_some(), *name != "TOON" || cfg!(feature = "toon"), "{name}");
        }
        let last = FORMATS.len() - 1;
        assert!(measured.share(last, 0) < Some(0.6), "{:?}", measured.sizes);
        assert!(Measured::new("b".into(), b"[1,]").is_err_and(|error| error.starts_with("b: ")));
    }
}
