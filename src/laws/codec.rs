//! The laws of the codec: round trip, any split, every kernel, total decoding, exact acceptance, reuse.

use crate::internal::{self, Kernel};
use crate::{Decoder, Encoder, Error, ErrorKind, Format, Limits, Options};

pub(super) const STC1: Options = Options {
    format: Format::Stc1,
    format_is_named: true,
    references_are_off: false,
    limits: Limits::DEFAULT,
    window: None,
};
const LABELLED: Options = STC1.format(Format::Stc2Labelled);
const NO_REFERENCES: Options = STC2.without_references();
pub(super) const STC2: Options = STC1.format(Format::Stc2);

/// Settings under which every law holds.
pub const SETTINGS: &[Options] = &[
    STC1,
    STC1.window(40),
    STC1.format(Format::Json),
    // Tight enough for small documents to reach them.
    STC1.limits(Limits::DEFAULT.depth(5).columns(3).header(16).ratio_after(64).ratio(4)),
    LABELLED,
    LABELLED.limits(Limits::DEFAULT.depth(5).columns(3).header(16).ratio_after(64).ratio(4)),
    LABELLED.limits(Limits::DEFAULT.columns(8).header(60).ratio_after(100).ratio(2)),
    NO_REFERENCES,
    NO_REFERENCES.limits(Limits::DEFAULT.depth(5).columns(3).header(16).ratio_after(64).ratio(4)),
    STC2,
    STC2.limits(Limits::DEFAULT.columns(8).header(100).row(60).anchors(80)),
    STC2.limits(Limits::DEFAULT.depth(6).ratio_after(100).ratio(2)),
];

/// Settings too tight for small documents: input or output exceeds a limit. All laws hold except the round trip, because an
/// STC text may be longer than its JSON and exceed a limit that the JSON did not.
pub const CRAMPED: &[Options] = &[
    STC1.limits(Limits::DEFAULT.input(100).depth(3)),
    STC1.limits(Limits::DEFAULT.output(80)),
    STC1.limits(Limits::DEFAULT.ratio_after(40).ratio(2).header(8)).window(20),
    LABELLED.limits(Limits::DEFAULT.input(100).depth(3)),
    NO_REFERENCES.limits(Limits::DEFAULT.input(100).depth(3)),
    STC2.limits(Limits::DEFAULT.output(80).row(40).anchors(30)),
];

/// Checks every law on any bytes.
pub fn all(bytes: &[u8]) {
    let bytewise: Vec<usize> = (0..bytes.len()).collect();
    let blockwise: Vec<usize> = (0..bytes.len()).step_by(61).collect();
    for &options in SETTINGS.iter().chain(CRAMPED) {
        for cuts in [&bytewise, &blockwise, &vec![bytes.len() / 2]] {
            encode_in_chunks(bytes, cuts, options);
            decode_in_chunks(bytes, cuts, options);
        }
        kernels(bytes, options);
        reuse([bytes, b"[1", bytes, b"{}"], options);
    }
    for &options in SETTINGS {
        // The law holds whether the bytes are valid or not.
        let _ = round_trip(bytes, options);
        let _ = decode_anything(bytes, options);
    }
}

/// Returns JSON without insignificant whitespace, by a reader that shares no code with the codec. It knows only quotes and
/// backslashes, so the result is meaningful for valid JSON only.
pub fn minify(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for &byte in json {
        if in_string {
            out.push(byte);
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            out.push(byte);
            in_string = byte == b'"';
        }
    }
    out
}

/// Lossless (grammar/STC.md, section 2.3): the STC of a document decodes to the minified JSON, and so does the JSON itself. STC 2 is
/// never longer. Returns the STC, or the error with which the input was refused.
pub fn round_trip(json: &[u8], options: Options) -> Result<Vec<u8>, Error> {
    let mut stc = Vec::new();
    let mut decoder = Decoder::with_options(options);
    match Encoder::with_options(options).encode_into(json, &mut stc) {
        Ok(()) => {
            let minified = minify(json);
            let back = decoder.decode(&stc).unwrap_or_else(|error| {
                let at = error.offset() as usize;
                let near = stc[at.saturating_sub(200)..stc.len().min(at + 40)].escape_ascii();
                panic!("what was encoded decodes, but: {error}\n  near {near}")
            });
            assert_same(back, &minified, "decode(encode(json)) against minify(json)");
            let may_be_longer = options.format == Format::Stc1;
            assert!(may_be_longer || stc.len() <= minified.len(), "{} is longer than minified JSON", options.format);
            let plain = decoder.decode(json).expect("JSON is STC");
            assert_same(plain, &minified, "decode(json) against minify(json)");
            let again = encoded(&minified, options).expect("minified JSON is JSON");
            assert_same(&again, &stc, "encode(minify(json)) against encode(json)");
            Ok(stc)
        }
        Err(error) => {
            assert_ne!(error.kind(), ErrorKind::Defect, "{error}");
            assert_prefix_is_viable(json, error, |before| encoded(before, options));
            Err(error)
        }
    }
}

/// An error's offset is the first byte that cannot follow: the input up to there is refused only for ending too early.
fn assert_prefix_is_viable(input: &[u8], error: Error, read: impl Fn(&[u8]) -> Result<Vec<u8>, Error>) {
    assert!(error.offset() <= input.len() as u64, "{error} lies outside");
    let before = &input[..error.offset() as usize];
    if let Err(earlier) = read(before) {
        let cut_short = matches!(earlier.kind(), ErrorKind::Truncated(_)) && earlier.offset() == before.len() as u64;
        assert!(cut_short || earlier == error, "{error}, but the bytes before already gave {earlier}");
    }
}

/// Every kernel gives the same bytes or the same error; so does every kernel's scan.
pub fn kernels(json: &[u8], options: Options) {
    // In an allocation of exactly their length, so that memory checkers notice a read past the end.
    let json = &Box::<[u8]>::from(json)[..];
    let kernels = Kernel::available();
    let encoded = |kernel| internal::encoder(options, kernel).encode(json).map(<[u8]>::to_vec);
    let decoded = |stc: &[u8], kernel| internal::decoder(options, kernel).decode(stc).map(<[u8]>::to_vec);
    let (first, others) = kernels.split_first().expect("there is always the portable one");
    let (expected, scanned) = (encoded(*first), internal::scanned(json, *first));
    let stc = expected.as_deref().unwrap_or(json);
    for &kernel in others {
        assert_eq!(encoded(kernel), expected, "{kernel:?} against {first:?}");
        assert_eq!(decoded(stc, kernel), decoded(stc, *first), "{kernel:?} against {first:?}");
        assert_eq!(decoded(json, kernel), decoded(json, *first), "{kernel:?} against {first:?}");
        assert_eq!(internal::scanned(json, kernel), scanned, "{kernel:?} against {first:?}");
    }
}

/// Streaming: chunks that end at `cuts` give the bytes, or the error, of the whole document.
pub fn encode_in_chunks(json: &[u8], cuts: &[usize], options: Options) {
    let whole = encoded(json, options);
    let mut encoder = Encoder::with_options(options);
    let mut out = Vec::new();
    let chunked =
        chunks(json, cuts).try_for_each(|chunk| encoder.push(chunk, &mut out)).and_then(|()| encoder.finish(&mut out));
    assert_eq!(chunked.err(), whole.as_ref().err().copied(), "chunks against whole, cut at {cuts:?}");
    if let Ok(whole) = whole {
        assert_same(&out, &whole, "chunks against whole");
    }
}

/// As [`encode_in_chunks`], for decoding. The output never exceeds a limit, not even before an error.
pub fn decode_in_chunks(stc: &[u8], cuts: &[usize], options: Options) {
    let whole = decoded(stc, options);
    let mut decoder = Decoder::with_options(options);
    let mut out = Vec::new();
    let mut taken = 0;
    let chunked = chunks(stc, cuts)
        .try_for_each(|chunk| {
            taken += chunk.len() as u64;
            let pushed = decoder.push(chunk, &mut out);
            let Limits { output, ratio, ratio_after, .. } = options.limits;
            // What a lexeme's last byte ends is written at the offset after it (STC.md, 10.2), so one byte more counts as read.
            let max_len = output.min(ratio_after.max(ratio.saturating_mul(taken + 1)));
            assert!(out.len() as u64 <= max_len, "{} bytes out for {taken}, {max_len} allowed", out.len());
            pushed
        })
        .and_then(|()| decoder.finish(&mut out));
    assert_eq!(chunked.err(), whole.as_ref().err().copied(), "chunks against whole, cut at {cuts:?}");
    if let Ok(whole) = whole {
        assert_same(&out, &whole, "chunks against whole");
    }
}

/// Decoding is total: any bytes are refused at an offset inside them, or give JSON that survives a round trip.
pub fn decode_anything(stc: &[u8], options: Options) -> Result<Vec<u8>, Error> {
    match decoded(stc, options) {
        Ok(json) => {
            assert!(json.len() as u64 <= options.limits.output, "the output limit holds");
            assert_same(&minify(&json), &json, "decoded JSON against itself minified");
            let again = round_trip(&json, options).expect("decoded JSON is JSON");
            assert_same(&decoded(&again, options).expect("it decodes"), &json, "once more around");
            Ok(json)
        }
        Err(error) => {
            assert_prefix_is_viable(stc, error, |before| decoded(before, options));
            Err(error)
        }
    }
}

/// A codec that has been used for other documents (valid or not, whole, in chunks, unfinished) answers like a new one.
pub fn reuse<'a>(documents: impl IntoIterator<Item = &'a [u8]>, options: Options) {
    let mut encoder = Encoder::with_options(options);
    let mut decoder = Decoder::with_options(options);
    let mut out = Vec::new();
    for (number, document) in documents.into_iter().enumerate() {
        let (stc, json) = (encoded(document, options), decoded(document, options));
        let (begun, rest) = document.split_at(document.len() / 2);
        assert_eq!(encoder.encode(document).map(<[u8]>::to_vec), stc);
        assert_eq!(decoder.decode(document).map(<[u8]>::to_vec), json);

        out.clear();
        let pushed = [begun, rest].iter().try_for_each(|chunk| encoder.push(chunk, &mut out));
        assert_eq!(pushed.and_then(|()| encoder.finish(&mut out)).map(|()| out.clone()), stc);
        out.clear();
        let pushed = [begun, rest].iter().try_for_each(|chunk| decoder.push(chunk, &mut out));
        assert_eq!(pushed.and_then(|()| decoder.finish(&mut out)).map(|()| out.clone()), json);

        // An unfinished document must not affect the whole-buffer calls, nor any call after `clear`.
        let _ = encoder.push(begun, &mut out);
        let _ = decoder.push(begun, &mut out);
        if number % 2 == 0 {
            encoder.clear();
            decoder.clear();
            assert_eq!(encoder.finish(&mut out), Encoder::with_options(options).finish(&mut out));
            assert_eq!(decoder.finish(&mut out), Decoder::with_options(options).finish(&mut out));
        }
    }
}

fn encoded(json: &[u8], options: Options) -> Result<Vec<u8>, Error> {
    let mut out = b"kept".to_vec();
    let result = Encoder::with_options(options).encode_into(json, &mut out);
    assert!(out.starts_with(b"kept") && (result.is_ok() || out.len() == 4), "an error leaves the buffer as it was");
    result.map(|()| out.split_off(4))
}

fn decoded(stc: &[u8], options: Options) -> Result<Vec<u8>, Error> {
    let mut out = b"kept".to_vec();
    let result = Decoder::with_options(options).decode_into(stc, &mut out);
    assert!(out.starts_with(b"kept") && (result.is_ok() || out.len() == 4), "an error leaves the buffer as it was");
    result.map(|()| out.split_off(4))
}

fn chunks<'a>(bytes: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let ends = cuts.iter().map(|&cut| cut.min(bytes.len())).chain([bytes.len()]);
    ends.scan(0, |start, end| {
        let from = std::mem::replace(start, end.max(*start));
        Some(&bytes[from..end.max(from)])
    })
}

fn assert_same(left: &[u8], right: &[u8], what: &str) {
    if left != right {
        let at = left.iter().zip(right).take_while(|(one, other)| one == other).count();
        let near = |bytes: &[u8]| bytes[at.saturating_sub(40)..bytes.len().min(at + 40)].escape_ascii().to_string();
        panic!("{what}: different from byte {at} on\n  left:  {}\n  right: {}", near(left), near(right));
    }
}
