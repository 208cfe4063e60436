//! serde_json and simd-json as a second opinion on what is JSON.

use simd_json::ErrorType;

use crate::verdict::is_json;

/// Asserts that the codec accepts exactly what the two accept, where they follow RFC 8259. `taken` is whether the codec
/// accepted the text, apart from limits.
pub fn assert_verdict(json: &[u8], taken: bool) {
    assert_eq!(taken, is_json(json), "serde_json disagrees");
    match simd_json::to_tape(&mut json.to_vec()) {
        // simd-json treats a NUL after a number as its end.
        Ok(_) => assert!(taken || json.contains(&0), "simd-json accepts what the codec rejects"),
        Err(error) => assert!(!taken || is_its_own(error.error()), "simd-json rejects what the codec accepts: {error}"),
    }
}

/// Returns whether RFC 8259 does not require the rejection: numbers that do not fit its types, escapes that are no character.
fn is_its_own(error: &ErrorType) -> bool {
    use ErrorType::{
        InvalidEscape, InvalidNumber, InvalidUnicodeCodepoint, InvalidUnicodeEscape, InvalidUtf8, Overflow,
    };
    matches!(
        error,
        InvalidNumber | Overflow | InvalidEscape | InvalidUnicodeCodepoint | InvalidUnicodeEscape | InvalidUtf8
    )
}
