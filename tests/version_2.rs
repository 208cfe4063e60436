//! Version 2 as a whole, on documents made one step at a time: what is taken, what a stream and a used encoder make of it, and that
//! every text comes back under every limit on expansion.

use stc::internal::{Kernel, encoder};
use stc::{Decoder, Encoder, Format, Limits, Options, laws};

use crate::levels::Level;
use crate::texts::array;
use crate::verdict::is_json;

fn new_encoder(level: Level) -> Encoder {
    Encoder::with_options(level.options())
}

/// Pushes a document in chunks of `size` bytes.
fn pushed(encoder: &mut Encoder, json: &[u8], size: usize) -> Result<Vec<u8>, stc::Error> {
    let mut out = Vec::new();
    json.chunks(size).try_for_each(|chunk| encoder.push(chunk, &mut out)).and_then(|()| encoder.finish(&mut out))?;
    Ok(out)
}

/// Each text of up to four tokens, alone and inside other values, with and without whitespace.
#[test]
fn exactly_what_is_json_is_taken() {
    const PARTS: [&str; 8] = ["{", "}", "[", "]", ",", ":", "\"abcdefgh\"", "12345678"];
    const AROUND: [(&str, &str); 3] = [("", ""), ("[1,", ",2]"), ("{\"k\":", "}")];
    let mut encoders = [Level::Json, Level::Labelled].map(new_encoder);
    let (mut taken, mut refused) = (0, 0);
    for number in 0..PARTS.len().pow(4) {
        let parts = (0..4).map(|place| PARTS[number / PARTS.len().pow(place) % PARTS.len()]).collect::<Vec<_>>();
        // Fewer parts come with the others.
        for length in if number < PARTS.len().pow(3) { 1..5 } else { 4..5 } {
            let text = parts[..length].concat();
            for (before, after) in AROUND {
                let json = format!("{before}{text}{after}");
                let expected = is_json(json.as_bytes());
                for encoder in &mut encoders {
                    assert_eq!(encoder.encode(json.as_bytes()).is_ok(), expected, "{json}");
                }
                let spaced = format!("{before} {text} {after}");
                assert_eq!(encoders[1].encode(spaced.as_bytes()).is_ok(), expected, "{spaced}");
                (taken, refused) = if expected { (taken + 1, refused) } else { (taken, refused + 1) };
            }
        }
    }
    assert!(taken > 100 && refused > 10_000, "{taken} taken, {refused} refused");
}

/// A wrong scalar at every place of a block, in a text with whitespace: in the last block nothing after it shows it.
#[test]
fn a_wrong_scalar_is_refused_wherever_it_is() {
    let wrong: [&[u8]; 9] =
        [b"01", b"\"\x01\"", b"\"\xff\"", b"\"\xc3\"", b"\"\\q\"", b"\"\\u00g0\"", b"1.", b"tru", b"1 2"];
    for scalar in wrong {
        for place in 0..70 {
            let filler = "7".repeat(place % 9 + 1) + &",7".repeat(place / 2);
            let json = [b"[ ", filler.as_bytes(), b",", scalar, b" ]"].concat();
            let expected = Encoder::with_options(Options::default().format(Format::Stc1)).encode(&json).err();
            assert!(expected.is_some() && !is_json(&json), "{}", json.escape_ascii());
            for level in Level::ALL {
                let mut encoder = new_encoder(level);
                assert_eq!(encoder.encode(&json).err(), expected, "{level} {}", json.escape_ascii());
                for size in [1, 64] {
                    assert_eq!(pushed(&mut encoder, &json, size).err(), expected, "{level} {}", json.escape_ascii());
                }
            }
        }
    }
}

/// Numbers are linked a block at a time.
#[test]
fn values_after_many_numbers_come_back() {
    for kernel in Kernel::available() {
        for level in Level::ALL {
            let mut encoder = encoder(level.options(), kernel);
            for count in [0, 3, 4, 5, 30, 31, 32, 33, 63, 64, 65, 100, 200] {
                let numbers = "10,".repeat(count);
                for end in ["1", "{\"a\":1}", "[2,{\"b\":3}]", "\"x\"", "[]"] {
                    let json = format!("{{\"x\":[{numbers}{end}],\"y\":[[{numbers}{end},7],8]}}");
                    let stc = encoder.encode(json.as_bytes()).expect(&json);
                    assert_eq!(stc::decode(stc).as_deref(), Ok(json.as_bytes()), "{kernel:?} {level}");
                }
            }
        }
    }
}

/// What would be wrong between tokens is good in a string, whatever the chunk ends with.
#[test]
fn a_string_may_end_a_chunk_with_anything() {
    for level in [Level::Json, Level::Labelled] {
        let (mut whole, mut stream) = (new_encoder(level), new_encoder(level));
        for place in 0..130 {
            let json = format!("[\"{},,,::]}}{{1[[\\\",\",{{\"{},,\":1}}]", "x".repeat(place), "]".repeat(place % 67));
            let expected = whole.encode(json.as_bytes()).expect("JSON");
            for size in [1, 63, 64, 65] {
                assert_eq!(pushed(&mut stream, json.as_bytes(), size).as_deref(), Ok(expected), "{json}");
            }
        }
    }
}

/// Whatever an encoder has begun, another document is written as by a new one.
#[test]
fn nothing_of_a_document_stays_when_another_begins() {
    let table = array(5, |n| format!(r#"{{"id":{n},"name":"n{n}","ok":true}}"#));
    let filler = " ".repeat(64);
    let begun = [
        "[1,".to_owned() + &filler,
        format!("[[{filler}"),
        format!("{{\"a\"{filler}"),
        format!("{{\"a\":{filler}"),
        format!("{table}{filler}"),
        format!("[1 2{filler}"),
        format!("7{filler}"),
    ];
    let documents =
        ["{\"a\":1}", "[]", "7", &table, &format!("{{\"a\": [1, 2],{filler}\"rows\":{table}}}")].map(str::to_owned);
    for level in Level::ALL {
        for begun in &begun {
            for json in &documents {
                let expected = new_encoder(level).encode(json.as_bytes()).expect("JSON").to_vec();
                for clears in [false, true] {
                    let (mut used, mut out) = (new_encoder(level), Vec::new());
                    let is_wrong = used.push(begun.as_bytes(), &mut out).is_err();
                    if clears {
                        used.clear();
                    }
                    if clears || is_wrong {
                        assert_eq!(pushed(&mut used, json.as_bytes(), 1000).as_ref(), Ok(&expected), "{begun} {json}");
                    }
                    assert_eq!(used.encode(json.as_bytes()), Ok(&*expected), "{begun} {json}");
                    assert_eq!(used.minified().is_some(), json.contains(' '), "{json}");
                }
            }
        }
    }
}

/// Returns documents of every form.
fn documents() -> Vec<String> {
    let mut documents = Vec::new();
    for (_, family) in crate::thresholds::FAMILIES {
        for (count, length) in [(2, 30), (3, 4), (5, 12), (8, 40)] {
            documents.push(family(count, length));
        }
    }
    for count in [3, 6, 9] {
        // Objects that disagree, a default that is a list of objects, and objects beside other values.
        documents.push(array(count, |n| {
            let x = [r#"{"a":1,"b":2}"#, r#"{"b":1,"zz":5,"a":2}"#, r#"{"a":3}"#][n % 3];
            format!(r#"{{"id":{n},"x":{x},"y":true}}"#)
        }));
        documents.push(array(count, |n| {
            let x = if n % 4 == 3 { n.to_string() } else { r#"[{"k":1,"l":"a text"},[{"k":2,"l":"b"}]]"#.to_owned() };
            format!(r#"{{"id":{n},"x":{x},"y":[{{"k":{n},"l":"c"}}]}}"#)
        }));
        documents.push(array(count, |n| {
            let x = if n % 3 == 2 { "7".to_owned() } else { r#"{"first":1,"second":{"third":null}}"#.to_owned() };
            format!(
                r#"{{"id":{n},"x":{x},"y":{{"first":{n},"second":{{"third":{n}}}}},"z":{{"first":1,"second":[2]}}}}"#
            )
        }));
        documents.push(array(count, |n| {
            format!(r#"[{{"first":{n},"second":[{{"third":{n}}}]}},{{"first":2,"second":{n}}}]"#)
        }));
    }
    documents.push(kept_splices());
    documents
}

/// Returns rows with objects that repeat and are spliced all the same, and before and after them objects of one shape and addresses.
fn kept_splices() -> String {
    let rows = array(60, |row| {
        let n = if row < 8 { row / 2 } else { row };
        format!(r#"{{"id":{row},"of":{{"x":"some words of text {}","y":{}}}}}"#, 100 + n, 100 + n)
    });
    let others = array(6, |n| {
        format!(r#"[{{"first_key":{n},"second_key":"https://example.org/some/thing/{n}","third":[{{}}]}}]"#)
    });
    format!(
        r#"{{"before":{others},"rows":{rows},"after":{others},"more":[1,{{"first_key":1,"second_key":2,"third":3}}]}}"#
    )
}

/// Returns documents with this one inside other values: objects that have the same keys, plain objects, arrays and rows.
fn inside(json: &str, number: usize) -> [String; 6] {
    let text = "https://example.org/a/text/that/comes/more/than/once";
    [
        array(4, |n| format!(r#"[{{"t":{{"rows":{json}}},"u":{{"rows":{json}}},"n":{n}}}]"#)),
        array(4, |n| format!(r#"[{{"t":{{"rows":{json}}},"n":{n}}}]"#)),
        format!(r#"{{"a":{json},"o":{{"b":[],"c":null}},"rows":{json},"s":["{text}",[{json}]],"z":true}}"#),
        array(6, |n| {
            format!(r#"{{"id":{n},"x":{},"u":"{text}/{n}"}}"#, if n % 3 == number % 3 { "[{}]" } else { json })
        }),
        format!(
            r#"{{"k":{{"id":1,"of":{{"x":1,"y":{json}}}}},"l":{{"id":2,"of":{{"x":2,"y":{json}}}}},"m":{{"id":3}}}}"#
        ),
        format!(
            r#"[{{"p":1,"q":{json}}},[{{"p":2,"q":[{json},{{"p":3,"q":null}}]}},{{"p":4,"q":[{json}]}}],"{text}"]"#
        ),
    ]
}

/// The text of every form, alone and inside other values: it comes back, is what an explanation measures, and does not depend on what
/// the buffer had before.
#[test]
fn every_form_comes_back_and_is_explained_wherever_it_is() {
    for level in Level::PLANNED {
        let options = level.options();
        let (mut encoder, mut decoder, mut out) = (new_encoder(level), Decoder::new(), Vec::new());
        for (number, document) in documents().iter().enumerate() {
            for json in [document.clone()].into_iter().chain(inside(document, number)) {
                let stc = encoder.encode(json.as_bytes()).expect("JSON").to_vec();
                assert_eq!(decoder.decode(&stc), Ok(json.as_bytes()), "{level} {}", stc.escape_ascii());
                assert!(stc == json.as_bytes() || stc.len() < json.len(), "{level} {json}");
                let explanation = encoder.explain(json.as_bytes()).expect("JSON");
                let found = (explanation.plain, explanation.stc.bytes, explanation.stc.tokens);
                let tokens = stc::estimate_tokens(&stc);
                assert_eq!(found, (stc == json.as_bytes(), stc.len() as u64, tokens), "{level} {json}");
                // A name is used, or it would not be given.
                assert!(explanation.shapes.iter().chain(&explanation.anchors).all(|named| named.uses > 0), "{json}");
                assert!(explanation.plain || explanation.dictionary.iter().all(|entry| entry.uses > 2), "{json}");
                out.clear();
                out.resize(json.len() + number % 3 * 5000, b' ');
                let before = out.len();
                Encoder::with_options(options).encode_into(json.as_bytes(), &mut out).expect("JSON");
                assert_eq!(&out[before..], stc, "{level} {json}");
            }
        }
    }
}

/// With less expansion than a text needs, an encoder writes another text, which a decoder with the same limits accepts.
#[test]
fn every_form_expands_within_the_limits() {
    for level in Level::PLANNED {
        for (number, document) in documents().iter().enumerate() {
            let json = format!(r#"{{"a":{document},"b":"{}"}}"#, "some more text ".repeat(document.len() / 60));
            let bytes = json.len() as u64;
            for ratio in 1..5 {
                let few = [0, 1, bytes / 4, bytes / 2, bytes - bytes / 8, bytes - 1, bytes];
                for free in few {
                    let limits = Limits::default().ratio(ratio).ratio_after(free);
                    let options = level.options().limits(limits);
                    // After other bytes, which are no part of the text.
                    let before = (ratio as usize + number) % 2 * json.len();
                    let mut out = vec![b' '; before];
                    Encoder::with_options(options).encode_into(json.as_bytes(), &mut out).expect("JSON");
                    let back = Decoder::with_options(options).decode(&out[before..]).map(<[u8]>::to_vec);
                    assert_eq!(back.as_deref(), Ok(json.as_bytes()), "{level} {limits:?} {}", out.escape_ascii());
                }
            }
        }
    }
}

/// A table is written exactly where each row, or all up to the free bytes, is within the ratio of what comes before it.
#[test]
fn a_table_is_written_exactly_where_its_rows_may_expand() {
    let row = |n: usize| format!(r#"{{"number":{n},"state":"open","a rather long key":{}}}"#, n * n);
    let keyed = |count: usize| (0..count).map(|n| format!(r#""key{n}":{}"#, row(n))).collect::<Vec<_>>().join(",");
    let documents = (2..8).flat_map(|rows| {
        let (table, keyed) = (array(rows, row), format!("{{{}}}", keyed(rows)));
        // With a text after it, more bytes may be free than the table has.
        let with_text = |table: &str| format!(r#"{{"t":{table},"z":"{}"}}"#, "a text ".repeat(100));
        [(rows, with_text(&table), 5), (rows, with_text(&keyed), 7), (rows, table, 1), (rows, keyed, 1)]
    });
    for (rows, json, step) in documents {
        let table = new_encoder(Level::NoReferences).encode(json.as_bytes()).expect("JSON").to_vec();
        assert!(table.len() < json.len());
        // The end of each row in the JSON, and its start in the table.
        let ends: Vec<usize> = json.match_indices('}').map(|(at, _)| at + 1).take(rows).collect();
        let starts: Vec<usize> =
            table.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at + 1).collect();
        for free in (0..=json.len()).step_by(step).chain([json.len()]) {
            for ratio in [1, 2, 3, 4, 5, 6, 7] {
                let by_ratio = |json: usize, stc: usize| json <= ratio * stc;
                // Of the free bytes the text that follows uses no more than two for each of its own.
                let may = |(end, start): (&usize, &usize)| {
                    by_ratio(*end, *start) || *end <= free && by_ratio(free, start + (free - end) / 2)
                };
                let fits = free >= json.len() || ratio >= 2 && ends.iter().zip(&starts).all(may);
                let limits = Limits::default().ratio(ratio as u64).ratio_after(free as u64);
                let options = Level::NoReferences.options().limits(limits);
                let found = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
                let expected = if fits { &*table } else { json.as_bytes() };
                assert_eq!(found, expected, "{free} free bytes, then {ratio} to one");
            }
        }
    }
}

/// Keys of up to 32 bytes, and values of up to 64 and 128, are copied as blocks, where as much text follows and there is room.
#[test]
fn members_about_as_long_as_a_block_come_back() {
    let rest = format!(r#""a":null,"b":null,"c":true,"d":false,"e":null,"z":"{} ""#, "z".repeat(170));
    let lengths = (0..3).chain(29..35).chain(61..67).chain(125..131).chain([200]);
    for level in [Level::Labelled, Level::NoReferences] {
        let (mut encoder, mut decoder) = (new_encoder(level), Decoder::new());
        for key in (1..4).chain(28..36) {
            for value in lengths.clone() {
                let (key, value) = ("k".repeat(key), "0123456789".repeat(20)[..value].to_owned());
                for value in [format!("\"{value}\""), format!("\"{value}-\""), format!("1{value}")] {
                    let json = format!("{{\"_{key}\":{value},\"{key}\":{value},\"{key}-\":{value},{rest}}}");
                    let stc = encoder.encode(json.as_bytes()).expect("JSON");
                    assert!(stc.len() < json.len());
                    assert_eq!(decoder.decode(stc), Ok(json.as_bytes()), "{level} {}", stc.escape_ascii());
                }
            }
        }
    }
}

/// The room of a buffer is made in steps of some thousand bytes: members begin at every distance from the end of it.
#[test]
fn members_come_back_wherever_the_room_ends() {
    for first in 0..24 {
        let members: Vec<String> =
            (0..420).map(|n| format!(r#""k{:03}":{}"#, n, ["null", "true", "12", "\"x\""][n % 4])).collect();
        let json = format!("{{\"f\":\"{}\",{}}}", "f".repeat(first), members.join(","));
        let mut out = Vec::new();
        new_encoder(Level::Labelled).encode_into(json.as_bytes(), &mut out).expect("JSON");
        assert!(out.len() < json.len());
        assert_eq!(stc::decode(&out).as_deref(), Ok(json.as_bytes()));
    }
}

/// Where a key has as many tokens as bytes and rows have many empty cells, a table saves tokens and no bytes.
#[test]
fn a_text_is_shorter_than_json_or_is_json() {
    let (mut tables, mut others) = (0, 0);
    for (length, rare) in (8..11).flat_map(|length| (2 * length + 4..2 * length + 8).map(move |rare| (length, rare))) {
        let key = "-a".repeat(length);
        // The keys that only one row has.
        let rare: String = (0..rare).map(|n| format!(",\"r{n}\":1")).collect();
        for rows in 8..40 {
            let json = array(rows, |n| format!("{{\"{key}\":{n}{}}}", if n == 1 { &rare } else { "" }));
            for level in [Level::NoReferences, Level::Whole] {
                let options = level.options();
                let stc = laws::round_trip(json.as_bytes(), options).expect("JSON");
                assert!(stc == json.as_bytes() || stc.len() < json.len(), "{level} {json}");
                (tables, others) = if stc[..3] == *b"[{\"" { (tables, others + 1) } else { (tables + 1, others) };
            }
        }
    }
    assert!(tables > 100 && others > 100, "{tables} tables, {others} others");
}

/// What a level's plan must not be is what the next lower one, or minified JSON, is.
#[test]
fn without_room_to_expand_a_text_is_that_of_a_lower_level() {
    let copy = r#"{"one":"alpha beta","two":["gamma delta",12345678,"epsilon zeta eta"]}"#;
    let rows = array(40, |n| format!(r#"{{"id":{n},"name":"a name {n}"}}"#));
    let json = format!(r#"{{"rows":{rows},"c":{copy},"d":[{}]}}"#, [copy; 60].join(",1,"));
    let encoded = |level: Level, limits: Limits| {
        let options = level.options().limits(limits);
        laws::round_trip(json.as_bytes(), options).expect("JSON")
    };
    let none = Limits::default().ratio(1).ratio_after(0);
    for level in Level::ALL {
        assert_eq!(encoded(level, none), json.as_bytes(), "{level}");
    }
    // Tables expand to twice their length, copies to twenty times theirs.
    let some = Limits::default().ratio(3).ratio_after(0);
    let [plain, referring] = [Level::NoReferences, Level::Whole].map(|level| encoded(level, Limits::default()));
    assert!(referring.len() < plain.len() / 2 && plain.len() < json.len());
    assert_eq!(encoded(Level::NoReferences, some), plain);
    assert_eq!(encoded(Level::Whole, some), plain);
}

/// A long text that comes four times is written once, wherever it is.
#[test]
fn a_text_that_repeats_gets_a_name_wherever_it_is() {
    let text = "a rather long text that is worth a name because it comes again";
    let elements = [
        format!("\"{text}\""),
        format!("[\"{text}\"]"),
        format!("[[\"{text}\",{{\"a\":1}}],2]"),
        format!("[{{\"b\":2}},\"{text}\"]"),
        format!("{{\"c\":\"{text}\"}}"),
        format!("[1,{{\"d\":[],\"e\":\"{text}\"}}]"),
        format!("{{\"f\":{{\"g\":\"{text}\",\"h\":[{{}}]}}}}"),
    ];
    for (number, element) in elements.iter().enumerate() {
        let options = Level::Whole.options();
        // Four times the same place, in arrays of other lengths, and once in each of four places.
        let same =
            format!("[{element},[{element},1],[[{element}],[2]],[[3],[4],{element}]]").replace("\"d\"", "\"dd\"");
        let next: Vec<&str> = (0..4).map(|at| &*elements[(number + at) % elements.len()]).collect();
        for json in [same, format!("[{}]", next.join(",5,"))] {
            let stc = laws::round_trip(json.as_bytes(), options).expect("JSON");
            let stc = String::from_utf8(stc).expect("UTF-8");
            assert_eq!(stc.matches(text).count(), 1, "{json} {stc}");
        }
    }
}

/// Objects with the same keys share a shape, whatever is in them.
#[test]
fn objects_with_and_without_containers_share_a_shape() {
    let values = ["1", "[{}]", "{}", "[[1]]", "{\"a\":{}}", "null"];
    let json = array(values.len(), |n| format!(r#"[{{"first_key":{},"second_key":{n},"third_key":true}}]"#, values[n]));
    for level in [Level::NoReferences, Level::Whole] {
        let options = level.options();
        let stc = String::from_utf8(laws::round_trip(json.as_bytes(), options).expect("JSON")).expect("UTF-8");
        assert_eq!((stc.matches("@a{").count(), stc.matches("@a(").count()), (1, values.len() - 1), "{stc}");
    }
}

/// An array is listed with all that is in it, copies too, and ends where it ends.
#[test]
fn arrays_with_copies_in_them_are_explained() {
    let copy = r#"{"one":"alpha beta","two":["gamma delta",12345678,"epsilon zeta eta"]}"#;
    let json = format!(
        r#"{{"c":{copy},"y":[0,{copy},1],"z":[{{"x":1}},{copy},{{"y":[]}}],"w":[{{"x":1}},{{"y":[]}},{copy}]}}"#
    );
    let mut encoder = new_encoder(Level::Whole);
    let explanation = encoder.explain(json.as_bytes()).expect("JSON");
    let paths: Vec<&str> = explanation.arrays.iter().map(|array| array.path.as_str()).collect();
    assert_eq!(paths, [".z", ".w"]);
    for array in &explanation.arrays {
        assert_eq!((array.rows, array.json.bytes), (3, (copy.len() + 19) as u64), "{array:?}");
    }
}

/// Each text of three tokens after each of these beginnings: a push refuses it exactly if no further bytes can mend it.
#[test]
fn a_push_refuses_what_cannot_become_json() {
    const BEGINNINGS: [&str; 9] = ["", "[", "{", "[1", "{\"a\":", "{\"a\":1", "{\"a\":[]", "[[[", "[{},"];
    const PARTS: [&str; 10] = ["{", "}", "[", "]", ",", ":", "\"a\"", "1", "null", " "];
    let options = Level::Labelled.options().limits(Limits::default().depth(3));
    let (mut whole, mut stream, mut out) = (Encoder::with_options(options), Encoder::with_options(options), Vec::new());
    let blank = " ".repeat(64);
    for beginning in BEGINNINGS {
        for number in 0..PARTS.len().pow(3) {
            let parts: String = (0..3).map(|place| PARTS[number / PARTS.len().pow(place) % PARTS.len()]).collect();
            let json = format!("{beginning}{parts}{blank}1{blank}");
            let error = whole.encode(json.as_bytes()).err();
            let expected = error.filter(|error| !matches!(error.kind(), stc::ErrorKind::Truncated(_)));
            assert_eq!(stream.push(json.as_bytes(), &mut out).err(), expected, "{}", json.trim_end());
            stream.clear();
        }
    }
}
