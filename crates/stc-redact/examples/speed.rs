//! Measures start-up and the speed on clean text: `cargo run --release -p stc-redact --example speed [FILE...]`.

use stc_redact::Redactor;
use std::time::Instant;

/// Bytes of each text: so few that the best run is not interrupted, on a busy machine too.
const LENGTH: usize = 512 << 10;
/// Runs of which the best counts.
const RUNS: usize = 100;

fn main() {
    let start = Instant::now();
    let redactor = Redactor::default();
    println!("start-up     {:8.1} ms, {} rules", start.elapsed().as_secs_f64() * 1e3, redactor.ids().count());

    let prose = "The build finished after 3 minutes; 412 tests passed and 2 were skipped in module parser.\n";
    let log =
        "2026-11-17T08:00:00.123Z INFO  server::http request served status=200 path=/api/v1/items duration=12ms\n";
    let json =
        "{\"id\": 4711, \"name\": \"Ada Lovelace\", \"url\": \"https://example.org/users/4711\", \"active\": true},\n";
    let escaped = "{\"text\": \"line one\\nline \\\"two\\\"\\n\", \"id\": 12},\n";
    let mut texts: Vec<(String, String)> = [("prose", prose), ("log", log), ("json", json), ("escapes", escaped)]
        .map(|(name, line)| (name.to_owned(), line.repeat(LENGTH / line.len())))
        .into();
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        texts.push((path, text.repeat(LENGTH.div_ceil(text.len().max(1)))));
    }
    for (name, text) in &texts {
        let start = Instant::now();
        let found = redactor.redact(text).map(|redacted| redacted.found);
        let first = start.elapsed();
        let best = (0..RUNS).map(|_| {
            let start = Instant::now();
            let again = redactor.redact(text).map(|redacted| redacted.found);
            assert_eq!(again, found);
            start.elapsed()
        });
        let best = best.chain([first]).min().unwrap_or(first);
        println!("{:8.0} MB/s  {name}: {found:?}", text.len() as f64 / 1e6 / best.as_secs_f64());
    }
}
