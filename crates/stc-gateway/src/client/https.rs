//! TLS to clients: rustls with ring, a certificate and a key from files, optionally client certificates.

use ring::digest::{SHA256, digest};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The files of TLS to clients.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TlsSettings {
    /// The certificate and those that vouch for it, in PEM.
    certificate: PathBuf,
    /// Its private key, in PEM.
    key: PathBuf,
    /// Certificates that vouch for clients, in PEM. Without it, no certificate is requested.
    pub(crate) client_ca: Option<PathBuf>,
    /// What happens to clients without a certificate: they are rejected.
    client_certificates: Option<ClientCertificates>,
}

/// What happens to clients without a certificate. One that is not valid is always rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClientCertificates {
    /// The handshake fails.
    Required,
    /// They are served, except by routes with `auth.client_certificate`.
    Optional,
}

impl TlsSettings {
    /// Checks that the settings fit each other.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        let lacks = self.client_certificates.is_some() && self.client_ca.is_none();
        if lacks { Err("`client_certificates` needs `client_ca`") } else { Ok(()) }
    }

    /// Reads the files.
    pub(crate) fn load(&self) -> Result<Arc<ServerConfig>, String> {
        let provider = Arc::new(default_provider());
        let chain = certificates(&self.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| at(&self.key, error))?;
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS: {error}"))?;
        let builder = match &self.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| at(path, error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                let verifier = match self.client_certificates {
                    Some(ClientCertificates::Optional) => verifier.allow_unauthenticated(),
                    _ => verifier,
                };
                builder.with_client_cert_verifier(verifier.build().map_err(|error| at(path, error))?)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|error| at(&self.certificate, error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match read {
        Ok(certificates) if certificates.is_empty() => Err(at(path, "no certificate in PEM")),
        read => read.map_err(|error| at(path, error)),
    }
}

fn at(path: &Path, why: impl std::fmt::Display) -> String {
    format!("{}: {why}", path.display())
}

/// Completes a client's handshake within a limit; returns the stream, and the name in the client's certificate if it has one.
pub(crate) async fn accept<S>(
    config: Arc<ServerConfig>,
    socket: S,
    limit: Duration,
) -> Option<(TlsStream<S>, Option<Arc<str>>)>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    let accepted = tokio::time::timeout(limit, TlsAcceptor::from(config).accept(socket)).await;
    let why = match accepted {
        Ok(Ok(stream)) => {
            let name = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first()).map(name_in);
            return Some((stream, name));
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "no handshake in time".to_owned(),
    };
    tracing::info!(target: "gateway", why, "a TLS handshake failed");
    None
}

/// Returns the first DNS name of a certificate, or the start of its digest.
fn name_in(certificate: &CertificateDer<'_>) -> Arc<str> {
    let parsed = webpki::EndEntityCert::try_from(certificate).ok();
    let name = parsed.as_ref().and_then(|parsed| parsed.valid_dns_names().next());
    match name {
        Some(name) => name.into(),
        None => {
            let digest = digest(&SHA256, certificate);
            let digits: String = digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
            format!("sha256:{digits}").into()
        }
    }
}
