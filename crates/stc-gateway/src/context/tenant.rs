//! The tenant of a request: what a rule or a plugin found, or else its credential, hashed.

use http::request::Parts;
use stc_context::Secret;
use stc_layer::Tenant;

/// The headers that may have a credential.
const CREDENTIALS: [&str; 4] = ["authorization", "x-api-key", "api-key", "x-goog-api-key"];

/// Returns the tenant. A tenant that a plugin found, a credential and none are never the same.
pub(super) fn of(parts: &Parts, secret: &Secret) -> Vec<u8> {
    if let Some(Tenant(name)) = parts.extensions.get() {
        return [b"plugin:", name.as_bytes()].concat();
    }
    let header = CREDENTIALS.iter().find_map(|name| parts.headers.get(*name).map(|value| (*name, value.as_bytes())));
    let query = || {
        let key = parts.uri.query()?.split('&').find_map(|pair| pair.strip_prefix("key="))?;
        Some(("?key", key.as_bytes()))
    };
    match header.or_else(query) {
        Some((name, value)) => {
            let hash = secret.hash(&[b"credential", name.as_bytes(), value]);
            [&b"credential:"[..], &hash.to_le_bytes()].concat()
        }
        None => b"anonymous".to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn tenant(uri: &str, headers: &[(&'static str, &'static str)], plugin: Option<&str>) -> Vec<u8> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        if let Some(name) = plugin {
            parts.extensions.insert(Tenant(name.into()));
        }
        of(&parts, &Secret::new([3; 16]))
    }

    #[test]
    fn tenants_that_differ() {
        let all = [
            tenant("/", &[], None),
            tenant("/", &[], Some("anonymous")),
            tenant("/", &[("authorization", "Bearer a")], None),
            tenant("/", &[("authorization", "Bearer b")], None),
            tenant("/", &[("x-api-key", "Bearer a")], None),
            tenant("/?key=Bearer", &[], None),
            tenant("/?alt=sse&key=b", &[], None),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(!all[..place].contains(one), "{place}");
        }
        let with_plugin = tenant("/", &[("authorization", "Bearer a")], Some("anonymous"));
        assert_eq!(with_plugin, all[1], "the plugin's word counts");
        assert!(!String::from_utf8_lossy(&all[2]).contains("Bearer"));
    }
}
