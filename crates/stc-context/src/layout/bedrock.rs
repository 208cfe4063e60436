//! Messages of Bedrock's Converse.

use super::{Reader, Slot};
use crate::text::{Form, Text};
use stc_wire::cursor::Cursor;
use stc_wire::span::{self, Span};
use std::borrow::Cow;

impl<'a> Reader<'a> {
    /// Reads a message.
    pub(super) fn turn(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let before = self.found();
        let [mut role, mut content] = [const { Slot::Missing }; 2];
        let mut loose = Vec::new();
        cursor.object(|cursor, key| {
            match &*key {
                "role" => role.put(cursor.skip()?),
                "content" => {
                    let span = cursor.array(|cursor| self.converse_block(cursor, &mut loose))?;
                    content.put(span);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        match () {
            () if role.is_repeated() || content.is_repeated() => self.forget(before),
            () if self.layout.results.len() > before.0 => {}
            () => {
                let texts_from = self.layout.texts.len();
                loose.into_iter().for_each(|text| self.string(text));
                self.end_message(self.is(&role, "user"), texts_from);
            }
        }
        Some(())
    }

    /// Reads a block: a text, a call or a result.
    fn converse_block(&mut self, cursor: &mut Cursor<'a>, loose: &mut Vec<Span>) -> Option<()> {
        let (before, since) = (self.found(), self.before());
        let [mut text, mut tool_use, mut tool_result, mut caller] = [const { Slot::Missing }; 4];
        cursor.object(|cursor, key| {
            match &*key {
                "text" => text.put(cursor.skip()?),
                "caller" => caller.put(cursor.skip()?),
                "toolUse" => {
                    let span = self.tool_use(cursor)?;
                    tool_use.put(span);
                }
                // Only as it is searched for: a key with an escape is not recognised in every request.
                "toolResult" if matches!(key, Cow::Borrowed(_)) => {
                    let span = self.tool_result(cursor)?;
                    tool_result.put(span);
                }
                "toolResult" => {
                    self.ambiguous();
                    cursor.skip()?;
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        if [&text, &tool_use, &tool_result].into_iter().any(Slot::is_repeated) {
            self.forget(before);
        } else {
            loose.extend(text.take());
        }
        self.called_by(&caller, since);
        Some(())
    }

    fn tool_use(&mut self, cursor: &mut Cursor<'a>) -> Option<Span> {
        let since = self.before();
        let [mut id, mut name, mut input, mut caller] = [const { Slot::Missing }; 4];
        let span = cursor.object(|cursor, key| {
            match &*key {
                "toolUseId" => id.put(cursor.skip()?),
                "name" => name.put(cursor.skip()?),
                "input" => input.put(cursor.skip()?),
                "caller" => caller.put(cursor.skip()?),
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        self.call(id, name, input);
        self.called_by(&caller, since);
        Some(span)
    }

    fn tool_result(&mut self, cursor: &mut Cursor<'a>) -> Option<Span> {
        let (before, since) = (self.found(), self.before());
        let [mut id, mut status, mut content, mut caller] = [const { Slot::Missing }; 4];
        let span = cursor.object(|cursor, key| {
            match &*key {
                "toolUseId" => id.put(cursor.skip()?),
                "status" => status.put(cursor.skip()?),
                "caller" => caller.put(cursor.skip()?),
                "content" => {
                    let span = cursor.array(|cursor| self.result_block(cursor))?;
                    content.put(span);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        if [&id, &status, &content].into_iter().any(Slot::is_repeated) {
            self.forget(before);
        } else {
            let is_error = self.is(&status, "error");
            self.answer(id, Slot::Missing, is_error, before.1, span.clone());
        }
        self.called_by(&caller, since);
        Some(span)
    }

    /// Reads a block of a result, whose only member is `text`, `json` or something else.
    fn result_block(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let block = cursor.skip()?;
        let mut members = span::members(self.text, block);
        let (Some(only), None) = (members.next(), members.next()) else {
            self.ambiguous();
            return Some(());
        };
        drop(members);
        let is = |key| span::is_string(self.text, &only.key, key);
        match (is("text"), is("json"), self.text[only.value.start]) {
            (true, ..) => self.string(only.value),
            (_, true, b'{' | b'[') => {
                self.layout.texts.push(Text { form: Form::Json { key: only.key.start }, value: only.value });
            }
            (_, true, _) => self.layout.values.push(only.value),
            _ => {}
        }
        Some(())
    }
}
