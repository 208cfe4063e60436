//! Command lines: the commands whose output a result shows.
//!
//! ```text
//! cd app && RUST_LOG=info cargo test 2>&1 | tail -40      cargo test
//! bash -lc 'npx -y jest --ci'                             jest
//! uv run python -m pytest -q                              pytest
//! git status; cargo build                                 git status, cargo build
//! ```
//!
//! Quotes are not read: a separator inside a string makes one more command, of no known program.

use stc_wire::budget::charge_bytes;

/// A command of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command<'a> {
    /// The program, without its folder.
    pub program: &'a str,
    /// The first word after it; empty if there is none.
    pub argument: &'a str,
}

/// The most commands of a line that are looked at.
const MOST_COMMANDS: usize = 64;

/// Commands that print what another prints, or some of it.
const PASSING: [&str; 9] = ["head", "tail", "tee", "cat", "sort", "uniq", "less", "more", "column"];

/// Commands that run the command after them.
const RUNNERS: [&str; 17] = [
    "env", "sudo", "time", "nice", "nohup", "command", "exec", "npx", "bunx", "uvx", "xargs", "timeout", "stdbuf",
    "then", "do", "else", "!",
];

/// Returns the commands of a line whose output is seen, in order: of each pipeline the last one that does not only pass on what it
/// reads.
pub fn commands(line: &str) -> impl Iterator<Item = Command<'_>> {
    let steps = line.split([';', '\n']).flat_map(|part| part.split("&&")).flat_map(|part| part.split("||"));
    steps.take(MOST_COMMANDS).filter_map(printing)
}

/// Returns the command of a pipeline whose output is shown.
fn printing(pipeline: &str) -> Option<Command<'_>> {
    let mut shown = None;
    for command in pipeline.rsplit('|').filter_map(command) {
        shown = Some(command);
        if !PASSING.contains(&command.program) {
            break;
        }
    }
    shown
}

/// Returns a command without what runs it.
fn command(text: &str) -> Option<Command<'_>> {
    let text = text.strip_prefix('&').unwrap_or(text);
    let mut words =
        text.split_whitespace().map(|word| word.trim_matches(['"', '\'', '(', ')', '{', '}', '`'])).peekable();
    let mut was_runner = false;
    while let Some(word) = words.next() {
        charge_bytes(word.len());
        let next = words.peek().copied().unwrap_or_default();
        let program = word.rsplit(['/', '\\']).next().unwrap_or(word);
        match program {
            "" => {}
            _ if RUNNERS.contains(&program) => was_runner = true,
            // Options of what runs the command, and their values: `timeout -k 5 60 make`.
            _ if was_runner && word.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {}
            _ if word.contains('=') && !word.starts_with(['=', '-']) => {}
            "uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "rye" if next == "run" => {
                words.next();
                was_runner = true;
            }
            "pnpm" | "yarn" | "npm" | "bun" | "bundle" if matches!(next, "exec" | "dlx" | "x") => {
                words.next();
                was_runner = true;
            }
            "bash" | "sh" | "zsh" | "dash" if next.starts_with('-') && next.ends_with('c') => {
                words.next();
            }
            "python" | "python3" if next == "-m" => {
                words.next();
            }
            _ => {
                let argument = match next {
                    // A toolchain: `cargo +nightly test`.
                    _ if next.starts_with('+') => words.nth(1).unwrap_or_default(),
                    next => next,
                };
                return Some(Command { program, argument });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_print() {
        for (line, expected) in [
            ("cargo test", &["cargo test"][..]),
            ("cd app && RUST_LOG=info cargo test 2>&1 | tail -40", &["cd app", "cargo test"]),
            ("bash -lc 'npx -y jest --ci'", &["jest --ci"]),
            ("uv run python -m pytest -q", &["pytest -q"]),
            ("poetry run pytest", &["pytest "]),
            ("git status; cargo build", &["git status", "cargo build"]),
            ("env A=1 B=2 /usr/bin/make -j4", &["make -j4"]),
            ("timeout -k 5 60 make all", &["make all"]),
            ("cat a.txt | head -3", &["cat a.txt"]),
            ("cat a.txt | grep x | sort | uniq -c", &["grep x"]),
            ("cargo +nightly build", &["cargo build"]),
            ("pnpm exec vitest run", &["vitest run"]),
            ("make |& tee log", &["make "]),
            ("", &[]),
            ("|||;;&&", &[]),
            ("FOO=1", &[]),
        ] {
            let found: Vec<_> = commands(line).map(|one| format!("{} {}", one.program, one.argument)).collect();
            assert_eq!(found, expected, "{line}");
        }
        assert!(commands(&"a;".repeat(10_000)).count() <= MOST_COMMANDS);
    }
}
