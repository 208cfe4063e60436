//! What became of a text, kept for the next request of its session that has the same text.
//!
//! A memo saves work and nothing else: the same text and settings give the same bytes without it. It holds what the text
//! became, or that it stays, under fingerprints of the settings and of the text as the client spelled it; if either differs,
//! the text is prepared anew.
//!
//! ```text
//! 0        1             17         33      34        38         42         46          50
//! version  the settings  the input  status  bytes in  bytes out  tokens in  tokens out  what is written to the request
//! ```

use crate::key::Secret;
use crate::lossless::{Outcome, Rules};
use crate::report::{Memo, Status};
use std::sync::Arc;

/// The version of the layout above.
const VERSION: u8 = 1;
/// The bytes before what is written.
const HEAD: usize = 50;

/// What a text became.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) outcome: Outcome,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// What is written in the place of the text; empty if the text stays.
    pub(crate) written: &'a [u8],
}

/// The fingerprints that a memo must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prints {
    pub(crate) settings: u128,
    pub(crate) input: u128,
}

/// Returns the fingerprint of what decides what a text becomes.
pub(crate) fn of_settings(secret: &Secret, rules: &Rules) -> u128 {
    let numbers = [rules.min_bytes as u64, rules.max_bytes as u64, rules.min_saving.to_bits()];
    let numbers = numbers.map(u64::to_le_bytes).concat();
    let verify = format!("{:?}", rules.verify);
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    secret.hash(&[b"settings", version, rules.format.name().as_bytes(), &numbers, verify.as_bytes()])
}

/// Returns the fingerprint of a text, by the bytes that the client spelled it with.
pub(crate) fn of_input(secret: &Secret, spelled: &[u8]) -> u128 {
    secret.hash(&[b"input", spelled])
}

/// Returns an entry as a value to keep; `None` for what cannot be kept.
pub(crate) fn write(prints: Prints, entry: &Entry<'_>) -> Option<Arc<[u8]>> {
    let status = Status::ALL.iter().position(|status| *status == entry.outcome.status)?;
    let mut value = Vec::with_capacity(HEAD + entry.written.len());
    value.push(VERSION);
    value.extend_from_slice(&prints.settings.to_le_bytes());
    value.extend_from_slice(&prints.input.to_le_bytes());
    value.push(status as u8);
    for count in [entry.bytes_in, entry.bytes_out, entry.outcome.tokens_in, entry.outcome.tokens_out] {
        value.extend_from_slice(&u32::try_from(count).ok()?.to_le_bytes());
    }
    value.extend_from_slice(entry.written);
    Some(value.into())
}

/// Reads a value; the error is [`Memo::Changed`] if it is of another text, of other settings or of another version.
pub(crate) fn read(prints: Prints, value: &[u8]) -> Result<Entry<'_>, Memo> {
    let (head, written) = value.split_at_checked(HEAD).ok_or(Memo::Changed)?;
    let print = |at: usize| head[at..at + 16].try_into().map(u128::from_le_bytes).unwrap_or_default();
    let count = |at: usize| head[at..at + 4].try_into().map(u32::from_le_bytes).unwrap_or_default().into();
    if head[0] != VERSION || (Prints { settings: print(1), input: print(17) }) != prints {
        return Err(Memo::Changed);
    }
    let status = *Status::ALL.get(usize::from(head[33])).ok_or(Memo::Changed)?;
    if status.is_change() == written.is_empty() {
        return Err(Memo::Changed);
    }
    let outcome = Outcome { status, legend: false, tokens_in: count(42), tokens_out: count(46) };
    Ok(Entry { outcome, bytes_in: count(34), bytes_out: count(38), written })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTS: Prints = Prints { settings: 5 << 100, input: 7 };

    fn value() -> Arc<[u8]> {
        let outcome = Outcome { status: Status::Stc2, legend: false, tokens_in: 90, tokens_out: 40 };
        write(PRINTS, &Entry { outcome, bytes_in: 300, bytes_out: 200, written: b"\"x\"" }).unwrap()
    }

    #[test]
    fn an_entry_comes_back() {
        let value = value();
        let entry = read(PRINTS, &value).unwrap();
        assert_eq!((entry.outcome.status, entry.outcome.tokens_in, entry.outcome.tokens_out), (Status::Stc2, 90, 40));
        assert_eq!((entry.bytes_in, entry.bytes_out, entry.written), (300, 200, &b"\"x\""[..]));
    }

    #[test]
    fn other_texts_settings_and_versions_do_not_match() {
        let value = value();
        assert!(read(Prints { settings: 1, ..PRINTS }, &value).is_err());
        assert!(read(Prints { input: 1, ..PRINTS }, &value).is_err());
        for end in 0..=HEAD {
            assert!(read(PRINTS, &value[..end]).is_err(), "{end}");
        }
        for (at, byte) in [(0, 2), (33, 200), (33, 6)] {
            let mut other = value.to_vec();
            other[at] = byte;
            assert!(read(PRINTS, &other).is_err(), "{at}: {byte}");
        }
    }
}
