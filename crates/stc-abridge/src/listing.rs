//! Lists of paths: a folder once for its files, and folders of generated files only counted.
//!
//! ```text
//! src/app/main.rs                        src/app/
//! src/app/args.rs                         main.rs
//! src/app/trail.rs                 ->     args.rs
//! node_modules/a/index.js                 trail.rs
//! node_modules/a/package.json            [node_modules: 2 paths left out]
//! ```
//!
//! Lost are the paths in folders that other programs fill; a line in brackets counts them.

use crate::lines::{Line, lines};

/// Folders that are filled by programs: dependencies, caches, what a build makes.
const GENERATED: [&str; 18] = [
    "node_modules",
    ".git",
    "target",
    "dist",
    "build",
    "__pycache__",
    ".venv",
    "venv",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".next",
    ".nuxt",
    ".cache",
    ".gradle",
    "coverage",
    "vendor",
];
/// The fewest paths in a folder for which its name is written once.
const FEWEST_PATHS: usize = 3;

/// Shortens a list of paths; `None` if there is nothing to shorten.
pub(crate) fn listing(text: &str) -> Option<String> {
    let lines: Vec<_> = lines(text).collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        if let Some(folder) = generated(lines[at].body) {
            let count = lines[at..].iter().take_while(|line| generated(line.body) == Some(folder)).count();
            if count > 1 {
                out.push_str(&format!("[{folder}: {count} paths left out]\n"));
                at += count;
                continue;
            }
        }
        let folder = folder(lines[at].body).unwrap_or_default();
        let same = |line: &&Line<'_>| self::folder(line.body) == Some(folder) && generated(line.body).is_none();
        let count = lines[at..].iter().take_while(same).count();
        if count < FEWEST_PATHS {
            lines[at].write(&mut out);
            at += 1;
            continue;
        }
        out.push_str(folder);
        out.push('\n');
        for line in &lines[at..at + count] {
            out.push(' ');
            out.push_str(&line.body[folder.len()..]);
            out.push_str(line.ending);
        }
        at += count;
    }
    (out.len() < text.len()).then_some(out)
}

/// Returns the folder of a path, with its slash; `None` for what is no path, has a blank, or is the path of a folder.
fn folder(line: &str) -> Option<&str> {
    let is_path = !line.starts_with('[') && !line.contains([' ', '\t']);
    let slash = memchr::memrchr(b'/', line.as_bytes()).filter(|_| is_path)?;
    (slash > 0 && slash + 1 < line.len()).then(|| &line[..=slash])
}

/// Returns the folder of generated files that a path is in, from the path's start to the folder's name.
fn generated(line: &str) -> Option<&str> {
    folder(line)?;
    let mut start = 0;
    for slash in memchr::memchr_iter(b'/', line.as_bytes()) {
        if GENERATED.contains(&&line[start..slash]) {
            return Some(&line[..slash]);
        }
        start = slash + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_written_once() {
        let text = "src/app/main.rs\nsrc/app/args.rs\nsrc/app/trail.rs\nsrc/lib.rs\nnode_modules/a/index.js\nnode_modules/a/package.json\nREADME.md\n";
        let short = listing(text).unwrap();
        assert_eq!(
            short,
            "src/app/\n main.rs\n args.rs\n trail.rs\nsrc/lib.rs\n[node_modules: 2 paths left out]\nREADME.md\n"
        );
        assert_eq!(listing(&short), None);
        for other in ["", "a\nb\nc\n", "./a\n./b\n", "total 4\ndrwxr-xr-x  2 ann ann 4096 src\n", "a/b\na/c\nb/d\n"] {
            assert_eq!(listing(other), None, "{other:?}");
        }
    }

    #[test]
    fn folders_that_are_filled_by_programs() {
        assert_eq!(generated("./app/node_modules/a/b.js"), Some("./app/node_modules"));
        assert_eq!(generated("target/debug/app"), Some("target"));
        assert_eq!(generated("src/targets/a.rs"), None);
        assert_eq!(generated("node_modules"), None);
    }
}
