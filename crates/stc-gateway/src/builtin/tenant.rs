//! A plugin that reads the tenant from a header, for the conditions of other plugins. A proxy before this program must set
//! the header, because clients could forge it.

use bytes::Bytes;
use http::{HeaderName, StatusCode};
use stc_plugin::{Metadata, Outcome, Phase, Plugin, PluginContext, PluginError, async_trait};

/// The plugin, with settings like `{"header": "x-tenant", "required": true}`. By default the header is `x-tenant` and not
/// required.
pub(super) struct Tenant {
    header: HeaderName,
    required: bool,
}

impl Default for Tenant {
    fn default() -> Self {
        Self { header: HeaderName::from_static("x-tenant"), required: false }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    header: Option<String>,
    #[serde(default)]
    required: bool,
}

#[async_trait]
impl Plugin for Tenant {
    fn metadata(&self) -> Metadata {
        Metadata::new("tenant", env!("CARGO_PKG_VERSION")).phases([Phase::PreAuth])
    }

    async fn on_load(&mut self, configuration: &serde_json::Value) -> Result<(), PluginError> {
        let settings: Settings = super::settings::read(configuration)?;
        self.required = settings.required;
        if let Some(header) = settings.header {
            self.header = header.parse().map_err(|_| PluginError::new(format!("`{header}` is not a header")))?;
        }
        Ok(())
    }

    async fn execute(&self, _: Phase, context: &mut PluginContext) -> Result<Outcome, PluginError> {
        let tenant = context.request_headers.get(&self.header).and_then(|tenant| tenant.to_str().ok());
        context.tenant = tenant.map(String::from);
        if self.required && context.tenant.is_none() {
            let body = Bytes::from_static(br#"{"error":"no tenant"}"#);
            return Ok(Outcome::Terminate { status: StatusCode::FORBIDDEN, body });
        }
        Ok(Outcome::Continue)
    }
}
