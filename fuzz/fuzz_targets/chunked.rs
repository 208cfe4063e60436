//! Any bytes, cut anywhere, both directions: chunks give the result or the error of the whole text.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let &[setting, first, second, third, ref text @ ..] = input else { return };
    let options = stc_fuzz::any_setting(setting);
    let (first, second, third) = (usize::from(first), usize::from(second), usize::from(third));
    let cuts = if setting < 128 {
        vec![first, first + second, first + second + third]
    } else {
        (first..text.len()).step_by(second + 1).collect()
    };
    stc::laws::encode_in_chunks(text, &cuts, options);
    stc::laws::decode_in_chunks(text, &cuts, options);
});
