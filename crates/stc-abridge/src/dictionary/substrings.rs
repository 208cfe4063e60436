//! Repeated runs of bytes within a line, by the hashes of all runs of chosen lengths.

use super::choose::FEWEST_PLACES;
use stc_wire::budget::charge_bytes;

/// The lengths whose runs are hashed. A run is extended as far as its places agree, so lengths between these are found too.
const LENGTHS: [usize; 9] = [8, 12, 16, 24, 32, 48, 64, 128, 256];
/// The base of the rolling hash; odd, so that no byte is lost.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The bytes that are compared to extend runs, for all of a text and for each of its bytes: enough for every usual text, and a bound
/// for hostile ones.
const MOST_COMPARED: usize = 4 << 20;
const MOST_COMPARED_PER_BYTE: usize = 512;

/// Returns passages that occur several times.
pub(super) fn candidates(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut left = MOST_COMPARED.min(bytes.len() * MOST_COMPARED_PER_BYTE);
    let mut hashes: Vec<(u64, u32)> = Vec::with_capacity(bytes.len());
    for length in LENGTHS.into_iter().take_while(|length| length * FEWEST_PLACES <= bytes.len()) {
        charge_bytes(bytes.len());
        hashes.clear();
        lines(bytes).for_each(|(start, line)| rolling(start, line, length, &mut hashes));
        hashes.sort_unstable();
        for group in hashes.chunk_by(|one, other| one.0 == other.0).filter(|group| group.len() >= FEWEST_PLACES) {
            found.extend(extended(text, group, length, &mut left));
        }
    }
    found
}

/// Returns each line and where it starts.
fn lines(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    text.split(|byte| *byte == b'\n').map(move |line| {
        let at = start;
        start += line.len() + 1;
        (at, line)
    })
}

/// Appends the hash and the offset of every run of a line.
fn rolling(start: usize, line: &[u8], length: usize, hashes: &mut Vec<(u64, u32)>) {
    if line.len() < length {
        return;
    }
    let highest = (1..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let push = |hash: u64, byte: u8| hash.wrapping_mul(BASE).wrapping_add(u64::from(byte) + 1);
    let mut hash = line[..length].iter().fold(0, |hash, byte| push(hash, *byte));
    hashes.push((hash, start as u32));
    for (at, byte) in line.iter().enumerate().skip(length) {
        let gone = (u64::from(line[at - length]) + 1).wrapping_mul(highest);
        hash = push(hash.wrapping_sub(gone), *byte);
        hashes.push((hash, (start + at + 1 - length) as u32));
    }
}

/// Returns the run of a group as far as it goes in all its places. Nothing if it goes on before them, because then the group one
/// byte before is the same.
fn extended<'a>(text: &'a str, group: &[(u64, u32)], length: usize, left: &mut usize) -> Option<&'a str> {
    let bytes = text.as_bytes();
    let first = group[0].1 as usize;
    let run = &bytes[first..first + length];
    // Equal hashes are compared: what only collides does not count.
    let places = group.iter().map(|(_, place)| *place as usize).filter(|place| bytes[*place..].starts_with(run));
    let places: Vec<usize> = places.collect();
    let same = |at: usize, byte: u8| byte != b'\n' && bytes.get(at) == Some(&byte);
    let goes_on_before = first > 0 && places.iter().all(|place| *place > 0 && same(place - 1, bytes[first - 1]));
    if goes_on_before || places.len() < FEWEST_PLACES {
        return None;
    }
    let mut longer = length;
    while let Some(byte) = bytes.get(first + longer)
        && *left >= group.len()
        && places.iter().all(|place| same(place + longer, *byte))
    {
        longer += 1;
        *left -= group.len();
    }
    charge_bytes((longer - length) * group.len() + length);
    let (mut start, mut end) = (first, first + longer);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (start < end).then(|| &text[start..end])
}
