//! serde_json and simd-json as judges of what is JSON.

use simd_json::ErrorType;

use crate::verdict::is_json;

/// The codec takes exactly what the two take, where they follow RFC 8259. `taken`: did the codec take it, limits of
/// depth and length left aside?
pub fn assert_verdict(json: &[u8], taken: bool) {
    assert_eq!(taken, is_json(json), "serde_json has another verdict");
    match simd_json::to_tape(&mut json.to_vec()) {
        // It takes a NUL behind a number for the end of it.
        Ok(_) => assert!(taken || json.contains(&0), "simd-json takes what the codec refuses"),
        Err(error) => assert!(!taken || is_its_own(error.error()), "simd-json refuses what the codec takes: {error}"),
    }
}

/// Refusals that RFC 8259 does not ask for: numbers that do not fit its types, escapes that stand for no character.
fn is_its_own(error: &ErrorType) -> bool {
    use ErrorType::{
        InvalidEscape, InvalidNumber, InvalidUnicodeCodepoint, InvalidUnicodeEscape, InvalidUtf8, Overflow,
    };
    matches!(
        error,
        InvalidNumber | Overflow | InvalidEscape | InvalidUnicodeCodepoint | InvalidUnicodeEscape | InvalidUtf8
    )
}
