//! The laws on random documents, on damaged documents, and on every split of small ones.

use stc::laws;
use stc::{Format, Limits, Options};

use crate::levels::Level;
use crate::random::{Choices, Random, damaged, damaged_stc, document, rounds};
use crate::vectors;
use crate::verdict::is_json;

/// Returns options with the depth limit of serde_json, so that both parsers accept the same documents.
fn options() -> Options {
    stc1().limits(Limits::default().depth(100_000))
}

/// Returns the options of an encoder of STC 1.
pub(crate) fn stc1() -> Options {
    Options::default().format(Format::Stc1)
}

/// Returns the options of everything that an encoder writes: STC 1 and the levels of version 2.
pub(crate) fn formats(options: Options) -> [Options; 4] {
    let [labelled, no_references, whole] = Level::PLANNED.map(|level| level.of(options));
    [options.format(Format::Stc1), labelled, no_references, whole]
}

pub(crate) fn encoded(json: &[u8], options: Options) -> Result<Vec<u8>, stc::Error> {
    let mut out = Vec::new();
    stc::Encoder::with_options(options).encode_into(json, &mut out).map(|()| out)
}

#[test]
fn keys_and_values_of_every_length_in_every_form() {
    // Lengths around the sizes of blocks and buffers, and far beyond them.
    const LENGTHS: [usize; 16] = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 500, 1100, 5000, 70_000];
    // Miri is about a thousand times slower.
    for (at, &length) in LENGTHS.iter().enumerate().step_by(if cfg!(miri) { 9 } else { 1 }) {
        let others = if length > 1100 { 2 } else { at + 1 };
        for (&other, bare) in LENGTHS.iter().take(others).zip([true, false].into_iter().cycle()) {
            let key = |name: char| format!("\"{name}{}{}\"", "k".repeat(length), if bare { "" } else { "-" });
            let text = |row: usize| format!("\"{row}{}\"", "v".repeat(other));
            let [a, b, c] = ['a', 'b', 'c'].map(key);
            let rows = |row: &dyn Fn(usize) -> String| (0..4).map(row).collect::<Vec<_>>().join(",");
            let flat = rows(&|row| format!("{{{a}:{row},{b}:{}}}", text(row)));
            let nested = rows(&|row| format!("{{{a}:{row},{b}:{{{a}:{},{c}:[{{{b}:{row}}}]}}}}", text(row)));
            let ragged =
                rows(&|row| if row % 2 == 0 { format!("{{{a}:{}}}", text(0)) } else { format!("{{{a}:1,{c}:{row}}}") });
            let keyed = rows(&|row| format!("\"{row}{}\":{{{a}:{row},{b}:{}}}", "k".repeat(other), text(1)));
            let shapes = rows(&|row| format!("[{{{a}:{row},{b}:{}}},{row}]", text(row)));
            for json in [
                format!("[{flat}]"),
                format!("{{{a}:[{nested}],{b}:[{ragged}]}}"),
                format!("{{{keyed}}}"),
                format!("[{shapes},{{{c}:[{}]}}]", rows(&text)),
            ] {
                for options in formats(options()) {
                    let stc = laws::round_trip(json.as_bytes(), options).expect("JSON");
                    laws::decode_in_chunks(&stc, &[stc.len() / 3, stc.len() / 2], options);
                }
            }
        }
    }
}

#[test]
fn random_documents_survive_the_round_trip() {
    let mut random = Random::new(1);
    // Counts each form, so that the generator is known to produce all of them.
    const FORMS: [&str; 12] = ["]{", "]: ", "}:\n", "?", "=", "?=", "}{", "(", "@a(", "*a", "$a\"", "${"];
    let mut forms = [0; FORMS.len()];
    let strict = [
        Limits::default().ratio_after(0).ratio(4),
        Limits::default().columns(3).header(60),
        Limits::default().row(80).anchors(90),
    ];
    for round in 0..rounds(20_000) {
        let json = document(&mut random);
        assert!(is_json(json.as_bytes()), "{json}");
        for options in formats(options()) {
            let stc = laws::round_trip(json.as_bytes(), options).expect("valid JSON is taken");
            let text = std::str::from_utf8(&stc).expect("text");
            for (form, count) in FORMS.iter().zip(&mut forms) {
                *count += usize::from(text.contains(form));
            }
            let options = options.limits(strict[round % strict.len()]);
            laws::round_trip(json.as_bytes(), options).expect("whatever the limits, an encoder keeps them");
        }
    }
    let rare: Vec<_> = FORMS.iter().zip(forms).filter(|&(_, count)| count < rounds(500)).collect();
    assert!(rare.is_empty(), "{rare:?}");
}

#[test]
fn exactly_json_is_accepted() {
    let mut random = Random::new(2);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..rounds(40_000) {
        let json = damaged(document(&mut random).as_bytes(), &mut random);
        for options in formats(options()) {
            match laws::round_trip(&json, options) {
                Ok(_) => good += 1,
                Err(_) => bad += 1,
            }
            let taken = encoded(&json, options).is_ok();
            assert_eq!(taken, is_json(&json), "{}", json.escape_ascii());
        }
    }
    assert!(good > rounds(1000) && bad > rounds(10_000), "{good} {bad}");
}

#[test]
fn any_bytes_as_stc() {
    let mut random = Random::new(3);
    let (mut good, mut bad) = (0, 0);
    for round in 0..rounds(40_000) {
        let json = document(&mut random);
        for options in formats(options()) {
            let stc = encoded(json.as_bytes(), options).expect("valid JSON is taken");
            let stc = if round % 2 == 0 { damaged(&stc, &mut random) } else { damaged_stc(&stc, &mut random) };
            match laws::decode_anything(&stc, options) {
                Ok(_) => good += 1,
                Err(_) => bad += 1,
            }
        }
    }
    assert!(good > rounds(1000) && bad > rounds(10_000), "{good} {bad}");
}

#[test]
fn every_split_of_the_vectors() {
    for file in ["encode", "decode", "reject", "reject-json", "v2-decode", "v2-reject"] {
        for case in vectors::cases(file) {
            for field in ["json", "stc"] {
                if case[field].is_null() && case[format!("{field}_hex")].is_null() {
                    continue;
                }
                let text = vectors::bytes(&case, field);
                let bytewise: Vec<usize> = (0..text.len()).collect();
                laws::encode_in_chunks(&text, &bytewise, options());
                laws::decode_in_chunks(&text, &bytewise, options());
                for cut in (0..text.len().min(300)).step_by(300 / rounds(300)) {
                    laws::encode_in_chunks(&text, &[cut], options());
                    laws::decode_in_chunks(&text, &[cut], options());
                }
            }
        }
    }
}

#[test]
fn each_form_cut_after_every_block() {
    // Chunks are processed in blocks of 64 bytes, so a cut matters only at the end of a block: leading whitespace moves the
    // document through all positions of a block.
    let forms = [
        r#"{"a":[1,2],"b":["x"],"c":[],"d":[{}],"e":[[1]],"f":[true,false,null],"g":{"h":{}}}"#,
        r#"[{"a":1,"b":"x"},{"a":2,"b":"y"},{"a":3,"b":"z"}]"#,
        r#"[[{"a":1},{"a":2}],[{"a":1},{"b":2}],[{"a":1},{"a":[]}],[{"a":1}],[{},{}],{"k":[{"a":-1.5e9},{"a":null}]}]"#,
        r#""\u00e9\\\"é😀""#,
        "[-0.5e+10, 123456789, true, false, null]",
    ];
    for form in forms {
        for pad in (0..64).step_by(if cfg!(miri) { 21 } else { 1 }) {
            let json = format!("{}{form}", " ".repeat(pad));
            let cuts: Vec<usize> = (0..json.len()).step_by(64).collect();
            for options in [options(), options().window(20)] {
                laws::encode_in_chunks(json.as_bytes(), &cuts, options);
                let stc = laws::round_trip(json.as_bytes(), options).expect("valid");
                laws::decode_in_chunks(&stc, &[pad, pad + 1], options);
            }
        }
    }
}

#[test]
fn random_splits_of_random_documents() {
    let mut random = Random::new(4);
    for round in 0..rounds(20_000) {
        let mut json = document(&mut random).into_bytes();
        if round % 3 == 0 {
            json = damaged(&json, &mut random);
        }
        let mut options = formats(options())[round % 4];
        let stc = encoded(&json, options).unwrap_or_else(|_| json.clone());
        if round % 2 == 0 {
            options = options.window(random.below(200));
        }
        for text in [&json, &stc] {
            let mut cuts: Vec<usize> = (0..random.below(6)).map(|_| random.below(text.len() + 1)).collect();
            cuts.sort_unstable();
            laws::encode_in_chunks(text, &cuts, options);
            laws::decode_in_chunks(text, &cuts, options);
        }
    }
}

#[test]
fn long_documents_in_chunks_of_every_size() {
    // Longer than the scanner's buffer, so that its text and index are dropped on the way.
    let mut random = Random::new(5);
    for spaced in [false, true] {
        for broken in [false, true] {
            let rows: Vec<String> = (0..rounds(4000)).map(|_| document(&mut random)).collect();
            let mut json = format!("[{}]", rows.join(if spaced { " ,\n " } else { "," })).into_bytes();
            if broken {
                let at = json.len() - 300;
                json[at] = 0;
            }
            for size in [1, 63, 64, 65, 1000, 65_536, 100_000] {
                let cuts: Vec<usize> = (0..json.len()).step_by(size).collect();
                for options in formats(options()) {
                    laws::encode_in_chunks(&json, &cuts, options);
                }
            }
            for options in formats(options()) {
                assert_eq!(laws::round_trip(&json, options).is_ok(), !broken);
            }
        }
    }
}

/// A script that runs these tests for certain kernels names them in `STC_KERNELS`; fails if others are available.
#[test]
fn the_kernels_are_those_expected() {
    let names: Vec<&str> = stc::internal::Kernel::available().iter().map(|kernel| kernel.name()).collect();
    println!("kernels: {names:?}");
    if let Ok(expected) = std::env::var("STC_KERNELS") {
        assert_eq!(format!("{names:?}"), expected);
    }
    assert_eq!(names.last(), Some(&"portable"));
    // A kernel that is not found makes everything slower, and nothing wrong.
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt") && has!("pclmulqdq");
        let avx512 =
            has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512vbmi") && has!("avx512vbmi2");
        let expected = [(avx2 && avx512, "avx512"), (avx2, "avx2"), (true, "portable")];
        assert_eq!(names, expected.iter().filter(|kernel| kernel.0).map(|kernel| kernel.1).collect::<Vec<_>>());
    }
}

#[test]
fn every_kernel_agrees() {
    let mut random = Random::new(7);
    for round in 0..rounds(10_000) {
        let mut json = document(&mut random).into_bytes();
        if round % 2 == 0 {
            json = damaged(&json, &mut random);
        }
        laws::kernels(&json, formats(options())[round % 4]);
    }
    // Escapes, quotes and incomplete characters across every block boundary.
    for pad in (0..200).step_by(if cfg!(miri) { 31 } else { 1 }) {
        for text in ["\\\"\\\\\"", "\\u12aF", "é😀", "\\", "1 2", "\u{1}", "\\u12"] {
            let json = format!("{}\"{}{text}\"", " ".repeat(pad % 70), "x".repeat(pad));
            laws::kernels(json.as_bytes(), options());
        }
    }
}

/// Some kernels skip numbers by blocks; the portable one does not.
#[test]
fn every_kernel_agrees_on_lists_of_numbers() {
    let flat: Vec<String> =
        (0..40).map(|number| format!("{}", f64::from(number * number * number) / 8.0 - 7.0)).collect();
    let pairs: Vec<String> = flat.chunks(2).map(|pair| format!("[{}]", pair.join(","))).collect();
    let (flat, pairs) = (flat.join(","), pairs.join(","));
    let member = format!("{{\"a\":[{flat}],\"b\":1}}");
    // Miri is slow: one position in the third block, and a few bytes there.
    let (first, step, few) = if cfg!(miri) { (150, 997, 4) } else { (0, 11 / rounds(11), 1) };
    for json in [format!("[{flat}]"), member, format!("{{\"a\":[[{pairs}],[{pairs}]]}}")] {
        for at in (first..json.len()).step_by(step) {
            for &byte in b",[]{}:\" 05-.eEa".iter().step_by(few) {
                let mut damaged = json.clone().into_bytes();
                damaged[at] = byte;
                laws::kernels(&damaged, formats(options())[at % 4]);
                damaged.insert(at, json.as_bytes()[at]);
                laws::kernels(&damaged, formats(options())[at % 4]);
            }
        }
    }
    // Strings next to numbers; numbers inside a string, and a number missing between whitespace.
    for odd in ["1\"a\"2", "1\"\"2", "\"1\"2", "1\"2\"", "1\"5,2\"3", "1\"5,2,2,2\"3,1 2", "1\"5,2,2\"3", "1 2"]
        .into_iter()
        .step_by(few)
    {
        for options in formats(options()) {
            laws::kernels(format!("[{flat},{odd},{flat}]").as_bytes(), options);
            laws::kernels(format!("[[{pairs},[1,{odd}],{pairs}]]").as_bytes(), options);
        }
    }
}

#[test]
fn strings_are_encoded_and_decoded_as_bytes_are() {
    let json = "{\"é\": [1, 2], \"b\": null}";
    let text = stc::encode_str(json).expect("JSON");
    assert_eq!(Ok(text.as_bytes()), stc::encode(json.as_bytes()).as_deref());
    assert_eq!(stc::decode_str(&text).as_deref(), Ok("{\"é\":[1,2],\"b\":null}"));
    for wrong in ["", "[1 2]", "{\"é\": x}"] {
        assert_eq!(stc::encode_str(wrong).err(), stc::encode(wrong.as_bytes()).err(), "{wrong}");
        assert_eq!(stc::decode_str(wrong).err(), stc::decode(wrong.as_bytes()).err(), "{wrong}");
    }
}

#[test]
fn a_used_codec_equals_a_fresh_one() {
    let mut random = Random::new(6);
    let documents: Vec<Vec<u8>> = (0..rounds(2000))
        .map(|round| {
            let json = document(&mut random).into_bytes();
            if round % 2 == 0 { damaged(&json, &mut random) } else { json }
        })
        .collect();
    for options in formats(options()) {
        laws::reuse(documents.iter().map(Vec::as_slice), options);
    }
}

#[test]
fn the_window_depends_on_the_document_alone() {
    let array = r#"{"a":[1,2,3],"b":[{"x":1},{"x":2}]}"#;
    let spaced = array.replace(',', " ,\n ");
    let encoded = |json: &str, window| {
        let options = stc1().window(window);
        let stc = laws::round_trip(json.as_bytes(), options).expect("valid");
        String::from_utf8(stc).expect("text")
    };
    for json in [array, &spaced] {
        // `[1,2,3]` has 7 bytes, the other 17.
        assert_eq!(encoded(json, 6), r#"{a: [1,2,3], b: [{x: 1},{x: 2}]}"#);
        assert_eq!(encoded(json, 7), r#"{a[3]: 1,2,3, b: [{x: 1},{x: 2}]}"#);
        assert_eq!(encoded(json, 16), r#"{a[3]: 1,2,3, b: [{x: 1},{x: 2}]}"#);
        assert_eq!(encoded(json, 17), r#"{a[3]: 1,2,3, b: [2]{x}: 1 / 2}"#);
    }
    // Longer than a block, pushed byte by byte: the output is complete only after `finish`.
    for (element, form) in [("1", "{a[90]: "), ("\"text\"", "{a[90]: "), (r#"{"x":1}"#, "{a: [90]{x}: ")] {
        let array = format!("[{}]", vec![element; 90].join(","));
        for (window, pad) in
            (array.len() - 1..=array.len() + 1).flat_map(|window| (0..64).map(move |pad| (window, pad)))
        {
            let json = format!("{{\"a\":{array},\"b\":\"{}\"}}", "x".repeat(pad));
            assert_eq!(encoded(&json, window).starts_with(form), window >= array.len());
            let json = format!("[\"{}\",{json}]", "x".repeat(pad));
            let cuts: Vec<usize> = (0..json.len()).step_by(64).collect();
            laws::encode_in_chunks(json.as_bytes(), &cuts, stc1().window(window));
        }
    }
}
