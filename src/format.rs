//! Every byte of the format under a name; mirrors grammar/stc.abnf. The encoder's side and the decoder meet only here.

/// Between members of an object.
pub(crate) const MEMBER_SEPARATOR: &[u8] = b", ";
/// Between a key, or a header, and what it names.
pub(crate) const COLON: &[u8] = b": ";
/// Between the rows of a columnar value.
pub(crate) const ROW_SEPARATOR: &[u8] = b" / ";
/// Between elements, cells and the keys of a header.
pub(crate) const COMMA: u8 = b',';
/// The row separator's one byte that is not spacing.
pub(crate) const SLASH: u8 = b'/';
/// The most digits a count may have; any such count fits a `u64`.
pub(crate) const COUNT_DIGITS: usize = 19;

/// Version 2: what ends a header, a row and a definition.
pub(crate) const LINE_FEED: u8 = b'\n';
/// The most letters a name may have.
pub(crate) const NAME_LETTERS: usize = 8;

/// JSON's insignificant whitespace.
pub(crate) const fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// May a bare key begin with this byte?
pub(crate) const fn starts_bare(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// May a bare key go on with this byte?
pub(crate) const fn continues_bare(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// May a key with this body, the bytes between its quotes, be written without them?
pub(crate) fn is_bare(body: &[u8]) -> bool {
    match body {
        [first, rest @ ..] => starts_bare(*first) && rest.iter().all(|&byte| continues_bare(byte)),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_keys_are_identifiers() {
        for bare in ["a", "_", "Z9", "true", "null", "a_b_1"] {
            assert!(is_bare(bare.as_bytes()), "{bare}");
        }
        for quoted in ["", "1", "a-b", "a b", "é", "a\\u0041", "$a", "a."] {
            assert!(!is_bare(quoted.as_bytes()), "{quoted}");
        }
    }
}
