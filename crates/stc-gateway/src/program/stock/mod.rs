//! The plugins that come with the program, and the place for those of others.

mod headers;
// The SDK's example, taken as a third party would take it.
#[path = "../../../../stc-plugin/examples/mask_emails/plugin.rs"]
mod mask_emails;
mod tenant;

use stc_plugin::Plugin;
use std::collections::BTreeMap;

/// Makes a plugin that is not loaded yet.
type Make = Box<dyn Fn() -> Box<dyn Plugin> + Send + Sync>;

/// The plugins that a configuration can name.
pub struct Catalogue {
    makers: BTreeMap<&'static str, Make>,
}

impl Catalogue {
    /// Those that come with the program: `headers`, `mask-emails`, `tenant`.
    #[must_use]
    pub fn stock() -> Self {
        Self { makers: BTreeMap::new() }
            .with(headers::Headers::default)
            .with(mask_emails::MaskEmails::default)
            .with(tenant::Tenant::default)
    }

    /// With one more, under the name that its metadata says.
    #[must_use]
    pub fn with<P: Plugin>(mut self, make: impl Fn() -> P + Send + Sync + 'static) -> Self {
        let name = make().metadata().name;
        self.makers.insert(name, Box::new(move || Box::new(make())));
        self
    }

    pub(crate) fn make(&self, name: &str) -> Option<Box<dyn Plugin>> {
        self.makers.get(name).map(|make| make())
    }

    pub(crate) fn names(&self) -> String {
        self.makers.keys().copied().collect::<Vec<_>>().join(", ")
    }
}

impl Default for Catalogue {
    fn default() -> Self {
        Self::stock()
    }
}

/// What serde says of settings, as a plugin's error.
fn said(error: serde_json::Error) -> stc_plugin::PluginError {
    stc_plugin::PluginError::new(error.to_string())
}
