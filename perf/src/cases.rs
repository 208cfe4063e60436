//! The documents that are measured. The harness, criterion and iai-callgrind all read `cases.txt`, so that a number from
//! one of them can be looked up in another. Building a case checks that every document survives the round trip.

use std::path::{Path, PathBuf};

use stc::{Encoder, Format, Options, laws};

/// A document as JSON, as minified JSON and as STC.
#[derive(Debug)]
pub struct Document {
    /// The JSON that is read.
    pub json: Vec<u8>,
    /// The JSON that a decoder has to write: without insignificant whitespace.
    pub minified: Vec<u8>,
    /// The same document as STC.
    pub stc: Vec<u8>,
}

impl Document {
    fn new(json: Vec<u8>) -> Result<Self, String> {
        let (minified, stc) = (laws::minify(&json), Vec::new());
        Self { json, minified, stc }.written_with(Options::default().format(Format::Stc1))
    }

    fn written_with(mut self, options: Options) -> Result<Self, String> {
        let encoded = Encoder::with_options(options).encode(&self.json).map(<[u8]>::to_vec);
        self.stc = encoded.map_err(|error| error.to_string())?;
        if stc::decode(&self.stc).as_ref() != Ok(&self.minified) {
            return Err("the round trip is not exact".into());
        }
        Ok(self)
    }
}

/// Documents that are measured together, one after the other; most cases have one.
#[derive(Debug)]
pub struct Case {
    /// Its name in tables.
    pub name: String,
    /// At least one.
    pub documents: Vec<Document>,
    /// The encoder options.
    pub options: Options,
}

impl Case {
    /// Builds a case of these documents, encoded as STC 1.
    pub fn new(name: impl Into<String>, documents: impl IntoIterator<Item = Vec<u8>>) -> Result<Self, String> {
        let name = name.into();
        let documents: Result<Vec<_>, _> = documents.into_iter().map(Document::new).collect();
        let documents = documents.map_err(|error| format!("{name}: {error}"))?;
        if documents.is_empty() {
            return Err(format!("{name}: no documents"));
        }
        Ok(Self { name, documents, options: Options::default().format(Format::Stc1) })
    }

    /// Encodes the documents again with other options.
    pub fn written_with(self, options: Options) -> Result<Self, String> {
        let Self { name, documents, .. } = self;
        let documents: Result<_, _> = documents.into_iter().map(|document| document.written_with(options)).collect();
        let documents = documents.map_err(|error: String| format!("{name}: {error}"))?;
        Ok(Self { name, documents, options })
    }

    /// Returns the bytes of JSON of all documents.
    pub fn json_bytes(&self) -> usize {
        self.documents.iter().map(|document| document.json.len()).sum()
    }

    /// Returns the mean over the documents of what `bytes` returns for each.
    pub fn mean(&self, bytes: impl Fn(&Document) -> usize) -> f64 {
        self.documents.iter().map(bytes).sum::<usize>() as f64 / self.documents.len() as f64
    }
}

/// The names of the formats that an encoder writes.
pub const FORMATS: [&str; 3] = [Format::Stc1.name(), Format::Stc2.name(), Format::Stc2Labelled.name()];

/// The format of a command that names none, as in the library and on the command line.
pub const DEFAULT: &str = Format::Stc2.name();

/// Returns the options that write a format.
pub fn options(format: &str) -> Result<Options, String> {
    let format: Format = format.parse().map_err(|error| format!("{format}: {error}"))?;
    Ok(Options::default().format(format))
}

/// Returns the name of the format that options write.
pub fn format(written_by: &Options) -> &'static str {
    FORMATS.into_iter().find(|name| options(name).as_ref() == Ok(written_by)).unwrap_or("another")
}

/// Returns the lines of the list. The first word of a line is the case's name.
pub fn listed() -> impl Iterator<Item = &'static str> {
    include_str!("../cases.txt").lines()
}

/// Larger cases, for commands that time: counting their instructions would take too long.
pub const LARGE: [&str; 1] = ["users-10MiB users 10485760"];

/// Opt-in: hundreds of megabytes of buffers, and minutes with every rival.
pub const HUGE: [&str; 1] = ["users-100MiB users 104857600"];

/// The classes of tool responses that have a budget: name, case of the list, meaning.
pub const CLASSES: [(&str, &str, &str); 13] = [
    ("small", "users-1KiB", "a small tool reply, 1 KiB"),
    ("typical", "issues-4KiB", "a typical tool reply, 4 KiB"),
    ("large", "pods-32KiB", "a large tool reply, 32 KiB"),
    ("huge", "issues-1MiB", "a huge tool reply, 1 MiB"),
    ("table", "sql-rows-1000", "a table of 1,000 rows"),
    ("deep", "page-tree-32KiB", "containers in containers, ragged"),
    ("text", "markdown-32KiB", "long strings"),
    ("numbers", "geojson-32KiB", "mostly numbers"),
    ("typical-stc2", "issues-4KiB-stc2", "a typical tool reply, version 2"),
    ("typical-stc2-labelled", "issues-4KiB-stc2-labelled", "a typical tool reply, version 2 labelled"),
    ("large-stc2-labelled", "pods-32KiB-stc2-labelled", "a large one"),
    ("table-stc2-labelled", "sql-rows-1000-stc2-labelled", "a table of 1,000 rows"),
    ("deep-stc2-labelled", "page-tree-32KiB-stc2-labelled", "containers in containers, ragged"),
];

/// Builds the case of a line: `NAME KIND BYTES`, with a format as a fourth word if it is not STC 1; or `made`, which is
/// the files of corpus/made in rotation.
pub fn case(line: &str) -> Result<Case, String> {
    let words: Vec<&str> = line.split(' ').collect();
    match words[..] {
        ["made"] => made(),
        [name, kind, bytes] => {
            let bytes = bytes.parse().map_err(|_| format!("{line}: {bytes} is not a size"))?;
            generated(name, kind, bytes, 1)
        }
        [name, kind, bytes, format] => case(&[name, kind, bytes].join(" "))?.written_with(options(format)?),
        _ => Err(format!("{line}: not a line of the list")),
    }
}

/// Builds the case of that name on the list.
pub fn named(name: &str) -> Result<Case, String> {
    let mut lines = listed().chain(LARGE).chain(HUGE);
    let line = lines.find(|line| line.split(' ').next() == Some(name));
    case(line.ok_or_else(|| format!("no case is called {name}"))?)
}

/// Builds a case of `count` different documents of a kind and size, so that branch predictors cannot learn one of them.
pub fn generated(name: &str, kind: &str, bytes: usize, count: u64) -> Result<Case, String> {
    let documents: Option<Vec<_>> = (1..=count).map(|seed| stc_corpus::make(kind, seed, bytes)).collect();
    Case::new(name, documents.ok_or_else(|| format!("the corpus makes no {kind}"))?)
}

/// Builds the case of the files of corpus/made that every rival accepts: all contenders get the same bytes, and some of the
/// files exist because a rival rejects them.
fn made() -> Result<Case, String> {
    let files = stc_corpus::made().into_iter().map(|file| file.bytes);
    Case::new("made", files.filter(|json| every_rival_accepts(json)))
}

/// Returns whether all rivals of this build that parse accept this document.
fn every_rival_accepts(json: &[u8]) -> bool {
    #[cfg(feature = "sonic")]
    if sonic_rs::from_slice::<sonic_rs::Value>(json).is_err() {
        return false;
    }
    simd_json::to_tape(&mut json.to_vec()).is_ok() && serde_json::from_slice::<serde_json::Value>(json).is_ok()
}

/// Returns the files, and the JSON files inside the folders at any depth.
pub fn files(files: &[PathBuf], folders: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut paths = files.to_vec();
    let mut folders = folders.to_vec();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            // Links to folders are not followed: a link may lead to a folder above it.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "json") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    if paths.is_empty() { Err("no JSON files found".into()) } else { Ok(paths) }
}

/// Returns names for files: the name without its extension, or the whole path where two files share a name.
pub fn names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stems: Vec<String> = paths.iter().map(stem).collect();
    let alone = |name: &String| stems.iter().filter(|other| *other == name).count() == 1;
    let name = |(name, path): (&String, &PathBuf)| {
        if alone(name) { name.clone() } else { path.display().to_string() }
    };
    stems.iter().zip(paths).map(name).collect()
}

/// Builds the case of a file; `minify` removes insignificant whitespace first.
pub fn read(path: &Path, minify: bool) -> Result<Case, String> {
    let json = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Case::new(name, [if minify { laws::minify(&json) } else { json }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_case_and_every_class_is_listed() {
        let names: Vec<String> = listed().map(|line| case(line).expect("a case").name).collect();
        for (class, name, _) in CLASSES {
            assert!(names.iter().any(|listed| listed == name), "{class}: {name}");
        }
    }

    #[test]
    fn the_table_has_a_thousand_rows() {
        let case = named("sql-rows-1000").expect("a case");
        assert!(case.documents[0].stc.starts_with(b"["), "an array");
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&case.documents[0].json).expect("an array");
        assert_eq!(rows.len(), 1000);
    }

    #[test]
    fn most_of_the_made_files_are_measured() {
        let all = stc_corpus::made().len();
        let measured = named("made").expect("a case").documents.len();
        assert!(measured * 10 >= all * 8, "{measured} of {all}");
    }

    #[test]
    fn a_format_is_named_by_its_options() {
        assert_eq!(FORMATS, Format::STC.map(Format::name));
        for name in FORMATS {
            assert_eq!(options(name).map(|options| format(&options)), Ok(name));
        }
        for (case, format) in [("issues-4KiB-stc2", "stc2"), ("issues-4KiB-stc2-labelled", "stc2-labelled")] {
            assert_eq!(named(case).expect("a case").options, options(format).expect("a format"));
        }
    }

    #[test]
    fn files_that_share_a_name_get_their_paths() {
        let paths = ["a/reply.json", "b/reply.json", "b/other.json"].map(PathBuf::from);
        assert_eq!(names(&paths), ["a/reply.json", "b/reply.json", "other"]);
    }

    #[test]
    fn malformed_lines_are_rejected() {
        for line in ["", "pods", "pods-1KiB pods many", "x nothing 7", "x pods 7 stc3"] {
            assert!(case(line).is_err(), "{line}");
        }
    }
}
