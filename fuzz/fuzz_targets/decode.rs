//! Any bytes as STC: rejected at an exact offset, or decoded to JSON that survives the round trip.
#![no_main]

libfuzzer_sys::fuzz_target!(|stc: &[u8]| {
    if let Ok(json) = stc::laws::decode_anything(stc, stc_fuzz::setting(stc)) {
        stc_fuzz::assert_verdict(&json, true);
    }
});
