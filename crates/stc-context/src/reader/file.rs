//! The lines of `readers.toml`: what is known of models, and why.

use super::name::Name;
use crate::settings::Reader;
use serde::Deserialize;
use std::sync::LazyLock;

/// A line of the file.
pub(super) struct Line {
    fits: Fits,
    /// The level; `None` for what names without a line get.
    pub(super) reader: Option<Reader>,
    /// What reports show: the file and what fits.
    pub(super) label: String,
}

/// The names that a line is for.
enum Fits {
    Glob(String),
    Word(String),
    Below(u32),
}

impl Line {
    fn fits(&self, name: Name<'_>, billions: Option<f64>) -> bool {
        match &self.fits {
            Fits::Glob(glob) => name.fits(glob),
            Fits::Word(word) => name.has_word(word),
            Fits::Below(most) => billions.is_some_and(|billions| billions < f64::from(*most)),
        }
    }
}

/// Returns the first line that fits a name.
pub(super) fn line(name: Name<'_>) -> Option<&'static Line> {
    let billions = name.billions();
    LINES.iter().find(|line| line.fits(name, billions))
}

static LINES: LazyLock<Vec<Line>> =
    LazyLock::new(|| written().into_iter().map(|line| line.read().expect("readers.toml is valid")).collect());

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    reader: Vec<Written>,
}

/// A line as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "who reads the file reads the reasons; the tests check them"))]
struct Written {
    model: Option<String>,
    word: Option<String>,
    below: Option<u32>,
    reader: String,
    evidence: Evidence,
    because: String,
    example: String,
}

/// What a level rests on.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Evidence {
    /// Recorded answers in `eval/`.
    Measured,
    /// What others published.
    Elsewhere,
    /// A guess by the size.
    Size,
}

fn written() -> Vec<Written> {
    toml::from_str::<File>(include_str!("../readers.toml")).expect("readers.toml is valid").reader
}

impl Written {
    fn read(&self) -> Result<Line, String> {
        let (fits, label) = match (&self.model, &self.word, self.below) {
            (Some(glob), None, None) => (Fits::Glob(glob.clone()), glob.clone()),
            (None, Some(word), None) => (Fits::Word(word.clone()), word.clone()),
            (None, None, Some(most)) => (Fits::Below(most), format!("below-{most}b")),
            _ => return Err(format!("{}: one of `model`, `word` and `below`", self.example)),
        };
        let reader = match self.reader.as_str() {
            "unknown" => None,
            name => Some(Reader::named(name)?),
        };
        Ok(Line { fits, reader, label: format!("readers.toml:{label}") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The longest label in a report, in bytes.
    const LONGEST_LABEL: usize = 64;

    #[test]
    fn every_line_decides_its_example() {
        let written = written();
        assert!(written.len() > 15);
        for (number, line) in written.iter().enumerate() {
            let label = line.read().unwrap().label;
            let decides = self::line(Name::new(&line.example).unwrap()).map(|line| &line.label);
            assert_eq!(decides, Some(&label), "line {number}: `{}` is decided by another line", line.example);
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-*.:_".contains(&byte);
            assert!(label.len() <= LONGEST_LABEL && label.bytes().all(is_plain), "{label}");
        }
    }

    #[test]
    fn no_glob_is_inside_an_earlier_one() {
        let globs: Vec<_> = written().into_iter().filter_map(|line| line.model).collect();
        for (number, glob) in globs.iter().enumerate() {
            let earlier = globs[..number].iter().find(|earlier| super::super::fits(glob, earlier));
            assert_eq!(earlier, None, "{glob}");
        }
    }

    #[test]
    fn every_line_says_why() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for line in written() {
            assert!(line.because.len() > 20, "{}", line.example);
            match line.evidence {
                Evidence::Measured => {
                    let recording = line.because.split(':').next().unwrap();
                    assert!(root.join(recording).is_file(), "{recording}: no such recording");
                }
                Evidence::Elsewhere => assert!(line.because.contains("benchmark"), "{}: where?", line.example),
                Evidence::Size => {}
            }
            // A large reader is no guess by a size that the name tells.
            assert!(line.reader != "large" || line.model.is_some(), "{}", line.example);
        }
    }

    #[test]
    fn wrong_lines_are_refused() {
        for (line, expected) in [
            ("model = \"a\"\nword = \"b\"", "one of `model`, `word` and `below`"),
            ("", "one of `model`, `word` and `below`"),
            ("model = \"a\"\nreader = \"big\"", "expected large or small"),
        ] {
            let reader = if line.contains("reader") { "" } else { "reader = \"small\"\n" };
            let text = format!("{line}\n{reader}evidence = \"size\"\nbecause = \"x\"\nexample = \"a\"\n");
            let error = toml::from_str::<Written>(&text).unwrap().read().err().unwrap();
            assert!(error.contains(expected), "{line}: {error}");
        }
        assert!(toml::from_str::<File>("[[reader]]\nmodle = \"a\"").is_err());
        assert!(toml::from_str::<Written>("reader=\"small\"\nevidence=\"guess\"\nbecause=\"\"\nexample=\"\"").is_err());
    }
}
