//! Every kernel against the obvious answer, one byte at a time.

use super::kernel::{Kernel, Masks, Numeric, SPAN};
use crate::buffer::BLOCK;
use crate::json::scan::choice::{Choice, with_kernel};

/// One under Miri, which is some thousand times slower and runs a few cases only.
const SLOW: usize = cfg!(miri) as usize;

/// Returns the masks that every kernel must return.
fn expected_masks(block: &[u8; BLOCK]) -> Masks {
    let mask = |class: fn(u8) -> bool| (0..BLOCK).fold(0, |bits, at| bits | u64::from(class(block[at])) << at);
    Masks {
        quote: mask(|byte| byte == b'"'),
        backslash: mask(|byte| byte == b'\\'),
        white: mask(|byte| b" \t\n\r".contains(&byte)),
        bracket: mask(|byte| b"{}[]".contains(&byte)),
        plain: mask(|byte| !b" \t\n\r{}[],:".contains(&byte)),
        numeric: Some(Numeric {
            digit: mask(|byte| byte.is_ascii_digit()),
            zero: mask(|byte| byte == b'0'),
            minus: mask(|byte| byte == b'-'),
            point: mask(|byte| byte == b'.'),
        }),
    }
}

#[test]
fn every_byte_in_every_place_beside_every_neighbour() {
    for choice in Choice::available() {
        for byte in (0..=255).step_by(51 * SLOW + 1) {
            for neighbour in [0, b' ', b'"', 0x7F, 0x80, 0xFF, byte ^ 1] {
                for at in (0..BLOCK).step_by(12 * SLOW + 1) {
                    let mut block = [neighbour; BLOCK];
                    block[at] = byte;
                    let mut masks = with_kernel!(choice, kernel => kernel.enter(|| kernel.masks(&block)));
                    let mut expected = expected_masks(&block);
                    // No kernel promises anything about control characters.
                    let control = (0..BLOCK).filter(|&at| block[at] < 0x20 && !b"\t\n\r".contains(&block[at]));
                    let control = control.fold(0, |bits, at| bits | 1 << at);
                    (masks.plain, expected.plain) = (masks.plain | control, expected.plain | control);
                    masks.numeric = masks.numeric.or(expected.numeric);
                    assert_eq!(masks, expected, "{choice:?}: {byte:#x} at {at} in {neighbour:#x}");
                }
            }
        }
    }
}

fn sees_kept<K: Kernel>(_: K) -> bool {
    K::SEES_KEPT
}

#[test]
fn one_byte_that_is_control_or_not_ascii_is_seen() {
    for choice in Choice::available() {
        for byte in [0, b'\n', 0x1F, b' ', 0x7F, 0x80, 0xC3, 0xFF] {
            for at in (0..2 * BLOCK).step_by(25 * SLOW + 1) {
                let mut blocks = [[b'a'; BLOCK]; 3];
                blocks[at / BLOCK][at % BLOCK] = byte;
                let (ascii, control) = with_kernel!(choice, kernel => kernel.enter(|| {
                    let seen = blocks.iter().fold(kernel.nothing_seen(), |seen, block| kernel.see(seen, block));
                    (kernel.is_ascii(seen), kernel.has_control(seen))
                }));
                assert_eq!(ascii, byte.is_ascii(), "{choice:?}: {byte:#x} at {at}");
                assert_eq!(control, byte < 0x20, "{choice:?}: {byte:#x} at {at}");
                let kept = with_kernel!(choice, kernel => kernel.enter(|| {
                    let see = |kept| {
                        let seen = kernel.see_kept(kernel.nothing_seen(), &blocks[at / BLOCK], kept);
                        (kernel.is_ascii(seen), kernel.has_control(seen))
                    };
                    [see(!(1 << (at % BLOCK))), if sees_kept(kernel) { see(1 << (at % BLOCK)) } else { (ascii, control) }]
                }));
                assert_eq!(kept, [(true, false), (ascii, control)], "{choice:?}: {byte:#x} at {at}");
            }
        }
    }
}

/// Bytes at these distances share a place in a summary, and must not cancel each other.
#[test]
fn what_is_seen_twice_stays_seen() {
    for choice in Choice::available() {
        for byte in [0x1F, 0x80, 0xFF] {
            for distance in [1, 8, 16, 32, BLOCK] {
                let mut blocks = [[b'a'; BLOCK]; 2];
                for at in [3, 3 + distance] {
                    blocks[at / BLOCK][at % BLOCK] = byte;
                }
                let (ascii, control) = with_kernel!(choice, kernel => kernel.enter(|| {
                    let seen = blocks.iter().fold(kernel.nothing_seen(), |seen, block| kernel.see(seen, block));
                    (kernel.is_ascii(seen), kernel.has_control(seen))
                }));
                assert_eq!(
                    (ascii, control),
                    (byte < 0x80, byte < 0x20),
                    "{choice:?}: {byte:#x} twice, {distance} apart"
                );
            }
        }
    }
}

#[test]
fn classes_of_every_byte_in_every_place() {
    type Class = fn(u8) -> bool;
    let classes: [(&str, Class); 5] = [
        ("find", |byte| byte == b'+'),
        ("decimal", |byte| byte.is_ascii_digit()),
        ("hexadecimal", |byte| byte.is_ascii_hexdigit()),
        ("escapable", |byte| b"\"\\/bfnrtu".contains(&byte)),
        ("quotes of a block", |byte| byte == b'"' || byte == b'\\'),
    ];
    for choice in Choice::available() {
        for first in (0..=255_u8).step_by(16 * SLOW + 1) {
            for step in [1, 3, 64, 67] {
                let block: [u8; BLOCK] = std::array::from_fn(|at| first.wrapping_add((at * step) as u8));
                let answers = with_kernel!(choice, kernel => kernel.enter(|| [
                    kernel.find(&block, b'+'),
                    kernel.decimal(&block),
                    kernel.hexadecimal(&block),
                    kernel.escapable(&block, u64::MAX),
                    kernel.quotes_of_block(&block),
                ]));
                for ((name, class), answer) in classes.iter().zip(answers) {
                    let expected = (0..BLOCK).fold(0, |bits, at| bits | u64::from(class(block[at])) << at);
                    assert_eq!(answer, expected, "{choice:?} {name} {first} {step}");
                }
            }
        }
    }
}

#[test]
fn an_identifier_ends_at_every_place_and_every_byte() {
    for choice in Choice::available() {
        let length = |block: &[u8; BLOCK]| with_kernel!(choice, kernel => kernel.enter(|| kernel.identifier_len_of_block(block)));
        for at in (0..=BLOCK).step_by(12 * SLOW + 1) {
            for byte in (0..=255_u8).step_by(16 * SLOW + 1) {
                let mut block: [u8; BLOCK] = std::array::from_fn(|at| b"aZ_09zA5"[at % 8]);
                let expected = match block.get_mut(at) {
                    Some(slot) if !crate::format::continues_bare(byte) => {
                        *slot = byte;
                        at
                    }
                    _ => BLOCK,
                };
                assert_eq!(length(&block), expected, "{choice:?}: {byte:#x} at {at}");
            }
        }
    }
}

/// Returns masks of every density.
fn masks() -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    (0..2000 >> (6 * SLOW)).map(move |round| {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        match round {
            0 => 0,
            1 => u64::MAX,
            _ if round % 3 == 0 => next() & next() & next(),
            _ if round % 3 == 1 => next() | next() | next(),
            _ => next(),
        }
    })
}

#[test]
fn positions_and_squeezed_bytes() {
    let block: [u8; BLOCK] = std::array::from_fn(|at| at as u8 + 100);
    for choice in Choice::available() {
        let mut before = 0;
        for bits in masks() {
            let expected: Vec<u32> = (0..64).filter(|at| bits >> at & 1 == 1).collect();
            let (mut positions, mut squeezed) = ([0; BLOCK], [0; 2 * BLOCK]);
            let (xor, found, (moved, len)) = with_kernel!(choice, kernel => kernel.enter(|| {
                let found = kernel.positions(bits, 1000, &mut positions);
                (kernel.prefix_xor(bits), found, kernel.squeeze(&block, &block, bits, before, &mut squeezed))
            }));
            let count = expected.len();
            assert_eq!((found, len), (count, count), "{choice:?}");
            assert!(positions[..count].iter().zip(&expected).all(|(have, want)| *have == want + 1000), "{choice:?}");
            assert!(squeezed[..count].iter().zip(&expected).all(|(have, want)| *have == *want as u8 + 100));
            let parity = (0..64).fold(0, |sum, at| sum | u64::from((bits << (63 - at)).count_ones() & 1) << at);
            assert_eq!(xor, parity, "{choice:?}");
            let together = expected.iter().enumerate().fold(0, |sum, (to, from)| sum | (before >> from & 1) << to);
            assert_eq!(moved, together, "{choice:?}");
            before = bits;
        }
    }
}

#[test]
fn classes_and_lengths_of_a_span() {
    let class =
        |bytes: &[u8; SPAN], is: fn(u8) -> bool| (0..SPAN).fold(0, |bits, at| bits | u32::from(is(bytes[at])) << at);
    for choice in Choice::available() {
        for first in (0..=255_u8).step_by(16 * SLOW + 1) {
            let bytes: [u8; SPAN] = std::array::from_fn(|at| first.wrapping_add((at * at) as u8));
            let mut other = bytes;
            other[usize::from(first) % SPAN] ^= 1 << (first / 32);
            let (digits, identifier, quotes, equal) = with_kernel!(choice, kernel => kernel.enter(|| {
                (kernel.digits(&bytes), kernel.identifier(&bytes), kernel.quotes(&bytes), kernel.equal(&bytes, &other))
            }));
            let lengths = with_kernel!(choice, kernel => kernel.enter(|| {
                [
                    kernel.identifier_len(&bytes),
                    kernel.bare_string_len(&bytes),
                    kernel.plain_len(&bytes),
                    kernel.equal_len(&bytes, &other),
                ]
            }));
            let bare = with_kernel!(choice, kernel => kernel.enter(|| kernel.bare_string(&bytes)));
            let expected =
                [identifier.trailing_ones(), bare.trailing_ones(), quotes.trailing_zeros(), equal.trailing_ones()];
            assert_eq!(lengths, expected.map(|length| length as usize), "{choice:?}");
            let same = [b'a' + first % 26; SPAN];
            let whole = with_kernel!(choice, kernel => kernel.enter(|| {
                [
                    kernel.identifier_len(&same),
                    kernel.bare_string_len(&same),
                    kernel.plain_len(&same),
                    kernel.equal_len(&same, &same),
                ]
            }));
            assert_eq!(whole, [SPAN; 4], "{choice:?}");
            assert_eq!(digits, class(&bytes, |byte| byte.is_ascii_digit()), "{choice:?}");
            assert_eq!(identifier, class(&bytes, crate::format::continues_bare), "{choice:?}");
            assert_eq!(bare, class(&bytes, crate::format::continues_bare_string), "{choice:?}");
            assert_eq!(quotes, class(&bytes, |byte| byte == b'"' || byte == b'\\'), "{choice:?}");
            assert_eq!(equal, !(1 << (first % 32)), "{choice:?}");
        }
    }
}
