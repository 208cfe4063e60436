//! What is written in a configuration, is right, and has no effect.

use crate::config::routes::{CompressRoute, Route};
use crate::config::values::ErrorAt;
use crate::context;
use toml::de::DeTable;

/// A configuration that was read.
pub(crate) struct Effective<'a> {
    pub(crate) document: &'a DeTable<'a>,
    pub(crate) routes: &'a [Route],
    pub(crate) compress: &'a [CompressRoute],
    /// Whether there is a route for what matches no other.
    pub(crate) has_default: bool,
    /// Whether a flag or a variable has the mode of a context.
    pub(crate) has_context_flag: bool,
    pub(crate) has_admin: bool,
}

impl Effective<'_> {
    /// Returns the warnings, in the order of the file.
    pub(crate) fn warnings(&self) -> Vec<ErrorAt> {
        let mut found = Vec::new();
        self.for_no_route(&mut found);
        self.for_no_context(&mut found);
        self.of_paths_that_compress(&mut found);
        self.of_plugins(&mut found);
        for name in ["admin_token", "admin_hosts", "prices"].into_iter().filter(|_| !self.has_admin) {
            found.extend(
                self.place(name)
                    .map(|place| (Some(place), format!("`{name}` has no effect without `admin` or --admin"))),
            );
        }
        found.extend(context::warnings::of(self.document, self.has_context_flag));
        found.sort();
        found
    }

    /// Returns where a member of the file is.
    fn place(&self, name: &str) -> Option<usize> {
        self.document.get(name).map(|value| value.span().start)
    }

    /// Returns the routes as they are written.
    fn written(&self) -> impl Iterator<Item = &DeTable<'_>> {
        let routes = self.document.get("routes").and_then(|routes| routes.get_ref().as_array());
        routes.into_iter().flat_map(|routes| routes.iter()).filter_map(|route| route.get_ref().as_table())
    }

    /// What applies to routes that do not say otherwise, where all do; and a route that no request reaches.
    fn for_no_route(&self, found: &mut Vec<ErrorAt>) {
        for name in ["stc", "auth", "rate"] {
            let own = self.written().all(|route| route.contains_key(name) || (name == "stc" && compresses(route)));
            if let Some(place) = self.place(name).filter(|_| own && !self.has_default) {
                found.push((Some(place), format!("`[{name}]` applies to no route: each has its own")));
            }
        }
        let all = |route: &&Route| route.prefix.is_empty() && route.hosts.is_empty();
        if self.has_default && self.routes.iter().filter(all).count() > 1 {
            found.push((self.place("upstream"), "no request reaches `upstream`: a route has the path `/`".to_owned()));
        }
    }

    fn for_no_context(&self, found: &mut Vec<ErrorAt>) {
        if !self.compress.is_empty() || self.routes.iter().any(|route| route.context.is_some()) {
            return;
        }
        let advice =
            "applies to no route: set `context = true` on those whose upstream is a model, or start with --context";
        match self.place("context") {
            Some(place) => found.push((Some(place), format!("`[context]` {advice}"))),
            None if self.has_context_flag => found.push((None, format!("`--context` {advice}"))),
            None => {}
        }
    }

    fn of_paths_that_compress(&self, found: &mut Vec<ErrorAt>) {
        for route in self.written().filter(|route| compresses(route)) {
            for name in ["strip", "host", "health", "stc"] {
                let Some(value) = route.get(name) else { continue };
                let why = format!("`{name}` has no effect on a path that compresses: it has no upstream");
                found.push((Some(value.span().start), why));
            }
            if let Some(value) = route.get("context").filter(|value| value.get_ref().as_bool() == Some(false)) {
                let why = "`context = false` has no effect on a path that compresses";
                found.push((Some(value.span().start), why.to_owned()));
            }
        }
    }

    /// Plugins for paths that no route has.
    fn of_plugins(&self, found: &mut Vec<ErrorAt>) {
        let plugins = self.document.get("plugins").and_then(|plugins| plugins.get_ref().as_array());
        let plugins = plugins.into_iter().flat_map(|plugins| plugins.iter());
        let globs = plugins.filter_map(|plugin| plugin.get_ref().as_table()?.get("routes")?.get_ref().as_array());
        for glob in globs.flat_map(|globs| globs.iter()) {
            let Some(text) = glob.get_ref().as_str() else { continue };
            if !self.routes.iter().any(|route| may_match(text, &route.prefix)) {
                found.push((Some(glob.span().start), format!("no route has a path that `{text}` matches")));
            }
        }
    }
}

fn compresses(route: &DeTable<'_>) -> bool {
    route.get("compress").is_some_and(|value| value.get_ref().as_bool() == Some(true))
}

/// Returns whether a glob can match a path of a route, as far as the letters before its first wildcard tell.
fn may_match(glob: &str, prefix: &str) -> bool {
    let literal = glob.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
    if literal.len() == glob.len() {
        return literal == prefix || literal.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
    }
    literal.starts_with(prefix) || prefix.starts_with(literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_of_paths_that_no_route_has() {
        for (glob, prefix, expected) in [
            ("/mcp/**", "/mcp", true),
            ("/mcp*", "/mcp/tools", true),
            ("/mcp", "/mcp", true),
            ("/mcp/x", "/mcp", true),
            ("/mcpx", "/mcp", false),
            ("/mpc/**", "/mcp", false),
            ("**/tools", "/mcp", true),
            ("/anything", "", true),
            ("mcp", "", false),
            ("mcp/**", "/mcp", false),
        ] {
            assert_eq!(may_match(glob, prefix), expected, "{glob} {prefix}");
        }
    }
}
