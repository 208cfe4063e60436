//! The places of `unsafe`: `src/json/scan/arch` and the C ABI, with a reason above each block, and as many blocks as counted here.
//! The compiler denies it elsewhere; this test notices when that lint is switched off.

#![cfg(not(miri))]

use std::path::{Path, PathBuf};

/// The folders with unsafe code, and the unsafe blocks of each file that has some. In `kernel.rs` it is the two of the macro that
/// implements a kernel.
const COUNTED: [(&str, &[(&str, usize)]); 2] = [
    ("src/json/scan/arch", &[("avx2.rs", 4), ("avx512.rs", 3), ("kernel.rs", 2), ("neon.rs", 1), ("simd128.rs", 1)]),
    (
        "crates/stc-capi/src",
        &[
            ("decoder.rs", 2),
            ("encoder.rs", 2),
            ("handle.rs", 2),
            ("mcp.rs", 2),
            ("memory.rs", 2),
            ("once.rs", 3),
            ("tests.rs", 12),
            ("texts.rs", 1),
        ],
    ),
];

pub(crate) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
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

/// Returns whether a line declares something for C, which takes the keyword without a block.
fn is_declaration(line: &str) -> bool {
    let line = line.trim_start();
    line == "#[unsafe(no_mangle)]" || line.starts_with("pub unsafe extern") || line.starts_with("pub(crate) unsafe fn")
}

#[test]
fn unsafe_code_is_in_its_place_and_counted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(root, &mut files);
    files.sort();
    assert!(files.len() > 40, "{} files", files.len());
    let mut counted: Vec<Vec<(String, usize)>> = vec![Vec::new(); COUNTED.len()];
    for path in files.iter().filter(|path| !path.ends_with("tests/unsafety.rs")) {
        let text = std::fs::read_to_string(path).expect("readable");
        let lines: Vec<&str> = text.lines().collect();
        let mut found = unsafe_lines(&text);
        let Some(place) = COUNTED.iter().position(|(folder, _)| path.parent() == Some(&root.join(folder))) else {
            assert!(found.is_empty(), "{}:{}: unsafe code", path.display(), found[0] + 1);
            assert!(!text.contains("allow(unsafe_code"), "{}", path.display());
            continue;
        };
        if place == 1 {
            found.retain(|&at| !is_declaration(lines[at]));
        }
        for &at in &found {
            let at_line = format!("{}:{}", path.display(), at + 1);
            assert!(lines[at].contains("unsafe {"), "{at_line}: blocks only");
            // A block may begin on the second line of its statement.
            let has_reason =
                lines[at.saturating_sub(2)..at].iter().any(|line| line.trim_start().starts_with("// SAFETY: "));
            assert!(has_reason, "{at_line}: no reason given");
        }
        if !found.is_empty() {
            counted[place].push((path.file_name().expect("a name").to_str().expect("UTF-8").to_owned(), found.len()));
        }
    }
    for ((folder, expected), counted) in COUNTED.iter().zip(&counted) {
        // scripts/codec-alone copies the codec without the other crates.
        if folder.starts_with("crates/") && !root.join("crates").exists() {
            continue;
        }
        let expected: Vec<_> = expected.iter().map(|&(name, count)| (name.to_owned(), count)).collect();
        assert_eq!(*counted, expected, "{folder}");
    }
}
