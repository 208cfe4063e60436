//! The recorded slow-path steps of small texts: a fast path that stops too soon changes no output, and only this count shows it.
//!
//! Each text is read alone, between others, with whitespace after it, and cut at several lengths, so that every fast path meets
//! its end of the input. `STC_RECORD=1 cargo test slow_steps::` records the counts again after an intended change.
// Steps are counted with debug assertions only, and Miri would take an hour.
#![cfg(all(debug_assertions, not(miri)))]

use stc::internal::{Kernel, decoder, encoder, take_slow_steps};
use stc::{Decoder, Encoder, Limits, Options};

use crate::chosen::assert_recorded;
use crate::laws::formats;
use crate::random::{Random, document};
use crate::vectors::{bytes, cases};

/// The names of the formats, in the order of [`formats`].
const FORMATS: [&str; 4] = ["stc1", "stc2-labelled", "no-references", "stc2"];

const PREFACE: &str = "\
# Slow-path steps of small texts, the sum for each group. `STC_RECORD=1 cargo test slow_steps::` records them.
#
# Five numbers: each text alone; between other values; with whitespace after it; cut at eight lengths; with strict limits.
# With a name: for all values of that limit, with the sum of the errors' offsets; for all distances to the end of the text.
";

/// Returns a text in each place that a column of the record is about.
fn places(text: &[u8], filler: &str) -> [Vec<Vec<u8>>; 4] {
    let between = [b"[", filler.as_bytes(), b",", text, b",", filler.as_bytes(), b"]"].concat();
    let cut = (1..=8).map(|part| text[..text.len() * part / 9].to_vec()).collect();
    [vec![text.to_vec()], vec![between], vec![[text, &[b' '; 150]].concat()], cut]
}

/// Returns a line of the record: the sums of the steps that `steps` returns for each text.
fn line(name: &str, texts: &[Vec<u8>], filler: &str, steps: impl Fn(&[u8], Limits) -> u64) -> String {
    let mut sums = [0; 5];
    for text in texts {
        for (sum, texts) in sums.iter_mut().zip(places(text, filler)) {
            *sum += texts.iter().map(|text| steps(text, Limits::default())).sum::<u64>();
        }
        let strict = Limits::default().depth(4).columns(4).header(40).row(60).anchors(60).ratio_after(100).ratio(3);
        sums[4] += steps(text, strict);
    }
    let [alone, between, before, cut, strict] = sums;
    format!("{name}: {alone} {between} {before} {cut} {strict}\n")
}

/// Returns the slow-path steps that `work` takes with each kernel, which must be the same number.
fn of_every_kernel(work: impl Fn(Kernel)) -> u64 {
    let steps = |kernel| {
        take_slow_steps();
        work(kernel);
        take_slow_steps()
    };
    let all: Vec<u64> = Kernel::available().into_iter().map(steps).collect();
    assert!(all.iter().all(|steps| *steps == all[0]), "{all:?}");
    all[0]
}

/// Returns the lines of texts that are decoded.
fn decoding(name: &str, texts: &[Vec<u8>]) -> String {
    let filler = r#"{a: "text", b: [1,2,3], c: {d: null}}"#;
    line(&format!("decode {name}"), texts, filler, |text, limits| {
        of_every_kernel(|kernel| {
            let _ = decoder(Options::default().limits(limits), kernel).decode(text);
        })
    })
}

/// Returns the line of texts that are encoded in a format, as they are or with whitespace.
fn encoding(name: &str, texts: &[Vec<u8>], format: &str, options: Options) -> String {
    let filler = r#"{"a":"text","b":[1,2,3],"c":{"d":null},"e":[{"f":1},{"f":2}]}"#;
    line(&format!("encode {name} as {format}"), texts, filler, |text, limits| {
        of_every_kernel(|kernel| {
            let _ = encoder(options.limits(limits), kernel).encode(text);
        })
    })
}

/// Returns JSON with whitespace after each comma and colon outside its strings.
fn spaced(json: &[u8]) -> Vec<u8> {
    let (mut out, mut in_string, mut escaped) = (Vec::new(), false, false);
    for &byte in json {
        out.push(byte);
        match byte {
            b'"' if !escaped => in_string = !in_string,
            b',' if !in_string => out.extend(b"\n  "),
            b':' if !in_string => out.push(b' '),
            _ => {}
        }
        escaped = in_string && !escaped && byte == b'\\';
    }
    out
}

/// Asserts that the lines are those of tests/slow_steps/`name`.txt.
fn assert_steps(name: &str, lines: &str) {
    assert_recorded(&format!("slow_steps/{name}"), &format!("{PREFACE}\n{lines}"));
}

#[test]
fn decoding_version_1() {
    let texts = |file| cases(file).iter().map(|case| bytes(case, "stc")).collect::<Vec<_>>();
    assert_steps("decode", &["encode", "decode", "reject"].map(|file| decoding(file, &texts(file))).concat());
}

#[test]
fn decoding_version_2() {
    let texts = |file| cases(file).iter().map(|case| bytes(case, "stc")).collect::<Vec<_>>();
    assert_steps("decode-v2", &["v2-decode", "v2-reject"].map(|file| decoding(file, &texts(file))).concat());
}

/// Asserts the steps of a format, by its place in [`FORMATS`], over the vectors with and without whitespace.
fn assert_encoding(number: usize) {
    let (format, options) = (FORMATS[number], formats(Options::default())[number]);
    let lines = ["encode", "decode", "v2-decode", "reject-json"].map(|file| {
        let texts: Vec<_> = cases(file).iter().map(|case| bytes(case, "json")).collect();
        let with_whitespace: Vec<_> = texts.iter().map(|json| spaced(json)).collect();
        encoding(file, &texts, format, options)
            + &encoding(&format!("{file}, spaced"), &with_whitespace, format, options)
    });
    assert_steps(&format!("encode-{format}"), &lines.concat());
}

#[test]
fn encoding_version_1() {
    assert_encoding(0);
}

#[test]
fn encoding_open_lists() {
    assert_encoding(1);
}

#[test]
fn encoding_tables_without_references() {
    assert_encoding(2);
}

#[test]
fn encoding_the_whole_format() {
    assert_encoding(3);
}

#[test]
fn random_documents_in_both_directions() {
    let mut random = Random::new(11);
    let documents: Vec<_> = (0..40).map(|_| document(&mut random).into_bytes()).collect();
    let mut lines = String::new();
    for (number, documents) in documents.chunks(10).enumerate() {
        for (format, options) in FORMATS.into_iter().zip(formats(Options::default())) {
            lines += &encoding(&format!("random {number}"), documents, format, options);
        }
        lines += &decoding(&format!("random {number}, JSON"), documents);
        for (format, options) in FORMATS.into_iter().zip(formats(Options::default())) {
            let encode = |json: &Vec<u8>| Encoder::with_options(options).encode(json).expect("JSON").to_vec();
            lines +=
                &decoding(&format!("random {number}, {format}"), &documents.iter().map(encode).collect::<Vec<_>>());
        }
    }
    assert_steps("random", &lines);
}

/// Texts with every construct, each long enough for a fast path to read on after it.
pub(crate) const CONSTRUCTS: [&str; 26] = [
    r#"{a: 1, "b-c": "some text", d: {e: null, f: [1,-2.5e3,"three"], g: []}, h[3]: 1,2,3, i[2]: "x","y", j[1]: true, k: false}"#,
    r#"[3]{id,name,"o-k"}: 1,"some text",true / 22,"",false / 3,"a longer text than a span of 32 bytes",null"#,
    r#"{before: 1, rows: [2]{id,"n-o"}: 1,"x" / 2,"y", more: [2]{id,"n-o"}: 3,"x" / 4,"y", after: [{a: 1},{a: {b: []}}]}"#,
    r#"[{"a":1,"b":[{"c":"d"},{"c":"e"}],"f":{}},{"a":2,"b":[],"f":{"g":[[1,2],[3]]}},[true,false,null,"text",{}]]"#,
    "{\n  \"a\": [\n    {\n      \"b\": 1,\n      \"c\": \"text\"\n    },\n    {\n      \"b\": 2\n    }\n  ],\r\n\t\"d\": {},\n  \"e\": [1, 2, 3]\n}",
    "[3]{id,name?,kind=\"user\",url~\"/of/${id}\",at.{x,y?}}:\n1,\"some\",2,3\n22,,4,\n333,\"more\",\"text\",[1]\n",
    "[3]{id,t{p,q?,r=1},u?{v}=null,w?=\"default\"}:\n1,(2,3),(4),\n2,[(1,),(2,\"x\")],,5\n3,(7,{a:1}),null,[]\n",
    "{2}{id,at.{x,z.{u=1}},on}:\nfirst:1,2,true\n\"sec-ond\":3,4,false\n",
    "$a=\"https://example.org/\"\n$b=\"open\"\n{x:[$a,$a\"one\",$a\"two\"],y:$b,z:[2]{s,t}:\n$b,$a\n$a\"q\",1\n}",
    "[@a{k:1,\"l-m\":\"x\",n:[1]},@a(2,\"y\",[]),@b{k:@a(3,\"z\",{}),o:true},@b(@a(4,null,1),false),5]",
    "[&a{k:[1,2,\"some text\"],l:{m:null}},*a,{x:*a,y:[*a]},&b[*a,&c[1]],*b,*c]",
    "[2]{id,v,w{s}}:\n&a[1,2],*a,(&b{k:1})\n@s{k:1},*b,(@s(2))\n",
    "[2]{a,b=[1,{c:\"d\"}],e?={f:[]},g~\"${a}-${h}\",h}:\n\"x\",1,2\n\"y\",,3\n",
    "{k:[2]{a.{b.{c,d},e},f}:\n1,2,3,4\n5,6,[7],{g:8}\nl:[1]{m}:\n[2]\no:1}",
    "[12]",
    "{a[1]: \"only\", b: [1], c: [12], d: [1]{e}: 2, f: [[1]{g}: 3,[2]]}",
    "[2]{a,b}:\n{x:1,y:\"text\",z:[1,2,{u:null,v:-1}]},[1,\"a\",{v:true,w:[],x:{}}]\n[[1],[\"b\",2]],{\"k-l\":{m:1,n:2}}\n",
    r#"{k: "a\nb \"q\" \\ c", "q\"k": "x\u00e9y", l: "\ud83d\ude00", m: ["\\", "\"", "a\/b"], "n\\": {"o\t": "\\\\"}, p: ""}"#,
    r#"{a: "a long text of words that ends just before a block is full, \"x", b: "another long text of words that ends after the first block is full, or nearly", c: 1}"#,
    r#"{"a_key_that_is_as_long_as_a_span":1,"a_key_that_is_just_longer_than_a_span":"b","a_key_that_is_longer_than_a_whole_block_of_sixty_four_bytes_is":[1]}"#,
    r#"{a: -0, b: 1.5, c: 1e5, d: -2.25E-07, e: 12345678901234567890123456789012345, f: [0.1,1E+2,-3], g[3]: 1,-2.5,3e1, h: [true,null]}"#,
    "[@a{k:&x{l:[1,2]},m:*x},@a(*x,[*x]),&y@a({l:1},2),*y,{n:@a(1,&z[@a(2,3)]),o:*z}]",
    r#"{"":"an empty key","a":{"":1,"b":[{"":""},{"":null}]},"":"again","c":"text","d":{"":"x"}}"#,
    r#"{"": "an empty key", a: {"": 1, b: [{"": ""},{"": null}]}, "": "again", c: [2]{"",d}: 1,"x" / 2,"", e: {"": "x"}}"#,
    "{total:3,items[3]{*,state=\"open\",title}:\n {id:1,title:\"some text\"}\n {id:22,title:\"\",more:[1,{x:2}]}\n {title:null,id:3}\nnext:null}",
    "[2]{*,kind=\"user\",at,of}:\n {id:1,at:{x:1,y:[]},of:\"text\",last:true}\n {\"k-l\":2,at:[1,2],of:{},m:{n:null}}\n",
];

/// Returns a construct with other values after it, so that fast paths have enough input.
pub(crate) fn followed(construct: &str) -> String {
    // The line feed of a table's last row takes the place of a comma, and definitions come before everything.
    let comma = if construct.ends_with('\n') { "" } else { "," };
    let more = r#"{a: "text", b: [1,2,3], c: {d: null}},"#.repeat(3);
    if construct.starts_with('$') { construct.to_owned() } else { format!("[{construct}{comma}{more}0]") }
}

/// The limits that are swept, and how far.
type SetLimit = fn(Limits, u64) -> Limits;
const SWEPT: [(&str, u64, SetLimit); 8] = [
    ("depth", 9, |limits, value| limits.depth(value as usize)),
    ("columns", 12, |limits, value| limits.columns(value as usize)),
    ("header", 60, |limits, value| limits.header(value as usize)),
    ("row", 120, |limits, value| limits.row(value as usize)),
    ("anchors", 130, |limits, value| limits.anchors(value as usize)),
    ("input", 200, |limits, value| limits.input(value)),
    ("output", 600, |limits, value| limits.output(value)),
    ("free", 300, |limits, value| limits.ratio_after(value).ratio(2)),
];

/// Each limit from zero to more than the text needs, so that each is met exactly before every token that a fast path takes.
#[test]
fn every_limit_of_a_decoder() {
    let mut lines = String::new();
    for (number, stc) in CONSTRUCTS.iter().enumerate() {
        let stc = followed(stc);
        lines += &format!("decode {number}:");
        for (name, most, set) in SWEPT {
            take_slow_steps();
            let mut offsets = 0;
            for value in 0..most {
                let options = Options::default().limits(set(Limits::default(), value));
                offsets +=
                    Decoder::with_options(options).decode(stc.as_bytes()).map_or_else(|error| error.offset(), |_| 0);
            }
            lines += &format!(" {name} {}/{offsets}", take_slow_steps());
        }
        lines += "\n";
    }
    assert_steps("limits", &lines);
}

/// Every distance from a token to the end of the text, at which a fast path that loads whole blocks must stop.
#[test]
fn every_distance_to_the_end() {
    let mut lines = String::new();
    for (number, stc) in CONSTRUCTS.iter().enumerate() {
        let json = stc::decode(stc.as_bytes()).expect("STC");
        let steps = |texts: &dyn Fn(usize) -> Vec<u8>, work: &dyn Fn(&[u8])| {
            take_slow_steps();
            (0..140).for_each(|pad| work(&texts(pad)));
            take_slow_steps()
        };
        let comma = if stc.ends_with('\n') { "" } else { "," };
        let after = |pad: usize| format!("[{stc}{comma}\"{}\"]", "x".repeat(pad)).into_bytes();
        let cut = |pad: usize| stc.as_bytes()[..stc.len().saturating_sub(pad)].to_vec();
        let decode = |text: &[u8]| {
            let _ = Decoder::new().decode(text);
        };
        lines += &format!("{number}: decode {} {}", steps(&after, &decode), steps(&cut, &decode));
        let json_after = |pad: usize| [b"[", &json[..], b",\"", "x".repeat(pad).as_bytes(), b"\"]"].concat();
        let member = |pad: usize| [b"{\"k\":", &json[..], b",\"l\":\"", "x".repeat(pad).as_bytes(), b"\"}"].concat();
        for (format, options) in FORMATS.into_iter().zip(formats(Options::default())) {
            let encode = |text: &[u8]| {
                let _ = Encoder::with_options(options).encode(text);
            };
            lines += &format!(", {format} {} {}", steps(&json_after, &encode), steps(&member, &encode));
        }
        lines += "\n";
    }
    assert_steps("distances", &lines);
}
