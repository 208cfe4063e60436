//! The path that rules are matched by, where it is not the one that is forwarded.

use http::request::Parts;
use http::{Extensions, Uri};
use std::sync::Arc;

/// The path of a request in the one spelling that routes, globs and endpoints are matched by, in its extensions; see
/// [`stc_plugin::path`]. Without it, that of the URL is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedPath(pub Arc<str>);

impl MatchedPath {
    /// Returns the path that a request is matched by.
    #[must_use]
    pub fn of(parts: &Parts) -> &str {
        Self::among(&parts.extensions, &parts.uri)
    }

    /// Returns the path that a request with these extensions and this URL is matched by.
    #[must_use]
    pub fn among<'a>(extensions: &'a Extensions, uri: &'a Uri) -> &'a str {
        extensions.get().map_or_else(|| uri.path(), |Self(path)| path)
    }
}
