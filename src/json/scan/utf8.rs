//! UTF-8 in batches (grammar/STC.md, section 3.4): a character may begin in one batch of blocks and end in the next.
//!
//! simdutf8 checks the batches that are not all ASCII. With the standard library's check instead, encoding a text that is
//! half Japanese took 1.5 times as long.

/// The beginning of a character that the bytes so far have not completed, if there is one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Utf8 {
    partial: [u8; 4],
    len: u8,
}

impl Utf8 {
    pub(crate) fn is_complete(&self) -> bool {
        self.len == 0
    }

    /// Checks the next bytes; returns false if they cannot be UTF-8.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> bool {
        while let (1.., [byte, rest @ ..]) = (self.len, bytes) {
            self.partial[usize::from(self.len)] = *byte;
            self.len += 1;
            bytes = rest;
            match std::str::from_utf8(&self.partial[..usize::from(self.len)]) {
                Ok(_) => self.len = 0,
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    // A caller may continue after an error: there must be room for the next character.
                    self.len = 0;
                    return false;
                }
            }
        }
        if self.len > 0 {
            return true;
        }
        let (whole, torn) = bytes.split_at(bytes.len() - torn_len(bytes));
        self.partial[..torn.len()].copy_from_slice(torn);
        self.len = torn.len() as u8;
        // An incomplete character may be wrong already, such as a surrogate's first two bytes. The next byte shows it; the
        // error is then found later, at the same offset.
        is_utf8(whole)
    }
}

/// Returns whether all of `bytes` is UTF-8.
///
/// On AVX2, simdutf8 0.1.5 computes an address 128 bytes ahead for a prefetch, even past the end of the text. It reads
/// nothing there, but computing such an address is undefined behaviour (Miri reports it), so simdutf8 is not given the last
/// 128 bytes.
pub(crate) fn is_utf8(bytes: &[u8]) -> bool {
    const PREFETCH_BYTES: usize = 128;
    let front = &bytes[..bytes.len().saturating_sub(PREFETCH_BYTES)];
    let (front, back) = bytes.split_at(front.len() - torn_len(front));
    simdutf8::basic::from_utf8(front).is_ok() && std::str::from_utf8(back).is_ok()
}

/// Returns how many bytes at the end begin a character and do not complete it.
pub(crate) fn torn_len(bytes: &[u8]) -> usize {
    let last = &bytes[bytes.len().saturating_sub(3)..];
    let missing = |(back, &byte): (usize, &u8)| match byte {
        0xC0.. => Some(if byte.leading_ones() as usize > back + 1 { back + 1 } else { 0 }),
        0x80..=0xBF => None,
        _ => Some(0),
    };
    last.iter().rev().enumerate().find_map(missing).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wherever_it_is_cut_it_is_utf8_or_not() {
        let long = "é€😀a".repeat(40);
        for from in 0..10 {
            for to in long.len() - 10..=long.len() {
                let bytes = &long.as_bytes()[from..to];
                assert_eq!(is_utf8(bytes), std::str::from_utf8(bytes).is_ok(), "{from} {to}");
                for at in (0..bytes.len()).step_by(if cfg!(miri) { 97 } else { 1 }) {
                    let mut wrong = bytes.to_vec();
                    wrong[at] = 0xFF;
                    assert!(!is_utf8(&wrong), "{from} {to} {at}");
                }
            }
        }
    }

    #[test]
    fn any_split_gives_the_verdict_of_the_whole() {
        let cases: [&[u8]; 10] = [
            b"plain",
            "é€😀é".as_bytes(),
            b"\xED\xA0\x80",
            b"\xC0\x80",
            b"a\x80",
            b"\xF4\x90\x80\x80",
            b"\xE2\x82",
            b"\xE2\x28\xA1",
            b"\xFF\xFF",
            b"\x80\x80\x80\x80",
        ];
        for case in cases {
            let whole = std::str::from_utf8(case).is_ok();
            for first in 0..=case.len() {
                for second in first..=case.len() {
                    let mut utf8 = Utf8::default();
                    let good =
                        utf8.feed(&case[..first]) && utf8.feed(&case[first..second]) && utf8.feed(&case[second..]);
                    assert_eq!(good && utf8.is_complete(), whole, "{case:?} at {first}, {second}");
                }
            }
        }
    }

    /// A text of every length, and one cut anywhere: also where characters fill all of its blocks.
    #[test]
    fn long_texts_of_one_character_are_utf8() {
        for character in ["a", "é", "€", "😀"] {
            for count in (0..100).step_by(if cfg!(miri) { 13 } else { 1 }) {
                let text = character.repeat(count);
                assert!(is_utf8(text.as_bytes()), "{count} {character}");
                for cut in 0..text.len().min(5) {
                    let bytes = &text.as_bytes()[..text.len() - cut];
                    assert_eq!(torn_len(bytes), (character.len() - cut % character.len()) % character.len());
                    assert_eq!(is_utf8(bytes), cut % character.len() == 0);
                }
            }
        }
    }
}
