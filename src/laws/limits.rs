//! Laws about limits: each is met exactly and passed by one, with the same answer from the fast paths and from the slow path.

use super::codec::{STC1, decode_in_chunks, encode_in_chunks, kernels, round_trip};
use crate::internal::{self, Kernel};
use crate::{Decoder, Encoder, Error, Format, Limits, Options};

/// Sets one limit.
pub(super) type SetLimit = fn(Limits, usize) -> Limits;

/// The limits that a decoder checks.
const DECODING: [SetLimit; 9] = [
    |limits, value| limits.depth(value),
    |limits, value| limits.input(value as u64),
    |limits, value| limits.output(value as u64),
    |limits, value| limits.columns(value),
    |limits, value| limits.header(value),
    |limits, value| limits.row(value),
    |limits, value| limits.anchors(value),
    |limits, value| limits.ratio_after(0).ratio(value as u64),
    |limits, value| limits.ratio_after(value as u64).ratio(2),
];

/// The limits that make an encoder reject a document.
const REJECTING: [SetLimit; 3] = [
    |limits, value| limits.depth(value),
    |limits, value| limits.input(value as u64),
    |limits, value| limits.output(value as u64),
];

/// The limits that make an encoder choose another form.
const CHOOSING: [SetLimit; 6] = [
    |limits, value| limits.columns(value),
    |limits, value| limits.header(value),
    |limits, value| limits.row(value),
    |limits, value| limits.anchors(value),
    // Less than two is not enough for the quotes of a bare key, which the decoder writes with the key's first byte.
    |limits, value| limits.ratio_after(0).ratio(value.max(2) as u64),
    |limits, value| limits.ratio_after(value as u64).ratio(2),
];

/// Requires that a decoder accepts a text with each limit as low as the text needs it, and not with one lower: whole, byte by
/// byte, with every kernel, once more, and with whitespace after the text, so that fast paths read all of it. Returns the error of a
/// text that is not accepted with the default limits either.
pub fn decoding_meets_its_limits(stc: &[u8]) -> Result<(), Error> {
    Decoder::new().decode(stc)?;
    let bytewise: Vec<usize> = (0..stc.len()).collect();
    let padded = [stc, &[b' '; 200]].concat();
    for (number, set) in DECODING.into_iter().enumerate() {
        let options = |value| STC1.limits(set(Limits::DEFAULT, value));
        let lowest = lowest(|value| Decoder::with_options(options(value)).decode(stc).is_ok());
        for value in [lowest.saturating_sub(1), lowest, lowest + 1] {
            let options = options(value);
            decode_in_chunks(stc, &bytewise, options);
            let found = Decoder::with_options(options).decode(stc).map(<[u8]>::to_vec);
            for kernel in Kernel::available() {
                let of_kernel = internal::decoder(options, kernel).decode(stc).map(<[u8]>::to_vec);
                assert_eq!(of_kernel, found, "{kernel:?} with {options:?}");
            }
            // A limit counts from zero for each document.
            let mut used = Decoder::with_options(options);
            let _ = used.decode(stc);
            assert_eq!(used.decode(stc).map(<[u8]>::to_vec), found, "once more with {options:?}");
            // Whitespace counts as input.
            if number != 1 {
                let with_padding = Decoder::with_options(options).decode(&padded).map(<[u8]>::to_vec);
                assert_eq!(with_padding, found, "with whitespace after it and {options:?}");
            }
        }
    }
    Ok(())
}

/// Requires that an encoder rejects a document, or chooses another form, exactly when a limit is lower than the document
/// needs it: whole, in chunks, with every kernel; and that a decoder with the same limits accepts the text. Returns the
/// error of a document that is rejected with the default limits too.
pub fn encoding_meets_its_limits(json: &[u8], options: Options) -> Result<(), Error> {
    let unlimited = encoded(json, options)?;
    let chunks = [(0..json.len()).collect::<Vec<usize>>(), (0..json.len()).step_by(64).collect()];
    let check = |value: usize, set: SetLimit| {
        let options = options.limits(set(options.limits, value));
        chunks.iter().for_each(|cuts| encode_in_chunks(json, cuts, options));
        kernels(json, options);
        options
    };
    for set in REJECTING {
        let lowest = lowest(|value| encoded(json, options.limits(set(options.limits, value))).is_ok());
        for value in [lowest.saturating_sub(1), lowest, lowest + 1] {
            check(value, set);
        }
    }
    // An encoder of version 1 leaves the free bytes unused.
    let choosing = if options.format != Format::Stc1 { &CHOOSING[..] } else { &CHOOSING[..CHOOSING.len() - 1] };
    for &set in choosing {
        let is_unlimited = |value| encoded(json, options.limits(set(options.limits, value))).as_ref() == Ok(&unlimited);
        let lowest = lowest(is_unlimited);
        for value in [lowest.saturating_sub(1), lowest, lowest + 1] {
            round_trip(json, check(value, set))?;
        }
    }
    Ok(())
}

/// Returns the lowest number for which `holds`, which holds for all numbers after it.
pub(super) fn lowest(holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, 1);
    while !holds(high) {
        (low, high) = (high, 2 * high);
        assert!(high < 1 << 30, "no limit is high enough");
    }
    if holds(0) {
        return 0;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle }
    }
    high
}

pub(super) fn encoded(json: &[u8], options: Options) -> Result<Vec<u8>, Error> {
    Encoder::with_options(options).encode(json).map(<[u8]>::to_vec)
}
