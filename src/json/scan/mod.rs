//! Bytes to structural offsets, 64 bytes at a time, without knowing what JSON errors are.
//!
//! One idea (simdjson's): turn each block of 64 bytes into bit masks, one bit a byte, and let 64-bit arithmetic find
//! what is inside strings. The index keeps the offsets of brackets, opening quotes and the first byte of every other
//! scalar. Commas and colons are left out: between two entries at most one of them can stand, and whoever walks the
//! index checks it by its position, which halves the entries.
//!
//! Insignificant whitespace is squeezed out on the way, so that whoever walks the index never meets any. Offsets
//! are into the squeezed text. Two scalars with nothing but whitespace between them touch there, but keep an entry
//! each, so `1 2` never passes for `12`.
//!
//! Pseudo-code for a block:
//!
//! ```text
//! escaped   = bytes after an odd run of backslashes
//! quotes    = '"' bytes not escaped
//! in_string = running xor of quotes (an opening quote belongs to its string, a closing one does not)
//! outside   = neither in_string nor a quote
//! scalar    = outside, and neither white, bracket nor separator
//! entries   = brackets outside | opening quotes | scalars whose left neighbour is not one
//! kept      = everything but whitespace outside
//! seen      = of what is kept, whether any is a control character, which is wrong, or not ASCII, and so to be UTF-8
//! wrong     = escapes that JSON does not have | scalars that begin like a number and are none
//! ```

pub(crate) mod arch;
mod number;
mod utf8;

use crate::buffer::{BLOCK, Buffer, Pen};
use arch::{Kernel, Masks};
use utf8::Utf8;
pub(crate) use utf8::{is_utf8, torn_len};

/// A kernel by name, chosen once and then turned into the type that code is generic over by [`with_kernel`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    #[cfg(target_arch = "x86_64")]
    Avx512(arch::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(arch::Avx2),
    #[cfg(target_arch = "aarch64")]
    Neon(arch::Neon),
    Portable(arch::Swar),
}

impl Choice {
    /// The best kernel for this processor.
    pub(crate) fn best() -> Self {
        Self::detected().next().unwrap_or(Self::Portable(arch::Swar))
    }

    /// Every kernel this processor can run, best first.
    #[cfg(any(test, feature = "__internal"))]
    pub(crate) fn available() -> Vec<Self> {
        Self::detected().chain([Self::Portable(arch::Swar)]).collect()
    }

    fn detected() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let found = [arch::Avx512::detect().map(Self::Avx512), arch::Avx2::detect().map(Self::Avx2)];
        #[cfg(target_arch = "aarch64")]
        let found = [arch::Neon::detect().map(Self::Neon)];
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let found = [None];
        found.into_iter().flatten()
    }
}

/// Evaluates an expression with `$kernel` standing for the chosen kernel in its own type.
macro_rules! with_kernel {
    ($choice:expr, $kernel:ident => $work:expr) => {
        match $choice {
            #[cfg(target_arch = "x86_64")]
            $crate::json::scan::Choice::Avx512($kernel) => $work,
            #[cfg(target_arch = "x86_64")]
            $crate::json::scan::Choice::Avx2($kernel) => $work,
            #[cfg(target_arch = "aarch64")]
            $crate::json::scan::Choice::Neon($kernel) => $work,
            $crate::json::scan::Choice::Portable($kernel) => $work,
        }
    };
}
pub(crate) use with_kernel;

/// The state that a block hands on to the next, and whether anything wrong has gone by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scanner {
    carry: Carry,
    utf8: Utf8,
    wrong: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Carry {
    /// All ones while a string is open, else zero.
    in_string: u64,
    escapes: Escapes,
    number: number::Carry,
    /// Not zero if anything wrong has gone by.
    wrong: u64,
}

/// What a block has been found to hold.
struct Found {
    /// The bytes to index.
    entries: u64,
    /// The bytes that are not insignificant whitespace.
    kept: u64,
}

impl Scanner {
    /// Has anything gone by that no JSON text can hold? What it was and where is for a slower reader to say.
    pub(crate) fn is_wrong(&self) -> bool {
        self.wrong
    }

    /// May the text end here, as far as a scanner can tell?
    pub(crate) fn may_end(&self) -> bool {
        self.carry.in_string == 0 && self.utf8.is_complete()
    }

    /// Indexes whole blocks of `bytes`, which stand at `base`, for as long as they have no whitespace to squeeze
    /// out. Returns how many bytes it took.
    #[inline(never)]
    pub(crate) fn index<K: Kernel>(&mut self, kernel: K, bytes: &[u8], base: usize, index: &mut Buffer<u32>) -> usize {
        kernel.enter(
            #[inline(always)]
            || self.index_blocks(kernel, bytes, base, index),
        )
    }

    #[inline(always)]
    fn index_blocks<K: Kernel>(&mut self, kernel: K, bytes: &[u8], base: usize, index: &mut Buffer<u32>) -> usize {
        index.reserve(bytes.len() + BLOCK);
        let mut entries = index.pen();
        let mut room = entries.rest();
        let most = room.len();
        let mut carry = self.carry;
        let mut seen = kernel.nothing_seen();
        let mut taken = 0;
        for block in bytes.as_chunks::<BLOCK>().0 {
            let masks = kernel.masks(block);
            let strings = carry.strings(kernel, block, &masks);
            // Asked as early as may be: until then the old state has to be kept beside the new.
            if masks.white & strings.outside != 0 {
                break;
            }
            let found;
            (carry, found) = strings.entries(kernel, block, &masks);
            seen = kernel.see(seen, block);
            // A slice that shrinks asks less than a pen would.
            let into = room.first_chunk_mut().expect("room was reserved");
            let count = kernel.positions(found.entries, (base + taken) as u32, into);
            room = &mut room[count..];
            taken += BLOCK;
        }
        let found = most - room.len();
        index.keep(found);
        self.hand_on(kernel, carry, &bytes[..taken], seen);
        taken
    }

    /// Indexes the last, short block of a text that has no whitespace to squeeze out; false, and nothing done, if it
    /// has some.
    #[inline(never)]
    pub(crate) fn index_rest<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        base: usize,
        index: &mut Buffer<u32>,
    ) -> bool {
        let (block, real) = padded(bytes);
        index.reserve(BLOCK);
        let mut entries = index.pen();
        let (carry, found) = kernel.enter(
            #[inline(always)]
            || {
                let masks = kernel.masks(&block);
                let (carry, found) = self.carry.block(kernel, &block, &masks);
                extract(kernel, found.entries & real, base, &mut entries);
                (carry, found)
            },
        );
        if found.kept & real != real {
            return false;
        }
        let found = entries.written();
        index.keep(found);
        self.hand_on(kernel, carry, bytes, kernel.see(kernel.nothing_seen(), &block));
        true
    }

    /// Indexes whole blocks of `bytes` and appends what is left of them without whitespace to `text`. `kept` gets
    /// a mask a block: which of its bytes were appended.
    #[inline(never)]
    pub(crate) fn squeeze<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        text: &mut Buffer<u8>,
        index: &mut Buffer<u32>,
        kept: &mut Buffer<u64>,
    ) {
        kernel.enter(
            #[inline(always)]
            || self.squeeze_blocks(kernel, bytes, text, index, kept),
        )
    }

    #[inline(always)]
    fn squeeze_blocks<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        text: &mut Buffer<u8>,
        index: &mut Buffer<u32>,
        kept: &mut Buffer<u64>,
    ) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        debug_assert!(rest.is_empty());
        text.reserve(bytes.len() + BLOCK);
        index.reserve(bytes.len() + BLOCK);
        kept.reserve(blocks.len());
        let end = text.len() + text.pen().left();
        let (mut squeezed, mut entries, mut masks_kept) = (text.pen(), index.pen(), kept.pen());
        let (room, places, seen) = (squeezed.rest(), entries.rest(), kernel.nothing_seen());
        let (most, most_places) = (room.len(), places.len());
        let mut squeezing = Squeezing { kernel, carry: self.carry, seen, room, places, end };
        // Two at a time: to go round costs as much as a twentieth of a block.
        let mut rest = bytes;
        let (pairs, last) = blocks.as_chunks::<2>();
        let (kept_pairs, kept_last) = masks_kept.rest()[..blocks.len()].as_chunks_mut::<2>();
        for ([first, second], [kept_first, kept_second]) in pairs.iter().zip(kept_pairs) {
            *kept_first = squeezing.block(first, &mut rest);
            *kept_second = squeezing.block(second, &mut rest);
        }
        for (block, kept) in last.iter().zip(kept_last) {
            *kept = squeezing.block(block, &mut rest);
        }
        let Squeezing { carry, mut seen, room, places, .. } = squeezing;
        let (bytes_kept, found) = (most - room.len(), most_places - places.len());
        text.keep(bytes_kept);
        index.keep(found);
        kept.keep(blocks.len());
        if !K::SEES_KEPT {
            seen = look_over(kernel, text, text.len() - bytes_kept);
        }
        self.hand_on(kernel, carry, bytes, seen);
    }

    /// The last, short block of a text: as [`squeeze`](Self::squeeze), but `bytes` is shorter than a block.
    #[inline(never)]
    pub(crate) fn squeeze_rest<K: Kernel>(
        &mut self,
        kernel: K,
        bytes: &[u8],
        text: &mut Buffer<u8>,
        index: &mut Buffer<u32>,
        kept: &mut Buffer<u64>,
    ) {
        let (block, real) = padded(bytes);
        text.reserve(2 * BLOCK);
        index.reserve(BLOCK);
        let (mut squeezed, mut entries) = (text.pen(), index.pen());
        let (carry, found) = kernel.enter(
            #[inline(always)]
            || {
                let masks = kernel.masks(&block);
                let (carry, mut found) = self.carry.block(kernel, &block, &masks);
                // Where the text ends inside a string the padding seems to belong to it.
                found.kept &= real;
                found.entries &= real;
                let base = squeezed.at();
                let (places, len) = kernel.squeeze(&block, &block, found.kept, found.entries, squeezed.chunk());
                squeezed.keep(len);
                extract(kernel, places, base, &mut entries);
                (carry, found)
            },
        );
        let (bytes_kept, count) = (squeezed.written(), entries.written());
        text.keep(bytes_kept);
        index.keep(count);
        kept.push(found.kept);
        self.hand_on(kernel, carry, bytes, look_over(kernel, text, text.len() - bytes_kept));
    }

    /// `seen` is all but whitespace outside strings.
    #[inline(always)]
    fn hand_on<K: Kernel>(&mut self, kernel: K, carry: Carry, bytes: &[u8], seen: K::Seen) {
        self.carry = carry;
        // What is left of control characters is wrong, inside a string or not.
        self.wrong |= carry.wrong != 0 || kernel.has_control(seen);
        if !kernel.is_ascii(seen) || !self.utf8.is_complete() {
            self.wrong |= !self.utf8.feed(bytes);
        }
    }
}

/// Where a squeeze stands.
struct Squeezing<'a, K: Kernel> {
    kernel: K,
    carry: Carry,
    seen: K::Seen,
    /// What is left to write into. Slices that shrink ask less than pens would.
    room: &'a mut [u8],
    places: &'a mut [u32],
    /// Where `room` ends, in the text.
    end: usize,
}

impl<K: Kernel> Squeezing<'_, K> {
    /// Indexes and squeezes the next block, with which `rest` begins. Returns which of its bytes were kept.
    #[inline(always)]
    fn block(&mut self, block: &[u8; BLOCK], rest: &mut &[u8]) -> u64 {
        let Self { kernel, end, .. } = *self;
        let masks = kernel.masks(block);
        let (carry, Found { entries, kept }) = self.carry.block(kernel, block, &masks);
        self.carry = carry;
        self.seen = kernel.see_kept(self.seen, block, kept);
        let room = std::mem::take(&mut self.room);
        let base = end - room.len();
        let (entries, len) =
            kernel.squeeze(block, rest, kept, entries, room.first_chunk_mut().expect("room was reserved"));
        self.room = &mut room[len..];
        *rest = rest.get(BLOCK..).unwrap_or_default();
        let places = std::mem::take(&mut self.places);
        let count = kernel.positions(entries, base as u32, places.first_chunk_mut().expect("room was reserved"));
        self.places = &mut places[count..];
        kept
    }
}

impl Carry {
    /// By value, in and out, and never by reference to anything that is not inlined: so it stays in registers, which
    /// is worth a third of the scan.
    #[inline(always)]
    fn block<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], masks: &Masks) -> (Self, Found) {
        self.strings(kernel, block, masks).entries(kernel, block, masks)
    }

    /// What is inside strings.
    #[inline(always)]
    fn strings<K: Kernel>(mut self, kernel: K, block: &[u8; BLOCK], masks: &Masks) -> Strings {
        let mut escaped = 0;
        if masks.backslash | self.escapes.0 != 0 {
            let found;
            (escaped, found) = self.escapes.block_apart(kernel, block, masks.backslash);
            self.escapes = Escapes(found & !BAD);
            self.wrong |= found & BAD;
        }
        let quotes = masks.quote & !escaped;
        let within = kernel.prefix_xor(quotes) ^ self.in_string;
        self.in_string = (within as i64 >> 63) as u64;
        Strings { carry: self, opening: quotes & within, outside: !(within | quotes) }
    }
}

/// A block whose strings are known.
struct Strings {
    carry: Carry,
    /// Quotes that begin a string.
    opening: u64,
    /// Neither in a string nor a quote.
    outside: u64,
}

impl Strings {
    /// What is outside of them.
    #[inline(always)]
    fn entries<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], masks: &Masks) -> (Carry, Found) {
        let Self { mut carry, opening, outside } = self;
        let scalars = outside & masks.plain;
        let further = scalars & (scalars << 1 | number::goes_on(carry.number));
        let starts = scalars ^ further;
        if scalars | carry.number != 0 {
            let bad;
            (carry.number, bad) = number::block(carry.number, kernel, block, masks, scalars, starts);
            carry.wrong |= bad;
        }
        let found = Found { entries: masks.bracket & outside | opening | starts, kept: !(masks.white & outside) };
        (carry, found)
    }
}

/// What escapes ask of the next block, in one word: the lowest bit if its first byte is escaped, above it the bytes that a
/// `\u` escape wants to be hexadecimal digits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Escapes(u64);

/// Beside what escapes ask of the next block: something was bad.
const BAD: u64 = 1 << 63;

impl Escapes {
    /// The bytes that are escaped, what to hand on, and the bytes that should have been something else.
    #[inline(always)]
    pub(crate) fn block<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], backslash: u64) -> (u64, Self, u64) {
        let (escaped, escape) = escapes(backslash, self.0 & 1);
        let mut bad = escaped & !kernel.escapable(block, escaped);
        let unicode = escaped & kernel.find(block, b'u');
        let (mut hex, expected) = (0, self.0 >> 1);
        if unicode | expected != 0 {
            let due = expected | unicode << 1 | unicode << 2 | unicode << 3 | unicode << 4;
            bad |= due & !kernel.hexadecimal(block);
            hex = unicode >> 63 | unicode >> 62 | unicode >> 61 | unicode >> 60;
        }
        (escaped, Self(hex << 1 | escape), bad)
    }

    /// The same, for a loop that does without in most of its rounds. A call that is said to be rare has the compiler put
    /// what is stored and loaded for its sake beside it, and not into every round: a twelfth off the scan where there are
    /// no escapes, for some instructions more where there is one in every block. The second word is what to hand on, and
    /// [`BAD`]: two words come back in registers, three would not.
    #[cold]
    #[inline(never)]
    fn block_apart<K: Kernel>(self, kernel: K, block: &[u8; BLOCK], backslash: u64) -> (u64, u64) {
        kernel.enter(
            #[inline(always)]
            || {
                let (escaped, ahead, bad) = self.block(kernel, block, backslash);
                (escaped, ahead.0 | if bad == 0 { 0 } else { BAD })
            },
        )
    }
}

/// The bytes that a backslash escapes, those after an odd run of them, and whether the next block's first byte is one.
/// Subtracting the run's start from a word of alternating bits carries through the run and comes out odd or even.
#[inline(always)]
fn escapes(backslash: u64, escape: u64) -> (u64, u64) {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    let starts = backslash & !escape;
    let codes = (starts << 1 | ODD).wrapping_sub(starts) ^ ODD;
    (codes ^ (backslash | escape), (codes & backslash) >> 63)
}

/// What there is to see in a text from `new` on. In a loop of its own: to ask for the control characters of every block that
/// still has its whitespace, and of those only which are inside strings, takes three times as many instructions.
#[inline(always)]
fn look_over<K: Kernel>(kernel: K, text: &[u8], new: usize) -> K::Seen {
    kernel.enter(
        #[inline(always)]
        || {
            let (blocks, rest) = text[new..].as_chunks::<BLOCK>();
            let seen = blocks.iter().fold(kernel.nothing_seen(), |seen, block| kernel.see(seen, block));
            if rest.is_empty() {
                return seen;
            }
            // What has been looked over before may be so again.
            kernel.see(seen, &text.last_chunk().copied().unwrap_or_else(|| padded(rest).0))
        },
    )
}

/// A short block with spaces behind it, and the mask of what is not padding.
fn padded(bytes: &[u8]) -> ([u8; BLOCK], u64) {
    let mut block = [b' '; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    (block, (1 << bytes.len()) - 1)
}

/// Appends the position of every set bit. Callers see to it that texts are shorter than 4 GiB.
#[inline(always)]
fn extract<K: Kernel>(kernel: K, entries: u64, base: usize, index: &mut Pen<'_, u32>) {
    let count = kernel.positions(entries, base as u32, index.chunk());
    index.keep(count);
}
