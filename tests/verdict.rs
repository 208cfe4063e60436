//! Somebody else's verdict on what is JSON; the tests and the fuzz targets ask it.

use serde::de::IgnoredAny;

/// serde_json's. `IgnoredAny` checks the grammar without turning numbers into floats and without recursion, so only
/// UTF-8 is left to ask for.
pub(crate) fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok())
}
