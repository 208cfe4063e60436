//! Lists what is found in the files of folders, and how much that is for each MB: `cargo run --release -p stc-redact --example
//! alarms -- FOLDER...`. In files that hold no secrets, all of it is false.

use stc_redact::Redactor;
use std::path::{Path, PathBuf};

fn main() {
    let folders: Vec<_> = std::env::args().skip(1).collect();
    assert!(!folders.is_empty(), "usage: alarms FOLDER...");
    let redactor = Redactor::default();
    let (mut bytes, mut count) = (0, 0);
    for folder in &folders {
        let mut files = Vec::new();
        list(Path::new(folder), &mut files);
        assert!(!files.is_empty(), "{folder}: no files");
        files.sort();
        for path in files {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            bytes += text.len();
            match redactor.redact(&text) {
                Err(why) => println!("{}: {why:?}", path.display()),
                Ok(redacted) => count += show(&path, &text, &redacted.text),
            }
        }
    }
    println!("{count} in {:.1} MB: {:.2} a MB", bytes as f64 / 1e6, count as f64 / (bytes as f64 / 1e6));
}

fn list(path: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(path) else {
        files.extend(path.is_file().then(|| path.to_owned()));
        return;
    };
    for entry in entries.flatten() {
        list(&entry.path(), files);
    }
}

/// Prints each replacement with some bytes before and after; returns their number.
fn show(path: &Path, text: &str, redacted: &str) -> usize {
    let mut count = 0;
    let (mut before, mut rest) = (text, redacted);
    while let Some(at) = rest.find("[redacted:") {
        let name_end = at + rest[at..].find(']').map_or(0, |end| end + 1);
        let context = &rest[..at];
        let from = (at.saturating_sub(60)..=at).find(|from| rest.is_char_boundary(*from)).unwrap_or(at);
        let after: String = rest[name_end..].chars().take(24).collect();
        let skipped = before.get(at..).unwrap_or_default();
        // What was there before was not found.
        if let Some(same) = skipped.strip_prefix(&rest[at..name_end]) {
            (before, rest) = (same, &rest[name_end..]);
            continue;
        }
        let length = skipped.find(after.as_str()).unwrap_or(0);
        let secret: String = skipped[..length].chars().take(60).collect();
        println!("{}: {} {:?} {secret:?}", path.display(), &rest[at..name_end], &context[from..]);
        before = &skipped[length..];
        rest = &rest[name_end..];
        count += 1;
    }
    count
}
