//! Messages of Chat Completions, of Anthropic's Messages and of Ollama.

use super::{Reader, Slot};
use crate::text::Text;
use stc_wire::cursor::Cursor;
use stc_wire::span::Span;

/// The members of a message or of a block that matter here.
#[derive(Debug, Default)]
struct Fields {
    role: Slot,
    kind: Slot,
    id: Slot,
    tool_call_id: Slot,
    tool_use_id: Slot,
    name: Slot,
    input: Slot,
    is_error: Slot,
    content: Slot,
    text: Slot,
    /// Who called the tool. Two of them are a program, and make nothing else ambiguous.
    caller: Slot,
    /// What a text is the source of: citations, which count its characters.
    citations: Slot,
}

impl Fields {
    fn any_repeated(&self) -> bool {
        let slots = [
            &self.role,
            &self.kind,
            &self.id,
            &self.tool_call_id,
            &self.tool_use_id,
            &self.name,
            &self.input,
            &self.is_error,
            &self.content,
            &self.text,
        ];
        slots.into_iter().any(Slot::is_repeated)
    }
}

impl<'a> Reader<'a> {
    /// Reads a message.
    pub(super) fn message(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let since = self.before();
        let caller = self.message_read(cursor)?;
        self.called_by(&caller, since);
        Some(())
    }

    /// Reads a message; returns its caller.
    fn message_read(&mut self, cursor: &mut Cursor<'a>) -> Option<Slot> {
        let before = self.found();
        let mut fields = Fields::default();
        let place = cursor.object(|cursor, key| {
            match &*key {
                "role" => fields.role.put(cursor.skip()?),
                "tool_call_id" => fields.tool_call_id.put(cursor.skip()?),
                // Ollama has a name of its own for it.
                "name" | "tool_name" => fields.name.put(cursor.skip()?),
                "content" => {
                    let content = self.content(cursor, self.has_blocks)?;
                    fields.content.put(content);
                }
                "caller" => fields.caller.put(cursor.skip()?),
                "tool_calls" => {
                    let calls = cursor.array(|cursor| self.chat_call(cursor))?;
                    fields.input.put(calls);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        if fields.any_repeated() {
            self.forget(before);
            return Some(fields.caller);
        }
        let is_result = self.has_messages && (self.is_plainly(&fields.role, "tool") || self.is_function(&fields.role));
        let own_blocks = self.layout.results.len() > before.0;
        match (is_result, own_blocks) {
            (false, true) => {}
            (false, false) => self.end_message(self.is(&fields.role, "user"), before.1),
            // Blocks of Messages inside a row of Chat Completions: neither API has this.
            (true, true) => self.forget(before),
            (true, false) => self.answer(fields.tool_call_id, fields.name, false, before.1, place),
        }
        Some(fields.caller)
    }

    /// Returns whether a role is `function`, spelled as [`Api::may_have_results`](crate::Api::may_have_results) searches for it.
    fn is_function(&mut self, role: &Slot) -> bool {
        if !self.has_functions || !self.is_plainly(role, "function") {
            return false;
        }
        let key = role.once().map_or(&b""[..], |span| &self.text[..span.start]);
        let is_spelled = key.ends_with(b"\"role\":") || key.ends_with(b"\"role\": ");
        if !is_spelled {
            self.ambiguous();
        }
        is_spelled
    }

    /// Reads a content: adds the text if it is a string, and the texts of its text parts if it is an array. Blocks of tools
    /// count only where `blocks` says so.
    pub(super) fn content(&mut self, cursor: &mut Cursor<'a>, blocks: bool) -> Option<Span> {
        if cursor.peek()? == b'"' {
            let span = cursor.skip()?;
            self.string(span.clone());
            return Some(span);
        }
        let start = self.layout.texts.len();
        let mut loose: Vec<Text> = Vec::new();
        let span = cursor.array(|cursor| {
            let (was, at) = self.found();
            self.block(cursor, blocks)?;
            if self.layout.results.len() == was {
                // Texts of the row itself: they follow the blocks' texts, so that a result's texts stay together.
                loose.extend(self.layout.texts.drain(at..));
            }
            Some(())
        })?;
        if self.layout.texts.len() == start {
            self.layout.texts.append(&mut loose);
        }
        Some(span)
    }

    /// Reads a part of a content: a text, a call or a result.
    fn block(&mut self, cursor: &mut Cursor<'a>, blocks: bool) -> Option<()> {
        let since = self.before();
        let caller = self.block_read(cursor, blocks)?;
        self.called_by(&caller, since);
        Some(())
    }

    /// Reads a part of a content; returns its caller.
    fn block_read(&mut self, cursor: &mut Cursor<'a>, blocks: bool) -> Option<Slot> {
        let before = self.found();
        let mut fields = Fields::default();
        let place = cursor.object(|cursor, key| {
            match &*key {
                "type" => fields.kind.put(cursor.skip()?),
                "text" => fields.text.put(cursor.skip()?),
                "id" if blocks => fields.id.put(cursor.skip()?),
                "tool_use_id" if blocks => fields.tool_use_id.put(cursor.skip()?),
                "name" if blocks => fields.name.put(cursor.skip()?),
                "input" if blocks => fields.input.put(cursor.skip()?),
                "caller" if blocks => fields.caller.put(cursor.skip()?),
                "citations" | "annotations" => fields.citations.put(cursor.skip()?),
                "is_error" if blocks => fields.is_error.put(cursor.skip()?),
                "content" if blocks => {
                    let content = self.content(cursor, false)?;
                    fields.content.put(content);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        if fields.any_repeated() {
            self.forget(before);
            return Some(fields.caller);
        }
        match () {
            () if blocks && self.is_plainly(&fields.kind, "tool_result") => {
                let is_error = fields.is_error.once().is_some_and(|is| &self.text[is.clone()] == b"true");
                self.answer(fields.tool_use_id, Slot::Missing, is_error, before.1, place);
            }
            () if blocks && self.is(&fields.kind, "tool_use") => {
                self.layout.texts.truncate(before.1);
                self.call(fields.id, fields.name, fields.input);
            }
            () => {
                self.layout.texts.truncate(before.1);
                let is_text = self.is(&fields.kind, "text") || self.is(&fields.kind, "input_text");
                if let Some(text) = fields.text.take().filter(|_| is_text) {
                    if self.has_citations(&fields.citations) {
                        self.layout.cited.insert(text.start);
                    }
                    self.string(text);
                }
            }
        }
        Some(fields.caller)
    }

    /// Returns whether a text has citations or annotations, which count its characters.
    fn has_citations(&self, citations: &Slot) -> bool {
        let Slot::Once(value) = citations else { return citations.is_repeated() };
        let value = &self.text[value.clone()];
        let is_empty = |open, close| value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        let inner = is_empty(b"[", b"]").or_else(|| is_empty(b"{", b"}"));
        value != b"null" && value != b"false" && !inner.is_some_and(|inner| inner.trim_ascii().is_empty())
    }

    /// Reads an element of `tool_calls`.
    fn chat_call(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let since = self.before();
        let [mut id, mut function, mut name, mut arguments, mut caller] = [const { Slot::Missing }; 5];
        cursor.object(|cursor, key| {
            match &*key {
                "id" => id.put(cursor.skip()?),
                "caller" => caller.put(cursor.skip()?),
                "function" | "custom" => {
                    let inner = cursor.object(|cursor, key| {
                        match &*key {
                            "name" => name.put(cursor.skip()?),
                            "caller" => caller.put(cursor.skip()?),
                            "arguments" | "input" => arguments.put(cursor.skip()?),
                            _ => {
                                cursor.skip()?;
                            }
                        }
                        Some(())
                    })?;
                    function.put(inner);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        if function.is_repeated() {
            self.ambiguous();
        } else {
            self.call(id, name, arguments);
        }
        self.called_by(&caller, since);
        Some(())
    }
}
