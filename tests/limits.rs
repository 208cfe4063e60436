//! Every limit: a document exactly at the limit, and one that exceeds it by one, with the offset of the byte that does.

use crate::laws::stc1;
use crate::levels::Level;
use crate::random::rounds;
use stc::laws;
use stc::{Decoder, Encoder, Error, ErrorKind, Limits, Options};

fn encoded(json: &[u8], limits: Limits) -> Result<Vec<u8>, Error> {
    let options = stc1().limits(limits);
    let cuts: Vec<usize> = (0..json.len()).collect();
    laws::encode_in_chunks(json, &cuts, options);
    Encoder::with_options(options).encode(json).map(<[u8]>::to_vec)
}

fn decoded(stc: &[u8], limits: Limits) -> Result<Vec<u8>, Error> {
    let options = Options::default().limits(limits);
    let cuts: Vec<usize> = (0..stc.len()).collect();
    laws::decode_in_chunks(stc, &cuts, options);
    Decoder::with_options(options).decode(stc).map(<[u8]>::to_vec)
}

fn rejection<T: std::fmt::Debug>(result: Result<T, Error>) -> (ErrorKind, u64) {
    let error = result.expect_err("a limit is passed");
    assert!(error.kind().is_limit());
    (error.kind(), error.offset())
}

#[test]
fn depth() {
    let two = Limits::default().depth(2);
    for json in ["[[1]]", r#"{"a":{"b":1}}"#, r#"{"a":[1]}"#, r#"[{"a":1},{"a":2}]"#, "[[],{}]"] {
        let stc = encoded(json.as_bytes(), two).expect("within the limit");
        assert_eq!(decoded(&stc, two).as_deref(), Ok(json.as_bytes()));
    }
    let three = [
        ("[[[1]]]", 2),
        (r#"{"a":{"b":[1]}}"#, 10),
        (r#"{"a":[{"b":1},{"b":2}]}"#, 6),
        (r#"[[{"b":1},{"b":2}]]"#, 2),
        (r#"{"a":{"b":{}}}"#, 10),
    ];
    for (json, offset) in three {
        assert_eq!(rejection(encoded(json.as_bytes(), two)), (ErrorKind::Depth, offset), "{json}");
        assert_eq!(rejection(decoded(json.as_bytes(), two)), (ErrorKind::Depth, offset), "{json}");
    }
    // Each form counts as its JSON: a compact array is one container, a columnar value two.
    assert_eq!(rejection(decoded(b"{a: {b[1]: 1}}", two)), (ErrorKind::Depth, 6));
    assert_eq!(rejection(decoded(b"{a: [2]{b}: 1 / 2}", two)), (ErrorKind::Depth, 7));
    assert_eq!(rejection(encoded(b"[]", Limits::default().depth(0))), (ErrorKind::Depth, 0));
    assert!(encoded(b"1", Limits::default().depth(0)).is_ok());
}

/// A text of version 2, the depth of its JSON, and the offset of the error with one level less.
const DEEP: [(&str, usize, u64); 18] = [
    ("[1]{a?}:\n1\n", 2, 3),
    ("{1}{a}:\nk:1\n", 2, 3),
    ("[1]{a?}:\n[1]\n", 3, 9),
    ("[1]{a{b}}:\n(1)\n", 3, 11),
    ("[1]{a{b}}:\n[(1)]\n", 4, 12),
    ("[1]{a.{b}}:\n1\n", 3, 12),
    ("[1]{a.{b.{c},d},e}:\n1,2,3\n", 4, 20),
    ("[1]{a.{b.{c},d},e}:\n1,[2],3\n", 4, 20),
    ("[1]{a.{b.{c},d},e}:\n[1],2,3\n", 5, 20),
    ("[1]{a={b:[1]},c}:\n1\n", 4, 18),
    ("[1]{a?={b:[1]},c}:\n2,1\n", 4, 19),
    ("[1]{a{b=[1],c}}:\n(1)\n", 4, 17),
    ("[1]{a.{b=[1],c}}:\n1\n", 4, 18),
    ("[@a{k:1},[@a(1)]]", 3, 12),
    ("[&a[[1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0],2],[*a]]", 4, 70),
    ("[&a{k:[1]{n,u~\"${n}\",v}:\n1,[[2]]\n},[*a]]", 7, 36),
    ("[&a[[1]{n}:\n[2]\n],[*a]]", 6, 19),
    ("[&a[[1]{n?}:\n[2]\n],[[*a]]]", 7, 21),
];

#[test]
fn depth_of_version_2() {
    let filler = br#"1,"text",null,"#.repeat(400);
    for (stc, depth, offset) in DEEP {
        let after = [b"[", &filler[..], stc.as_bytes(), b"]"].concat();
        let before =
            [b"[", stc.trim_end().as_bytes(), if stc.ends_with('\n') { b"\n" } else { b"," }, &filler, b"0]"].concat();
        for (text, depth, offset) in [
            (stc.as_bytes(), depth, offset),
            (&after, depth + 1, offset + 1 + filler.len() as u64),
            (&before, depth + 1, offset + 1),
        ] {
            let limits = Limits::default().depth(depth);
            let decode = |limits| Decoder::with_options(Options::default().limits(limits)).decode(text).map(drop);
            assert_eq!(decode(limits), Ok(()), "{stc}");
            assert_eq!(rejection(decode(limits.depth(depth - 1))), (ErrorKind::Depth, offset), "{stc}");
        }
        decoded(stc.as_bytes(), Limits::default().depth(depth)).expect("within the limit");
    }
}

#[test]
fn depth_a_hundred_thousand() {
    let deep = [
        ["[".repeat(100_000), "]".repeat(100_000)].concat(),
        [r#"{"a":"#.repeat(100_000), "1".into(), "}".repeat(100_000)].concat(),
        [r#"[{"a":"#.repeat(50_000), "null".into(), "}]".repeat(50_000)].concat(),
    ];
    for json in deep {
        let options = stc1().limits(Limits::default().depth(200_000));
        laws::round_trip(json.as_bytes(), options).expect("within the raised limit");
        laws::encode_in_chunks(json.as_bytes(), &[1, 70_000, 200_000], options);
        assert_eq!(stc::encode(json.as_bytes()).map_err(|error| error.kind()), Err(ErrorKind::Depth));
        assert_eq!(stc::decode(json.as_bytes()).map_err(|error| error.kind()), Err(ErrorKind::Depth));
    }
}

#[test]
fn input() {
    let json = br#"{"a":[1,2]}"#;
    let exact = Limits::default().input(json.len() as u64);
    assert!(encoded(json, exact).is_ok());
    assert!(decoded(json, exact).is_ok());
    let short = Limits::default().input(json.len() as u64 - 1);
    assert_eq!(rejection(encoded(json, short)), (ErrorKind::Input, 10));
    assert_eq!(rejection(decoded(json, short)), (ErrorKind::Input, 10));
    // A syntax error before the limit is reported instead, whole or in chunks.
    let error = encoded(br#"{"a":x[1,2]}"#, short).expect_err("wrong");
    assert_eq!(error.offset(), 5);
    assert!(!error.kind().is_limit());
}

#[test]
fn output() {
    let json = br#"{"a":[1,2],"b":"text"}"#;
    let stc = encoded(json, Limits::default()).expect("valid");
    assert!(encoded(json, Limits::default().output(stc.len() as u64)).is_ok());
    let (kind, offset) = rejection(encoded(json, Limits::default().output(stc.len() as u64 - 1)));
    assert_eq!((kind, offset), (ErrorKind::Output, json.len() as u64));

    assert_eq!(decoded(&stc, Limits::default().output(json.len() as u64)).as_deref(), Ok(&json[..]));
    for limit in 0..json.len() as u64 {
        let (kind, offset) = rejection(decoded(&stc, Limits::default().output(limit)));
        assert_eq!(kind, ErrorKind::Output);
        assert!(offset <= stc.len() as u64);
    }
}

/// Rows, values and references that repeat, each far shorter than its JSON: `K` is a long text.
const SWELLING: [(&str, &str, &str); 12] = [
    ("[40]{K}: 1", " / 1", ""),
    ("[40]{K,b}:\n1,2\n", "1,2\n", ""),
    ("[40]{K{K{K=1}}}:\n(())\n", "(())\n", ""),
    ("[40]{a,K{K,c}}:\n1,(2,3)\n", "1,(2,3)\n", ""),
    ("[40]{a,K{K,c}}:\n1,[(2,3),(4,5)]\n", "1,[(2,3),(4,5)]\n", ""),
    ("[40]{a,K.{K,c=\"K\"},d}:\n1,2,3\n", "1,2,3\n", ""),
    ("[40]{a,K?=\"K\",d?}:\n1,,\n", "1,,\n", ""),
    ("[40]{a,K,d~\"${a}K\"}:\n1,2\n", "1,2\n", ""),
    ("{40}{K,b}:\nk:1,2\n", "l:1,2\n", ""),
    ("[@a{K:1,b:[]}", ",@a(1,2)", "]"),
    ("[&a{K:[1,2]}", ",*a", "]"),
    ("$a=\"K\"\n[1", ",$a\"b\"", "]"),
];

#[test]
fn output_of_every_form() {
    for (first, next, last) in SWELLING {
        // Only the keys of a keyed table must differ.
        let next = |row: usize| next.replacen('l', &format!("l{row}"), 1);
        let stc = [first, &(1..40).map(next).collect::<String>(), last].concat();
        for length in [1, 20, 40, 100, 300] {
            let stc = stc.replace('K', &"k".repeat(length));
            let json = decoded(stc.as_bytes(), Limits::default()).expect("it is STC");
            let most = json.len() as u64;
            let limit =
                |limits| Decoder::with_options(Options::default().limits(limits)).decode(stc.as_bytes()).map(drop);
            for less in 1..=most.min(2 * length as u64 + 200) {
                let least = limit(Limits::default().output(most - less));
                assert_eq!(rejection(least).0, ErrorKind::Output, "{stc} in {less} bytes less than {most}");
            }
            assert_eq!(limit(Limits::default().output(most)), Ok(()), "{stc}");
        }
    }
}

#[test]
fn ratio() {
    // Every row repeats the key of the header: each `1 / ` expands to the whole key.
    let key = "k".repeat(1000);
    let bomb = format!("[500]{{{key}}}: {}", vec!["1"; 500].join(" / "));
    let whole = decoded(bomb.as_bytes(), Limits::default()).expect("it fits the default").len() as u64;
    let strict = Limits::default().ratio_after(2000).ratio(100);
    let (kind, offset) = rejection(decoded(bomb.as_bytes(), strict));
    assert_eq!(kind, ErrorKind::Ratio);
    // 1,008 bytes of header allow 100,800 bytes of output. A row uses 1,005 of them; its own four bytes allow 400 more.
    assert_eq!(offset, 1669);
    assert!(decoded(bomb.as_bytes(), strict.ratio_after(whole)).is_ok());
    assert_eq!(rejection(decoded(bomb.as_bytes(), strict.ratio_after(whole - 1))).0, ErrorKind::Ratio);
    assert!(decoded(bomb.as_bytes(), strict.ratio(1000)).is_ok());
    // A ratio of 0 allows only the free bytes, also for bytes that are copied.
    assert_eq!(rejection(decoded(b"123456", Limits::default().ratio_after(3).ratio(0))), (ErrorKind::Ratio, 3));
    assert_eq!(decoded(b"123456", Limits::default().ratio_after(3).ratio(1)).as_deref(), Ok(&b"123456"[..]));
}

#[test]
fn columns() {
    let row = |width: usize| {
        let members: Vec<String> = (0..width).map(|column| format!("\"k{column}\":{column}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let table = |width| format!("[{},{}]", row(width), row(width));
    let ten = Limits::default().columns(10);
    let stc = encoded(table(10).as_bytes(), ten).expect("valid");
    assert!(stc.starts_with(b"[2]{k0,"));
    assert!(decoded(&stc, ten).is_ok());
    assert_eq!(rejection(decoded(&stc, ten.columns(9))), (ErrorKind::Columns, stc.len() as u64 - 46));
    // An encoder does not reject wide rows; it writes them plain.
    assert!(encoded(table(11).as_bytes(), ten).expect("valid").starts_with(b"[{k0: 0"));
}

#[test]
fn header() {
    let json = br#"[{"ab":1,"c-d":2},{"ab":3,"c-d":4}]"#;
    // `ab` and `"c-d"` are 7 bytes.
    let seven = Limits::default().header(7);
    let stc = encoded(json, seven).expect("valid");
    assert_eq!(stc, br#"[2]{ab,"c-d"}: 1,2 / 3,4"#);
    assert!(decoded(&stc, seven).is_ok());
    assert_eq!(rejection(decoded(&stc, seven.header(6))), (ErrorKind::Header, 11));
    assert!(encoded(json, seven.header(6)).expect("valid").starts_with(b"[{ab: 1"));
    // The same, whole or byte by byte, where rows arrive before the table is complete.
    let rows = vec![r#"{"ab":1,"c-d":2}"#; 100].join(",");
    for (limits, start) in [(seven, &br#"[100]{ab,"c-d"}: "#[..]), (seven.header(6), b"[{ab: 1")] {
        let stc = encoded(format!("[{rows}]").as_bytes(), limits).expect("valid");
        assert!(stc.starts_with(start));
    }
}

#[test]
fn anchors() {
    let (text, numbers) = ("text ".repeat(40), "1,22,333,".repeat(30));
    for table in ["r:[3]{x,y?}:\n1,2\n3,\n4,5\n", "r:[2]{x,y~\"and ${x}\"}:\n1\n2\n"] {
        let stc = format!("[&a{{t:\"{text}\",k:[{numbers}4],{table}}},*a,&b[\"{text}\"],*b,&c[{table}],*c]");
        let stc = stc.replace("[r:[", "[[");
        let json = decoded(stc.as_bytes(), Limits::default()).expect("it is STC");
        // Each value appears twice, with two brackets and five commas.
        let all = (json.len() - 7) / 2;
        for limit in 0..all {
            let (kind, offset) = rejection(decoded(stc.as_bytes(), Limits::default().anchors(limit)));
            assert_eq!(kind, ErrorKind::Anchors, "{limit}");
            assert!(offset >= limit as u64 / 2);
        }
        assert_eq!(decoded(stc.as_bytes(), Limits::default().anchors(all)), Ok(json));
    }
}

#[test]
fn a_count_without_rows_takes_no_memory() {
    for stc in ["[9999999999999999999]{a}: 1", "{a[9999999999999999999]: 1}", "[9999999999999999999]{a}: "] {
        let error = stc::decode(stc.as_bytes()).expect_err("lying");
        assert!(!error.kind().is_limit(), "{error}");
    }
}

#[test]
fn the_bomb_of_the_specification_stops_at_the_ratio() {
    let bomb = format!("[60000]{{{}}}: {}", "k".repeat(60_000), vec!["1"; 60_000].join(" / "));
    assert_eq!(stc::decode(bomb.as_bytes()).map_err(|error| error.kind()), Err(ErrorKind::Ratio));
}

#[test]
fn an_encoder_writes_nothing_that_expands_too_far() {
    // Rows of long keys and short values: as a table they would expand beyond the ratio of a decoder with the same limits.
    let row = format!("{{\"{}\":1}}", "k".repeat(500));
    let json =
        format!("{{\"a\":[{0}],\"b\":[{0}],\"c\":[{1}]}}", vec![row.as_str(); 100].join(","), r#"{"x":1},{"x":2}"#);
    // A table of a ratio of 56.
    for (ratio, columnar) in [(4, false), (20, false), (55, false), (60, true), (100, true)] {
        for free in [0, 3000, 60_000, 1 << 20] {
            let options = stc1().limits(Limits::default().ratio_after(free).ratio(ratio));
            let stc = laws::round_trip(json.as_bytes(), options).expect("valid");
            laws::encode_in_chunks(json.as_bytes(), &[1000, 20_000, 60_000], options);
            assert_eq!(stc.starts_with(b"{a: [100]{"), columnar, "{free} {ratio}");
            assert!(stc.ends_with(b"[2]{x}: 1 / 2}"));
        }
    }
    // Within the ratio at the end, but beyond it on the way.
    let long = row.replace('1', &format!("\"{}\"", "v".repeat(3000)));
    let json = format!("[{}]", [vec![row; 50], vec![long; 50]].concat().join(","));
    for (ratio, start) in [(4, "[{k"), (100, "[100]{k")] {
        let options = stc1().limits(Limits::default().ratio_after(0).ratio(ratio));
        assert!(laws::round_trip(json.as_bytes(), options).expect("valid").starts_with(start.as_bytes()));
        laws::encode_in_chunks(json.as_bytes(), &[1000, 20_000, 60_000], options);
    }
}

#[test]
fn an_encoder_stops_storing_at_its_output_limit() {
    // Minified input, and input with whitespace.
    for row in ["[1,2,3],", "[1, 2, 3], "] {
        let json = format!("[{}1]", row.repeat(1_000_000));
        let used = allocation_counter::measure(|| {
            let options = stc1().limits(Limits::default().output(1000));
            let (kind, offset) = rejection(Encoder::with_options(options).encode(json.as_bytes()));
            assert_eq!((kind, offset), (ErrorKind::Output, json.len() as u64));
        });
        assert!(used.bytes_max < 1 << 20, "{used:?}");
    }
}

#[test]
fn every_default_is_met_and_exceeded_by_one() {
    let arrays = |levels: usize| ["[".repeat(levels), "]".repeat(levels)].concat();
    let objects = |levels: usize| [r#"{"a":"#.repeat(levels), "1".into(), "}".repeat(levels)].concat();
    for json in [arrays(512), objects(512)] {
        let stc = stc::encode(json.as_bytes()).expect("512 levels");
        assert_eq!(stc::decode(&stc).as_deref(), Ok(json.as_bytes()));
    }
    for (json, offset) in [(arrays(513), 512), (objects(513), 5 * 512)] {
        assert_eq!(rejection(stc::encode(json.as_bytes())), (ErrorKind::Depth, offset));
        assert_eq!(rejection(stc::decode(json.as_bytes())), (ErrorKind::Depth, offset));
    }

    let table = |keys: &[String]| {
        let cells = vec!["1"; keys.len()].join(",");
        format!("[2]{{{}}}: {cells} / {cells}", keys.join(",")).into_bytes()
    };
    let keys: Vec<String> = (0..4097).map(|column| format!("k{column}")).collect();
    assert!(stc::decode(&table(&keys[..4096])).is_ok());
    assert_eq!(rejection(stc::decode(&table(&keys))).0, ErrorKind::Columns);

    let key = |length: usize| ["k".repeat(length)];
    assert!(stc::decode(&table(&key(256 << 10))).is_ok());
    assert_eq!(rejection(stc::decode(&table(&key((256 << 10) + 1)))), (ErrorKind::Header, 4 + (256 << 10)));

    if rounds(2) < 2 {
        return;
    }
    // 256 MiB are accepted; one byte more is not.
    let (mut encoder, mut decoder, mut out) = (Encoder::new(), Decoder::new(), Vec::new());
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..255 {
        encoder.push(&spaces, &mut out).expect("within");
        decoder.push(&spaces, &mut out).expect("within");
    }
    encoder.push(&spaces[1..], &mut out).expect("within");
    encoder.push(b"1", &mut out).expect("the last within");
    assert_eq!(rejection(encoder.push(b" ", &mut out)), (ErrorKind::Input, 256 << 20));
    decoder.push(&spaces[1..], &mut out).expect("within");
    decoder.push(b"1", &mut out).expect("the last within");
    assert_eq!(rejection(decoder.push(b" ", &mut out)), (ErrorKind::Input, 256 << 20));
    assert_eq!(out, b"1");
}

#[test]
fn the_default_output_is_met_and_exceeded_by_one() {
    if rounds(2) < 2 {
        return;
    }
    // `{"k…":1},` of 256 KiB, and 11 MiB of spaces, which allow more than a gibibyte by the ratio.
    let (row, rows) = (256 << 10, 4095);
    let table = format!("[{rows}]{{{}}}: {}", "k".repeat(row - 7), vec!["1"; rows].join(" / "));
    let decoded = |filler: usize| {
        let stc = format!("[{}\"{}\",{table}]", " ".repeat(11 << 20), "x".repeat(filler));
        let mut reader = stc::io::DecodeReader::new(stc.as_bytes());
        std::io::copy(&mut reader, &mut std::io::sink())
            .map_err(|error| error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).map(Error::kind))
    };
    // The rest is `["`, `",[` and `]]`; the last row has no comma.
    let rest = (1 << 30) - (rows * row - 1) - 7;
    assert_eq!(decoded(rest), Ok(1 << 30));
    assert_eq!(decoded(rest + 1), Err(Some(ErrorKind::Output)));
}

#[test]
fn the_first_of_two_errors_is_reported_for_every_cut() {
    // A key of a shape that exceeds the limit and has a syntax error a few bytes later.
    for header in 0..17 {
        let (kind, offset) = rejection(decoded(b"@s{\"prouct0.: [jsonr\n", Limits::default().header(header)));
        assert_eq!((kind, offset), (ErrorKind::Header, 3 + header as u64));
    }
    // An anchored value beyond the free bytes: each byte allows its own copy.
    let anchored = br#"&a[[{b:{"00:060000:060000000000:060000:06":1}}]]"#;
    for free in 0..50 {
        let limits = Limits::default().ratio(1).ratio_after(free);
        let expected = br#"[[{"b":{"00:060000:060000000000:060000:06":1}}]]"#;
        assert_eq!(decoded(anchored, limits).as_deref(), Ok(&expected[..]), "{free} free");
    }
}

/// Encodes a document as version 2, and asserts that chunks and whitespace do not change the result.
fn encoded_v2(json: &str, level: Level) -> Vec<u8> {
    let options = level.options();
    let whole = Encoder::with_options(options).encode(json.as_bytes()).expect("it is JSON").to_vec();
    let mut chunks = Vec::new();
    let mut encoder = Encoder::with_options(options);
    for chunk in json.as_bytes().chunks(50_000) {
        encoder.push(chunk, &mut chunks).expect("it is JSON");
    }
    encoder.finish(&mut chunks).expect("it is JSON");
    assert!(chunks == whole, "another result in chunks");
    let spaced = json.replace(',', ", ");
    let spaced = Encoder::with_options(options).encode(spaced.as_bytes()).expect("it is JSON").to_vec();
    assert!(spaced == whole, "another result with whitespace");
    assert!(Decoder::new().decode(&whole).expect("it is STC") == json.as_bytes());
    whole
}

#[test]
fn very_many_short_tokens_are_not_planned() {
    let row = |number| format!(r#"{{"number":{number},"text":"https://an.example/of/{number}"}}"#);
    // As many rows as it takes to save a token of 512 of all the zeros.
    let table = format!("[{}]", (0..1000).map(row).collect::<Vec<_>>().join(","));
    let after = |zeros: usize| format!("[{}{table}]", "0,".repeat(zeros));
    // The tokens of the table, its brackets, and the end.
    let others = 2 + 1000 * 6 + 2 + 1;
    let most = (1 << 20) - others;
    for (zeros, planned) in [(most, true), (most + 1, false), (most + 100_000, false)] {
        let json = after(zeros);
        assert_eq!(encoded_v2(&json, Level::NoReferences).len() < json.len(), planned, "{zeros}");
    }
    // Short tokens after long ones.
    let json = format!("[{table},{}0]", format!("\"{}\",", "x".repeat(20)).repeat(200_000) + &"0,".repeat(1 << 20));
    assert!(encoded_v2(&json, Level::NoReferences).len() < json.len());
    let most = (1 << 19) - others;
    for (zeros, referred) in [(most, true), (most + 1, false)] {
        let json = after(zeros);
        let plain = encoded_v2(&json, Level::NoReferences);
        assert_eq!(encoded_v2(&json, Level::Whole) != plain, referred, "{zeros}");
    }
}

#[test]
fn very_deep_documents_are_not_planned() {
    let row = |number| format!(r#"{{"number":{number},"text":"word"}}"#);
    let table = format!("[{}]", (0..100).map(row).collect::<Vec<_>>().join(","));
    let limits = Limits::default().depth(usize::MAX);
    for (depth, planned) in [(1 << 16, true), ((1 << 16) + 1, false)] {
        let around = depth - 2;
        let json = ["[".repeat(around), table.clone(), "]".repeat(around)].concat();
        let options = Level::NoReferences.options().limits(limits);
        let stc = Encoder::with_options(options).encode(json.as_bytes()).expect("it is JSON").to_vec();
        assert_eq!(stc.len() < json.len(), planned, "{depth}");
        let explained = Encoder::with_options(options).explain(json.as_bytes()).expect("it is JSON");
        assert_eq!((explained.plain, explained.arrays.is_empty()), (!planned, !planned));
        assert_eq!((explained.json.bytes, explained.stc.bytes), (json.len() as u64, stc.len() as u64));
        assert!(Decoder::with_options(options).decode(&stc).expect("it is STC") == json.as_bytes());
    }
}

/// Asserts that a decoder accepts what an encoder of version 2 with the same limits writes.
fn assert_round_trip(json: &str, limits: Limits) {
    for level in Level::PLANNED {
        let options = level.options().limits(limits);
        let mut encoder = Encoder::with_options(options);
        let stc = encoder.encode(json.as_bytes()).expect("JSON within the limits");
        assert_eq!(Decoder::with_options(options).decode(stc), Ok(json.as_bytes()), "{limits:?}");
    }
}

#[test]
fn the_depth_of_a_default_counts_wherever_its_list_is() {
    let text = r#"[[["some long text that is worth a default"]]]"#;
    let rows = (0..8).map(|id| format!(r#"{{"id":{id},"u":{{"p":{text},"q":{id}}}}}"#));
    let others = (0..4).map(|id| format!(r#"{{"id":{id},"u":[{{"p":{id},"q":{id}}},{{"p":7,"q":8}}]}}"#));
    let json = format!("[{}]", rows.chain(others).collect::<Vec<_>>().join(","));
    for depth in 6..30 {
        assert_round_trip(&json, Limits::default().depth(depth));
    }
}

#[test]
fn plain_text_does_not_use_the_free_bytes() {
    let same = r#"{"r0":{},"r1":{},"r2":{},"r3":{},"r4":{}}"#;
    let json = format!(r#"{{"x":{same},"y":[[0,2],{same},true],"z":{{"a":1,"b":[1,2,3],"c":"and so on"}}}}"#);
    for (ratio, free) in [1, 2, 3, 10].into_iter().flat_map(|ratio| (0..200).map(move |free| (ratio, free))) {
        assert_round_trip(&json, Limits::default().ratio(ratio).ratio_after(free));
    }
}

#[test]
fn all_free_bytes_can_be_used() {
    let rows = (0..9).map(|id| format!(r#"{{"id":{id},"state":"open","note":"the same everywhere"}}"#));
    let json = format!("[{}]", rows.collect::<Vec<_>>().join(","));
    for ratio in [0, 1] {
        let options = Level::NoReferences.options();
        let limits = Limits::default().ratio(ratio).ratio_after(json.len() as u64);
        let table = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
        assert!(table.len() < json.len() / 2);
        assert_eq!(Encoder::with_options(options.limits(limits)).encode(json.as_bytes()), Ok(&table[..]));
        assert_round_trip(&json, limits);
    }
}

#[test]
fn limits_can_be_the_largest_numbers() {
    let most = Limits::default().depth(usize::MAX).columns(usize::MAX).header(usize::MAX).row(usize::MAX);
    let most = most.anchors(usize::MAX).ratio(u64::MAX).ratio_after(u64::MAX).input(u64::MAX).output(u64::MAX);
    let table = r#"[{"number":1,"text":"one/1"},{"number":2,"text":"one/2"},{"number":3,"text":"one/3"}]"#;
    assert_round_trip(&format!("[1,{table},2,{table}]"), most);
}
