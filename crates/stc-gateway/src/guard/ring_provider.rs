//! Signatures for JSON Web Tokens by ring, which TLS needs anyway. `jsonwebtoken` brings no cryptography of its own.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey};
use ring::hmac;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm};
use signature::{Error, Verifier};

/// What verifies, and cannot sign.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::UnsupportedAlgorithm.into()),
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes `jsonwebtoken` use ring. Further calls change nothing.
pub(super) fn install() {
    let _ = PROVIDER.install_default();
}

/// A key with its algorithm.
enum RingVerifier {
    Secret(hmac::Key),
    Public(Algorithm, UnparsedPublicKey<Vec<u8>>),
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    let bytes = key.try_get_as_bytes()?;
    let public = |by: &'static dyn VerificationAlgorithm| {
        RingVerifier::Public(*algorithm, UnparsedPublicKey::new(by, bytes.to_vec()))
    };
    Ok(Box::new(match (algorithm, key.family()) {
        (Algorithm::HS256, AlgorithmFamily::Hmac) => RingVerifier::Secret(hmac::Key::new(hmac::HMAC_SHA256, bytes)),
        (Algorithm::RS256, AlgorithmFamily::Rsa) => public(&RSA_PKCS1_2048_8192_SHA256),
        (Algorithm::ES256, AlgorithmFamily::Ec) => public(&ECDSA_P256_SHA256_FIXED),
        _ => return Err(ErrorKind::InvalidAlgorithm.into()),
    }))
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        match self {
            Self::Secret(key) => hmac::verify(key, message, signature),
            Self::Public(_, key) => key.verify(message, signature),
        }
        .map_err(|_| Error::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        match self {
            Self::Secret(_) => Algorithm::HS256,
            Self::Public(algorithm, _) => *algorithm,
        }
    }
}
