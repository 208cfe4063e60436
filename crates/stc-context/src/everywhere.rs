//! Secrets in every string of a request, whatever its place: keys and values of all members, known or not.
//!
//! Tool results and the arguments of calls are looked through by the steps for them. For everything else the body is cut into pieces,
//! each of which is looked through by itself, so that what becomes of a message depends on that message alone:
//!
//! ```text
//! {"model":"m","messages":[{"role":"user","content":"a long text …"},{"role":"user","content":"hi"}]}
//!  ^^^^^^^^^^^              ^^^^^^^^^^^^^  ^^^^^^^^^ ^^^^^^^^^^^^^^^^  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//!  a member                               a key and a long string     an object that is short enough
//! ```
//!
//! A short object or array is one piece, because names say what their values are (`{"name":"TOKEN","value":"…"}`), and it costs one
//! search. What stays in any case is in [`stays`].

use crate::joined::{self, Replaced};
use crate::redaction::Guard;
use crate::refused::RedactionFailed;
use crate::tokens::{Token, Tokens};
use memchr::memmem;
use stc_wire::edit::Edits;
use stc_wire::span::{self, Span};
use std::collections::HashMap;

/// The longest object, array or member that is looked through as it is spelled.
const LONGEST_PIECE: usize = 2 << 10;
/// A key shorter than this is a piece with its value, and none without.
const SHORTEST_KEY: usize = 8;
/// The shortest text of base64 that stays: a secret is shorter, or has line ends, dots or blanks.
const SHORTEST_BASE64: usize = 256;

/// Members that hold bytes of images and files, or what a provider signed or encrypted.
const BASE64: [&str; 18] = [
    "data",
    "bytes",
    "images",
    "image_url",
    "imageUrl",
    "url",
    "file_data",
    "fileData",
    "result",
    "b64_json",
    "partial_image_b64",
    "signature",
    "thoughtSignature",
    "thought_signature",
    "encrypted_content",
    "encrypted_index",
    "encryptedContent",
    "redactedContent",
];

/// What was replaced in a request outside of the steps for results.
#[derive(Default)]
pub(crate) struct Everywhere {
    /// Texts of results with a piece of a secret, by where they begin: what is to be prepared instead.
    pub(crate) texts: HashMap<usize, Replaced>,
    /// The ranges that are replaced, and the lengths of what is sent for them.
    pub(crate) values: Vec<(Span, usize)>,
}

/// The ranges of a body that are not looked through here.
pub(crate) struct Places {
    /// What is looked through elsewhere, or removed.
    pub(crate) taken: Vec<Span>,
    /// What keeps its secrets, in order and without overlaps.
    pub(crate) spared: Vec<Span>,
}

/// Replaces the secrets of a body that is JSON. `is_text` says of the ranges that are taken which are texts of results. Credentials
/// that the API itself uses stay where `keeps_credentials` says so.
pub(crate) fn replaced(
    body: &[u8],
    Places { mut taken, spared }: Places,
    is_text: impl Fn(&Span) -> bool,
    keeps_credentials: bool,
    (guard, edits): (&mut Guard, &mut Edits),
) -> Result<Everywhere, RedactionFailed> {
    let mut found = Everywhere::default();
    let mut more = Vec::new();
    let parts = joined::replaced(body, &spared, guard)?;
    taken.extend(spared);
    taken.sort_unstable_by_key(|span| (span.start, usize::MAX - span.end));
    // Of what is in another range, the other is enough.
    let mut end = 0;
    taken.retain(|span| {
        let is_new = span.end > end;
        end = end.max(span.end);
        is_new
    });
    for part in parts {
        if is_text(&part.place) {
            found.texts.insert(part.place.start, part);
        } else if is_in(&taken, &part.place) {
            guard.fail()?; // in the arguments of a call, which are looked through as one text
        } else {
            more.push(part.place.clone());
            let mut written = Vec::with_capacity(part.text.len() + 2);
            span::quote_into(&part.text, &mut written);
            found.values.push((part.place.clone(), written.len()));
            edits.replace(part.place, written);
        }
    }
    taken.append(&mut more);
    taken.sort_unstable_by_key(|span| (span.start, span.end));
    let shortest = guard.shortest();
    let search = Search { body, guard, edits, values: &mut found.values };
    let (open, waiting) = (Vec::new(), Vec::new());
    Pieces { body, taken: &taken, keeps_credentials, shortest, open, alive: 0, waiting, gone: 0, search }.all()?;
    Ok(found)
}

/// Returns whether a range is inside one of these, which are in order and do not overlap.
fn is_in(taken: &[Span], place: &Span) -> bool {
    let before = taken.partition_point(|span| span.start <= place.start);
    before > 0 && place.end <= taken[before - 1].end
}

/// A piece of a body.
#[derive(Clone, Debug)]
enum Piece {
    /// JSON as it is spelled: an object, an array, a string or a member.
    Spelled(Span),
    /// A string, without its escapes.
    Text(Span),
    /// A text that the provider signed: it may not change.
    Signed(Span),
}

impl Piece {
    const fn start(&self) -> usize {
        match self {
            Self::Spelled(span) | Self::Text(span) | Self::Signed(span) => span.start,
        }
    }
}

/// An object or array that is open.
struct Frame {
    start: usize,
    is_object: bool,
    key: Option<Span>,
    /// Whether it may be one piece, as long as it is short.
    may_be_one: bool,
    /// The number of pieces before it.
    pieces: usize,
}

/// Cuts a body into pieces. A piece waits as long as a container around it may be one.
struct Pieces<'a, 'b> {
    body: &'a [u8],
    taken: &'b [Span],
    keeps_credentials: bool,
    /// The length of the shortest text that may have a secret.
    shortest: usize,
    open: Vec<Frame>,
    /// The number of the outermost open container that is still short enough.
    alive: usize,
    waiting: Vec<Piece>,
    /// The number of pieces that wait no more.
    gone: usize,
    search: Search<'a, 'b>,
}

impl Pieces<'_, '_> {
    fn all(mut self) -> Result<(), RedactionFailed> {
        let mut tokens = Tokens::new(self.body);
        loop {
            let at = tokens.place();
            while self.taken.first().is_some_and(|span| span.end <= at) {
                self.taken = &self.taken[1..];
            }
            if let Some(span) = self.taken.first().filter(|span| span.start <= at) {
                tokens.jump(span.end);
                self.lone_key();
                self.stays_in_pieces();
                self.settle(span.end)?;
                continue;
            }
            let Some(token) = tokens.next() else { break };
            match token {
                Token::Key(key) => {
                    if let Some(frame) = self.open.last_mut() {
                        frame.key = Some(key);
                    }
                }
                Token::Open { at, is_object } => self.open(at, is_object),
                Token::String(value) => {
                    let end = value.end;
                    self.string(value);
                    self.settle(end)?;
                }
                Token::Scalar => self.lone_key(),
                Token::Close { end } => {
                    self.close(end);
                    self.settle(end)?;
                }
            }
        }
        self.open.clear();
        self.settle(self.body.len())
    }

    fn open(&mut self, at: usize, is_object: bool) {
        let key = self.open.last().and_then(|frame| frame.key.clone());
        let is_conversation =
            !is_object && joined::is_conversation(self.body, self.open.len(), |at| self.open[at].key.as_ref());
        self.push_key(key.as_ref());
        let may_be_one = !is_conversation && !self.open.is_empty();
        self.open.push(Frame { start: at, is_object, key: None, may_be_one, pieces: self.gone + self.waiting.len() });
    }

    fn close(&mut self, end: usize) {
        let Some(frame) = self.open.pop() else { return };
        let is_one = frame.may_be_one && end - frame.start <= LONGEST_PIECE && frame.pieces >= self.gone;
        if is_one && self.waiting.len() > frame.pieces - self.gone {
            self.waiting.truncate(frame.pieces - self.gone);
            self.waiting.push(Piece::Spelled(frame.start..end));
        }
        if let Some(around) = self.open.last_mut() {
            around.may_be_one &= frame.may_be_one;
            around.key = None;
        }
    }

    fn string(&mut self, value: Span) {
        let key = self.open.last_mut().and_then(|frame| frame.key.take());
        if key.is_none() && value.len() - 2 < self.shortest {
            return; // an element that has no secret by itself
        }
        match self.kind(key.as_ref(), &value) {
            Kind::Stays => {
                self.push_key(key.as_ref());
                return self.stays_in_pieces();
            }
            Kind::Signed => {
                self.push_key(key.as_ref());
                self.waiting.push(Piece::Signed(value));
                return self.stays_in_pieces();
            }
            Kind::Any => {}
        }
        let start = key.as_ref().map_or(value.start, |key| key.start);
        match value.end - start <= LONGEST_PIECE {
            true => self.waiting.push(Piece::Spelled(start..value.end)),
            false => {
                self.push_key(key.as_ref());
                self.waiting.push(Piece::Text(value));
            }
        }
    }

    /// Ends a member whose value is no piece.
    fn lone_key(&mut self) {
        let key = self.open.last_mut().and_then(|frame| frame.key.take());
        self.push_key(key.as_ref());
    }

    fn push_key(&mut self, key: Option<&Span>) {
        let long = key.filter(|key| key.len() >= SHORTEST_KEY + 2);
        self.waiting.extend(long.map(|key| Piece::Spelled(key.clone())));
    }

    /// Notes that something in the innermost container is no piece, so that the container is none either.
    fn stays_in_pieces(&mut self) {
        if let Some(frame) = self.open.last_mut() {
            frame.may_be_one = false;
        }
    }

    /// Looks through the pieces that no container before this offset can take in any more.
    fn settle(&mut self, at: usize) -> Result<(), RedactionFailed> {
        self.alive = self.alive.min(self.open.len());
        while self.open.get(self.alive).is_some_and(|frame| at - frame.start > LONGEST_PIECE) {
            self.alive += 1;
        }
        // The root is never a piece.
        let alive = self.open.get(self.alive.max(1)).map_or(usize::MAX, |frame| frame.start);
        let count = self.waiting.iter().take_while(|piece| piece.start() < alive).count();
        self.gone += count;
        for piece in self.waiting.drain(..count) {
            self.search.look(piece)?;
        }
        Ok(())
    }

    /// Returns what becomes of a string.
    fn kind(&self, key: Option<&Span>, value: &Span) -> Kind {
        // An element has the key of its array.
        let around = self.open.iter().rev().nth(1).and_then(|frame| frame.key.as_ref());
        let Some(key) = key.or(around) else { return Kind::Any };
        let is = |key: &Span, name: &str| joined::is_named(self.body, key, name);
        if stays(self.body, key, value) {
            return Kind::Stays;
        }
        let is_thought = is(key, "thinking") || (is(key, "text") && around.is_some_and(|key| is(key, "reasoningText")));
        if is_thought && self.open.last().is_some_and(|frame| frame.is_object) {
            return Kind::Signed;
        }
        let root = self.open.first().and_then(|frame| frame.key.as_ref());
        let is_credential = || match root {
            Some(root) if is(root, "mcp_servers") => is(key, "authorization_token"),
            Some(root) if is(root, "tools") => is(key, "authorization") || around.is_some_and(|key| is(key, "headers")),
            _ => false,
        };
        if self.keeps_credentials && is_credential() { Kind::Stays } else { Kind::Any }
    }
}

enum Kind {
    Any,
    Stays,
    Signed,
}

/// Returns whether a string stays whatever is in it: long base64 at the places where images, files and signatures are.
fn stays(body: &[u8], key: &Span, value: &Span) -> bool {
    if value.len() < SHORTEST_BASE64 || !BASE64.iter().any(|name| joined::is_named(body, key, name)) {
        return false;
    }
    let text = &body[value.start + 1..value.end - 1];
    // Of a URL with data, its head is short and says so.
    let head = if text.starts_with(b"data:") {
        memmem::find(&text[..text.len().min(128)], b";base64,").map_or(0, |at| at + 8)
    } else {
        0
    };
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte);
    text[head..].iter().all(is_base64)
}

/// The search in pieces.
struct Search<'a, 'b> {
    body: &'a [u8],
    guard: &'b mut Guard,
    edits: &'b mut Edits,
    values: &'b mut Vec<(Span, usize)>,
}

impl Search<'_, '_> {
    fn look(&mut self, piece: Piece) -> Result<(), RedactionFailed> {
        match piece {
            Piece::Text(place) => self.text(place),
            Piece::Signed(place) => match span::string(self.body, &place) {
                Some(text) if !self.guard.has_secrets(&text) => Ok(()),
                _ => self.guard.fail(),
            },
            Piece::Spelled(place) => self.spelled(place),
        }
    }

    fn spelled(&mut self, place: Span) -> Result<(), RedactionFailed> {
        let Ok(text) = std::str::from_utf8(&self.body[place.clone()]) else { return self.guard.fail() };
        let after = self.guard.redact(text)?.map(|(after, _)| after);
        // Escape sequences of terminals hide secrets: each string is looked through without them too.
        let has_escapes = memmem::find(text.as_bytes(), b"\\u").is_some();
        let shown = if has_escapes { self.strings(after.as_deref().unwrap_or(text))? } else { None };
        let Some(after) = shown.or(after) else { return Ok(()) };
        // A member is JSON only in an object.
        let is_json = |text: &str| stc::validate(text.as_bytes()).is_ok();
        if !is_json(&after) && !is_json(&format!("{{{after}}}")) {
            return self.guard.fail();
        }
        self.replace(place, after.into_bytes());
        Ok(())
    }

    /// Returns a piece with the secrets of its strings replaced; `None` if there are none.
    fn strings(&mut self, piece: &str) -> Result<Option<String>, RedactionFailed> {
        let (mut out, mut at, mut kept) = (Vec::new(), 0, 0);
        while let Some(quote) = memchr::memchr(b'"', &piece.as_bytes()[at..]) {
            let start = at + quote;
            let Some(end) = span::string_end(piece.as_bytes(), start) else { break };
            at = end;
            let Some(text) = span::string(piece.as_bytes(), &(start..end)) else {
                self.guard.fail()?;
                continue;
            };
            if let Some((after, _)) = self.guard.redact_plain(&text)? {
                out.extend_from_slice(&piece.as_bytes()[kept..start]);
                span::quote_into(&after, &mut out);
                kept = end;
            }
        }
        if kept == 0 {
            return Ok(None);
        }
        out.extend_from_slice(&piece.as_bytes()[kept..]);
        Ok(String::from_utf8(out).ok())
    }

    fn text(&mut self, place: Span) -> Result<(), RedactionFailed> {
        let Some(text) = span::string(self.body, &place) else { return self.guard.fail() };
        let Some((after, _)) = self.guard.redact_plain(&text)? else { return Ok(()) };
        let is_json = |text: &str| text.trim_start().starts_with(['{', '[']) && stc::validate(text.as_bytes()).is_ok();
        if is_json(&text) && !is_json(&after) {
            return self.guard.fail();
        }
        let mut written = Vec::with_capacity(after.len() + 2);
        span::quote_into(&after, &mut written);
        self.replace(place, written);
        Ok(())
    }

    fn replace(&mut self, place: Span, written: Vec<u8>) {
        self.values.push((place.clone(), written.len()));
        self.edits.replace(place, written);
    }
}

#[cfg(all(test, feature = "__internal"))]
mod tests {
    use super::*;
    use crate::redaction::{Finder, Redaction};
    use std::borrow::Cow;
    use std::cell::Cell;

    thread_local! {
        static SEARCHES: Cell<usize> = const { Cell::new(0) };
    }

    fn searches(element: &str) -> usize {
        let body = format!(r#"{{"a":[{}"x"]}}"#, format!("{element},").repeat(1_000));
        let finder = Finder::Test(
            |text| {
                SEARCHES.set(SEARCHES.get() + 1);
                Ok(stc_redact::Redacted { text: Cow::Borrowed(text), found: Vec::new() })
            },
            false,
        );
        SEARCHES.set(0);
        let (mut guard, mut edits) = (Guard::new(finder, Redaction::On), Edits::default());
        let places = Places { taken: Vec::new(), spared: Vec::new() };
        assert!(replaced(body.as_bytes(), places, |_| false, false, (&mut guard, &mut edits)).is_ok());
        SEARCHES.get()
    }

    #[test]
    fn elements_that_are_too_short_are_not_looked_through() {
        assert_eq!((searches(r#""""#), searches("1")), (1, 1));
        assert_eq!(searches(r#""token""#), 1_001);
    }
}
