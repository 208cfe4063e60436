//! How an operator binds a plugin: its place in the order, for whom it runs, how long it may take.

use crate::PluginContext;
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::Value;
use std::time::Duration;

/// What an operator says about one plugin.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Lower runs earlier; equals run in the order they were added. Filters that must see plain JSON belong below
    /// [`Binding::COMPRESSION`].
    pub priority: i32,
    /// For which requests it runs.
    pub conditions: Conditions,
    /// How long one call may take: 1 second.
    pub timeout: Duration,
    /// Its configuration, handed to `on_load`.
    pub configuration: Value,
}

impl Binding {
    /// The priority that compression is bound with: 900. What reads or alters content comes before it.
    pub const COMPRESSION: i32 = 900;

    /// The default binding at this priority.
    #[must_use]
    pub fn at(priority: i32) -> Self {
        Self { priority, ..Self::default() }
    }

    /// With this configuration.
    #[must_use]
    pub fn configured(mut self, configuration: Value) -> Self {
        self.configuration = configuration;
        self
    }

    /// Only under these conditions.
    #[must_use]
    pub fn when(mut self, conditions: Conditions) -> Self {
        self.conditions = conditions;
        self
    }

    /// With this much time.
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
        }
    }
}

/// For which requests a plugin runs: globs on tool, route and tenant. All that are set must match; none set match
/// everything. A request without a tool does not match a condition on tools.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    tools: Option<GlobSet>,
    routes: Option<GlobSet>,
    tenants: Option<GlobSet>,
}

impl Conditions {
    /// Only calls of tools like these.
    pub fn tools<'a>(mut self, globs: impl IntoIterator<Item = &'a str>) -> Result<Self, globset::Error> {
        self.tools = Some(set(globs)?);
        Ok(self)
    }

    /// Only paths like these.
    pub fn routes<'a>(mut self, globs: impl IntoIterator<Item = &'a str>) -> Result<Self, globset::Error> {
        self.routes = Some(set(globs)?);
        Ok(self)
    }

    /// Only tenants like these.
    pub fn tenants<'a>(mut self, globs: impl IntoIterator<Item = &'a str>) -> Result<Self, globset::Error> {
        self.tenants = Some(set(globs)?);
        Ok(self)
    }

    /// Whether this request is one of them.
    #[must_use]
    pub fn hold_for(&self, context: &PluginContext) -> bool {
        let matches = |set: &Option<GlobSet>, name: Option<&str>| {
            set.as_ref().is_none_or(|set| name.is_some_and(|name| set.is_match(name)))
        };
        matches(&self.tools, context.tool.as_deref())
            && matches(&self.routes, Some(&context.path))
            && matches(&self.tenants, context.tenant.as_deref())
    }
}

fn set<'a>(globs: impl IntoIterator<Item = &'a str>) -> Result<GlobSet, globset::Error> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(Glob::new(glob)?);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    #[test]
    fn all_conditions_that_are_set_must_match() {
        let conditions = Conditions::default().tools(["list_*"]).unwrap().routes(["/mcp/**"]).unwrap();
        let mut context = PluginContext::new(Method::POST, "/mcp/a");
        assert!(!conditions.hold_for(&context), "no tool");
        context.tool = Some("list_orders".to_owned());
        assert!(conditions.hold_for(&context));
        context.path = "/other".to_owned();
        assert!(!conditions.hold_for(&context));
        let tenants = Conditions::default().tenants(["acme", "beta-?"]).unwrap();
        context.tenant = Some("beta-7".to_owned());
        assert!(tenants.hold_for(&context));
        context.tenant = Some("gamma".to_owned());
        assert!(!tenants.hold_for(&context));
        assert!(Conditions::default().hold_for(&context));
    }
}
