//! Descriptions of tools without the blanks that say nothing.
//!
//! Only strings called `description` at places where a schema has its own are changed: those of a tool, and of the schemas inside
//! its parameters. A property that is called `description` is no such place:
//!
//! ```text
//! {"description": "A tool",                            changed
//!  "parameters": {"type": "object", "properties": {
//!    "description": {"type": "string",                 a property: its name stays
//!                    "description": "A  text"},        changed
//!    "mode": {"default": {"description": " x "}}}}}    a value, not a schema: stays
//! ```

use crate::Api;
use memchr::memmem;
use stc_wire::edit::Edits;
use stc_wire::span::{self, Member, Span};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Schemas that are nested deeper stay.
const DEEPEST: usize = 32;

/// Returns whether a body may have tools with descriptions.
pub(crate) fn may_have(body: &[u8]) -> bool {
    let named = |name: &str| memmem::find(body, name.as_bytes()).is_some();
    named("\"description\"") && (named("\"tools\"") || named("\"functions\""))
}

/// Returns the changes to the descriptions of a request's tools. The body must be JSON.
pub(crate) fn minified(api: Api, body: &[u8]) -> Edits {
    let mut reader = Reader { body, edits: Edits::default() };
    let Some(document) = span::document(body) else { return reader.edits };
    let member = |object: &Span, key| plain_member(body, object, key).map(|member| member.value);
    let tools: Vec<Span> = match api {
        Api::Bedrock => {
            member(&document, "toolConfig").and_then(|config| member(&config, "tools")).into_iter().collect()
        }
        Api::Gemini => {
            let inner = member(&document, "generateContentRequest");
            inner.iter().chain([&document]).filter_map(|request| member(request, "tools")).collect()
        }
        Api::OpenAiChat => ["tools", "functions"].iter().filter_map(|key| member(&document, key)).collect(),
        Api::OpenAiResponses | Api::Anthropic | Api::Ollama => member(&document, "tools").into_iter().collect(),
    };
    for tool in tools.into_iter().flat_map(|tools| span::elements(body, tools)) {
        match api {
            // The old form has no object around a function.
            Api::OpenAiChat | Api::Ollama => reader.tool(&member(&tool, "function").unwrap_or(tool), &["parameters"]),
            Api::OpenAiResponses => reader.tool(&tool, &["parameters"]),
            Api::Anthropic => reader.tool(&tool, &["input_schema"]),
            Api::Gemini => {
                let both = ["functionDeclarations", "function_declarations"];
                let lists = both.iter().filter_map(|key| member(&tool, key));
                for function in lists.flat_map(|list| span::elements(body, list)) {
                    reader.tool(&function, &GEMINI);
                }
            }
            Api::Bedrock => {
                let Some(tool) = member(&tool, "toolSpec") else { continue };
                reader.tool(&tool, &[]);
                let schema = member(&tool, "inputSchema").and_then(|schema| member(&schema, "json"));
                schema.into_iter().for_each(|schema| reader.schema(&schema));
            }
        }
    }
    reader.edits
}

/// Returns a member whose key occurs once and is spelled without escapes, as [`may_have`] searches for it: what is recognised in a
/// request must not depend on what else is in it.
fn plain_member(body: &[u8], object: &Span, key: &str) -> Option<Member> {
    let member = span::member(body, object.clone(), key)?;
    (member.key.len() == key.len() + 2).then_some(member)
}

/// The schemas of a function of Gemini, in both spellings of its API.
const GEMINI: [&str; 7] = [
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
    "response",
    "responseJsonSchema",
    "response_json_schema",
    "responseSchema",
];

/// What a member of a schema holds.
enum Holds {
    /// A schema, or a list of schemas.
    Schemas,
    /// An object whose values are schemas; its keys are names.
    Named,
}

impl Holds {
    fn of(key: &str) -> Option<Self> {
        match key {
            "items"
            | "prefixItems"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "anyOf"
            | "any_of"
            | "oneOf"
            | "allOf"
            | "not"
            | "if"
            | "then"
            | "else" => Some(Self::Schemas),
            "properties" | "patternProperties" | "$defs" | "defs" | "definitions" | "dependentSchemas" => {
                Some(Self::Named)
            }
            _ => None,
        }
    }
}

struct Reader<'a> {
    body: &'a [u8],
    edits: Edits,
}

impl Reader<'_> {
    /// Changes the description of a tool, and those in the schemas of these members.
    fn tool(&mut self, tool: &Span, schemas: &[&str]) {
        self.description(tool);
        for key in schemas {
            if let Some(schema) = plain_member(self.body, tool, key) {
                self.schema(&schema.value);
            }
        }
    }

    /// Changes the descriptions of a schema and of those inside it.
    fn schema(&mut self, schema: &Span) {
        let mut waiting = vec![(schema.clone(), 0)];
        while let Some((schema, depth)) = waiting.pop() {
            self.description(&schema);
            if depth == DEEPEST {
                continue;
            }
            let mut kept: BTreeMap<Cow<'_, str>, Option<(Holds, Member)>> = BTreeMap::new();
            for member in span::members(self.body, schema.clone()) {
                let Some(key) = span::string(self.body, &member.key) else { continue };
                let Some(holds) = Holds::of(&key) else { continue };
                match kept.entry(key) {
                    Entry::Vacant(place) => drop(place.insert(Some((holds, member)))),
                    // Readers disagree on which of two members counts.
                    Entry::Occupied(mut place) => drop(place.insert(None)),
                }
            }
            for (holds, member) in kept.into_values().flatten() {
                let inner: Vec<Span> = match (holds, self.body[member.value.start]) {
                    (Holds::Schemas, b'[') => span::elements(self.body, member.value.clone()).collect(),
                    (Holds::Schemas, _) => vec![member.value.clone()],
                    (Holds::Named, _) => {
                        span::members(self.body, member.value.clone()).map(|named| named.value).collect()
                    }
                };
                waiting.extend(inner.into_iter().map(|schema| (schema, depth + 1)));
            }
        }
    }

    /// Changes the description of an object, or removes it if it is empty.
    fn description(&mut self, object: &Span) {
        let Some(member) = plain_member(self.body, object, "description") else { return };
        let Some(text) = span::string(self.body, &member.value) else { return };
        if text.chars().all(char::is_whitespace) {
            self.edits.remove_member(self.body, object, "description");
            return;
        }
        let Some(shorter) = shorter(&text) else { return };
        let mut written = Vec::with_capacity(shorter.len() + 2);
        span::quote_into(&shorter, &mut written);
        if written.len() < member.value.len() {
            self.edits.replace(member.value, written);
        }
    }
}

/// Returns a description without blanks at the ends of lines, with at most one empty line in a row, and outside of fenced code
/// with one blank between words; `None` if it is so already.
fn shorter(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut fence = None;
    let mut empty = 0;
    for (number, line) in text.split('\n').enumerate() {
        let inside = fence.is_some();
        let start = line.trim_start();
        match fence {
            None => fence = ["```", "~~~"].into_iter().find(|fence| start.starts_with(fence)),
            Some(closing) if start.starts_with(closing) => fence = None,
            Some(_) => {}
        }
        let line = if inside && fence.is_some() { line } else { line.trim_end_matches([' ', '\t', '\r']) };
        empty = if line.is_empty() && !inside { empty + 1 } else { 0 };
        if empty > 1 {
            continue;
        }
        if number > 0 {
            out.push('\n');
        }
        if inside || fence.is_some() {
            out.push_str(line);
            continue;
        }
        let mut blank = false;
        for c in line.chars() {
            let is_blank = matches!(c, ' ' | '\t');
            if !(is_blank && blank) {
                out.push(c);
            }
            blank = is_blank;
        }
    }
    (out != text).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_that_say_nothing_go() {
        for (text, expected) in [
            ("A  tool\t\tfor   x.  ", "A tool\tfor x."),
            ("a \n\n\n\nb\r\nc", "a\n\nb\nc"),
            ("a\n```\n  x  =  1  \n\n\n```  \nb  c", "a\n```\n  x  =  1  \n\n\n```\nb c"),
            ("~~~\na  b", "~~~\na  b"),
            ("- a\n    - b", "- a\n - b"),
            ("\n\n\na", "\na"),
        ] {
            let shorter = shorter(text).unwrap_or_else(|| text.to_owned());
            assert_eq!(shorter, expected, "{text:?}");
        }
        assert_eq!(shorter("A tool.\n\nWith two lines."), None);
    }

    /// What was made shorter stays.
    #[test]
    fn descriptions_are_made_shorter_once() {
        let parts = ["a", " ", "  ", "\n", "\n\n", "\t", "\r\n", "```", "~~~", "```py\n", "é", "- "];
        let mut seed = 5_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(parts[(seed >> 33) as usize % parts.len()]);
            }
            if let Some(once) = shorter(&text) {
                assert!(once.len() < text.len(), "{text:?}");
                assert_eq!(shorter(&once), None, "{text:?} {once:?}");
            }
        }
    }
}
