//! The codec as a contender, on whole documents: with a reused codec, and with a new one for each document; and the functions
//! that only read JSON.

use stc::internal::Kernel;

use crate::cases::Case;
use crate::contender::{Ready, Turn};

/// Fails unless the codec's answer is exactly the expected one.
pub(crate) fn exactly(answer: &[u8], wanted: &[u8]) -> Result<(), String> {
    if answer == wanted { Ok(()) } else { Err("the answer is wrong".into()) }
}

pub(crate) fn encode(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let mut encoder = stc::internal::encoder(case.options, kernel);
    for document in &case.documents {
        exactly(encoder.encode(&document.json).map_err(|error| error.to_string())?, &document.stc)?;
    }
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.json.take(documents, |_, json| encoder.encode(json).map_or(0, <[u8]>::len))
    });
    Ok(Ready { turn, exact: true })
}

pub(crate) fn decode(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let mut decoder = stc::internal::decoder(case.options, kernel);
    for document in &case.documents {
        exactly(decoder.decode(&document.stc).map_err(|error| error.to_string())?, &document.minified)?;
    }
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.stc.take(documents, |_, stc| decoder.decode(stc).map_or(0, <[u8]>::len))
    });
    Ok(Ready { turn, exact: true })
}

pub(crate) fn encode_once(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let options = case.options;
    let once = move |json: &[u8]| {
        let mut out = Vec::new();
        stc::internal::encoder(options, kernel).encode_into(json, &mut out).map(|()| out)
    };
    for document in &case.documents {
        exactly(&once(&document.json).map_err(|error| error.to_string())?, &document.stc)?;
    }
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.json.take(documents, |_, json| once(json).map_or(0, |out| out.len()))
    });
    Ok(Ready { turn, exact: true })
}

pub(crate) fn decode_once(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let options = case.options;
    let once = move |stc: &[u8]| {
        let mut out = Vec::new();
        stc::internal::decoder(options, kernel).decode_into(stc, &mut out).map(|()| out)
    };
    for document in &case.documents {
        exactly(&once(&document.stc).map_err(|error| error.to_string())?, &document.minified)?;
    }
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.stc.take(documents, |_, stc| once(stc).map_or(0, |out| out.len()))
    });
    Ok(Ready { turn, exact: true })
}

pub(crate) fn minify(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    for document in &case.documents {
        exactly(&stc::minify(&document.json).map_err(|error| error.to_string())?, &document.minified)?;
    }
    let turn: Turn<'_> = Box::new(|rotations, documents| {
        rotations.json.take(documents, |_, json| stc::minify(json).map_or(0, |minified| minified.len()))
    });
    Ok(Ready { turn, exact: true })
}

pub(crate) fn validate(case: &Case, _: Kernel) -> Result<Ready<'_>, String> {
    for document in &case.documents {
        stc::validate(&document.json).map_err(|error| error.to_string())?;
        let too_long = [&document.json[..], b"]"].concat();
        if stc::validate(&too_long).is_ok() {
            return Err("a document with one bracket too many is accepted".into());
        }
    }
    let turn: Turn<'_> = Box::new(|rotations, documents| {
        rotations.json.take(documents, |_, json| usize::from(stc::validate(json).is_ok()))
    });
    Ok(Ready { turn, exact: true })
}
