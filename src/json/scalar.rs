//! Whether there is exactly one good scalar between a colon and the next entry, from the eight bytes that end with that
//! entry.
//!
//! One idea: the scanner has checked the inside of strings and numbers, so only their end is left to check. The first byte
//! of a scalar says what it must end with, as bytes and a mask; a literal is compared whole. So a scalar, its comma and
//! the quote after it are one comparison of eight bytes:
//!
//! ```text
//! text                 "ok":true,"n":12}
//! first byte `t`       must end with `:true,"` (another member follows) or `:true}` (the last member)
//! first byte `1`       must end with a digit and `,"`, or a digit and `}`
//! ```

/// Returns the eight bytes that end with the one at `at`.
#[inline(always)]
pub(crate) fn ending(text: &[u8], at: usize) -> Option<&[u8; 8]> {
    text.get(..at + 1)?.last_chunk()
}

/// What a scalar with a certain first byte must end with. Each has its own cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Scalar {
    /// If another member follows.
    more: Ending,
    /// If it is the last member.
    last: Ending,
    /// One if it is a literal, else zero.
    literals: u32,
}

/// A test of eight bytes: `((input ^ bytes) + more) & mask` must be zero.
#[derive(Clone, Copy)]
struct Ending {
    bytes: u64,
    more: u64,
    mask: u64,
}

impl Scalar {
    /// Returns the scalar that begins with `first`.
    #[inline(always)]
    pub(crate) fn of(first: u8) -> &'static Self {
        &SCALARS[usize::from(first)]
    }

    /// Returns one if it is a literal, else zero.
    #[inline(always)]
    pub(crate) fn literals(&self) -> u32 {
        self.literals
    }

    /// Returns whether the bytes end as this scalar has to end where another member follows; the last is the quote of its key.
    #[inline(always)]
    pub(crate) fn has_more(&self, ending: &[u8; 8]) -> bool {
        self.more.fits(ending)
    }

    /// Returns whether the bytes end as this scalar has to end in its object's last member; the last is the brace.
    #[inline(always)]
    pub(crate) fn is_last(&self, ending: &[u8; 8]) -> bool {
        self.last.fits(ending)
    }
}

impl Ending {
    /// Never fits: 0xFF does not occur in UTF-8, and the scanner has refused anything else.
    const NEVER: Self = Self { bytes: u64::MAX, more: 0, mask: u64::MAX };

    /// Returns the test for bytes that end with `last`.
    const fn of(last: &[u8]) -> Self {
        let (mut bytes, mut mask) = (0, 0);
        let mut at = 0;
        while at < last.len() {
            bytes = bytes >> 8 | (last[at] as u64) << 56;
            mask = mask >> 8 | 0xFF << 56;
            at += 1;
        }
        Self { bytes, more: 0, mask }
    }

    /// Returns the test for bytes that end with a digit and `after`. Xored with `0`, only digits give less than ten, so that
    /// adding six does not reach the upper half of the byte. An overflow changes the next byte, a comma or the first byte of an
    /// entry, which then does not fit.
    const fn digit(after: &[u8]) -> Self {
        let Self { bytes, mask, .. } = Self::of(after);
        let shift = 56 - 8 * after.len();
        Self { bytes: bytes | (b'0' as u64) << shift, more: 6 << shift, mask: mask | 0xF0 << shift }
    }

    #[inline(always)]
    fn fits(self, ending: &[u8; 8]) -> bool {
        (u64::from_le_bytes(*ending) ^ self.bytes).wrapping_add(self.more) & self.mask == 0
    }
}

/// By first byte. A string must end in a quote and a number in a digit; if not, there is a separator too many, or a lone
/// minus. A literal must be complete, with a colon before it.
static SCALARS: [Scalar; 256] = {
    let mut scalars = [Scalar { more: Ending::NEVER, last: Ending::NEVER, literals: 0 }; 256];
    scalars[b'"' as usize] = Scalar { more: Ending::of(b"\",\""), last: Ending::of(b"\"}"), literals: 0 };
    scalars[b't' as usize] = Scalar { more: Ending::of(b":true,\""), last: Ending::of(b":true}"), literals: 1 };
    scalars[b'f' as usize] = Scalar { more: Ending::of(b":false,\""), last: Ending::of(b":false}"), literals: 1 };
    scalars[b'n' as usize] = Scalar { more: Ending::of(b":null,\""), last: Ending::of(b":null}"), literals: 1 };
    let number = Scalar { more: Ending::digit(b",\""), last: Ending::digit(b"}"), literals: 0 };
    scalars[b'-' as usize] = number;
    let mut digit = b'0';
    while digit <= b'9' {
        scalars[digit as usize] = number;
        digit += 1;
    }
    scalars
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_end_a_number() {
        for byte in 0..=255_u8 {
            for before in [0, b'0', b':', 0xFF] {
                let digit = byte.is_ascii_digit();
                for first in *b"-09" {
                    let scalar = Scalar::of(first);
                    let (more, last) = ([before; 5], [before; 6]);
                    let more: Vec<u8> = more.into_iter().chain([byte, b',', b'"']).collect();
                    let last: Vec<u8> = last.into_iter().chain([byte, b'}']).collect();
                    assert_eq!(scalar.has_more(more[..].try_into().expect("eight")), digit, "{byte:#x}");
                    assert_eq!(scalar.is_last(last[..].try_into().expect("eight")), digit, "{byte:#x}");
                }
            }
        }
    }

    #[test]
    fn each_kind_has_its_ending_and_no_other_fits() {
        let good: [(u8, &[u8; 8], &[u8; 8]); 5] = [
            (b'"', b"-----\",\"", b"------\"}"),
            (b't', b"-:true,\"", b"--:true}"),
            (b'f', b":false,\"", b"-:false}"),
            (b'n', b"-:null,\"", b"--:null}"),
            (b'7', b"-----9,\"", b"------0}"),
        ];
        for (first, more, last) in good {
            let scalar = Scalar::of(first);
            assert!(scalar.has_more(more) && !scalar.is_last(more), "{}", first as char);
            assert!(scalar.is_last(last) && !scalar.has_more(last), "{}", first as char);
            for (ending, fits) in [(more, Scalar::has_more as fn(&Scalar, &[u8; 8]) -> bool), (last, Scalar::is_last)] {
                for at in 0..8 {
                    let mut other = *ending;
                    other[at] ^= 0x40;
                    assert_eq!(fits(scalar, &other), ending[at] == b'-', "{} at {at}", first as char);
                }
            }
        }
        for first in *b"{}[],: \0x\\" {
            assert!(
                good.iter()
                    .all(|(_, more, last)| !Scalar::of(first).has_more(more) && !Scalar::of(first).is_last(last))
            );
        }
    }

    #[test]
    fn an_ending_is_the_eight_bytes_up_to_an_entry() {
        let text = b"0123456789abcdef";
        for at in 0..=20 {
            let expected = (7..text.len()).contains(&at).then(|| &text[at - 7..=at]);
            assert_eq!(ending(text, at).map(|bytes| &bytes[..]), expected, "{at}");
        }
    }
}
