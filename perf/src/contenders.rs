//! Who is timed: the codec in every way it can be used, and the rivals. Each shows its answer before it gets a turn.

use std::time::Duration;

use stc::internal::Kernel;

use crate::cases::{Case, Document};
use crate::rotation::Rotations;
use crate::{rivals, streams};

/// A contender's turn: works through so many documents and says how long that took.
pub type Turn<'c> = Box<dyn FnMut(&mut Rotations<'c>, usize) -> Duration + 'c>;

/// A contender that has shown its answer for every document of a case.
pub struct Ready<'c> {
    /// Does the work.
    pub turn: Turn<'c>,
    /// Was the answer equal to the document? A rival that changes numbers, say, is timed all the same, and marked.
    pub exact: bool,
}

/// Which bytes a contender's speed is told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// The JSON that is read.
    Read,
    /// The minified JSON that is written.
    Written,
}

impl Per {
    /// So many bytes are in this document.
    pub fn bytes(self, document: &Document) -> usize {
        match self {
            Per::Read => document.json.len(),
            Per::Written => document.minified.len(),
        }
    }
}

type Prepare = for<'c> fn(&'c Case, Kernel) -> Result<Ready<'c>, String>;

/// Somebody who does something with documents.
#[derive(Clone, Copy, Debug)]
pub struct Contender {
    /// What results call it.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    /// Which bytes count.
    pub per: Per,
    prepare: Prepare,
}

impl Contender {
    pub(crate) const fn new(name: &'static str, per: Per, about: &'static str, prepare: Prepare) -> Self {
        Self { name, about, per, prepare }
    }

    /// Lets the contender show its answer; an error is its refusal of the case.
    pub fn prepare<'c>(&self, case: &'c Case, kernel: Kernel) -> Result<Ready<'c>, String> {
        (self.prepare)(case, kernel)
    }
}

/// The codec at its best: buffers kept, whole documents.
pub const WARM: [Contender; 2] = [
    Contender::new("encode", Per::Read, "JSON to STC, encoder kept", encode),
    Contender::new("decode", Per::Written, "STC to JSON, decoder kept", decode),
];

/// The codec in its other uses.
pub const OTHERWISE: [Contender; 6] = [
    Contender::new("encode-once", Per::Read, "JSON to STC, a new encoder for each document", encode_once),
    Contender::new("decode-once", Per::Written, "STC to JSON, a new decoder for each document", decode_once),
    Contender::new("encode-stream", Per::Read, "JSON to STC, in pieces of 16 KB", streams::encode),
    Contender::new("decode-stream", Per::Written, "STC to JSON, in pieces of 16 KB", streams::decode),
    Contender::new("encode-tail", Per::Read, "the same, the time after the last piece has come", streams::encode_tail),
    Contender::new(
        "decode-tail",
        Per::Written,
        "the same, the time after the last piece has come",
        streams::decode_tail,
    ),
];

/// The rival that every promise is measured against.
pub const TAPE: Contender =
    Contender::new("simd-json", Per::Read, "simd-json to_tape, buffers kept", rivals::simd_json_tape);

/// The same for the decoder: on what it writes, without the whitespace that is cheap to parse.
pub const TAPE_MINIFIED: Contender = Contender::new(
    "simd-json-min",
    Per::Written,
    "simd-json to_tape of the minified JSON, buffers kept",
    rivals::simd_json_minified,
);

/// All the rivals.
pub const RIVALS: &[Contender] = &[
    TAPE,
    Contender::new("sonic-rs", Per::Read, "sonic-rs to Value", rivals::sonic_value),
    Contender::new("serde_json", Per::Read, "serde_json to Value", rivals::serde_value),
    Contender::new("serde_json-copy", Per::Read, "serde_json, JSON to minified JSON", rivals::serde_copy),
    #[cfg(feature = "toon")]
    Contender::new("toon-format", Per::Read, "toon-format, JSON to TOON", rivals::toon_format),
    #[cfg(feature = "toon")]
    Contender::new("serde_toon", Per::Read, "serde_toon, parsed JSON to TOON", rivals::serde_toon_encode),
    Contender::new("memcpy", Per::Read, "a copy of the bytes", rivals::memcpy),
    TAPE_MINIFIED,
];

/// Everybody: the codec first.
pub fn all() -> impl Iterator<Item = Contender> {
    WARM.into_iter().chain(OTHERWISE).chain(RIVALS.iter().copied())
}

/// Those of these names.
pub fn named(names: &[&str]) -> Vec<Contender> {
    all().filter(|contender| names.contains(&contender.name)).collect()
}

/// The codec's own answers have no excuse.
pub(crate) fn exactly(answer: &[u8], wanted: &[u8]) -> Result<(), String> {
    if answer == wanted { Ok(()) } else { Err("the answer is wrong".into()) }
}

fn encode(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let mut encoder = stc::internal::encoder(case.options, kernel);
    for document in &case.documents {
        exactly(encoder.encode(&document.json).map_err(|error| error.to_string())?, &document.stc)?;
    }
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.json.take(documents, |_, json| encoder.encode(json).map_or(0, <[u8]>::len))
    });
    Ok(Ready { turn, exact: true })
}

fn decode(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
    let mut decoder = stc::internal::decoder(case.options, kernel);
    for document in &case.documents {
        exactly(decoder.decode(&document.stc).map_err(|error| error.to_string())?, &document.minified)?;
    }
    let turn: Turn<'_> = Box::new(move |rotations, documents| {
        rotations.stc.take(documents, |_, stc| decoder.decode(stc).map_or(0, <[u8]>::len))
    });
    Ok(Ready { turn, exact: true })
}

fn encode_once(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
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

fn decode_once(case: &Case, kernel: Kernel) -> Result<Ready<'_>, String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_takes_a_table_exactly_and_in_turns() {
        let case = crate::cases::named("users-4KB").expect("a case");
        let kernel = crate::kernel(None).expect("a kernel");
        let mut rotations = Rotations::new(&case);
        for contender in all() {
            let mut ready = contender.prepare(&case, kernel).expect(contender.name);
            assert!(ready.exact, "{}", contender.name);
            (ready.turn)(&mut rotations, 3);
        }
    }

    #[test]
    fn every_kernel_gives_the_same_answers() {
        let case = crate::cases::named("made").expect("a case");
        for kernel in Kernel::available() {
            assert!(encode(&case, kernel).is_ok(), "{}", kernel.name());
        }
    }

    #[test]
    fn an_answer_that_changes_the_document_is_marked() {
        let case = Case::new("numbers", [b"[-0,1E+2,0.10]".to_vec()]).expect("valid");
        let ready = TAPE.prepare(&case, crate::kernel(None).expect("a kernel")).expect("simd-json takes it");
        assert!(!ready.exact);
    }
}
