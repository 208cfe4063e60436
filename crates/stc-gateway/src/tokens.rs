//! How many tokens a text has, nearly: without a vocabulary, in one pass, without memory.
//!
//! Tokenizers first cut a text into words, numbers and runs of punctuation, and then cut the long ones again. The first
//! cut is easy to redo and decides most of it: `":"` is one piece, `: "` is two. What is not redone is the vocabulary,
//! so a long word counts by its length.

/// An estimate of the tokens of a UTF-8 text, for comparing two spellings of the same data.
#[must_use]
pub fn estimate_tokens(text: &[u8]) -> u64 {
    let mut tokens = 0;
    let mut at = 0;
    while at < text.len() {
        let class = Class::of(text[at]);
        let length = text[at..].iter().take_while(|byte| Class::of(**byte) == class).count();
        tokens += match class {
            // One space joins what comes after it.
            Class::Space if length == 1 && text.get(at + 1).is_some_and(|next| Class::of(*next) != Class::Digit) => 0,
            Class::Space => 1,
            Class::Letter => length.div_ceil(6),
            Class::Digit => length.div_ceil(3),
            Class::Mark => length.div_ceil(3),
            // Two or three bytes a letter, and such letters seldom share a token.
            Class::Foreign => length.div_ceil(3),
        } as u64;
        at += length;
    }
    tokens
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Letter,
    Digit,
    Mark,
    Foreign,
}

impl Class {
    const fn of(byte: u8) -> Self {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => Self::Space,
            b'a'..=b'z' | b'A'..=b'Z' => Self::Letter,
            b'0'..=b'9' => Self::Digit,
            0x80.. => Self::Foreign,
            _ => Self::Mark,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_that_break_punctuation_cost() {
        assert!(estimate_tokens(br#"{"a":"b","c":"d"}"#) < estimate_tokens(br#"{a: "b", c: "d", e: "f"}"#));
        assert_eq!(estimate_tokens(b""), 0);
        assert_eq!(estimate_tokens(b"1234567"), 3);
        assert_eq!(estimate_tokens(br#"":""#), 1);
    }

    /// Against o200k, counted once: the ratio STC 1 / JSON is what is used, so that is what has to be right.
    #[test]
    fn the_ratio_points_the_right_way() {
        let rows = stc_corpus::make("sql-rows", 1, 16_000).expect("a kind of the catalogue");
        let stc = stc::encode(&rows).unwrap();
        assert!(estimate_tokens(&stc) * 10 < estimate_tokens(&rows) * 8);
    }
}
