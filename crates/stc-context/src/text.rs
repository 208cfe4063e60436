//! One text of a tool result: where it is, and what may replace it.

use stc_wire::span::{self, Span};
use std::borrow::Cow;

/// A text of a tool result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    /// The value that is the text: a string, or in other forms an array or object.
    pub(crate) value: Span,
    pub(crate) form: Form,
}

/// How the request spells a text, and how a new text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A string, which becomes another.
    String,
    /// `"json": value` in a block of Bedrock, which becomes `"text": "..."`. The key starts here.
    Json { key: usize },
    /// A response of Gemini, which becomes `{"output": "..."}`.
    Response,
}

impl Text {
    pub(crate) const fn string(value: Span) -> Self {
        Self { value, form: Form::String }
    }

    /// Returns the range that a new text replaces.
    pub(crate) const fn place(&self) -> Span {
        match self.form {
            Form::String | Form::Response => self.value.start..self.value.end,
            Form::Json { key } => key..self.value.end,
        }
    }

    /// Returns what is written before and after the string of a new text.
    pub(crate) const fn around(&self) -> (&'static str, &'static str) {
        match self.form {
            Form::String => ("", ""),
            Form::Json { .. } => ("\"text\":", ""),
            Form::Response => ("{\"output\":", "}"),
        }
    }

    /// Returns the text with its whitespace, if it is a string; a JSON value has the text that it has when minified. `None` if
    /// it is not Unicode.
    pub(crate) fn read<'a>(&self, body: &'a [u8], buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        match self.form {
            Form::String => span::string_in(body, &self.value, buffer),
            Form::Json { .. } | Form::Response => {
                buffer.clear();
                buffer.extend(stc::minify(body.get(self.value.clone())?).ok()?);
                std::str::from_utf8(buffer).ok()
            }
        }
    }
}

/// Returns the text at a range of [`Item::text`](crate::Item::text) or [`texts`](crate::texts): the string without its escapes, or a
/// JSON value as it is. `None` if it is not Unicode.
#[must_use]
pub fn text<'a>(body: &'a [u8], range: &Span) -> Option<Cow<'a, str>> {
    match body.get(range.start)? {
        b'"' => span::string(body, range),
        _ => std::str::from_utf8(body.get(range.clone())?).ok().map(Cow::Borrowed),
    }
}
