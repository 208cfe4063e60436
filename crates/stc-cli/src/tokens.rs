//! Token counts: the vocabularies o200k_base and cl100k_base are part of the binary.

use bpe_openai::Tokenizer;

/// A vocabulary. Its name is a key in the output of `stats --json`.
pub(crate) struct Vocabulary {
    pub(crate) name: &'static str,
    tokenizer: fn() -> &'static Tokenizer,
}

/// The vocabularies of GPT-4o and later, then of GPT-4 and GPT-3.5.
pub(crate) const VOCABULARIES: [Vocabulary; 2] = [
    Vocabulary { name: "o200k", tokenizer: bpe_openai::o200k_base },
    Vocabulary { name: "cl100k", tokenizer: bpe_openai::cl100k_base },
];

/// Bytes between two reports of progress.
const BYTES_PER_REPORT: usize = 64 << 10;

impl Vocabulary {
    /// Counts the tokens of `text`; calls `counted` with the bytes done since the last call.
    ///
    /// Does what the tokenizer's own `count` does, word by word, because that one cannot report progress.
    pub(crate) fn count(&self, text: &str, counted: impl Fn(u64)) -> u64 {
        let tokenizer = (self.tokenizer)();
        let (mut tokens, mut pending) = (0, 0);
        for word in tokenizer.split(text) {
            tokens += tokenizer.bpe.count(word.as_bytes()) as u64;
            pending += word.len();
            if pending >= BYTES_PER_REPORT {
                counted(pending as u64);
                pending = 0;
            }
        }
        counted(pending as u64);
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected numbers are those of tiktoken 0.14.
    #[test]
    fn tokens_are_those_of_tiktoken() {
        let texts = [
            ("", [0, 0]),
            ("hello world", [2, 2]),
            (
                "日本語のテキスト、絵文字 👩\u{200d}👩\u{200d}👧\u{200d}👦 and e\u{301} combining \u{200b} zero width",
                [28, 36],
            ),
            ("   \n\n\t  x  \r\n   ", [5, 5]),
            (r#"[2]{id,name,method}: 1,"users","GET" / 2,"orders","POST""#, [23, 23]),
        ];
        for (text, expected) in texts {
            assert_eq!(VOCABULARIES.map(|vocabulary| vocabulary.count(text, drop)), expected, "{text:?}");
        }
    }
}
