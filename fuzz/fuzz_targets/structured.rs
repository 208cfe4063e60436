//! JSON built from the fuzzer's choices: nesting, tables with exceptions, every spelling. It is accepted and restored.
#![no_main]

libfuzzer_sys::fuzz_target!(|choices: &[u8]| {
    let json = stc_fuzz::document(choices);
    if let Err(error) = stc::laws::round_trip(&json, stc_fuzz::setting(choices)) {
        assert!(error.kind().is_limit(), "valid JSON is rejected: {error}");
    }
});
