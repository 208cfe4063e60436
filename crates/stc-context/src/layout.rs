//! Where the tool results of a request are: ranges of their texts, found in one pass over a body that is strict JSON.
//!
//! ```text
//! {"messages":[{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"list","arguments":"{}"}}]},
//!                                                      ^^^^                    ^^^^^^              ^^^^  a call
//!              {"role":"tool","tool_call_id":"c1","content":"[{\"id\":1}]"}]}
//!                                            ^^^^           ^^^^^^^^^^^^^^^^                       a result and its text
//! ```
//!
//! A result whose place is ambiguous, because a key on the way to it is repeated, is not found: readers disagree on which
//! of two members counts.

use crate::Api;
use stc_wire::cursor::Cursor;
use stc_wire::span::{self, Span};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The calls and results of a request, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Layout<'a> {
    pub(crate) calls: Vec<Call>,
    pub(crate) results: Vec<Answer>,
    /// The texts of all results. Each is a JSON string with its quotes.
    pub(crate) texts: Vec<Span>,
    /// The value of `_stc`.
    pub(crate) stc: Slot,
    /// The value of `_forge`.
    pub(crate) forge: Slot,
    /// Whether there is a member `anthropic_version`.
    pub(crate) versioned: bool,
    /// The conversation.
    pub(crate) conversation: Slot,
    /// The latest call of each id, by the id as it is spelled.
    by_id: HashMap<&'a [u8], usize>,
}

/// A call of a tool, in the assistant's message.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) name: Option<Span>,
    pub(crate) arguments: Option<Span>,
}

/// A tool's result.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The id of the call, with its quotes.
    pub(crate) id: Option<Span>,
    /// The call, if it comes before the result in this request.
    pub(crate) call: Option<usize>,
    /// The tool's name, if the result has it.
    pub(crate) name: Option<Span>,
    /// Whether the result is marked as an error.
    pub(crate) is_error: bool,
    /// The result's texts, in [`Layout::texts`].
    pub(crate) texts: Range<usize>,
}

/// The value of a member that may be missing or repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Slot {
    #[default]
    Missing,
    Once(Span),
    Repeated,
}

impl Slot {
    fn put(&mut self, value: Span) {
        *self = match self {
            Self::Missing => Self::Once(value),
            Self::Once(_) | Self::Repeated => Self::Repeated,
        };
    }

    pub(crate) fn once(&self) -> Option<&Span> {
        match self {
            Self::Once(span) => Some(span),
            Self::Missing | Self::Repeated => None,
        }
    }

    fn take(self) -> Option<Span> {
        self.once().cloned()
    }

    fn is_repeated(&self) -> bool {
        *self == Self::Repeated
    }
}

/// The members of a message, an item or a block that matter here.
#[derive(Debug, Default)]
struct Fields {
    role: Slot,
    kind: Slot,
    id: Slot,
    call_id: Slot,
    tool_call_id: Slot,
    tool_use_id: Slot,
    name: Slot,
    arguments: Slot,
    input: Slot,
    is_error: Slot,
    content: Slot,
    output: Slot,
    function: Slot,
    /// The name and the arguments inside `function`.
    inner: Option<Box<Fields>>,
}

impl Fields {
    fn any_repeated(&self) -> bool {
        let slots = [
            &self.role,
            &self.kind,
            &self.id,
            &self.call_id,
            &self.tool_call_id,
            &self.tool_use_id,
            &self.name,
            &self.arguments,
            &self.input,
            &self.is_error,
            &self.content,
            &self.output,
            &self.function,
        ];
        slots.into_iter().any(Slot::is_repeated) || self.inner.as_ref().is_some_and(|inner| inner.any_repeated())
    }
}

impl<'a> Layout<'a> {
    /// Reads a body whose rows are of one of these APIs; `None` if it is not an object.
    pub(crate) fn read(apis: &[Api], body: &'a [u8]) -> Option<Self> {
        let mut layout = Self::default();
        let mut cursor = Cursor::new(body);
        if cursor.peek()? != b'{' {
            return None;
        }
        let [has_rows, has_blocks] = [Api::OpenAiChat, Api::Anthropic].map(|api| apis.contains(&api));
        let mut reader = Reader { text: body, has_rows, has_blocks, layout: &mut layout };
        cursor.object(|cursor, key| {
            // Options count only as they are searched for: a key with an escape is not recognised in every request.
            let is_plain = matches!(key, Cow::Borrowed(_));
            match &*key {
                "_stc" if is_plain => reader.layout.stc.put(cursor.skip()?),
                "_forge" if is_plain => reader.layout.forge.put(cursor.skip()?),
                "anthropic_version" => {
                    reader.layout.versioned = true;
                    cursor.skip()?;
                }
                key => match apis.iter().find(|api| api.conversation() == key) {
                    Some(Api::OpenAiResponses) => {
                        let span = cursor.array(|cursor| reader.item(cursor))?;
                        reader.layout.conversation.put(span);
                    }
                    Some(_) => {
                        let span = cursor.array(|cursor| reader.message(cursor))?;
                        reader.layout.conversation.put(span);
                    }
                    None => {
                        cursor.skip()?;
                    }
                },
            }
            Some(())
        })?;
        if layout.conversation.is_repeated() {
            layout.results.clear();
            layout.texts.clear();
        }
        layout.by_id = HashMap::new();
        Some(layout)
    }
}

impl Layout<'_> {
    /// Returns whether the request has members that may be options.
    pub(crate) fn has_options(&self) -> bool {
        self.stc != Slot::Missing || self.forge != Slot::Missing
    }
}

struct Reader<'l, 'a> {
    text: &'a [u8],
    /// Whether rows of Chat Completions count.
    has_rows: bool,
    /// Whether blocks of Messages count.
    has_blocks: bool,
    layout: &'l mut Layout<'a>,
}

impl<'a> Reader<'_, 'a> {
    fn is(&self, slot: &Slot, expected: &str) -> bool {
        slot.once().is_some_and(|span| span::is_string(self.text, span, expected))
    }

    /// Reads a message of Chat Completions or of Messages.
    fn message(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let before = (self.layout.results.len(), self.layout.texts.len());
        let mut fields = Fields::default();
        cursor.object(|cursor, key| {
            match &*key {
                "role" => fields.role.put(cursor.skip()?),
                "tool_call_id" => fields.tool_call_id.put(cursor.skip()?),
                "name" => fields.name.put(cursor.skip()?),
                "content" => {
                    let content = self.content(cursor, self.has_blocks)?;
                    fields.content.put(content);
                }
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
            return Some(());
        }
        let is_result = self.has_rows && (self.is(&fields.role, "tool") || self.is(&fields.role, "function"));
        let own_blocks = self.layout.results.len() > before.0;
        if !is_result {
            if !own_blocks {
                self.layout.texts.truncate(before.1);
            }
            return Some(());
        }
        if own_blocks {
            // Blocks of Messages inside a row of Chat Completions: neither API has this.
            self.forget(before);
            return Some(());
        }
        self.answer(fields.tool_call_id, fields.name, false, before.1);
        Some(())
    }

    /// Reads a content: adds the text if it is a string, and the texts of its text parts if it is an array. Blocks of tools
    /// count only where `blocks` says so.
    fn content(&mut self, cursor: &mut Cursor<'a>, blocks: bool) -> Option<Span> {
        match cursor.peek()? {
            b'"' => {
                let span = cursor.skip()?;
                self.layout.texts.push(span.clone());
                Some(span)
            }
            _ => {
                let start = self.layout.texts.len();
                let mut loose = Vec::new();
                let span = cursor.array(|cursor| {
                    let at = self.layout.texts.len();
                    let was = self.layout.results.len();
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
        }
    }

    /// Reads a part of a content: a text, a call or a result.
    fn block(&mut self, cursor: &mut Cursor<'a>, blocks: bool) -> Option<()> {
        let before = (self.layout.results.len(), self.layout.texts.len());
        let mut fields = Fields::default();
        let mut text = Slot::default();
        cursor.object(|cursor, key| {
            match &*key {
                "type" => fields.kind.put(cursor.skip()?),
                "text" => text.put(cursor.skip()?),
                "id" if blocks => fields.id.put(cursor.skip()?),
                "tool_use_id" if blocks => fields.tool_use_id.put(cursor.skip()?),
                "name" if blocks => fields.name.put(cursor.skip()?),
                "input" if blocks => fields.input.put(cursor.skip()?),
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
        if fields.any_repeated() || text.is_repeated() {
            self.forget(before);
            return Some(());
        }
        match () {
            () if blocks && self.is(&fields.kind, "tool_result") => {
                let is_error = fields.is_error.once().is_some_and(|is| &self.text[is.clone()] == b"true");
                self.answer(fields.tool_use_id, Slot::Missing, is_error, before.1);
            }
            () if blocks && self.is(&fields.kind, "tool_use") => {
                self.layout.texts.truncate(before.1);
                self.call(fields.id, fields.name, fields.input);
            }
            () => {
                self.layout.texts.truncate(before.1);
                let is_text = self.is(&fields.kind, "text") || self.is(&fields.kind, "input_text");
                let string = text.take().filter(|span| is_text && self.text[span.start] == b'"');
                self.layout.texts.extend(string);
            }
        }
        Some(())
    }

    /// Reads an element of `tool_calls`.
    fn chat_call(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let mut fields = Fields::default();
        cursor.object(|cursor, key| {
            match &*key {
                "id" => fields.id.put(cursor.skip()?),
                "function" | "custom" => {
                    let mut inner = Fields::default();
                    let function = cursor.object(|cursor, key| {
                        match &*key {
                            "name" => inner.name.put(cursor.skip()?),
                            "arguments" | "input" => inner.arguments.put(cursor.skip()?),
                            _ => {
                                cursor.skip()?;
                            }
                        }
                        Some(())
                    })?;
                    fields.function.put(function);
                    fields.inner = Some(Box::new(inner));
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        if !fields.any_repeated() {
            let inner = fields.inner.unwrap_or_default();
            self.call(fields.id, inner.name, inner.arguments);
        }
        Some(())
    }

    /// Reads an item of Responses.
    fn item(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let before = (self.layout.results.len(), self.layout.texts.len());
        let mut fields = Fields::default();
        cursor.object(|cursor, key| {
            match &*key {
                "type" => fields.kind.put(cursor.skip()?),
                "call_id" => fields.call_id.put(cursor.skip()?),
                "name" => fields.name.put(cursor.skip()?),
                "arguments" => fields.arguments.put(cursor.skip()?),
                "input" => fields.input.put(cursor.skip()?),
                "output" => {
                    let output = self.content(cursor, false)?;
                    fields.output.put(output);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        let any_of = |reader: &Self, kinds: [&str; 2]| kinds.iter().any(|kind| reader.is(&fields.kind, kind));
        match () {
            () if fields.any_repeated() => self.forget(before),
            () if any_of(self, ["function_call_output", "custom_tool_call_output"]) => {
                self.answer(fields.call_id, Slot::Missing, false, before.1);
            }
            () if any_of(self, ["function_call", "custom_tool_call"]) => {
                self.layout.texts.truncate(before.1);
                let arguments = if fields.arguments.once().is_some() { fields.arguments } else { fields.input };
                self.call(fields.call_id, fields.name, arguments);
            }
            () => self.layout.texts.truncate(before.1),
        }
        Some(())
    }

    fn call(&mut self, id: Slot, name: Slot, arguments: Slot) {
        let Some(id) = id.take() else { return };
        self.layout.by_id.insert(&self.text[id], self.layout.calls.len());
        self.layout.calls.push(Call { name: name.take(), arguments: arguments.take() });
    }

    fn answer(&mut self, id: Slot, name: Slot, is_error: bool, texts_from: usize) {
        let id = id.take().filter(|id| self.text[id.start] == b'"');
        let call = id.as_ref().and_then(|id| self.layout.by_id.get(&self.text[id.clone()]).copied());
        let texts = texts_from..self.layout.texts.len();
        self.layout.results.push(Answer { id, call, name: name.take(), is_error, texts });
    }

    /// Drops what was found since `before`. Calls stay: the ids of later results may mean them.
    fn forget(&mut self, (results, texts): (usize, usize)) {
        self.layout.results.truncate(results);
        self.layout.texts.truncate(texts);
    }
}

#[cfg(test)]
mod tests;
