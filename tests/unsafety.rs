//! The places of `unsafe`: only in `src/json/scan/arch`, with a reason above each block, and as many blocks as counted here.
//! The compiler denies it elsewhere; this test notices when that lint is switched off.

#![cfg(not(miri))]

use std::path::{Path, PathBuf};

/// Unsafe blocks of each file. In `kernel.rs` it is the two of the macro that implements a kernel.
const COUNTED: [(&str, usize); 7] = [
    ("avx2.rs", 4),
    ("avx512.rs", 3),
    ("kernel.rs", 2),
    ("mod.rs", 0),
    ("neon.rs", 1),
    ("swar.rs", 0),
    ("tests.rs", 0),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        if entry.is_dir() && !matches!(name, "target" | "node_modules" | ".git") {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            found.push(entry);
        }
    }
}

/// Returns the lines with the keyword, without comments, strings and names of lints.
fn unsafe_lines(text: &str) -> Vec<usize> {
    let word = |line: &str| {
        let code =
            line.split("//").next().expect("there is always a first").replace("unsafe_", "").replace("\"unsafe", "");
        code.split(|byte: char| !byte.is_alphanumeric() && byte != '_').any(|part| part == "unsafe")
    };
    text.lines().enumerate().filter(|(_, line)| word(line)).map(|(at, _)| at).collect()
}

#[test]
fn unsafe_code_is_in_its_place_and_counted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(root, &mut files);
    assert!(files.len() > 40, "{} files", files.len());
    let arch = root.join("src/json/scan/arch");
    let mut counted = Vec::new();
    for path in files.iter().filter(|path| !path.ends_with("tests/unsafety.rs")) {
        let text = std::fs::read_to_string(path).expect("readable");
        let lines: Vec<&str> = text.lines().collect();
        let found = unsafe_lines(&text);
        if path.parent() != Some(&arch) {
            assert!(found.is_empty(), "{}:{}: unsafe code", path.display(), found[0] + 1);
            assert!(!text.contains("allow(unsafe_code"), "{}", path.display());
            continue;
        }
        for &at in &found {
            assert!(lines[at].contains("unsafe {"), "{}:{}: blocks only", path.display(), at + 1);
            assert!(
                lines[at - 1].trim_start().starts_with("// SAFETY: "),
                "{}:{}: no reason given",
                path.display(),
                at + 1
            );
        }
        counted.push((path.file_name().expect("a name").to_str().expect("UTF-8").to_owned(), found.len()));
    }
    counted.sort();
    assert_eq!(counted, COUNTED.map(|(name, count)| (name.to_owned(), count)));
}
