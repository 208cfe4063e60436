//! Headers of version 2 are read on the fast path, whatever their width: what is left for the machine is counted.

use stc::internal::take_slow_steps;

/// Returns how many slow steps it takes to decode `stc`, which must mean `json`.
fn slow_steps(stc: &str, json: &str) -> u64 {
    let mut decoder = stc::Decoder::new();
    take_slow_steps();
    assert_eq!(decoder.decode(stc.as_bytes()).map(String::from_utf8_lossy).as_deref(), Ok(json));
    take_slow_steps()
}

/// Kinds of columns: as a header has one, its cell in a row, and the member it means. `K` is the key.
const KINDS: [(&str, &str, &str); 9] = [
    ("K", "1", "\"K\":1"),
    ("K?", "\"text\"", "\"K\":\"text\""),
    ("K=null", "", "\"K\":null"),
    ("K=\"constant\"", "", "\"K\":\"constant\""),
    ("K?=-12.5", "", "\"K\":-12.5"),
    ("K.{x,y?}", "1,2", "\"K\":{\"x\":1,\"y\":2}"),
    ("K.{x=1,z.{u}}", "3", "\"K\":{\"x\":1,\"z\":{\"u\":3}}"),
    ("K{x,y}", "(1,2)", "\"K\":{\"x\":1,\"y\":2}"),
    ("K?{x,y?}=false", "", "\"K\":false"),
];

/// Returns a table of `width` columns, which are of these kinds in turn, and the JSON it means.
fn table(width: usize, kinds: &[usize], keyed: bool) -> (String, String) {
    let columns = || (0..width).map(|at| (format!("key_{at}"), KINDS[kinds[at % kinds.len()]]));
    let header = columns().map(|(key, (header, ..))| header.replace('K', &key)).collect::<Vec<_>>().join(",");
    // A constant has no cell.
    let has_cell = |header: &str| !header.starts_with("K=");
    let cells = columns().filter(|(_, (header, ..))| has_cell(header)).map(|(_, (_, cell, _))| cell);
    let cells = cells.collect::<Vec<_>>().join(",");
    let members = columns().map(|(key, (_, _, json))| json.replace('K', &key)).collect::<Vec<_>>().join(",");
    if keyed {
        (format!("{{2}}{{{header}}}:\na:{cells}\nb:{cells}\n"), format!("{{\"a\":{{{members}}},\"b\":{{{members}}}}}"))
    } else {
        (format!("[2]{{{header}}}:\n{cells}\n{cells}\n"), format!("[{{{members}}},{{{members}}}]"))
    }
}

#[test]
fn the_slow_steps_of_a_header_do_not_grow_with_its_width() {
    let all: Vec<usize> = (0..KINDS.len()).collect();
    let each = (0..KINDS.len()).map(|kind| vec![0, kind]);
    for kinds in each.chain([all]) {
        for keyed in [false, true] {
            for width in [40, 400] {
                let (stc, json) = table(width, &kinds, keyed);
                let steps = slow_steps(&stc, &json);
                // A row whose constants are long is left to the machine where its output outgrows the room reserved for it.
                assert!(steps <= 20, "{kinds:?}: {steps} slow steps for {width} columns");
            }
        }
    }
}
