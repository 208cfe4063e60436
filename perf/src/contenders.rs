//! The list of contenders: the codec in each of its uses, and the rivals.

use crate::contender::{Contender, Per};
use crate::{codecs, rivals, streams};

/// The codec with reused buffers, on whole documents.
pub const WARM: [Contender; 2] = [
    Contender::new("encode", Per::Read, "JSON to STC, reused encoder", codecs::encode),
    Contender::new("decode", Per::Written, "STC to JSON, reused decoder", codecs::decode),
];

/// The codec in its other uses: new for each document, and streaming.
pub const OTHERWISE: [Contender; 6] = [
    Contender::new("encode-once", Per::Read, "JSON to STC, a new encoder for each document", codecs::encode_once),
    Contender::new("decode-once", Per::Written, "STC to JSON, a new decoder for each document", codecs::decode_once),
    Contender::new("encode-stream", Per::Read, "JSON to STC, in chunks of 16 KiB", streams::encode),
    Contender::new("decode-stream", Per::Written, "STC to JSON, in chunks of 16 KiB", streams::decode),
    Contender::new(
        "encode-tail",
        Per::Read,
        "the same, only the time after the last chunk has arrived",
        streams::encode_tail,
    ),
    Contender::new(
        "decode-tail",
        Per::Written,
        "the same, only the time after the last chunk has arrived",
        streams::decode_tail,
    ),
];

/// The functions of the library that write no STC.
pub const PLAIN: [Contender; 2] = [
    Contender::new("minify", Per::Read, "stc::minify, JSON to minified JSON", codecs::minify),
    Contender::new("validate", Per::Read, "stc::validate, is it JSON", codecs::validate),
];

/// The rival that speed promises are measured against.
pub const TAPE: Contender =
    Contender::new("simd-json", Per::Read, "simd-json to_tape, reused buffers", rivals::simd_json_tape);

/// The same rival on the minified JSON, which is what a decoder writes.
pub const TAPE_MINIFIED: Contender = Contender::new(
    "simd-json-min",
    Per::Written,
    "simd-json to_tape of the minified JSON, reused buffers",
    rivals::simd_json_minified,
);

/// All rivals.
pub const RIVALS: &[Contender] = &[
    TAPE,
    #[cfg(feature = "sonic")]
    Contender::new("sonic-rs", Per::Read, "sonic-rs to Value", rivals::sonic_value),
    Contender::new("serde_json", Per::Read, "serde_json to Value", rivals::serde_value),
    Contender::new("serde_json-copy", Per::Read, "serde_json, JSON to minified JSON", rivals::serde_copy),
    Contender::new("serde_json-skip", Per::Read, "serde_json to IgnoredAny, is it JSON", rivals::serde_skip),
    #[cfg(feature = "toon")]
    Contender::new("toon-format", Per::Read, "toon-format, JSON to TOON", rivals::toon_format),
    #[cfg(feature = "toon")]
    Contender::new("serde_toon", Per::Read, "serde_toon, parsed JSON to TOON", rivals::serde_toon_encode),
    Contender::new("memcpy", Per::Read, "a copy of the bytes", rivals::memcpy),
    TAPE_MINIFIED,
];

/// Returns all contenders, the codec first.
pub fn all() -> impl Iterator<Item = Contender> {
    WARM.into_iter().chain(PLAIN).chain(OTHERWISE).chain(RIVALS.iter().copied())
}

/// The ratios that commands print: a contender of the codec and the rival that it is compared with.
pub fn ratios() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rivals = RIVALS.iter().map(|rival| rival.name).filter(|&rival| rival != TAPE_MINIFIED.name);
    let plain = [("minify", "serde_json-copy"), ("validate", "serde_json-skip"), ("validate", TAPE.name)];
    rivals.map(|rival| ("encode", rival)).chain([("decode", TAPE_MINIFIED.name)]).chain(plain)
}

/// Returns the contenders of these names.
pub fn named(names: &[&str]) -> Vec<Contender> {
    all().filter(|contender| names.contains(&contender.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{Case, named as case};
    use crate::rotation::Rotations;
    use stc::internal::Kernel;

    #[test]
    fn every_contender_encodes_a_table_exactly() {
        let case = case("users-4KiB").expect("a case");
        let kernel = crate::kernel(None).expect("a kernel");
        let mut rotations = Rotations::new(&case);
        for contender in all() {
            let mut ready = contender.prepare(&case, kernel).expect(contender.name);
            assert!(ready.exact, "{}", contender.name);
            (ready.turn)(&mut rotations, 3);
        }
    }

    #[test]
    fn every_ratio_names_contenders() {
        for (own, rival) in ratios() {
            assert!(RIVALS.iter().any(|contender| contender.name == rival), "{rival}");
            assert!(WARM.iter().chain(&PLAIN).any(|contender| contender.name == own), "{own}");
        }
        assert!(PLAIN.iter().all(|plain| ratios().any(|(own, _)| own == plain.name)));
    }

    #[test]
    fn every_kernel_gives_the_same_answers() {
        let case = case("made").expect("a case");
        for kernel in Kernel::available() {
            assert!(WARM[0].prepare(&case, kernel).is_ok(), "{}", kernel.name());
        }
    }

    #[test]
    fn an_answer_that_changes_the_document_is_marked() {
        let case = Case::new("numbers", [b"[-0,1E+2,0.10]".to_vec()]).expect("valid");
        let ready = TAPE.prepare(&case, crate::kernel(None).expect("a kernel")).expect("simd-json accepts it");
        assert!(!ready.exact);
    }
}
