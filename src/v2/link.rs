//! The first pass of version 2: checks that the text is JSON and gives each token a link.
//!
//! Version 2 examines a table as a whole before it writes the table's first byte, so it has to step over values. One number
//! beside each entry of the index makes that possible. The link of a value is its last token, with two flags in the upper
//! bits. That of a closing bracket tells whether containers are inside, and for an object without any the number of its literals.
//! Keys have no link. For `{"a":[1,2],"b":3}`:
//!
//! ```text
//! token    0     1     2     3     4     5     6     7     8
//! lexeme   {     "a"   [     1     2     ]     "b"   3     }
//! link     8     -     5     3     4     LEAF  -     7     0
//! comma                yes   yes                            COMMA_FOLLOWS
//! flat                 yes                                  FLAT
//! ```

use crate::error::Refused;
use crate::json::number_arrays::many_numbers;
use crate::json::scalar::{Scalar, ending};
use crate::json::scan::arch::Kernel;
use crate::json::span::bytes_at;
use crate::json::tape::{byte, follows_element, is_key};
use crate::v2::tree::{COMMA_FOLLOWS, FLAT, LAST, Tree, leaf_link};

/// Set in the link of an open container, which until its end is the container around it: that container is an object.
const IN_OBJECT: u32 = FLAT;

/// The links beside an index. The memory is kept between documents.
#[derive(Debug, Default)]
pub(crate) struct Links {
    links: Vec<u32>,
}

impl Links {
    /// Checks that `text` is JSON with at most `max_depth` levels, links its values and returns its depth.
    ///
    /// `index` ends with the length of the text. `forms` gets an entry for each token, and that of each container is zero
    /// afterwards. Entries of other tokens in `forms` and in the links may hold what an earlier document left; they are
    /// never read.
    #[inline(always)]
    pub(crate) fn link<K: Kernel>(
        &mut self,
        kernel: K,
        text: &[u8],
        index: &[u32],
        max_depth: usize,
        forms: &mut Vec<u32>,
    ) -> Result<usize, Refused> {
        for slots in [&mut self.links, forms] {
            if slots.len() < index.len() {
                slots.resize(index.len(), 0);
            }
        }
        if index.first() != Some(&0) || index.len() < 2 {
            return Err(Refused);
        }
        let mut linker = Linker {
            text,
            index,
            links: &mut self.links[..index.len()],
            forms: &mut forms[..index.len()],
            token: 0,
            container: 0,
            in_object: false,
            after_last_object: 0,
            last_opened: 0,
            literals: 0,
            depth: 0,
            deepest: 0,
            max_depth,
        };
        // Each turn takes the opening bracket of one container, or a run of scalars, and then every bracket that closes
        // directly after it.
        loop {
            let Some(value) = linker.open_or_scalars(kernel)? else { continue };
            if linker.close_containers(value)? {
                return Ok(linker.deepest);
            }
        }
    }

    /// Returns the document as a tree. `text` and `index` are those of the last call to [`link`](Self::link).
    pub(crate) fn tree<'a>(&'a self, text: &'a [u8], index: &'a [u32]) -> Tree<'a> {
        Tree::new(text, index, &self.links)
    }
}

/// A value that has just ended: its first token, and the offset after its last byte.
struct Ended {
    value: usize,
    end: usize,
}

/// The state of the pass.
struct Linker<'a> {
    text: &'a [u8],
    index: &'a [u32],
    links: &'a mut [u32],
    forms: &'a mut [u32],
    /// The token that comes next: a value, or what follows one.
    token: usize,
    /// The innermost open container, and whether it is an object. The link of an open container is the one around it.
    container: usize,
    in_object: bool,
    /// The token after the `{` that was read last. A container that begins at or after it has no object inside.
    after_last_object: usize,
    /// The container that was opened last. If it closes, nothing that it could hold was opened in between.
    last_opened: usize,
    /// The members since then whose values are literals.
    literals: u32,
    depth: usize,
    deepest: usize,
    max_depth: usize,
}

impl Linker<'_> {
    /// Takes an opening bracket, or scalars up to the next container or the end of this one. Returns the value that has
    /// ended, if one has and it is not followed by a value that this function takes too.
    #[inline(always)]
    fn open_or_scalars<K: Kernel>(&mut self, kernel: K) -> Result<Option<Ended>, Refused> {
        let &[start, next, ..] = &self.index[self.token..] else { return Err(Refused) };
        let (start, next) = (start as usize, next as usize);
        let first = byte(self.text, start);
        if first == b'{' || first == b'[' {
            return self.open(start, next, first);
        }
        let token = self.token;
        let close = if self.in_object {
            loop {
                let last = link_members(self.text, self.index, self.links, &mut self.token, &mut self.literals);
                if last.is_none_or(|end| !self.next_row(end)) {
                    break last;
                }
            }
        } else if self.depth > 0 {
            link_elements(kernel, self.text, self.index, self.links, &mut self.token)
        } else {
            None
        };
        if let Some(end) = close {
            return Ok(Some(Ended { value: self.token - 1, end }));
        }
        if self.token > token {
            return Ok(None);
        }
        crate::slow_path::count_slow_step();
        let comma = next > start && self.text.get(next - 1) == Some(&b',');
        let end = next - usize::from(comma);
        if !is_whole_scalar(self.text, start, end) {
            return Err(Refused);
        }
        self.links[token] = token as u32;
        self.literals += Scalar::of(first).literals();
        self.token += 1;
        Ok(Some(Ended { value: token, end }))
    }

    /// Opens the container that begins with the byte `first` at `start`. Returns it if it is empty.
    #[inline(always)]
    fn open(&mut self, start: usize, next: usize, first: u8) -> Result<Option<Ended>, Refused> {
        let (token, end) = (self.token, start + 1);
        if next != end || self.depth >= self.max_depth {
            return Err(Refused);
        }
        self.forms[token] = 0;
        (self.last_opened, self.literals) = (token, 0);
        self.links[token] = self.container as u32 | if self.in_object { IN_OBJECT } else { 0 };
        (self.container, self.in_object) = (token, first == b'{');
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.token += 1;
        if self.in_object {
            self.after_last_object = self.token;
        }
        // `}` is `{` plus 2, and `]` is `[` plus 2.
        if byte(self.text, next) == first + 2 {
            return Ok(Some(Ended { value: token, end }));
        }
        if self.in_object {
            self.token = skip_key(self.text, self.index, self.token)?;
        }
        Ok(None)
    }

    /// Takes the end of an object in an array and the beginning of the next, up to its first value: what comes between the rows of
    /// a table, in a third of the steps that its tokens take one by one. The object's last value ends at `end`. Returns false, and
    /// takes nothing, unless it has only scalars inside and another object follows, with a good key.
    #[inline(always)]
    fn next_row(&mut self, end: usize) -> bool {
        let (object, close) = (self.container, self.token);
        let Some(&[open, key, value]) = self.index.get(close + 1..close + 4) else { return false };
        let around = self.links[object];
        let is_row = bytes_at(self.text, end) == Some(b"},{\"") && open as usize == end + 2 && key == open + 1;
        let is_leaf_in_array = self.last_opened == object && self.depth > 1 && around & IN_OBJECT == 0;
        if !is_row || !is_leaf_in_array || !is_key(self.text, key as usize, value as usize) {
            return false;
        }
        self.links[object] = close as u32 | COMMA_FOLLOWS;
        self.links[close] = leaf_link(self.literals);
        let next = close + 1;
        self.forms[next] = 0;
        self.links[next] = around;
        (self.container, self.last_opened, self.literals) = (next, next, 0);
        self.after_last_object = next + 1;
        self.token = next + 2;
        true
    }

    /// Takes the brackets that close after a value, and the comma and key after them. Returns true at the end of the text.
    #[inline(always)]
    fn close_containers(&mut self, Ended { mut value, mut end }: Ended) -> Result<bool, Refused> {
        loop {
            let &next = self.index.get(self.token).ok_or(Refused)?;
            let next = next as usize;
            if next == end + 1 && self.depth > 0 && self.text[end] == b',' {
                self.links[value] |= COMMA_FOLLOWS;
                if self.in_object {
                    self.token = skip_key(self.text, self.index, self.token)?;
                }
                return Ok(false);
            }
            if next != end || self.token + 1 == self.index.len() {
                return if next == end && self.depth == 0 { Ok(true) } else { Err(Refused) };
            }
            if self.depth == 0 || byte(self.text, next) != if self.in_object { b'}' } else { b']' } {
                return Err(Refused);
            }
            let flat = if self.after_last_object <= self.container { FLAT } else { 0 };
            value = self.container;
            let around = self.links[value];
            (self.container, self.in_object) = ((around & LAST) as usize, around & IN_OBJECT != 0);
            self.links[value] = self.token as u32 | flat;
            self.links[self.token] = if self.last_opened == value { leaf_link(self.literals) } else { 0 };
            self.depth -= 1;
            end += 1;
            self.token += 1;
        }
    }
}

/// Links the members of an object, as a fast path: values, from `*token` on, for as long as each is a good scalar with the
/// next key after it. Returns the offset of the brace if one follows the last value.
#[inline(always)]
fn link_members(text: &[u8], index: &[u32], links: &mut [u32], token: &mut usize, literals: &mut u32) -> Option<usize> {
    let mut at = *token;
    while let Some([value, next]) = index.get(at..at + 2) {
        let (value, next) = (*value as usize, *next as usize);
        // The end of the key, the colon and the value's first byte in one load. If they are not there, the slow path
        // rejects the value before.
        let Some(&[b'"', b':', first]) = bytes_at(text, value.wrapping_sub(2)) else { break };
        // Only now: the slow path takes the key before its token for checked.
        *token = at;
        let Some(ending) = ending(text, next) else { break };
        let scalar = Scalar::of(first);
        if scalar.has_more(ending) {
            links[at] = at as u32 | COMMA_FOLLOWS;
            *literals += scalar.literals();
            at += 2;
        } else if scalar.is_last(ending) {
            *literals += scalar.literals();
            links[at] = at as u32;
            *token = at + 1;
            return Some(next);
        } else {
            break;
        }
    }
    None
}

/// Links the elements of an array, as a fast path: like [`link_members`], up to the closing bracket.
#[inline(always)]
fn link_elements<K: Kernel>(
    kernel: K,
    text: &[u8],
    index: &[u32],
    links: &mut [u32],
    token: &mut usize,
) -> Option<usize> {
    let numbers = many_numbers(kernel, text, &index[*token..]);
    for (link, at) in links[*token..*token + numbers].iter_mut().zip(*token as u32..) {
        *link = at | COMMA_FOLLOWS;
    }
    *token += numbers;
    while let Some([value, next]) = index.get(*token..*token + 2) {
        let more = follows_element(text, *value as usize, *next as usize)?;
        links[*token] = *token as u32 | if more { COMMA_FOLLOWS } else { 0 };
        *token += 1;
        if !more {
            return Some(*next as usize);
        }
    }
    None
}

/// Checks the key at `token` and returns the token of its value.
#[inline(always)]
fn skip_key(text: &[u8], index: &[u32], token: usize) -> Result<usize, Refused> {
    let &[start, value, ..] = &index[token..] else { return Err(Refused) };
    if is_key(text, start as usize, value as usize) { Ok(token + 1) } else { Err(Refused) }
}

/// Returns whether the bytes from `start` to `end` are one good scalar. The scanner has checked what is inside strings and
/// numbers.
#[inline(always)]
pub(super) fn is_whole_scalar(text: &[u8], start: usize, end: usize) -> bool {
    let Some([first, ..]) = text.get(start..end) else { return false };
    let last = text[end - 1];
    match first {
        b'"' => last == b'"' && end > start + 1,
        // A number that is followed by a second comma does not end in a digit, nor does a minus alone.
        b'-' | b'0'..=b'9' => last.is_ascii_digit(),
        _ => matches!(&text[start..end], b"true" | b"false" | b"null"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::scan::arch::Fallback;
    use crate::json::tape::{Indexed, Tape};
    use crate::v2::tree::LEAF;

    /// The links of the tokens of a document, in order, with their flags; zero for keys.
    fn links(json: &str, max_depth: usize) -> Result<(usize, Vec<u32>), Refused> {
        let (mut tape, mut links, mut at) = (Tape::default(), Links::default(), 0);
        while tape.index_in_place(Fallback, json.as_bytes(), &mut at) != Indexed::Ended {}
        let depth = links.link(Fallback, json.as_bytes(), &tape.index, max_depth, &mut Vec::new())?;
        links.links.truncate(tape.index.len() - 1);
        Ok((depth, links.links))
    }

    #[test]
    fn a_value_is_linked_to_its_last_token() {
        let (depth, links) = links(r#"{"a":[1,2],"b":3}"#, 2).expect("JSON");
        assert_eq!(depth, 2);
        assert_eq!(links, [8, 0, 5 | COMMA_FOLLOWS | FLAT, 3 | COMMA_FOLLOWS, 4, LEAF, 0, 7, 0]);
    }

    #[test]
    fn rows_are_linked_like_other_objects() {
        let brace = |last: u32, literals: u32| [last, leaf_link(literals)];
        // Rows that `next_row` links, at two depths.
        for (json, deeper) in
            [(r#"[{"a":true,"b":1},{"c":null},{"d":"x"}]"#, 0), (r#"[[{"a":true,"b":1},{"c":null},{"d":"x"}]]"#, 1)]
        {
            let (depth, links) = links(json, 3).expect("JSON");
            assert_eq!(depth, 2 + deeper as usize);
            let objects = [(1, 6, 1), (7, 10, 1), (11, 14, 0)];
            for (object, close, literals) in objects {
                let comma = if close < 14 { COMMA_FOLLOWS } else { 0 };
                let [last, leaf] = brace(close + deeper, literals);
                let found = [links[(object + deeper) as usize], links[(close + deeper) as usize]];
                assert_eq!(found, [last | comma, leaf], "{json} {object}");
            }
        }
        // Objects after which `next_row` takes nothing: a container is inside, so that no literals are counted.
        for (json, close) in [
            (r#"[{"a":[],"x":true},{"b":null}]"#, 7),
            (r#"[{"a":{},"x":true},{"b":null}]"#, 7),
            (r#"[{"x":true,"a":[]},{"b":null}]"#, 7),
            (r#"[{"a":[]},{"b":true}]"#, 5),
            (r#"[{"a":{}},{"b":null}]"#, 5),
        ] {
            let (_, links) = links(json, 3).expect("JSON");
            assert_eq!([links[1], links[close]], [close as u32 | COMMA_FOLLOWS, 0], "{json}");
            assert_eq!([links[close + 1], links[close + 4]], brace(close as u32 + 4, 1), "{json}");
        }
        for json in [
            r#"{"a":1},{"b":2}"#,
            r#"{"a":{"b":1},{"c":2}}"#,
            r#"[{"a":1},{}]"#,
            r#"[{"a":1},{1}]"#,
            r#"[{"a":1},{"b"}]"#,
        ] {
            assert_eq!(links(json, 9).is_ok(), json.contains("{}"), "{json}");
        }
    }

    #[test]
    fn a_container_is_flat_if_no_object_is_inside_at_any_depth() {
        let flat = |json| links(json, 9).expect("JSON").1[0] & FLAT != 0;
        for json in ["[]", "[1]", "[[[]],[1]]"] {
            assert!(flat(json), "{json}");
        }
        for json in ["{}", "[{}]", "[[1],[{}]]", "[[{}],[1]]", r#"{"a":[]}"#] {
            assert!(!flat(json), "{json}");
        }
    }

    #[test]
    fn depth_met_exactly_is_taken_and_passed_by_one_is_not() {
        for (json, depth) in [("1", 0), ("[]", 1), ("[[],[[]]]", 3), (r#"{"a":{"b":{}}}"#, 3)] {
            assert_eq!(links(json, depth).map(|(depth, _)| depth).ok(), Some(depth), "{json}");
            assert!(depth == 0 || links(json, depth - 1).is_err(), "{json}");
        }
    }
}
