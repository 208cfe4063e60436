//! The step that knows what a result is: the output of a program, of a search, or a list of paths.

use crate::git::git;
use crate::grep::grep;
use crate::listing::listing;
use crate::programs::Programs;
use crate::progress::progress;

/// The kind of a result, by what its text consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    #[default]
    Text,
    /// The contents of files. An agent that edits needs their own bytes.
    File,
    /// The lines that a search found.
    Search,
    /// A list of paths.
    Listing,
}

/// Where a text comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The kind of the text.
    pub kind: Kind,
    /// The programs that printed it.
    pub programs: Programs,
}

impl Origin {
    /// Returns whether blanks may only align cells here: not in files, searches and diffs.
    #[must_use]
    pub fn may_have_tables(self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Listing) && !self.programs.has("git")
    }
}

/// Shortens a text by what is known of its origin; `None` if there is nothing to shorten. Each file of this crate that is named
/// after an origin says what is lost.
#[must_use]
pub fn family(text: &str, origin: Origin) -> Option<String> {
    match origin.kind {
        Kind::File => None,
        Kind::Search => grep(text),
        Kind::Listing => listing(text),
        Kind::Text => {
            let quiet = progress(text, origin.programs);
            let short = origin.programs.has("git").then(|| git(quiet.as_deref().unwrap_or(text))).flatten();
            short.or(quiet)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::commands;

    fn origin(kind: Kind, line: &str) -> Origin {
        let programs = commands(line).fold(Programs::default(), |all, one| all.and(Programs::of(&one)));
        Origin { kind, programs }
    }

    #[test]
    fn the_origin_decides() {
        let clone = "Cloning into 'app'...\nremote: Counting objects: 5, done.\nReceiving objects: 100% (5/5), done.\n";
        let short = family(clone, origin(Kind::Text, "cd x && git clone https://example")).unwrap();
        assert_eq!(short, "Cloning into 'app'...\n[2 progress lines left out]\n");
        assert_eq!(family(clone, origin(Kind::File, "git clone x")), None);
        assert_eq!(family(clone, origin(Kind::Text, "echo")), None);
        let found = "src/a.rs:1:x\nsrc/a.rs:2:y\n";
        assert_eq!(family(found, origin(Kind::Search, "")).as_deref(), Some("src/a.rs\n1:x\n2:y\n"));
    }
}
