//! JSON made of the fuzzer's choices: nesting, tables that almost are, every spelling. It is taken and comes back.
#![no_main]

libfuzzer_sys::fuzz_target!(|choices: &[u8]| {
    let json = stc_fuzz::document(choices);
    if let Err(error) = stc::laws::round_trip(&json, stc_fuzz::setting(choices)) {
        assert!(error.kind().is_limit(), "valid JSON is refused: {error}");
    }
});
