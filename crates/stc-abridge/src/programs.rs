//! Programs that a shell's result may come from, by name; and the lines of theirs that say little. They are data, in
//! `programs.toml`.

use crate::command::Command;
use crate::pattern::Pattern;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A set of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Programs(u16);

impl Programs {
    /// Returns the programs of a command; none if it is unknown.
    #[must_use]
    pub fn of(command: &Command<'_>) -> Self {
        let Command { program, argument } = command;
        let known = |name: &str| DATA.by_command.get(name).map_or(0, |programs| programs.0);
        // Longer than any name in the data.
        if program.len() + argument.len() > 64 {
            return Self(if program.len() > 64 { 0 } else { known(program) });
        }
        Self(known(program) | known(&format!("{program} {argument}")))
    }

    /// Returns the programs of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the set as bits, the same for the same version of this crate.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns the name of the first program.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        self.each().next().map(|program| program.name.as_str())
    }

    pub(crate) fn has(self, name: &str) -> bool {
        self.each().any(|program| program.name == name)
    }

    pub(crate) fn each(self) -> impl Iterator<Item = &'static Program> {
        let is_in = move |number: usize| self.0 >> number & 1 == 1;
        DATA.programs.iter().enumerate().filter(move |(number, _)| is_in(*number)).map(|(_, program)| program)
    }
}

/// A program, and its lines that say little.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    /// Lines that say that it is at work.
    pub(crate) progress: Vec<Pattern>,
    /// Lines that say that a test passed.
    pub(crate) passed: Vec<Pattern>,
}

struct Data {
    programs: Vec<Program>,
    by_command: HashMap<String, Programs>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    program: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    name: String,
    commands: Vec<String>,
    progress: Vec<String>,
    #[serde(default)]
    passed: Vec<String>,
}

static DATA: LazyLock<Data> = LazyLock::new(|| {
    let file: File = toml::from_str(include_str!("programs.toml")).expect("programs.toml is valid");
    assert!(file.program.len() <= u16::BITS as usize, "programs.toml has more programs than a set has bits");
    let mut data = Data { programs: Vec::new(), by_command: HashMap::new() };
    for (number, listed) in file.program.into_iter().enumerate() {
        for command in listed.commands {
            data.by_command.entry(command).or_default().0 |= 1 << number;
        }
        let compiled = |patterns: Vec<String>| patterns.iter().map(|pattern| Pattern::new(pattern)).collect();
        let (progress, passed) = (compiled(listed.progress), compiled(listed.passed));
        data.programs.push(Program { name: listed.name, progress, passed });
    }
    data
});

#[cfg(test)]
mod tests {
    use super::*;

    fn of(program: &str, argument: &str) -> Vec<&'static str> {
        Programs::of(&Command { program, argument }).each().map(|program| program.name.as_str()).collect()
    }

    #[test]
    fn programs_by_command() {
        assert_eq!(of("git", "status"), ["git"]);
        assert_eq!(of("cargo", "build"), ["cargo"]);
        assert_eq!(of("cargo", "test"), ["cargo", "tests"]);
        assert_eq!(of("npm", "test"), ["npm", "tests"]);
        assert_eq!(of("go", "test"), ["tests"]);
        assert_eq!(of("go", "build"), [""; 0]);
        assert_eq!(of("uv", "pip"), ["pip"]);
        assert_eq!(of("ls", "-l"), [""; 0]);
        assert_eq!(of(&"x".repeat(100), ""), [""; 0]);
        let both = Programs::of(&Command { program: "git", argument: "" })
            .and(Programs::of(&Command { program: "make", argument: "" }));
        assert!(both.has("git") && both.has("make") && !both.has("npm") && !both.is_empty());
        assert_eq!(both.name(), Some("git"));
    }
}
