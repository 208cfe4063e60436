//! JSON Web Tokens: signature, times, issuer, audience, and the claim that names the tenant.

use super::ring_provider;
use super::settings::{JwtSettings, Signature, TENANT_LENGTH};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The shortest secret for HS256 in bytes: that of its digest (RFC 7518, 3.2).
const SHORTEST_SECRET: usize = 32;

/// A key, and what its tokens must say.
pub(crate) struct Jwt {
    key: DecodingKey,
    validation: Validation,
    tenant: String,
}

impl Jwt {
    /// Reads the key's file.
    pub(crate) fn load(settings: &JwtSettings) -> Result<Self, String> {
        let at = |why: String| format!("{}: {why}", settings.key.display());
        let bytes = std::fs::read(&settings.key).map_err(|error| at(error.to_string()))?;
        Self::new(settings, &bytes).map_err(at)
    }

    fn new(settings: &JwtSettings, bytes: &[u8]) -> Result<Self, String> {
        ring_provider::install();
        let (algorithm, key) = match settings.algorithm {
            Signature::HS256 => {
                // The line feed that an editor adds is not part of the secret.
                let secret = bytes.trim_ascii_end();
                if secret.len() < SHORTEST_SECRET {
                    return Err(format!("a secret for HS256 has at least {SHORTEST_SECRET} bytes"));
                }
                (Algorithm::HS256, Ok(DecodingKey::from_secret(secret)))
            }
            Signature::RS256 => (Algorithm::RS256, DecodingKey::from_rsa_pem(bytes)),
            Signature::ES256 => (Algorithm::ES256, DecodingKey::from_ec_pem(bytes)),
        };
        let key = key.map_err(|error| format!("not a public key in PEM for {algorithm:?}: {error}"))?;
        let mut validation = Validation::new(algorithm);
        validation.leeway = settings.leeway.0.as_secs();
        validation.validate_nbf = true;
        let mut required = vec!["exp"];
        if let Some(issuer) = &settings.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        if let Some(audience) = &settings.audience {
            validation.set_audience(&[audience]);
            required.push("aud");
        }
        validation.set_required_spec_claims(&required);
        Ok(Self { key, validation, tenant: settings.tenant.clone() })
    }

    /// Returns the tenant of a valid token. One with `crit` names extensions that must be understood (RFC 7515, 4.1.11), and none is.
    pub(crate) fn tenant(&self, token: &str) -> Option<Arc<str>> {
        let claims = decode::<Map<String, Value>>(token, &self.key, &self.validation).ok()?.claims;
        if has_extensions(token) || !has_usual_names(&claims) {
            return None;
        }
        let tenant = claims.get(&self.tenant)?.as_str()?;
        (1..=TENANT_LENGTH).contains(&tenant.len()).then(|| tenant.into())
    }
}

/// Returns whether a token's header has `crit`, or cannot be read.
fn has_extensions(token: &str) -> bool {
    let header = token.split('.').next().and_then(|header| URL_SAFE_NO_PAD.decode(header).ok());
    let header = header.and_then(|header| serde_json::from_slice::<Map<String, Value>>(&header).ok());
    header.is_none_or(|header| header.contains_key("crit"))
}

/// Returns whether the issuer is one name and the audience one or a list, if they are there at all (RFC 7519, 4.1.1 and 4.1.3). Of other
/// values, it is not clear what was compared.
fn has_usual_names(claims: &Map<String, Value>) -> bool {
    let is_list = |value: &Value| value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
    claims.get("iss").is_none_or(Value::is_string)
        && claims.get("aud").is_none_or(|value| value.is_string() || is_list(value))
}
