//! The codec on readers and writers, and newline-delimited streams in both directions.

use std::io::{self, Read, Write};

use stc::io::{DecodeReader, DecodeWriter, EncodeReader, EncodeWriter, LineError, decode_lines, encode_lines};
use stc::{Decoder, Encoder, Format, Options};

use crate::laws::stc1;

/// A reader or writer that handles a few bytes at a time and is interrupted in between.
struct Stutter<T> {
    inner: T,
    calls: usize,
}

impl<T> Stutter<T> {
    fn new(inner: T) -> Self {
        Self { inner, calls: 0 }
    }

    fn room(&mut self, wanted: usize) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            Ok(wanted.min(1 + self.calls % 5))
        }
    }
}

impl<R: Read> Read for Stutter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = self.room(buffer.len())?;
        self.inner.read(&mut buffer[..room])
    }
}

impl<W: Write> Write for Stutter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room(bytes.len())?;
        self.inner.write(&bytes[..room])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

const JSON: &str = r#"{"items": [{"id": 1, "on": true}, {"id": 2, "on": false}], "next": null}"#;
const STC: &str = "{items: [2]{id,on}: 1,true / 2,false, next: null}";
const MINIFIED: &str = r#"{"items":[{"id":1,"on":true},{"id":2,"on":false}],"next":null}"#;

#[test]
fn short_and_interrupted_reads_and_writes() {
    let mut writer = EncodeWriter::with_options(Stutter::new(Vec::new()), stc1());
    for chunk in JSON.as_bytes().chunks(7) {
        writer.write_all(chunk).expect("valid so far");
    }
    let stc = writer.finish().expect("valid").inner;
    assert_eq!(String::from_utf8_lossy(&stc), STC);

    let mut json = String::new();
    let mut reader = DecodeReader::new(Stutter::new(&stc[..]));
    reader.read_to_string(&mut json).expect("valid");
    assert_eq!(json, MINIFIED);
    assert_eq!(reader.read(&mut [0; 8]).expect("at the end"), 0);
}

fn codec_error(error: &io::Error) -> stc::Error {
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    let inner = error.get_ref().expect("an inner error");
    let of_line = inner.downcast_ref::<LineError>().map(|line| {
        let source = std::error::Error::source(line).and_then(|source| source.downcast_ref());
        assert_eq!(source, Some(&line.error));
        &line.error
    });
    *of_line.or_else(|| inner.downcast_ref()).expect("the codec's own error")
}

#[test]
fn a_reader_returns_the_output_before_an_error_first() {
    let mut reader = DecodeReader::new(&b"[1,2,x]"[..]);
    let mut json = Vec::new();
    let error = reader.read_to_end(&mut json).expect_err("x is no value");
    assert_eq!(json, b"[1,2,");
    assert_eq!(codec_error(&error).offset(), 5);
}

#[test]
fn after_an_error_every_further_call_fails() {
    let mut writer = EncodeWriter::with_options(Vec::new(), stc1());
    writer.write_all(format!("{{\"a\":1,\"b\":{}", " ".repeat(200)).as_bytes()).expect("valid so far");
    assert!(writer.write_all(format!("x{}", "[".repeat(200)).as_bytes()).is_err());
    assert!(writer.write_all(b"[1,2]}").is_err());
    assert!(!writer.get_ref().is_empty());
    assert!(writer.finish().is_err());

    /// A writer that accepts nothing.
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = EncodeWriter::with_options(Full, stc1());
    assert!(writer.write_all(format!("[{}", "1,".repeat(100)).as_bytes()).is_err());
    assert!(writer.write_all(b"1]").is_err());
    assert!(writer.finish().is_err());

    let mut reader = DecodeReader::new(&b"[x]"[..]);
    let mut buffer = [0; 8];
    assert_eq!(reader.read(&mut buffer).expect("the bracket"), 1);
    for _ in 0..3 {
        assert_eq!(codec_error(&reader.read(&mut buffer).expect_err("x is no value")).offset(), 1);
    }
}

#[test]
fn a_long_blank_line_counts_for_the_input_limit() {
    let options = Options::default().limits(stc::Limits::default().input(4));
    let mut stc = Vec::new();
    let error =
        encode_lines(&b"  \n      {}\n1\n"[..], &mut stc, &mut Encoder::with_options(options)).expect_err("too long");
    assert_eq!(codec_error(&error).kind(), stc::ErrorKind::Input);
    assert_eq!(codec_error(&error).offset(), 7);
    assert_eq!(stc, b"\n");
    // As long as the limit, it is still blank.
    stc.clear();
    assert_eq!(encode_lines(&b"    \n"[..], &mut stc, &mut Encoder::with_options(options)).expect("blank"), 0);
    assert_eq!(stc, b"\n");
}

#[test]
fn a_writer_rejects_truncated_input() {
    let mut writer = EncodeWriter::with_options(Vec::new(), Options::default());
    writer.write_all(br#"{"a":"#).expect("valid so far");
    assert_eq!(codec_error(&writer.finish().expect_err("cut")).offset(), 5);
}

#[test]
fn a_streaming_encoder_holds_no_more_than_it_must() {
    let mut encoder = Encoder::with_options(stc1());
    let mut out = Vec::new();
    // Input is processed in blocks of 64 bytes, so every chunk is followed by that much padding.
    let push = |encoder: &mut Encoder, chunk: &str, out: &mut Vec<u8>| {
        encoder.push(format!("{chunk}{}", " ".repeat(128)).as_bytes(), out).expect("valid so far");
        String::from_utf8_lossy(out).into_owned()
    };
    assert_eq!(push(&mut encoder, r#"{"a":"x","b":"#, &mut out), r#"{a: "x","#);
    assert_eq!(push(&mut encoder, r#"{"c":1},"d":[{"e":1},"#, &mut out), r#"{a: "x", b: {c: 1}, d: "#);
    assert_eq!(push(&mut encoder, r#"{"e":2},{"e":3}"#, &mut out), r#"{a: "x", b: {c: 1}, d: "#);
    assert_eq!(push(&mut encoder, r#"],"f":"#, &mut out), r#"{a: "x", b: {c: 1}, d: [3]{e}: 1 / 2 / 3,"#);
    assert_eq!(push(&mut encoder, r#"[1,2,"#, &mut out), r#"{a: "x", b: {c: 1}, d: [3]{e}: 1 / 2 / 3, f"#);
    assert_eq!(push(&mut encoder, r#"null"#, &mut out), r#"{a: "x", b: {c: 1}, d: [3]{e}: 1 / 2 / 3, f: [1,2,"#);
    encoder.push(b"]}", &mut out).expect("valid");
    encoder.finish(&mut out).expect("complete");
    assert_eq!(String::from_utf8_lossy(&out), r#"{a: "x", b: {c: 1}, d: [3]{e}: 1 / 2 / 3, f: [1,2,null]}"#);
}

/// However much a text expands, a writer passes it on in parts.
#[test]
fn output_is_passed_on_before_there_is_much() {
    /// A writer that keeps the length of the longest part.
    struct Longest(usize);
    impl Write for Longest {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.max(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let long = "x".repeat(1000);
    for stc in [
        format!("[&a[\"{long}\"]{}]", ",*a".repeat(1000)),
        format!("$a=\"{long}\"\n[$a{}]", ",$a".repeat(1000)),
        format!("[1000]{{a?,b=\"{long}\"}}:\n{}", "\n".repeat(1000)),
        format!("[1000]{{{long}}}: {}0", "0 / ".repeat(999)),
    ] {
        let mut writer = DecodeWriter::new(Longest(0));
        writer.write_all(stc.as_bytes()).expect("STC");
        // 64 KiB, and at most eight bytes for each of the text's own.
        let longest = writer.finish().expect("STC").0;
        assert!(longest <= (64 << 10) + 8 * stc.len() + 2000, "{longest} bytes of a text of {}", stc.len());
    }
}

/// A writer that counts how often it is flushed.
#[derive(Default)]
struct Flushed {
    bytes: Vec<u8>,
    flushes: usize,
}

impl Write for Flushed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushes += 1;
        Ok(())
    }
}

#[test]
fn a_flush_reaches_the_writer_inside() {
    let mut writer = EncodeWriter::new(Flushed::default());
    writer.write_all(b"[1, ").expect("valid so far");
    writer.flush().expect("it does not fail");
    assert_eq!(writer.get_ref().flushes, 1);
    writer.get_mut().flushes = 5;
    writer.write_all(b"2]").expect("valid so far");
    let inner = writer.finish().expect("valid");
    assert_eq!((&inner.bytes[..], inner.flushes), (&b"[1,2]"[..], 6));

    let mut writer = DecodeWriter::new(Flushed::default());
    writer.write_all(b"{a: ").expect("valid so far");
    writer.flush().expect("it does not fail");
    assert_eq!(writer.get_ref().flushes, 1);
    writer.get_mut().flushes = 5;
    writer.write_all(b"1}").expect("valid so far");
    let inner = writer.finish().expect("valid");
    assert_eq!((&inner.bytes[..], inner.flushes), (&b"{\"a\":1}"[..], 6));

    let mut lines = Flushed::default();
    encode_lines(&b"[1]\n[2]\n"[..], &mut lines, &mut Encoder::new()).expect("valid");
    assert_eq!((&lines.bytes[..], lines.flushes), (&b"[1]\n[2]\n"[..], 1));
}

#[test]
fn lines_both_ways() {
    let json = "{\"a\": [1, 2]}\r\n\n  \n[{\"b\":1},{\"b\":2}]\n\"last\"";
    let mut stc = Vec::new();
    assert_eq!(encode_lines(json.as_bytes(), &mut stc, &mut Encoder::new()).expect("valid"), 3);
    assert_eq!(String::from_utf8_lossy(&stc), "{a[2]: 1,2}\n\n\n[2]{b}: 1 / 2\n\"last\"\n");
    let mut back = Vec::new();
    assert_eq!(decode_lines(&stc[..], &mut back, &mut Decoder::new()).expect("valid"), 3);
    assert_eq!(String::from_utf8_lossy(&back), "{\"a\":[1,2]}\n\n\n[{\"b\":1},{\"b\":2}]\n\"last\"\n");
}

#[test]
fn a_bad_line_has_its_place_and_writes_nothing() {
    let json = "[1]\n\n[2,]\n[3]\n";
    let mut stc = Vec::new();
    let error = encode_lines(json.as_bytes(), &mut stc, &mut Encoder::new()).expect_err("the third line");
    assert_eq!(codec_error(&error).offset(), 8);
    assert_eq!(codec_error(&error).position(json.as_bytes()).line, 3);
    assert!(error.to_string().starts_with("line 3: "), "{error}");
    assert_eq!(stc, b"[1]\n\n");
}

#[test]
fn lines_are_stc_1_unless_a_format_is_named() {
    let json =
        br#"[{"id":1,"state":"open","by":"ann"},{"id":2,"state":"open","by":"bob"},{"id":3,"state":"open","by":"cy"}]"#;
    let mut encoder = Encoder::new();
    let before = encoder.encode(json).expect("valid").to_vec();
    assert!(before.contains(&b'\n'), "this document is a table in STC 2");
    let expected = [Encoder::with_options(stc1()).encode(json).expect("valid"), b"\n"].concat();
    let mut stc = Vec::new();
    assert_eq!(encode_lines(&json[..], &mut stc, &mut encoder).expect("valid"), 1);
    assert_eq!(String::from_utf8_lossy(&stc), String::from_utf8_lossy(&expected));
    encode_lines(&b"[1"[..], &mut stc, &mut encoder).expect_err("truncated");
    // After that, and after an error, the encoder writes what it wrote before.
    assert_eq!(encoder.encode(json).expect("valid"), before);
}

#[test]
fn lines_need_a_format_without_line_feeds() {
    for format in Format::ALL {
        let mut encoder = Encoder::with_options(Options::default().format(format));
        let mut stc = Vec::new();
        let mut input = &b"[1, 2]\n"[..];
        let found = encode_lines(&mut input, &mut stc, &mut encoder);
        if matches!(format, Format::Json | Format::Stc1) {
            assert_eq!((found.expect("valid"), &stc[..]), (1, &b"[1,2]\n"[..]), "{format}");
            continue;
        }
        let error = found.expect_err("line feeds");
        assert_eq!((error.kind(), input.len(), stc.len()), (io::ErrorKind::InvalidInput, 7, 0), "{format}");
        assert!(error.to_string().contains(format.name()) && error.to_string().contains("Format::Stc1"), "{error}");
    }
}

#[test]
fn the_other_halves_do_the_same() {
    for format in Format::ALL {
        let options = Options::default().format(format);
        let mut expected = Vec::new();
        Encoder::with_options(options).encode_into(JSON.as_bytes(), &mut expected).expect("valid");
        let mut stc = Vec::new();
        let mut reader = EncodeReader::with_options(Stutter::new(JSON.as_bytes()), options);
        reader.read_to_end(&mut stc).expect("valid");
        assert_eq!(String::from_utf8_lossy(&stc), String::from_utf8_lossy(&expected));
        assert_eq!(reader.read(&mut [0; 8]).expect("at the end"), 0);
        let mut writer = DecodeWriter::with_options(Stutter::new(Vec::new()), options);
        stc.chunks(7).for_each(|chunk| writer.write_all(chunk).expect("valid so far"));
        assert_eq!(String::from_utf8_lossy(&writer.finish().expect("valid").inner), MINIFIED, "{format}");
    }
    let mut reader = EncodeReader::new(&b"[1, x]"[..]);
    for _ in 0..3 {
        assert_eq!(codec_error(&reader.read_to_end(&mut Vec::new()).expect_err("x is no value")).offset(), 4);
    }
    assert!(reader.into_inner().is_empty());
    let mut writer = DecodeWriter::new(Vec::new());
    assert_eq!(codec_error(&writer.write_all(b"[1,x").expect_err("x is no value")).offset(), 3);
    assert!(writer.write_all(b"1]").is_err());
    assert_eq!(writer.into_inner(), b"");
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "only debug builds assert it")]
fn a_writer_that_is_dropped_before_its_end_is_noticed() {
    let dropped = |text: &'static [u8]| {
        std::panic::catch_unwind(move || EncodeWriter::new(Vec::new()).write_all(text).expect("valid so far")).is_err()
    };
    assert!(dropped(b"[1,"));
    drop(EncodeWriter::new(Vec::new()));
    drop(DecodeWriter::new(Vec::new()).into_inner());
}

#[test]
fn a_line_over_the_input_limit_is_rejected_before_its_end() {
    let options = Options::default().limits(stc::Limits::default().input(10));
    let mut encoder = Encoder::with_options(options);
    let mut stc = Vec::new();
    // An endless line: reading all of it would not terminate.
    let endless = io::BufReader::new(io::Cursor::new(b"[1]\n[").chain(io::repeat(b'1')));
    let error = encode_lines(endless, &mut stc, &mut encoder).expect_err("too long");
    assert_eq!(codec_error(&error).kind(), stc::ErrorKind::Input);
    assert_eq!(codec_error(&error).offset(), 14);
    assert_eq!(stc, b"[1]\n");
    let ten = encode_lines(&b"[11111111]\n"[..], &mut stc, &mut encoder).expect("ten bytes are allowed");
    assert_eq!(ten, 1);
}

/// An error has its exact place after the beginning of the input has been dropped, in a scanned block and in the bytes that
/// do not fill a block yet.
#[test]
fn an_error_after_dropped_input_has_its_place() {
    for (bad, length) in [("x", 300_000), ("1x", 300_001), ("\"\\q\"", 200_003), ("01", 200_017)] {
        let filler = r#"{"a": [1, 2], "b": "text"}, "#;
        let json = format!("[{} {bad}]", &filler.repeat(length / filler.len()));
        let expected = stc::encode(json.as_bytes()).expect_err("not JSON");
        for size in [64, 1000, 4097, 100_000] {
            let mut encoder = Encoder::with_options(stc1());
            let mut out = Vec::new();
            let pushed = json.as_bytes().chunks(size).try_for_each(|chunk| encoder.push(chunk, &mut out));
            let error = pushed.and_then(|()| encoder.finish(&mut out)).expect_err("not JSON");
            assert_eq!(
                (error.kind(), error.offset()),
                (expected.kind(), expected.offset()),
                "{bad} in chunks of {size}"
            );
        }
    }
}
