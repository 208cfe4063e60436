//! Any bytes as STC: refused, or JSON that encodes and comes back.
#![no_main]

libfuzzer_sys::fuzz_target!(|stc: &[u8]| {
    let _ = stc::laws::decode_anything(stc, stc::Options::default());
});
