//! Documents with 0xFF between them, good and bad, through one codec: each answer is that of a fresh one.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&setting, documents)) = input.split_first() else { return };
    stc::laws::reuse(documents.split(|&byte| byte == 0xFF), stc_fuzz::any_setting(setting));
});
