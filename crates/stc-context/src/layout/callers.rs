//! Who reads a result: the model, or a program that called the tool.
//!
//! ```text
//! {"type":"tool_use","id":"t1","name":"query","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s1"}}   a program
//! {"type":"function_call","call_id":"c1","name":"query","arguments":"{}","caller":{"type":"program","caller_id":"p"}}  a program
//! {"name":"query","input_schema":{},"allowed_callers":["code_execution_20250825"]}                          only programs
//! ```
//!
//! A program parses what it gets, so a result that it reads stays as it came. A caller that is anything but
//! `{"type":"direct"}`, missing or `null` counts as a program: leaving a result costs tokens, changing it costs the answer.

use super::labels::{Programs, label};
use super::{Reader, Slot};
use memchr::memmem;
use stc_wire::caller::{self, DIRECT};
use stc_wire::cursor::Cursor;
use stc_wire::span::{self, Span};
use std::borrow::Cow;
use std::collections::HashSet;

/// How deep definitions of tools are looked for in one another.
const DEEPEST_DEFINITION: usize = 4;

/// What was read before a call or result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    calls: usize,
    results: usize,
    ambiguities: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn before(&self) -> Before {
        let (calls, results) = (self.layout.calls.len(), self.layout.results.len());
        Before { calls, results, ambiguities: self.ambiguities }
    }

    /// Notes the caller of the calls and results that were read since.
    pub(super) fn called_by(&mut self, caller: &Slot, since: Before) {
        if !self.is_program(caller) {
            return;
        }
        self.programs.is_hidden |= self.ambiguities > since.ambiguities;
        for call in self.layout.calls.iter().skip(since.calls) {
            self.programs.ids.extend(call.id.as_ref().map(|id| label(self.text, id)));
            self.programs.names.extend(call.name.as_ref().map(|name| label(self.text, name)));
        }
        self.layout.results.iter_mut().skip(since.results).for_each(|answer| answer.is_for_program = true);
    }

    /// Returns whether a result answers the call of a program. One whose id no call has may answer any call of its tool, or of any tool if
    /// it names none; so may one without an id.
    pub(super) fn answers_program(&self, id: Option<&Span>, name: Option<&Span>) -> bool {
        let Programs { ids, names, is_hidden } = &self.programs;
        let has =
            |set: &HashSet<Cow<'a, [u8]>>, value: &Span| !set.is_empty() && set.contains(&label(self.text, value));
        match (id, name) {
            _ if *is_hidden => true,
            (Some(id), _) if has(ids, id) => true,
            (Some(id), _) if ids.is_empty() && names.is_empty() || self.by_id.contains_key(&label(self.text, id)) => {
                false
            }
            (Some(_), Some(name)) => has(names, name),
            (Some(_), None) => true,
            (None, Some(name)) => has(names, name),
            (None, None) => !names.is_empty() || !ids.is_empty(),
        }
    }

    fn is_program(&self, caller: &Slot) -> bool {
        match caller {
            Slot::Missing => false,
            Slot::Once(value) => caller::is_program(self.text, value),
            Slot::Repeated => true,
        }
    }

    /// Reads the list of tools.
    pub(super) fn tools(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        let list = cursor.skip()?;
        let list = &self.text[list];
        // A search costs less than a look at each tool. A key may be spelled with escapes.
        if memmem::find(list, b"allowed_callers").is_some() || memmem::find(list, b"\\u00").is_some() {
            let mut tools = Tools { text: list, only: &mut self.layout.program_tools, any: false };
            tools.list(&mut Cursor::new(list), 0);
            self.layout.has_programs |= tools.any;
        }
        Some(())
    }

    /// Reads the configuration of tools of Bedrock.
    pub(super) fn tool_config(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        cursor.object(|cursor, key| match &*key {
            "tools" => self.tools(cursor),
            _ => cursor.skip().map(drop),
        })?;
        Some(())
    }
}

/// The definitions of tools.
struct Tools<'a, 'b> {
    text: &'a [u8],
    /// The tools that only programs may call.
    only: &'b mut HashSet<String>,
    /// Whether programs may call any tool.
    any: bool,
}

/// What is known of a definition.
#[derive(Default)]
struct Definition<'a> {
    /// The names of the tool, or of those inside.
    names: Vec<Cow<'a, str>>,
    has_callers: bool,
    /// Whether the model may call it.
    is_direct: bool,
    /// Whether a program may.
    is_programs: bool,
}

impl<'a> Tools<'a, '_> {
    /// Reads a list of definitions; returns their names.
    fn list(&mut self, cursor: &mut Cursor<'a>, depth: usize) -> Option<Vec<Cow<'a, str>>> {
        let mut names = Vec::new();
        cursor.array(|cursor| {
            let mut tool = Definition::default();
            self.definition(cursor, depth, &mut tool)?;
            if tool.has_callers {
                self.any |= tool.is_programs || !tool.is_direct;
                if !tool.is_direct {
                    self.only.extend(tool.names.iter().map(|name| name.clone().into_owned()));
                }
            }
            names.append(&mut tool.names);
            Some(())
        })?;
        Some(names)
    }

    fn definition(&mut self, cursor: &mut Cursor<'a>, depth: usize, tool: &mut Definition<'a>) -> Option<()> {
        cursor.object(|cursor, key| {
            match &*key {
                "name" => tool.names.extend(span::string(self.text, &cursor.skip()?)),
                "allowed_callers" => {
                    let value = cursor.skip()?;
                    tool.callers(self.text, value);
                }
                "function" | "custom" | "toolSpec" | "tool_spec" if depth < DEEPEST_DEFINITION => {
                    self.definition(cursor, depth + 1, tool)?;
                }
                "tools" | "functionDeclarations" | "function_declarations" if depth < DEEPEST_DEFINITION => {
                    let names = self.list(cursor, depth + 1)?;
                    tool.names.extend(names);
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Some(())
        })?;
        Some(())
    }
}

impl Definition<'_> {
    /// Notes who may call the tool. Of two lists, the model is only in what both have.
    fn callers(&mut self, text: &[u8], value: Span) {
        if &text[value.clone()] == b"null" {
            return;
        }
        let is_list = text[value.start] == b'[';
        let elements = || span::elements(text, value.clone()).filter(|_| is_list);
        let is_direct = elements().any(|caller| span::is_string(text, &caller, DIRECT));
        self.is_direct = is_direct && (!self.has_callers || self.is_direct);
        self.is_programs |= elements().any(|caller| !span::is_string(text, &caller, DIRECT));
        self.has_callers = true;
    }
}
