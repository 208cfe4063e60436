//! Valid and invalid documents, separated by 0xFF, through one codec: each result is that of a fresh codec.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&setting, documents)) = input.split_first() else { return };
    stc::laws::reuse(documents.split(|&byte| byte == 0xFF), stc_fuzz::any_setting(setting));
});
