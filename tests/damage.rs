//! Damage at every byte of texts with every construct: fast paths and slow path find the same error at the same offset, and an
//! encoder accepts exactly JSON.

use stc::internal::{Kernel, encoder};
use stc::{Options, laws};

use crate::laws::formats;
use crate::random::rounds;
use crate::slow_steps::{CONSTRUCTS, followed};
use crate::verdict::is_json;

/// Bytes that begin, end or separate something.
const WRONG: &[u8; 16] = b"\\\",:{}[]( \n\t0a$?";

/// Calls `check` with a text that has one byte more, or one byte replaced, at every position; each byte at every third
/// position, and at fewer in runs with fewer rounds.
fn each_damage(text: &[u8], mut check: impl FnMut(&[u8])) {
    let step = if rounds(2) < 2 { 11 } else { 3 };
    for (number, &wrong) in WRONG.iter().enumerate() {
        for at in (number % step..text.len()).step_by(step) {
            let mut damaged = text.to_vec();
            damaged.insert(at, wrong);
            check(&damaged);
            damaged.remove(at + 1);
            check(&damaged);
        }
    }
}

#[test]
fn a_decoder_finds_it_on_every_path() {
    for stc in CONSTRUCTS {
        let stc = followed(stc);
        let bytewise: Vec<usize> = (0..stc.len() + 1).collect();
        each_damage(stc.as_bytes(), |damaged| {
            laws::decode_in_chunks(damaged, &bytewise, Options::default());
        });
    }
}

#[test]
fn an_encoder_accepts_exactly_json() {
    let kernel = Kernel::available()[0];
    for (number, stc) in CONSTRUCTS.iter().enumerate() {
        let json = stc::decode(followed(stc).as_bytes()).expect("STC");
        let options = formats(Options::default())[number % 4];
        let mut encoder = encoder(options, kernel);
        each_damage(&json, |damaged| {
            let stc = encoder.encode(damaged).map(<[u8]>::to_vec);
            assert_eq!(stc.is_ok(), is_json(damaged), "{}", damaged.escape_ascii());
            if let Ok(stc) = stc {
                assert_eq!(stc::decode(&stc), Ok(laws::minify(damaged)), "{}", damaged.escape_ascii());
            }
        });
    }
}
