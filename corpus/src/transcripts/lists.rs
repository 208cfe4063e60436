//! Searches, and lists of files.

use super::names::NAMES;
use crate::rng::Rng;

/// Returns a line of source with the word that was searched for.
fn source(rng: &mut Rng) -> String {
    let (name, other) = (rng.pick(NAMES), rng.pick(NAMES));
    match rng.below(4) {
        0 => format!("    let {name} = retry(|| self.{other}.open())?;"),
        1 => format!("use crate::{name}::retry;"),
        2 => format!("/// Opens the {name}, with one retry for a {other} that is busy."),
        _ => format!("        self.{name}.retry_after({other}.seconds());"),
    }
}

pub(super) fn search(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    let mut left = lines;
    while left > 0 {
        let path = format!("src/{}/{}.rs", rng.pick(NAMES), rng.pick(NAMES));
        let mut line = 0;
        for _ in 0..(1 + rng.below(7) as usize).min(left) {
            line += 1 + rng.below(60);
            out += &format!("{path}:{line}:{}\n", source(rng));
            left -= 1;
        }
    }
    out
}

pub(super) fn search_around(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..lines / 6 + 1 {
        let path = format!("src/{}/{}.rs", rng.pick(NAMES), rng.pick(NAMES));
        if number > 0 {
            out += "--\n";
        }
        let line = 3 + rng.below(300);
        for around in 0..5 {
            let at = line - 2 + around;
            out += &match around {
                2 => format!("{path}:{at}:{}\n", source(rng)),
                _ => format!("{path}-{at}-        self.{}();\n", rng.pick(NAMES)),
            };
        }
    }
    out
}

fn paths(rng: &mut Rng, lines: usize, start: &str) -> String {
    let mut out = String::new();
    for number in 0..lines / 6 + 1 {
        let folder = match rng.below(6) {
            0 => format!("node_modules/{}-{}/dist", rng.pick(NAMES), rng.pick(NAMES)),
            1 => format!("target/debug/deps/{}", rng.pick(NAMES)),
            _ => format!("src/{}/{}", rng.pick(NAMES), rng.pick(NAMES)),
        };
        for file in 0..6 {
            let kind = rng.pick(&["rs", "ts", "md", "json"]);
            out += &format!("{start}{folder}/{}_{number}{file}.{kind}\n", rng.pick(NAMES));
        }
    }
    out
}

pub(super) fn find(rng: &mut Rng, lines: usize) -> String {
    paths(rng, lines, "./")
}

pub(super) fn glob(rng: &mut Rng, lines: usize) -> String {
    paths(rng, lines, "")
}

pub(super) fn ls(rng: &mut Rng, lines: usize) -> String {
    let mut out = format!(
        "total {}\ndrwxr-xr-x 14 ann staff     4096 Nov 18 10:02 .\ndrwxr-xr-x  3 ann staff     4096 Nov  2 09:11 ..\n",
        lines * 4
    );
    for number in 0..lines {
        let (size, day, minute) = (rng.below(400_000), 1 + rng.below(28), rng.below(60));
        out +=
            &format!("-rw-r--r--  1 ann staff {size:8} Nov {day:2} 10:{minute:02} {}_{number}.rs\n", rng.pick(NAMES));
    }
    out
}
