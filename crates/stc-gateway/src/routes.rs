//! The routes of a configuration: which requests go to which upstream, and under which policy.

use crate::forwarded::HostHeader;
use crate::target::Target;
use serde::Deserialize;
use stc_layer::Policy;

/// An upstream for a path prefix, with a policy.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The prefix of the path, which ends at a `/` or at the path's end.
    pub(crate) prefix: String,
    pub(crate) target: Target,
    pub(crate) host: HostHeader,
    pub(crate) policy: Policy,
}

/// A route as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileRoute {
    path: toml::Spanned<String>,
    upstream: toml::Spanned<String>,
    /// Whether `path` is taken off before the request goes to the upstream: no.
    #[serde(default)]
    strip: bool,
    /// The file's `host` by default.
    host: Option<HostHeader>,
    /// The file's `[stc]` by default.
    stc: Option<Policy>,
}

/// What applies to routes that do not say otherwise.
pub(crate) struct Defaults {
    pub(crate) policy: Policy,
    pub(crate) host: Option<HostHeader>,
}

impl Defaults {
    /// Creates the route for everything that matches no other.
    pub(crate) fn route(&self, target: Target) -> Route {
        Route { prefix: String::new(), host: host(self.host, &target), target, policy: self.policy.clone() }
    }
}

/// A message with the offset of what it is about.
pub(crate) type ErrorAt = (Option<usize>, String);

/// Reads the routes, the longest prefix first.
pub(crate) fn read(written: Vec<FileRoute>, defaults: &Defaults) -> Result<Vec<Route>, ErrorAt> {
    let mut routes: Vec<Route> = Vec::new();
    for route in written {
        let at = |why: &str| (Some(route.path.span().start), why.to_owned());
        let prefix = route.path.get_ref().trim_end_matches('/').to_owned();
        if !route.path.get_ref().starts_with('/') {
            return Err(at("a path must start with `/`"));
        }
        if routes.iter().any(|other| other.prefix == prefix) {
            return Err(at("another route has this path"));
        }
        let policy = route.stc.clone().unwrap_or_else(|| defaults.policy.clone());
        policy.check().map_err(at)?;
        let target = Target::parse(route.upstream.get_ref()).map_err(|why| (Some(route.upstream.span().start), why))?;
        let target = if route.strip { target.stripping(&prefix) } else { target };
        routes.push(Route { prefix, host: host(route.host.or(defaults.host), &target), target, policy });
    }
    routes.sort_by_key(|route| std::cmp::Reverse(route.prefix.len()));
    Ok(routes)
}

/// Returns the `Host` for an upstream: the client's for `http`. A server with TLS often answers 421 to a name that its
/// certificate does not have, so it gets its own.
fn host(written: Option<HostHeader>, target: &Target) -> HostHeader {
    written.unwrap_or(if target.is_secure() { HostHeader::Upstream } else { HostHeader::Keep })
}
