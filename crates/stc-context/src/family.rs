//! Families of tools: a word for all tools that do the same, whatever they are called.
//!
//! A tool of the family `bash` belongs to the family of its command: `cat rows.json` prints a file as a reading tool does.
//! The names and commands are data, in `families.toml`.

use serde::Deserialize;
use stc_abridge::{Kind, commands};
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// A family of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    Read,
    Edit,
    Write,
    Bash,
    Glob,
    Grep,
    /// All other tools.
    Generic,
}

impl Family {
    pub(crate) const ALL: [Self; 7] =
        [Self::Read, Self::Edit, Self::Write, Self::Bash, Self::Glob, Self::Grep, Self::Generic];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Write => "write",
            Self::Bash => "bash",
            Self::Glob => "glob",
            Self::Grep => "grep",
            Self::Generic => "generic",
        }
    }

    /// Returns the family of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Returns the family of a tool.
    pub(crate) fn of_tool(name: &str) -> Self {
        let last = name.rsplit("__").next().unwrap_or(name);
        let last = last.rsplit(['.', '/', ':']).next().unwrap_or(last);
        // Longer than any name in the data.
        if last.len() > 64 {
            return Self::Generic;
        }
        let plain: String = last.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
        NAMES.tools.get(plain.to_ascii_lowercase().as_str()).copied().unwrap_or(Self::Generic)
    }

    /// Returns the family of what a command line prints: that of the command of a pipeline that prints. A sequence that prints a
    /// file in one of its steps is [`Family::Read`].
    pub(crate) fn of_command(line: &str) -> Self {
        let families = commands(line).map(|command| {
            let two = format!("{} {}", command.program, command.argument);
            let known = NAMES.commands.get(two.as_str()).or_else(|| NAMES.commands.get(command.program));
            known.copied().unwrap_or(Self::Bash)
        });
        families.fold(Self::Bash, |found, family| match (found, family) {
            (Self::Read, _) => Self::Read,
            (found, Self::Bash) => found,
            (_, family) => family,
        })
    }

    /// Returns what the texts of the family are.
    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::Read | Self::Edit | Self::Write => Kind::File,
            Self::Glob => Kind::Listing,
            Self::Grep => Kind::Search,
            Self::Bash | Self::Generic => Kind::Text,
        }
    }
}

struct Names {
    tools: HashMap<String, Family>,
    commands: HashMap<String, Family>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Listed {
        tools: Vec<String>,
        #[serde(default)]
        commands: Vec<String>,
    }
    let listed: BTreeMap<String, Listed> =
        toml::from_str(include_str!("families.toml")).expect("families.toml is valid");
    let mut names = Names { tools: HashMap::new(), commands: HashMap::new() };
    for (name, family) in listed {
        let which = Family::named(&name).expect("families.toml has no other families");
        names.tools.extend(family.tools.into_iter().map(|tool| (tool, which)));
        names.commands.extend(family.commands.into_iter().map(|command| (command, which)));
    }
    names
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_by_name() {
        for (name, expected) in [
            ("read_file", Family::Read),
            ("Read", Family::Read),
            ("readFile", Family::Read),
            ("mcp__filesystem__read_text_file", Family::Read),
            ("functions.read-file", Family::Read),
            ("MultiEdit", Family::Edit),
            ("apply_patch", Family::Edit),
            ("write_file", Family::Write),
            ("run_terminal_cmd", Family::Bash),
            ("list_directory", Family::Glob),
            ("Grep", Family::Grep),
            ("read_logs", Family::Generic),
            ("list_users", Family::Generic),
            ("", Family::Generic),
        ] {
            assert_eq!(Family::of_tool(name), expected, "{name}");
        }
        assert_eq!(Family::of_tool(&"read".repeat(1000)), Family::Generic);
    }

    #[test]
    fn commands_by_what_they_print() {
        for (line, expected) in [
            ("cat rows.json", Family::Read),
            ("cd /src && cat rows.json", Family::Read),
            ("cat rows.json; echo done", Family::Read),
            ("LC_ALL=C env X=1 /bin/cat rows.json", Family::Read),
            ("bash -lc 'cat rows.json'", Family::Read),
            ("cat rows.json | head -5", Family::Read),
            ("sed -n '1,5p' rows.json", Family::Read),
            ("timeout 5 tail -n 3 x", Family::Read),
            ("cargo test 2>&1 | tail -40", Family::Bash),
            ("rg -n x | head", Family::Grep),
            ("sed s/a/b/ rows.json", Family::Bash),
            ("cat rows.json | jq .", Family::Bash),
            ("uv run pytest -q", Family::Bash),
            ("git grep x", Family::Grep),
            ("ls -l", Family::Glob),
            ("curl -s https://api.example/rows", Family::Bash),
            ("", Family::Bash),
            ("|||;;&&", Family::Bash),
        ] {
            assert_eq!(Family::of_command(line), expected, "{line}");
        }
    }

    #[test]
    fn every_family_has_data_and_no_name_twice() {
        let text = include_str!("families.toml");
        for family in &Family::ALL[..6] {
            assert!(NAMES.tools.values().any(|found| found == family), "{family:?}");
        }
        let listed: usize =
            text.lines().filter(|line| !line.starts_with('#')).map(|line| line.matches('"').count() / 2).sum();
        assert_eq!(listed, NAMES.tools.len() + NAMES.commands.len());
        assert!(NAMES.tools.keys().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase())));
    }
}
