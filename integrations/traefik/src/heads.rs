//! Headers of the host as `http` has them, and back.

use http::{HeaderMap, HeaderName, HeaderValue};
use http_wasm_guest::host::Header;

/// Reads all headers. A name or value that HTTP does not allow is skipped, and stays as the host has it.
pub(crate) fn read(header: &Header) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, values) in header.entries_iter() {
        let Ok(name) = HeaderName::from_bytes(&name) else { continue };
        for value in values.iter().filter_map(|value| HeaderValue::from_bytes(value).ok()) {
            headers.append(name.clone(), value);
        }
    }
    headers
}

/// Writes the headers that differ.
pub(crate) fn write(header: &Header, before: &HeaderMap, after: &HeaderMap) {
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        header.remove(name.as_str().as_bytes());
    }
    for name in after.keys().filter(|name| !before.get_all(*name).iter().eq(after.get_all(*name).iter())) {
        let mut values = after.get_all(name).iter();
        if let Some(first) = values.next() {
            header.set(name.as_str().as_bytes(), first.as_bytes());
        }
        for value in values {
            header.add(name.as_str().as_bytes(), value.as_bytes());
        }
    }
}
