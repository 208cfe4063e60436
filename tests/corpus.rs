//! The laws on the project's corpus: tool responses in corpus/made, and fixed bugs in corpus/bugs.

use std::path::{Path, PathBuf};

use stc::{Options, laws};

use crate::laws::{formats, stc1};
use crate::random::rounds;

pub(crate) fn files(folder: &str, ending: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| (path.clone(), std::fs::read(path).expect("readable")))
        .collect();
    files.sort();
    files
}

fn cuts(length: usize) -> [Vec<usize>; 4] {
    [vec![length / 2], (0..length).step_by(61).collect(), (0..length).step_by(1000).collect(), (0..length).collect()]
}

#[test]
fn made() {
    let files = files("made", "json");
    assert!(files.len() >= 40, "{} files", files.len());
    for options in formats(Options::default()) {
        for (path, json) in files.iter().step_by(files.len() / rounds(files.len())) {
            let stc = laws::round_trip(json, options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for cuts in cuts(json.len()) {
                laws::encode_in_chunks(json, &cuts, options);
                laws::decode_in_chunks(&stc, &cuts, options);
            }
            laws::kernels(json, options);
        }
        laws::reuse(files.iter().map(|(_, json)| &json[..]), options);
    }
    for (_, json) in &files {
        laws::encode_in_chunks(json, &[json.len() / 3], stc1().window(500));
    }
}

#[test]
fn made_and_truncated_at_every_byte() {
    for (path, json) in files("made", "json").iter().filter(|(_, json)| json.len() < 2000) {
        for end in (0..json.len()).step_by(20 / rounds(20)) {
            if let Err(error) = laws::round_trip(&json[..end], stc1()) {
                assert_eq!(error.offset(), end as u64, "{} cut at {end}: {error}", path.display());
            }
        }
    }
}

#[test]
fn bugs() {
    for (path, bytes) in files("bugs", "json").into_iter().chain(files("bugs", "stc")) {
        println!("{}", path.display());
        laws::all(&bytes);
    }
}
