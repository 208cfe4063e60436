//! Prints what paths are matched by: reads a path a line; writes the spelling for rules, the one for the upstream and the most lenient
//! reading, with tabs between, or why the path is refused. `scripts/gateway/paths.py` compares them with what other parsers read.

use stc_plugin::path::{loose, normal};
use std::io::{BufRead, BufWriter, Write};

fn main() -> std::io::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match normal(&line) {
            Ok(path) => writeln!(out, "{}\t{}\t{}", path.matched, path.sent, loose(&line))?,
            Err(why) => writeln!(out, "{}", why.text())?,
        }
    }
    out.flush()
}
