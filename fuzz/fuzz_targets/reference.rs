//! Any bytes as STC, or damaged STC: the Rust decoder and the Python reference agree, including offsets.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let Some((&way, rest)) = input.split_first() else { return };
    if way % 2 == 0 {
        stc_fuzz::assert_reference(rest);
    } else {
        stc_fuzz::assert_reference(&stc_fuzz::damaged_stc(rest, stc_fuzz::any_setting(way / 2)));
    }
});
