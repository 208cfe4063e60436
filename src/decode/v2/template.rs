//! Templates in a header (grammar/STC.md, section 17.5).
//!
//! The text of a template goes to the schema byte by byte, and its placeholders are noted on the way: in `"a ${id}!"` the one
//! from `$` to `}`. The reader is a value that is kept between chunks.
//!
//! A placeholder without a name, `${}`, is the column's own: its column keeps its cell, and a word in it is filled in as it is
//! read (section 17.11, `bare_strings.rs`).
//!
//! The columns that placeholders name are found when their list closes (`schema.rs`); rows are filled when they end (section 17.6,
//! `table_steps.rs` and [`Output::fill`](crate::decode::output::Output::fill)).

use crate::decode::v2::columns::{ColumnKind, Filling, NONE, Placeholder, TemplateText};
use crate::decode::v2::schema::Schema;
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{PLACEHOLDER_CLOSE, PLACEHOLDER_SIGN, continues_bare, starts_bare};
use crate::json::lexer::Sink;
use crate::options::Limits;

/// A template that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TemplateReader {
    /// Where its text begins in the schema's.
    start: usize,
    /// How many placeholders the schema had before it.
    placeholders: usize,
    part: TemplatePart,
    /// The last `$` that may begin a placeholder: its place in the text, and its offset in the document.
    dollar: usize,
    dollar_offset: u64,
    /// The place of its own placeholder `${}` in the text (STC.md, 17.11), and how many placeholders the schema had before it.
    own: Option<OwnPlaceholder>,
    /// Whether it must have one.
    optional: bool,
    /// Whether the opening quote has been read.
    opened: bool,
    /// Whether the byte before was a backslash that escapes this one.
    escaped: bool,
}

/// The placeholder that is filled from the column's own cell.
#[derive(Clone, Copy, Debug)]
struct OwnPlaceholder {
    start: usize,
    end: usize,
    placeholders: usize,
}

/// The part of a template that the next byte belongs to.
#[derive(Clone, Copy, Debug, Default)]
enum TemplatePart {
    /// Text between placeholders.
    #[default]
    Literal,
    /// After a `$`.
    Dollar,
    /// After `${`.
    Open,
    /// The name of a placeholder, after its first byte.
    Name,
}

impl TemplateReader {
    /// Begins a template at the end of the schema's text.
    pub(crate) fn new(schema: &mut Schema) -> Self {
        let optional = schema.last().kind == ColumnKind::Optional;
        Self { start: schema.text.len(), placeholders: schema.placeholder_count(), optional, ..Self::default() }
    }

    /// Returns the sink for the template's bytes, with its quotes.
    pub(crate) fn sink<'a>(&'a mut self, schema: &'a mut Schema, limits: &'a Limits) -> impl Sink + 'a {
        TemplateSink { reader: self, schema, limits }
    }

    /// Makes the schema's last column this template, or one that is filled into it.
    pub(crate) fn end(&self, schema: &mut Schema) {
        let (to, end) = (schema.text.len(), schema.placeholder_count());
        let whole = TemplateText { from: self.start, to, first: self.placeholders, end };
        match self.own {
            None => schema.last().kind = ColumnKind::Template(whole),
            Some(own) => schema.set_filling(Filling {
                before: TemplateText { to: own.start, end: own.placeholders, ..whole },
                after: TemplateText { from: own.end, first: own.placeholders, ..whole },
            }),
        }
    }
}

struct TemplateSink<'a> {
    reader: &'a mut TemplateReader,
    schema: &'a mut Schema,
    limits: &'a Limits,
}

impl Sink for TemplateSink<'_> {
    fn copy(&mut self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        for (&byte, at) in bytes.iter().zip(offset..) {
            self.byte(byte, at)?;
        }
        Ok(())
    }
}

impl TemplateSink<'_> {
    fn byte(&mut self, byte: u8, at: u64) -> Result<(), Error> {
        let Self { reader, schema, limits } = self;
        let wrong = |expected| Err(Error::new(ErrorKind::Syntax(expected), at));
        schema.push_text(&[byte], at, limits)?;
        let here = schema.text.len() - 1;
        let escaped = std::mem::replace(&mut reader.escaped, false);
        reader.part = match (reader.part, byte) {
            (TemplatePart::Literal, b'\\') if !escaped => {
                reader.escaped = true;
                TemplatePart::Literal
            }
            (TemplatePart::Literal | TemplatePart::Dollar, b'"') if !escaped => {
                let closes = std::mem::replace(&mut reader.opened, true);
                let named = schema.placeholder_count() > reader.placeholders && !reader.optional;
                if closes && !named && reader.own.is_none() {
                    return wrong(Expected::Placeholder);
                }
                TemplatePart::Literal
            }
            (TemplatePart::Literal | TemplatePart::Dollar, PLACEHOLDER_SIGN) if !escaped => {
                (reader.dollar, reader.dollar_offset) = (here, at);
                TemplatePart::Dollar
            }
            (TemplatePart::Dollar, b'{') => TemplatePart::Open,
            (TemplatePart::Dollar, b'\\') => {
                reader.escaped = true;
                TemplatePart::Literal
            }
            (TemplatePart::Literal | TemplatePart::Dollar, _) => TemplatePart::Literal,
            (TemplatePart::Open, _) if starts_bare(byte) => TemplatePart::Name,
            (TemplatePart::Open, PLACEHOLDER_CLOSE) if reader.own.is_none() => {
                let placeholders = schema.placeholder_count();
                reader.own = Some(OwnPlaceholder { start: reader.dollar, end: here + 1, placeholders });
                TemplatePart::Literal
            }
            (TemplatePart::Name, _) if continues_bare(byte) => TemplatePart::Name,
            (TemplatePart::Name, PLACEHOLDER_CLOSE) => {
                let (start, offset) = (reader.dollar, reader.dollar_offset);
                schema.add_placeholder(Placeholder { start, end: here + 1, offset, column: NONE });
                TemplatePart::Literal
            }
            (TemplatePart::Open, _) => return wrong(Expected::BareKey),
            (TemplatePart::Name, _) => return wrong(Expected::PlaceholderClose),
        };
        Ok(())
    }
}
