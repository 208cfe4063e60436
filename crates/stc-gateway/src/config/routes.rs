//! The routes of a configuration: which requests go to which upstream, and under which policy.

use crate::config::values::{ErrorAt, Seconds};
use crate::context;
use crate::guard::{AuthSettings, GuardSettings, RateSettings};
use crate::upstream::forwarded::HostHeader;
use crate::upstream::target::Target;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use stc_layer::{ClientRule, Filter, Policy};
use stc_plugin::path::normal;

/// An upstream for a path prefix, with a policy.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The prefix of the path in the spelling that is matched, which ends at a `/` or at the path's end.
    pub(crate) prefix: String,
    /// Host names, in lower case; `*.` at the start stands for one or more labels. Empty: every host.
    pub(crate) hosts: Vec<String>,
    /// Not empty.
    pub(crate) targets: Vec<Target>,
    pub(crate) health: Option<Health>,
    pub(crate) host: HostHeader,
    pub(crate) paths: Paths,
    pub(crate) policy: Policy,
    /// What happens to tool results in requests to models.
    pub(crate) context: Option<stc_context::Settings>,
    /// What requests need.
    pub(crate) guard: GuardSettings,
}

impl Route {
    pub(crate) fn log(&self) {
        let path = if self.prefix.is_empty() { "/" } else { self.prefix.as_str() };
        let upstream = self.targets.iter().map(|target| target.name().to_string()).collect::<Vec<_>>().join(", ");
        let (hosts, formats) = (&self.hosts, &self.policy.formats);
        tracing::info!(target: "gateway", path, upstream, ?hosts, host = ?self.host, ?formats, "route");
    }

    /// Returns the route's name in metrics: its first host, if it has any, and its path.
    pub(crate) fn name(&self) -> String {
        let path = if self.prefix.is_empty() { "/" } else { self.prefix.as_str() };
        format!("{}{path}", self.hosts.first().map_or("", String::as_str))
    }

    /// Returns whether a request for this host and path takes the route.
    pub(crate) fn fits(&self, host: &str, path: &str) -> bool {
        let under = path.strip_prefix(self.prefix.as_str());
        under.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) && self.has(host)
    }

    /// Returns whether a request for this host and path takes the route at a server that ignores the case of letters and has this prefix
    /// for it.
    pub(crate) fn nearly_fits(&self, host: &str, path: &str, prefix: &str) -> bool {
        let under = path.as_bytes().split_at_checked(prefix.len());
        under.is_some_and(|(start, rest)| {
            start.eq_ignore_ascii_case(prefix.as_bytes()) && matches!(rest.first(), None | Some(b'/'))
        }) && self.has(host)
    }

    /// Returns whether another route has the same path but for the case of letters.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.prefix.eq_ignore_ascii_case(&other.prefix)
    }

    fn has(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|pattern| names(pattern, host))
    }

    /// Returns why a later route cannot have its path and hosts, if this one takes all requests for some of them.
    fn conflict(&self, later: &Self) -> Option<String> {
        if self.prefix != later.prefix {
            return None;
        }
        if self.hosts.is_empty() && later.hosts.is_empty() {
            return Some("another route has this path".to_owned());
        }
        let taken = later.hosts.iter().find(|host| self.hosts.iter().any(|pattern| names(pattern, host)))?;
        Some(format!("an earlier route has this path for `{taken}`"))
    }
}

/// Returns whether a pattern of a route stands for a host, or for all hosts of another pattern.
fn names(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(suffix) => host.len() > suffix.len() && ends_with(host, suffix),
        None => host.eq_ignore_ascii_case(pattern),
    }
}

fn ends_with(host: &str, suffix: &str) -> bool {
    host.get(host.len() - suffix.len()..).is_some_and(|end| end.eq_ignore_ascii_case(suffix))
}

/// What happens to the paths of a route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Paths {
    /// They are forwarded in one spelling, or refused.
    #[default]
    Normal,
    /// They are forwarded unchanged.
    AsTheyCome,
}

/// The settings of a route's health checks.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Health {
    /// The path at the backend. A status of 200 to 299 is healthy.
    pub(crate) path: String,
    /// Seconds between two checks: 10.
    #[serde(default = "usual_interval")]
    pub(crate) interval: Seconds,
}

const fn usual_interval() -> Seconds {
    Seconds::of(10)
}

impl Health {
    /// Checks that the path can be requested.
    fn check(&self) -> Result<(), &'static str> {
        let valid = self.path.starts_with('/') && self.path.parse::<http::Uri>().is_ok();
        if valid { Ok(()) } else { Err("the path of a health check must start with `/`") }
    }
}

/// A route as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileRoute {
    /// `/` by default.
    path: Option<toml::Spanned<String>>,
    #[serde(default)]
    hosts: Vec<toml::Spanned<String>>,
    /// One backend, or `upstreams` for several.
    upstream: Option<toml::Spanned<String>>,
    #[serde(default)]
    upstreams: Vec<toml::Spanned<String>>,
    health: Option<toml::Spanned<Health>>,
    /// Whether `path` is taken off before the request goes to the upstream: no.
    #[serde(default)]
    strip: bool,
    /// The file's `host` by default.
    host: Option<HostHeader>,
    /// Whether paths are forwarded in one spelling, or as they come: `normal`.
    #[serde(default)]
    paths: Paths,
    /// The file's `[stc]` by default.
    stc: Option<Policy>,
    /// Whether tool results in requests to models are made shorter: no. A table is merged over the file's `[context]`.
    context: Option<toml::Spanned<toml::Value>>,
    /// Whether this path compresses the rows of conversations itself, without an upstream: no.
    #[serde(default)]
    compress: bool,
    /// The file's `[auth]` by default; `{}` requires nothing.
    auth: Option<AuthSettings>,
    /// The file's `[rate]` by default, in which all routes count together.
    rate: Option<toml::Spanned<RateSettings>>,
    /// The MCP tools that can be called: all.
    tools: Option<Filter>,
}

/// What applies to routes that do not say otherwise.
pub(crate) struct Defaults {
    pub(crate) policy: Policy,
    pub(crate) host: Option<HostHeader>,
    pub(crate) context: context::settings::Defaults,
    pub(crate) guard: GuardSettings,
}

impl Defaults {
    /// Creates the route for everything that matches no other.
    pub(crate) fn route(&self, target: Target) -> Result<Route, ErrorAt> {
        let (host, targets) = (host(self.host, &target), vec![target]);
        let (prefix, hosts, policy) = (String::new(), Vec::new(), self.policy.clone());
        let (context, guard) = (self.context.route(None)?, self.guard.clone());
        check_rules(&policy, &guard).map_err(|why| (None, why.to_owned()))?;
        let paths = Paths::default();
        Ok(Route { prefix, hosts, targets, health: None, host, paths, policy, context, guard })
    }

    /// Reads what a route requires; its own settings replace those of the file.
    fn guard(&self, route: &mut FileRoute) -> Result<GuardSettings, ErrorAt> {
        let mut guard = self.guard.clone();
        let host = route.hosts.first().map_or("", |host| host.get_ref());
        let scope = format!("{host}{}", route.path.as_ref().map_or("/", |path| path.get_ref()));
        if let Some(auth) = route.auth.take() {
            guard.auth = Some(auth);
        }
        if let Some(rate) = route.rate.take() {
            rate.get_ref().check().map_err(|why| (Some(rate.span().start), why))?;
            guard.rate = Some((scope, rate.into_inner()));
        }
        guard.tools = route.tools.take();
        Ok(guard)
    }
}

/// A path that compresses.
#[derive(Clone, Debug)]
pub(crate) struct CompressRoute {
    pub(crate) path: String,
    pub(crate) settings: stc_context::Settings,
    pub(crate) guard: GuardSettings,
}

/// Reads the routes, and the paths that compress. Routes with host names come first, then those with the longest prefix.
pub(crate) fn read(
    written: Vec<toml::Spanned<FileRoute>>,
    defaults: &Defaults,
) -> Result<(Vec<Route>, Vec<CompressRoute>), ErrorAt> {
    let mut routes: Vec<Route> = Vec::new();
    let mut compressing: Vec<CompressRoute> = Vec::new();
    for route in written {
        let start = route.span().start;
        if route.get_ref().compress {
            let route = compressor(start, route.into_inner(), defaults)?;
            if compressing.iter().any(|other| other.path == route.path) {
                return Err((Some(start), "another route has this path".to_owned()));
            }
            compressing.push(route);
            continue;
        }
        let (place, route) = one(start, route.into_inner(), defaults)?;
        if let Some(why) = routes.iter().find_map(|earlier| earlier.conflict(&route)) {
            return Err((Some(place), why));
        }
        routes.push(route);
    }
    routes.sort_by_key(|route| (route.hosts.is_empty(), std::cmp::Reverse(route.prefix.len())));
    Ok((routes, compressing))
}

/// Reads a path that compresses.
fn compressor(start: usize, mut route: FileRoute, defaults: &Defaults) -> Result<CompressRoute, ErrorAt> {
    let place = route.path.as_ref().map_or(start, |path| path.span().start);
    let at = |why: &str| (Some(place), why.to_owned());
    let path = route.path.as_ref().map_or(String::new(), |path| path.get_ref().clone());
    match () {
        () if route.tools.is_some() => Err(at("a path that compresses calls no tools")),
        () if !path.starts_with('/') => Err(at("a path must start with `/`")),
        () if route.upstream.is_some() || !route.upstreams.is_empty() => {
            Err(at("a path that compresses has no upstream"))
        }
        () if !route.hosts.is_empty() => Err(at("a path that compresses has no hosts")),
        () => {
            let own = route.context.as_ref().filter(|own| own.get_ref().is_table());
            let settings = defaults.context.compress(own)?;
            let guard = defaults.guard(&mut route)?;
            let path = prefix(&path).map_err(|why| (Some(place), why))?;
            Ok(CompressRoute { path, settings, guard })
        }
    }
}

/// Reads a route, and returns the offset of its path as well.
fn one(start: usize, mut route: FileRoute, defaults: &Defaults) -> Result<(usize, Route), ErrorAt> {
    let place = route.path.as_ref().map_or(start, |path| path.span().start);
    let at = |why: &str| (Some(place), why.to_owned());
    let path = route.path.as_ref().map_or("/", |path| path.get_ref());
    if !path.starts_with('/') {
        return Err(at("a path must start with `/`"));
    }
    let prefix = prefix(path).map_err(|why| (Some(place), why))?;
    let guard = defaults.guard(&mut route)?;
    let policy = route.stc.unwrap_or_else(|| defaults.policy.clone());
    policy.check().map_err(at)?;
    check_rules(&policy, &guard).map_err(at)?;
    let urls: Vec<_> = match (route.upstream, route.upstreams) {
        (Some(url), others) if others.is_empty() => vec![url],
        (None, urls) if !urls.is_empty() => urls,
        (Some(_), _) => return Err(at("a route has `upstream` or `upstreams`, not both")),
        (None, _) => return Err(at("a route needs `upstream` or `upstreams`")),
    };
    let mut targets = Vec::new();
    for url in urls {
        let target = Target::parse(url.get_ref()).map_err(|why| (Some(url.span().start), why))?;
        targets.push(if route.strip { target.stripping(&prefix) } else { target });
    }
    if targets.iter().any(|target| target.is_secure() != targets[0].is_secure()) {
        return Err(at("the upstreams of a route are all http or all https"));
    }
    for host in &route.hosts {
        let name = host.get_ref().strip_prefix("*.").unwrap_or(host.get_ref());
        if name.is_empty() || name.contains(['*', ':', '/']) {
            let why = format!("`{}` is not a host name, or `*.` and a host name", host.get_ref());
            return Err((Some(host.span().start), why));
        }
    }
    let hosts = route.hosts.into_iter().map(|host| host.into_inner().to_ascii_lowercase()).collect();
    if let Some(health) = &route.health {
        health.get_ref().check().map_err(|why| (Some(health.span().start), why.to_owned()))?;
    }
    let health = route.health.map(toml::Spanned::into_inner);
    let host = host(route.host.or(defaults.host), &targets[0]);
    let context = defaults.context.route(route.context.as_ref())?;
    let paths = route.paths;
    Ok((place, Route { prefix, hosts, targets, health, host, paths, policy, context, guard }))
}

/// Returns a route's path in the spelling that is matched, without a slash at its end.
fn prefix(path: &str) -> Result<String, String> {
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        return Ok(String::new());
    }
    normal(path).map(|normal| normal.matched.into_owned()).map_err(|why| format!("no request has it: {}", why.text()))
}

/// Checks that rules for clients can see what they look at.
fn check_rules(policy: &Policy, guard: &GuardSettings) -> Result<(), &'static str> {
    let removed = guard.auth.as_ref().is_some_and(AuthSettings::removes_token);
    if removed && policy.clients.iter().filter_map(ClientRule::header).any(|header| header == AUTHORIZATION) {
        return Err("no rule for clients fits `authorization` where `auth` removes it: set `forward`, or use `tenant`");
    }
    Ok(())
}

/// Returns the `Host` for an upstream: the client's for `http`. A server with TLS often answers 421 to a name that its
/// certificate does not have, so it gets its own.
fn host(written: Option<HostHeader>, target: &Target) -> HostHeader {
    written.unwrap_or(if target.is_secure() { HostHeader::Upstream } else { HostHeader::Keep })
}
