//! The scan against a reading byte by byte: what is indexed, what is kept and what is wrong, wherever blocks end.

use super::*;
use crate::format::is_white;
use crate::json::lexer;
use crate::testing::texts;

/// What a reader knows of a text that has been scanned.
#[derive(Debug, PartialEq, Eq)]
struct Scan {
    text: Vec<u8>,
    index: Vec<u32>,
    is_wrong: bool,
    may_end: bool,
}

/// Reads a text byte by byte. Returns none if it has a scalar that is not JSON and does not begin with a digit: whether the scan or a
/// reader of the index refuses that is not defined.
fn by_bytes(json: &[u8]) -> Option<Scan> {
    let (mut text, mut index, mut is_wrong) = (Vec::new(), Vec::new(), false);
    let (mut at, mut is_open) = (0, false);
    while at < json.len() {
        let (start, first) = (at, json[at]);
        at += 1;
        match first {
            _ if is_white(first) => continue,
            b'{' | b'}' | b'[' | b']' => index.push(text.len() as u32),
            b',' | b':' => {}
            b'"' => {
                index.push(text.len() as u32);
                is_open = true;
                while at < json.len() && is_open {
                    is_open = json[at] != b'"';
                    if json[at] == b'\\' && at + 1 < json.len() {
                        at += 1;
                        is_wrong |= !b"\"\\/bfnrtu".contains(&json[at]);
                        let digits = &json[at + 1..json.len().min(at + 5)];
                        is_wrong |= json[at] == b'u' && !digits.iter().all(u8::is_ascii_hexdigit);
                    }
                    at += 1;
                }
            }
            _ => {
                index.push(text.len() as u32);
                at += json[at..].iter().take_while(|&&byte| !is_white(byte) && !b"{}[],:\"".contains(&byte)).count();
                let scalar = &json[start..at];
                let is_known = matches!(scalar, b"true" | b"false" | b"null") || scalar.iter().any(|&byte| byte < 0x20);
                match first {
                    b'0'..=b'9' => is_wrong |= !lexer::is_number(scalar),
                    _ if is_known || lexer::is_number(scalar) => {}
                    _ => return None,
                }
            }
        }
        is_wrong |= json[start..at].iter().any(|&byte| byte < 0x20);
        text.extend_from_slice(&json[start..at]);
    }
    let utf8 = std::str::from_utf8(json);
    let is_cut = utf8.is_err_and(|error| error.error_len().is_none());
    Some(Scan { text, index, is_wrong: is_wrong || utf8.is_err() && !is_cut, may_end: !is_open && !is_cut })
}

/// What a scan writes to.
#[derive(Default)]
struct Room {
    text: Buffer<u8>,
    index: Buffer<u32>,
    kept: Buffer<u64>,
    /// The good and the bad texts that were compared.
    compared: [usize; 2],
}

impl Room {
    /// Scans a text, so many blocks a call.
    fn scan<K: Kernel>(&mut self, kernel: K, json: &[u8], blocks: usize) -> Scan {
        let Self { text, index, kept, .. } = self;
        text.clear();
        index.clear();
        kept.clear();
        let mut scanner = Scanner::default();
        let (whole, rest) = json.split_at(json.len() / BLOCK * BLOCK);
        for some in whole.chunks(blocks * BLOCK) {
            scanner.squeeze(kernel, some, text, index, kept);
        }
        scanner.squeeze_rest(kernel, rest, text, index, kept);
        let counted: u32 = kept.iter().map(|mask| mask.count_ones()).sum();
        assert_eq!(counted as usize, text.len());
        Scan { text: text.to_vec(), index: index.to_vec(), is_wrong: scanner.is_wrong(), may_end: scanner.may_end() }
    }

    /// Scans a text in place, up to the first block with whitespace; returns how much that was, and whether it was wrong.
    fn scan_in_place<K: Kernel>(&mut self, kernel: K, json: &[u8]) -> (usize, bool) {
        self.index.clear();
        let mut scanner = Scanner::default();
        let mut at = scanner.index(kernel, json, 0, &mut self.index);
        if json.len() - at < BLOCK && scanner.index_rest(kernel, &json[at..], at, &mut self.index) {
            at = json.len();
        }
        (at, scanner.is_wrong())
    }

    /// Requires that enough texts were compared, of both kinds.
    fn expect_compared(&self) {
        let least = if cfg!(miri) { 10 } else { 1000 };
        assert!(self.compared.iter().all(|&texts| texts >= least), "{:?}", self.compared);
    }

    /// Requires that every kernel scans a text as it is read byte by byte.
    fn expect(&mut self, json: &[u8], calls: &[usize]) {
        let Some(expected) = by_bytes(json) else { return };
        self.compared[usize::from(expected.is_wrong)] += 1;
        for choice in Choice::available() {
            for &blocks in calls {
                let found = with_kernel!(choice, kernel => self.scan(kernel, json, blocks));
                // What follows an error means nothing.
                let is_same = if expected.is_wrong { found.is_wrong } else { found == expected };
                assert!(is_same, "{choice:?}, {blocks} blocks a call: {found:?} of {}", json.escape_ascii());
            }
            let (at, is_wrong) = with_kernel!(choice, kernel => self.scan_in_place(kernel, json));
            if expected.is_wrong {
                assert!(is_wrong || at < json.len(), "{choice:?} in place: {}", json.escape_ascii());
            } else {
                let entries = expected.index.iter().filter(|&&entry| (entry as usize) < at).count();
                let is_same = !is_wrong && *self.index == expected.index[..entries];
                assert!(is_same, "{choice:?} in place: {}", json.escape_ascii());
            }
        }
    }
}

/// Good and bad tokens, some with characters of several bytes.
const TOKENS: [&[u8]; 36] = [
    br#""a\nb""#,
    br#""\"""#,
    br#""\\""#,
    br#""\\\"x""#,
    br#""\u00e9\u12aF""#,
    br#""\ud83d\ude00\\\/""#,
    br#""\q""#,
    br#""\\\q""#,
    br#""\u12g4""#,
    br#""\u123""#,
    br#""\ug000""#,
    br#""\u00\n0""#,
    b"\"a\tb\"",
    b"\"\x01\"",
    b"\"\xff\"",
    b"\"\xe2\x82\"",
    b"\"\xc3(\"",
    b"\"\xed\xa0\x80\"",
    b"\"\x80\"",
    "\"é€😀\"".as_bytes(),
    b"\x01",
    b"12",
    b"-1.5e+30",
    b"0.25E-1",
    b"01",
    b"1.",
    b"1.2.3",
    b"1e5e5",
    b"1x5",
    b"0x1",
    b"true",
    b"null,false",
    b"[{\"a\":[]}]",
    b"1 2",
    b" \t\r\n",
    b",,::",
];

/// Each pair of tokens, at every distance that puts both at the end of a block, of two calls, or of one.
#[test]
fn two_tokens_at_the_ends_of_blocks() {
    let step = if cfg!(miri) { 97 } else { 1 };
    let (mut number, mut room) = (0, Room::default());
    for one in TOKENS {
        for other in TOKENS {
            number += 1;
            if number % step != 0 {
                continue;
            }
            // Where the first ends in the next block, by all of its bytes or by none.
            for over in 0..=one.len() {
                let distances = [(&b","[..], BLOCK), (b" ", 2 * BLOCK)];
                for (between, distance) in distances.into_iter().skip((number + over) % 2).step_by(2) {
                    let before = BLOCK - one.len() + over - 3;
                    let mut json = [b"\"", &b"-".repeat(before)[..], b"\",", one, between].concat();
                    let filler = (before + 3 + distance).saturating_sub(json.len() + 3);
                    json.extend_from_slice(&[b"\"", &b"-".repeat(filler)[..], b"\",", other, b",\"\""].concat());
                    room.expect(&json, &[1, 9]);
                }
            }
        }
    }
    room.expect_compared();
}

/// Every short text of what numbers consist of, cut by the end of a block at every byte, is wrong exactly if it is no number.
#[test]
fn numbers_across_the_end_of_a_block() {
    let check = |number: &[u8]| {
        let is_number = lexer::is_number(number);
        // What does not end in a digit is refused by readers of the index.
        if !is_number && !number.ends_with(b"5") && !number.ends_with(b"0") {
            return;
        }
        for cut in 0..=number.len() {
            let mut json = [b' '; 3 * BLOCK];
            json[BLOCK - cut..][..number.len()].copy_from_slice(number);
            // Further on, so that a state that is not reset is noticed.
            json[2 * BLOCK - 1..2 * BLOCK + 1].copy_from_slice(b",5");
            for choice in Choice::available() {
                let (wrong, entries) = with_kernel!(choice, kernel => scalars(kernel, &json));
                assert_eq!(wrong, !is_number, "{choice:?}: {} cut at {cut}", number.escape_ascii());
                assert!(entries == 2 || wrong, "{choice:?}: {} cut at {cut}", number.escape_ascii());
            }
        }
    };
    for length in 1..=if cfg!(miri) { 2 } else { 5 } {
        let begun = texts(b"-05.e", length).filter(|number| !matches!(number[0], b'.' | b'e'));
        begun.for_each(|number| check(&number));
    }
    for part in texts(b"05.e+x", if cfg!(miri) { 1 } else { 3 }) {
        for before in [&b"1"[..], b"-1", b"1.5", b"1e5", b"1e+5", b"0", b"12345678"] {
            check(&[before, &part[..]].concat());
            check(&[before, &part[..], b"5"].concat());
        }
    }
}

/// Returns whether the scan finds anything wrong in three blocks, and how many tokens it finds.
fn scalars<K: Kernel>(kernel: K, json: &[u8; 3 * BLOCK]) -> (bool, u32) {
    let (mut carry, mut entries) = (Carry::default(), 0);
    kernel.enter(|| {
        for block in json.as_chunks().0 {
            let found;
            (carry, found) = carry.block(kernel, block, &kernel.masks(block));
            entries += found.entries.count_ones();
        }
    });
    (carry.wrong != 0, entries)
}

/// Every short text of what escapes consist of, cut by the end of a block at every byte.
#[test]
fn escapes_across_the_end_of_a_block() {
    let mut room = Room::default();
    for body in texts(br#"\"un0g"#, if cfg!(miri) { 2 } else { 5 }) {
        for cut in 1..=5 {
            let filler = b"-".repeat(BLOCK - 1 - cut);
            room.expect(&[b"\"", &filler[..], &body, b"00-\",\"n\\n\""].concat(), &[1]);
        }
    }
    room.expect_compared();
}
