//! One text of a tool result in another format, if that saves enough.

use crate::Format;
use crate::report::Status;
use crate::steps::{Step, Steps};
use stc::estimate_tokens;
use stc_wire::transcode::{self, Refusal, Verify};

/// An encoder of a format that the codec does not write; `None` if the format cannot represent the document.
pub type Encode = fn(&[u8]) -> Option<Vec<u8>>;

/// What applies to every text of a request.
pub(crate) struct Rules {
    pub(crate) format: Format,
    pub(crate) min_bytes: usize,
    pub(crate) max_bytes: usize,
    pub(crate) min_saving: f64,
    pub(crate) verify: Verify,
    pub(crate) toon: Option<Encode>,
}

/// The legend, as long as no text of the request has it.
#[derive(Clone, Copy)]
pub(crate) struct Owed {
    pub(crate) legend: &'static str,
    pub(crate) tokens: u64,
}

/// What became of a text. The new text is in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) status: Status,
    pub(crate) legend: bool,
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
    pub(crate) steps: Steps,
    pub(crate) redacted: u32,
}

impl Outcome {
    /// What became of a text that stays.
    pub(crate) fn stays(status: Status, tokens: u64) -> Self {
        Self { status, legend: false, tokens_in: tokens, tokens_out: tokens, steps: Steps::default(), redacted: 0 }
    }
}

impl Rules {
    /// Writes the new text to `out`, which is empty, or leaves `out` empty if the text stays. `tokens_in` are those of the text.
    pub(crate) fn apply(&self, text: &str, tokens_in: u64, owed: Option<Owed>, out: &mut Vec<u8>) -> Outcome {
        let stays = |status| Outcome::stays(status, tokens_in);
        if text.len() < self.min_bytes {
            return stays(Status::Small);
        }
        if text.len() > self.max_bytes {
            return stays(Status::Large);
        }
        if !text.trim_start_matches([' ', '\t', '\n', '\r']).starts_with(['{', '[']) {
            return stays(Status::NotJson);
        }
        match self.choose(text.as_bytes(), tokens_in, owed, out) {
            Ok(outcome) => outcome,
            Err(status) => {
                out.clear();
                stays(status)
            }
        }
    }

    fn choose(&self, text: &[u8], tokens_in: u64, owed: Option<Owed>, out: &mut Vec<u8>) -> Result<Outcome, Status> {
        if self.format != Format::Json {
            let encoded = self.encode(text, out);
            let tokens_out = estimate_tokens(out);
            let legend = owed.map_or(0, |owed| owed.tokens);
            let pays = encoded.is_ok() && self.saves(text.len(), tokens_in, out.len(), tokens_out + legend);
            // A text that came minified is its own measure. In any other, what minifying saves is not the format's merit.
            if pays && tokens_out + legend < self.minified_tokens(text, tokens_in)? {
                let status = match self.format {
                    Format::Stc2 => Status::Stc2,
                    Format::Stc2Labelled => Status::Stc2Labelled,
                    Format::Toon => Status::Toon,
                    Format::Json => Status::Minified,
                };
                if let Some(owed) = owed {
                    out.splice(0..0, owed.legend.bytes());
                }
                let outcome = converted(status, tokens_in, tokens_out + legend);
                return Ok(Outcome { legend: owed.is_some(), ..outcome });
            }
            out.clear();
            // TOON cannot represent all of JSON; the codec decides below whether the text is JSON.
            if self.format != Format::Toon || encoded == Err(Status::Failed) {
                encoded?;
            }
        }
        transcode::encode_into(text, stc::Format::Json, Verify::Off, out).map_err(refused)?;
        let tokens_out = estimate_tokens(out);
        if !self.saves(text.len(), tokens_in, out.len(), tokens_out) {
            return Err(Status::NotSmaller);
        }
        Ok(converted(Status::Minified, tokens_in, tokens_out))
    }

    /// Returns the tokens of the text without insignificant whitespace.
    fn minified_tokens(&self, text: &[u8], tokens_in: u64) -> Result<u64, Status> {
        if !transcode::may_have_space(text) {
            return Ok(tokens_in);
        }
        let minified = transcode::encode(text, stc::Format::Json, Verify::Off).map_err(refused)?;
        Ok(if minified.len() == text.len() { tokens_in } else { estimate_tokens(&minified) })
    }

    fn encode(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        match (self.format.codec(), self.toon) {
            (Some(format), _) => transcode::encode_into(text, format, self.verify, out).map_err(refused),
            (None, Some(toon)) => {
                let encoded = transcode::caught(|| toon(text).ok_or(Refusal::Invalid)).map_err(refused)?;
                out.extend_from_slice(&encoded);
                Ok(())
            }
            (None, None) => Err(Status::Failed),
        }
    }

    /// Returns whether there are enough fewer tokens, and no more bytes.
    fn saves(&self, bytes_in: usize, tokens_in: u64, bytes_out: usize, tokens_out: u64) -> bool {
        bytes_out <= bytes_in
            && tokens_out < tokens_in
            && tokens_out as f64 <= (1.0 - self.min_saving) * tokens_in as f64
    }
}

fn converted(status: Status, tokens_in: u64, tokens_out: u64) -> Outcome {
    let mut outcome = Outcome { tokens_out, ..Outcome::stays(status, tokens_in) };
    outcome.steps.add(Step::Json);
    outcome
}

fn refused(refusal: Refusal) -> Status {
    match refusal {
        Refusal::Invalid => Status::NotJson,
        Refusal::NotSmaller => Status::NotSmaller,
        Refusal::Failed => Status::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        Rules {
            format: Format::Stc2Labelled,
            min_bytes: 64,
            max_bytes: 1 << 20,
            min_saving: 0.05,
            verify: Verify::Always,
            toon: None,
        }
    }

    fn applied(rules: &Rules, text: &str, owed: Option<Owed>) -> (Outcome, String) {
        let mut out = Vec::new();
        let outcome = rules.apply(text, estimate_tokens(text.as_bytes()), owed, &mut out);
        (outcome, String::from_utf8(out).unwrap())
    }

    fn rows(count: usize, separator: &str) -> String {
        let row = |n| format!(r#"{{"id":{n},"state":"open","at":{{"x":{n},"unit":"metre"}},"kind":"sensor"}}"#);
        let rows: Vec<_> = (0..count).map(row).collect();
        format!("[{}]", rows.join(separator))
    }

    #[test]
    fn rows_become_stc2() {
        let text = rows(20, ",");
        let (outcome, out) = applied(&rules(), &text, None);
        assert_eq!((outcome.status, outcome.legend), (Status::Stc2Labelled, false));
        assert!(outcome.tokens_out < outcome.tokens_in);
        assert_eq!(stc::decode(out.as_bytes()).unwrap(), text.as_bytes());
    }

    #[test]
    fn statuses_of_texts_that_stay() {
        let prose = "words ".repeat(50);
        let cut = &rows(20, ",")[..900];
        let ids: String =
            format!("[{}]", (0..100).map(|n| (n * 7919 % 1000).to_string()).collect::<Vec<_>>().join(","));
        for (text, expected) in [
            ("[1]", Status::Small),
            (prose.as_str(), Status::NotJson),
            (cut, Status::NotJson),
            (ids.as_str(), Status::NotSmaller),
            (&"[".repeat(2000), Status::Failed),
        ] {
            let (outcome, out) = applied(&rules(), text, None);
            assert_eq!((outcome.status, out.as_str()), (expected, ""), "{text:.40}");
            assert_eq!(outcome.tokens_in, outcome.tokens_out);
        }
        let small = Rules { max_bytes: 100, ..rules() };
        assert_eq!(applied(&small, &rows(20, ","), None).0.status, Status::Large);
    }

    #[test]
    fn a_legend_must_be_paid_for() {
        let owed = Owed { legend: "legend\n", tokens: 100 };
        let short = rows(6, ",");
        assert_eq!(applied(&rules(), &short, None).0.status, Status::Stc2Labelled);
        assert_eq!(applied(&rules(), &short, Some(owed)).0.status, Status::NotSmaller);
        let long = rows(200, ",");
        let (outcome, out) = applied(&rules(), &long, Some(owed));
        assert_eq!((outcome.status, outcome.legend), (Status::Stc2Labelled, true));
        assert_eq!(stc::decode(out.strip_prefix("legend\n").unwrap().as_bytes()).unwrap(), long.as_bytes());
        // What minifying saves does not pay for the legend.
        let spaced = rows(6, ",          \n          ");
        assert_eq!(applied(&rules(), &spaced, Some(owed)).0.status, Status::Minified);
    }

    #[test]
    fn a_failing_encoder_leaves_the_text() {
        let toon = Rules { format: Format::Toon, toon: Some(|_| panic!("planted")), ..rules() };
        let (outcome, out) = applied(&toon, &rows(20, ","), None);
        assert_eq!((outcome.status, out.as_str()), (Status::Failed, ""));
        let unable = Rules { format: Format::Toon, toon: Some(|_| None), ..rules() };
        assert_eq!(applied(&unable, &rows(20, ","), None).0.status, Status::NotSmaller);
        assert_eq!(applied(&unable, &rows(20, ",          \n          "), None).0.status, Status::Minified);
    }
}
