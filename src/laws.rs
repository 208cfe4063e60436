//! What must hold of every input, as functions that panic when it does not. Tests, corpus, fuzz targets and Miri
//! all call these, so that a law is written once.

use crate::internal::{self, Kernel};
use crate::{Decoder, Encoder, Error, ErrorKind, Options};

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
            let again = crate::laws::encoded(&minified, options).expect("minified JSON is JSON");
            assert_same(&again, &stc, "encode(minify(json)) against encode(json)");
            Ok(stc)
        }
        Err(error) => {
            assert!(error.offset() <= json.len() as u64, "{error} lies outside");
            assert_prefix_is_viable(json, error, options);
            Err(error)
        }
    }
}

/// An error's offset is the first byte that cannot be: the input cut there is refused only for being cut.
fn assert_prefix_is_viable(json: &[u8], error: Error, options: Options) {
    let before = &json[..error.offset() as usize];
    if let Err(earlier) = encoded(before, options) {
        let cut_short = matches!(earlier.kind(), ErrorKind::Truncated(_)) && earlier.offset() == before.len() as u64;
        assert!(cut_short, "{error}, but the bytes before already gave {earlier}");
    }
}

/// Every kernel gives the bytes, or the error, of every other; so do the scans beneath.
pub fn kernels(json: &[u8], options: Options) {
    let kernels = Kernel::available();
    let encoded = |kernel| internal::encoder(options, kernel).encode(json).map(<[u8]>::to_vec);
    let decoded = |stc: &[u8], kernel| internal::decoder(options, kernel).decode(stc).map(<[u8]>::to_vec);
    let (first, others) = kernels.split_first().expect("there is always the portable one");
    let (expected, scanned) = (encoded(*first), internal::scanned(json, *first));
    let stc = expected.as_deref().unwrap_or(json);
    for &kernel in others {
        assert_eq!(encoded(kernel), expected, "{kernel:?} against {first:?}");
        assert_eq!(decoded(stc, kernel), decoded(stc, *first), "{kernel:?} against {first:?}");
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

/// As [`encode_in_pieces`], the other way round.
pub fn decode_in_pieces(stc: &[u8], cuts: &[usize], options: Options) {
    let whole = decoded(stc, options);
    let mut decoder = Decoder::with_options(options);
    let mut out = Vec::new();
    let pieced =
        pieces(stc, cuts).try_for_each(|piece| decoder.push(piece, &mut out)).and_then(|()| decoder.finish(&mut out));
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
            assert!(error.offset() <= stc.len() as u64, "{error} lies outside");
            Err(error)
        }
    }
}

/// A codec that has seen other documents, good and bad, whole and cut off, answers like a fresh one.
pub fn reuse<'a>(documents: impl IntoIterator<Item = &'a [u8]>, options: Options) {
    let mut encoder = Encoder::with_options(options);
    let mut decoder = Decoder::with_options(options);
    let mut left_behind = Vec::new();
    for document in documents {
        assert_eq!(encoder.encode(document).map(<[u8]>::to_vec), encoded(document, options));
        assert_eq!(decoder.decode(document).map(<[u8]>::to_vec), decoded(document, options));
        // Begun and not finished: the whole-buffer calls must not care.
        let _ = encoder.push(&document[..document.len() / 2], &mut left_behind);
        let _ = decoder.push(&document[..document.len() / 2], &mut left_behind);
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
