//! Contents of Gemini. The API reads keys in both spellings, `functionResponse` and `function_response`.

use super::{Reader, Slot};
use crate::Api;
use crate::text::{Form, Text};
use stc_wire::cursor::Cursor;
use stc_wire::span::Span;
use std::borrow::Cow;

impl<'a> Reader<'a> {
    /// Reads the request inside a request to count tokens.
    pub(super) fn nested(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        cursor.object(|cursor, key| match &*key {
            "contents" => self.messages(cursor, Api::Gemini),
            "tools" => self.tools(cursor),
            _ => cursor.skip().map(drop),
        })?;
        Some(())
    }

    /// Reads a content: a message.
    pub(super) fn content_of_parts(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let before = self.found();
        let [mut role, mut parts] = [const { Slot::Missing }; 2];
        let mut loose = Vec::new();
        cursor.object(|cursor, key| {
            match &*key {
                "role" => role.put(cursor.skip()?),
                "parts" => {
                    let span = cursor.array(|cursor| self.part(cursor, &mut loose))?;
                    parts.put(span);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        match () {
            () if role.is_repeated() || parts.is_repeated() => self.forget(before),
            () if self.layout.results.len() > before.0 => {}
            () => {
                // A content without a role is the user's.
                let is_user = role == Slot::Missing || self.is(&role, "user");
                let texts_from = self.layout.texts.len();
                loose.into_iter().for_each(|text| self.string(text));
                self.end_message(is_user, texts_from);
            }
        }
        Some(())
    }

    /// Reads a part: a text, a call or a result.
    fn part(&mut self, cursor: &mut Cursor<'a>, loose: &mut Vec<Span>) -> Option<()> {
        let (before, since) = (self.found(), self.before());
        let [mut text, mut call, mut response, mut caller] = [const { Slot::Missing }; 4];
        cursor.object(|cursor, key| {
            match &*key {
                "text" => text.put(cursor.skip()?),
                "caller" => caller.put(cursor.skip()?),
                "functionCall" | "function_call" => {
                    let span = self.function_call(cursor)?;
                    call.put(span);
                }
                // Only as it is searched for: a key with an escape is not recognised in every request.
                "functionResponse" | "function_response" if matches!(key, Cow::Borrowed(_)) => {
                    let span = self.function_response(cursor)?;
                    response.put(span);
                }
                "functionResponse" | "function_response" => {
                    self.ambiguous();
                    cursor.skip()?;
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        if [&text, &call, &response].into_iter().any(Slot::is_repeated) {
            self.forget(before);
        } else {
            loose.extend(text.take());
        }
        self.called_by(&caller, since);
        Some(())
    }

    fn function_call(&mut self, cursor: &mut Cursor<'a>) -> Option<Span> {
        let since = self.before();
        let [mut id, mut name, mut arguments, mut caller] = [const { Slot::Missing }; 4];
        let span = cursor.object(|cursor, key| {
            match &*key {
                "id" => id.put(cursor.skip()?),
                "name" => name.put(cursor.skip()?),
                "args" => arguments.put(cursor.skip()?),
                "caller" => caller.put(cursor.skip()?),
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        self.call(id, name, arguments);
        self.called_by(&caller, since);
        Some(span)
    }

    fn function_response(&mut self, cursor: &mut Cursor<'a>) -> Option<Span> {
        let (before, since) = (self.found(), self.before());
        let [mut id, mut name, mut response, mut caller] = [const { Slot::Missing }; 4];
        let mut is_error = false;
        let span = cursor.object(|cursor, key| {
            match &*key {
                "id" => id.put(cursor.skip()?),
                "name" => name.put(cursor.skip()?),
                "caller" => caller.put(cursor.skip()?),
                "response" => {
                    let (span, error) = self.response(cursor)?;
                    is_error |= error;
                    response.put(span);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        if [&id, &name, &response].into_iter().any(Slot::is_repeated) {
            self.forget(before);
        } else {
            self.answer(id, name, is_error, before.1, span.clone());
        }
        self.called_by(&caller, since);
        Some(span)
    }

    /// Reads a response: adds its members that are texts by convention, or all of it where such responses count, and the rest as values.
    /// Returns its range, and whether it is an error.
    fn response(&mut self, cursor: &mut Cursor<'a>) -> Option<(Span, bool)> {
        let before = self.found();
        let is_object = cursor.peek()? == b'{';
        let [mut output, mut result, mut content, mut error] = [const { Slot::Missing }; 4];
        let mut values = Vec::new();
        let span = cursor.object(|cursor, key| {
            let slot = match &*key {
                "output" => Some(&mut output),
                "result" => Some(&mut result),
                "content" => Some(&mut content),
                "error" => Some(&mut error),
                _ => None,
            };
            let value = cursor.skip()?;
            let is_text = self.text[value.start] == b'"' && slot.is_some() && key != "error";
            if let Some(slot) = slot {
                slot.put(value.clone());
            }
            // In the order of the text: the slots are looked at below.
            match is_text {
                true => self.layout.texts.push(Text::string(value)),
                false => values.push(value),
            }
            Some(())
        })?;
        if !is_object {
            values.push(span.clone());
        }
        let repeated = [&output, &result, &content, &error].into_iter().any(Slot::is_repeated);
        if repeated {
            self.forget(before);
        } else if self.found() == before && self.counted.gemini_wrap && is_object {
            self.layout.texts.push(Text { value: span.clone(), form: Form::Response });
        } else {
            self.layout.values.append(&mut values);
        }
        Some((span, error != Slot::Missing))
    }
}
