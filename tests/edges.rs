//! Documents of a few bytes, at the edges of fast paths: what they must not take, and what they must take whole. Most come from
//! the mutants that no other test noticed (tests/mutants.md).

use stc::{Decoder, Encoder, ErrorKind, Format, Limits, Options};

use crate::laws::stc1;

/// Replaces `K` by a key of 70 letters, so that the first block ends inside it, `L` by 40 letters and `Z` by 200.
fn filled(text: &str) -> String {
    let key = format!("\"{}\"", "k".repeat(70));
    text.replace('K', &key).replace('L', &"l".repeat(40)).replace('Z', &"z".repeat(200))
}

/// Encodes the chunks of a document.
fn pushed<'a>(options: Options, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, ErrorKind> {
    let (mut encoder, mut out) = (Encoder::with_options(options), Vec::new());
    let ended = chunks.into_iter().try_for_each(|chunk| encoder.push(chunk, &mut out));
    ended.and_then(|()| encoder.finish(&mut out)).map(|()| out).map_err(|error| error.kind())
}

fn whole(options: Options, json: &[u8]) -> Result<Vec<u8>, ErrorKind> {
    let mut encoder = Encoder::with_options(options);
    encoder.encode(json).map(<[u8]>::to_vec).map_err(|error| error.kind())
}

/// Requires that a document is refused in every format, whole, in one chunk, in chunks of a block and byte by byte.
fn assert_refused(json: &[u8]) {
    for format in Format::ALL {
        let options = Options::default().format(format);
        assert!(whole(options, json).is_err(), "{format}: {}", json.escape_ascii());
        for length in [1, 64, json.len()] {
            let found = pushed(options, json.chunks(length));
            assert!(found.is_err(), "{format}, chunks of {length}: {}", json.escape_ascii());
        }
    }
}

#[test]
fn what_is_not_json_is_refused_at_every_edge() {
    let texts = [
        // Numbers in arrays, and brackets after values.
        "[1,,2]",
        "[1:2]",
        "[12 3]",
        "[1.5.5]",
        "{\"a\":[],}",
        "{\"a\":[]\"b\":1}",
        "[[]:]",
        "[[],]",
        "\"abcd\",\"b\"",
        // Members in blocks.
        r#"{"bbb":1},{"c":2}"#,
        r#"{"a":{"bbb":1}:"c":2}"#,
        r#"{"a":{"bbb":1},,"c":2}"#,
        r#"{"a":{"bbb":""},,"c":2}"#,
        r#"[{"aaa":1},{,"{":2}]"#,
        r#"[{"abc":1},{"abc"2}]"#,
        // Rows of objects.
        r#"{"ab":1},{"b":2}"#,
        r#"[{"a":1}:{"b":2}]"#,
        r#"[{"ab":1},{"b",2}]"#,
        "[{K:1:\"b\":2},{K:3,\"b\":4}]",
        "[{K:1,\"b\":2},{K:3:\"b\":4}]",
        "[{K:1},{K:2},]",
        "[{K:1}:{K:2}]",
        "[{K:1},,{K:2}]",
    ];
    for text in texts {
        assert_refused(filled(text).as_bytes());
    }
}

#[test]
fn what_is_wrong_at_the_end_of_a_block_is_refused() {
    let letters = |count: usize| "x".repeat(count);
    let mut texts: Vec<String> = [("1x5", 59), ("1x,2", 59), ("0x,2", 59), ("1e5x,2", 57)]
        .map(|(number, count)| format!("[\"{}\",{number}]", letters(count)))
        .into();
    texts.extend([format!("\"{}\\uzz00\"", letters(61)), format!("\"{}\\uz000\"", letters(61))]);
    texts.extend([format!("\"\\q{}\"", letters(61)), format!("\"\\q{0}\\q{0}\"", letters(61))]);
    for text in texts {
        assert_refused(text.as_bytes());
    }
    // A character that 64 letters interrupt.
    let (begun, between, ended) = (format!("\"{}", letters(62)), letters(64), [0xA9, b'"']);
    let begun = [begun.as_bytes(), &[0xC3]].concat();
    for format in Format::ALL {
        let found = pushed(Options::default().format(format), [&begun[..], between.as_bytes(), &ended]);
        assert_eq!(found, Err(ErrorKind::Utf8), "{format}");
    }
}

#[test]
fn members_at_the_edges_of_blocks_come_back() {
    let letters = |count: usize| "x".repeat(count);
    let nested = |count: usize| format!("{}1{}", "{\"a\":".repeat(count), "}".repeat(count - 1));
    let texts = [
        format!(r#"{{"a":{{"bbb":"{}"}},"c":1}}"#, letters(56)),
        format!("{},\"b\":1}}", nested(17)),
        format!(r#"{{"{}":"{}"}}"#, letters(23), letters(60)),
        r#"{"9":1}"#.to_owned(),
        r#"[{"9":1},{"9":2}]"#.to_owned(),
    ];
    for json in texts {
        for format in Format::ALL {
            let options = Options::default().format(format);
            let stc = whole(options, json.as_bytes()).expect("JSON");
            assert_eq!(Decoder::new().decode(&stc), Ok(json.as_bytes()), "{format}");
            assert_eq!(pushed(options, json.as_bytes().chunks(1)), Ok(stc), "{format}: {json}");
        }
    }
    let json = filled(r#"[{"L":1},{"L":2}]"#);
    for limits in [Limits::default(), Limits::default().ratio(2)] {
        assert_eq!(whole(stc1().limits(limits), json.as_bytes()), Ok(filled("[2]{L}: 1 / 2").into_bytes()));
    }
}

#[test]
fn chunks_of_a_block_have_room() {
    let strings = vec![format!("\"{}\"", "s".repeat(60)); 5];
    let row = |values: &[String]| {
        let members: Vec<String> = values.iter().enumerate().map(|(at, value)| format!("\"k{at}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let short = row(&vec!["1".to_owned(); 5]);
    let rows = format!("[{},{}]", row(&strings), vec![short; 40].join(","));
    let dashes = ["{\"-\":1,\"-a\":2,\"-b\":3,\"-c\":4,\"-d\":5}"; 7].join(",");
    let lists = format!("[{dashes},{{\"\":[1],\"\":[1],\"\":[1],\"\":[1],\"\":[1]}}]");
    for json in [rows, lists] {
        for format in Format::ALL {
            let options = Options::default().format(format);
            assert_eq!(
                pushed(options, json.as_bytes().chunks(64)),
                whole(options, json.as_bytes()),
                "{format}: {json}"
            );
        }
    }
}

/// A decoder with the same limits accepts what an encoder writes near them.
#[test]
fn ratios_near_those_of_tables_are_met() {
    let rows = format!("[{}]", vec![r#"{"a":"xx"}"#; 100].join(","));
    for json in [r#"[{"a":1},{"a":22}]"#, r#"[{K:1},{K:2}]"#, r#"[{K:1},{K:22}]"#, r#"[{"L":1},{"L":2}]"#, &rows] {
        let json = filled(json);
        for (ratio, after) in (2..6).flat_map(|ratio| (0..300).step_by(7).map(move |after| (ratio, after))) {
            let options = stc1().limits(Limits::default().ratio(ratio).ratio_after(after));
            let stc = whole(options, json.as_bytes()).expect("JSON");
            assert_eq!(Decoder::with_options(options).decode(&stc), Ok(json.as_bytes()), "{ratio}, {after}: {json}");
            let stc = pushed(options, json.as_bytes().chunks(16)).expect("JSON");
            assert_eq!(Decoder::with_options(options).decode(&stc), Ok(json.as_bytes()), "{ratio}, {after}: {json}");
        }
    }
}

#[test]
fn the_output_limit_is_met_to_the_byte() {
    for ones in [2048, 33_000] {
        let plain = format!("[{}1]", "1,".repeat(ones));
        let texts = [plain.clone(), plain.replacen(',', ", ", 1), plain.replace(",1]", ", 1]")];
        let length = whole(stc1(), plain.as_bytes()).expect("JSON").len() as u64;
        for most in length - 3..length + 3 {
            let options = stc1().limits(Limits::default().output(most));
            let expected = if length <= most { Ok(length) } else { Err(ErrorKind::Output) };
            for json in &texts {
                assert_eq!(whole(options, json.as_bytes()).map(|stc| stc.len() as u64), expected, "{most}");
            }
        }
    }
}

/// Requires that the decoder refuses a text, whole, with whitespace after it and byte by byte.
fn assert_not_decoded(stc: &str) {
    for text in [stc.to_owned(), format!("{stc}{}", " ".repeat(200))] {
        assert!(Decoder::new().decode(text.as_bytes()).is_err(), "{text}");
        let (mut decoder, mut out) = (Decoder::new(), Vec::new());
        let pushed = text.as_bytes().chunks(1).try_for_each(|byte| decoder.push(byte, &mut out));
        assert!(pushed.and_then(|()| decoder.finish(&mut out)).is_err(), "byte by byte: {text}");
    }
}

#[test]
fn what_is_not_stc_is_refused_at_every_edge() {
    for text in [
        // A line feed inside a row or a string.
        "[1]{a}:\n{b:1,\nc:2}\n",
        "[1]{a}:\n{b:{\nc:1},p:\"Z\"}\n",
        "[1]{a}:\n[\"x\ny\"]\n",
        "{1}{a}:\n\"x\ny\":1\n",
        // Rows without their own lines.
        "[2]{*,k=1}:\n{a:1},{a:2}\n",
        // Members that end too early or begin wrong.
        "{a: 1x, p: \"Z\"}",
        "[{a: +12, p: \"Z\"}]",
        "{\"k\": \"x\\,\"b\":1, p: \"Z\"}",
    ] {
        assert_not_decoded(&filled(text));
    }
}

#[test]
fn stc_at_the_edges_of_blocks_comes_back() {
    let key = "k".repeat(63);
    for (stc, json) in [
        ("[{\"k\":12 , p: \"Z\"}]".to_owned(), r#"[{"k":12,"p":"Z"}]"#.to_owned()),
        ("[{\"k\":12 },{p: \"Z\"}]".to_owned(), r#"[{"k":12},{"p":"Z"}]"#.to_owned()),
        (format!("{{\"{key}\": true, p: \"Z\"}}"), format!(r#"{{"{key}":true,"p":"Z"}}"#)),
        ("{a: 1 , p: \"Z\"}".to_owned(), r#"{"a":1,"p":"Z"}"#.to_owned()),
        (format!("{{\"{}\": \",b\", p: \"Z\"}}", &key[..60]), format!(r#"{{"{}":",b","p":"Z"}}"#, &key[..60])),
        ("{\",a\": 1, p: \"Z\"}".to_owned(), r#"{",a":1,"p":"Z"}"#.to_owned()),
        ("[1]{a{b},c}:\n&x[(1),(2)],*x\n".to_owned(), r#"[{"a":[{"b":1},{"b":2}],"c":[{"b":1},{"b":2}]}]"#.to_owned()),
    ] {
        let (stc, json) = (filled(&stc), filled(&json));
        assert_eq!(Decoder::new().decode(stc.as_bytes()), Ok(json.as_bytes()), "{stc}");
    }
}

/// Documents whose tables and shapes are found by the forms of what is inside.
#[test]
fn dense_forms_come_back() {
    let rows = |key: &str, count: usize| {
        let row = |at: usize| format!(r#"{{"{key}":{at},"state":"open","count":{}}}"#, at * 7);
        format!("[{}]", (0..count).map(row).collect::<Vec<_>>().join(","))
    };
    let table = rows("identifier", 8);
    let dense = format!(r#"{{"t":{table},"p":{{"rows":{table}}}}}"#);
    let named = |number: usize| format!(r#"{{"rows":{table},"n":{number}}}"#);
    let ordered = |at: usize| if at == 4 { r#"{"x":{"b":1,"a":2}}"# } else { r#"{"x":{"a":1,"b":2}}"# };
    let texts = [
        format!("[{}]", vec![format!("[{dense}]"); 4].join(",")),
        format!("[{}]", (0..4).map(|at| format!("[{}]", named(at))).collect::<Vec<_>>().join(",")),
        format!("[{}]", (0..10).map(ordered).collect::<Vec<_>>().join(",")),
    ];
    for json in texts {
        for format in Format::ALL {
            let stc = whole(Options::default().format(format), json.as_bytes()).expect("JSON");
            assert_eq!(Decoder::new().decode(&stc), Ok(json.as_bytes()), "{format}: {}", stc.escape_ascii());
        }
    }
}

#[test]
fn limits_of_the_decoder_are_met_to_the_byte() {
    let found = |stc: &str, after: u64| {
        let options = Options::default().limits(Limits::default().ratio(1).ratio_after(after));
        Decoder::with_options(options)
            .decode(stc.as_bytes())
            .map(<[u8]>::to_vec)
            .map_err(|error| (error.kind(), error.offset()))
    };
    assert_eq!(found("{a:\"yyyyyyyy\"}", 6), Err((ErrorKind::Ratio, 4)));
    assert_eq!(found("{a: \"yyyyyyyy\"}", 5), Err((ErrorKind::Ratio, 4)));
    let mut decoder = Decoder::with_options(Options::default().limits(Limits::default().header(3)));
    for _ in 0..2 {
        assert_eq!(decoder.decode(b"[@s{aa:1}]"), Ok(&br#"[{"aa":1}]"#[..]));
    }
    let options = Options::default().limits(Limits::default().ratio(2).ratio_after(0));
    let stc = whole(options, br#"[{"a":true,"b":true,"c":true}]"#).expect("JSON");
    assert_eq!(stc, b"[{a:true,b:true,c:true}]");
}
