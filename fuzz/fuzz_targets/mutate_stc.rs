//! Valid STC, damaged at significant places: counts, headers, separators, the end.
#![no_main]

libfuzzer_sys::fuzz_target!(|choices: &[u8]| {
    let options = stc_fuzz::setting(choices);
    let stc = stc_fuzz::damaged_stc(choices, options);
    let _ = stc::laws::decode_anything(&stc, options);
    stc::laws::decode_in_chunks(&stc, &[stc.len() / 3, stc.len() / 2], options);
});
