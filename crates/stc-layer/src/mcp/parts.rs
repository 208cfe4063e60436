//! The parts of a message that a rewrite looks at, found in one pass: a tool result is a long string four levels deep, and finding
//! each member from the beginning of its object would read that string a dozen times.

use std::borrow::Cow;

use stc_wire::cursor::Cursor;
use stc_wire::span::Span;

/// The members of an object; none of a value that is not one.
#[derive(Debug, Default)]
pub(super) struct Object<'a> {
    pub(super) span: Span,
    members: Vec<(Cow<'a, str>, Span)>,
}

impl<'a> Object<'a> {
    /// Reads the object at the cursor. `each` may enter the value of a member and return its range; values that it leaves are skipped.
    fn read(
        cursor: &mut Cursor<'a>,
        mut each: impl FnMut(&mut Cursor<'a>, &str) -> Option<Option<Span>>,
    ) -> Option<Self> {
        let mut members = Vec::new();
        let span = cursor.object(|cursor, key| {
            let value = match each(cursor, &key)? {
                Some(value) => value,
                None => cursor.skip()?,
            };
            members.push((key, value));
            Some(())
        })?;
        Some(Self { span, members })
    }

    /// Returns the value of the member with this key; `None` if the key is missing or repeated, because readers disagree on which of
    /// two counts.
    pub(super) fn value(&self, key: &str) -> Option<Span> {
        let mut found = self.members.iter().filter(|(name, _)| name == key);
        let (_, value) = found.next()?;
        found.next().is_none().then(|| value.clone())
    }

    /// Returns whether a member says that the caller is a program: `caller`, in `_meta` also with a prefix, as `example.com/caller`.
    pub(super) fn has_program(&self, text: &[u8]) -> bool {
        self.members.iter().any(|(key, value)| match &**key {
            "_meta" if text[value.start] == b'{' => super::calls::has_program(text, value.clone()),
            "caller" => stc_wire::caller::is_program(text, value),
            _ => false,
        })
    }

    /// Returns the number of members.
    pub(super) const fn len(&self) -> usize {
        self.members.len()
    }
}

/// A JSON-RPC message.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub(super) object: Object<'a>,
    /// The value of `result`; empty if that is missing or not an object.
    pub(super) result: Parts<'a>,
}

/// The result of a call.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    pub(super) object: Object<'a>,
    /// The elements of `content`.
    pub(super) content: Vec<Content<'a>>,
    /// The elements of `contents`, as resources have them.
    pub(super) contents: Vec<Content<'a>>,
}

/// A content block, or the contents of a resource.
#[derive(Debug)]
pub(super) struct Content<'a> {
    pub(super) object: Object<'a>,
    /// The value of `resource`; empty if that is missing or not an object.
    pub(super) resource: Object<'a>,
}

/// Returns the messages of a text, one or a batch; `None` if the text ends early. It may not be JSON all the same: a strict parser must
/// accept it before it is changed.
pub(super) fn read(text: &[u8]) -> Option<Vec<Message<'_>>> {
    let mut cursor = Cursor::new(text);
    let mut messages = Vec::new();
    if cursor.peek()? == b'[' {
        cursor.array(|cursor| {
            messages.push(message(cursor)?);
            Some(())
        })?;
    } else {
        messages.push(message(&mut cursor)?);
    }
    Some(messages)
}

fn message<'a>(cursor: &mut Cursor<'a>) -> Option<Message<'a>> {
    let mut parts = Parts::default();
    let object = Object::read(cursor, |cursor, key| {
        Some(match key {
            "result" => {
                parts = result(cursor)?;
                Some(parts.object.span.clone())
            }
            _ => None,
        })
    })?;
    Some(Message { object, result: parts })
}

fn result<'a>(cursor: &mut Cursor<'a>) -> Option<Parts<'a>> {
    let (mut content, mut contents) = (Vec::new(), Vec::new());
    let object = Object::read(cursor, |cursor, key| {
        let blocks = match key {
            "content" => &mut content,
            "contents" => &mut contents,
            _ => return Some(None),
        };
        let array = cursor.array(|cursor| {
            blocks.push(block(cursor)?);
            Some(())
        })?;
        Some(Some(array))
    })?;
    // Of a repeated key no value counts.
    let known = |key: &str, blocks: Vec<Content<'a>>| object.value(key).map_or_else(Vec::new, |_| blocks);
    let (content, contents) = (known("content", content), known("contents", contents));
    Some(Parts { object, content, contents })
}

fn block<'a>(cursor: &mut Cursor<'a>) -> Option<Content<'a>> {
    let mut resource = Object::default();
    let object = Object::read(cursor, |cursor, key| {
        Some(match key {
            "resource" => {
                resource = Object::read(cursor, |_, _| Some(None))?;
                Some(resource.span.clone())
            }
            _ => None,
        })
    })?;
    Some(Content { object, resource })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stc_wire::span;

    #[test]
    fn parts_are_those_that_a_search_by_key_finds() {
        let text = br#" [{"id":1, "r\u0065sult" : {"content":[{"type":"text","text":"a\"]"}, 7,
            {"type":"resource","resource":{"uri":"x","text":"{}"}}],"contents":{"no":"array"}}}, {"id":2,"result":[]}, null]"#;
        let messages = read(text).unwrap();
        assert_eq!(messages.len(), 3);
        for (message, place) in messages.iter().zip(span::elements(text, span::document(text).unwrap())) {
            assert_eq!(message.object.span, place);
            for key in ["id", "result", "error"] {
                let expected = span::member(text, place.clone(), key).map(|member| member.value);
                assert_eq!(message.object.value(key), expected, "{key}");
            }
        }
        let result = &messages[0].result;
        assert_eq!(result.object.span, messages[0].object.value("result").unwrap());
        assert_eq!((result.content.len(), result.contents.len(), messages[1].result.content.len()), (3, 0, 0));
        let [first, number, last] = &result.content[..] else { unreachable!("three blocks") };
        assert_eq!(&text[first.object.value("text").unwrap()], br#""a\"]""#);
        assert_eq!((&text[number.object.span.clone()], number.object.len(), first.object.len()), (&b"7"[..], 0, 2));
        assert_eq!(&text[last.resource.value("text").unwrap()], br#""{}""#);
    }

    #[test]
    fn no_value_of_a_repeated_key_counts() {
        let text = br#"{"id":1,"result":{"content":[{"text":"a","text":"b"}],"x":1,"content":[{}]},"id":2}"#;
        let messages = read(text).unwrap();
        assert_eq!(messages[0].object.value("id"), None);
        let result = &messages[0].result;
        assert_eq!((result.object.value("content"), result.content.len()), (None, 0));
        let text = br#"{"result":{"content":[{"text":"a","text":"b"}]}}"#;
        assert_eq!(read(text).unwrap()[0].result.content[0].object.value("text"), None);
    }

    #[test]
    fn broken_texts_have_no_parts() {
        let text = br#"{"id":1,"result":{"content":[{"type":"text","text":"a"}]}}"#;
        for end in 0..text.len() {
            assert!(read(&text[..end]).is_none(), "{end}");
        }
    }
}
