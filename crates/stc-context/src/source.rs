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
        let (by_call, is_skipped) = (HashMap::new(), HashMap::new());
        let mut reader =
            Reader { body, layout, skip, settings, programs, tools, families, by_name, by_call, is_skipped };
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
    /// What was read of calls, so that a call is read once, however many results it has.
    by_call: HashMap<usize, Called>,
    /// Whether results of a tool are left alone, by its family and place: a name may be long, and have many results.
    is_skipped: HashMap<(Family, Option<usize>), bool>,
}

/// What is known of a call.
#[derive(Clone, Copy, Default)]
struct Called {
    /// The place of its tool, once that was looked for.
    tool: Option<Option<usize>>,
    /// The family of its command, and the programs that this runs.
    command: Option<Option<(Family, Programs)>>,
    /// Whether only programs may call its tool.
    is_for_programs: Option<bool>,
}

impl Reader<'_> {
    fn source(&mut self, answer: &Answer) -> Source {
        if answer.is_user {
            let origin = Origin { kind: Kind::File, ..Origin::default() };
            return Source { tool: None, family: "user", origin, arguments: None, skipped: None };
        }
        let tool = self.tool(answer);
        let arguments = answer.call.and_then(|call| self.layout.calls[call].arguments.clone());
        let (family, programs) = self.family(tool, answer.call, arguments.as_ref());
        let unknown = self.settings.skip_unknown && tool.is_none();
        let skipped = match () {
            () if self.is_for_program(answer, tool) => Some(Status::ForAProgram),
            () if unknown || self.is_skipped(family, tool) => Some(Status::Skipped),
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
    fn is_for_program(&mut self, answer: &Answer, tool: Option<usize>) -> bool {
        if answer.is_for_program || !self.layout.has_programs {
            return answer.is_for_program;
        }
        tool.is_none()
            || answer.name.as_ref().is_some_and(|name| self.only_programs_call(name))
            || answer.call.is_some_and(|call| self.is_call_for_programs(call))
    }

    /// Returns whether only programs may call a tool, or its name is none.
    fn only_programs_call(&self, name: &Span) -> bool {
        span::string(self.body, name).is_none_or(|name| self.layout.program_tools.contains(&*name))
    }

    fn is_call_for_programs(&mut self, call: usize) -> bool {
        if let Some(known) = self.by_call.get(&call).and_then(|called| called.is_for_programs) {
            return known;
        }
        let name = self.layout.calls[call].name.as_ref();
        let is_for_programs = name.is_some_and(|name| self.only_programs_call(name));
        self.by_call.entry(call).or_default().is_for_programs = Some(is_for_programs);
        is_for_programs
    }

    fn is_skipped(&mut self, family: Family, tool: Option<usize>) -> bool {
        let (skip, tools) = (self.skip, &self.tools);
        let is_skipped = || skip.has(family, tool.map(|tool| tools[tool].as_str()));
        *self.is_skipped.entry((family, tool)).or_insert_with(is_skipped)
    }

    /// Returns the tool of a result: the one that it names, or else that of its call.
    fn tool(&mut self, answer: &Answer) -> Option<usize> {
        if let Some(name) = &answer.name {
            return self.named(name);
        }
        let call = answer.call?;
        if let Some(tool) = self.by_call.get(&call).and_then(|called| called.tool) {
            return tool;
        }
        let name = self.layout.calls[call].name.as_ref();
        let tool = name.and_then(|name| self.named(name));
        self.by_call.entry(call).or_default().tool = Some(tool);
        tool
    }

    fn named(&mut self, name: &Span) -> Option<usize> {
        let name = span::string(self.body, name)?;
        if let Some(place) = self.by_name.get(&*name) {
            return Some(*place);
        }
        self.families.push(Family::of_tool(&name));
        self.tools.push(name.clone().into_owned());
        self.by_name.insert(name.into_owned(), self.tools.len() - 1);
        Some(self.tools.len() - 1)
    }

    /// Returns the family of a result, and the programs that its command runs.
    fn family(&mut self, tool: Option<usize>, call: Option<usize>, arguments: Option<&Span>) -> (Family, Programs) {
        let family = tool.map_or(Family::Generic, |tool| self.families[tool]);
        let has_command = family == Family::Bash || (family == Family::Generic && self.programs);
        let (Some(call), Some(arguments), true) = (call, arguments, has_command) else {
            return (family, Programs::default());
        };
        let command = match self.by_call.get(&call).and_then(|called| called.command) {
            Some(command) => command,
            None => {
                let command = self.command(arguments);
                self.by_call.entry(call).or_default().command = Some(command);
                command
            }
        };
        let Some((of_command, programs)) = command else { return (family, Programs::default()) };
        (if family == Family::Bash { of_command } else { family }, programs)
    }

    /// Returns the family of a shell's command, and the programs that it runs.
    fn command(&self, arguments: &Span) -> Option<(Family, Programs)> {
        let line = command(&self.body[arguments.clone()])?;
        let commands = commands(&line).filter(|_| self.programs);
        let programs = commands.fold(Programs::default(), |all, one| all.and(Programs::of(&one)));
        Some((family::of_command(&line), programs))
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
