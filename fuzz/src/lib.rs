//! Shared by the targets: documents from a fuzzer's choices, settings, and other parsers to compare with.

mod oracle;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../tests/random.rs"]
mod random;
mod reference;
#[path = "../../tests/verdict.rs"]
mod verdict;

use arbitrary::Unstructured;
use stc::Options;
use stc::laws::{CRAMPED, SETTINGS};

pub use oracle::assert_verdict;
pub use reference::assert_reference;

/// The fuzzer's bytes as a source of choices.
struct Choosing<'a>(Unstructured<'a>);

impl random::Choices for Choosing<'_> {
    fn below(&mut self, bound: usize) -> usize {
        // Zero after the end of the bytes.
        self.0.choose_index(bound).unwrap_or(0)
    }
}

/// Builds a JSON text from the fuzzer's choices.
pub fn document(choices: &[u8]) -> Vec<u8> {
    random::document(&mut Choosing(Unstructured::new(choices))).into_bytes()
}

/// Builds a damaged STC text from the fuzzer's choices.
pub fn damaged_stc(choices: &[u8], options: Options) -> Vec<u8> {
    // The damage has its own bytes, so that the fuzzer can change it without changing the document.
    let (damage, document) = choices.split_at(choices.len().min(12));
    let json = random::document(&mut Choosing(Unstructured::new(document)));
    let mut encoder = stc::Encoder::with_options(options);
    let stc = encoder.encode(json.as_bytes()).unwrap_or(json.as_bytes());
    random::damaged_stc(stc, &mut Choosing(Unstructured::new(damage)))
}

/// Returns one of the settings under which every law holds, by the length of the input, so that a file is just the document.
pub fn setting(input: &[u8]) -> Options {
    SETTINGS[input.len() % SETTINGS.len()]
}

/// Returns one of all settings.
pub fn any_setting(choice: u8) -> Options {
    let choice = usize::from(choice) % (SETTINGS.len() + CRAMPED.len());
    *SETTINGS.iter().chain(CRAMPED).nth(choice).expect("below their number")
}
