//! Small texts of every construct, with keys and strings of every length: whole, with whitespace after them, inside a longer text,
//! in chunks and byte by byte they mean the same, and meet a limit at the byte that the rules say.
//!
//! Fast paths read blocks of 32 and 64 bytes, and need as much input after a token and room for its output.

#[cfg(debug_assertions)]
use stc::internal::take_slow_steps;
use stc::{Decoder, Error, ErrorKind, Limits, Options};

use crate::random::rounds;
use crate::verdict::is_json;

/// A text, and the JSON that it means. `K` stands for letters that may be a key, `V` for those of a string.
const TEXTS: [(&str, &str); 71] = [
    // Members, as JSON and as STC 1 and 2 write them, and with other whitespace.
    (r#"{"K":"V","b":1}"#, r#"{"K":"V","b":1}"#),
    (r#"{K: "V", b: true, K: null}"#, r#"{"K":"V","b":true,"K":null}"#),
    (r#"{K:V,b:V,K:nullV,c:true,d:"V"}"#, r#"{"K":"V","b":"V","K":"nullV","c":true,"d":"V"}"#),
    (r#"{"K": "V",  "b": "V",  "c":1}"#, r#"{"K":"V","b":"V","c":1}"#),
    (r#"{"x":1,"K" :"V" , "b" :12 , "c": -1.5e3 }"#, r#"{"x":1,"K":"V","b":12,"c":-1.5e3}"#),
    ("{\n \"x\": 1,\r\n\t\"K\": \"V\",\n \"b\": {\n \"K\": 1 }\n}", r#"{"x":1,"K":"V","b":{"K":1}}"#),
    (r#"{"x": true,"K":12,"b": false ,"c": 12 ,"d":nullV}"#, r#"{"x":true,"K":12,"b":false,"c":12,"d":"nullV"}"#),
    (r#"{"K":{"K":"V"},"b":[{"K":"V"},{"c":"V"}],"d":[]}"#, r#"{"K":{"K":"V"},"b":[{"K":"V"},{"c":"V"}],"d":[]}"#),
    (r#"{"a": {"K": "V"},"b": [{"K": 1},{"c": "V"}],"d": {}}"#, r#"{"a":{"K":"V"},"b":[{"K":1},{"c":"V"}],"d":{}}"#),
    (r#"{"a": [ { "K": "V" } , { "b": 1 } ] , "c": { } }"#, r#"{"a":[{"K":"V"},{"b":1}],"c":{}}"#),
    ("{a: {b: {K: 1}}, c: [{K: 2}, {b: 3}], d: 4}", r#"{"a":{"b":{"K":1}},"c":[{"K":2},{"b":3}],"d":4}"#),
    (r#"{",V":",V","}V":"}","{":{":V":1},":{V":":"}"#, r#"{",V":",V","}V":"}","{":{":V":1},":{V":":"}"#),
    (r#"{"a":"V\\","b":"V\",","c\"":"\\\"V"}"#, r#"{"a":"V\\","b":"V\",","c\"":"\\\"V"}"#),
    (r#"{a: "V\\", b: "V\",", "c\\": "\\\"V"}"#, r#"{"a":"V\\","b":"V\",","c\\":"\\\"V"}"#),
    // Arrays and STC 1's own forms.
    (r#"["V",1,"V",[true,"V"]]"#, r#"["V",1,"V",[true,"V"]]"#),
    ("[ \"V\" ,\n12 , [ ] , [ 1 , \"V\" ] ]", r#"["V",12,[],[1,"V"]]"#),
    ("[12]", "[12]"),
    ("[12 , [3 ], [45 ]]", "[12,[3],[45]]"),
    ("{a: [12], b: [3], K[12]: 1,1,1,1,1,1,1,1,1,1,1,1}", r#"{"a":[12],"b":[3],"K":[1,1,1,1,1,1,1,1,1,1,1,1]}"#),
    (r#"{K[2]: "V","V", b[1]: "V", c[2]: true,false}"#, r#"{"K":["V","V"],"b":["V"],"c":[true,false]}"#),
    (r#"{"K"[2]: 1,-2.5, "b"[1] : "V"}"#, r#"{"K":[1,-2.5],"b":["V"]}"#),
    (r#"[2]{id,K}: 1,"V" / 2,"V""#, r#"[{"id":1,"K":"V"},{"id":2,"K":"V"}]"#),
    (
        r#"{a: [2]{"K",b}: "V",null / 1,true, c: [2]{"K",b}: 1,2 / 3,4}"#,
        r#"{"a":[{"K":"V","b":null},{"K":1,"b":true}],"c":[{"K":1,"b":2},{"K":3,"b":4}]}"#,
    ),
    // Tables.
    ("[2]{a,K}:\n1,\"V\"\nV , [1,\"V\"]\n", r#"[{"a":1,"K":"V"},{"a":"V","K":[1,"V"]}]"#),
    (
        "[2]{K,a?,b=\"V\",c?=\"V\"}:\n1,,\n\"V\",{x:V},3\n",
        r#"[{"K":1,"b":"V","c":"V"},{"K":"V","a":{"x":"V"},"b":"V","c":3}]"#,
    ),
    ("[3]{K?,b?}:\n,\nV,\n,V\n", r#"[{},{"K":"V"},{"b":"V"}]"#),
    ("{2}{K}:\nV:1\n\"V\":V\n", r#"{"V":{"K":1},"V":{"K":"V"}}"#),
    ("{2}{a=1,b=[\"V\"]}:\nK:\n \"V\" :\n", r#"{"K":{"a":1,"b":["V"]},"V":{"a":1,"b":["V"]}}"#),
    ("{a:[2]{b}:\n1\n2\nK:{1}{c}:\nV:3\nd:4}", r#"{"a":[{"b":1},{"b":2}],"K":{"V":{"c":3}},"d":4}"#),
    ("{K[2]{a}:\n1\nV\nK{1}{c}:\nV:3\nd:4}", r#"{"K":[{"a":1},{"a":"V"}],"K":{"V":{"c":3}},"d":4}"#),
    (
        "[2]{a{K,b=\"V\"},c}:\n(1),V\n[(V),(2)],3\n",
        r#"[{"a":{"K":1,"b":"V"},"c":"V"},{"a":[{"K":"V","b":"V"},{"K":2,"b":"V"}],"c":3}]"#,
    ),
    ("[2]{a{b{K}}}:\n((1))\n[(V),([(1)])]\n", r#"[{"a":{"b":{"K":1}}},{"a":[{"b":"V"},{"b":[{"K":1}]}]}]"#),
    ("[2]{a{K?,b?}}:\n(,)\n[(V,),(,2)]\n", r#"[{"a":{}},{"a":[{"K":"V"},{"b":2}]}]"#),
    ("[1]{a{K=1},b}:\n[(),( )],V\n", r#"[{"a":[{"K":1},{"K":1}],"b":"V"}]"#),
    ("[2]{K.{b,c=[1]},d?}:\nV,\n1,2\n", r#"[{"K":{"b":"V","c":[1]}},{"K":{"b":1,"c":[1]},"d":2}]"#),
    (
        "[1]{a{b,c=[[[[[[\"V\"]]]]]]},K}:\n[(1),(2)],3\n",
        r#"[{"a":[{"b":1,"c":[[[[[["V"]]]]]]},{"b":2,"c":[[[[[["V"]]]]]]}],"K":3}]"#,
    ),
    ("[2]{a,K~\"V${a}-\"}:\nV\n1\n", r#"[{"a":"V","K":"VV-"},{"a":1,"K":"V1-"}]"#),
    ("[1]{a,b?,K~\"${a}\",c}:\n1,,V\n", r#"[{"a":1,"K":"1","c":"V"}]"#),
    // Words that are filled in.
    ("[3]{a,K~\"V${}V\"}:\n1,V\nV,7V\n2,\"V\"\n", r#"[{"a":1,"K":"VVV"},{"a":"V","K":"V7VV"},{"a":2,"K":"V"}]"#),
    (
        "[3]{K?~\"<${}V\"=null,b?~\"${}\"}:\nV,nullV\n , 1 \n-1.5V,\n",
        r#"[{"K":"<VV","b":"nullV"},{"K":null,"b":"1"},{"K":"<-1.5VV"}]"#,
    ),
    ("[2]{K~\"<${}>\",b}:\nnull,{x:V}\n[\"V\"],true\n", r#"[{"K":null,"b":{"x":"V"}},{"K":["V"],"b":true}]"#),
    (
        "[2]{c.{d~\"${}V\",e},a{K~\"V${}\",b=V}}:\n2,3,(1)\nfalse,V,[(V),(V/2)]\n",
        r#"[{"c":{"d":"2V","e":3},"a":{"K":"V1","b":"V"}},{"c":{"d":false,"e":"V"},"a":[{"K":"VV","b":"V"},{"K":"VV/2","b":"V"}]}]"#,
    ),
    ("{2}{K~\"/${}\"}:\nV:V:V\nx: 1\n", r#"{"V":{"K":"/V:V"},"x":{"K":"/1"}}"#),
    (
        "[3]{a,K~\"V${a}/${}-${a}\",b}:\n1,V,2\nV,\"V\",3\n\"V\",true,4\n",
        r#"[{"a":1,"K":"V1/V-1","b":2},{"a":"V","K":"V","b":3},{"a":"V","K":true,"b":4}]"#,
    ),
    (
        "[&x[[1]{K~\"V${}\",a{b,c~\"${}${b}\"}}:\n1,(2,V)\n],*x]",
        r#"[[[{"K":"V1","a":{"b":2,"c":"V2"}}]],[[{"K":"V1","a":{"b":2,"c":"V2"}}]]]"#,
    ),
    (
        "[2]{a?{K,b~\"V${K}\"}=(1),c}:\n,2\n[(V),(3)],4\n",
        r#"[{"a":{"K":1,"b":"V1"},"c":2},{"a":[{"K":"V","b":"VV"},{"K":3,"b":"V3"}],"c":4}]"#,
    ),
    // Open lists.
    ("[2]{*,K=1,b}:\n{a:V,b:2}\n{b:\"V\"}\n", r#"[{"a":"V","K":1,"b":2},{"K":1,"b":"V"}]"#),
    ("[3]{*,k=\"V\"}:\n{}\n{K:1} \n { \"K\" : [ 1 ] }\n", r#"[{"k":"V"},{"K":1,"k":"V"},{"K":[1],"k":"V"}]"#),
    ("{2}{*,k=\"V\"}:\nK:{a:1}\n\"K\":{}\n", r#"{"K":{"a":1,"k":"V"},"K":{"k":"V"}}"#),
    (
        "[2]{*,k=1}:\n{a: 1, K: [\"V\"], c: V}\n{K[2]: 1,2, d: { e: 1 }}\n",
        r#"[{"a":1,"K":["V"],"c":"V","k":1},{"K":[1,2],"d":{"e":1},"k":1}]"#,
    ),
    (
        "[2]{*,K{*,b=\"V\"},c=2}:\n{K:[{a:1},{},[{}]]}\n{K:{a:V},d:{}}\n",
        r#"[{"K":[{"a":1,"b":"V"},{"b":"V"},[{}]],"c":2},{"K":{"a":"V","b":"V"},"d":{},"c":2}]"#,
    ),
    (
        "[2]{*,k=V,a{b,c~\"<${b}>\"}}:\n{a:(V),d:2}\n{K:1,a:[(3)],d:4}\n",
        r#"[{"k":"V","a":{"b":"V","c":"<V>"},"d":2},{"K":1,"k":"V","a":[{"b":3,"c":"<3>"}],"d":4}]"#,
    ),
    (
        "[2]{*,a=V,b=[\"V\"],K,d=1}:\n{K:1}\n{x:1,K:\"V\",y:2}\n",
        r#"[{"a":"V","b":["V"],"K":1,"d":1},{"x":1,"a":"V","b":["V"],"K":"V","y":2,"d":1}]"#,
    ),
    (
        "[9]{*,k=V}:\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{K:1}\n",
        r#"[{"k":"V"},{"k":"V"},{"k":"V"},{"k":"V"},{"k":"V"},{"k":"V"},{"k":"V"},{"k":"V"},{"K":1,"k":"V"}]"#,
    ),
    ("[1]{a{*,k=1},b}:\n[{K:V},{}],{k:2}\n", r#"[{"a":[{"K":"V","k":1},{"k":1}],"b":{"k":2}}]"#),
    // Names.
    ("$a=\"V\"\n[$a,$a\"V\",{K:$a}]", r#"["V","VV",{"K":"V"}]"#),
    ("$a=\"V\"\n$a", r#""V""#),
    ("$a=\"V\"\n$a\"V\"", r#""VV""#),
    ("$a=\"V\"\n[2]{K,b=$a}:\n$a\"V\"\n$a\n", r#"[{"K":"VV","b":"V"},{"K":"V","b":"V"}]"#),
    ("[@s{K:1,b:\"V\"},@s(2,V),@s(@s(3,4),[5])]", r#"[{"K":1,"b":"V"},{"K":2,"b":"V"},{"K":{"K":3,"b":4},"b":[5]}]"#),
    ("[@s{K:{a:\"V\"}},@s({}),@s(1)]", r#"[{"K":{"a":"V"}},{"K":{}},{"K":1}]"#),
    ("[@s{K[2]: 1,2, \"b\": 3},@s(V,V)]", r#"[{"K":[1,2],"b":3},{"K":"V","b":"V"}]"#),
    ("[&x[\"V\"],*x,{K:*x},[[*x]]]", r#"[["V"],["V"],{"K":["V"]},[[["V"]]]]"#),
    ("[&a[1],&b[*a,\"V\"],*a,*b,&c{K:*b}]", r#"[[1],[[1],"V"],[1],[[1],"V"],{"K":[[1],"V"]}]"#),
    ("&a@s{K:&b{c:V}}", r#"{"K":{"c":"V"}}"#),
    ("[1]{a{K},c}:\n&x[(1),(V)],*x\n", r#"[{"a":[{"K":1},{"K":"V"}],"c":[{"K":1},{"K":"V"}]}]"#),
    ("[1]{a{K},c,d}:\n[&x(1),&y(V)],*x,[*y]\n", r#"[{"a":[{"K":1},{"K":"V"}],"c":{"K":1},"d":[{"K":"V"}]}]"#),
    ("[&x[[1]{a,K~\"${a}V\"}:\n1\n],*x]", r#"[[[{"a":1,"K":"1V"}]],[[{"a":1,"K":"1V"}]]]"#),
    // Rows that are a value.
    ("[4]{a,K=V}:\n1\n!{K:V,\"a\":[2]}\n!\"V\"\n2\n", r#"[{"a":1,"K":"V"},{"K":"V","a":[2]},"V",{"a":2,"K":"V"}]"#),
    ("{3}{a,b}:\nK:1,V\nV:!{\"K\":[\"V\",1]}\nx:!null\n", r#"{"K":{"a":1,"b":"V"},"V":{"K":["V",1]},"x":null}"#),
    (
        "[3]{n,u~\"V${n}\"}:\n1\n! {K:&x[\"V\"],b:*x}\t\n2\n",
        r#"[{"n":1,"u":"V1"},{"K":["V"],"b":["V"]},{"n":2,"u":"V2"}]"#,
    ),
];

/// Returns a text and its JSON with keys and strings of `length` letters.
fn filled((stc, json): (&str, &str), length: usize) -> (String, String) {
    let fill = |text: &str| text.replace('K', &"g".repeat(length)).replace('V', &"w".repeat(length));
    (fill(stc), fill(json))
}

/// Returns the dictionary that a text begins with, empty if it has none, and the rest.
fn without_dictionary(stc: &str) -> (&str, &str) {
    let end = if stc.starts_with('$') { stc.find("\"\n").expect("a definition has a line") + 2 } else { 0 };
    stc.split_at(end)
}

/// So much whitespace that fast paths read all that is before it.
const PADDING: [u8; 140] = [b' '; 140];

fn with_limits(limits: Limits) -> Decoder {
    Decoder::with_options(Options::default().limits(limits))
}

/// Decodes the chunks of a text.
fn in_chunks<'a>(decoder: &mut Decoder, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, Error> {
    let mut json = Vec::new();
    chunks.into_iter().try_for_each(|chunk| decoder.push(chunk, &mut json))?;
    decoder.finish(&mut json).map(|()| json)
}

#[test]
fn every_length_on_every_path() {
    let mut decoder = Decoder::new();
    for length in (1..140).chain([200, 300]).step_by(3 / rounds(3)) {
        for (number, text) in TEXTS.into_iter().enumerate() {
            let (stc, json) = filled(text, length);
            let padded = [stc.as_bytes(), &PADDING].concat();
            assert_eq!(decoder.decode(&padded), Ok(json.as_bytes()), "with whitespace: {stc}");
            if (length + number) % 8 == 0 {
                assert_eq!(decoder.decode(stc.as_bytes()), Ok(json.as_bytes()), "{stc}");
                let one_by_one = in_chunks(&mut decoder, stc.as_bytes().chunks(1));
                assert_eq!(one_by_one.as_deref(), Ok(json.as_bytes()), "byte by byte: {stc}");
            }
            if (length + number) % 2 == 0 {
                let (dictionary, value) = without_dictionary(&stc);
                let comma = if value.ends_with('\n') { "" } else { "," };
                let (before, after) = ("x".repeat(length % 7), "y".repeat(160));
                let stc = format!("{dictionary}[\"{before}\",{value}{comma}\"{after}\"]");
                let json = format!("[\"{before}\",{json},\"{after}\"]");
                assert_eq!(decoder.decode(stc.as_bytes()), Ok(json.as_bytes()), "{stc}");
            }
        }
    }
}

/// Returns how much output there is after each byte of a text, and at its end.
fn written_after_each_byte(stc: &[u8]) -> Vec<usize> {
    let (mut decoder, mut json) = (Decoder::new(), Vec::new());
    let mut written: Vec<usize> = Vec::new();
    for byte in stc.chunks(1) {
        decoder.push(byte, &mut json).expect("STC");
        written.push(json.len());
    }
    decoder.finish(&mut json).expect("STC");
    written.push(json.len());
    written
}

/// Returns the positions in a text that are not inside a word, and few of the others.
fn places(text: &str) -> impl Iterator<Item = usize> {
    let is_letter = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_lowercase);
    (0..=text.len()).filter(move |&at| at % 16 == 0 || !is_letter(at - 1) || !is_letter(at))
}

/// A chunk gives what its bytes give one by one, and the next goes on from there.
#[test]
fn two_chunks_give_what_the_whole_gives_wherever_the_cut_is() {
    let (mut decoder, mut out) = (Decoder::new(), Vec::new());
    for length in (1..70).step_by(9).chain([30, 31, 61, 62, 63, 66, 95, 127]) {
        for text in TEXTS {
            let (stc, json) = filled(text, length);
            let written = written_after_each_byte(stc.as_bytes());
            let padded = [stc.as_bytes(), &PADDING].concat();
            for cut in places(&stc).skip(1) {
                out.clear();
                decoder.push(&padded[..cut], &mut out).expect("STC");
                assert_eq!(out.len(), written[cut - 1], "cut at {cut}: {stc}");
                decoder.push(&padded[cut..], &mut out).expect("STC");
                decoder.finish(&mut out).expect("STC");
                assert!(out == json.as_bytes(), "cut at {cut}: {stc}");
            }
        }
    }
}

/// Returns whether output may be counted with another byte than the one with which it is written: before it, in rows that wait for their
/// templates and where digits may be a count and are none; with the byte after it, at the end of STC 1's arrays and tables with a count.
fn is_held(stc: &str) -> bool {
    let bytes: Vec<u8> = stc.bytes().filter(|&byte| byte != b' ' && byte != b'\n').collect();
    let is_table_of_stc1 = stc.contains(" / ");
    is_table_of_stc1
        || bytes.iter().enumerate().any(|(at, &byte)| {
            let after = &bytes[at + 1..];
            let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_table = matches!(after[digits..], [b']', b'{', ..]);
            byte == b'~' || byte == b'[' && digits > 0 && !is_table
        })
}

/// Decodes a text that has whitespace after it; now and then without the whitespace, in chunks and byte by byte too, all with one
/// decoder, which must all say the same.
fn alike(padded: &[u8], limits: Limits, number: usize) -> Result<Vec<u8>, Error> {
    let mut decoder = with_limits(limits);
    let found = decoder.decode(padded).map(<[u8]>::to_vec);
    let stc = &padded[..padded.len() - PADDING.len()];
    let again = match number % 8 {
        0 => decoder.decode(stc).map(<[u8]>::to_vec),
        3 => in_chunks(&mut decoder, stc.chunks(64)),
        6 => in_chunks(&mut decoder, stc.chunks(1)),
        _ => return found,
    };
    assert_eq!(again, found, "{limits:?}: {}", stc.escape_ascii());
    found
}

/// Requires of the texts of a length that a limit is passed at the first byte after which there would be too much output.
///
/// Of output that is [held](is_held), the offset is known less exactly: it is counted with a byte after the one with which the output
/// before it was written, and at the latest with the byte after the one with which it is written itself. A ratio to the input up to there
/// may be passed although the one at the end is kept.
fn meets_limits_of_output(
    length: usize,
    kind: ErrorKind,
    limits: impl Fn(usize) -> Limits,
    too_much: impl Fn(usize, usize, usize) -> bool,
) {
    let mut number = 0;
    for text in TEXTS {
        let (stc, json) = filled(text, length);
        let padded = [stc.as_bytes(), &PADDING].concat();
        let (written, is_held) = (written_after_each_byte(stc.as_bytes()), is_held(&stc));
        for most in places(&json).step_by(1 + length / 150) {
            number += 1;
            let limits = limits(most);
            // Held output may be counted a byte late.
            let late = usize::from(is_held);
            let place = written.iter().enumerate().position(|(at, &bytes)| too_much(most, at + late, bytes));
            let found = alike(&padded, limits, if is_held { 6 } else { number });
            match found {
                Ok(found) => {
                    assert!(found == json.as_bytes(), "{limits:?}: {stc}");
                    assert!(place.is_none(), "{limits:?}: {stc}");
                }
                Err(error) => {
                    assert_eq!(error.kind(), kind, "{limits:?}: {stc}");
                    let offset = error.offset() as usize;
                    // The output when it grows next, which has all that may be counted with this byte.
                    let before = if offset == 0 { 0 } else { written[offset - 1] };
                    let next = written.iter().copied().find(|&bytes| bytes > before).unwrap_or(json.len());
                    let is_early = is_held && place.is_none_or(|place| offset <= place + late);
                    let is_there = place == Some(offset) || is_early && too_much(most, offset, next);
                    assert!(is_there, "{error}, {limits:?}: {stc}");
                }
            }
        }
    }
}

fn every_limit_of_output(length: usize) {
    let limits = |most| Limits::DEFAULT.output(most as u64);
    meets_limits_of_output(length, ErrorKind::Output, limits, |most, _, bytes| bytes > most);
}

#[test]
fn every_limit_of_output_with_short_tokens() {
    every_limit_of_output(1);
}

#[test]
fn every_limit_of_output_with_long_tokens() {
    every_limit_of_output(200);
}

#[test]
fn every_ratio_to_the_input() {
    for (ratio, length) in [(0, 2), (1, 40), (1, 90), (2, 3)] {
        let limits = |most| Limits::DEFAULT.ratio_after(most as u64).ratio(ratio as u64);
        meets_limits_of_output(length, ErrorKind::Ratio, limits, |most, at, bytes| bytes > most.max(ratio * (at + 1)));
    }
}

/// Returns how deep JSON is nested.
fn depth_of(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        deepest = deepest.max(depth);
    }
    deepest
}

/// The other limits are as high as they need be, and with less the error has one kind and place.
#[test]
fn every_other_limit() {
    type SetLimit = fn(Limits, usize) -> Limits;
    const LIMITS: [(SetLimit, ErrorKind); 5] = [
        (|limits, value| limits.depth(value), ErrorKind::Depth),
        (|limits, value| limits.columns(value), ErrorKind::Columns),
        (|limits, value| limits.header(value), ErrorKind::Header),
        (|limits, value| limits.row(value), ErrorKind::Row),
        (|limits, value| limits.anchors(value), ErrorKind::Anchors),
    ];
    for length in [1, 3, 40, 90] {
        for text in TEXTS {
            let (stc, json) = filled(text, length);
            let padded = [stc.as_bytes(), &PADDING].concat();
            for (set, kind) in LIMITS {
                let mut lowest = 0;
                loop {
                    let limits = set(Limits::DEFAULT, lowest);
                    match alike(&padded, limits, if lowest < 20 { 6 * (lowest % 2) } else { lowest }) {
                        Ok(found) => {
                            assert!(found == json.as_bytes(), "{limits:?}: {stc}");
                            break;
                        }
                        Err(error) => assert_eq!(error.kind(), kind, "{limits:?}: {stc}"),
                    }
                    lowest += 1;
                }
                if kind == ErrorKind::Depth {
                    assert_eq!(lowest, depth_of(&json), "{stc}");
                }
            }
        }
    }
}

/// Bytes that begin, end or separate something.
const WRONG: &[u8; 18] = b"\\\",:/{}[]() \n\t0*=x";

/// A byte too many or too few, or another byte, each at one of `parts` places: the fast paths accept what the slow path accepts, and
/// JSON comes out.
fn every_wrong_byte(length: usize, parts: usize) {
    let (mut decoder, mut number) = (Decoder::new(), 0);
    for text in TEXTS {
        let (stc, _) = filled(text, length);
        let bytes = stc.as_bytes();
        for at in places(&stc).filter(|&at| at < stc.len()) {
            let nothing: &[u8] = b"";
            for wrong in WRONG.chunks(1).chain([nothing]) {
                number += 1;
                if number % parts > 0 && wrong != b"\n" {
                    continue;
                }
                for replaced in [at, at + 1] {
                    let damaged = [&bytes[..at], wrong, &bytes[replaced..], &PADDING].concat();
                    let found = decoder.decode(&damaged).map(<[u8]>::to_vec);
                    // Most are errors, and found by the slow path.
                    if found.is_ok() || number % 9 == 0 {
                        let (one_by_one, rest) = damaged.split_at(damaged.len() - PADDING.len());
                        let expected = in_chunks(&mut decoder, one_by_one.chunks(1).chain([rest]));
                        assert_eq!(found, expected, "{}", damaged.escape_ascii());
                    }
                    if let Ok(json) = found {
                        assert!(is_json(&json), "{}", damaged.escape_ascii());
                    }
                }
            }
        }
    }
}

#[test]
fn every_wrong_byte_between_short_tokens() {
    every_wrong_byte(2, 4);
}

#[test]
fn every_wrong_byte_between_long_tokens() {
    every_wrong_byte(40, 11);
}

/// The position after which a string may not go on is found in every part of a long text.
#[test]
fn control_characters_in_strings_of_a_long_text() {
    for (stc, value) in
        [("{a: 1, b: \"some text\"}", "{\"a\":1,\"b\":\"some text\"}"), ("[1,\"some text\"]", "[1,\"some text\"]")]
    {
        let count = 70_000 / stc.len();
        let text = format!("[{}]", vec![stc; count].join(","));
        let json = format!("[{}]", vec![value; count].join(","));
        let mut decoder = Decoder::new();
        assert!(decoder.decode(text.as_bytes()) == Ok(json.as_bytes()));
        for place in text.match_indices("some ").map(|(at, _)| at + 5).step_by(199) {
            for control in [b'\n', b'\t'] {
                let mut damaged = text.clone().into_bytes();
                damaged[place] = control;
                let error = decoder.decode(&damaged).map(<[u8]>::len).expect_err("a control character");
                assert_eq!((error.kind(), error.offset()), (ErrorKind::Control, place as u64));
            }
        }
    }
}

/// An item of an open list: a key, and a value if it is a constant.
type Item = (String, Option<usize>);

/// Returns what a row of these keys means by the rules of grammar/STC.md, section 17.10; none if it is an error.
fn row_of_open_list(list: &[Item], keys: &[&str]) -> Option<String> {
    let (mut members, mut next, mut constants) = (Vec::new(), 0, 0);
    let constants_before = |from: usize, to: usize| {
        list[from..to].iter().filter_map(|(key, value)| value.map(|value| format!("\"{key}\":{value}")))
    };
    for key in keys {
        if let Some(place) = list.iter().position(|(other, _)| other == key) {
            if place < next || list[place].1.is_some() {
                return None;
            }
            members.extend(constants_before(constants, place));
            (next, constants) = (place + 1, place);
        }
        members.push(format!("\"{key}\":0"));
    }
    members.extend(constants_before(constants, list.len()));
    Some(format!("[{{{}}}]", members.join(",")))
}

/// In a wide open list, with keys that are equal but for bytes in their middle, every pair of keys of a row has the constants that
/// belong before it.
#[test]
fn every_pair_of_keys_of_a_wide_open_list() {
    let short = |at: usize| format!("k{at}");
    let long = |at: usize| format!("the_same_beginning_{at:02}_and_the_same_end");
    for (name, width) in [(&short as &dyn Fn(usize) -> String, 5), (&short, 40), (&long, 12), (&long, 70)] {
        let list: Vec<Item> = (0..width).map(|at| (name(at), (at % 3 == 1).then_some(at))).collect();
        let header: Vec<String> =
            list.iter().map(|(key, value)| value.map_or(key.clone(), |value| format!("{key}={value}"))).collect();
        let header = format!("[1]{{*,{}}}:\n", header.join(","));
        let keys: Vec<String> = (0..width + 3).map(name).collect();
        let (mut decoder, step) = (Decoder::new(), if width > 20 { 3 } else { 1 });
        for one in (0..keys.len()).step_by(step) {
            for other in (one % step..keys.len()).step_by(step) {
                let keys = [&*keys[one], &*keys[other]];
                let stc = format!("{header}{{{}:0,{}:0}}\n", keys[0], keys[1]);
                for text in [&*stc, &format!("{stc}{}", " ".repeat(200))] {
                    let found = decoder.decode(text.as_bytes());
                    match row_of_open_list(&list, &keys) {
                        Some(json) => assert_eq!(found, Ok(json.as_bytes()), "{stc}"),
                        None => {
                            assert_eq!(found.map_err(|error| error.kind()), Err(ErrorKind::DuplicateColumn), "{stc}")
                        }
                    }
                }
            }
        }
    }
}

/// The most slow-path steps of each text, at three and at forty letters, with a string after it; a failure prints them all.
#[cfg(debug_assertions)]
#[rustfmt::skip]
const STEPS: [u64; TEXTS.len()] = [
    4, 4, 4, 4, 20, 4, 4, 4, 4, 6, 4, 4, 4, 4, 4, 10, 4, 30, 4, 4,
    18, 4, 4, 12, 14, 6, 12, 34, 14, 32, 6, 6, 6, 16, 10, 10, 30, 20, 12, 26, 20, 18, 20, 50, 42, 60,
    12,
    46, 16, 34, 20, 52, 16, 12, 28, 16, 16, 16, 28, 16, 12, 34, 14, 34, 30, 50, 66,
    28, 18, 40, 42,
];

/// A fast path that stops too soon changes no output, and is twenty times as slow.
#[test]
#[cfg(debug_assertions)]
fn fast_paths_read_all_that_they_know() {
    let steps = |(stc, json): (&str, &str)| {
        take_slow_steps();
        for length in [3, 40] {
            let (dictionary, value) = without_dictionary(stc);
            let comma = if value.ends_with('\n') { "" } else { "," };
            let after = "y".repeat(160);
            let text = (format!("{dictionary}[{value}{comma}\"{after}\"]"), format!("[{json},\"{after}\"]"));
            let (stc, json) = filled((&text.0, &text.1), length);
            assert_eq!(Decoder::new().decode(stc.as_bytes()), Ok(json.as_bytes()), "{stc}");
        }
        take_slow_steps()
    };
    let found = TEXTS.map(steps);
    let slower: Vec<_> = (0..TEXTS.len()).filter(|&at| found[at] > STEPS[at]).map(|at| TEXTS[at].0).collect();
    assert!(slower.is_empty(), "slower: {slower:?}, all: {found:?}");
}
