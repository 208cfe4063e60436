//! What must hold of every input, as functions that panic when it does not. Tests, corpus, fuzz targets and Miri
//! all call these, so that a law is written once.

mod references;

use crate::internal::{self, Kernel};
use crate::{Decoder, Encoder, Error, ErrorKind, Limits, Options, Version};

pub use references::{anchors_use_their_whole_limit, references_cut_cleanly};

const DEFAULT: Options = Options { version: Version::V1, references: false, limits: Limits::DEFAULT, window: None };
const SECOND: Options = DEFAULT.version(Version::V2);
const REFERENCES: Options = SECOND.references(true);

/// Settings under which every law holds. A new version of the format is one more line.
pub const SETTINGS: &[Options] = &[
    DEFAULT,
    DEFAULT.window(40),
    // Close enough for small documents to meet them.
    DEFAULT.limits(Limits::DEFAULT.depth(5).columns(3).header(16).free(64).ratio(4)),
    SECOND,
    SECOND.limits(Limits::DEFAULT.depth(5).columns(3).header(16).free(64).ratio(4)),
    REFERENCES,
    REFERENCES.limits(Limits::DEFAULT.columns(8).header(100).row(60).anchors(80)),
    REFERENCES.limits(Limits::DEFAULT.depth(6).free(100).ratio(2)),
];

/// Settings that small documents do not fit: what goes in or comes out is cut off. All laws hold but for the round trip,
/// since an STC text may be longer than its JSON and meet the limit that the JSON did not.
pub const CRAMPED: &[Options] = &[
    DEFAULT.limits(Limits::DEFAULT.input(100).depth(3)),
    DEFAULT.limits(Limits::DEFAULT.output(80)),
    DEFAULT.limits(Limits::DEFAULT.free(40).ratio(2).header(8)).window(20),
    SECOND.limits(Limits::DEFAULT.input(100).depth(3)),
    REFERENCES.limits(Limits::DEFAULT.output(80).row(40).anchors(30)),
];

/// Every law, over bytes of which nothing is known.
pub fn all(bytes: &[u8]) {
    let bytewise: Vec<usize> = (0..bytes.len()).collect();
    let blockwise: Vec<usize> = (0..bytes.len()).step_by(61).collect();
    for &options in SETTINGS.iter().chain(CRAMPED) {
        for cuts in [&bytewise, &blockwise, &vec![bytes.len() / 2]] {
            encode_in_pieces(bytes, cuts, options);
            decode_in_pieces(bytes, cuts, options);
        }
        kernels(bytes, options);
        reuse([bytes, b"[1", bytes, b"{}"], options);
    }
    for &options in SETTINGS {
        // Good or bad does not matter: whatever it is, the law holds of it.
        let _ = round_trip(bytes, options);
        let _ = decode_anything(bytes, options);
    }
}

/// JSON without insignificant whitespace, by a reader that shares nothing with the codec: it knows quotes and
/// backslashes only, so its answer means something for valid JSON alone.
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

/// Lossless: what is encoded decodes to the JSON minified, and so does the JSON itself. Returns the STC, or the error
/// with which the input was refused.
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
            let plain = decoder.decode(json).expect("JSON is STC");
            assert_same(plain, &minified, "decode(json) against minify(json)");
            let again = encoded(&minified, options).expect("minified JSON is JSON");
            assert_same(&again, &stc, "encode(minify(json)) against encode(json)");
            Ok(stc)
        }
        Err(error) => {
            assert_prefix_is_viable(json, error, |before| encoded(before, options));
            Err(error)
        }
    }
}

/// An error's offset is the first byte that cannot be: the input cut there is refused only for being cut.
fn assert_prefix_is_viable(input: &[u8], error: Error, read: impl Fn(&[u8]) -> Result<Vec<u8>, Error>) {
    assert!(error.offset() <= input.len() as u64, "{error} lies outside");
    let before = &input[..error.offset() as usize];
    if let Err(earlier) = read(before) {
        let cut_short = matches!(earlier.kind(), ErrorKind::Truncated(_)) && earlier.offset() == before.len() as u64;
        assert!(cut_short || earlier == error, "{error}, but the bytes before already gave {earlier}");
    }
}

/// Every kernel gives the bytes, or the error, of every other; so do the scans beneath.
pub fn kernels(json: &[u8], options: Options) {
    // An allocation of their own, as long as they are: to read past the bytes is to read past it, and to be noticed.
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

/// Streaming: pieces that end where `cuts` say give the bytes, or the error, of the whole.
pub fn encode_in_pieces(json: &[u8], cuts: &[usize], options: Options) {
    let whole = encoded(json, options);
    let mut encoder = Encoder::with_options(options);
    let mut out = Vec::new();
    let pieced =
        pieces(json, cuts).try_for_each(|piece| encoder.push(piece, &mut out)).and_then(|()| encoder.finish(&mut out));
    assert_eq!(pieced.err(), whole.as_ref().err().copied(), "pieces against whole, cut at {cuts:?}");
    if let Ok(whole) = whole {
        assert_same(&out, &whole, "pieces against whole");
    }
}

/// As [`encode_in_pieces`], the other way round. What has come out never passes a limit, not even before an error.
pub fn decode_in_pieces(stc: &[u8], cuts: &[usize], options: Options) {
    let whole = decoded(stc, options);
    let mut decoder = Decoder::with_options(options);
    let mut out = Vec::new();
    let mut taken = 0;
    let pieced = pieces(stc, cuts)
        .try_for_each(|piece| {
            taken += piece.len() as u64;
            let pushed = decoder.push(piece, &mut out);
            let Limits { output, free, ratio, .. } = options.limits;
            let most = output.min(free.max(ratio.saturating_mul(taken)));
            assert!(out.len() as u64 <= most, "{} bytes out for {taken}, {most} allowed", out.len());
            pushed
        })
        .and_then(|()| decoder.finish(&mut out));
    assert_eq!(pieced.err(), whole.as_ref().err().copied(), "pieces against whole, cut at {cuts:?}");
    if let Ok(whole) = whole {
        assert_same(&out, &whole, "pieces against whole");
    }
}

/// Decoding is total: any bytes are refused at an offset inside them, or give JSON that encodes and comes back.
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

/// A codec that has seen other documents, good and bad, whole, in pieces and cut off, answers like a fresh one.
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
        let pushed = [begun, rest].iter().try_for_each(|piece| encoder.push(piece, &mut out));
        assert_eq!(pushed.and_then(|()| encoder.finish(&mut out)).map(|()| out.clone()), stc);
        out.clear();
        let pushed = [begun, rest].iter().try_for_each(|piece| decoder.push(piece, &mut out));
        assert_eq!(pushed.and_then(|()| decoder.finish(&mut out)).map(|()| out.clone()), json);

        // Begun and not finished: the whole-buffer calls must not care, nor anyone after `clear`.
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

fn pieces<'a>(bytes: &'a [u8], cuts: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
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
