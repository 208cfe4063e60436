//! TLS to upstreams: rustls with ring and the machine's root certificates.

use hyper_rustls::ConfigBuilderExt;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;

/// Creates the TLS configuration. Root certificates are read only if a URL is `https`, so that a container without any can still
/// reach a plain upstream.
pub(crate) fn client_config(is_secure: bool) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?;
    let builder = if is_secure {
        check_file()?;
        builder.with_native_roots().map_err(|error| format!("the machine's root certificates: {error}"))?
    } else {
        builder.with_root_certificates(RootCertStore::empty())
    };
    Ok(Arc::new(builder.with_no_client_auth()))
}

/// Checks that the file in `SSL_CERT_FILE` can be opened: the loader falls back to other certificates without a word.
fn check_file() -> Result<(), String> {
    let Some(path) = std::env::var_os("SSL_CERT_FILE") else { return Ok(()) };
    let opened = std::fs::File::open(&path).map(drop);
    opened.map_err(|error| format!("SSL_CERT_FILE: {}: {error}", path.display()))
}
