//! What an operator allows: routes and tools, sizes, formats, verification.
//!
//! Every setting has a default, and in doubt the upstream's bytes are sent unchanged. A configuration file uses the same
//! names; unknown names are rejected.

use crate::filter::Filter;
use crate::rules::{ClientRule, Structured, ToolRule};
use crate::skip_tools::SkipTools;
use crate::{Format, Skip};
use serde::Deserialize;
use stc_wire::Verify;

/// The operator's settings for one layer or plugin.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The paths whose responses are converted: all.
    pub routes: Filter,
    /// The MCP tools whose results are converted: all. With a filter, results of unknown tools are sent unchanged.
    pub tools: Filter,
    /// The MCP tools whose results stay: those that read, edit and write files.
    pub skip_tools: SkipTools,
    /// Bodies and MCP texts shorter than this are sent unchanged: 128.
    pub min_bytes: usize,
    /// Bodies and MCP messages longer than this are sent unchanged, and at most this much of one is in memory: 8 MiB.
    pub max_bytes: usize,
    /// Bodies in memory at once; further ones are sent unchanged: 256.
    pub max_held: usize,
    /// The formats that are offered: all.
    pub formats: Vec<Format>,
    /// What a client gets that opts in without a version: STC 1.
    pub default_format: Format,
    /// What clients get that did not opt in, by the first rule that fits: none.
    pub clients: Vec<ClientRule>,
    /// Settings for single tools, by the first rule that fits: none.
    pub overrides: Vec<ToolRule>,
    /// Whether responses with an error status are converted: no.
    pub error_statuses: bool,
    /// How often the encoded body is decoded and compared before it is sent: off.
    pub verify: Verify,
    /// The settings for MCP messages.
    pub mcp: McpPolicy,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            routes: Filter::default(),
            tools: Filter::default(),
            skip_tools: SkipTools::default(),
            min_bytes: 128,
            max_bytes: 8 << 20,
            max_held: 256,
            formats: Format::ALL.to_vec(),
            default_format: Format::Stc1,
            clients: Vec::new(),
            overrides: Vec::new(),
            error_statuses: false,
            verify: Verify::Off,
            mcp: McpPolicy::default(),
        }
    }
}

/// The settings for MCP messages.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpPolicy {
    /// Whether MCP is recognised; if not, every exchange is REST: yes.
    pub enabled: bool,
    /// Whether the extension in a request's body counts as a preference: yes. Only requests with the headers of the
    /// 2026-07-28 revision are searched for it.
    pub extension: bool,
    /// Whether a list in several text blocks is sent as one block, if that is smaller: yes.
    pub fold: bool,
    /// Whether results with `isError` are converted: no.
    pub errors: bool,
    /// What happens to `structuredContent`: it is kept.
    pub structured: Structured,
    /// Whether a description of the format for models is added to the server's instructions: no.
    pub legend: bool,
}

impl Default for McpPolicy {
    fn default() -> Self {
        Self { enabled: true, extension: true, fold: true, errors: false, structured: Structured::Keep, legend: false }
    }
}

impl Policy {
    /// Checks that the settings do not contradict each other.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.max_bytes < self.min_bytes {
            return Err("`max_bytes` is less than `min_bytes`");
        }
        if self.default_format == Format::Toon {
            return Err("`default_format` is not a version of STC");
        }
        self.clients.iter().try_for_each(ClientRule::check)
    }

    /// Returns whether the results of an MCP tool may be converted.
    pub(crate) fn converts(&self, tool: Option<&str>) -> bool {
        self.tools.admits(tool) && !self.skip_tools.has(tool)
    }

    /// Returns the length of the shortest text that is converted for any tool.
    pub(crate) fn least_bytes(&self) -> usize {
        let others = self.overrides.iter().filter_map(|rule| rule.min_bytes);
        others.fold(self.min_bytes, usize::min)
    }

    /// Returns the best offered format for a client that reads at most `most`.
    pub fn choose(&self, most: Format) -> Result<Format, Skip> {
        let mut candidate = Some(most);
        while let Some(format) = candidate {
            if self.formats.contains(&format) && format.is_available() {
                return Ok(format);
            }
            candidate = format.lesser();
        }
        Err(Skip::Excluded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_that_is_allowed_and_can_be_written() {
        let all = Policy::default();
        assert_eq!(all.choose(Format::Stc1), Ok(Format::Stc1));
        let toon = if cfg!(feature = "toon") { Ok(Format::Toon) } else { Err(Skip::Excluded) };
        assert_eq!(all.choose(Format::Toon), toon);
        assert_eq!(all.choose(Format::Stc2), Ok(Format::Stc2));
        let only_toon = Policy { formats: vec![Format::Toon], ..Policy::default() };
        assert_eq!(only_toon.choose(Format::Stc2), Err(Skip::Excluded));
        let without_labelled = Policy { formats: vec![Format::Stc1, Format::Stc2], ..Policy::default() };
        assert_eq!(without_labelled.choose(Format::Stc2Labelled), Ok(Format::Stc1));
        let only_labelled = Policy { formats: vec![Format::Stc2Labelled], ..Policy::default() };
        assert_eq!(only_labelled.choose(Format::Stc1), Err(Skip::Excluded));
        // A client that reads a level also reads the lower ones.
        for most in [Format::Stc2Labelled, Format::Stc2] {
            assert_eq!(only_labelled.choose(most), Ok(Format::Stc2Labelled));
        }
    }

    #[test]
    fn read_from_a_configuration() {
        let text = r#"
            min_bytes = 10
            formats = ["stc1", "stc2-labelled", "stc2"]
            verify = "sampled"
            skip_tools = ["edit", "export_*"]
            [tools]
            exclude = ["secret_*"]
            [mcp]
            structured = "strip"
        "#;
        let policy: Policy = toml::from_str(text).unwrap();
        assert_eq!((policy.min_bytes, policy.verify), (10, Verify::Sampled));
        assert_eq!(policy.formats, [Format::Stc1, Format::Stc2Labelled, Format::Stc2]);
        assert_eq!(policy.mcp.structured, Structured::Strip);
        assert!(!policy.tools.admits(Some("secret_keys")) && policy.tools.admits(Some("list")));
        assert!(policy.skip_tools.has(Some("apply_patch")) && !policy.skip_tools.has(Some("read_file")));
        for bad in [
            "skip_tools = [\"a[\"]",
            "min_byte = 1",
            "verify = \"maybe\"",
            "[tools]\nexclude = [\"a[\"]",
            "[tools]\nexlude = []",
        ] {
            assert!(toml::from_str::<Policy>(bad).is_err(), "{bad}");
        }
    }
}
