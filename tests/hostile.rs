//! Hostile input: bombs, floods, invalid UTF-8, truncated text. The laws hold for all of it, and memory stays within the
//! documented bounds.
//!
//! The time of a bomb is printed, not asserted: `cargo test --release --test main hostile::bombs -- --nocapture`.

use std::io::Read;
use std::time::Instant;

use allocation_counter::measure;
use stc::internal::{Kernel, decoder, encoder};
use stc::io::DecodeReader;
use stc::{Decoder, Encoder, ErrorKind, Format, Limits, Options, laws};

use crate::laws::{encoded, stc1};
use crate::levels::Level;
use crate::random::rounds;
use crate::verdict::is_json;
use crate::{corpus, vectors};

const MIB: u64 = 1 << 20;

/// A hostile input, its limits, and the expected result.
struct Bomb {
    name: &'static str,
    bytes: Vec<u8>,
    limits: Limits,
    ends: Result<(), ErrorKind>,
}

fn bomb(name: &'static str, bytes: impl Into<Vec<u8>>, ends: Result<(), ErrorKind>) -> Bomb {
    Bomb { name, bytes: bytes.into(), limits: Limits::default(), ends }
}

impl Bomb {
    fn within(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

/// Returns keys that collide under the hash `h * 31 + c`, whatever its width.
fn colliding(keys: usize) -> impl Iterator<Item = String> {
    (0..keys).map(|number| (0..20).map(|bit| if number >> bit & 1 == 0 { "Aa" } else { "BB" }).collect())
}

fn row(keys: impl Iterator<Item = String>) -> String {
    let members: Vec<String> = keys.map(|key| format!("\"{key}\":1")).collect();
    format!("{{{}}}", members.join(","))
}

fn numbered(keys: usize) -> impl Iterator<Item = String> {
    (0..keys).map(|number| format!("k{number}"))
}

/// Returns an array of about `size` bytes whose elements are made from their index.
fn listed(size: usize, make: impl Fn(usize) -> String) -> String {
    let count = size / make(0).len();
    format!("[{}]", (0..count).map(make).collect::<Vec<_>>().join(","))
}

/// Returns objects in objects, and in the innermost one a digit.
fn chain(levels: usize, digit: char) -> String {
    format!("{}{digit}{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

/// Returns JSON of about `size` bytes each that is expensive for an encoder.
fn json_bombs(size: usize) -> Vec<Bomb> {
    let deep = Limits::default().depth(usize::MAX);
    let table = |rows: usize, last: &str| format!("[{}{last}]", r#"{"a":1,"b":2},"#.repeat(rows));
    let wide = row(numbered(size / 24));
    // At least two rows at any size: a single row has nothing to compare with.
    let flood = row(colliding((size / 92).min(4096)));
    let long_key = format!("{{\"{}\":1}}", "k".repeat(200_000));
    vec![
        bomb("brackets", "[".repeat(size), Err(ErrorKind::Depth)),
        bomb("brackets, depth without limit", ["[".repeat(size / 2), "]".repeat(size / 2)].concat(), Ok(()))
            .within(deep),
        bomb(
            "objects, depth without limit",
            [r#"{"a":"#.repeat(size / 6), "1".into(), "}".repeat(size / 6)].concat(),
            Ok(()),
        )
        .within(deep),
        bomb(
            "two deep objects of the same length that differ inside, depth without limit",
            [r#"{"x":"#, &chain(size / 14, '1'), r#","y":"#, &chain(size / 14, '2'), "}"].concat(),
            Ok(()),
        )
        .within(deep),
        bomb(
            "tables in tables, depth without limit",
            [r#"[{"a":1},{"a":"#.repeat(size / 16), "1".into(), "}]".repeat(size / 16)].concat(),
            Ok(()),
        )
        .within(deep),
        bomb("a number", "7".repeat(size), Ok(())),
        bomb("a fraction", format!("0.{}", "0".repeat(size)), Ok(())),
        bomb("a number in an array", format!("[{}]", "7".repeat(size)), Ok(())),
        bomb("a string", format!("\"{}\"", "x".repeat(size)), Ok(())),
        bomb("backslashes", format!("\"{}\"", r"\\".repeat(size / 2)), Ok(())),
        bomb("escapes", format!("\"{}\"", r"\u0000".repeat(size / 6)), Ok(())),
        bomb("a key", format!("{{\"{}\":1}}", "k".repeat(size)), Ok(())),
        bomb("whitespace", format!("{}1{}", " ".repeat(size / 2), "\n".repeat(size / 2)), Ok(())),
        bomb("whitespace between", format!("[1{},2]", " \t\r\n".repeat(size / 4)), Ok(())),
        bomb("quotes", "\"\",".repeat(size / 3), Err(ErrorKind::Syntax(stc::Expected::End))),
        bomb("commas", format!("[{}", ",".repeat(size)), Err(ErrorKind::Syntax(stc::Expected::ValueOrClose))),
        bomb("empty arrays", format!("[{}[]]", "[],".repeat(size / 3)), Ok(())),
        bomb("empty objects", format!("[{}{{}}]", "{},".repeat(size / 3)), Ok(())),
        bomb("zeros in a member", format!("{{\"a\":[{}0]}}", "0,".repeat(size / 2)), Ok(())),
        bomb("zeros in a member, and a null", format!("{{\"a\":[{}null]}}", "0,".repeat(size / 2)), Ok(())),
        bomb("a table", table(size / 14, r#"{"a":1,"b":2}"#), Ok(())),
        bomb("a table but for the last row", table(size / 14, r#"{"a":1,"c":2}"#), Ok(())),
        bomb("a table but for the last value", table(size / 14, r#"{"a":1,"b":[]}"#), Ok(())),
        bomb("a table without its end", format!("[{}", r#"{"a":1,"b":2},"#.repeat(size / 14)), {
            Err(ErrorKind::Truncated(stc::Expected::Value))
        }),
        bomb("many small tables", format!("[{}1]", r#"[{"a":1},{"a":2}],"#.repeat(size / 18)), Ok(())),
        bomb("rows of a million keys", format!("[{wide},{wide}]"), Ok(())),
        bomb("keys that collide", format!("[{}]", vec![&flood[..]; (size / flood.len()).max(2)].join(",")), Ok(())),
        bomb(
            "rows in another order",
            {
                let keys: Vec<String> = numbered((size / 60).min(4000)).collect();
                let row = |keys: &mut dyn Iterator<Item = &String>| {
                    format!("{{{}}}", keys.map(|key| format!("\"{key}\":1")).collect::<Vec<_>>().join(","))
                };
                let (one, other) = (row(&mut keys.iter()), row(&mut keys.iter().rev()));
                format!("[{}{one}]", format!("{one},{other},").repeat(size / (2 * one.len()) + 1))
            },
            Ok(()),
        ),
        bomb("rows of long keys", format!("[{}]", vec![&long_key[..]; size / long_key.len() + 2].join(",")), Ok(())),
        bomb("a table of no keys", format!("[{}{{}}]", "{\"\":1},".repeat(size / 7)), Ok(())),
        // What an encoder of version 2 has to store, as dense as possible without exceeding the limit of planning.
        bomb(
            "many short tables",
            listed(size, |number| {
                format!(
                    r#"[{{"one_key":"{number:09}","other":"text"}},{{"one_key":"text","other":"{number:09}"}}],{number}"#
                )
            }),
            Ok(()),
        ),
        bomb(
            "many objects that share no keys",
            listed(size, |number| format!(r#"{{"key_{number:09}":"text"}},{number}"#)),
            Ok(()),
        ),
        bomb(
            "objects whose keys begin and end alike",
            listed(size, |number| {
                let key = |part: usize| "a".repeat(15 + (number >> (4 * part) & 15));
                format!(r#"{{"{}":1,"b{}":2,"c{}":3,"d{}":4}},0"#, key(0), key(1), key(2), key(3))
            }),
            Ok(()),
        ),
        bomb(
            "many objects worth an anchor",
            listed(size, |number| format!(r#"{{"a":"{number:09} some text","b":["more","of","it"]}},{number}"#)),
            Ok(()),
        ),
        bomb(
            "addresses of many parts",
            listed(size, |number| format!(r#""https://a.example/{number:09}/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t""#)),
            Ok(()),
        ),
        bomb(
            "rows with objects in them",
            listed(size, |number| format!(r#"{{"a":{{"id":"{number:09}"}},"b":{{"id":"text {number}"}}}}"#)),
            Ok(()),
        ),
        bomb(
            "rows whose columns differ",
            listed(size, |number| format!(r#"{{"always":"{number:09}","key_{}":"some text"}}"#, number % 4000)),
            Ok(()),
        ),
        bomb(
            "tuples with templates in one row",
            {
                let tuples = listed(size, |number| format!(r#"{{"id":"{number:09}","address":"/of/{number:09}/"}}"#));
                format!(r#"[{{"a":1,"b":{tuples}}},{{"a":2,"b":[]}}]"#)
            },
            Ok(()),
        ),
        bomb(
            "objects that repeat an earlier one",
            listed(size, |row| {
                let by = format!(r#"{{"login":"user{}","url":"https://example.com/users","bot":false}}"#, row % 5000);
                format!(r#"{{"id":{row},"by":{by}}}"#)
            }),
            Ok(()),
        ),
        bomb(
            "objects of one length that differ in the middle",
            listed(size, |row| {
                let by = format!(
                    r#"{{"login":"the same","id":"{row:09}","url":"https://example.com/{0}/{0}"}}"#,
                    "users".repeat(9)
                );
                format!(r#"{{"id":{row},"by":{by}}}"#)
            }),
            Ok(()),
        ),
    ]
}

/// Returns STC that is expensive for a decoder.
fn stc_bombs(size: usize) -> Vec<Bomb> {
    let limit = Limits::default().output(32 * MIB);
    let ones = |count: usize| vec!["1"; count].join(" / ");
    let keys: Vec<String> = numbered(4096).collect();
    let cells = vec!["1"; 4096].join(",");
    let most = "9".repeat(19);
    let count = |kind| Err(ErrorKind::Truncated(kind));
    vec![
        bomb("a count of rows, no rows", format!("[{most}]{{a}}: 1"), count(stc::Expected::Slash)),
        bomb("a count of elements, no elements", format!("{{a[{most}]: 1"), count(stc::Expected::Comma)),
        bomb("a count of rows, few rows", format!("[{most}]{{a}}: {}", ones(size / 4)), count(stc::Expected::Slash)),
        bomb(
            "counts of tables, no rows",
            format!("[{}", format!("[{most}]{{a}}: 1,").repeat(size / 30)),
            Err(ErrorKind::Count(stc::Expected::Slash)),
        ),
        bomb(
            "a header of a million keys",
            format!("[2]{{{}}}: 1", numbered(size / 8).collect::<Vec<_>>().join(",")),
            Err(ErrorKind::Columns),
        ),
        bomb("a header of one key", format!("[2]{{{}}}: 1 / 1", "k".repeat(size)), Err(ErrorKind::Header)),
        bomb(
            "a header of keys that collide",
            format!("[2]{{{}}}: {cells} / {cells}", colliding(4096).collect::<Vec<_>>().join(",")),
            Ok(()),
        ),
        bomb("repeated headers", format!("[{}1]", "[1]{a,b,c,d}: 1,2,3,4,".repeat(size / 22)), Ok(())),
        bomb(
            "repeated headers of 4,096 keys",
            format!("[{}1]", format!("[1]{{{}}}: {cells},", keys.join(",")).repeat(size / 32_000 + 1)),
            Ok(()),
        ),
        bomb("a key per row", format!("[{0}]{{{1}}}: {2}", 60_000, "k".repeat(60_000), ones(60_000)), {
            Err(ErrorKind::Ratio)
        }),
        bomb(
            "a key per row, to the output limit",
            format!("[{0}]{{{1}}}: {2}", 60_000, "k".repeat(60_000), ones(60_000)),
            Err(ErrorKind::Output),
        )
        .within(limit),
        bomb("brackets", "[".repeat(size), Err(ErrorKind::Depth)),
        bomb("brackets, depth without limit", ["[".repeat(size / 2), "]".repeat(size / 2)].concat(), Ok(()))
            .within(Limits::default().depth(usize::MAX)),
        bomb(
            "objects, depth without limit",
            ["{a: ".repeat(size / 5), "1".into(), "}".repeat(size / 5)].concat(),
            Ok(()),
        )
        .within(Limits::default().depth(usize::MAX)),
        bomb("a number", "7".repeat(size), Ok(())),
        bomb("a count too long", format!("[{}]{{a}}: 1", "7".repeat(size)), {
            Err(ErrorKind::Syntax(stc::Expected::End))
        }),
        bomb("a string", format!("\"{}\"", "x".repeat(size)), Ok(())),
        bomb("escapes", format!("\"{}\"", r"\u0000".repeat(size / 6)), Ok(())),
        bomb("a bare key", format!("{{{}: 1}}", "k".repeat(size)), Ok(())),
        bomb("whitespace", format!("[1]{}", " ".repeat(size)), Ok(())),
        bomb("whitespace in a row", format!("[2]{{a}}: 1{}/ 2", " ".repeat(size)), Ok(())),
        bomb("compact arrays of one", format!("{{{}z: 1}}", "a[1]: 1,".repeat(size / 8)), Ok(())),
        bomb("arrays of one number", format!("[{}[1]]", "[1],".repeat(size / 4)), Ok(())),
    ]
    .into_iter()
    .chain(v2_bombs(size))
    .collect()
}

/// Returns STC 2 in which a short text expands to a long one.
fn v2_bombs(size: usize) -> Vec<Bomb> {
    let most = "9".repeat(19);
    let long = "x".repeat(60_000);
    let rows = |row: &str| row.repeat(size / row.len());
    let times = |what: &str| size / what.len();
    let deep = Limits::default().depth(usize::MAX);
    let tuples = |before: &str, open: &str, after: &str| {
        let levels = (size / 4).min(60_000);
        [before, &open.repeat(levels), "1", &")".repeat(levels), after].concat()
    };
    // Rows of as many keys as the list has, each made of a key of the list.
    let open_table = |keys: Box<dyn Iterator<Item = String>>, member: &dyn Fn(&str) -> String| {
        let keys: Vec<String> = keys.collect();
        let row = format!("{{{}}}\n", keys.iter().map(|key| member(key)).collect::<Vec<_>>().join(","));
        let count = size / row.len() + 1;
        format!("[{count}]{{*,{}}}:\n{}", keys.join(","), row.repeat(count))
    };
    // Each of these would expand to more than a thousand times the input.
    let grows = [
        (
            "a constant per row",
            "a constant per row, to the output limit",
            format!("[{}]{{a,b=\"{long}\"}}:\n{}", times("1\n"), rows("1\n")),
        ),
        (
            "a constant object per row",
            "a constant object per row, to the output limit",
            format!("[{}]{{a,b={{c:[\"{long}\"]}}}}:\n{}", times("1\n"), rows("1\n")),
        ),
        (
            "a constant per open row",
            "a constant per open row, to the output limit",
            format!("[{}]{{*,b=\"{long}\"}}:\n{}", times("{}\n"), rows("{}\n")),
        ),
        (
            "a default per row",
            "a default per row, to the output limit",
            format!("[{}]{{a,b?=\"{long}\"}}:\n{}", times("1,\n"), rows("1,\n")),
        ),
        (
            "a keyed row",
            "a keyed row, to the output limit",
            format!("{{{}}}{{a,b=\"{long}\"}}:\n{}", times("k:1\n"), rows("k:1\n")),
        ),
        (
            "a repeated dictionary entry",
            "a repeated dictionary entry, to the output limit",
            format!("$a=\"{long}\"\n[{}$a]", rows("$a,")),
        ),
        ("a repeated anchor", "a repeated anchor, to the output limit", format!("[&a[\"{long}\"],{}*a]", rows("*a,"))),
        (
            "a repeated shape",
            "a repeated shape, to the output limit",
            format!("[@a{{{long}:1}},{}@a(1)]", rows("@a(1),")),
        ),
        (
            "a template per row",
            "a template per row, to the output limit",
            format!("[{}]{{a,b~\"{long}${{a}}\"}}:\n{}", times("1\n"), rows("1\n")),
        ),
        (
            "a filled cell per row",
            "a filled cell per row, to the output limit",
            format!("[{}]{{a~\"{long}${{}}\"}}:\n{}", times("1\n"), rows("1\n")),
        ),
    ];
    let ratio = grows.clone().map(|(name, _, stc)| bomb(name, stc, Err(ErrorKind::Ratio)));
    let limits = Limits::default().output(32 * MIB);
    let output = grows.map(|(_, name, stc)| bomb(name, stc, Err(ErrorKind::Output)).within(limits));
    let anchors: String = (0..12)
        .map(|level| {
            let uses = vec![format!("*{}", name(level)); 10].join(",");
            format!(",&{}[{uses}]", name(level + 1))
        })
        .collect();
    let others = [
        bomb("a count of rows of version 2, no rows", format!("[{most}]{{a}}:\n1\n"), {
            Err(ErrorKind::Truncated(stc::Expected::TableCell))
        }),
        bomb("anchors of anchors", format!("[&a[\"{}\"]{anchors}]", "x".repeat(1000)), Err(ErrorKind::Anchors)),
        bomb(
            "a long cell, repeated in a template",
            format!("[1]{{a,b~\"{}\"}}:\n\"{long}\"\n", "${a}".repeat(100)),
            Err(ErrorKind::Row),
        ),
        // Not on the fast path, which stops at the TAB. A frame for each level takes memory, so the depth is bounded.
        bomb("tuples in tuples, depth without limit", tuples("[@a{a:1},", "@a(\t", "]"), Ok(())).within(deep),
        bomb("a deep constant, depth without limit", tuples("[@a{a:1},[1]{c=", "@a(", "}:\n\n]"), Ok(()))
            .within(deep.header(1 << 20)),
        bomb(
            "an open list of many keys, and others",
            open_table(Box::new(numbered(4096)), &|key| format!("z{key}:1")),
            Ok(()),
        ),
        bomb(
            "an open list of keys that collide",
            open_table(Box::new(colliding(1000)), &|key| format!("{key}:1")),
            Ok(()),
        ),
        bomb("tables of one row", format!("[{}1]", "[1]{a,b}:\n1,2\n".repeat(size / 14)), Ok(())),
        bomb("empty cells", format!("[{}]{{a?,b?,c?}}:\n{}", times(",,\n"), rows(",,\n")), Ok(())),
    ];
    ratio.into_iter().chain(output).chain(others).collect()
}

/// Returns the names in order: a, b, and so on.
fn name(number: u8) -> char {
    char::from(b'a' + number)
}

fn options(bomb: &Bomb) -> Options {
    stc1().limits(bomb.limits)
}

/// Returns the size of a bomb.
fn size() -> usize {
    rounds(8 << 20).max(512 << 10)
}

#[track_caller]
fn assert_within(bomb: &Bomb, what: &str, peak: u64, most: u64, began: Instant) {
    let name = bomb.name;
    let (took, length) = (began.elapsed().as_millis(), bomb.bytes.len());
    println!("{name:40} {what:16} {length:>9} bytes {took:>6} ms, {:>9} KiB at most", peak / 1024);
    assert!(peak <= most, "{name}, {what}: {peak} bytes of memory for {length}, {most} allowed");
}

#[test]
fn an_encoder_of_stc_1_stays_within_its_memory_on_bombs() {
    // The documented bound has 16 MiB that do not grow with the input; at this size they would hide growth.
    encode_all_within(size(), 2 * MIB, options);
}

// Version 2 plans up to a million tokens; the 16 MiB are for that.
#[test]
fn an_encoder_of_stc_2_stays_within_its_memory_on_bombs() {
    // The last two are sizes at which deep documents have just as many levels as are planned, 65,536.
    for size in [size(), 16 << 15, (14 << 16) - 1] {
        encode_all_within(size, 16 * MIB, |bomb| options(bomb).format(Format::Stc2Labelled));
        encode_all_within(size, 16 * MIB, |bomb| Level::NoReferences.of(options(bomb)));
    }
}

#[test]
fn an_encoder_with_references_stays_within_its_memory_on_bombs() {
    // Sizes at which deep documents have just as many levels as are planned with references, or without: 32,768 and 65,536.
    for size in [size(), 16 << 14, 16 << 15, (14 << 15) - 1, (14 << 16) - 1] {
        encode_all_within(size, 16 * MIB, |bomb| options(bomb).format(Format::Stc2));
    }
}

/// Encodes every bomb of JSON of about `size` bytes, whole and in chunks, within eight bytes of memory for each byte plus `more`.
fn encode_all_within(size: usize, more: u64, options: impl Fn(&Bomb) -> Options) {
    for bomb in json_bombs(size) {
        let most = 8 * bomb.bytes.len() as u64 + more;
        let mut out = Vec::with_capacity(2 * bomb.bytes.len());
        let began = Instant::now();
        let whole = measure(|| {
            let ended = Encoder::with_options(options(&bomb)).encode(&bomb.bytes).map(|_| ());
            assert_eq!(ended.map_err(|error| error.kind()), bomb.ends, "{}", bomb.name);
        });
        assert_within(&bomb, "encode", whole.bytes_max, most, began);
        let began = Instant::now();
        let chunks = measure(|| {
            let mut encoder = Encoder::with_options(options(&bomb));
            let ended = bomb.bytes.chunks(4096).try_for_each(|chunk| {
                out.clear();
                encoder.push(chunk, &mut out)
            });
            let ended = ended.and_then(|()| encoder.finish(&mut out));
            assert_eq!(ended.map_err(|error| error.kind()), bomb.ends, "{}", bomb.name);
        });
        assert_within(&bomb, "encode, chunks", chunks.bytes_max, most, began);
    }
}

#[test]
fn a_decoder_stays_within_its_memory_on_bombs() {
    for bomb in stc_bombs(size()) {
        let began = Instant::now();
        let whole = measure(|| {
            let ended = Decoder::with_options(options(&bomb)).decode(&bomb.bytes).map(|_| ());
            assert_eq!(ended.map_err(|error| error.kind()), bomb.ends, "{}", bomb.name);
        });
        // The counting allocator never grows in place, so the old buffer of the last growth, four fifths, counts too.
        let most = bomb.bytes.len() as u64 + bomb.limits.output / 5 * 9 + 16 * MIB;
        assert_within(&bomb, "decode", whole.bytes_max, most, began);
        // As in a gateway: output is forwarded and dropped.
        let began = Instant::now();
        let streamed = measure(|| {
            let mut reader = DecodeReader::with_options(&bomb.bytes[..], options(&bomb));
            let mut buffer = [0; 8192];
            let ended = loop {
                match reader.read(&mut buffer) {
                    Ok(0) => break Ok(()),
                    Ok(_) => {}
                    Err(error) => {
                        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<stc::Error>());
                        break Err(inner.expect("the codec's own").kind());
                    }
                }
            };
            assert_eq!(ended, bomb.ends, "{}", bomb.name);
        });
        assert_within(&bomb, "decode, streaming", streamed.bytes_max, 16 * MIB, began);
    }
}

/// Runs one bomb by name, for `scripts/doubling`, which counts the instructions of [`go_off`] at one size and at twice that
/// size. Without a name it prints all names.
#[test]
fn one_bomb() {
    let size = std::env::var("STC_SIZE").map_or(1 << 16, |bytes| bytes.parse().expect("a number"));
    let (json, stc) = (json_bombs(size), stc_bombs(size));
    let ways = [
        ("encode", &json),
        ("encode 2, labelled", &json),
        ("encode 2, no references", &json),
        ("encode 2", &json),
        ("decode", &stc),
    ];
    let named = ways
        .iter()
        .flat_map(|(way, bombs)| bombs.iter().map(move |bomb| (format!("{way}: {}", bomb.name), *way, bomb)));
    let Ok(wanted) = std::env::var("STC_BOMB") else {
        return named.for_each(|(name, ..)| println!("bomb {name}"));
    };
    let (_, way, bomb) = named.clone().find(|(name, ..)| *name == wanted).expect("a bomb of that name");
    go_off(way, bomb);
}

/// Runs a bomb in chunks, which is harder than whole: earlier chunks must not be processed again with every new one.
#[inline(never)]
fn go_off(way: &str, bomb: &Bomb) {
    let mut out = Vec::new();
    let mut chunks = bomb.bytes.chunks(1000);
    if way != "decode" {
        let options = match way {
            "encode" => options(bomb).format(Format::Stc1),
            "encode 2, labelled" => Level::Labelled.of(options(bomb)),
            "encode 2, no references" => Level::NoReferences.of(options(bomb)),
            _ => Level::Whole.of(options(bomb)),
        };
        let mut encoder = Encoder::with_options(options);
        let _ = chunks.try_for_each(|chunk| encoder.push(chunk, &mut out)).and_then(|()| encoder.finish(&mut out));
    } else {
        let mut decoder = Decoder::with_options(options(bomb));
        let _ = chunks.try_for_each(|chunk| decoder.push(chunk, &mut out)).and_then(|()| decoder.finish(&mut out));
    }
}

#[test]
fn small_bombs_keep_every_law() {
    let bombs = json_bombs(700).into_iter().chain(stc_bombs(700)).filter(|bomb| bomb.bytes.len() < 5000);
    for bomb in bombs.step_by(3 / rounds(3)) {
        laws::all(&bomb.bytes);
    }
}

#[test]
fn invalid_utf8_at_every_block_boundary() {
    let sequences: [&[u8]; 16] = [
        b"\x80",
        b"\xBF",
        b"\xC0\x80",
        b"\xC1\xBF",
        b"\xC3",
        b"\xC3\x28",
        b"\xE0\x80\x80",
        b"\xE2\x82",
        b"\xED\xA0\x80",
        b"\xED\xBF\xBF",
        b"\xF0\x80\x80\x80",
        b"\xF0\x9F\x98",
        b"\xF4\x90\x80\x80",
        b"\xF8\x88\x80\x80\x80",
        b"\xFE",
        b"\xFF",
    ];
    for sequence in sequences {
        for pad in (0..200).step_by(37 / rounds(37)) {
            for after in ["", "x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"] {
                let text = [b"\"", "y".repeat(pad).as_bytes(), sequence, after.as_bytes(), b"\""].concat();
                for json in [text.clone(), [b"[1, ", &text[..], b"]"].concat(), [b"{\"k\":", &text[..], b"}"].concat()]
                {
                    let start = json.iter().position(|&byte| byte > 0x7F).expect("it is there") as u64;
                    let errors = [stc::encode(&json), stc::decode(&json)].map(|answer| answer.expect_err("no text"));
                    for error in errors {
                        assert_eq!((error.kind(), error.offset()), (ErrorKind::Utf8, start), "{}", json.escape_ascii());
                    }
                    laws::encode_in_chunks(&json, &[64], stc1());
                    laws::decode_in_chunks(&json, &[pad, pad + 1, pad + 2], Options::default());
                }
                laws::kernels(&text, stc1());
            }
        }
    }
}

/// Asserts that every kernel and format accepts exactly JSON, and restores it.
fn accepted_if_json(json: &str) {
    let expected = is_json(json.as_bytes());
    for kernel in Kernel::available() {
        for options in Format::ALL.map(|format| Options::default().format(format)) {
            let stc = encoder(options, kernel).encode(json.as_bytes()).map(<[u8]>::to_vec);
            assert_eq!(stc.is_ok(), expected, "{json} {}", kernel.name());
            if let Ok(stc) = stc {
                let back = decoder(options, kernel).decode(&stc).map(<[u8]>::to_vec);
                assert_eq!(back, Ok(laws::minify(json.as_bytes())), "{json} {}", kernel.name());
            }
        }
    }
}

/// Numbers, good and bad.
const NUMBERS: [&str; 51] = [
    "0",
    "-0",
    "7",
    "-7",
    "10",
    "01",
    "-01",
    "00",
    "-00",
    "0.0",
    "-0.5",
    "0.",
    "-0.",
    ".5",
    "-.5",
    "1.5",
    "1.5.5",
    "1..5",
    "10.25e7",
    "1e5",
    "1E5",
    "1e+5",
    "1E-05",
    "1e",
    "1e+",
    "1e-",
    "1e+-5",
    "1e5.5",
    "1e5e5",
    "1.e5",
    "1.5e",
    "0e0",
    "0e",
    "-",
    "--1",
    "1-1",
    "-1-",
    "+1",
    "1+1",
    "1x",
    "1.x",
    "1ex",
    "-e5",
    "-1.5.5",
    "1e.5",
    "1ex5",
    "1exxx5",
    "1x5",
    "1e5x5",
    "10.5.5",
    "12345678901234567890123456789012345678901234567890123456789012345678",
];

/// Literals and strings, good and bad, and the empty containers.
const OTHERS: [&str; 33] = [
    "true",
    "false",
    "null",
    "tru",
    "truex",
    "nulll",
    "falsetrue",
    "n",
    "-true",
    "1true",
    r#""""#,
    r#""a""#,
    r#""\u00e9""#,
    r#""\ud83d\ude00""#,
    r#""\ud83d""#,
    r#""\ug0e9""#,
    r#""\u0ge9""#,
    r#""\u00g9""#,
    r#""\u00eg""#,
    r#""\u00e""#,
    r#""\u""#,
    r#""\\""#,
    r#""\\\\""#,
    r#""\\\"""#,
    r#""\x""#,
    r#""\""#,
    r#""\n\t\/""#,
    "\"\t\"",
    "\"\u{0}\"",
    r#""a"b"#,
    r#""a""b""#,
    "[]",
    "{}",
];

/// The state between two blocks of 64 bytes is internal to the scanner, and a mistake in it shows only where a lexeme crosses
/// the boundary in a certain way. So every lexeme crosses it in every way, alone and next to others.
#[test]
fn good_and_bad_lexemes_across_every_block_boundary() {
    // Miri is about a thousand times slower, and runs the laws.
    for lexeme in NUMBERS.iter().chain(&OTHERS).step_by(if cfg!(miri) { 13 } else { 1 }) {
        for before in (0..70).step_by(if cfg!(miri) { 23 } else { 1 }) {
            let before = "x".repeat(before);
            for json in [
                format!("[\"{before}\",{lexeme}]"),
                format!("[\"{before}\", {lexeme} ]"),
                format!("{{\"{before}\":{lexeme},\"k\":{lexeme}}}"),
                // Two errors at the same place of two blocks must not cancel each other.
                format!("[{lexeme},\"{before}\",{lexeme}]"),
                format!("[{lexeme},\"{before}\",{lexeme},1,{lexeme}]"),
            ] {
                accepted_if_json(&json);
            }
        }
    }
}

/// An insertion, and how many bytes it replaces.
const WRONG: [(&str, usize); 10] =
    [(",", 0), (":", 0), ("", 1), ("]", 0), ("}", 0), ("{", 0), ("[", 0), (",", 1), (":", 1), (" ", 1)];

/// Tables are recognised by separators in the right places; here commas and colons are in wrong ones.
#[test]
fn separators_in_wrong_places_in_every_form() {
    const GOOD: [&str; 4] = [
        r#"[{"a":1,"b":"x"},{"a":2,"b":"y"},{"a":3,"b":"z"}]"#,
        r#"{"k":[1,2,3],"l":["x","y"],"m":[true,false]}"#,
        r#"{"k":{"a":1,"b":{}},"l":[{"a":1,"b":[]},{"a":2,"b":[{}]}]}"#,
        r#"[[1,[2,3]],[[],{}],{"a":[{"b":1},{"b":2}]}]"#,
    ];
    let after = ["", ",\"and so on, for longer than any look-ahead, which is 64 bytes or so, no more\""];
    for (good, after) in GOOD.iter().flat_map(|good| after.map(|after| (good, after))) {
        for at in 0..=good.len() {
            for (insert, remove) in WRONG {
                let Some(rest) = good.get(at + remove..) else { continue };
                let json = format!("[{}{insert}{rest}{after}]", &good[..at]);
                accepted_if_json(&json);
            }
        }
    }
    // After rows that have been written, and at every end of a chunk.
    let (row, rows) = (r#"{"a":1,"b":"x"},"#, r#"{"a":1,"b":"x"},"#.repeat(20));
    for (at, pad) in (0..row.len()).flat_map(|at| (0..64).step_by(3).map(move |pad| (at, pad))) {
        for (insert, remove) in WRONG {
            let damaged = [&row[..at], insert, &row[at + remove..]].concat();
            let json = format!("[\"{}\",[{rows}{damaged}{row}{row}{}]]", "x".repeat(pad), &row[..row.len() - 1]);
            let cuts: Vec<usize> = (0..json.len()).step_by(64).collect();
            laws::encode_in_chunks(json.as_bytes(), &cuts, stc1());
        }
    }
}

#[test]
fn characters_that_other_parsers_mishandle() {
    // Inside strings U+2028 and DEL are allowed, control characters are not. Outside only the grammar's characters are.
    for pad in 0..130 {
        let spaces = " ".repeat(pad);
        for fine in ["\u{2028}", "\u{2029}", "\u{7f}", "\u{feff}", "\u{ffff}", "\u{10ffff}", r"\u0000", r"\ud800"] {
            let json = format!("{spaces}\"{fine}\"\r\n");
            assert_eq!(stc::encode(json.as_bytes()).as_deref(), Ok(format!("\"{fine}\"").as_bytes()));
        }
        for control in (0..0x20_u8).map(char::from) {
            let json = format!("{spaces}\"a{control}\"");
            for error in [stc::encode(json.as_bytes()), stc::decode(json.as_bytes())] {
                let error = error.expect_err("a control character");
                assert_eq!((error.kind(), error.offset()), (ErrorKind::Control, pad as u64 + 2), "{control:?}");
            }
        }
        for stray in ["\0", "\u{feff}", "\u{2028}", "\u{a0}", "\x0b", "\x0c", "\x1a", "\u{7f}"] {
            for json in [format!("{spaces}{stray}1"), format!("{spaces}1{stray}")] {
                let offset = json.find(stray).expect("it is there") as u64;
                for error in [stc::encode(json.as_bytes()), stc::decode(json.as_bytes())] {
                    assert_eq!(error.expect_err("no JSON").offset(), offset, "{}", json.escape_debug());
                }
            }
        }
    }
    for json in ["1\0", "[1\0]", "1\u{0}\u{0}", "\u{feff}{}", "tru\0", "{\"a\":1\0}"] {
        assert!(stc::encode(json.as_bytes()).is_err() && stc::decode(json.as_bytes()).is_err(), "{json:?}");
        laws::all(json.as_bytes());
    }
}

#[test]
fn stc_truncated_at_every_byte() {
    let mut texts: Vec<Vec<u8>> = vectors::cases("encode").iter().map(|case| vectors::bytes(case, "stc")).collect();
    let made = corpus::files("made", "json");
    texts.extend(
        made.iter().filter(|(_, json)| json.len() < 2000).map(|(_, json)| encoded(json, stc1()).expect("valid")),
    );
    let mut cut = 0;
    for stc in texts.iter().step_by(texts.len() / rounds(texts.len())) {
        for end in 0..stc.len() {
            // Truncation goes unnoticed only in a number at the very end (grammar/STC.md, 10.4), and in a header of which
            // only the count is left: `[2]` is an array.
            match stc::decode(&stc[..end]) {
                Ok(_) => assert!(
                    stc[end - 1].is_ascii_digit() || stc[..end].ends_with(b"]") && stc[end..].starts_with(b"{"),
                    "{}",
                    stc[..end].escape_ascii()
                ),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::Truncated(_)), "{error}: {}", stc[..end].escape_ascii());
                    assert_eq!(error.offset(), end as u64);
                }
            }
            cut += 1;
        }
    }
    assert!(cut > 10_000 || rounds(2) < 2, "{cut}");
}

#[test]
fn good_and_bad_documents_in_turn() {
    let good = [&b"{\"a\":[1,2],\"b\":[{\"x\":1},{\"x\":2}]}"[..], b"[2]{a,b}: 1,2 / 3,4", b"1", b"\"\xC3\xA9\""];
    let bad = [
        &b"[[[[[[["[..],
        b"\"\xC3",
        b"{\"a\":",
        b"[3]{a,b}: 1,2 / 3",
        b"{a[5]: 1,2",
        b"\"\\u12",
        b"",
        b"[1]{a,a}: 1,1",
    ];
    let documents = bad.iter().flat_map(|bad| good.iter().flat_map(move |good| [*bad, *good]));
    for &options in laws::SETTINGS.iter().chain(laws::CRAMPED) {
        laws::reuse(documents.clone(), options);
    }
    // The stream ends at the bad line, with its place, whatever follows.
    let mut stc = Vec::new();
    let error = stc::io::encode_lines(&b"[1]\n[\n[2]\n"[..], &mut stc, &mut Encoder::new()).expect_err("the second");
    assert_eq!((&stc[..], error.kind()), (&b"[1]\n"[..], std::io::ErrorKind::InvalidData));
}

#[test]
fn what_is_shown_of_a_codec_is_no_document() {
    let (mut encoder, mut decoder, mut out) = (Encoder::new(), Decoder::new(), Vec::new());
    encoder.push(b"[\"secret\",", &mut out).expect("valid so far");
    decoder.push(b"[\"secret\",", &mut out).expect("valid so far");
    for (shown, read) in [(format!("{encoder:?}"), "taken: 10"), (format!("{decoder:?}"), "read: 10")] {
        assert!(shown.contains("Options") && shown.contains(read) && !shown.contains("secret"), "{shown}");
    }
}

#[test]
fn a_reused_buffer_shows_nothing_of_an_earlier_document() {
    let secret = format!("[{}]", vec!["\"a secret\""; 1000].join(","));
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
    for bad in [&b"[1,"[..], b"\"", b"[2]{a}: 1 / ", b"{\"a\":\"", b"[[[", b"[9]{a,b}: 1,2 /"] {
        let mut out = Vec::new();
        encoder.encode(secret.as_bytes()).expect("valid");
        decoder.decode(secret.as_bytes()).expect("valid");
        assert!(encoder.encode(bad).is_err() && decoder.decode(bad).is_err());
        let _ = encoder.push(bad, &mut out);
        let _ = encoder.finish(&mut out);
        let _ = decoder.push(bad, &mut out);
        let _ = decoder.finish(&mut out);
        // Nor in the codec's debug output.
        let said = format!("{encoder:?} {decoder:?} {}", out.escape_ascii());
        assert!(!said.contains("secret"), "{said}");
        // The caller can inspect the spare capacity of its own buffer.
        encoder.encode_into(b"1", &mut out).expect("valid");
        decoder.decode_into(b"1", &mut out).expect("valid");
        assert!(out.len() < 100);
    }
}

/// Too many tokens for version 2 to index: tokens separated by whitespace must stay separate.
#[test]
fn whitespace_separates_tokens_too_dense_to_plan() {
    let many = "1,".repeat(1_200_000);
    let options = Options::default().format(Format::Stc2Labelled);
    let parted = ["1 2", "tr ue", "- 5", "1 .5", "1\n\te5", "0 0", "\"a\" \"b\"", "1 \"b\""];
    for parted in parted.into_iter().step_by(8 / rounds(8)) {
        for json in
            [format!("[{parted},{many}1]"), format!("[{many}{parted}]"), format!("[{many} {{\"k\" : {parted}}}]")]
        {
            let expected = stc::encode(json.as_bytes()).expect_err("not JSON");
            for kernel in Kernel::available() {
                assert_eq!(encoder(options, kernel).encode(json.as_bytes()), Err(expected), "{parted:?}");
            }
            let (mut encoder, mut out) = (Encoder::with_options(options), Vec::new());
            let chunks = json.as_bytes().chunks(70_001).try_for_each(|chunk| encoder.push(chunk, &mut out));
            assert_eq!(chunks.and_then(|()| encoder.finish(&mut out)), Err(expected), "{parted:?} in chunks");
        }
    }
    for good in ["1 , 2", " true", "-5 ", "[ 1 , [ ] ]", "\"a\" , \"b\""] {
        let json = format!("[{good},{many}{good} ]");
        let found = encoder(options, Kernel::available()[0]).encode(json.as_bytes()).map(<[u8]>::to_vec);
        assert_eq!(found.as_deref(), Ok(json.replace(' ', "").as_bytes()), "{good:?}");
    }
}
