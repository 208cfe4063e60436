//! The id of a request, the same for the client, the log and the upstream.
//!
//! tower-http's layer keeps any id that a client sends, however long and of whatever bytes. The check and the new id would be
//! written here all the same; a dependency more would save two insertions.

use http::{HeaderName, HeaderValue};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The header that contains the id.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Returns the client's own id if it is harmless, at most 128 letters, digits and `-_.:=+/@`, and a new one otherwise.
pub(crate) fn request_id(sent: Option<&HeaderValue>) -> HeaderValue {
    let sane = |id: &&HeaderValue| {
        let fine = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:=+/@".contains(byte);
        (1..=128).contains(&id.len()) && id.as_bytes().iter().all(fine)
    };
    sent.filter(sane).cloned().unwrap_or_else(made)
}

/// Returns a random number that stays the same while the program runs.
pub(crate) fn process() -> u64 {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    *PROCESS
}

/// Creates an id of sixteen digits for this process and sixteen for the request: unique, not secret.
fn made() -> HeaderValue {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let id = (u128::from(process()) << 64) | u128::from(COUNT.fetch_add(1, Ordering::Relaxed));
    let mut digits = [0; 32];
    for (place, digit) in digits.iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(id >> (124 - 4 * place)) as usize & 15];
    }
    HeaderValue::from_bytes(&digits).expect("hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_ids_are_kept_and_others_replaced() {
        for kept in ["7", "a-b_c.d:e=f+g/h@i", &"x".repeat(128)] {
            let sent = HeaderValue::from_str(kept).unwrap();
            assert_eq!(request_id(Some(&sent)), kept);
        }
        for refused in ["", " ", "a b", "\"", "{", "é", "a,b", &"x".repeat(129)] {
            let sent = HeaderValue::from_bytes(refused.as_bytes()).unwrap();
            let made = request_id(Some(&sent));
            assert!(made.len() == 32 && made.as_bytes().iter().all(u8::is_ascii_hexdigit), "{refused}");
        }
        assert_ne!(request_id(None), request_id(None));
        assert_eq!(request_id(None).as_bytes()[..16], request_id(None).as_bytes()[..16]);
    }
}
