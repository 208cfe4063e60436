//! The verdict of another parser on what is JSON, for tests and fuzz targets.

use serde::de::IgnoredAny;

/// Returns whether serde_json accepts the bytes. `IgnoredAny` checks the grammar without recursion and without converting
/// numbers, so only UTF-8 has to be checked separately.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}
