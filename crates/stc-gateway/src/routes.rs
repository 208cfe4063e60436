//! The routes of a configuration: which requests go to which upstream, and under which policy.

use crate::context;
use crate::forwarded::HostHeader;
use crate::target::Target;
use crate::values::ErrorAt;
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
    /// What happens to tool results in requests to models.
    pub(crate) context: Option<stc_context::Settings>,
}

/// A route as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileRoute {
    path: toml::Spanned<String>,
    upstream: Option<toml::Spanned<String>>,
    /// Whether `path` is taken off before the request goes to the upstream: no.
    #[serde(default)]
    strip: bool,
    /// The file's `host` by default.
    host: Option<HostHeader>,
    /// The file's `[stc]` by default.
    stc: Option<Policy>,
    /// Whether tool results in requests to models are made shorter: no. A table is merged over the file's `[context]`.
    context: Option<toml::Spanned<toml::Value>>,
    /// Whether this path compresses the rows of conversations itself, without an upstream: no.
    #[serde(default)]
    compress: bool,
}

/// What applies to routes that do not say otherwise.
pub(crate) struct Defaults {
    pub(crate) policy: Policy,
    pub(crate) host: Option<HostHeader>,
    pub(crate) context: context::settings::Defaults,
}

impl Defaults {
    /// Creates the route for everything that matches no other.
    pub(crate) fn route(&self, target: Target) -> Result<Route, ErrorAt> {
        let (prefix, policy, context) = (String::new(), self.policy.clone(), self.context.route(None)?);
        Ok(Route { prefix, host: host(self.host, &target), target, policy, context })
    }
}

/// The paths that compress, with their settings.
pub(crate) type Compressing = Vec<(String, stc_context::Settings)>;

/// Reads the routes, the longest prefix first, and the paths that compress.
pub(crate) fn read(written: Vec<FileRoute>, defaults: &Defaults) -> Result<(Vec<Route>, Compressing), ErrorAt> {
    let mut routes: Vec<Route> = Vec::new();
    let mut compressing: Compressing = Vec::new();
    for route in written {
        let at = |why: &str| (Some(route.path.span().start), why.to_owned());
        let prefix = route.path.get_ref().trim_end_matches('/').to_owned();
        if !route.path.get_ref().starts_with('/') {
            return Err(at("a path must start with `/`"));
        }
        let taken = |path: &String| *path == prefix;
        if routes.iter().any(|other| taken(&other.prefix)) || compressing.iter().any(|(path, _)| taken(path)) {
            return Err(at("another route has this path"));
        }
        let policy = route.stc.clone().unwrap_or_else(|| defaults.policy.clone());
        policy.check().map_err(at)?;
        if route.compress {
            if route.upstream.is_some() {
                return Err(at("a path that compresses has no upstream"));
            }
            let own = route.context.as_ref().filter(|own| own.get_ref().is_table());
            compressing.push((prefix, defaults.context.compress(own)?));
            continue;
        }
        let Some(upstream) = &route.upstream else { return Err(at("a route needs an `upstream`")) };
        let context = defaults.context.route(route.context.as_ref())?;
        let target = Target::parse(upstream.get_ref()).map_err(|why| (Some(upstream.span().start), why))?;
        let target = if route.strip { target.stripping(&prefix) } else { target };
        routes.push(Route { prefix, host: host(route.host.or(defaults.host), &target), target, policy, context });
    }
    routes.sort_by_key(|route| std::cmp::Reverse(route.prefix.len()));
    Ok((routes, compressing))
}

/// Returns the `Host` for an upstream: the client's for `http`. A server with TLS often answers 421 to a name that its
/// certificate does not have, so it gets its own.
fn host(written: Option<HostHeader>, target: &Target) -> HostHeader {
    written.unwrap_or(if target.is_secure() { HostHeader::Upstream } else { HostHeader::Keep })
}
