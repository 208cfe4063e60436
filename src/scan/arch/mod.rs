//! "64 bytes to masks" and nothing else, one small file an instruction set. The algorithm above is written once and
//! does not know which of them it runs on.

mod swar;

pub(super) use swar::Swar;

use super::BLOCK;

/// One bit for each byte of a block, the first byte lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Masks {
    /// `"`
    pub(super) quote: u64,
    /// `\`
    pub(super) backslash: u64,
    /// Space, tab, line feed, carriage return.
    pub(super) white: u64,
    /// `{ } [ ]`
    pub(super) bracket: u64,
    /// `, :`
    pub(super) separator: u64,
    /// Below 0x20.
    pub(super) control: u64,
    /// Above 0x7F.
    pub(super) high: u64,
}

/// Something that can classify a block.
pub(super) trait Kernel: Copy {
    fn masks(self, block: &[u8; BLOCK]) -> Masks;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every kernel must answer, one byte at a time.
    fn plainly(block: &[u8; BLOCK]) -> Masks {
        let mask = |class: fn(u8) -> bool| (0..BLOCK).fold(0, |bits, at| bits | u64::from(class(block[at])) << at);
        Masks {
            quote: mask(|byte| byte == b'"'),
            backslash: mask(|byte| byte == b'\\'),
            white: mask(|byte| b" \t\n\r".contains(&byte)),
            bracket: mask(|byte| b"{}[]".contains(&byte)),
            separator: mask(|byte| b",:".contains(&byte)),
            control: mask(|byte| byte < 0x20),
            high: mask(|byte| byte > 0x7F),
        }
    }

    #[test]
    fn every_byte_in_every_place_beside_every_neighbour() {
        for byte in 0..=255 {
            for neighbour in [0, b' ', b'"', 0x7F, 0x80, 0xFF, byte ^ 1] {
                for at in 0..BLOCK {
                    let mut block = [neighbour; BLOCK];
                    block[at] = byte;
                    assert_eq!(Swar.masks(&block), plainly(&block), "{byte:#x} at {at} in {neighbour:#x}");
                }
            }
        }
    }
}
