//! Families of tools, and of the commands of a shell.
//!
//! A tool of the family `bash` belongs to the family of its command: `cat rows.json` prints a file as a reading tool does.
//! The commands are data, in `families.toml`; the names of tools are in [`stc_wire::family`].

use serde::Deserialize;
use stc_abridge::{Kind, commands};
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

pub(crate) use stc_wire::family::Family;

/// Returns the family of what a command line prints: that of the command of a pipeline that prints. A sequence that prints a
/// file in one of its steps is [`Family::Read`].
pub(crate) fn of_command(line: &str) -> Family {
    let families = commands(line).map(|command| {
        let two = format!("{} {}", command.program, command.argument);
        let known = COMMANDS.get(two.as_str()).or_else(|| COMMANDS.get(command.program));
        known.copied().unwrap_or(Family::Bash)
    });
    families.fold(Family::Bash, |found, family| match (found, family) {
        (Family::Read, _) => Family::Read,
        (found, Family::Bash) => found,
        (_, family) => family,
    })
}

/// Returns what the texts of a family are.
pub(crate) const fn kind(family: Family) -> Kind {
    match family {
        Family::Read | Family::Edit | Family::Write => Kind::File,
        Family::Glob => Kind::Listing,
        Family::Grep => Kind::Search,
        Family::Bash | Family::Generic => Kind::Text,
    }
}

static COMMANDS: LazyLock<HashMap<String, Family>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Listed {
        commands: Vec<String>,
    }
    let listed: BTreeMap<String, Listed> =
        toml::from_str(include_str!("families.toml")).expect("families.toml is valid");
    let of_family = |(name, listed): (String, Listed)| {
        let family = Family::named(&name).expect("families.toml has no other families");
        listed.commands.into_iter().map(move |command| (command, family))
    };
    listed.into_iter().flat_map(of_family).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(of_command(line), expected, "{line}");
        }
    }

    #[test]
    fn no_command_is_listed_twice() {
        let text = include_str!("families.toml");
        let listed: usize =
            text.lines().filter(|line| !line.starts_with('#')).map(|line| line.matches('"').count() / 2).sum();
        assert_eq!(listed, COMMANDS.len());
    }
}
