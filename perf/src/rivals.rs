//! The rivals, each used in the way its documentation calls fastest. They do less than the codec: they parse the
//! document or copy it, and need not restore it.

use serde_json::Value;
use simd_json::{Buffers, Node, StaticNode};
use stc::internal::Kernel;

use crate::cases::{Case, Document};
use crate::contender::{Ready, Turn};

/// Returns whether each answer of a rival, read back as a value, equals its document. A document that serde_json cannot
/// read counts as different.
fn all_equal<E>(case: &Case, mut answer: impl FnMut(&Document) -> Result<Value, E>) -> Result<bool, String>
where
    E: std::fmt::Display,
{
    let mut equal = true;
    for document in &case.documents {
        let answer = answer(document).map_err(|error| error.to_string())?;
        equal &= serde_json::from_slice::<Value>(&document.json).is_ok_and(|value| value == answer);
    }
    Ok(equal)
}

pub(crate) fn simd_json_tape(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    let exact = tape_is_exact(case, |document| &document.json)?;
    let mut buffers = Buffers::new(case.documents.iter().map(|document| document.json.len()).max().unwrap_or(0));
    let turn: Turn<'_> =
        Box::new(move |rotations, documents| rotations.json.take(documents, |_, json| tape_len(json, &mut buffers)));
    Ok(Ready { turn, exact })
}

/// simd-json on the minified document, which is what a decoder writes.
pub(crate) fn simd_json_minified(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    let exact = tape_is_exact(case, |document| &document.minified)?;
    let mut buffers = Buffers::new(case.documents.iter().map(|document| document.minified.len()).max().unwrap_or(0));
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.minified.take(documents, |_, json| tape_len(json, &mut buffers))
    });
    Ok(Ready { turn, exact })
}

fn tape_len(json: &mut [u8], buffers: &mut Buffers) -> usize {
    simd_json::to_tape_with_buffers(json, buffers).map_or(0, |tape| tape.0.len())
}

fn tape_is_exact(case: &Case, text: fn(&Document) -> &[u8]) -> Result<bool, String> {
    all_equal(case, |document| {
        let mut json = text(document).to_vec();
        simd_json::to_tape(&mut json).map(|tape| value(&mut tape.0.into_iter()))
    })
}

/// Turns a tape into a value. Recursion is bounded: the codec has accepted the document, so its depth is limited.
fn value<'t>(nodes: &mut impl Iterator<Item = Node<'t>>) -> Value {
    match nodes.next() {
        Some(Node::String(text)) => text.into(),
        Some(Node::Array { len, .. }) => (0..len).map(|_| value(nodes)).collect(),
        Some(Node::Object { len, .. }) => {
            let member = |_| (value(nodes).as_str().unwrap_or_default().to_owned(), value(nodes));
            Value::Object((0..len).map(member).collect())
        }
        Some(Node::Static(StaticNode::Bool(truth))) => truth.into(),
        Some(Node::Static(StaticNode::I64(number))) => number.into(),
        Some(Node::Static(StaticNode::U64(number))) => number.into(),
        Some(Node::Static(StaticNode::F64(number))) => number.into(),
        Some(Node::Static(StaticNode::Null)) | None => Value::Null,
    }
}

#[cfg(feature = "sonic")]
pub(crate) fn sonic_value(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    let exact = all_equal(case, |document| {
        let value: sonic_rs::Value = sonic_rs::from_slice(&document.json).map_err(|error| error.to_string())?;
        let text = sonic_rs::to_vec(&value).map_err(|error| error.to_string())?;
        serde_json::from_slice(&text).map_err(|error| error.to_string())
    })?;
    let turn: Turn<'_> = Box::new(|rotations, documents| {
        rotations.json.take(documents, |_, json| {
            let value = sonic_rs::from_slice::<sonic_rs::Value>(json);
            usize::from(value.is_ok())
        })
    });
    Ok(Ready { turn, exact })
}

pub(crate) fn serde_value(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    // A value always equals itself; the check is that its printed form parses to the same value.
    let mut exact = true;
    for document in &case.documents {
        let value: Value = serde_json::from_slice(&document.json).map_err(|error| error.to_string())?;
        let printed = serde_json::to_vec(&value).map_err(|error| error.to_string())?;
        exact &= serde_json::from_slice::<Value>(&printed).is_ok_and(|again| again == value);
    }
    let turn: Turn<'_> = Box::new(|rotations, documents| {
        rotations.json.take(documents, |_, json| usize::from(serde_json::from_slice::<Value>(json).is_ok()))
    });
    Ok(Ready { turn, exact })
}

pub(crate) fn serde_copy(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    let exact = all_equal(case, |document| {
        let mut out = Vec::new();
        transcode(&document.json, &mut out).and_then(|_| serde_json::from_slice(&out))
    })?;
    let mut out = Vec::new();
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.json.take(documents, |_, json| transcode(json, &mut out).unwrap_or(0))
    });
    Ok(Ready { turn, exact })
}

pub(crate) fn serde_skip(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    for document in &case.documents {
        skip(&document.json).map_err(|error| error.to_string())?;
    }
    let turn: Turn<'_> =
        Box::new(|rotations, documents| rotations.json.take(documents, |_, json| usize::from(skip(json).is_ok())));
    // It keeps nothing that could differ.
    Ok(Ready { turn, exact: true })
}

/// Checks JSON as serde_json does it fastest: every value is parsed and none is kept.
fn skip(json: &[u8]) -> serde_json::Result<serde::de::IgnoredAny> {
    serde_json::from_slice(json)
}

/// Copies JSON to minified JSON: from the parser straight into the printer, without a value in between.
fn transcode(json: &[u8], out: &mut Vec<u8>) -> serde_json::Result<usize> {
    out.clear();
    let mut parser = serde_json::Deserializer::from_slice(json);
    serde_transcode::transcode(&mut parser, &mut serde_json::Serializer::new(&mut *out))?;
    parser.end()?;
    Ok(out.len())
}

/// Cases above this size are rejected by the TOON rivals: one round would take minutes.
#[cfg(feature = "toon")]
const TOON_LIMIT: usize = 16 << 20;

#[cfg(feature = "toon")]
fn small_enough(case: &Case) -> Result<(), String> {
    if case.json_bytes() > TOON_LIMIT { Err("left out: too slow at this size".into()) } else { Ok(()) }
}

#[cfg(feature = "toon")]
pub(crate) fn toon_format(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    small_enough(case)?;
    let toon = |json: &[u8]| {
        let value: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        toon_format::encode_default(&value).map_err(|error| error.to_string())
    };
    let mut exact = true;
    for document in &case.documents {
        let text = toon(&document.json)?;
        let back = toon_format::decode_default::<Value>(&text).ok();
        exact &= back == serde_json::from_slice(&document.json).ok();
    }
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.json.take(documents, |_, json| toon(json).map_or(0, |text| text.len()))
    });
    Ok(Ready { turn, exact })
}

#[cfg(feature = "toon")]
pub(crate) fn serde_toon_encode(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    small_enough(case)?;
    let mut values = Vec::new();
    let mut exact = true;
    for document in &case.documents {
        let value: Value = serde_json::from_slice(&document.json).map_err(|error| error.to_string())?;
        let text = serde_toon::to_string(&value).map_err(|error| error.to_string())?;
        exact &= serde_toon::from_str::<Value>(&text).is_ok_and(|back| back == value);
        values.push(value);
    }
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.json.take(documents, |number, _| serde_toon::to_string(&values[number]).map_or(0, |text| text.len()))
    });
    Ok(Ready { turn, exact })
}

pub(crate) fn memcpy(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    let longest = case.documents.iter().map(|document| document.json.len()).max().unwrap_or(0);
    let mut out = vec![0; longest];
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.json.take(documents, |_, json| {
            out[..json.len()].copy_from_slice(json);
            usize::from(*std::hint::black_box(&out[json.len() - 1]))
        })
    });
    Ok(Ready { turn, exact: true })
}
