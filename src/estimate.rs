//! An estimate of the tokens of a text, without a vocabulary.
//!
//! Byte-pair encodings split a text where letters, digits and punctuation meet, and take most words whole. So bytes fall into
//! five classes, and the cost of a text follows from the lengths of the runs of each class. `user_id: 12345` has the runs
//! `user` `_` `id` `:` ` ` `12345` and costs 1 + 0 + 1 + 1 + 0 + 2 tokens.
//!
//! The estimate is a state machine: its state is the class of the run and how far the run has come. A table has, by state,
//! what the next two bytes cost, so that there is no branch to mispredict. Of a long text, blocks of 64 bytes are read at once:
//! a mask of each class has the runs, and shifted masks have the places where tokens begin.
//!
//! ```text
//! text      u s e r _ i d :   1 2 3 4 5
//! letters   1 1 1 1 . 1 1 . . . . . . .
//! others    . . . . . . . 1 . 1 1 1 1 1    digits and punctuation: three bytes a token
//! tokens    1 . . . . 1 . 1 . 1 . . 1 .
//! ```

use crate::buffer::BLOCK;
use crate::json::scan::arch::{Kernel, SPAN};
use crate::json::scan::{Choice, with_kernel};

/// Returns an estimate of the tokens that a model's vocabulary makes of `text`.
///
/// The encoder of version 2 decides by it. For 56 recorded responses, as minified JSON and in each format of STC, it is 5 to
/// 6 % off o200k_base on average and 21 % at most; `cargo perf tokens --dir FOLDER` measures it for other documents.
///
/// ```
/// assert_eq!(stc::estimate_tokens(b"user_id: 12345"), 5);
/// ```
pub fn estimate_tokens(text: &[u8]) -> u64 {
    (all_tokens(text).max(0) as u64).div_ceil(TOKEN_COST as u64)
}

/// The cost of one token. Costs are integers, in quarters of a token, so that every machine decides alike.
pub(crate) const TOKEN_COST: i64 = 4;

/// The bytes of a long text that are read; the rest is assumed to cost as much.
const SAMPLE: usize = 128;

/// Returns an estimate of the cost of `text` from its first [`SAMPLE`] bytes.
pub(crate) fn tokens(text: &[u8]) -> i64 {
    if text.len() > SAMPLE {
        return all_tokens(&text[..SAMPLE]) * text.len() as i64 / SAMPLE as i64;
    }
    all_tokens(text)
}

/// The fewest bytes that are read in blocks.
const MIN_BYTES_FOR_BLOCKS: usize = 4 * BLOCK;

/// Returns an estimate of the cost of `text` from all of its bytes.
pub(crate) fn all_tokens(text: &[u8]) -> i64 {
    if text.len() < MIN_BYTES_FOR_BLOCKS { Pairs::default().read(text).quarters() } else { long(text, Choice::best()) }
}

#[inline(never)]
fn long(text: &[u8], choice: Choice) -> i64 {
    with_kernel!(choice, kernel => kernel.enter(|| in_blocks(kernel, text)))
}

#[inline(always)]
fn in_blocks<K: Kernel>(kernel: K, text: &[u8]) -> i64 {
    let (blocks, rest) = text.as_chunks();
    let (mut before, mut tokens, mut glue) = (Before::default(), 0, 0);
    for block in blocks {
        let (more_tokens, more_glue) = before.read(kernel, block);
        tokens += i64::from(more_tokens);
        glue += i64::from(more_glue);
    }
    tokens * TOKEN_COST + glue * (TOKEN_COST / 4) + Pairs::after(&before).read(rest).quarters()
}

/// The run at the end of a block.
#[derive(Default)]
struct Before {
    /// The classes of the block; only those of its last byte are used. At the start of a text it is punctuation whose token is complete.
    classes: Classes,
    /// The bytes of the next block up to the next token of the run, for letters and for classes of three bytes a token. Without
    /// meaning if the last byte is of another class.
    to_token: [u32; 2],
}

impl Before {
    /// Reads a block and returns how many tokens begin in it, and how many bytes of glue follow others.
    #[inline(always)]
    fn read<K: Kernel>(&mut self, kernel: K, block: &[u8; BLOCK]) -> (u32, u32) {
        let (now, last) = (Classes::of(kernel, block), self.classes);
        // The bits, each a byte later.
        let later = |now: u64, last: u64| now << 1 | last >> (BLOCK - 1);
        // The bytes whose run began before them.
        let letters = now.letters & later(now.letters, last.letters);
        let glue = now.glue & later(now.glue, last.glue);
        let (others, others_before) = (now.others(), last.others());
        // Digits, punctuation and bytes that are not ASCII begin and end where one of these classes does.
        let bounds = now.digits ^ later(now.digits, last.digits) | now.non_ascii ^ later(now.non_ascii, last.non_ascii);
        let threes = others & later(others, others_before) & !bounds;
        let letters = starts(now.letters, letters, eight(letters), 8, self.to_token[0]);
        let others = starts(others, threes, threes & threes << 1 & threes << 2, 3, self.to_token[1]);
        self.classes = now;
        self.to_token = [7_u32.wrapping_sub(letters.leading_zeros()), 2_u32.wrapping_sub(others.leading_zeros())];
        (letters.count_ones() + others.count_ones(), glue.count_ones())
    }
}

/// Returns the bytes at which a token begins: the first of each run, and every `length` bytes after it.
///
/// `further` has the bytes of a run that are not its first, `whole` those with `length` such bytes up to and with them, and
/// `to_token` where the first token of a run begins that comes from the block before.
#[inline(always)]
fn starts(class: u64, further: u64, whole: u64, length: u32, to_token: u32) -> u64 {
    let reached = further.trailing_ones() > to_token;
    let mut found = class & !further | u64::from(reached).wrapping_shl(to_token);
    let mut next = found << length & whole;
    while next != 0 {
        found |= next;
        next = next << length & whole;
    }
    found
}

/// Returns the bits that are the last of eight.
#[inline(always)]
const fn eight(bits: u64) -> u64 {
    let two = bits & bits << 1;
    let four = two & two << 2;
    four & four << 4
}

/// The bytes of each class in a block. Punctuation is what is in no other.
#[derive(Clone, Copy, Default)]
struct Classes {
    letters: u64,
    digits: u64,
    glue: u64,
    non_ascii: u64,
}

impl Classes {
    #[inline(always)]
    fn of<K: Kernel>(kernel: K, block: &[u8; BLOCK]) -> Self {
        let (halves, _) = block.as_chunks::<SPAN>();
        let identifier = u64::from(kernel.identifier(&halves[0])) | u64::from(kernel.identifier(&halves[1])) << SPAN;
        let digits = kernel.decimal(block);
        let underscores = kernel.find(block, b'_');
        let letters = identifier & !digits & !underscores;
        let glue = kernel.find(block, b' ') | underscores;
        let is_ascii = kernel.is_ascii(kernel.see(kernel.nothing_seen(), block));
        Self { letters, digits, glue, non_ascii: if is_ascii { 0 } else { non_ascii(block) } }
    }

    /// Returns the bytes of the classes with three bytes a token.
    #[inline(always)]
    const fn others(self) -> u64 {
        !(self.letters | self.glue)
    }

    /// Returns the class of the last byte.
    fn last(self) -> Class {
        let is_last = |bits: u64| bits >> (BLOCK - 1) == 1;
        match self {
            Self { letters, .. } if is_last(letters) => Class::Letter,
            Self { digits, .. } if is_last(digits) => Class::Digit,
            Self { glue, .. } if is_last(glue) => Class::Glue,
            Self { non_ascii, .. } if is_last(non_ascii) => Class::NonAscii,
            _ => Class::Punctuation,
        }
    }
}

/// Returns the bytes that are not ASCII: of every eight, a multiplication gathers the top bits.
fn non_ascii(block: &[u8; BLOCK]) -> u64 {
    let words = block.as_chunks::<8>().0.iter().enumerate();
    words.fold(0, |bits, (at, word)| {
        let tops = u64::from_le_bytes(*word) >> 7 & 0x0101_0101_0101_0101;
        bits | (tops.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at)
    })
}

/// The state machine: in the lower bits the row of [`PAIRS`] for the bytes that have been read, above them their cost.
#[derive(Clone, Copy, Default)]
struct Pairs(u64);

/// The bits of [`Pairs`] below the cost.
const BELOW: u32 = 16;

impl Pairs {
    /// Returns the state after at least one block.
    fn after(before: &Before) -> Self {
        let class = before.classes.last();
        let to_token = match class {
            Class::Letter => before.to_token[0],
            Class::Glue => 0,
            Class::Digit | Class::Punctuation | Class::NonAscii => before.to_token[1],
        };
        let state = u32::from(class.state() + class.length() - 1) - to_token;
        Self(u64::from(state) * TRANSITIONS_PER_STATE as u64)
    }

    #[inline(always)]
    fn step(&mut self, [one, two]: [u8; 2]) {
        self.add(usize::from(FIRST[usize::from(one)]) + CLASSES[usize::from(two)] as usize);
    }

    /// Reads two bytes of these classes.
    #[inline(always)]
    fn add(&mut self, classes: usize) {
        // The remainder drops the cost.
        let pair = PAIRS[(self.0 as usize + classes) % PAIRS.len()];
        self.0 = (self.0 >> BELOW << BELOW) + u64::from(pair);
    }

    #[inline(always)]
    fn read(mut self, text: &[u8]) -> Self {
        let (pairs, rest) = text.as_chunks();
        pairs.iter().for_each(|&pair| self.step(pair));
        if let &[last] = rest {
            self.add(usize::from(FIRST[usize::from(last)]) + NOTHING);
        }
        self
    }

    fn quarters(self) -> i64 {
        (self.0 >> BELOW) as i64
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    /// A space or underscore, which shares a token with the word after it.
    Glue,
    Punctuation,
    /// A byte of a character that is not ASCII.
    NonAscii,
}

impl Class {
    const ALL: [Self; 5] = [Self::Letter, Self::Digit, Self::Glue, Self::Punctuation, Self::NonAscii];

    const fn of(byte: u8) -> Self {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => Self::Letter,
            b'0'..=b'9' => Self::Digit,
            b' ' | b'_' => Self::Glue,
            0x80.. => Self::NonAscii,
            _ => Self::Punctuation,
        }
    }

    /// Returns the bytes of a run that are one token. Words of up to eight letters mostly are, with the space or underscore
    /// before them.
    const fn length(self) -> u8 {
        match self {
            Self::Letter => 8,
            Self::Glue => 1,
            Self::Digit | Self::Punctuation | Self::NonAscii => 3,
        }
    }

    /// Returns the cost of a run's first byte, and of each later byte that begins a token.
    const fn price(self) -> (u32, u32) {
        match self {
            Self::Glue => (0, TOKEN_COST as u32 / 4),
            _ => (TOKEN_COST as u32, TOKEN_COST as u32),
        }
    }

    /// Returns its first state. The others follow, one for each byte of a token. State 0 is the start of the text.
    const fn state(self) -> u8 {
        let mut state = 1;
        let mut class = 0;
        while class < self as usize {
            state += Self::ALL[class].length();
            class += 1;
        }
        state
    }
}

/// The class of each byte.
static CLASSES: [Class; 256] = {
    let mut classes = [Class::Punctuation; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = Class::of(byte as u8);
        byte += 1;
    }
    classes
};

/// The class of the first byte of a pair, as an offset into a row of [`PAIRS`].
static FIRST: [u8; 256] = {
    let mut first = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        first[byte] = CLASSES[byte] as u8 * SECONDS as u8;
        byte += 1;
    }
    first
};

/// The number of classes that the second byte of a pair may have, with [`NOTHING`] for the end of the text.
const SECONDS: usize = Class::ALL.len() + 1;
const NOTHING: usize = Class::ALL.len();

/// At least as many as there are states, and pairs of classes; powers of two, so that a remainder is a mask.
const STATES: usize = 32;
const TRANSITIONS_PER_STATE: usize = 32;

/// Returns the state after a byte of this class, and the byte's cost.
const fn step(state: usize, class: Class) -> (usize, u32) {
    let (first, length) = (class.state() as usize, class.length() as usize);
    if state < first || state >= first + length {
        (first, class.price().0)
    } else if state + 1 < first + length {
        (state + 1, 0)
    } else {
        (first, class.price().1)
    }
}

/// By state and the classes of the next two bytes: the state after them as a row of this table, and above it their cost.
static PAIRS: [u32; STATES * TRANSITIONS_PER_STATE] = {
    let mut pairs = [0; STATES * TRANSITIONS_PER_STATE];
    let mut at = 0;
    while at < pairs.len() {
        let (state, one, two) =
            (at / TRANSITIONS_PER_STATE, at % TRANSITIONS_PER_STATE / SECONDS, at % TRANSITIONS_PER_STATE % SECONDS);
        if one < Class::ALL.len() {
            let (mut after, mut cost) = step(state, Class::ALL[one]);
            if two != NOTHING {
                let second = step(after, Class::ALL[two]);
                (after, cost) = (second.0, cost + second.1);
            }
            pairs[at] = (after * TRANSITIONS_PER_STATE) as u32 | cost << BELOW;
        }
        at += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a text costs, run by run.
    fn by_runs(text: &[u8]) -> i64 {
        let runs = text.chunk_by(|&one, &other| Class::of(one) == Class::of(other));
        runs.map(|run| {
            let length = run.len() as i64;
            match Class::of(run[0]) {
                Class::Letter => TOKEN_COST * (1 + (length - 1) / 8),
                Class::Glue => TOKEN_COST * (length - 1) / 4,
                Class::Digit | Class::Punctuation | Class::NonAscii => TOKEN_COST * ((length + 2) / 3),
            }
        })
        .sum()
    }

    #[test]
    fn a_text_costs_what_its_runs_cost() {
        let mut text = Vec::new();
        let mut state = 1_u64;
        for round in 0..2000 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let byte = b"aZ09 _,\"{\xc3"[(state >> 33) as usize % 10];
            text.extend(std::iter::repeat_n(byte, 1 + (state >> 50) as usize % 12));
            if round % 7 == 0 {
                assert_eq!(all_tokens(&text), by_runs(&text), "{} bytes", text.len());
            }
        }
        // Every kernel, and runs that end in every place of a block.
        for choice in Choice::available() {
            for from in 0..200 {
                assert_eq!(
                    long(&text[from..3000 + 7 * from], choice),
                    by_runs(&text[from..3000 + 7 * from]),
                    "{choice:?} {from}"
                );
            }
        }
        // A run across blocks.
        for rest in [&b"-"[..], b"-a", b"-a-", b"-a-7"] {
            let text = [&b"a".repeat(300)[..], rest].concat();
            assert_eq!(all_tokens(&text), by_runs(&text));
        }
        for run in [&b"a"[..], b"7", b" ", b"-", b"\xff"] {
            for length in [0, 1, 2, 3, 4, 8, 9, 255, 256, 257, 1000] {
                assert_eq!(all_tokens(&run.repeat(length)), by_runs(&run.repeat(length)));
            }
        }
    }

    /// Runs of one class and then another, so long that they are read in blocks, and that end in every place of one.
    #[test]
    fn two_runs_after_each_other_cost_what_each_costs() {
        const BYTES: [u8; 6] = [b'a', b'7', b'_', b'-', 0xC3, b' '];
        for choice in Choice::available() {
            for one in BYTES {
                for other in BYTES {
                    for length in (0..2 * BLOCK).step_by(if cfg!(miri) { 51 } else { 1 }) {
                        let text =
                            [[one].repeat(BLOCK + length), [other].repeat(9 + length % 7), [one].repeat(150)].concat();
                        assert_eq!(long(&text, choice), by_runs(&text), "{choice:?}: {}", text.escape_ascii());
                        // Short runs of both.
                        let text = [[one].repeat(1 + length % 11), [other].repeat(1 + length / 11)].concat().repeat(25);
                        assert_eq!(long(&text, choice), by_runs(&text), "{choice:?}: {}", text.escape_ascii());
                        assert_eq!(all_tokens(&text), by_runs(&text), "{}", text.escape_ascii());
                    }
                }
            }
        }
    }

    #[test]
    fn words_numbers_and_punctuation_are_tokens_and_spaces_are_not() {
        assert_eq!(estimate_tokens(b"user_id: 12345"), 5);
    }

    #[test]
    fn a_long_text_is_estimated_from_its_beginning() {
        assert_eq!(tokens(&b"word ".repeat(1000)) / 1000, tokens(&b"word ".repeat(20)) / 20);
        // One token for eight letters, and the rest, which costs more, is not read.
        let text = [[b'a'; SAMPLE], [b'-'; SAMPLE]].concat();
        assert_eq!(tokens(&text), 2 * TOKEN_COST * SAMPLE as i64 / 8);
    }
}
