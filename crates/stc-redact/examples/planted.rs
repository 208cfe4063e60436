//! Prints texts with made-up secrets of every rule in every way, each as a line of JSON: `{"rule", "way", "text", "secrets"}`.
//! `cargo run --release -p stc-redact --example planted`.

use serde_json::json;
use stc_redact::plant::{self, Planted};
use std::io::Write;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let mut print = |rule: &str, way: &str, text: &str, planted: &Planted| {
        let secrets: Vec<_> = planted.secrets().collect();
        writeln!(out, "{}", json!({"rule": rule, "way": way, "text": text, "secrets": secrets}))
    };
    for (number, (rule, example)) in plant::examples().iter().enumerate() {
        for (place, (way, text)) in plant::WAYS.iter().enumerate() {
            // No secret is in two texts.
            let planted = plant::fill(example, (place * 1000 + number) as u64);
            print(rule, way, &text(&planted.text), &planted)?;
        }
        if rule == "private-key" {
            let planted = plant::fill(example, 1_000_000);
            for text in plant::wrapped(&planted.text) {
                print(rule, "wrapped", &text, &planted)?;
            }
        }
    }
    Ok(())
}
