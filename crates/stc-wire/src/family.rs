//! Families of tools: a word for all tools that do the same, whatever they are called.

use std::sync::LazyLock;

/// A family of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Tools that print files.
    Read,
    /// Tools that change files by what was read of them.
    Edit,
    /// Tools that write files.
    Write,
    /// Shells.
    Bash,
    /// Tools that list files.
    Glob,
    /// Tools that search in files.
    Grep,
    /// All other tools.
    Generic,
}

/// The families whose results an agent copies from when it edits a file, so that they stay as they came by default.
pub const FILES: [Family; 3] = [Family::Read, Family::Edit, Family::Write];

/// The longest name of a tool that is compared: longer than any name in the data.
const LONGEST_NAME: usize = 64;
/// The digits of a date that ends the name of a tool, as in `text_editor_20250728`.
const DATE_DIGITS: usize = 8;

impl Family {
    /// All families.
    pub const ALL: [Self; 7] = [Self::Read, Self::Edit, Self::Write, Self::Bash, Self::Glob, Self::Grep, Self::Generic];

    /// Returns the name used in settings and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
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
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|family| family.name() == name)
    }

    /// Returns the family of a tool.
    #[must_use]
    pub fn of_tool(name: &str) -> Self {
        let last = name.rsplit("__").next().unwrap_or(name);
        let last = last.rsplit(['.', '/', ':']).next().unwrap_or(last);
        if last.len() > LONGEST_NAME {
            return Self::Generic;
        }
        let plain = last.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_lowercase());
        let plain: String = plain.collect();
        let name = plain.trim_end_matches(|c: char| c.is_ascii_digit());
        let name = if plain.len() - name.len() == DATE_DIGITS { name } else { &plain };
        let found = BY_NAME.binary_search_by_key(&name, |(name, _)| *name);
        found.map_or(Self::Generic, |place| BY_NAME[place].1)
    }
}

/// The tools in the order of their names. A hash table in a static counts as lost memory where the C library is checked.
static BY_NAME: LazyLock<Vec<(&str, Family)>> = LazyLock::new(|| {
    let mut tools: Vec<_> =
        TOOLS.iter().flat_map(|(family, names)| names.iter().map(|name| (*name, *family))).collect();
    tools.sort_unstable_by_key(|(name, _)| *name);
    tools
});

/// The tools of each family: names in lower case without `_`, `-` and blanks; a prefix such as `mcp__server__` or `functions.` is cut
/// off before the comparison, and so is a date at the end.
const TOOLS: [(Family, &[&str]); 6] = [
    (
        Family::Read,
        &[
            "read",
            "readfile",
            "readfiles",
            "readtextfile",
            "readmediafile",
            "readmultiplefiles",
            "readmanyfiles",
            "readlines",
            "readcode",
            "fileread",
            "fsread",
            "getfile",
            "getfilecontents",
            "getfilecontent",
            "openfile",
            "showfile",
            "view",
            "viewfile",
            "viewcodeitem",
            "viewrange",
            "cat",
            "head",
            "tail",
            "notebookread",
            "readnotebook",
            "loadfile",
            "repobrowserprintfile",
        ],
    ),
    (
        Family::Edit,
        &[
            "edit",
            "editfile",
            "editfiles",
            "multiedit",
            "multieditfile",
            "applypatch",
            "applydiff",
            "patch",
            "strreplace",
            "searchreplace",
            "searchandreplace",
            "replace",
            "replaceinfile",
            "replacelines",
            "insert",
            "insertlines",
            "insertcontent",
            "notebookedit",
            "editnotebook",
            "updatefile",
            "fsedit",
            "strreplacebasededittool",
            "strreplaceeditor",
            "texteditor",
            "memory",
        ],
    ),
    (
        Family::Write,
        &[
            "write",
            "writefile",
            "writetofile",
            "createfile",
            "newfile",
            "savefile",
            "appendfile",
            "appendtofile",
            "fswrite",
            "filewrite",
            "createtextfile",
        ],
    ),
    (
        Family::Bash,
        &[
            "bash",
            "sh",
            "shell",
            "localshell",
            "shellcommand",
            "runshellcommand",
            "runcommand",
            "executecommand",
            "execcommand",
            "exec",
            "execute",
            "executebash",
            "runbash",
            "runinterminal",
            "runterminalcmd",
            "runterminalcommand",
            "terminal",
            "powershell",
            "command",
            "bashtool",
            "containerexec",
        ],
    ),
    (
        Family::Glob,
        &[
            "glob",
            "globfiles",
            "listdir",
            "listdirectory",
            "listfiles",
            "ls",
            "findfiles",
            "filesearch",
            "directorytree",
            "tree",
        ],
    ),
    (
        Family::Grep,
        &[
            "grep",
            "greptool",
            "grepsearch",
            "ripgrep",
            "rg",
            "searchfiles",
            "searchfilecontent",
            "codesearch",
            "searchcode",
        ],
    ),
];

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
            ("memory", Family::Edit),
            ("memory_20250818", Family::Edit),
            ("str_replace_based_edit_tool", Family::Edit),
            ("str_replace_editor", Family::Edit),
            ("text_editor_20250728", Family::Edit),
            ("write_file", Family::Write),
            ("run_terminal_cmd", Family::Bash),
            ("bash_20250124", Family::Bash),
            ("list_directory", Family::Glob),
            ("Grep", Family::Grep),
            ("read_logs", Family::Generic),
            ("mcp__memory__read_graph", Family::Generic),
            ("read_2025", Family::Generic),
            ("20250728", Family::Generic),
            ("list_users", Family::Generic),
            ("", Family::Generic),
        ] {
            assert_eq!(Family::of_tool(name), expected, "{name}");
        }
        assert_eq!(Family::of_tool(&"read".repeat(1000)), Family::Generic);
    }

    #[test]
    fn every_family_has_data_and_no_name_twice() {
        let is_plain = |name: &str| name.len() <= LONGEST_NAME && name.bytes().all(|byte| byte.is_ascii_lowercase());
        assert!(BY_NAME.iter().all(|(name, _)| is_plain(name)));
        assert!(BY_NAME.windows(2).all(|two| two[0].0 < two[1].0), "a name is twice in the data");
        assert!(Family::ALL[..6].iter().all(|family| BY_NAME.iter().any(|(_, found)| found == family)));
    }
}
