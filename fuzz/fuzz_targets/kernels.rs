//! Any bytes: every kernel finds the same index and gives the same bytes or error.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let Some((&setting, text)) = text.split_first() else { return };
    stc::laws::kernels(text, stc_fuzz::any_setting(setting));
});
