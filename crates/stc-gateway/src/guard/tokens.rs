//! Bearer tokens from a file. Only their digests are kept.

use super::settings::TENANT_LENGTH;
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The shortest token that is accepted: a shorter one can be guessed.
pub(crate) const SHORTEST_TOKEN: usize = 16;

type Digest = [u8; SHA256_OUTPUT_LEN];

/// The tokens by digest, with their tenants. A digest tells nothing about a token, so a look-up takes no care of time.
pub(crate) struct Tokens(HashMap<Digest, Arc<str>>);

impl Tokens {
    /// Reads a file of lines `TENANT TOKEN` or `TENANT sha256:DIGITS`; `#` starts a comment.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::read(&text).map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))
    }

    /// Reads the lines. An error has the number of the line and never its text.
    fn read(text: &str) -> Result<Self, (usize, Cow<'static, str>)> {
        let mut tokens = HashMap::new();
        for (number, line) in text.lines().enumerate() {
            let at = |why| (number + 1, Cow::Borrowed(why));
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (tenant, token) = line.split_once(char::is_whitespace).ok_or(at("expected a tenant and a token"))?;
            let token = token.trim_start();
            if tenant.len() > TENANT_LENGTH {
                return Err(at("the tenant's name is too long"));
            }
            let key = match token.strip_prefix("sha256:") {
                Some(digits) => digits_of(digits).ok_or(at("expected 64 hexadecimal digits after `sha256:`"))?,
                None if token.contains(char::is_whitespace) => return Err(at("a token contains no spaces")),
                None if token.len() < SHORTEST_TOKEN => {
                    return Err((number + 1, format!("a token has at least {SHORTEST_TOKEN} characters").into()));
                }
                None => digest_of(token),
            };
            if tokens.insert(key, tenant.into()).is_some() {
                return Err(at("another line has this token"));
            }
        }
        if tokens.is_empty() { Err((1, "no tokens".into())) } else { Ok(Self(tokens)) }
    }

    /// Returns the tenant of a token.
    pub(crate) fn tenant(&self, token: &str) -> Option<Arc<str>> {
        self.0.get(&digest_of(token)).cloned()
    }
}

/// Returns whether a secret is the expected one, in a time that tells nothing about it.
pub(crate) fn same(secret: &[u8], expected: &[u8]) -> bool {
    digest(&SHA256, secret).as_ref() == digest(&SHA256, expected).as_ref()
}

fn digest_of(token: &str) -> Digest {
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    bytes.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    bytes
}

fn digits_of(text: &str) -> Option<Digest> {
    if text.len() != 2 * SHA256_OUTPUT_LEN || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; SHA256_OUTPUT_LEN];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_their_digests() {
        // The digest of `correct-horse-battery`.
        let digits: String = digest_of("correct-horse-battery").iter().map(|byte| format!("{byte:02x}")).collect();
        let tokens = Tokens::read(&format!("# teams\nsearch 0123456789abcdef\n\nads  sha256:{digits}\n")).unwrap();
        assert_eq!(tokens.tenant("0123456789abcdef").as_deref(), Some("search"));
        assert_eq!(tokens.tenant("correct-horse-battery").as_deref(), Some("ads"));
        for wrong in ["", "0123456789abcde", "0123456789ABCDEF", digits.as_str()] {
            assert_eq!(tokens.tenant(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn errors_have_the_line_and_not_its_text() {
        for (text, line) in [
            ("", 1),
            ("# only a comment\n", 1),
            ("a 0123456789abcdef\nb\n", 2),
            ("a short\n", 1),
            ("a 0123456789abcdef 7\n", 1),
            ("a sha256:12\n", 1),
            ("a 0123456789abcdef\nb 0123456789abcdef\n", 2),
        ] {
            let (place, why) = Tokens::read(text).err().unwrap();
            assert_eq!(place, line, "{text}: {why}");
        }
    }
}
