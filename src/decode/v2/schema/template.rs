//! A template in the reading: its text goes to the schema as it comes, and its placeholders are noted.

use super::{Kind, NONE, Placeholder, Schema};
use crate::error::{Error, ErrorKind, Expected};
use crate::format::{continues_bare, starts_bare};
use crate::json::lexer::Sink;
use crate::options::Limits;

/// Where in a template the reading is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TemplateReader {
    /// Where its text and its placeholders begin in the schema.
    start: usize,
    placeholders: usize,
    part: TemplatePart,
    /// The `$` of the placeholder being read, in the text and in the input.
    dollar: usize,
    dollar_offset: u64,
    opened: bool,
    escaped: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum TemplatePart {
    #[default]
    Literal,
    /// Behind a `$`.
    Dollar,
    /// Behind `${`.
    Open,
    Name,
}

impl TemplateReader {
    /// A template begins.
    pub(crate) fn new(schema: &Schema) -> Self {
        Self { start: schema.text.len(), placeholders: schema.placeholders.len(), ..Self::default() }
    }
}

impl Schema {
    /// Where the bytes of a template go, quotes and all. `reader` is kept between calls.
    pub(crate) fn template_sink<'a>(
        &'a mut self,
        reader: &'a mut TemplateReader,
        limits: &'a Limits,
    ) -> impl Sink + 'a {
        TemplateSink { schema: self, reader, limit: limits.header }
    }

    /// The last column is a template.
    pub(crate) fn end_template(&mut self, reader: &TemplateReader) {
        let text = reader.start..self.text.len();
        let placeholders = reader.placeholders..self.placeholders.len();
        self.last().kind = Kind::Template { text, placeholders };
    }
}

struct TemplateSink<'a> {
    schema: &'a mut Schema,
    reader: &'a mut TemplateReader,
    limit: usize,
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
        let Self { schema, reader, limit } = self;
        let wrong = |expected| Err(Error::new(ErrorKind::Syntax(expected), at));
        if schema.length == *limit {
            return Err(Error::new(ErrorKind::Header, at));
        }
        schema.length += 1;
        let here = schema.text.len();
        schema.text.push(byte);
        let escaped = std::mem::replace(&mut reader.escaped, false);
        reader.part = match (reader.part, byte) {
            (TemplatePart::Literal, b'\\') if !escaped => {
                reader.escaped = true;
                TemplatePart::Literal
            }
            (TemplatePart::Literal | TemplatePart::Dollar, b'"') if !escaped => {
                // The first is the opening one.
                if std::mem::replace(&mut reader.opened, true) && schema.placeholders.len() == reader.placeholders {
                    return wrong(Expected::Placeholder);
                }
                TemplatePart::Literal
            }
            (TemplatePart::Literal | TemplatePart::Dollar, b'$') if !escaped => {
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
            (TemplatePart::Name, _) if continues_bare(byte) => TemplatePart::Name,
            (TemplatePart::Name, b'}') => {
                let (start, offset) = (reader.dollar, reader.dollar_offset);
                schema.placeholders.push(Placeholder { start, end: here + 1, offset, column: NONE });
                TemplatePart::Literal
            }
            (TemplatePart::Open, _) => return wrong(Expected::BareKey),
            (TemplatePart::Name, _) => return wrong(Expected::PlaceholderClose),
        };
        Ok(())
    }
}
