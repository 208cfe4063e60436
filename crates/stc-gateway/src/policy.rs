//! What an operator allows: which routes and tools, how large, which formats, how carefully.
//!
//! Everything has a default, and every default leaves the upstream's bytes alone rather than guess. The same names are
//! read from a configuration file; unknown ones are refused there.

use crate::{Format, Skip, options_for};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde::de::Error as _;

/// The operator's choices for one layer or plugin.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Paths: by default all.
    pub routes: Filter,
    /// MCP tools, by name: by default all. A result whose tool is not known is left alone when there is a filter.
    pub tools: Filter,
    /// Bodies and MCP texts shorter than this stay as they are: 128.
    pub min_bytes: usize,
    /// Bodies and MCP messages longer than this stay as they are, and no more than this is held of one: 8 MiB.
    pub max_bytes: usize,
    /// Bodies held at once; the next is sent as it comes: 256.
    pub max_held: usize,
    /// The formats that may be sent: all.
    pub formats: Vec<Format>,
    /// Whether STC 2 may use references: yes.
    pub references: bool,
    /// Whether responses with an error status change too: no.
    pub error_statuses: bool,
    /// Whether what was encoded is decoded and compared before it is sent: off.
    pub verify: Verify,
    /// What happens inside MCP messages.
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

/// What happens inside MCP messages.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpPolicy {
    /// Whether MCP is recognised at all, or every exchange is plain REST: yes.
    pub enabled: bool,
    /// Whether the extension in a request's body is a way to ask: yes. It is looked for only in requests that carry
    /// the headers of the 2026-07-28 revision.
    pub extension: bool,
    /// Whether a list that came as many text blocks is sent as one: no.
    pub fold: bool,
    /// Whether results with `isError` change too: no.
    pub errors: bool,
    /// What becomes of `structuredContent`: it is kept.
    pub structured: Structured,
    /// Whether the server's instructions get a few lines that explain the format to a model: no.
    pub legend: bool,
}

impl Default for McpPolicy {
    fn default() -> Self {
        Self { enabled: true, extension: true, fold: false, errors: false, structured: Structured::Keep, legend: false }
    }
}

/// What becomes of `structuredContent` beside a text block that changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Structured {
    /// It stays.
    #[default]
    Keep,
    /// It is taken out if the text carries the same value; then `outputSchema` is taken out of `tools/list` too, or
    /// clients would miss it. A client has to ask on `tools/list` as well as on `tools/call`.
    Strip,
}

/// How often an encoded body is decoded and compared before it is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Never.
    #[default]
    Off,
    /// One in 64.
    Sampled,
    /// Always.
    Always,
}

impl Policy {
    /// The best format that a client who reads `most` may get.
    pub fn choose(&self, most: Format) -> Result<Format, Skip> {
        let mut candidate = Some(most);
        while let Some(format) = candidate {
            let may = self.formats.contains(&format) && (self.references || format != Format::Stc2Refs);
            if may && (format == Format::Toon || options_for(format).is_some()) {
                return Ok(format);
            }
            candidate = format.lesser();
        }
        Err(Skip::Excluded)
    }
}

/// Globs: what is included and not excluded. No `include` includes everything. In paths `*` stops at a `/` and `**` does
/// not.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl Filter {
    /// A filter of these globs.
    pub fn new<'a>(
        include: impl IntoIterator<Item = &'a str>,
        exclude: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, globset::Error> {
        Ok(Self { include: set(include)?, exclude: set(exclude)? })
    }

    /// Whether it lets everything through.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.include.is_none() && self.exclude.is_none()
    }

    /// Whether it lets this name through; a name that is not known only if it lets everything through.
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
        assert_eq!(all.choose(Format::Toon), Ok(Format::Toon));
        // A reader of STC 2 reads STC 1, so it gets at least that.
        assert!(all.choose(Format::Stc2Refs).is_ok_and(|format| format >= Format::Stc1));
        let only_toon = Policy { formats: vec![Format::Toon], ..Policy::default() };
        assert_eq!(only_toon.choose(Format::Stc2Refs), Err(Skip::Excluded));
        let without_refs = Policy { references: false, ..Policy::default() };
        assert!(without_refs.choose(Format::Stc2Refs).is_ok_and(|format| format < Format::Stc2Refs));
        let only_stc2 = Policy { formats: vec![Format::Stc2], ..Policy::default() };
        assert_eq!(only_stc2.choose(Format::Stc1), Err(Skip::Excluded));
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
            formats = ["stc1", "stc2-refs"]
            verify = "sampled"
            [tools]
            exclude = ["secret_*"]
            [mcp]
            structured = "strip"
        "#;
        let policy: Policy = toml::from_str(text).unwrap();
        assert_eq!((policy.min_bytes, policy.verify), (10, Verify::Sampled));
        assert_eq!(policy.formats, [Format::Stc1, Format::Stc2Refs]);
        assert_eq!(policy.mcp.structured, Structured::Strip);
        assert!(!policy.tools.admits(Some("secret_keys")) && policy.tools.admits(Some("list")));
        for bad in ["min_byte = 1", "verify = \"maybe\"", "[tools]\nexclude = [\"a[\"]", "[tools]\nexlude = []"] {
            assert!(toml::from_str::<Policy>(bad).is_err(), "{bad}");
        }
    }
}
