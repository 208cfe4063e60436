//! The binding of a plugin: its order, its conditions, its time limit.

use crate::{PluginContext, path};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde_json::Value;
use std::time::Duration;

/// The operator's settings for one plugin.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Lower runs earlier; equal priorities run in the order of addition. Filters that must see plain JSON need a priority
    /// below [`Binding::COMPRESSION`].
    pub priority: i32,
    /// The requests for which it runs.
    pub conditions: Conditions,
    /// The limit for one call: 1 second.
    pub timeout: Duration,
    /// Its configuration, passed to `on_load`.
    pub configuration: Value,
    /// Whether a fault of the plugin is to end the request: no. The registry only reports it, in [`Fault::required`].
    ///
    /// [`Fault::required`]: crate::Fault::required
    pub required: bool,
}

impl Binding {
    /// The priority of compression: 900. Plugins that read or change content run before it.
    pub const COMPRESSION: i32 = 900;

    /// Creates the default binding at this priority.
    #[must_use]
    pub fn at(priority: i32) -> Self {
        Self { priority, ..Self::default() }
    }

    /// Sets the configuration.
    #[must_use]
    pub fn configured(mut self, configuration: Value) -> Self {
        self.configuration = configuration;
        self
    }

    /// Sets the conditions.
    #[must_use]
    pub fn when(mut self, conditions: Conditions) -> Self {
        self.conditions = conditions;
        self
    }

    /// Sets whether a fault is to end the request.
    #[must_use]
    pub const fn required(mut self, required: bool) -> Self {
        self.required = required;
        self
    }

    /// Sets the time limit.
    #[must_use]
    pub const fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

impl Default for Binding {
    fn default() -> Self {
        Self {
            priority: 500,
            conditions: Conditions::default(),
            timeout: Duration::from_secs(1),
            configuration: Value::Null,
            required: false,
        }
    }
}

/// The requests for which a plugin runs: globs on tool, route and tenant. All conditions that are set must match. A condition on
/// tools holds if one of the tools that the request calls matches, or if it cannot be told what the request calls. A request
/// without a tool does not match it. `*` does not match `/`; `**` does.
///
/// A condition on routes holds if the path matches, or what the most lenient server reads there ([`path::loose`]), in any case of
/// letters: a path in another spelling must not pass by a plugin.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    tools: Option<GlobSet>,
    routes: Option<GlobSet>,
    tenants: Option<GlobSet>,
}

impl Conditions {
    /// Requires a tool that matches one of these globs.
    pub fn tools<'a>(mut self, globs: impl IntoIterator<Item = &'a str>) -> Result<Self, globset::Error> {
        self.tools = Some(set(globs, false)?);
        Ok(self)
    }

    /// Requires a path that matches one of these globs.
    pub fn routes<'a>(mut self, globs: impl IntoIterator<Item = &'a str>) -> Result<Self, globset::Error> {
        self.routes = Some(set(globs, true)?);
        Ok(self)
    }

    /// Requires a tenant that matches one of these globs.
    pub fn tenants<'a>(mut self, globs: impl IntoIterator<Item = &'a str>) -> Result<Self, globset::Error> {
        self.tenants = Some(set(globs, false)?);
        Ok(self)
    }

    /// Returns whether the body of a request decides whether the conditions hold: there is one on tools, and the path matches. The
    /// tenant may not be known yet.
    #[must_use]
    pub fn depend_on_tools(&self, context: &PluginContext) -> bool {
        self.tools.is_some() && self.may_mean_path(context)
    }

    fn may_mean_path(&self, context: &PluginContext) -> bool {
        let matches = |set: &GlobSet| set.is_match(&context.path) || set.is_match(&*path::loose(&context.path));
        self.routes.as_ref().is_none_or(matches)
    }

    fn may_mean_tool(&self, context: &PluginContext) -> bool {
        let Some(set) = &self.tools else { return true };
        let Some(more) = &context.more_tools else { return true };
        more.iter().chain(&context.tool).any(|tool| set.is_match(tool))
    }

    /// Returns whether the conditions hold for a request.
    #[must_use]
    pub fn hold_for(&self, context: &PluginContext) -> bool {
        let matches = |set: &Option<GlobSet>, name: Option<&str>| {
            set.as_ref().is_none_or(|set| name.is_some_and(|name| set.is_match(name)))
        };
        self.may_mean_tool(context) && self.may_mean_path(context) && matches(&self.tenants, context.tenant.as_deref())
    }
}

fn set<'a>(globs: impl IntoIterator<Item = &'a str>, any_case: bool) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(GlobBuilder::new(glob).literal_separator(true).case_insensitive(any_case).build()?);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    #[test]
    fn a_tool_that_may_be_called_counts() {
        let conditions = Conditions::default().tools(["list_*"]).unwrap().routes(["/mcp"]).unwrap();
        let mut context = PluginContext::new(Method::POST, "/mcp");
        assert!(conditions.depend_on_tools(&context) && !conditions.hold_for(&context));
        for (tools, expected) in [
            (Some(vec!["x".to_owned(), "list_a".to_owned()]), true),
            (Some(vec!["x".to_owned()]), false),
            (Some(Vec::new()), false),
            (None, true),
        ] {
            context.may_call(tools.clone());
            assert_eq!(conditions.hold_for(&context), expected, "{tools:?}");
        }
        context.path = "/other".to_owned();
        assert!(!conditions.depend_on_tools(&context) && !conditions.hold_for(&context));
        assert!(!Conditions::default().depend_on_tools(&context));
    }

    #[test]
    fn all_conditions_that_are_set_must_match() {
        let conditions = Conditions::default().tools(["list_*"]).unwrap().routes(["/mcp/**"]).unwrap();
        let mut context = PluginContext::new(Method::POST, "/mcp/a");
        assert!(!conditions.hold_for(&context), "no tool");
        context.tool = Some("list_orders".to_owned());
        assert!(conditions.hold_for(&context));
        context.path = "/other".to_owned();
        assert!(!conditions.hold_for(&context));
        let orders = Conditions::default().routes(["/orders/*"]).unwrap();
        for (path, expected) in [("/orders/7", true), ("/orders/7/items", false)] {
            context.path = path.to_owned();
            assert_eq!(orders.hold_for(&context), expected, "{path}");
        }
        let guarded = Conditions::default().routes(["/mcp/**"]).unwrap();
        for path in ["/MCP/x", "/mcp;a/x", "/mcp%3Ba/x", "/%256dcp/x", "//mcp/x", "/a/..%2fmcp/x", "/mcp%20/x"] {
            context.path = path.to_owned();
            assert!(guarded.hold_for(&context), "{path}");
        }
        let tenants = Conditions::default().tenants(["acme", "beta-?"]).unwrap();
        context.tenant = Some("beta-7".to_owned());
        assert!(tenants.hold_for(&context));
        context.tenant = Some("gamma".to_owned());
        assert!(!tenants.hold_for(&context));
        assert!(Conditions::default().hold_for(&context));
    }
}
