//! The laws about limits on the vectors and on random documents: each limit as low as the text needs it, one lower and one
//! higher.

use stc::laws::{decoding_meets_its_limits, encoding_meets_its_limits};
use stc::{Encoder, Options};

use crate::laws::formats;
use crate::random::{Random, document, rounds};
use crate::vectors::{bytes, cases};

#[test]
fn vectors_are_decoded_within_their_limits() {
    for case in ["encode", "decode", "v2-decode"].into_iter().flat_map(cases) {
        let stc = bytes(&case, "stc");
        decoding_meets_its_limits(&stc).unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
    }
}

#[test]
fn vectors_are_encoded_within_their_limits() {
    for (number, case) in cases("encode").into_iter().enumerate() {
        let options = formats(Options::default())[number % 4];
        let json = bytes(&case, "json");
        encoding_meets_its_limits(&json, options).unwrap_or_else(|error| panic!("{}: {error}", case["name"]));
    }
}

#[test]
fn random_documents_meet_their_limits() {
    let mut random = Random::new(10);
    for round in 0..rounds(300) {
        let json = document(&mut random).into_bytes();
        let options = formats(Options::default())[round % 4];
        encoding_meets_its_limits(&json, options).expect("JSON");
        let stc = Encoder::with_options(options).encode(&json).expect("JSON").to_vec();
        decoding_meets_its_limits(&stc).expect("STC");
    }
}
