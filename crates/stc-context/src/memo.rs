//! What became of a text, kept for the next request of its session that has the same text.
//!
//! A memo saves work and nothing else: the same text and settings give the same bytes without it. It holds what the text
//! became, or that it stays, under fingerprints of the settings and of the text as the client spelled it; if either differs,
//! the text is prepared anew.
//!
//! ```text
//! 0        1             17         33      34        38         42         46          50     52        56
//! version  the settings  the input  status  bytes in  bytes out  tokens in  tokens out  steps  redacted  what is written to the request
//! ```

use crate::chain::Chain;
use crate::key::Secret;
use crate::lossless::{Outcome, Rules};
use crate::report::{Memo, Status};
use crate::steps::Steps;
use stc_abridge::Origin;
use std::sync::Arc;

/// The version of the layout above.
const LAYOUT_VERSION: u8 = 4;
/// The bytes before what is written.
const HEADER_BYTES: usize = 56;

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

/// Returns the fingerprint of what decides what a text becomes; `redaction` says which secrets are replaced.
pub(crate) fn of_settings(secret: &Secret, rules: &Rules, chain: &Chain, redaction: &str) -> u128 {
    let numbers = [rules.min_bytes as u64, rules.max_bytes as u64, rules.min_saving.to_bits()];
    let numbers: Vec<_> = numbers.into_iter().chain([chain.cap as u64, chain.excerpt as u64]).collect();
    let numbers: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
    let others = format!("{:?} {:?} {:?} {redaction}", rules.verify, chain.mode, chain.dictionary);
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    secret.hash(&[b"settings", version, rules.format.name().as_bytes(), &numbers, others.as_bytes()])
}

/// Returns the fingerprint of a text, by the bytes that the client spelled it with, and of where it comes from.
pub(crate) fn of_input(secret: &Secret, spelled: &[u8], origin: Origin) -> u128 {
    let [low, high] = origin.programs.bits().to_le_bytes();
    secret.fingerprint(&[b"input", spelled, &[origin.kind as u8, low, high]])
}

/// Returns an entry as a value to keep; `None` for what cannot be kept.
pub(crate) fn write(prints: Prints, entry: &Entry<'_>) -> Option<Arc<[u8]>> {
    let status = Status::ALL.iter().position(|status| *status == entry.outcome.status)?;
    let mut value = Vec::with_capacity(HEADER_BYTES + entry.written.len());
    value.push(LAYOUT_VERSION);
    value.extend_from_slice(&prints.settings.to_le_bytes());
    value.extend_from_slice(&prints.input.to_le_bytes());
    value.push(status as u8);
    for count in [entry.bytes_in, entry.bytes_out, entry.outcome.tokens_in, entry.outcome.tokens_out] {
        value.extend_from_slice(&u32::try_from(count).ok()?.to_le_bytes());
    }
    value.extend_from_slice(&entry.outcome.steps.bits().to_le_bytes());
    value.extend_from_slice(&entry.outcome.redacted.to_le_bytes());
    value.extend_from_slice(entry.written);
    Some(value.into())
}

/// Reads a value; the error is [`Memo::Changed`] if it is of another text, of other settings or of another version.
pub(crate) fn read(prints: Prints, value: &[u8]) -> Result<Entry<'_>, Memo> {
    let (head, written) = value.split_at_checked(HEADER_BYTES).ok_or(Memo::Changed)?;
    let print = |at: usize| head[at..at + 16].try_into().map(u128::from_le_bytes).unwrap_or_default();
    let number = |at: usize| head[at..at + 4].try_into().map(u32::from_le_bytes).unwrap_or_default();
    let count = |at: usize| u64::from(number(at));
    if head[0] != LAYOUT_VERSION || (Prints { settings: print(1), input: print(17) }) != prints {
        return Err(Memo::Changed);
    }
    let status = *Status::ALL.get(usize::from(head[33])).ok_or(Memo::Changed)?;
    if status.is_change() == written.is_empty() {
        return Err(Memo::Changed);
    }
    let steps = Steps::of_bits(u16::from_le_bytes([head[50], head[51]])).ok_or(Memo::Changed)?;
    let (tokens_in, tokens_out) = (count(42), count(46));
    let outcome = Outcome { status, legend: false, tokens_in, tokens_out, steps, redacted: number(52) };
    Ok(Entry { outcome, bytes_in: count(34), bytes_out: count(38), written })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::Step;

    const PRINTS: Prints = Prints { settings: 5 << 100, input: 7 };

    fn value() -> Arc<[u8]> {
        let mut outcome = Outcome { tokens_out: 40, redacted: 3, ..Outcome::stays(Status::Stc2Labelled, 90) };
        outcome.steps.add(Step::Json);
        outcome.steps.add(Step::Redact);
        write(PRINTS, &Entry { outcome, bytes_in: 300, bytes_out: 200, written: b"\"x\"" }).unwrap()
    }

    #[test]
    fn an_entry_comes_back() {
        let value = value();
        let entry = read(PRINTS, &value).unwrap();
        assert_eq!(
            (entry.outcome.status, entry.outcome.tokens_in, entry.outcome.tokens_out),
            (Status::Stc2Labelled, 90, 40)
        );
        assert_eq!(entry.outcome.steps.iter().collect::<Vec<_>>(), [Step::Redact, Step::Json]);
        assert_eq!(entry.outcome.redacted, 3);
        assert_eq!((entry.bytes_in, entry.bytes_out, entry.written), (300, 200, &b"\"x\""[..]));
    }

    #[test]
    fn other_texts_settings_and_versions_do_not_match() {
        let value = value();
        assert!(read(Prints { settings: 1, ..PRINTS }, &value).is_err());
        assert!(read(Prints { input: 1, ..PRINTS }, &value).is_err());
        for end in 0..=HEADER_BYTES {
            assert!(read(PRINTS, &value[..end]).is_err(), "{end}");
        }
        for (at, byte) in [(0, 1), (33, 200), (33, 9), (51, 0xff)] {
            let mut other = value.to_vec();
            other[at] = byte;
            assert!(read(PRINTS, &other).is_err(), "{at}: {byte}");
        }
    }
}
