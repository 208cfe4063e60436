//! Any bytes, cut anywhere, both directions: the bytes or the error of the whole.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: (Vec<u16>, Option<u8>, &[u8])| {
    let (cuts, window, text) = input;
    let mut cuts: Vec<usize> = cuts.into_iter().map(usize::from).collect();
    cuts.sort_unstable();
    let mut options = stc::Options::default();
    if let Some(bytes) = window {
        options = options.window(bytes.into());
    }
    stc::laws::encode_in_pieces(text, &cuts, options);
    stc::laws::decode_in_pieces(text, &cuts, options);
});
