//! The spellings of the format, each under a name; mirrors grammar/stc.abnf. The encoders write no other spelling;
//! `scripts/circles` checks that. Brackets, quotes, commas and colons are JSON's too: the encoders where they read JSON, and the
//! decoder, which also writes it, often have them as literals.

// Objects and keys: grammar/STC.md, sections 4 and 8.3.

/// Around the members of an object.
pub(crate) const OBJECT_OPEN: u8 = b'{';
pub(crate) const OBJECT_CLOSE: u8 = b'}';
/// Around the elements of a plain array.
pub(crate) const ARRAY_OPEN: u8 = b'[';
pub(crate) const ARRAY_CLOSE: u8 = b']';
/// Around the body of a string and of a quoted key.
pub(crate) const QUOTE: u8 = b'"';
/// Between members of an object.
pub(crate) const MEMBER_SEPARATOR: &[u8] = b", ";
/// The part of [`MEMBER_SEPARATOR`] that JSON does not have.
pub(crate) const MEMBER_SPACE: u8 = MEMBER_SEPARATOR[1];
/// Between a key or a header and its value.
pub(crate) const COLON: &[u8] = b": ";

// Counts, compact arrays and columnar values: sections 5 to 7, 8.5 and 8.6.

/// Around a count.
pub(crate) const COUNT_OPEN: u8 = b'[';
pub(crate) const COUNT_CLOSE: u8 = b']';
/// Between the count of a compact array and its elements.
pub(crate) const COMPACT_COLON: &[u8; 3] = &[COUNT_CLOSE, COLON[0], COLON[1]];
/// The most digits a count may have; any such count fits a `u64`.
pub(crate) const COUNT_DIGITS: usize = 19;
/// Around the keys of a columnar header.
pub(crate) const HEADER_OPEN: u8 = b'{';
pub(crate) const HEADER_CLOSE: u8 = b'}';
/// Between elements, cells and the keys of a header.
pub(crate) const COMMA: u8 = b',';
/// Between the rows of a columnar value.
pub(crate) const ROW_SEPARATOR: &[u8] = b" / ";
/// The byte of [`ROW_SEPARATOR`] that is not a space.
pub(crate) const SLASH: u8 = ROW_SEPARATOR[1];

// Version 2: sections 14 to 21.

/// Ends a header, a row and a definition.
pub(crate) const LINE_FEED: u8 = b'\n';
/// The most bytes a name may have (section 14.2).
pub(crate) const NAME_BYTES: usize = 24;

/// Returns whether a byte may stand in a name. The first one is a letter.
#[inline(always)]
pub(crate) fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

// Version 2, as its encoder writes it: the sigils and signs of STC.md, sections 14 to 19.

/// Before the name of a dictionary entry (section 15).
pub(crate) const DICTIONARY_SIGIL: u8 = b'$';
/// Before the name of a shape (section 18).
pub(crate) const SHAPE_SIGIL: u8 = b'@';
/// Before the name of an anchor, where it is defined and where it is copied (section 19).
pub(crate) const ANCHOR_SIGIL: u8 = b'&';
pub(crate) const COPY_SIGIL: u8 = b'*';
/// Around the number of rows of a keyed table (section 16.5).
pub(crate) const KEYED_COUNT_OPEN: u8 = b'{';
pub(crate) const KEYED_COUNT_CLOSE: u8 = b'}';
/// The first item of an open list (section 17.10).
pub(crate) const OPEN_MARK: u8 = b'*';
/// Before the value of a row that has no cells (section 16.7).
pub(crate) const WHOLE_ROW_SIGN: u8 = b'!';
/// After the members of a row of an open list (section 17.10).
pub(crate) const OPEN_ROW_END: &[u8] = &[OBJECT_CLOSE, LINE_FEED];
/// Around the cells of a tuple (section 17.4).
pub(crate) const TUPLE_OPEN: u8 = b'(';
pub(crate) const TUPLE_CLOSE: u8 = b')';
/// After the key of a column whose cells may be empty (section 17.2).
pub(crate) const OPTIONAL_SIGN: u8 = b'?';
/// Before a constant or default in a header (sections 17.3 and 17.8), and before the body of a dictionary entry.
pub(crate) const CONSTANT_SIGN: u8 = b'=';
/// Before a template in a header (section 17.5).
pub(crate) const TEMPLATE_SIGN: u8 = b'~';
/// Around the name of a column in a template (section 17.5).
pub(crate) const PLACEHOLDER_OPEN: &[u8] = &[PLACEHOLDER_SIGN, b'{'];
pub(crate) const PLACEHOLDER_CLOSE: u8 = b'}';
/// The first byte of [`PLACEHOLDER_OPEN`].
pub(crate) const PLACEHOLDER_SIGN: u8 = b'$';
/// Before the columns of a spliced object (section 17.9).
pub(crate) const SPLICE_OPEN: &[u8] = &[SPLICE_SIGN, HEADER_OPEN];
/// Before the bracket of a spliced object's columns (section 17.9).
pub(crate) const SPLICE_SIGN: u8 = b'.';
/// Between a key and its value where no whitespace is written (section 21.2).
pub(crate) const DENSE_COLON: u8 = b':';
/// After the columns of a table (section 16.1).
pub(crate) const HEADER_END: &[u8] = &[DENSE_COLON, LINE_FEED];

/// Returns whether a byte is JSON's insignificant whitespace (section 3.2).
pub(crate) const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns whether a byte is the whitespace that a row allows, `hs` (section 1.4): SP or TAB.
pub(crate) const fn is_horizontal_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns whether a bare key may begin with this byte (section 4.1).
pub(crate) const fn starts_bare(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Returns whether a bare key may continue with this byte (section 4.1).
pub(crate) const fn continues_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether a bare string may begin with this byte (section 14.5).
pub(crate) const fn starts_bare_string(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

/// Returns whether a bare string may continue with this byte (section 14.5): what words, paths, addresses and versions consist of.
pub(crate) const fn continues_bare_string(byte: u8) -> bool {
    continues_bare(byte)
        || matches!(byte, b'.' | b'/' | b':' | b'@' | b'+' | b'#' | b'%' | b'&' | b'=' | b'?' | b'~' | b'-')
}

/// Returns whether a word in the cell of a filled column may begin with this byte (section 17.11). It continues like a bare
/// string.
pub(crate) const fn starts_word(byte: u8) -> bool {
    continues_bare_string(byte) && byte != SHAPE_SIGIL && byte != ANCHOR_SIGIL
}

/// Returns whether this is a literal, and so no bare string (section 14.5).
#[inline(always)]
pub(crate) fn is_literal(word: &[u8]) -> bool {
    matches!(word, b"true" | b"false" | b"null")
}

/// Returns whether a string with this body, the bytes between its quotes, may be written without them (section 14.5).
pub(crate) fn is_bare_string(body: &[u8]) -> bool {
    body.first().is_some_and(|&first| starts_bare_string(first))
        && body.iter().all(|&byte| continues_bare_string(byte))
        && !is_literal(body)
}

/// Returns whether a key with this body, the bytes between its quotes, may be written without them (section 4.1).
#[inline(always)]
pub(crate) fn is_bare(body: &[u8]) -> bool {
    let Some(&first) = body.first() else { return false };
    if !starts_bare(first) {
        return false;
    }
    // Eight bytes at a time; the last eight may overlap those before.
    let word = |at: usize| body[at..].first_chunk().is_none_or(|bytes| all_continue(u64::from_ne_bytes(*bytes)));
    match body.len() {
        0..8 => body.iter().all(|&byte| continues_bare(byte)),
        8..=16 => word(0) && word(body.len() - 8),
        length => (0..length - 8).step_by(8).all(word) && word(length - 8),
    }
}

/// Returns whether all bytes of a word [continue](continues_bare) a bare key.
#[inline(always)]
fn all_continue(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = 0x80 * ONES;
    // Returns the high bit of each byte that is in the range. The bytes have seven bits, so no addition carries into the next.
    let low = word & !HIGH;
    let within =
        |word: u64, from: u8, to: u8| (word + ONES * u64::from(0x80 - from)) & !(word + ONES * u64::from(0x7F - to));
    let good = within(low | (0x20 * ONES), b'a', b'z') | within(low, b'0', b'9') | within(low, b'_', b'_');
    good & !word & HIGH == HIGH
}

/// Writes a count to the end of `digits` and returns it (section 7.1).
pub(crate) fn decimal(mut number: u64, digits: &mut [u8; COUNT_DIGITS + 1]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_strings_begin_with_a_letter() {
        let bytes = |is: fn(u8) -> bool| (0..=255).filter(|&byte| is(byte)).map(char::from).collect::<String>();
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        assert_eq!(bytes(starts_bare_string), letters);
        assert_eq!(bytes(|byte| continues_bare_string(byte) && !byte.is_ascii_alphanumeric()), "#%&+-./:=?@_~");
        assert!((b'0'..=b'9').chain(letters.bytes()).all(continues_bare_string));
        assert_eq!(bytes(|byte| starts_word(byte) != continues_bare_string(byte)), "&@");
        assert!(["true", "false", "null"].iter().all(|word| is_literal(word.as_bytes())));
        assert!(!["", "tru", "truex", "True", "nulls"].iter().any(|word| is_literal(word.as_bytes())));
    }

    #[test]
    fn bare_keys_are_identifiers() {
        for bare in ["a", "_", "Z9", "true", "null", "a_b_1"] {
            assert!(is_bare(bare.as_bytes()), "{bare}");
        }
        let name = "a_Zz09_bcdefghij_0123456789";
        for length in 1..name.len() {
            assert!(is_bare(&name.as_bytes()[..length]));
            for at in 0..length {
                for wrong in (0..=255).filter(|&byte| !continues_bare(byte)) {
                    let mut key = name.as_bytes()[..length].to_vec();
                    key[at] = wrong;
                    assert!(!is_bare(&key), "{}", key.escape_ascii());
                }
            }
        }
        for quoted in ["", "1", "a-b", "a b", "é", "a\\u0041", "$a", "a."] {
            assert!(!is_bare(quoted.as_bytes()), "{quoted}");
        }
    }
}
