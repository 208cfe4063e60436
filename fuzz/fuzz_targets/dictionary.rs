//! Repeated passages: what is abbreviated expands to the same bytes and is not taken again; expanding any text ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stc_abridge::{Dictionary, abbreviate, expand};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let how = [Dictionary::Lzw, Dictionary::Repair, Dictionary::Auto][usize::from(choice) % 3];
    if let Some(original) = expand(text) {
        assert!(original.len() <= 50_000);
    }
    // Inputs are short: said several times, they repeat themselves.
    let text = text.repeat(1 + usize::from(choice) / 3 % 12);
    if let Some(written) = abbreviate(&text, how) {
        assert!(written.len() + 32 <= text.len());
        assert_eq!(expand(&written).as_deref(), Some(&*text));
        assert_eq!(abbreviate(&written, how), None);
    }
});
