//! The tape as a tree: every entry is a token, and every bracket knows its partner.
//!
//! Version 1 is written off the index as it goes by; version 2 looks at a table as a whole before it writes the first
//! byte of it, so it needs to step over values. All that takes is one number beside each entry of the index, found
//! while the text is checked to be JSON: a value has its last token, so that the next begins behind that, and whether a
//! comma follows. Keys and closing brackets have nothing.

use crate::error::Refused;
use crate::json::number_arrays::many_numbers;
use crate::json::scalar::{Scalar, ending};
use crate::json::scan::arch::Kernel;
use crate::json::span::window;
use crate::json::tape::{byte, follows_element, is_key};

/// An entry of the index, by its number.
pub(crate) type Token = u32;

/// Set in an opening bracket's link: there is no object inside, so the text may be copied as it stands.
const FLAT: u32 = 1 << 31;

/// Set in a value's link: a comma follows.
const COMMA: u32 = 1 << 30;

/// Set in an open container's link, which is the container around it: that one is an object.
const MEMBER: u32 = FLAT;

/// What is left of a link for the value's last token.
const LAST: u32 = COMMA - 1;

/// The most bytes a text may have, so that a token's number leaves those bits free.
pub(crate) const LONGEST: usize = LAST as usize;

/// The links beside an index.
#[derive(Debug, Default)]
pub(crate) struct Links {
    links: Vec<u32>,
}

impl Links {
    /// Checks that `text` is JSON, at most `depth` deep, and links its values. `index` ends with the text's length.
    /// Returns how deep the text is. What `forms` has for a container is zero then.
    #[inline(always)]
    pub(crate) fn find<K: Kernel>(
        &mut self,
        kernel: K,
        text: &[u8],
        index: &[u32],
        depth: usize,
        forms: &mut Vec<u32>,
    ) -> Result<usize, Refused> {
        // Each token has a link of its own that is written, or one that nobody reads. So it is with forms.
        for slots in [&mut self.links, forms] {
            if slots.len() < index.len() {
                slots.resize(index.len(), 0);
            }
        }
        let forms = &mut forms[..index.len()];
        let links = &mut self.links[..index.len()];
        // The container around, and whether it is an object. While a container is open its link is the one around it.
        let (mut around, mut in_object) = (0, false);
        let (mut open, mut deepest) = (0, 0);
        // Behind the object that began last.
        let mut object = 0;
        let mut token = 0;
        if index.first() != Some(&0) || index.len() < 2 {
            return Err(Refused);
        }
        // Each turn takes the opening of a container, or scalars one after the other, and all the brackets that close
        // behind them.
        loop {
            let &[start, next, ..] = &index[token..] else { return Err(Refused) };
            let (start, next) = (start as usize, next as usize);
            let first = byte(text, start);
            // The value that has ended last, and where.
            let (mut value, mut end);
            if first == b'{' || first == b'[' {
                (value, end) = (token, start + 1);
                if next != end || open >= depth {
                    return Err(Refused);
                }
                forms[token] = 0;
                links[token] = around as u32 | if in_object { MEMBER } else { 0 };
                (around, in_object) = (token, first == b'{');
                open += 1;
                deepest = deepest.max(open);
                token += 1;
                if in_object {
                    object = token;
                }
                // `}` is 2 more than `{`, `]` than `[`.
                if byte(text, next) != first + 2 {
                    if in_object {
                        token = key(text, index, token)?;
                    }
                    continue;
                }
            } else {
                let came = token;
                let scalars = if in_object {
                    members(text, index, links, &mut token)
                } else if open > 0 {
                    elements(kernel, text, index, links, &mut token)
                } else {
                    None
                };
                if let Some(close) = scalars {
                    (value, end) = (token - 1, close);
                } else if token > came {
                    continue;
                } else {
                    crate::slow_path::count_slow_step();
                    let comma = next > start && text.get(next - 1) == Some(&b',');
                    (value, end) = (token, next - usize::from(comma));
                    if !is_whole_scalar(text, start, end) {
                        return Err(Refused);
                    }
                    links[token] = token as u32;
                    token += 1;
                }
            }
            // Behind a value: what closes here, and what comes next.
            loop {
                let &next = index.get(token).ok_or(Refused)?;
                let next = next as usize;
                if next == end + 1 && open > 0 && text[end] == b',' {
                    links[value] |= COMMA;
                    if in_object {
                        token = key(text, index, token)?;
                    }
                    break;
                }
                if next != end || token + 1 == index.len() {
                    return if next == end && open == 0 { Ok(deepest) } else { Err(Refused) };
                }
                if open == 0 || byte(text, next) != if in_object { b'}' } else { b']' } {
                    return Err(Refused);
                }
                let flat = if object <= around { FLAT } else { 0 };
                value = around;
                (around, in_object) = ((links[value] & LAST) as usize, links[value] & MEMBER != 0);
                links[value] = token as u32 | flat;
                open -= 1;
                end += 1;
                token += 1;
            }
        }
    }

    pub(crate) fn tree<'a>(&'a self, text: &'a [u8], index: &'a [u32]) -> Tree<'a> {
        Tree { text, starts: index, links: &self.links }
    }
}

/// Steps over values of an object as long as they are plainly good scalars, one after the other, each with the key behind it.
/// If a brace follows the last, where that stands.
#[inline(always)]
fn members(text: &[u8], index: &[u32], links: &mut [u32], at: &mut usize) -> Option<usize> {
    let mut token = *at;
    while let Some([value, next]) = index.get(token..token + 2) {
        let (value, next) = (*value as usize, *next as usize);
        // The colon, and what stands behind it, in one piece. If it is not there, whoever takes the value before sees.
        let Some(&[b'"', b':', first]) = window(text, value.wrapping_sub(2)) else { break };
        // Only now: whoever goes on from here takes it that the key has been looked at.
        *at = token;
        let Some(ending) = ending(text, next) else { break };
        let scalar = Scalar::of(first);
        if scalar.has_more(ending) {
            links[token] = token as u32 | COMMA;
            token += 2;
        } else if scalar.is_last(ending) {
            links[token] = token as u32;
            *at = token + 1;
            return Some(next);
        } else {
            break;
        }
    }
    None
}

/// The same of elements of an array, and of its bracket.
#[inline(always)]
fn elements<K: Kernel>(kernel: K, text: &[u8], index: &[u32], links: &mut [u32], at: &mut usize) -> Option<usize> {
    let numbers = many_numbers(kernel, text, &index[*at..]);
    for (link, token) in links[*at..*at + numbers].iter_mut().zip(*at as u32..) {
        *link = token | COMMA;
    }
    *at += numbers;
    while let Some([value, next]) = index.get(*at..*at + 2) {
        let more = follows_element(text, *value as usize, *next as usize)?;
        links[*at] = *at as u32 | if more { COMMA } else { 0 };
        *at += 1;
        if !more {
            return Some(*next as usize);
        }
    }
    None
}

/// Steps over the key at `token`; a value must follow.
#[inline(always)]
fn key(text: &[u8], index: &[u32], token: usize) -> Result<usize, Refused> {
    let &[start, value, ..] = &index[token..] else { return Err(Refused) };
    if is_key(text, start as usize, value as usize) { Ok(token + 1) } else { Err(Refused) }
}

/// Is it one good scalar, from its first byte to its last? The scanner has looked inside strings and numbers.
#[inline(always)]
fn is_whole_scalar(text: &[u8], start: usize, end: usize) -> bool {
    let Some([first, ..]) = text.get(start..end) else { return false };
    let last = text[end - 1];
    match first {
        b'"' => last == b'"' && end > start + 1,
        // What is followed by a second comma does not end in a digit, nor does a minus alone.
        b'-' | b'0'..=b'9' => last.is_ascii_digit(),
        _ => matches!(&text[start..end], b"true" | b"false" | b"null"),
    }
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    start: u32,
    len: u32,
}

impl Place {
    #[inline(always)]
    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    #[inline(always)]
    pub(crate) fn end(self) -> usize {
        (self.start + self.len) as usize
    }
}

/// A text that is known to be JSON, by its tokens.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) text: &'a [u8],
    starts: &'a [u32],
    links: &'a [u32],
}

impl<'a> Tree<'a> {
    /// How many tokens there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The first byte of a token; it tells what it is.
    #[inline(always)]
    pub(crate) fn first(&self, token: Token) -> u8 {
        self.text[self.starts[token as usize] as usize]
    }

    #[inline(always)]
    pub(crate) fn start(&self, token: Token) -> usize {
        self.starts[token as usize] as usize
    }

    /// The token that closes the container.
    #[inline(always)]
    pub(crate) fn close(&self, container: Token) -> Token {
        self.links[container as usize] & LAST
    }

    /// Has the container no object inside, at any depth?
    #[inline(always)]
    pub(crate) fn is_flat(&self, container: Token) -> bool {
        self.links[container as usize] & FLAT != 0
    }

    /// Is there no object in the value, nor is it one?
    #[inline(always)]
    pub(crate) fn is_plain(&self, value: Token) -> bool {
        !self.is_container(value) || self.is_flat(value)
    }

    /// Members of an object, elements of an array.
    #[inline(always)]
    pub(crate) fn children(&self, container: Token) -> u32 {
        self.values(container).count() as u32
    }

    /// Is the value an object or an array?
    #[inline(always)]
    pub(crate) fn is_container(&self, value: Token) -> bool {
        self.links[value as usize] & LAST != value
    }

    /// The token after the value that begins with this one.
    #[inline(always)]
    pub(crate) fn after(&self, value: Token) -> Token {
        (self.links[value as usize] & LAST) + 1
    }

    /// Where a value ends.
    #[inline(always)]
    pub(crate) fn end(&self, value: Token) -> usize {
        let link = self.links[value as usize];
        self.start((link & LAST) + 1) - usize::from(link & COMMA != 0)
    }

    /// The text of a value.
    #[inline(always)]
    pub(crate) fn span(&self, value: Token) -> &'a [u8] {
        &self.text[self.start(value)..self.end(value)]
    }

    /// The text of a scalar, a key or one bracket.
    #[inline(always)]
    pub(crate) fn lexeme(&self, token: Token) -> &'a [u8] {
        let (start, next) = (self.start(token), self.start(token + 1));
        let end = next - usize::from(next > start + 1 && matches!(self.text[next - 1], b',' | b':'));
        &self.text[start..end]
    }

    /// Is the string that begins with this token a key?
    pub(crate) fn is_key(&self, string: Token) -> bool {
        self.text[self.start(string + 1) - 1] == b':'
    }

    /// A key with its quotes.
    #[inline(always)]
    pub(crate) fn key(&self, key: Token) -> &'a [u8] {
        &self.text[self.start(key)..self.start(key + 1) - 1]
    }

    /// The text of a value, as a place, and the token after it.
    #[inline(always)]
    pub(crate) fn place(&self, value: Token) -> (Place, Token) {
        let (start, link) = (self.starts[value as usize], self.links[value as usize]);
        let after = (link & LAST) + 1;
        let end = self.starts[after as usize] - u32::from(link & COMMA != 0);
        (Place { start, len: end - start }, after)
    }

    /// A key with its quotes, as a place.
    #[inline(always)]
    pub(crate) fn key_place(&self, key: Token) -> Place {
        let start = self.starts[key as usize];
        Place { start, len: self.starts[key as usize + 1] - 1 - start }
    }

    #[inline(always)]
    pub(crate) fn at(&self, place: Place) -> &'a [u8] {
        &self.text[place.start as usize..(place.start + place.len) as usize]
    }

    /// Is the same text in two places?
    #[inline(always)]
    pub(crate) fn equal(&self, one: Place, other: Place) -> bool {
        if one.len != other.len {
            return false;
        }
        // Most are short, and a call, or a branch by length, costs more than they do.
        match (sixteen(self.text, one.start), sixteen(self.text, other.start)) {
            (Some(start), Some(of_other)) => {
                let differs = start ^ of_other;
                match FIRST.get(one.len as usize) {
                    Some(first) => differs & first == 0,
                    None => differs == 0 && self.equal_behind(one, other),
                }
            }
            _ => self.at(one) == self.at(other),
        }
    }

    /// The text at a place, if it is at most 32 bytes long: the first sixteen bytes, or fewer with zeros behind them, and
    /// the last sixteen if there are more. The first byte is the lowest.
    #[inline(always)]
    pub(crate) fn short(&self, place: Place) -> Option<(u128, Option<u128>)> {
        let length = place.len as usize;
        if length > 32 {
            return None;
        }
        let Some(start) = sixteen(self.text, place.start) else {
            // Close to the end of the text.
            let mut bytes = [0; 16];
            bytes[..length].copy_from_slice(self.at(place));
            return Some((u128::from_le_bytes(bytes), None));
        };
        match FIRST.get(length) {
            Some(first) => Some((start & first, None)),
            None => Some((start, sixteen(self.text, place.start + place.len - 16))),
        }
    }

    /// Are two places, longer than sixteen bytes and equal so far, the same behind those?
    #[inline(always)]
    fn equal_behind(&self, one: Place, other: Place) -> bool {
        if one.len > 32 {
            return self.at(one)[16..] == self.at(other)[16..];
        }
        // Some of them once more.
        let last = |place: Place| sixteen(self.text, place.start + place.len - 16);
        last(one) == last(other)
    }

    /// The elements of an array, or the values of an object.
    pub(crate) fn values(self, container: Token) -> impl Iterator<Item = Token> + use<'a> {
        let tree = self;
        let skip = u32::from(self.first(container) == b'{');
        let close = self.close(container);
        let mut at = container + 1;
        std::iter::from_fn(move || {
            (at < close).then(|| {
                let value = at + skip;
                at = tree.after(value);
                value
            })
        })
    }
}

/// By a length of at most sixteen: the first so many bytes of sixteen.
static FIRST: [u128; 17] = {
    let mut first = [u128::MAX; 17];
    let mut length = 0;
    while length < 16 {
        first[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    first
};

/// The sixteen bytes at `at`, if the text has so many; the first is the lowest.
#[inline(always)]
fn sixteen(text: &[u8], at: u32) -> Option<u128> {
    let at = at as usize;
    text.get(at..at + 16)?.try_into().ok().map(u128::from_le_bytes)
}
