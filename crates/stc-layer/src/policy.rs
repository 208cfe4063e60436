//! What an operator allows: routes and tools, sizes, formats, verification.
//!
//! Every setting has a default, and in doubt the upstream's bytes are sent unchanged. A configuration file uses the same
//! names; unknown names are rejected.

use crate::{Format, Skip};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde::de::Error as _;
use stc_wire::Verify;

/// The operator's settings for one layer or plugin.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// The paths whose responses are converted: all.
    pub routes: Filter,
    /// The MCP tools whose results are converted: all. With a filter, results of unknown tools are sent unchanged.
    pub tools: Filter,
    /// Bodies and MCP texts shorter than this are sent unchanged: 128.
    pub min_bytes: usize,
    /// Bodies and MCP messages longer than this are sent unchanged, and at most this much of one is in memory: 8 MiB.
    pub max_bytes: usize,
    /// Bodies in memory at once; further ones are sent unchanged: 256.
    pub max_held: usize,
    /// The formats that are offered: all.
    pub formats: Vec<Format>,
    /// Whether `stc2-refs` is offered where `formats` has it: yes. `false` leaves all other formats as they are.
    pub references: bool,
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
            min_bytes: 128,
            max_bytes: 8 << 20,
            max_held: 256,
            formats: Format::ALL.to_vec(),
            references: true,
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
    /// Whether a list in several text blocks is sent as one block: no.
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
        Self { enabled: true, extension: true, fold: false, errors: false, structured: Structured::Keep, legend: false }
    }
}

/// What happens to `structuredContent` beside a converted text block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Structured {
    /// It is kept.
    #[default]
    Keep,
    /// It is removed if the text carries the same value. `outputSchema` is then removed from `tools/list` too, because
    /// clients reject a result that lacks what its schema requires. A client must opt in on both methods.
    Strip,
}

impl Policy {
    /// Checks that the settings do not contradict each other.
    pub fn check(&self) -> Result<(), &'static str> {
        if self.max_bytes < self.min_bytes { Err("`max_bytes` is less than `min_bytes`") } else { Ok(()) }
    }

    /// Returns the best offered format for a client that reads at most `most`.
    pub fn choose(&self, most: Format) -> Result<Format, Skip> {
        let mut candidate = Some(most);
        while let Some(format) = candidate {
            let may = self.formats.contains(&format) && (self.references || format != Format::Stc2Refs);
            if may && format.is_available() {
                return Ok(format);
            }
            candidate = format.lesser();
        }
        Err(Skip::Excluded)
    }
}

/// Globs for names that are included and not excluded. An empty `include` includes everything. `*` does not match `/`;
/// `**` does.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl Filter {
    /// Creates a filter from globs.
    pub fn new<'a>(
        include: impl IntoIterator<Item = &'a str>,
        exclude: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, globset::Error> {
        Ok(Self { include: set(include)?, exclude: set(exclude)? })
    }

    /// Returns whether every name passes.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.include.is_none() && self.exclude.is_none()
    }

    /// Returns whether this name passes; an unknown name passes only if every name does.
    #[must_use]
    pub fn admits(&self, name: Option<&str>) -> bool {
        let Some(name) = name else { return self.is_open() };
        let included = self.include.as_ref().is_none_or(|set| set.is_match(name));
        included && !self.exclude.as_ref().is_some_and(|set| set.is_match(name))
    }
}

fn set<'a>(globs: impl IntoIterator<Item = &'a str>) -> Result<Option<GlobSet>, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    let mut any = false;
    for glob in globs {
        builder.add(GlobBuilder::new(glob).literal_separator(true).build()?);
        any = true;
    }
    Ok(if any { Some(builder.build()?) } else { None })
}

impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(default, deny_unknown_fields)]
        #[derive(Default)]
        struct Globs {
            include: Vec<String>,
            exclude: Vec<String>,
        }
        let globs = Globs::deserialize(deserializer)?;
        let [include, exclude] = [&globs.include, &globs.exclude].map(|globs| globs.iter().map(String::as_str));
        Self::new(include, exclude).map_err(D::Error::custom)
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
        assert_eq!(all.choose(Format::Stc2Refs), Ok(Format::Stc2Refs));
        let only_toon = Policy { formats: vec![Format::Toon], ..Policy::default() };
        assert_eq!(only_toon.choose(Format::Stc2Refs), Err(Skip::Excluded));
        let without_refs = Policy { references: false, ..Policy::default() };
        assert_eq!(without_refs.choose(Format::Stc2Refs), Ok(Format::Stc2Dense));
        let without_dense = Policy { formats: vec![Format::Stc1, Format::Stc2, Format::Stc2Refs], ..Policy::default() };
        assert_eq!(without_dense.choose(Format::Stc2Dense), Ok(Format::Stc2));
        let only_stc2 = Policy { formats: vec![Format::Stc2], ..Policy::default() };
        assert_eq!(only_stc2.choose(Format::Stc1), Err(Skip::Excluded));
        // A client that reads a level also reads the lower ones.
        for most in [Format::Stc2, Format::Stc2Dense, Format::Stc2Refs] {
            assert_eq!(only_stc2.choose(most), Ok(Format::Stc2));
        }
    }

    #[test]
    fn filters() {
        let filter = Filter::new(["/api/**", "/v?/*"], ["/api/private/**"]).unwrap();
        for (path, expected) in
            [("/api/a/b", true), ("/api/private/b", false), ("/v1/x", true), ("/v1/x/y", false), ("/other", false)]
        {
            assert_eq!(filter.admits(Some(path)), expected, "{path}");
        }
        assert!(!filter.admits(None));
        assert!(Filter::default().admits(None) && Filter::default().admits(Some("x")));
    }

    #[test]
    fn read_from_a_configuration() {
        let text = r#"
            min_bytes = 10
            formats = ["stc1", "stc2-dense", "stc2-refs"]
            verify = "sampled"
            [tools]
            exclude = ["secret_*"]
            [mcp]
            structured = "strip"
        "#;
        let policy: Policy = toml::from_str(text).unwrap();
        assert_eq!((policy.min_bytes, policy.verify), (10, Verify::Sampled));
        assert_eq!(policy.formats, [Format::Stc1, Format::Stc2Dense, Format::Stc2Refs]);
        assert_eq!(policy.mcp.structured, Structured::Strip);
        assert!(!policy.tools.admits(Some("secret_keys")) && policy.tools.admits(Some("list")));
        for bad in ["min_byte = 1", "verify = \"maybe\"", "[tools]\nexclude = [\"a[\"]", "[tools]\nexlude = []"] {
            assert!(toml::from_str::<Policy>(bad).is_err(), "{bad}");
        }
    }
}
