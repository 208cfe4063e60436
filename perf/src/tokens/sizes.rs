//! The sizes of a file in every format: bytes, and tokens of two vocabularies.

use std::thread;

use bpe_openai::Tokenizer;
use serde::Serialize;

use super::texts::{FORMATS, MINIFIED, texts};

/// The units: bytes, then tokens of two vocabularies.
pub(crate) const UNITS: [&str; 3] = ["bytes", "o200k", "cl100k"];
/// The index of tokens of GPT-4o and later.
pub(crate) const O200K: usize = 1;
/// The index of tokens of GPT-4.
pub(crate) const CL100K: usize = 2;

/// The size of a file in one format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    pub(crate) o200k: u64,
    pub(crate) cl100k: u64,
    /// The estimate of [`stc::estimate_tokens`].
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

/// A file in every one of [`FORMATS`]; `None` where a format cannot express it.
pub(crate) struct Measured {
    pub(crate) file: String,
    pub(crate) sizes: [Option<Size>; FORMATS.len()],
}

impl Measured {
    pub(crate) fn new(file: String, json: &[u8]) -> Result<Self, String> {
        let texts = texts(json).map_err(|error| format!("{file}: {error}"))?;
        Ok(Self { file, sizes: texts.map(|text| text.as_deref().map(Size::of)) })
    }

    /// Returns a format's share of minified JSON.
    pub(crate) fn share(&self, format: usize, unit: usize) -> Option<f64> {
        self.ratio(format, MINIFIED, unit)
    }

    pub(crate) fn ratio(&self, format: usize, other: usize, unit: usize) -> Option<f64> {
        let [size, other] = [format, other].map(|format| self.sizes[format].map(|size| size.unit(unit) as f64));
        // No ratio to a size of zero: an empty object is the empty text in TOON.
        other.filter(|&other| other > 0.0).and_then(|other| Some(size? / other))
    }

    /// Returns the part of the file's name before `__`.
    pub(crate) fn prefix(&self) -> Option<&str> {
        self.file.split_once("__").map(|(prefix, _)| prefix)
    }
}
#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Builds a measured file; its tokens are a quarter of the bytes.
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
        let stc2 = FORMATS.iter().position(|name| *name == "STC 2").expect("a format");
        assert!(measured.share(stc2, 0) < Some(0.6), "{:?}", measured.sizes);
        assert!(Measured::new("b".into(), b"[1,]").is_err_and(|error| error.starts_with("b: ")));
    }
}
