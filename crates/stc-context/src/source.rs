//! The results of a request: the tool of each, its family, and whether it is left alone.

use crate::Settings;
use crate::family::{self, Family};
use crate::layout::{Answer, Layout};
use crate::options::SkipTools;
use crate::report::Status;
use stc_abridge::{Kind, Origin, Programs, commands};
use stc_wire::span::{self, Span};
use std::collections::HashMap;

/// What is known of a result.
#[derive(Debug)]
pub(crate) struct Source {
    /// The place of the tool's name in [`Sources::tools`].
    pub(crate) tool: Option<usize>,
    /// The family's name.
    pub(crate) family: &'static str,
    /// What its texts are, and the programs that printed them.
    pub(crate) origin: Origin,
    /// The arguments of its call.
    pub(crate) arguments: Option<Span>,
    /// Why the result stays, if that is known without its text.
    pub(crate) skipped: Option<Status>,
}

/// The results of a request, in the order of [`Layout::results`].
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pub(crate) all: Vec<Source>,
    /// The names of the tools.
    pub(crate) tools: Vec<String>,
}

impl Sources {
    /// Reads the results; the programs of commands only if `programs` says so.
    pub(crate) fn read(body: &[u8], layout: &Layout, skip: &SkipTools, settings: &Settings, programs: bool) -> Self {
        let (tools, families, by_name) = (Vec::new(), Vec::new(), HashMap::new());
        let mut reader = Reader { body, layout, skip, settings, programs, tools, families, by_name };
        let all = layout.results.iter().map(|answer| reader.source(answer)).collect();
        Self { all, tools: reader.tools }
    }
}

struct Reader<'a> {
    body: &'a [u8],
    layout: &'a Layout,
    skip: &'a SkipTools,
    settings: &'a Settings,
    programs: bool,
    tools: Vec<String>,
    /// The families of the tools.
    families: Vec<Family>,
    /// The tools by name.
    by_name: HashMap<String, usize>,
}

impl Reader<'_> {
    fn source(&mut self, answer: &Answer) -> Source {
        if answer.is_user {
            let origin = Origin { kind: Kind::File, ..Origin::default() };
            return Source { tool: None, family: "user", origin, arguments: None, skipped: None };
        }
        let tool = self.tool(answer);
        let arguments = answer.call.and_then(|call| self.layout.calls[call].arguments.clone());
        let (family, programs) = self.family(tool, arguments.as_ref());
        let name = tool.map(|tool| self.tools[tool].as_str());
        let unknown = self.settings.skip_unknown && tool.is_none();
        let skipped = match () {
            () if self.is_for_program(answer, tool) => Some(Status::ForAProgram),
            () if unknown || self.skip.has(family, name) => Some(Status::Skipped),
            () if answer.is_error && !self.settings.errors => Some(Status::ErrorResult),
            () => None,
        };
        Source {
            tool,
            family: family.name(),
            origin: Origin { kind: family::kind(family), programs },
            arguments,
            skipped,
        }
    }

    /// Returns whether a program reads a result: it called the tool, or only programs may. A result whose call is not in the request is
    /// a program's if programs may call any tool.
    fn is_for_program(&self, answer: &Answer, tool: Option<usize>) -> bool {
        let only =
            |name: &Span| span::string(self.body, name).is_none_or(|name| self.layout.program_tools.contains(&*name));
        let called = answer.call.and_then(|call| self.layout.calls[call].name.as_ref());
        answer.is_for_program
            || (self.layout.has_programs && (tool.is_none() || answer.name.iter().chain(called).any(only)))
    }

    fn tool(&mut self, answer: &Answer) -> Option<usize> {
        let called = || answer.call.and_then(|call| self.layout.calls[call].name.as_ref());
        let name = span::string(self.body, answer.name.as_ref().or_else(called)?)?;
        if let Some(place) = self.by_name.get(&*name) {
            return Some(*place);
        }
        self.families.push(Family::of_tool(&name));
        self.tools.push(name.clone().into_owned());
        self.by_name.insert(name.into_owned(), self.tools.len() - 1);
        Some(self.tools.len() - 1)
    }

    /// Returns the family of a result, and the programs that its command runs.
    fn family(&self, tool: Option<usize>, arguments: Option<&Span>) -> (Family, Programs) {
        let family = tool.map_or(Family::Generic, |tool| self.families[tool]);
        let line = arguments
            .filter(|_| family == Family::Bash || (family == Family::Generic && self.programs))
            .and_then(|arguments| command(&self.body[arguments.clone()]));
        let Some(line) = line else { return (family, Programs::default()) };
        let commands = commands(&line).filter(|_| self.programs);
        let programs = commands.fold(Programs::default(), |all, one| all.and(Programs::of(&one)));
        (if family == Family::Bash { family::of_command(&line) } else { family }, programs)
    }
}

/// Returns the command line in the arguments of a shell's call: an object, as JSON or as a string of JSON, with a member
/// `command`, `cmd`, `script` or `input` that is a string or a list of words.
fn command(arguments: &[u8]) -> Option<String> {
    let inner;
    let mut object = arguments;
    if arguments.first() == Some(&b'"') {
        inner = span::string(arguments, &(0..arguments.len()))?.into_owned();
        if !inner.trim_start().starts_with('{') {
            return Some(inner); // a tool of free text
        }
        object = inner.as_bytes();
    }
    let whole = span::document(object)?;
    let value =
        ["command", "cmd", "script", "input"].iter().find_map(|key| span::member(object, whole.clone(), key))?.value;
    if object[value.start] == b'[' {
        let words: Vec<_> = span::elements(object, value).filter_map(|word| span::string(object, &word)).collect();
        return Some(words.join(" "));
    }
    span::string(object, &value).map(String::from)
}
