//! The MCP tools whose results stay.

use crate::filter::set;
use globset::GlobSet;
use serde::Deserialize;
use serde::de::Error as _;
use stc_wire::family::{FILES, Family};

/// The MCP tools whose results stay as they came: families (`read`, `edit`, `write`, `bash`, `glob`, `grep`), names or globs.
///
/// By default those that read, edit and write files, because an agent that edits a file copies from what it has read. With any
/// entry, results of unknown tools stay too: they may be of one that is skipped.
#[derive(Clone, Debug)]
pub struct SkipTools {
    families: Vec<Family>,
    names: Option<GlobSet>,
}

impl Default for SkipTools {
    fn default() -> Self {
        Self { families: FILES.to_vec(), names: None }
    }
}

impl SkipTools {
    /// Creates a list from families, names and globs; an empty one skips nothing.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, globset::Error> {
        let (mut families, mut names) = (Vec::new(), Vec::new());
        for entry in entries {
            match Family::named(entry) {
                Some(family) => families.push(family),
                None => names.push(entry),
            }
        }
        Ok(Self { families, names: set(names)? })
    }

    /// Returns whether the results of a tool stay; `None` is a tool whose name is not known.
    #[must_use]
    pub fn has(&self, tool: Option<&str>) -> bool {
        let Some(tool) = tool else { return !self.families.is_empty() || self.names.is_some() };
        (!self.families.is_empty() && self.families.contains(&Family::of_tool(tool)))
            || self.names.as_ref().is_some_and(|names| names.is_match(tool))
    }

    /// Returns whether files that are read as resources stay.
    pub(crate) fn has_files(&self) -> bool {
        self.families.contains(&Family::Read)
    }
}

impl<'de> Deserialize<'de> for SkipTools {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::<String>::deserialize(deserializer)?;
        Self::new(entries.iter().map(String::as_str)).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_names_and_globs() {
        let usual = SkipTools::default();
        for tool in ["read_text_file", "mcp__fs__edit_file", "write_file", "str_replace_based_edit_tool", "memory"] {
            assert!(usual.has(Some(tool)), "{tool}");
        }
        assert!(usual.has(None) && usual.has_files());
        for tool in ["list_rows", "list_directory", "bash", ""] {
            assert!(!usual.has(Some(tool)), "{tool}");
        }
        let own = SkipTools::new(["grep", "export_*"]).unwrap();
        assert!(own.has(Some("search_files")) && own.has(Some("export_rows")) && own.has(None));
        assert!(!own.has(Some("read_file")) && !own.has_files());
        let none = SkipTools::new([]).unwrap();
        assert!(!none.has(Some("read_file")) && !none.has(None));
        assert!(SkipTools::new(["a["]).is_err());
    }
}
