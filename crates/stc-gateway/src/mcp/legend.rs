//! The few lines that explain a format to a model, for a server's instructions.

use crate::Format;

/// The legend of a format; none for one that models know.
#[must_use]
pub const fn legend(format: Format) -> Option<&'static str> {
    match format {
        Format::Stc1 => Some(
            "Some tool results are in STC, a compact spelling of JSON: keys that are identifiers have no quotes; \
             `tags[2]: \"a\",\"b\"` is the member tags, a list of two; `[2]{id,ok}: 1,true / 2,false` is a list of two objects \
             with the keys id and ok, a row each, rows parted by ` / `. Everything else is as in JSON.",
        ),
        Format::Stc2 | Format::Stc2Refs | Format::Toon => None,
    }
}
