//! The catalogue of plugins, with those that come with the program.

mod deltas;
mod headers;
mod mask_emails;
mod readable;
mod redact_secrets;
mod settings;
mod tenant;

use stc_plugin::Plugin;
use std::collections::BTreeMap;

/// Creates a plugin that is not loaded yet.
type Make = Box<dyn Fn() -> Box<dyn Plugin> + Send + Sync>;

/// The plugins that a configuration can name.
pub struct Catalogue {
    makers: BTreeMap<&'static str, Make>,
}

impl Catalogue {
    /// Creates a catalogue of the plugins that come with the program: `context`, `headers`, `mask-emails`,
    /// `redact-secrets`, `tenant`.
    #[must_use]
    pub fn builtin() -> Self {
        Self { makers: BTreeMap::new() }
            .with(crate::ContextPlugin::default)
            .with(headers::Headers::default)
            .with(mask_emails::MaskEmails::default)
            .with(redact_secrets::RedactSecrets::default)
            .with(tenant::Tenant::default)
    }

    /// Adds a plugin under the name in its metadata.
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
        Self::builtin()
    }
}
