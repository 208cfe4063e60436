//! Whether bytes of the right form are a secret or only look like it.

use crate::work::{Failed, Work};

/// The most bytes that a placeholder has beside what was replaced before.
const MAX_PLACEHOLDER_BYTES: usize = 3;
/// How a secret that was replaced begins.
pub(crate) const MARK: &[u8] = b"[redacted:";

/// Words of values that stand for a secret.
const PLACEHOLDERS: [&str; 16] = [
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "xxxx",
    "****",
    "....",
    "dummy",
    "insert",
    "sample",
    "todo",
    "${",
    "{{",
    "env.",
];

/// What a secret must have beside its form.
#[derive(Debug)]
pub(crate) struct Judge {
    pub(crate) entropy: f64,
    pub(crate) classes: usize,
    pub(crate) guess: bool,
}

impl Judge {
    /// Counts the reading of a secret: once by loops, and byte by byte where there is more to know than whether it was replaced.
    pub(crate) fn spend(&self, length: usize, work: &mut Work) -> Result<(), Failed> {
        let is_thorough = self.classes >= 2 || self.guess || self.entropy > 0.0;
        if is_thorough { work.spend(length) } else { work.read(length) }
    }

    pub(crate) fn accepts(&self, secret: &[u8]) -> bool {
        !is_replaced(secret)
            && (self.classes < 2 || has_classes(secret, self.classes))
            && !(self.guess && is_placeholder(secret))
            && (self.entropy <= 0.0 || entropy(secret) >= self.entropy)
    }
}

/// Returns whether this is what a secret was replaced by, and little more.
fn is_replaced(secret: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(secret, MARK) else { return false };
    let end = memchr::memchr(b']', &secret[at..]).map_or(secret.len(), |length| at + length + 1);
    at + (secret.len() - end) <= MAX_PLACEHOLDER_BYTES
}

/// Returns the bits that a byte tells on average, if bytes are drawn as often as they occur here.
fn entropy(secret: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in secret {
        counts[usize::from(*byte)] += 1;
    }
    let length = secret.len() as f64;
    let bits = |count: u32| -> f64 {
        let share = f64::from(count) / length;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(|count| bits(*count)).sum()
}

/// Returns whether a secret has so many of: small letters, capitals, digits, other signs. A digit or a sign is among them: words
/// have none.
fn has_classes(secret: &[u8], least: usize) -> bool {
    let any = |is: fn(&u8) -> bool| secret.iter().any(is);
    let digit = any(u8::is_ascii_digit);
    let sign = any(|byte| is_sign(*byte));
    let count = usize::from(any(u8::is_ascii_lowercase)) + usize::from(any(u8::is_ascii_uppercase));
    (digit || sign) && count + usize::from(digit) + usize::from(sign) >= least
}

fn is_sign(byte: u8) -> bool {
    b"!@#$%^&*?+~|".contains(&byte) || byte >= 0x80
}

/// Returns whether a byte is one of those that a secret with classes has and words have not.
pub(crate) fn is_of_classes(byte: u8) -> bool {
    byte.is_ascii_digit() || is_sign(byte)
}

/// Returns whether a value reads like a variable, a path or a placeholder.
fn is_placeholder(secret: &[u8]) -> bool {
    let lower = secret.to_ascii_lowercase();
    let has = |word: &str| memchr::memmem::find(&lower, word.as_bytes()).is_some();
    let variable = matches!(secret, [b'$' | b'<' | b'{' | b'(' | b'/' | b'%', ..] | [b'.', b'/', ..]);
    variable
        || PLACEHOLDERS.iter().any(|word| has(word))
        || matches!(&*lower, b"password" | b"pass" | b"secret" | b"passwd")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_the_bytes() {
        assert!(entropy(b"aaaa").abs() < 1e-9);
        assert!((entropy(b"abcd") - 2.0).abs() < 1e-9);
        assert!((entropy(b"aabb") - 1.0).abs() < 1e-9);
    }

    #[test]
    fn classes_need_a_digit_or_a_sign() {
        for (secret, least, expected) in [
            ("getPassword", 2, false),
            ("hunter2", 2, true),
            ("hunter2", 3, false),
            ("Hunter2!", 4, true),
            ("snake_case-name", 2, false),
        ] {
            assert_eq!(has_classes(secret.as_bytes(), least), expected, "{secret}");
        }
    }

    #[test]
    fn what_was_replaced_is_no_secret() {
        assert!(is_replaced(b"[redacted:jwt]"));
        assert!(is_replaced(b"a[redacted:jwt]@"));
        assert!(!is_replaced(b"abcd[redacted:jwt]"));
        assert!(!is_replaced(b"redacted"));
    }

    #[test]
    fn placeholders_are_recognised() {
        for text in ["${DB_PASSWORD}", "your-api-key-1", "<token>", "XXXXXXXX1", "/run/secrets/db1", "password"] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        assert!(!is_placeholder(b"hunter2!"));
    }
}
