//! Any bytes as JSON: rejected at an exact offset if other parsers reject them, or restored byte for byte.
#![no_main]

libfuzzer_sys::fuzz_target!(|json: &[u8]| {
    match stc::laws::round_trip(json, stc_fuzz::setting(json)) {
        Err(error) if error.kind().is_limit() => {}
        answer => stc_fuzz::assert_verdict(json, answer.is_ok()),
    }
});
