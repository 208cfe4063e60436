//! Paths: a normal one stays as it is, has nothing that servers read in different ways, and is the only one of its text.
#![no_main]

// The file alone: it needs nothing of the SDK's dependencies.
#[allow(dead_code)]
#[path = "../../crates/stc-plugin/src/path.rs"]
mod path;

use libfuzzer_sys::fuzz_target;
use path::{climbs, loose, normal};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut seen: Vec<(Vec<u8>, String)> = Vec::new();
    for path in text.split('\n') {
        let read = loose(path);
        assert!(
            read == path
                || read.starts_with('/') && !read.contains(['\\', ';', '\0', '?', '#']) && !read.contains("//")
        );
        assert!(read == path || read.split('/').all(|segment| segment != "." && segment != ".."));
        assert!(!climbs(path) || read != path || !path.starts_with('/'), "what climbs is resolved");
        let Ok(path::Normal { matched, sent }) = normal(path) else { continue };
        for spelling in [&matched, &sent] {
            let again = normal(spelling).expect("a normal path is one");
            assert_eq!(again.matched, matched);
            let segments: Vec<_> = spelling[1..].split('/').collect();
            assert!(segments.iter().all(|segment| *segment != "." && *segment != ".."));
            assert!(segments.iter().rev().skip(1).all(|segment| !segment.is_empty()));
            assert_eq!(once(spelling), once(path), "the same text");
            let mut escapes = spelling.split('%').skip(1).map(|rest| u8::from_str_radix(&rest[..2], 16).unwrap());
            assert!(escapes.all(|byte| !(byte.is_ascii_alphanumeric() || b"-._~/\\\0".contains(&byte))), "{spelling}");
        }
        assert_eq!(normal(&sent).unwrap().sent, sent);
        assert!(std::str::from_utf8(&once(&matched)).is_ok());
        seen.push((once(path), matched.into_owned()));
    }
    seen.sort();
    assert!(
        seen.windows(2).all(|pair| (pair[0].0 == pair[1].0) == (pair[0].1 == pair[1].1)),
        "one spelling for each text"
    );
});

/// Decodes valid escapes once, as most servers do.
fn once(path: &str) -> Vec<u8> {
    let mut parts = path.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        decoded.push(u8::from_str_radix(&part[..2], 16).expect("an escape"));
        decoded.extend(&part.as_bytes()[2..]);
    }
    decoded
}
