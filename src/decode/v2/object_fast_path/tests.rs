//! Random tables with open lists, and what they decode to by a model of their own: whole, byte by byte, and damaged.

use crate::{Decoder, Error};

/// A generator of random numbers, the same in each run, and the values of a table that have a name.
struct Random {
    state: u64,
    named: Vec<String>,
}

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % bound
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// An open list: its columns in order.
struct List(Vec<(String, Column)>);

enum Column {
    Plain,
    Constant(&'static str),
    Objects(List),
}

const SCALARS: [&str; 9] = [
    "1",
    "-2.5e3",
    "true",
    "null",
    r#""x""#,
    r#""a \"string\" with, ] } escapes""#,
    r#""""#,
    "12345678901",
    r#""open""#,
];
const CONTAINERS: [&str; 6] = ["{}", "[]", "[1,[2],{}]", r#"{"x":{"y":[1]}}"#, r#"[{"k":1},{"k":2}]"#, r#"["a","b"]"#];

impl List {
    fn random(random: &mut Random, depth: usize) -> Self {
        let width = random.below(7);
        Self((0..width).map(|at| (key(random, at), Column::random(random, depth))).collect())
    }

    fn header(&self) -> String {
        let columns = self.0.iter().map(|(key, column)| match column {
            Column::Plain => format!(",{key}"),
            Column::Constant(value) => format!(",{key}={value}"),
            Column::Objects(list) => format!(",{key}{{{}}}", list.header()),
        });
        format!("*{}", columns.collect::<String>())
    }

    /// Returns an object of the list, and what it decodes to.
    fn object(&self, random: &mut Random) -> (String, String) {
        let (mut stc, mut json) = (Vec::new(), Vec::new());
        // The place of each member of the result in the list, to put the constants before.
        let mut places = Vec::new();
        let mut add = |random: &mut Random, place: Option<usize>, key: &str, value: (String, String)| {
            let colon = if random.one_in(20) { ": " } else { ":" };
            // An array of scalars of one kind may be compact.
            let compact = value.0 == CONTAINERS[5] && random.one_in(2);
            stc.push(if compact { format!("{key}[2]{colon}\"a\",\"b\"") } else { format!("{key}{colon}{}", value.0) });
            json.push(format!("\"{}\":{}", key.trim_matches('"'), value.1));
            places.push(place);
        };
        for (at, (key, column)) in self.0.iter().enumerate() {
            if random.one_in(3) {
                let other = format!("other_{}", random.below(100));
                let value = any_value(random);
                add(random, None, &other, value);
            }
            match column {
                Column::Constant(_) => {}
                _ if random.one_in(3) => {}
                Column::Objects(list) => {
                    let value = list.value(random);
                    add(random, Some(at), key, value);
                }
                Column::Plain => {
                    let value = any_value(random);
                    add(random, Some(at), key, value);
                }
            }
        }
        for (at, (key, column)) in self.0.iter().enumerate() {
            if let Column::Constant(value) = column {
                let before = places.iter().position(|place| place.is_some_and(|place| place > at));
                let before = before.unwrap_or(places.len());
                json.insert(before, format!("\"{}\":{value}", key.trim_matches('"')));
                places.insert(before, Some(at));
            }
        }
        let separator = if random.one_in(20) { " , " } else { "," };
        (format!("{{{}}}", stc.join(separator)), format!("{{{}}}", json.join(",")))
    }

    /// Returns the value of a member that the list applies to.
    fn value(&self, random: &mut Random) -> (String, String) {
        let (stc, json) = match random.below(5) {
            0 => return copy(random).unwrap_or_else(|| scalar(random)),
            1 => {
                let elements: Vec<_> = (0..random.below(4)).map(|_| self.object(random)).collect();
                let join = |parts: Vec<String>| format!("[{}]", parts.join(","));
                let (stc, json) = elements.into_iter().unzip();
                (join(stc), join(json))
            }
            _ => self.object(random),
        };
        if !random.one_in(6) {
            return (stc, json);
        }
        random.named.push(json.clone());
        (format!("&{}{stc}", name(random.named.len() - 1)), json)
    }
}

/// Returns the name of a value.
fn name(number: usize) -> String {
    let letter = |number| char::from(b'a' + number as u8);
    [letter(number / 26), letter(number % 26)].iter().collect()
}

impl Column {
    fn random(random: &mut Random, depth: usize) -> Self {
        match random.below(4) {
            0 => Self::Constant(SCALARS[random.below(SCALARS.len())]),
            1 => Self::Constant(CONTAINERS[random.below(CONTAINERS.len())]),
            2 if depth > 0 => Self::Objects(List::random(random, depth - 1)),
            _ => Self::Plain,
        }
    }
}

fn key(random: &mut Random, at: usize) -> String {
    match random.below(4) {
        0 => format!("k{at}"),
        1 => format!("\"k {at}\""),
        2 => format!("\"a_key_{at}\""),
        _ => format!("a_key_that_is_rather_long_{at}_and_ends"),
    }
}

fn scalar(random: &mut Random) -> (String, String) {
    let value = SCALARS[random.below(SCALARS.len())];
    let bare = value == r#""open""# && random.one_in(2);
    (if bare { "open".into() } else { value.into() }, value.into())
}

/// Returns a copy of a value that has a name; mostly none.
fn copy(random: &mut Random) -> Option<(String, String)> {
    if random.named.is_empty() || !random.one_in(3) {
        return None;
    }
    let number = random.below(random.named.len());
    Some((format!("*{}", name(number)), random.named[number].clone()))
}

fn any_value(random: &mut Random) -> (String, String) {
    if !random.one_in(4) {
        return scalar(random);
    }
    if let Some(copied) = copy(random) {
        return copied;
    }
    let value = CONTAINERS[random.below(CONTAINERS.len())];
    (value.into(), value.into())
}

/// Returns a table, and what it decodes to.
fn table(random: &mut Random) -> (String, String) {
    random.named.clear();
    let list = List::random(random, 2);
    let keyed = random.one_in(3);
    let rows: Vec<_> = (0..1 + random.below(6)).map(|_| list.object(random)).collect();
    let row_key = |at: usize, end: &str| if keyed { format!("{end}r{at}{end}:") } else { String::new() };
    let indent = if random.one_in(2) { " " } else { "" };
    let line = |(at, row): (usize, &(String, String))| format!("{indent}{}{}\n", row_key(at, ""), row.0);
    let stc = rows.iter().enumerate().map(line).collect::<String>();
    let json: Vec<_> = rows.iter().enumerate().map(|(at, row)| format!("{}{}", row_key(at, "\""), row.1)).collect();
    let [open, close] = if keyed { ['{', '}'] } else { ['[', ']'] };
    let stc = format!("{{x:1,t{open}{}{close}{{{}}}:\n{stc}y:2}}", rows.len(), list.header());
    (stc, format!("{{\"x\":1,\"t\":{open}{}{close},\"y\":2}}", json.join(",")))
}

/// Decodes a text in chunks of `length` bytes.
fn decode(stc: &[u8], length: usize) -> (Vec<u8>, Option<Error>) {
    let (mut decoder, mut json) = (Decoder::new(), Vec::new());
    let pushed = stc.chunks(length).try_for_each(|chunk| decoder.push(chunk, &mut json));
    let error = pushed.and_then(|()| decoder.finish(&mut json)).err();
    (json, error)
}

#[test]
fn random_tables_decode_alike_whole_and_byte_by_byte() {
    let mut random = Random { state: 1, named: Vec::new() };
    let tables = if cfg!(miri) { 3 } else { 400 };
    for _ in 0..tables {
        let (stc, json) = table(&mut random);
        for length in [1, 50, usize::MAX] {
            let (decoded, error) = decode(stc.as_bytes(), length);
            assert_eq!((String::from_utf8_lossy(&decoded).as_ref(), error), (json.as_str(), None), "{stc}");
        }
        // Any other byte at any place.
        for _ in 0..20 {
            let mut wrong = stc.clone().into_bytes();
            let at = random.below(wrong.len());
            wrong[at] = b"{}[]()*,:?=.~&@$\n \t\"\\1ak"[random.below(24)];
            let (whole, bytes) = (decode(&wrong, usize::MAX), decode(&wrong, 1));
            assert_eq!(whole.1, bytes.1, "{}", String::from_utf8_lossy(&wrong));
            assert_eq!(whole.0, bytes.0, "{}", String::from_utf8_lossy(&wrong));
        }
    }
}
