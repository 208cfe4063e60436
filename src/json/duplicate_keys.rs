//! Does a key stand twice? For the few that most headers have, in either direction; who has many sorts or hashes them.

/// Up to this many keys it is cheaper to compare every pair.
pub(crate) const FEW: usize = 32;

/// The first of `count` keys that is the same as one before it. `marks` is only memory.
#[inline(always)]
pub(crate) fn first_twice<'a>(count: usize, key: impl Fn(usize) -> &'a [u8], marks: &mut Vec<u64>) -> Option<usize> {
    // Keys that are the same have the same mark; those that only share it are compared.
    marks.clear();
    (0..count).find(|&at| {
        let mark = mark(key(at));
        let alike = marks.iter().fold(0, |alike, &other| alike + u32::from(other == mark));
        marks.push(mark);
        alike > 0 && (0..at).any(|other| key(other) == key(at))
    })
}

/// What tells most keys apart: the first eight bytes, the last eight, and the length.
#[inline(always)]
fn mark(key: &[u8]) -> u64 {
    let ends = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            u64::from_le_bytes(*first).rotate_left(32) ^ u64::from_le_bytes(*last).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        }
        _ => key.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
    };
    ends ^ key.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_key_that_stands_twice() {
        for width in [0, 1, 2, 9, FEW] {
            for twice in 0..=width {
                let names: Vec<String> =
                    (0..width).map(|at| format!("the_key_{}", if at == twice { 0 } else { at })).collect();
                let found = first_twice(width, |at| names[at].as_bytes(), &mut Vec::new());
                assert_eq!(found, (1..width).contains(&twice).then_some(twice), "{width} {twice}");
            }
        }
    }

    #[test]
    fn keys_with_one_mark_are_told_apart() {
        let keys = [&b"12345678-87654321"[..], b"12345678+87654321", b"12345678-87654321"];
        assert_eq!(mark(keys[0]), mark(keys[1]));
        assert_eq!(first_twice(2, |at| keys[at], &mut Vec::new()), None);
        assert_eq!(first_twice(3, |at| keys[at], &mut Vec::new()), Some(2));
    }
}
