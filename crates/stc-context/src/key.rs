//! Names of what is stored for a session: keyed hashes, so that a tenant can neither guess nor choose another tenant's.
//!
//! Session and call ids are whatever clients like, also the same ones. Each part is hashed with its length before it, so that
//! no two lists of parts are the same bytes, and the tenant is one of the parts.

use crate::Format;
use siphasher::sip128::{Hasher128, SipHasher13, SipHasher24};
use std::hash::Hasher;

/// The secret of the hashes: the same on every replica that shares a store.
#[derive(Clone)]
pub struct Secret([u8; 16]);

impl Secret {
    /// Creates a secret from random bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Creates a secret from a passphrase of any length.
    #[must_use]
    pub fn from_passphrase(passphrase: &[u8]) -> Self {
        // Not a slow hash: the passphrase is a secret of the operator's, as long as the operator chooses.
        Self(Self([0; 16]).hash(&[b"stc-context secret", passphrase]).to_le_bytes())
    }

    /// Returns the keyed hash of a list of parts, which names something.
    #[must_use]
    pub fn hash(&self, parts: &[&[u8]]) -> u128 {
        hash(SipHasher24::new_with_key(&self.0), parts)
    }

    /// Returns the keyed hash of a list of parts that may be long. It has fewer rounds, so it costs half as much: it tells the
    /// texts of one call apart, and no tenant reads what is stored for another.
    #[must_use]
    pub(crate) fn fingerprint(&self, parts: &[&[u8]]) -> u128 {
        hash(SipHasher13::new_with_key(&self.0), parts)
    }
}

fn hash(mut hasher: impl Hasher128 + Hasher, parts: &[&[u8]]) -> u128 {
    for part in parts {
        hasher.write(&(part.len() as u64).to_le_bytes());
        hasher.write(part);
    }
    hasher.finish128().as_u128()
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// The name of an entry in a [`Store`](crate::Store).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The session that the entry counts for.
    pub session: u128,
    /// The entry. The session is part of what is hashed.
    pub entry: u128,
}

/// What sends a request, as far as the host knows it.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The tenant: a name, or a hash of the credential. Nothing stored for one is found for another.
    pub tenant: &'a [u8],
    /// The route.
    pub route: &'a str,
}

/// The session of a request: its name, hashed with the tenant's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    name: u128,
}

impl Session {
    pub(crate) fn new(secret: &Secret, caller: Caller<'_>, api: &str, session: &[u8]) -> Self {
        let parts = [&b"session"[..], caller.tenant, caller.route.as_bytes(), api.as_bytes(), session];
        Self { name: secret.hash(&parts) }
    }

    /// Returns a short form of the name, for telemetry.
    pub(crate) const fn fingerprint(&self) -> u64 {
        self.name as u64
    }

    /// Returns the name of the memo of one text of a result in a format: a conversation that changes its model has another
    /// memo, and finds its first one when it changes back.
    pub(crate) fn memo(&self, secret: &Secret, format: Format, call: &[u8], part: usize) -> Key {
        let format = format.name().as_bytes();
        let parts = [&b"memo"[..], &self.name.to_le_bytes(), format, call, &(part as u64).to_le_bytes()];
        Key { session: self.name, entry: secret.hash(&parts) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let secret = Secret::new([7; 16]);
        let hashes = [
            secret.hash(&[b"ab", b"c"]),
            secret.hash(&[b"a", b"bc"]),
            secret.hash(&[b"abc"]),
            secret.hash(&[b"", b"abc"]),
            secret.hash(&[b"abc", b""]),
            Secret::new([8; 16]).hash(&[b"abc"]),
        ];
        for (place, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..place].contains(hash), "{place}");
        }
    }

    #[test]
    fn every_part_of_a_name_counts() {
        let secret = Secret::new([7; 16]);
        let of = |format, tenant: &'static [u8], route, api, session: &[u8], call: &[u8], part| {
            Session::new(&secret, Caller { tenant, route }, api, session).memo(&secret, format, call, part).entry
        };
        let name = |tenant: &'static [u8], route, api, session: &[u8], call: &[u8], part| {
            of(Format::Stc2Labelled, tenant, route, api, session, call, part)
        };
        let usual = name(b"t", "/v1", "anthropic", b"s", b"c", 0);
        assert_eq!(usual, name(b"t", "/v1", "anthropic", b"s", b"c", 0));
        for other in [
            name(b"u", "/v1", "anthropic", b"s", b"c", 0),
            name(b"t", "/v2", "anthropic", b"s", b"c", 0),
            name(b"t", "/v1", "gemini", b"s", b"c", 0),
            name(b"t", "/v1", "anthropic", b"r", b"c", 0),
            name(b"t", "/v1", "anthropic", b"s", b"d", 0),
            name(b"t", "/v1", "anthropic", b"s", b"c", 1),
            of(Format::Stc2, b"t", "/v1", "anthropic", b"s", b"c", 0),
        ] {
            assert_ne!(usual, other);
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::from_passphrase(b"xylophonic")), "Secret");
    }
}
