//! Redacts its standard input: `cargo run --release -p stc-redact --example redact <FILE`. With `--plant SEED` it prints texts with
//! made-up secrets of every rule instead.

use stc_redact::{Redactor, plant};
use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    if let [flag, seed] = &arguments[..]
        && flag == "--plant"
    {
        let seed = seed.parse().map_err(|_| std::io::Error::other("SEED: expected a number"))?;
        for (_, example) in plant::examples() {
            writeln!(out, "{}", plant::fill(&example, seed).text)?;
        }
        return Ok(());
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    match Redactor::default().redact(&text) {
        Ok(redacted) => out.write_all(redacted.text.as_bytes()),
        Err(why) => Err(std::io::Error::other(format!("{why:?}"))),
    }
}
