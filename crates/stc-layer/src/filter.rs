//! Filters for the names of routes and tools.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde::de::Error as _;

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

pub(crate) fn set<'a>(globs: impl IntoIterator<Item = &'a str>) -> Result<Option<GlobSet>, globset::Error> {
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
}
