//! The operator's decisions: formats for clients that did not opt in, and settings for single tools.

use crate::Format;
use crate::filter::Filter;
use globset::{Glob, GlobMatcher};
use http::header::{HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use serde::de::Error as _;
use std::fmt;

/// The format of clients that did not opt in. A rule without a condition fits all of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientRule {
    /// A glob for the whole `User-Agent`, in which `*` matches everything.
    user_agent: Option<Pattern>,
    /// A header that the request must have.
    #[serde(default, deserialize_with = "header")]
    header: Option<HeaderName>,
    /// A glob for the value of `header`; any value by default.
    value: Option<Pattern>,
    /// A glob for the tenant that the request's credentials prove. A request without a tenant fits no such rule.
    tenant: Option<Pattern>,
    /// What the client gets; `json` leaves its responses alone.
    #[serde(deserialize_with = "format")]
    format: Option<Format>,
    /// Whether whole REST bodies are converted as well: no. Such a client must be able to read them.
    #[serde(default)]
    rest: bool,
    /// Whether the legend is added to an MCP server's instructions: yes.
    #[serde(default = "yes")]
    legend: bool,
}

/// Settings for some tools.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRule {
    /// Globs for the names of the tools.
    #[serde(deserialize_with = "names")]
    tools: Filter,
    /// The format of their results. A client that opted in gets at most what it prefers.
    pub(crate) format: Option<Format>,
    /// Shorter texts are sent unchanged.
    pub(crate) min_bytes: Option<usize>,
    /// What happens to `structuredContent`.
    pub(crate) structured: Option<Structured>,
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

/// What a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) format: Format,
    pub(crate) legend: bool,
}

impl ClientRule {
    fn fits(&self, headers: &HeaderMap, tenant: Option<&str>) -> bool {
        let fits = |name: &HeaderName, pattern: Option<&Pattern>| {
            let mut values = headers.get_all(name).iter();
            values.any(|value| pattern.is_none_or(|pattern| value.to_str().is_ok_and(|value| pattern.fits(value))))
        };
        self.user_agent.as_ref().is_none_or(|pattern| fits(&USER_AGENT, Some(pattern)))
            && self.header.as_ref().is_none_or(|name| fits(name, self.value.as_ref()))
            && self.tenant.as_ref().is_none_or(|pattern| tenant.is_some_and(|tenant| pattern.fits(tenant)))
    }

    /// Returns the header that the rule looks at, beside `User-Agent`.
    #[must_use]
    pub const fn header(&self) -> Option<&HeaderName> {
        self.header.as_ref()
    }

    /// Checks that the rule is whole.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.value.is_some() && self.header.is_none() { Err("`value` needs `header`") } else { Ok(()) }
    }
}

/// Returns what the first rule that fits decides for a request.
pub(crate) fn decide(
    rules: &[ClientRule],
    headers: &HeaderMap,
    tenant: Option<&str>,
    is_mcp: bool,
) -> Option<Decision> {
    let rule = rules.iter().find(|rule| rule.fits(headers, tenant))?;
    let format = rule.format.filter(|_| is_mcp || rule.rest)?;
    Some(Decision { format, legend: rule.legend })
}

/// Returns the value of `Vary` for the headers that rules look at.
pub(crate) fn varies_by(rules: &[ClientRule]) -> Option<HeaderValue> {
    let mut names: Vec<&str> = Vec::new();
    for rule in rules {
        names.extend(rule.user_agent.as_ref().map(|_| USER_AGENT.as_str()));
        names.extend(rule.header.as_ref().map(HeaderName::as_str));
    }
    names.sort_unstable();
    names.dedup();
    HeaderValue::try_from(names.join(", ")).ok().filter(|names| !names.is_empty())
}

/// Returns whether a rule looks at the tenant, which `Vary` cannot name: a certificate or a signed token proves it.
pub(crate) fn depend_on_tenants(rules: &[ClientRule]) -> bool {
    rules.iter().any(|rule| rule.tenant.is_some())
}

impl ToolRule {
    pub(crate) fn fits(&self, tool: &str) -> bool {
        self.tools.admits(Some(tool))
    }
}

/// A glob over a header's value or a tenant.
#[derive(Clone)]
struct Pattern(GlobMatcher);

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.glob().glob().fmt(f)
    }
}

impl Pattern {
    fn fits(&self, value: &str) -> bool {
        self.0.is_match(value)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let glob = Glob::new(&String::deserialize(deserializer)?).map_err(D::Error::custom)?;
        Ok(Self(glob.compile_matcher()))
    }
}

fn header<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<HeaderName>, D::Error> {
    let name = String::deserialize(deserializer)?;
    name.parse().map(Some).map_err(|_| D::Error::custom(format!("`{name}` is not a header")))
}

fn format<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Format>, D::Error> {
    let name = String::deserialize(deserializer)?;
    match Format::named(&name) {
        Some(format) => Ok(Some(format)),
        None if name == "json" => Ok(None),
        None => Err(D::Error::custom(Format::unknown(&name))),
    }
}

fn names<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Filter, D::Error> {
    let globs = Vec::<String>::deserialize(deserializer)?;
    if globs.is_empty() {
        return Err(D::Error::custom("`tools` has no names"));
    }
    Filter::new(globs.iter().map(String::as_str), []).map_err(D::Error::custom)
}

const fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn clients(text: &str) -> Vec<ClientRule> {
        toml::from_str::<Policy>(text).unwrap().clients
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let rules = clients(
            r#"
            [[clients]]
            user_agent = "curl/*"
            format = "json"
            [[clients]]
            user_agent = "claude-code/* (*"
            format = "stc2-labelled"
            [[clients]]
            header = "x-team"
            value = "search-*"
            format = "stc2"
            rest = true
            legend = false
            [[clients]]
            header = "x-any"
            format = "stc1"
            "#,
        );
        let labelled = Some(Decision { format: Format::Stc2Labelled, legend: true });
        let whole = Some(Decision { format: Format::Stc2, legend: false });
        let stc1 = Some(Decision { format: Format::Stc1, legend: true });
        for (lines, mcp, rest) in [
            (&[][..], None, None),
            (&[("user-agent", "curl/8.1")], None, None),
            (&[("user-agent", "curl/8.1"), ("x-any", "")], None, None),
            (&[("user-agent", "claude-code/2.0 (cli)")], labelled, None),
            (&[("user-agent", "claude-code/2.0")], None, None),
            (&[("x-team", "search-eu")], whole, whole),
            (&[("x-team", "ads")], None, None),
            (&[("x-any", "")], stc1, None),
        ] {
            let headers = headers(lines);
            assert_eq!(decide(&rules, &headers, None, true), mcp, "{lines:?}");
            assert_eq!(decide(&rules, &headers, None, false), rest, "{lines:?}");
        }
        assert_eq!(varies_by(&rules).unwrap(), "user-agent, x-any, x-team");
        assert!(!depend_on_tenants(&rules));
    }

    #[test]
    fn a_rule_can_name_tenants() {
        let rules = clients(
            r#"
            [[clients]]
            tenant = "search-*"
            header = "x-any"
            format = "stc1"
            [[clients]]
            tenant = "*"
            format = "stc2-labelled"
            "#,
        );
        let any = headers(&[("x-any", "")]);
        for (headers, tenant, expected) in [
            (&any, Some("search-eu"), Some(Format::Stc1)),
            (&any, Some("ads"), Some(Format::Stc2Labelled)),
            (&HeaderMap::new(), Some("search-eu"), Some(Format::Stc2Labelled)),
            (&any, None, None),
        ] {
            let decided = decide(&rules, headers, tenant, true);
            assert_eq!(decided.map(|decision| decision.format), expected, "{headers:?} {tenant:?}");
        }
        assert!(depend_on_tenants(&rules));
    }

    #[test]
    fn rules_that_are_refused() {
        for bad in [
            "[[clients]]\nuser_agent = \"a\"\n",
            "[[clients]]\nformat = \"xml\"\n",
            "[[clients]]\nformat = \"stc2-dense\"\n",
            "[[clients]]\nformat = \"stc2-labelled\"\nheader = \"a b\"\n",
            "[[clients]]\nformat = \"stc2-labelled\"\nuser_agent = \"a[\"\n",
            "[[overrides]]\ntools = []\n",
            "[[overrides]]\nformat = \"stc1\"\n",
            "default_format = \"json\"\n",
        ] {
            assert!(toml::from_str::<Policy>(bad).is_err(), "{bad}");
        }
        for bad in ["default_format = \"toon\"\n", "[[clients]]\nformat = \"stc2-labelled\"\nvalue = \"x\"\n"] {
            assert!(toml::from_str::<Policy>(bad).unwrap().check().is_err(), "{bad}");
        }
    }
}
