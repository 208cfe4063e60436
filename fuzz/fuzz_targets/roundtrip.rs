//! Any bytes as JSON: refused at an exact offset, or back byte for byte.
#![no_main]

libfuzzer_sys::fuzz_target!(|json: &[u8]| {
    let _ = stc::laws::round_trip(json, stc::Options::default());
});
