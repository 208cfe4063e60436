//! A plugin that reads the tenant from a header, for the conditions of other plugins. A proxy before this program must set
//! the header, because clients could forge it. A tenant that credentials have proved stays, and a
//! request that names another is refused.

use crate::guard::TENANT_LENGTH;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
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

/// The tenant that a header named, in the context's store: one that is there is not proved.
#[derive(Clone)]
struct Named(String);

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
        let named = tenant(context.request_headers.get_all(&self.header).iter().map(HeaderValue::as_bytes));
        let before = context.store.get().map(|Named(tenant)| &**tenant);
        let proved = context.tenant.as_deref().filter(|tenant| before != Some(*tenant));
        match (named, proved) {
            (Ok(None), Some(_)) => {}
            (Ok(Some(named)), Some(proved)) if named == proved => {}
            // Not ignored: the upstream would read it, and a proxy that counts on it would not notice.
            (_, Some(_)) => {
                return Ok(ended(StatusCode::FORBIDDEN, br#"{"error":"not the tenant of the credentials"}"#));
            }
            (Ok(Some(named)), None) => {
                let named = named.to_owned();
                context.store.insert(Named(named.clone()));
                context.tenant = Some(named);
            }
            (Ok(None), None) if self.required && context.tenant.is_none() => {
                return Ok(ended(StatusCode::FORBIDDEN, br#"{"error":"no tenant"}"#));
            }
            (Ok(None), None) => {}
            (Err(NotATenant), None) => return Ok(ended(StatusCode::BAD_REQUEST, br#"{"error":"not one tenant"}"#)),
        }
        Ok(Outcome::Continue)
    }
}

/// Headers that name no tenant, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NotATenant;

/// Reads the lines of a header. A proxy that adds a line to that of its client leaves it open which one counts.
fn tenant<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Result<Option<&'a str>, NotATenant> {
    let (line, None) = (lines.next().unwrap_or_default(), lines.next()) else { return Err(NotATenant) };
    let tenant = std::str::from_utf8(line).map_err(|_| NotATenant)?;
    match tenant.len() {
        0 => Ok(None),
        1..=TENANT_LENGTH => Ok(Some(tenant)),
        _ => Err(NotATenant),
    }
}

const fn ended(status: StatusCode, body: &'static [u8]) -> Outcome {
    Outcome::Terminate { status, body: Bytes::from_static(body) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Method;

    /// Returns the tenant after the plugin, or the status of its answer.
    async fn ran(required: bool, proved: Option<&str>, lines: &[&str]) -> Result<Option<String>, u16> {
        let plugin = Tenant { required, ..Tenant::default() };
        let mut context = PluginContext::new(Method::GET, "/");
        context.tenant = proved.map(String::from);
        for line in lines {
            context.request_headers.append("x-tenant", HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        let outcome = plugin.execute(Phase::PreAuth, &mut context).await.unwrap();
        assert!(proved.is_none() || context.tenant.as_deref() == proved, "never overwritten or cleared");
        match outcome {
            Outcome::Terminate { status, .. } => Err(status.as_u16()),
            Outcome::Continue => Ok(context.tenant),
        }
    }

    #[tokio::test]
    async fn a_proved_tenant_stays() {
        let long = "x".repeat(TENANT_LENGTH + 1);
        for required in [false, true] {
            for lines in [&[][..], &["alice"], &[""]] {
                assert_eq!(ran(required, Some("alice"), lines).await, Ok(Some("alice".to_owned())), "{lines:?}");
            }
            for lines in [&["bob"][..], &["alice", "bob"], &["alice", "alice"], &["Alice"], &["\u{e9}"], &[&*long]] {
                assert_eq!(ran(required, Some("alice"), lines).await, Err(403), "{lines:?}");
            }
        }
    }

    /// Of two headers without credentials, the later plugin's counts; neither proves anything.
    #[tokio::test]
    async fn a_second_header_may_name_another() {
        let run = async |proved: Option<&str>, team: Option<&'static str>| {
            let mut context = PluginContext::new(Method::GET, "/");
            context.tenant = proved.map(String::from);
            context.request_headers.insert("x-tenant", HeaderValue::from_static("alice"));
            if let Some(team) = team {
                context.request_headers.insert("x-team", HeaderValue::from_static(team));
            }
            let second = Tenant { header: HeaderName::from_static("x-team"), required: true };
            for plugin in [Tenant::default(), second] {
                if let Outcome::Terminate { status, .. } = plugin.execute(Phase::PreAuth, &mut context).await.unwrap() {
                    return Err(status.as_u16());
                }
            }
            Ok(context.tenant.unwrap())
        };
        assert_eq!(run(None, Some("search")).await.as_deref(), Ok("search"));
        assert_eq!(run(None, None).await.as_deref(), Ok("alice"), "there is a tenant already");
        assert_eq!(run(Some("alice"), Some("alice")).await.as_deref(), Ok("alice"));
        assert_eq!(run(Some("alice"), Some("search")).await, Err(403), "proved");
    }

    #[tokio::test]
    async fn without_credentials_the_header_names_one() {
        let long = "x".repeat(TENANT_LENGTH + 1);
        for (lines, expected) in [
            (&["bob"][..], Ok(Some("bob"))),
            (&[], Ok(None)),
            (&[""], Ok(None)),
            (&["bob", "alice"], Err(400)),
            (&["bob", "bob"], Err(400)),
            (&[&*long], Err(400)),
        ] {
            for required in [false, true] {
                let got = ran(required, None, lines).await;
                let expected = if required && expected == Ok(None) { Err(403) } else { expected };
                assert_eq!(got, expected.map(|tenant| tenant.map(String::from)), "{lines:?}");
            }
        }
    }
}
