//! Settings that belong to the design and are not in this version. They are refused by name, so that a configuration that
//! relies on one never runs without it.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny};

/// Defines, for each setting, a function that refuses every value of it.
macro_rules! refused {
    ($($name:ident)*) => {$(
        pub(crate) fn $name<'de, D: Deserializer<'de>>(value: D) -> Result<(), D::Error> {
            IgnoredAny::deserialize(value)?;
            Err(D::Error::custom(concat!("`context.", stringify!($name), "` is not available in this version")))
        }
    )*};
}

refused! { expand strategy discovery }
