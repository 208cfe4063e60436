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
//! of two members counts. That there was one is noted, for requests of which all must be looked through. The shapes of the APIs
//! are in files of their own; here is what they share.

mod bedrock;
mod callers;
mod gemini;
mod labels;
mod messages;
mod responses;

use crate::Api;
use crate::text::Text;
use labels::{Programs, label};
use stc_wire::cursor::Cursor;
use stc_wire::span::{self, Span};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

/// The calls and results of a request, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    pub(crate) calls: Vec<Call>,
    pub(crate) results: Vec<Answer>,
    /// The texts of all results.
    pub(crate) texts: Vec<Text>,
    /// Values in results that are no texts, and may have secrets.
    pub(crate) values: Vec<Span>,
    /// Where the texts begin whose citations count their characters.
    pub(crate) cited: HashSet<usize>,
    /// Whether there may be calls or results that were not found.
    pub(crate) is_ambiguous: bool,
    /// How many results there are before the first place that is ambiguous.
    pub(crate) ambiguous_from: Option<usize>,
    /// The tools that only programs may call.
    pub(crate) program_tools: HashSet<String>,
    /// Whether programs may call any tool.
    pub(crate) has_programs: bool,
    /// The value of `_stc`.
    pub(crate) stc: Slot,
    /// The value of `_forge`.
    pub(crate) forge: Slot,
    /// Whether there is a member `anthropic_version`.
    pub(crate) versioned: bool,
    /// The value of `model`.
    pub(crate) model: Slot,
    /// The conversation.
    pub(crate) conversation: Slot,
    /// The values of members that may name a session: `prompt_cache_key`, `metadata` and `conversation`.
    pub(crate) prompt_cache_key: Slot,
    pub(crate) metadata: Slot,
    pub(crate) thread: Slot,
}

/// What counts as a result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Messages of the user that are one text: [`Settings::user_text`](crate::Settings::user_text).
    pub(crate) user_text: bool,
    /// Whole responses of Gemini: [`Settings::gemini_wrap`](crate::Settings::gemini_wrap).
    pub(crate) gemini_wrap: bool,
}

/// A call of a tool, in the assistant's message.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) id: Option<Span>,
    pub(crate) name: Option<Span>,
    pub(crate) arguments: Option<Span>,
}

/// A tool's result, or a message of the user.
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
    /// Whether this is a message of the user.
    pub(crate) is_user: bool,
    /// Whether a program called the tool, and reads the result.
    pub(crate) is_for_program: bool,
    /// The block, item or message that is the result.
    pub(crate) place: Span,
    /// The result's texts, in [`Layout::texts`].
    pub(crate) texts: Range<usize>,
    /// The result's values that are no texts, in [`Layout::values`].
    pub(crate) values: Range<usize>,
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

impl Layout {
    /// Reads a body whose messages are of one of these APIs; `None` if it is not an object.
    pub(crate) fn read(apis: &[Api], counted: Counted, body: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(body);
        if cursor.peek()? != b'{' {
            return None;
        }
        let has = |api| apis.contains(&api);
        let mut reader = Reader {
            text: body,
            counted,
            has_messages: has(Api::OpenAiChat) || has(Api::Ollama),
            has_functions: has(Api::OpenAiChat),
            has_blocks: has(Api::Anthropic),
            layout: Self::default(),
            by_id: HashMap::new(),
            by_name: HashMap::new(),
            programs: Programs::default(),
            ambiguities: 0,
            values_from: 0,
        };
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
                "model" => reader.layout.model.put(cursor.skip()?),
                "prompt_cache_key" => reader.layout.prompt_cache_key.put(cursor.skip()?),
                "metadata" => reader.layout.metadata.put(cursor.skip()?),
                "conversation" => reader.layout.thread.put(cursor.skip()?),
                "tools" | "functions" => reader.tools(cursor)?,
                "toolConfig" | "tool_config" => reader.tool_config(cursor)?,
                "generateContentRequest" if has(Api::Gemini) => reader.nested(cursor)?,
                key => match apis.iter().find(|api| api.conversation() == key) {
                    Some(api) => reader.messages(cursor, *api)?,
                    None => {
                        cursor.skip()?;
                    }
                },
            }
            Some(())
        })?;
        let mut layout = reader.layout;
        if layout.conversation.is_repeated() {
            layout.is_ambiguous = true;
            layout.results.clear();
            layout.texts.clear();
        }
        Some(layout)
    }

    /// Returns whether the request has members that may be options.
    pub(crate) fn has_options(&self) -> bool {
        self.stc != Slot::Missing || self.forge != Slot::Missing
    }
}

struct Reader<'a> {
    text: &'a [u8],
    counted: Counted,
    /// Whether messages as Chat Completions and Ollama have them are read as results.
    has_messages: bool,
    /// Whether messages with the role `function` are read as results.
    has_functions: bool,
    /// Whether blocks of tools are read, as Anthropic's Messages have them.
    has_blocks: bool,
    layout: Layout,
    /// The latest call of each id.
    by_id: HashMap<Cow<'a, [u8]>, usize>,
    /// The calls without an id that no result was found for, by the name.
    by_name: HashMap<Cow<'a, [u8]>, VecDeque<usize>>,
    programs: Programs<'a>,
    /// How often a call or result was ambiguous.
    ambiguities: usize,
    /// The values that belong to no result so far.
    values_from: usize,
}

impl<'a> Reader<'a> {
    /// Reads the messages of the conversation.
    fn messages(&mut self, cursor: &mut Cursor<'a>, api: Api) -> Option<()> {
        let span = cursor.array(|cursor| match api {
            Api::OpenAiChat | Api::Anthropic | Api::Ollama => self.message(cursor),
            Api::OpenAiResponses => self.item(cursor),
            Api::Gemini => self.content_of_parts(cursor),
            Api::Bedrock => self.turn(cursor),
        })?;
        self.layout.conversation.put(span);
        Some(())
    }

    fn is(&self, slot: &Slot, expected: &str) -> bool {
        slot.once().is_some_and(|span| span::is_string(self.text, span, expected))
    }

    /// Returns whether a value is this string without escapes, as [`Api::may_have_results`] searches for it: what is recognised
    /// in a request must not depend on what else is in it.
    fn is_plainly(&mut self, slot: &Slot, expected: &str) -> bool {
        let inner = slot.once().and_then(|span| self.text[span.clone()].strip_prefix(b"\"")?.strip_suffix(b"\""));
        let is_plain = inner == Some(expected.as_bytes());
        let is_escaped = inner.is_some_and(|inner| inner.contains(&b'\\'));
        if is_escaped && self.is(slot, expected) {
            self.ambiguous();
        }
        is_plain
    }

    /// Returns how much was found so far: results and texts.
    fn found(&self) -> (usize, usize) {
        (self.layout.results.len(), self.layout.texts.len())
    }

    /// Adds a string as a text; any other value is none.
    fn string(&mut self, value: Span) {
        if self.text[value.start] == b'"' {
            self.layout.texts.push(Text::string(value));
        }
    }

    fn call(&mut self, id: Slot, name: Slot, arguments: Slot) {
        if [&id, &name, &arguments].into_iter().any(Slot::is_repeated) {
            self.ambiguous();
            return;
        }
        let number = self.layout.calls.len();
        let (id, name) = (id.take(), name.take());
        match (&id, &name) {
            (Some(id), _) => {
                self.by_id.insert(label(self.text, id), number);
            }
            (None, Some(name)) => self.by_name.entry(label(self.text, name)).or_default().push_back(number),
            (None, None) => {}
        }
        self.layout.calls.push(Call { id, name, arguments: arguments.take() });
    }

    fn answer(&mut self, id: Slot, name: Slot, is_error: bool, texts_from: usize, place: Span) {
        let id = id.take().filter(|id| self.text[id.start] == b'"');
        let name = name.take();
        let call = match (&id, &name) {
            (Some(id), _) => self.by_id.get(&label(self.text, id)).copied(),
            // Results without an id answer the calls of their tool in order.
            (None, Some(name)) => self.by_name.get_mut(&label(self.text, name)).and_then(VecDeque::pop_front),
            (None, None) => None,
        };
        let is_for_program = self.answers_program(id.as_ref(), name.as_ref());
        let texts = texts_from..self.layout.texts.len();
        let values = self.values_from..self.layout.values.len();
        self.values_from = values.end;
        let is_user = false;
        self.layout.results.push(Answer { id, call, name, is_error, is_user, is_for_program, place, texts, values });
    }

    /// Ends a message that has no result: its only text counts if it is the user's and such texts do.
    fn end_message(&mut self, is_user: bool, texts_from: usize) {
        let texts = texts_from..self.layout.texts.len();
        if is_user && self.counted.user_text && texts.len() == 1 {
            let (id, call, name) = (None, None, None);
            let (is_error, is_user, is_for_program) = (false, true, false);
            let (place, values) = (0..0, 0..0);
            self.layout.results.push(Answer {
                id,
                call,
                name,
                is_error,
                is_user,
                is_for_program,
                place,
                texts,
                values,
            });
        } else {
            self.layout.texts.truncate(texts_from);
        }
    }

    /// Notes that there may be calls or results here that were not found.
    fn ambiguous(&mut self) {
        let found = self.layout.results.len();
        self.layout.is_ambiguous = true;
        self.layout.ambiguous_from = Some(self.layout.ambiguous_from.map_or(found, |before| before.min(found)));
        self.ambiguities += 1;
    }

    /// Drops what was found since `before`, because it is ambiguous. Calls stay: the ids of later results may mean them.
    fn forget(&mut self, (results, texts): (usize, usize)) {
        self.values_from = self.layout.values.len();
        self.layout.results.truncate(results);
        self.layout.texts.truncate(texts);
        self.ambiguous();
    }
}

#[cfg(test)]
mod tests;
