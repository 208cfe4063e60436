//! What may not fall off the decoder's fast paths: counted in slow-path steps, which cost some twenty times as much as the bytes
//! that a fast path reads. A step is counted with debug assertions only.
#![cfg(debug_assertions)]

use std::fmt::Write as _;

use stc::internal::{Kernel, decoder, take_slow_steps};
use stc::laws::minify;
use stc::{Decoder, Error, Format, Options};

use crate::levels::Level;
use crate::random::rounds;

/// How the JSON of [`rows`] is laid out: what comes before each row and each member, and after a colon.
struct Layout {
    name: &'static str,
    row: &'static str,
    member: &'static str,
    close: &'static str,
    colon: &'static str,
}

const MINIFIED: Layout = Layout { name: "minified", row: "", member: "", close: "", colon: ":" };

const LAYOUTS: [Layout; 5] = [
    Layout { name: "indented", row: "\n  ", member: "\n    ", close: "\n  ", colon: ": " },
    Layout { name: "tabbed", row: "\n\t", member: "\n\t\t", close: "\n\t", colon: ": " },
    Layout { name: "CR LF", row: "\r\n  ", member: "\r\n    ", close: "\r\n  ", colon: ": " },
    Layout { name: "a row a line", row: "\r\n", member: "", close: "", colon: ":" },
    Layout { name: "spaced", row: " ", member: " ", close: "", colon: ": " },
];

/// An array of objects with strings, numbers, literals, an object, an array of scalars and an array of objects.
fn rows(count: usize, layout: &Layout) -> String {
    let Layout { row, member, close, colon, .. } = layout;
    let mut json = String::from("[");
    for at in 0..count {
        let comma = if at > 0 { "," } else { "" };
        write!(json, "{comma}{row}{{{member}\"id\"{colon}{at},{member}\"name\"{colon}\"user number {at}\"")
            .expect("memory");
        write!(json, ",{member}\"score\"{colon}{at}.5,{member}\"team\"{colon}null").expect("memory");
        write!(json, ",{member}\"at\"{colon}{{{member}  \"x\"{colon}1,{member}  \"y\"{colon}true{member}}}")
            .expect("memory");
        write!(json, ",{member}\"tags\"{colon}[{member}  \"a\",{member}  \"b\\\"c\"{member}]").expect("memory");
        write!(
            json,
            ",{member}\"of\"{colon}[{member}{{{member}\"z\"{colon}1{member}}},{member}{{{member}\"z\"{colon}2}}]"
        )
        .expect("memory");
        write!(json, "{close}}}").expect("memory");
    }
    json + close + "]"
}

/// The same without whitespace.
fn minified(count: usize) -> String {
    String::from_utf8(minify(rows(count, &MINIFIED).as_bytes())).expect("UTF-8")
}

/// Decodes with every kernel; returns the most slow-path steps.
fn steps(text: &[u8], json: &[u8]) -> u64 {
    let decoded = |kernel: Kernel| {
        let mut decoder = decoder(Options::default(), kernel);
        take_slow_steps();
        assert!(decoder.decode(text) == Ok(json), "{}", kernel.name());
        take_slow_steps()
    };
    Kernel::available().into_iter().map(decoded).max().expect("the portable kernel")
}

#[test]
fn a_stray_whitespace_byte_costs_a_few_steps() {
    let minified = minified(1000);
    for stray in ["\t", "\r", "\r\n", "\n", " ", "\t\t  \r\n"] {
        // Before an object, a key, a comma and a closing bracket in turn.
        for place in ["{\"id\"", "\"name\"", ",\"score\"", "}]"] {
            let mut text = String::new();
            let mut strays = 0;
            for (at, part) in minified.split(place).enumerate() {
                if at > 0 {
                    let here = at % 30 == 0;
                    strays += u64::from(here);
                    text += if here { stray } else { "" };
                    text += place;
                }
                text += part;
            }
            let steps = steps(text.as_bytes(), minified.as_bytes());
            assert!(steps <= 4 * strays + 20, "{stray:?} before {place}: {steps} steps for {strays} bytes");
        }
    }
}

#[test]
fn indented_json_stays_on_the_fast_path() {
    let minified = minified(300);
    for layout in LAYOUTS {
        let text = rows(300, &layout);
        assert!(minify(text.as_bytes()) == minified.as_bytes(), "{}", layout.name);
        let steps = steps(text.as_bytes(), minified.as_bytes());
        assert!(steps <= text.len() as u64 / 500, "{}: {steps} steps for {} bytes", layout.name, text.len());
    }
}

#[test]
fn rows_of_an_open_list_stay_on_the_fast_path() {
    let (mut stc, mut json) = (String::new(), Vec::new());
    for at in 0..300 {
        writeln!(
            stc,
            "{{id:{at},title:\"t {at}\",user:{{login:\"u{at}\"}},of:[{{z:1}},{{}}],at:{{x:[1,2]}},tags:[1,2],ok:true}}"
        )
        .expect("memory");
        json.push(format!(
            r#"{{"id":{at},"state":"open","title":"t {at}","user":{{"login":"u{at}","type":"User"}},{},{}}}"#,
            r#""of":[{"z":1,"k":0},{"k":0}],"at":{"x":[1,2]},"tags":[1,2]"#, r#""ok":true,"end":null"#,
        ));
    }
    let stc =
        format!("{{a:1,rows[300]{{*,state=\"open\",title,user{{*,type=\"User\"}},of{{*,k=0}},end=null}}:\n{stc}}}");
    let json = format!("{{\"a\":1,\"rows\":[{}]}}", json.join(","));
    let steps = steps(stc.as_bytes(), json.as_bytes());
    assert!(steps <= 40, "{steps} steps for {} bytes", stc.len());
}

/// Decodes a byte at a time, which leaves nothing to a fast path but a token of one byte.
fn decode_slowly(text: &[u8]) -> Result<Vec<u8>, Error> {
    let (mut decoder, mut out) = (Decoder::new(), Vec::new());
    for byte in text.chunks(1) {
        decoder.push(byte, &mut out)?;
    }
    decoder.finish(&mut out)?;
    Ok(out)
}

#[test]
fn a_control_character_in_a_string_is_found_where_it_is() {
    for layout in LAYOUTS.iter().chain([&MINIFIED]) {
        // Two rows: what is read of a row after the damage is what differs between the fast paths and the slow one.
        let text = rows(2, layout);
        // 13 and 64 share no factor, so that a run with fewer rounds meets every position of a block too.
        for at in (0..text.len()).step_by(13 / rounds(13)) {
            for wrong in [b'\t', b'\n', b'\r', 0, 0x1F, b' '] {
                let mut damaged = text.clone().into_bytes();
                damaged.insert(at, wrong);
                let expected = decode_slowly(&damaged);
                for kernel in Kernel::available() {
                    let found = decoder(Options::default(), kernel).decode(&damaged).map(<[u8]>::to_vec);
                    assert_eq!(found, expected, "{} with {wrong:#x} at {at}", layout.name);
                }
            }
        }
    }
}

#[test]
fn a_header_is_not_read_byte_by_byte() {
    for width in [1, 8, 31, 100, 400] {
        let key = |column: usize| if column % 3 == 2 { format!("key-{column}") } else { format!("key_{column}") };
        let row = |row: usize| {
            let members: Vec<_> = (0..width).map(|column| format!("\"{}\":{}", key(column), row + column)).collect();
            format!("{{{}}}", members.join(","))
        };
        let json = format!("[{},{},{}]", row(1), row(2), row(3)).into_bytes();
        for options in [Options::default().format(Format::Stc1), Level::NoReferences.options()] {
            let text = stc::Encoder::with_options(options).encode(&json).expect("JSON").to_vec();
            let steps = steps(&text, &json);
            // A few around the header. Rows of version 2 are read byte by byte where less than 64 bytes are left.
            let most = if options == Options::default().format(Format::Stc1) { 20 } else { 160 };
            assert!(steps <= most, "{width} columns, {options:?}: {steps} steps for {} bytes", text.len());
        }
    }
}
