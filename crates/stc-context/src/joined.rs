//! Secrets that are split over the text parts of one message or result.
//!
//! ```text
//! [{"type": "text", "text": "the token is ghp_aB3dE5"}, {"type": "text", "text": "fG7hI9… and more"}]
//!   the token is ghp_aB3dE5fG7hI9… and more                 the parts, joined
//!   the token is [redacted:github-token] and more           without the secret
//!   the token is [redacted:github-token]                    the first part: what is replaced is replaced in each part
//!                [redacted:github-token] and more           the second
//! ```

use crate::redaction::Guard;
use crate::refused::RedactionFailed;
use crate::tokens::{Token, Tokens};
use stc_redact::Redacted;
use stc_wire::budget::charge_bytes;
use stc_wire::span::{self, Span};
use std::borrow::Cow;
use std::ops::Range;

/// Members whose texts a reader may put together, if the elements of an array have them.
const JOINED: [&str; 4] = ["text", "stdout", "stderr", "logs"];

/// Members of a request whose elements are messages: what becomes of one does not depend on the next.
const MESSAGES: [&str; 3] = ["messages", "input", "contents"];

/// The longest id of a rule in a mark, in bytes.
const LONGEST_ID: usize = 128;

/// A part of which a split secret takes a piece.
pub(crate) struct Replaced {
    /// The string, with its quotes.
    pub(crate) place: Span,
    pub(crate) text: String,
    /// The number of secrets that were replaced in it.
    pub(crate) count: u32,
}

/// Returns whether an array is the conversation of a request, by the keys of the containers around it from the outermost on: a member of
/// the body, of the request inside a request to count tokens, or of a request of a batch. In any other place, such a name says nothing.
pub(crate) fn is_conversation<'a>(body: &[u8], depth: usize, key: impl Fn(usize) -> Option<&'a Span>) -> bool {
    let is = |at: usize, names: &[&str]| key(at).is_some_and(|key| names.iter().any(|name| is_named(body, key, name)));
    if depth == 0 || !is(depth - 1, &MESSAGES) {
        return false;
    }
    match depth {
        1 => true,
        2 => is(0, &["generateContentRequest"]),
        // {"requests":[{"params":{"messages":…}}]}, and Gemini's {"batch":{"inputConfig":{"requests":{"requests":[{"request":…}]}}}}
        4.. => is(depth - 2, &["params", "request"]) && is(depth - 4, &["requests"]) && is(0, &["requests", "batch"]),
        _ => false,
    }
}

/// Returns whether a key is this one, however it is escaped. A longer key is not read: this is called for many strings.
pub(crate) fn is_named(body: &[u8], key: &Span, name: &str) -> bool {
    const LONGEST_ESCAPE: usize = 6;
    key.len() <= LONGEST_ESCAPE * name.len() + 2 && span::is_string(body, key, name)
}

/// A container that is open.
struct Frame {
    is_object: bool,
    key: Option<Span>,
    /// The texts of the elements, by their place in [`JOINED`], if this is an array whose texts are joined.
    parts: Option<[Vec<Span>; JOINED.len()]>,
}

/// Returns the parts of a body that have pieces of secrets, without them. What is in a range of `spared`, which are in order and do not
/// overlap, is no part.
pub(crate) fn replaced(body: &[u8], mut spared: &[Span], guard: &mut Guard) -> Result<Vec<Replaced>, RedactionFailed> {
    let mut tokens = Tokens::new(body);
    let mut open: Vec<Frame> = Vec::new();
    let mut all = Vec::new();
    loop {
        let at = tokens.place();
        while spared.first().is_some_and(|span| span.end <= at) {
            spared = &spared[1..];
        }
        if let Some(span) = spared.first().filter(|span| span.start <= at) {
            tokens.jump(span.end);
            open.iter_mut().rev().take(1).for_each(|frame| frame.key = None);
            continue;
        }
        let Some(token) = tokens.next() else { break };
        match token {
            Token::Key(key) => {
                if let Some(frame) = open.last_mut() {
                    frame.key = Some(key);
                }
                continue;
            }
            Token::Open { is_object, .. } => {
                let is_joined = !is_object && !is_conversation(body, open.len(), |at| open[at].key.as_ref());
                open.push(Frame { is_object, key: None, parts: is_joined.then(Default::default) });
                continue;
            }
            Token::String(value) => part(body, &mut open, value),
            Token::Scalar => {}
            Token::Close { .. } => {
                for parts in open.pop().and_then(|frame| frame.parts).into_iter().flatten() {
                    if parts.len() > 1 {
                        look(body, &parts, guard, &mut all)?;
                    }
                }
            }
        }
        if let Some(frame) = open.last_mut() {
            frame.key = None;
        }
    }
    Ok(all)
}

/// Notes a string that may be a part.
fn part(body: &[u8], open: &mut [Frame], value: Span) {
    let [.., array, object] = open else { return };
    let (Some(parts), Some(key)) = (&mut array.parts, object.key.as_ref().filter(|_| object.is_object)) else { return };
    if let Some(name) = JOINED.iter().position(|name| is_named(body, key, name)) {
        parts[name].push(value);
    }
}

fn look(body: &[u8], parts: &[Span], guard: &mut Guard, all: &mut Vec<Replaced>) -> Result<(), RedactionFailed> {
    let texts: Vec<Cow<'_, str>> = parts.iter().map(|part| span::string(body, part).unwrap_or_default()).collect();
    // Escape sequences do not hide a secret.
    let shown: Vec<_> =
        texts.iter().map(|text| stc_abridge::ansi(text, false).map_or(text.clone(), Cow::Owned)).collect();
    let joined = shown.concat();
    let Some(Redacted { text: after, mut found }) = guard.peek(&joined) else { return guard.fail() };
    if matches!(after, Cow::Borrowed(_)) {
        return Ok(());
    }
    let ends: Vec<usize> = shown
        .iter()
        .scan(0, |end, text| {
            *end += text.len();
            Some(*end)
        })
        .collect();
    let Some(cut) = cut(&joined, &ends, &after) else { return guard.fail() };
    for ((place, shown), (text, count)) in parts.iter().zip(&shown).zip(cut) {
        let (Some(own), Some(rest)) = (guard.peek(shown), guard.peek(&text)) else { return guard.fail() };
        if own.text == text || count == 0 {
            // Nothing in it goes on in another part: it is looked through as any other text.
            for (rule, times) in own.found {
                found
                    .iter_mut()
                    .filter(|(name, _)| *name == rule)
                    .for_each(|(_, all)| *all = all.saturating_sub(times));
            }
            continue;
        }
        let count = count + rest.found.iter().map(|(_, times)| times).sum::<u32>();
        all.push(Replaced { place: place.clone(), text: rest.text.into_owned(), count });
    }
    guard.count(found);
    Ok(())
}

/// Cuts `after`, which is `joined` with marks in place of secrets, where the parts of `joined` end. A mark is in each part of which
/// it replaces something. Returns each part and the number of marks that were put into it.
fn cut(joined: &str, ends: &[usize], after: &str) -> Option<Vec<(String, u32)>> {
    let mut parts = vec![(String::new(), 0); ends.len()];
    let (mut at, mut part, mut marks) = (0, 0, String::new());
    let mut rest = after;
    loop {
        let mark = mark(rest);
        let literal = &rest[..mark.as_ref().map_or(rest.len(), |mark| mark.start)];
        let found = match (marks.is_empty(), mark.is_none()) {
            (true, _) => joined[at..].starts_with(literal).then_some(at)?,
            (false, true) => {
                joined.len().checked_sub(literal.len()).filter(|from| *from >= at && joined.ends_with(literal))?
            }
            (false, false) => at + memchr::memmem::find(&joined.as_bytes()[at..], literal.as_bytes())?,
        };
        charge_bytes(found - at + literal.len());
        // The marks so far are for what is between the last literal and this one, unless there is nothing between two marks.
        let is_between = mark.is_some() && literal.is_empty() && !marks.is_empty();
        if !is_between {
            // All marks once, and the last of them in each further part.
            let (mut is_first, last) = (true, marks.rfind('[').map_or("", |at| &marks[at..]));
            put(&mut parts, ends, &mut part, at..found, |(out, count), _| {
                out.push_str(if is_first { &marks } else { last });
                is_first = false;
                *count += u32::from(!marks.is_empty());
            });
            put(&mut parts, ends, &mut part, found..found + literal.len(), |(out, _), range| {
                out.push_str(&joined[range])
            });
            at = found + literal.len();
            marks.clear();
        }
        let Some(mark) = mark else { return (at == joined.len()).then_some(parts) };
        marks.push_str(&rest[mark.clone()]);
        rest = &rest[mark.end..];
    }
}

/// Calls `each` with every part that a range touches, and the range inside it.
fn put(
    parts: &mut [(String, u32)],
    ends: &[usize],
    part: &mut usize,
    range: Range<usize>,
    mut each: impl FnMut(&mut (String, u32), Range<usize>),
) {
    let mut at = range.start;
    while at < range.end {
        while ends[*part] <= at {
            *part += 1;
        }
        let until = ends[*part].min(range.end);
        charge_bytes(until - at);
        each(&mut parts[*part], at..until);
        at = until;
    }
}

/// Returns the range of the first `[redacted:…]` with what may be the id of a rule.
fn mark(text: &str) -> Option<Range<usize>> {
    const HEAD: &str = "[redacted:";
    memchr::memmem::find_iter(text.as_bytes(), HEAD).find_map(|start| {
        let id = text[start + HEAD.len()..].bytes().take(LONGEST_ID);
        let length = id.take_while(|byte| !b"[] \n".contains(byte)).count();
        let end = start + HEAD.len() + length;
        (text.as_bytes().get(end) == Some(&b']')).then_some(start..end + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_at(parts: &[&str], after: &str) -> Option<Vec<String>> {
        let mut end = 0;
        let ends: Vec<_> = parts
            .iter()
            .map(|part| {
                end += part.len();
                end
            })
            .collect();
        cut(&parts.concat(), &ends, after).map(|parts| parts.into_iter().map(|(text, _)| text).collect())
    }

    #[test]
    fn a_mark_is_in_each_part_of_a_secret() {
        for (parts, after, expected) in [
            (
                &["the k", "ey: SEC", "RET."][..],
                "the key: [redacted:x].",
                vec!["the k", "ey: [redacted:x]", "[redacted:x]."],
            ),
            (&["SEC", "", "RE", "T"], "[redacted:x]", vec!["[redacted:x]", "", "[redacted:x]", "[redacted:x]"]),
            (
                &["aSEC", "RETbSECRET", "c"],
                "a[redacted:x]b[redacted:y]c",
                vec!["a[redacted:x]", "[redacted:x]b[redacted:y]", "c"],
            ),
            (
                &["[redacted:x]é", "SEC", "RETé"],
                "[redacted:x]é[redacted:y]é",
                vec!["[redacted:x]é", "[redacted:y]", "[redacted:y]é"],
            ),
            (&["aSEC", "RET"], "a[redacted:x][redacted:y]", vec!["a[redacted:x][redacted:y]", "[redacted:y]"]),
            (&["nothing", " here"], "nothing here", vec!["nothing", " here"]),
        ] {
            assert_eq!(cut_at(parts, after), Some(expected.into_iter().map(String::from).collect()), "{parts:?}");
        }
        assert_eq!(cut_at(&["ab", "c"], "ax[redacted:x]"), None);
        assert_eq!(cut_at(&["ab", "c"], "a[redacted:x]d"), None);
    }

    /// Marks that a client wrote, in parts of one byte each: every part gets one of them at most.
    #[test]
    fn marks_in_many_parts_stay_short() {
        let text = format!("{}{}", "[redacted:x]".repeat(1000), format!("[redacted:{}]", "a ".repeat(500)).repeat(9));
        let ends: Vec<_> = (1..=text.len()).collect();
        let parts = cut(&text, &ends, &text).unwrap();
        let length: usize = parts.iter().map(|(text, _)| text.len()).sum();
        assert!(length <= text.len() * 13, "{length}");
    }
}
