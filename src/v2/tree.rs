//! A document as a tree of tokens.
//!
//! Every entry of the structural index is a token: a bracket, a key or a scalar. A [link](super::link) beside each value
//! names its last token, so that the next value is one step away, however long this one is. Nothing is copied: a value is
//! its first token, and its text is a part of the document's.

/// An entry of the index, by its number.
pub(crate) type Token = u32;

/// Set in the link of a container: it is an array with no object inside, at any depth, so that its text can be copied as it is.
pub(super) const FLAT: u32 = 1 << 31;

/// Set in the link of a closing bracket if no container is inside; if one is, that link is zero. Above it is, for an object, the number of
/// members that are literals, in units of `2 * LEAF`; for an array those bits have no meaning.
pub(super) const LEAF: u32 = 1;

/// Returns the link of the bracket that closes a container without containers; of an array the literals mean nothing.
#[inline(always)]
pub(super) const fn leaf_link(literals: u32) -> u32 {
    LEAF + 2 * LEAF * literals
}

/// Set in the link of a value: a comma follows.
pub(super) const COMMA_FOLLOWS: u32 = 1 << 30;

/// The bits of a link that hold the value's last token.
pub(super) const LAST: u32 = COMMA_FOLLOWS - 1;

/// The most bytes of a text. A token is at least one byte, so the number of each fits the bits of [`LAST`].
pub(crate) const MAX_TEXT_LEN: usize = LAST as usize;

/// A part of the document's text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextRange {
    start: u32,
    len: u32,
}

impl TextRange {
    #[inline(always)]
    pub(crate) fn start(self) -> usize {
        self.start as usize
    }

    #[inline(always)]
    pub(crate) fn end(self) -> usize {
        (self.start + self.len) as usize
    }
}

/// A text that has been checked to be JSON, by its tokens.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'a> {
    pub(crate) text: &'a [u8],
    starts: &'a [u32],
    links: &'a [u32],
}

impl<'a> Tree<'a> {
    /// Returns the tree of a text with this index and these links.
    pub(super) fn new(text: &'a [u8], index: &'a [u32], links: &'a [u32]) -> Self {
        Self { text, starts: index, links }
    }

    /// Returns the number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the first byte of a token, which tells its kind.
    #[inline(always)]
    pub(crate) fn first(&self, token: Token) -> u8 {
        self.text[self.starts[token as usize] as usize]
    }

    /// Returns the offset of a token.
    #[inline(always)]
    pub(crate) fn start(&self, token: Token) -> usize {
        self.starts[token as usize] as usize
    }

    /// Returns the closing bracket of a container.
    #[inline(always)]
    pub(crate) fn close(&self, container: Token) -> Token {
        self.links[container as usize] & LAST
    }

    /// Returns whether all values in the container are scalars.
    #[inline(always)]
    pub(crate) fn is_leaf(&self, container: Token) -> bool {
        self.links[self.close(container) as usize] & LEAF != 0
    }

    /// Returns how many members of an object that has only scalars inside are literals. [`leaf_link`] has put that there.
    #[inline(always)]
    pub(crate) fn leaf_literals(&self, object: Token) -> u32 {
        self.links[self.close(object) as usize] / (2 * LEAF)
    }

    /// Returns whether the container has no object inside, at any depth, and is none.
    #[inline(always)]
    pub(crate) fn is_flat(&self, container: Token) -> bool {
        self.links[container as usize] & FLAT != 0
    }

    /// Returns whether the value is an object or has one inside.
    #[inline(always)]
    pub(crate) fn has_object(&self, value: Token) -> bool {
        self.is_container(value) && !self.is_flat(value)
    }

    /// Returns the number of members of an object or elements of an array.
    #[inline(always)]
    pub(crate) fn child_count(&self, container: Token) -> u32 {
        self.values(container).count() as u32
    }

    /// Returns whether the value is an object or an array.
    #[inline(always)]
    pub(crate) fn is_container(&self, value: Token) -> bool {
        self.links[value as usize] & LAST != value
    }

    /// Returns the token after the value that begins with this one.
    #[inline(always)]
    pub(crate) fn after(&self, value: Token) -> Token {
        (self.links[value as usize] & LAST) + 1
    }

    /// Returns the offset after a value's last byte.
    #[inline(always)]
    pub(crate) fn end(&self, value: Token) -> usize {
        let link = self.links[value as usize];
        self.start((link & LAST) + 1) - usize::from(link & COMMA_FOLLOWS != 0)
    }

    /// Returns the text of a value.
    #[inline(always)]
    pub(crate) fn value(&self, value: Token) -> &'a [u8] {
        &self.text[self.start(value)..self.end(value)]
    }

    /// Returns the text of a scalar, a key or one bracket.
    #[inline(always)]
    pub(crate) fn lexeme(&self, token: Token) -> &'a [u8] {
        let (start, next) = (self.start(token), self.start(token + 1));
        let end = next - usize::from(next > start + 1 && matches!(self.text[next - 1], b',' | b':'));
        &self.text[start..end]
    }

    /// Returns whether a string is a key.
    pub(crate) fn is_key(&self, string: Token) -> bool {
        self.text[self.start(string + 1) - 1] == b':'
    }

    /// Returns a key with its quotes.
    #[inline(always)]
    pub(crate) fn key(&self, key: Token) -> &'a [u8] {
        &self.text[self.start(key)..self.start(key + 1) - 1]
    }

    /// Returns a key without its quotes.
    #[inline(always)]
    pub(crate) fn key_body(&self, key: Token) -> &'a [u8] {
        let key = self.key(key);
        &key[1..key.len() - 1]
    }

    /// Returns where the text of a value is, and the token after the value.
    #[inline(always)]
    pub(crate) fn value_range(&self, value: Token) -> (TextRange, Token) {
        let (start, link) = (self.starts[value as usize], self.links[value as usize]);
        let after = (link & LAST) + 1;
        let end = self.starts[after as usize] - u32::from(link & COMMA_FOLLOWS != 0);
        (TextRange { start, len: end - start }, after)
    }

    /// Returns where a key is, with its quotes.
    #[inline(always)]
    pub(crate) fn key_range(&self, key: Token) -> TextRange {
        let start = self.starts[key as usize];
        TextRange { start, len: self.starts[key as usize + 1] - 1 - start }
    }

    /// Returns the bytes of a part of the text.
    #[inline(always)]
    pub(crate) fn bytes(&self, range: TextRange) -> &'a [u8] {
        &self.text[range.start as usize..(range.start + range.len) as usize]
    }

    /// Returns whether two parts of the text have the same bytes.
    ///
    /// Most are short, and a call, or a branch by length, costs more than they do. So sixteen bytes of each are loaded,
    /// whatever the length, and the bytes after the end are masked out. Of `"id":1` and `"id",2`, compared with length 4,
    /// the first four bytes count:
    ///
    /// ```text
    /// one        "  i  d  "  :  1  …
    /// other      "  i  d  "  ,  2  …
    /// differs    00 00 00 00 16 03 …
    /// mask       FF FF FF FF 00 00 …      and of both is zero: equal
    /// ```
    #[inline(always)]
    pub(crate) fn same_bytes(&self, one: TextRange, other: TextRange) -> bool {
        if one.len != other.len {
            return false;
        }
        match (load_16(self.text, one.start), load_16(self.text, other.start)) {
            (Some(one_bytes), Some(other_bytes)) => {
                let differs = one_bytes ^ other_bytes;
                match MASKS.get(one.len as usize) {
                    Some(mask) => differs & mask == 0,
                    None => differs == 0 && self.bytes(one)[16..] == self.bytes(other)[16..],
                }
            }
            _ => self.bytes(one) == self.bytes(other),
        }
    }

    /// Returns the elements of an array, or the values of an object. The key of a value is the token before it.
    pub(crate) fn values(self, container: Token) -> impl Iterator<Item = Token> + use<'a> {
        let tree = self;
        let keys = u32::from(self.first(container) == b'{');
        let close = self.close(container);
        let mut at = container + 1;
        std::iter::from_fn(move || {
            (at < close).then(|| {
                let value = at + keys;
                at = tree.after(value);
                value
            })
        })
    }
}

/// By a length of at most 16: a mask of that many bytes, from the lowest on.
static MASKS: [u128; 17] = {
    let mut masks = [u128::MAX; 17];
    let mut length = 0;
    while length < 16 {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// Returns the 16 bytes at `at`, the first one lowest, if the text has as many.
#[inline(always)]
fn load_16(text: &[u8], at: u32) -> Option<u128> {
    let at = at as usize;
    text.get(at..at + 16)?.try_into().ok().map(u128::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_tree;

    #[test]
    fn parts_of_every_length_are_equal_exactly_where_their_bytes_are() {
        // Two copies of a text, with less and with more than 16 bytes after the second.
        for room in [0, 40] {
            for length in 0..70_u32 {
                let one: Vec<u8> = (0..length as u8).collect();
                let text = [&one[..], &one, &vec![0xEE; room]].concat();
                let ranges = [TextRange { start: 0, len: length }, TextRange { start: length, len: length }];
                let same = |text: &[u8]| Tree::new(text, &[], &[]).same_bytes(ranges[0], ranges[1]);
                assert!(same(&text), "{length}");
                for at in 0..length as usize {
                    let mut text = text.clone();
                    text[length as usize + at] ^= 1;
                    assert!(!same(&text), "{length}, different at {at}");
                }
            }
        }
    }

    #[test]
    fn a_lexeme_is_a_token_without_what_follows_it() {
        let all = |json: &str| -> Vec<String> {
            with_tree(json, |tree| {
                let text = |token| String::from_utf8_lossy(tree.lexeme(token)).into_owned();
                (0..tree.len() as Token).map(text).collect()
            })
        };
        assert_eq!(all(r#"[1,22,"x"]"#), ["[", "1", "22", "\"x\"", "]"]);
        assert_eq!(all(r#"[[],{},"x,",":"]"#), ["[", "[", "]", "{", "}", "\"x,\"", "\":\"", "]"]);
        assert_eq!(
            all(r#"{"a":{"b,":[5]},"":0}"#),
            ["{", "\"a\"", "{", "\"b,\"", "[", "5", "]", "}", "\"\"", "0", "}"]
        );
    }

    #[test]
    fn containers_are_objects_and_arrays() {
        with_tree(r#"{"a":[1,"x",[]],"b":{},"c":true,"d":{"e":[[{}]]},"f":[2]}"#, |tree| {
            let (mut values, mut containers) = (vec![0], 0);
            while let Some(value) = values.pop() {
                let is_container = matches!(tree.first(value), b'{' | b'[');
                assert_eq!(tree.is_container(value), is_container, "{value}");
                let has_object = tree.value(value).contains(&b'{');
                assert_eq!((tree.has_object(value), tree.is_flat(value)), (has_object, is_container && !has_object));
                if is_container {
                    containers += 1;
                    values.extend(tree.values(value));
                }
            }
            assert_eq!(containers, 9);
        });
    }
}
