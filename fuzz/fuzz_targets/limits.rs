//! Choices, from which documents are built whose limits and references are exact: each limit is met and passed by one, and no
//! reference cuts an escape or exceeds its limit.
#![no_main]

libfuzzer_sys::fuzz_target!(|choices: &[u8]| {
    let Some((&law, choices)) = choices.split_first() else { return };
    let options = stc_fuzz::setting(choices);
    // Default limits: the laws set each limit by themselves.
    let options = options.limits(stc::Limits::DEFAULT);
    match law % 4 {
        0 => drop(stc::laws::references_cut_cleanly(choices)),
        1 => {
            stc::laws::anchors_use_their_whole_limit(choices);
        }
        2 => {
            let json = stc_fuzz::document(choices);
            stc::laws::encoding_meets_its_limits(&json, options).expect("the document is JSON");
        }
        // Rejected texts are other targets' subject.
        _ => {
            let _ = stc::laws::decoding_meets_its_limits(&stc_fuzz::damaged_stc(choices, options));
        }
    }
});
