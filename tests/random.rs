//! Random documents, valid and damaged. The generator prefers cases that are hard for the codec: tables with exceptions,
//! runs of one type, every spelling of numbers and escapes, whitespace anywhere.
//!
//! The choices come from a seed in the tests, and from a fuzzer in `fuzz/`, which shares this file.

/// A source of choices.
pub(crate) trait Choices {
    /// Returns a number below `bound`, which is not zero. A source that always returns zero ends every document soon.
    fn below(&mut self, bound: usize) -> usize;

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == chances - 1
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// SplitMix64: a small generator, the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Choices for Random {
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Returns how often to repeat a test that usually runs `times` times. Miri is about a thousand times slower; mutation
/// testing runs the tests for every mutant and sets `STC_ROUNDS=10` for a tenth.
pub(crate) fn rounds(times: usize) -> usize {
    let divisor =
        if cfg!(miri) { 1000 } else { std::env::var("STC_ROUNDS").map_or(1, |n| n.parse().expect("a number")) };
    times.div_ceil(divisor)
}

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "42",
    "-7",
    "1.0",
    "1e2",
    "1E400",
    "0.1e-7",
    "-0.0",
    "12345678901234567890123456789012345678901",
    "2.50",
    "9999999999999999999",
    "10000000000000000000",
    "1e+05",
];
const BODIES: &[&str] = &[
    "",
    "a",
    "x / y",
    "x[1]: y",
    ",",
    "}",
    "]",
    "{",
    "é",
    "日本語",
    "😀",
    r"\n",
    r"\u0041",
    r"\ud800",
    r"\/",
    r#"\""#,
    r"\\",
    r"\\\\",
    r#"\\\""#,
    "plain words that run on past one block of sixty-four bytes, and then some more of it",
    "\u{2028}",
    "\u{7f}",
    "end \\\\",
];
const KEYS: &[&str] = &["id", "name", "_x", "true", "null", "a-b", "first name", "", "é", r"\u0061", "k9", "url"];
const LABELS: &[&str] = &[
    r#"{"name":"bug","color":"f00"}"#,
    r#"{"name":"ui","color":"0f0","default":false}"#,
    r#"{"color":"00f","name":"odd"}"#,
    "null",
];
const WHITE: &[&str] = &["", "", "", "", " ", "\n", "\t", "\r\n", "  ", "\n        "];

/// Writes one document.
struct Writer<'a, C> {
    random: &'a mut C,
    spaced: bool,
    out: String,
}

pub(crate) fn document(random: &mut impl Choices) -> String {
    let spaced = random.one_in(2);
    let mut writer = Writer { random, spaced, out: String::new() };
    writer.white();
    writer.value(5);
    writer.white();
    writer.out
}

impl<C: Choices> Writer<'_, C> {
    fn white(&mut self) {
        if self.spaced {
            self.out += self.random.pick(WHITE);
        }
    }

    fn token(&mut self, token: &str) {
        self.white();
        self.out += token;
        self.white();
    }

    fn text(&mut self, bodies: &[&str]) {
        self.out.push('"');
        let parts = if self.random.one_in(4) { 3 } else { 1 };
        for _ in 0..parts {
            if self.random.one_in(16) {
                self.escape();
            } else {
                self.out += self.random.pick(bodies);
            }
        }
        self.out.push('"');
    }

    fn escape(&mut self) {
        self.out.push('\\');
        let letter = self.random.pick(b"\"\\/bfnrtu");
        self.out.push(char::from(letter));
        if letter == b'u' {
            for _ in 0..4 {
                self.out.push(char::from(self.random.pick(b"0123456789abcdefABCDEF")));
            }
        }
    }

    /// Writes a number from random parts: every spelling occurs.
    fn number(&mut self) {
        let digits = |this: &mut Self, fewest: usize| {
            let longest = if this.random.one_in(8) { 70 } else { 4 };
            for _ in 0..fewest + this.random.below(longest) {
                this.out.push(char::from(b'0' + this.random.below(10) as u8));
            }
        };
        if self.random.one_in(3) {
            self.out.push('-');
        }
        if self.random.one_in(4) {
            self.out.push('0');
        } else {
            self.out.push(char::from(b'1' + self.random.below(9) as u8));
            digits(self, 0);
        }
        if self.random.one_in(3) {
            self.out.push('.');
            digits(self, 1);
        }
        if self.random.one_in(4) {
            self.out += self.random.pick(&["e", "E", "e+", "e-", "E+", "E-"]);
            digits(self, 1);
        }
    }

    fn scalar(&mut self, kind: usize) {
        match kind {
            0 if self.random.one_in(3) => self.number(),
            0 => self.out += self.random.pick(NUMBERS),
            1 => self.text(BODIES),
            2 => self.out += self.random.pick(&["true", "false"]),
            _ => self.out += "null",
        }
    }

    fn value(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 4 } else { 17 }) {
            kind @ 0..4 => self.scalar(kind),
            4..7 => self.object(depth),
            7 => self.list(depth),
            8 | 9 => self.run(),
            10 | 11 => self.table(),
            12 | 13 => self.records(depth),
            14 => self.keyed(),
            _ => self.ragged(),
        }
    }

    /// Writes rows of few keys and values that differ: nested objects, other orders, duplicate keys, empty objects, and strings
    /// that contain others, also through an escape.
    fn ragged(&mut self) {
        let rows = 2 + self.random.below(7);
        self.token("[");
        self.members(rows, |this, _| this.loose(3));
        self.token("]");
    }

    fn loose(&mut self, depth: usize) {
        const VALUES: &[&str] =
            &["1", "2", "null", r#""n""#, r#""t""#, r#""way/to/a\nb""#, r#""way/to/a\tb""#, "[]", "{}", r#"[{"x":1}]"#];
        let mut keys: Vec<&str> = ["x", "y", "z", "w"].into_iter().filter(|_| !self.random.one_in(6)).collect();
        if keys.len() > 1 && self.random.one_in(5) {
            let last = keys.len() - 1;
            keys.swap(last - 1, last);
        }
        if !keys.is_empty() && self.random.one_in(16) {
            keys.push(keys[0]);
        }
        self.token("{");
        self.members(keys.len(), |this, number| {
            this.out += &format!("\"{}\":", keys[number]);
            if depth > 0 && this.random.one_in(3) {
                this.loose(depth - 1);
            } else {
                this.out += this.random.pick(VALUES);
            }
        });
        self.token("}");
    }

    fn members(&mut self, count: usize, mut member: impl FnMut(&mut Self, usize)) {
        for number in 0..count {
            if number > 0 {
                self.token(",");
            }
            member(self, number);
        }
    }

    fn object(&mut self, depth: usize) {
        let count = self.random.below(5);
        self.token("{");
        self.members(count, |this, _| {
            this.text(KEYS);
            this.token(":");
            this.value(depth - 1);
        });
        self.token("}");
    }

    fn list(&mut self, depth: usize) {
        let count = self.random.below(5);
        self.token("[");
        self.members(count, |this, _| this.value(depth - 1));
        self.token("]");
    }

    /// Writes scalars of one type, sometimes with an exception.
    fn run(&mut self) {
        let kind = self.random.below(4);
        let count = self.random.below(20);
        let stray = if self.random.one_in(3) { self.random.below(20) } else { usize::MAX };
        self.token("[");
        self.members(count, |this, number| if number == stray { this.value(1) } else { this.scalar(kind) });
        self.token("]");
    }

    /// Writes rows as tools send them: optional keys, nested objects, repeated values, URLs that contain other values.
    fn records(&mut self, depth: usize) {
        let people: Vec<String> = (0..1 + self.random.below(4)).map(|_| self.person()).collect();
        let state = self.random.pick(&["open", "closed"]);
        let rows = self.random.below(9);
        let often = 2 + self.random.below(6);
        self.token("[");
        self.members(rows, |this, row| {
            this.token("{");
            this.out += &format!("\"number\":{row}");
            let address = format!("https://api.example.com/repos/o/r/issues/{row}");
            this.out += &format!(",\"url\":\"{address}\",\"state\":\"{state}\"");
            this.token(",");
            let person = &people[this.random.below(people.len())];
            this.out += &format!("\"user\":{}", if this.random.one_in(7) { "null" } else { person });
            if this.random.one_in(2) {
                this.out += &format!(",\"events\":\"{address}/events\"");
            }
            this.token(",");
            this.out += &format!("\"locked\":{}", if this.random.one_in(often) { "true" } else { "false" });
            this.out += ",\"labels\":[";
            let labels = this.random.below(3);
            this.members(labels, |this, _| this.out += this.random.pick(LABELS));
            this.out += "]";
            if this.random.one_in(6) {
                this.token(",");
                this.out += "\"more\":";
                this.value(depth - 1);
            }
            this.token("}");
        });
        self.token("]");
    }

    fn person(&mut self) -> String {
        let login = self.random.pick(&["ann", "bob", "cy", "\\u0064", ""]);
        let home = format!("https://api.example.com/users/{login}");
        format!("{{\"login\":\"{login}\",\"id\":{},\"home\":\"{home}/home\"}}", self.random.below(100))
    }

    /// Writes an object whose values are objects of one shape, sometimes with an exception.
    fn keyed(&mut self) {
        let count = self.random.below(6);
        self.token("{");
        self.members(count, |this, number| {
            this.out += &format!("\"{}{number}\"", this.random.pick(KEYS));
            this.token(":");
            this.out += "{\"kind\":\"thing\",\"size\":";
            this.scalar(0);
            if this.random.one_in(3) {
                this.out += ",\"note\":";
                this.scalar(1);
            }
            this.out += "}";
        });
        self.token("}");
    }

    /// Writes rows of one shape, sometimes with an exception.
    fn table(&mut self) {
        let widest = if self.random.one_in(10) { 30 } else { 5 };
        let width = 1 + self.random.below(widest);
        let mut keys: Vec<String> = (0..width).map(|number| format!("{}{number}", self.random.pick(KEYS))).collect();
        if self.random.one_in(8) {
            keys[width - 1] = keys[0].clone();
        }
        let rows = self.random.below(8);
        let stray = if self.random.one_in(3) { self.random.below(8) } else { usize::MAX };
        self.token("[");
        self.members(rows, |this, row| {
            let odd = row == stray;
            if odd && this.random.one_in(4) {
                return this.value(1);
            }
            this.token("{");
            let width = if odd { this.random.below(width + 2) } else { width };
            this.members(width, |this, column| {
                let key = keys.get(column).map_or("extra", String::as_str);
                this.out += &format!("\"{key}\"");
                this.token(":");
                if odd && this.random.one_in(4) {
                    this.value(1);
                } else {
                    let kind = this.random.below(4);
                    this.scalar(kind);
                }
            });
            this.token("}");
        });
        self.token("]");
    }
}

/// What damage puts in a place.
const TOKENS: &[&str] = &[
    " / ",
    "/",
    ",",
    ", ",
    ": ",
    ":",
    "]{",
    "}: ",
    "]: ",
    "[2]{a}: ",
    "[1]",
    "[2]",
    "a[2]: ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "null",
    "1",
    "\"a\"",
    "a",
    "\n",
    "\r",
    "\t",
    " ",
    "[0]{",
    "[01]{",
    "[9999999999999999999]{",
    "{1",
    "(",
    "@0",
    "=",
    "?",
    "?=",
    "~",
    "~\"${a}\"",
    "~\"<${}>\"",
    "${}",
    "{2}{a}:\n",
    "[2]{a?}:\n",
    "@a{",
    "@a(",
    "!",
    "\n!",
    ")",
    "&a[",
    "*a",
    "$a",
    "$a=\"x\"\n",
    "[2][",
    "\\",
    "\u{feff}",
    "é",
];

/// Damages STC at a significant place: a count, a header, a separator, a bracket, or truncates it there.
pub(crate) fn damaged_stc(stc: &[u8], random: &mut impl Choices) -> Vec<u8> {
    const JOINTS: &[u8] = b"[]{},:/\" ";
    let mut bytes = stc.to_vec();
    for _ in 0..1 + random.below(3) {
        // The n-th significant byte after a random position.
        let from = random.below(bytes.len() + 1);
        let joint = bytes[from..].iter().position(|byte| JOINTS.contains(byte)).map_or(bytes.len(), |next| from + next);
        let next = bytes.len().min(joint + 1);
        let (start, end) = (joint, next + random.below(4).min(bytes.len() - next));
        match random.below(8) {
            0 => {
                // A count or another number: plus one, minus one, one more digit.
                let digit = bytes[from..].iter().position(u8::is_ascii_digit).map(|found| from + found);
                let Some(at) = digit else { continue };
                match random.below(4) {
                    0 => bytes[at] = b'0' + (bytes[at] - b'0' + 1) % 10,
                    1 => bytes[at] = b'0' + (bytes[at] - b'0' + 9) % 10,
                    2 => bytes.insert(at, b'1'),
                    _ => {
                        bytes.remove(at);
                    }
                }
            }
            1 => bytes.truncate(joint),
            2 => bytes.truncate(next),
            3 => {
                bytes.drain(start..next);
            }
            4 => {
                let doubled = bytes[start..end].to_vec();
                bytes.splice(end..end, doubled);
            }
            5 => {
                bytes.splice(start..next, random.pick(TOKENS).bytes());
            }
            6 => {
                // A part of the text, inserted elsewhere.
                let part = bytes[start..bytes.len().min(start + random.below(40))].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, part);
            }
            _ => {
                bytes.splice(next..next, random.pick(TOKENS).bytes());
            }
        }
    }
    bytes
}

/// Changes, removes, adds, duplicates or truncates a few bytes.
pub(crate) fn damaged(document: &[u8], random: &mut impl Choices) -> Vec<u8> {
    const BYTES: &[u8] = b"{}[]\",:\\/ \n\r\t0159.eE+-tfnul\x00\x1f\x7f\x80\xc3\xe2\xf0\xff()@$=?~&*";
    let mut bytes = document.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len() + 1);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] = random.pick(BYTES),
            1 if at < bytes.len() => {
                bytes.remove(at);
            }
            2 => bytes.insert(at, random.pick(BYTES)),
            3 => bytes.truncate(at),
            4 => {
                let end = at + random.below(8.min(bytes.len() - at) + 1);
                let doubled = bytes[at..end].to_vec();
                bytes.splice(at..at, doubled);
            }
            _ => {
                let digit = bytes.iter().position(u8::is_ascii_digit).unwrap_or(0);
                if digit < bytes.len() {
                    bytes[digit] = b'0' + random.below(10) as u8;
                }
            }
        }
    }
    bytes
}
