//! Is there one good scalar between a colon and the next entry? Told by the eight bytes that end with that entry.
//!
//! One idea: the scanner has looked inside strings and numbers, so all that is left to ask of one is whether it ends where a
//! scalar of its kind can. What it must end with is known from its first byte, as bytes and a mask; a literal, whole, is
//! nothing else. So a scalar, its comma and the quote behind it are one comparison.

/// The eight bytes that end with the one at `at`.
#[inline(always)]
pub(crate) fn ending(text: &[u8], at: usize) -> Option<&[u8; 8]> {
    text.get(..at + 1)?.last_chunk()
}

/// A kind of scalar, by its first byte: what the bytes up to the next entry must be. Each has a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Scalar {
    more: Ending,
    last: Ending,
}

/// Bytes, what to add to how far others are from them, and the bits of the sum that must be zero.
#[derive(Clone, Copy)]
struct Ending {
    bytes: u64,
    more: u64,
    mask: u64,
}

impl Scalar {
    /// The scalar that begins with `first`.
    #[inline(always)]
    pub(crate) fn of(first: u8) -> &'static Self {
        &SCALARS[usize::from(first)]
    }

    /// Is it good, and another member behind it, given the bytes up to that member's quote?
    #[inline(always)]
    pub(crate) fn has_more(&self, ending: &[u8; 8]) -> bool {
        self.more.fits(ending)
    }

    /// Is it good, and its object's last, given the bytes up to the brace?
    #[inline(always)]
    pub(crate) fn is_last(&self, ending: &[u8; 8]) -> bool {
        self.last.fits(ending)
    }
}

impl Ending {
    /// Never fits: 0xFF is in no UTF-8, and the scanner has refused whatever is not.
    const NEVER: Self = Self { bytes: u64::MAX, more: 0, mask: u64::MAX };

    /// What ends with `last`.
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

    /// What ends with a digit and `behind`. Of all bytes only digits are less than ten away from `0`, bit by bit, so that six
    /// more do not reach the upper half of the byte. What overflows changes the byte behind, a comma or an entry's first, which
    /// then does not fit: both are ASCII, and one more makes neither of the other.
    const fn digit(behind: &[u8]) -> Self {
        let Self { bytes, mask, .. } = Self::of(behind);
        let shift = 56 - 8 * behind.len();
        Self { bytes: bytes | (b'0' as u64) << shift, more: 6 << shift, mask: mask | 0xF0 << shift }
    }

    #[inline(always)]
    fn fits(self, ending: &[u8; 8]) -> bool {
        (u64::from_le_bytes(*ending) ^ self.bytes).wrapping_add(self.more) & self.mask == 0
    }
}

/// A string must end in a quote and a number in a digit, or else the byte is a separator too many, or a minus alone: the
/// scanner has checked all else that is inside of them. A literal must be itself, with a colon in front.
static SCALARS: [Scalar; 256] = {
    let mut scalars = [Scalar { more: Ending::NEVER, last: Ending::NEVER }; 256];
    scalars[b'"' as usize] = Scalar { more: Ending::of(b"\",\""), last: Ending::of(b"\"}") };
    scalars[b't' as usize] = Scalar { more: Ending::of(b":true,\""), last: Ending::of(b":true}") };
    scalars[b'f' as usize] = Scalar { more: Ending::of(b":false,\""), last: Ending::of(b":false}") };
    scalars[b'n' as usize] = Scalar { more: Ending::of(b":null,\""), last: Ending::of(b":null}") };
    let number = Scalar { more: Ending::digit(b",\""), last: Ending::digit(b"}") };
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
    fn of_all_bytes_only_digits_end_a_number() {
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
    fn a_kind_ends_as_it_must_and_nothing_else_fits() {
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
}
