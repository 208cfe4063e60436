//! What agents' tools print: builds, tests, version control, searches, lists, logs, tables and JSON. All of it is invented
//! here; the programs' own wording is kept only as far as their readers know it.

mod builds;
mod git;
mod lists;
mod logs;
mod names;
mod tables;
mod tested;

use crate::catalogue::kind;
use crate::rng::Rng;
use crate::style::Style;

/// The result of a tool's call.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The name: what it is, and how long.
    pub name: String,
    /// The group: `builds`, `tests`, `git`, `searches`, `lists`, `logs`, `tables` or `json`.
    pub group: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// The command, for a shell; else the arguments as they are.
    pub command: String,
    /// What it printed.
    pub text: String,
}

/// A kind of transcript: its group, name, tool and command, and what makes it about `lines` long.
struct Maker(&'static str, &'static str, &'static str, &'static str, fn(&mut Rng, usize) -> String);

/// The kinds of transcripts.
const MAKERS: &[Maker] = &[
    Maker("builds", "cargo-build", "bash", "cargo build 2>&1", builds::cargo),
    Maker("builds", "cargo-errors", "bash", "cd app && cargo check 2>&1 | tail -200", builds::cargo_errors),
    Maker("builds", "npm-install", "bash", "npm install", builds::npm),
    Maker("builds", "webpack", "bash", "npx webpack --mode production", builds::webpack),
    Maker("builds", "pip-install", "bash", "pip install -r requirements.txt", builds::pip),
    Maker("builds", "make", "bash", "make -j8 2>&1", builds::make),
    Maker("builds", "docker-build", "bash", "docker build -t app .", builds::docker),
    Maker("builds", "apt-get", "bash", "sudo apt-get install -y libpq-dev", builds::apt),
    Maker("tests", "cargo-test", "bash", "cargo test 2>&1", tested::cargo),
    Maker("tests", "cargo-test-failing", "bash", "cargo test 2>&1", tested::cargo_failing),
    Maker("tests", "pytest", "bash", "uv run pytest -v", tested::pytest),
    Maker("tests", "pytest-failing", "bash", "python -m pytest", tested::pytest_failing),
    Maker("tests", "jest", "bash", "npx jest --ci", tested::jest),
    Maker("tests", "go-test", "bash", "go test -v ./...", tested::go),
    Maker("git", "git-status", "bash", "git status", git::status),
    Maker("git", "git-log", "bash", "git log", git::log),
    Maker("git", "git-diff", "bash", "git diff HEAD~1", git::diff),
    Maker("git", "git-clone", "bash", "git clone https://git.example/acme/app.git", git::clone),
    Maker("git", "git-push-rejected", "bash", "git push origin main", git::rejected),
    Maker("searches", "rg", "bash", "rg -n 'retry' src", lists::search),
    Maker("searches", "grep-tool", "Grep", r#"{"pattern":"retry"}"#, lists::search),
    Maker("searches", "grep-context", "bash", "grep -rn -C2 retry src", lists::search_around),
    Maker("lists", "find", "bash", "find . -type f", lists::find),
    Maker("lists", "glob-tool", "Glob", r#"{"pattern":"**/*"}"#, lists::glob),
    Maker("lists", "ls", "bash", "ls -la src", lists::ls),
    Maker("logs", "service-log", "bash", "journalctl -u checkout -n 500", logs::service),
    Maker("logs", "polling-log", "bash", "./wait-for-deploy.sh", logs::polling),
    Maker("logs", "access-log", "bash", "kubectl logs deploy/gateway", logs::access),
    Maker("logs", "coloured-log", "bash", "docker logs app", logs::coloured),
    Maker("logs", "stack-traces", "bash", "java -jar app.jar", logs::traces),
    Maker("logs", "progress-bars", "bash", "./download.sh", logs::bars),
    Maker("tables", "pods", "bash", "kubectl get pods -A", tables::pods),
    Maker("tables", "psql", "bash", "psql -c 'select * from orders'", tables::psql),
    Maker("tables", "processes", "bash", "ps aux", tables::processes),
    Maker("tables", "markdown", "report", "{}", tables::markdown),
    Maker("json", "issues", "list_issues", "{}", |rng, lines| json(rng, "issues", lines, Style::MINIFIED)),
    Maker("json", "pods", "bash", "kubectl get pods -o json", |rng, lines| json(rng, "pods", lines, Style::PRETTY_4)),
    Maker("json", "rows", "query", "{}", |rng, lines| json(rng, "sql-rows", lines, Style::PYTHON)),
    Maker("json", "lines", "bash", "cat events.ndjson | grep open", json_lines),
];

/// Returns the transcripts: each kind short, usual and long. They are the same on every machine.
pub fn transcripts() -> Vec<Transcript> {
    let sizes = [("short", 12), ("usual", 60), ("long", 400)];
    let each = |maker: &Maker| sizes.map(|(size, lines)| transcript_of(maker, size, lines));
    MAKERS.iter().flat_map(each).collect()
}

/// Makes a transcript of any kind, of about `lines` lines.
pub fn transcript(rng: &mut Rng, lines: usize) -> Transcript {
    let Maker(group, name, tool, command, make) = &MAKERS[rng.below(MAKERS.len() as u64) as usize];
    let text = make(rng, lines);
    Transcript { name: (*name).to_owned(), group, tool, command: (*command).to_owned(), text }
}

fn transcript_of(maker: &Maker, size: &str, lines: usize) -> Transcript {
    let Maker(group, name, tool, command, make) = maker;
    let text = make(&mut Rng::named(name, lines as u64), lines);
    Transcript { name: format!("{name}-{size}"), group, tool, command: (*command).to_owned(), text }
}

fn json(rng: &mut Rng, name: &str, lines: usize, style: Style) -> String {
    let one = kind(name).expect("a kind of the catalogue");
    let json = one.make_in(style, rng, lines * 60);
    String::from_utf8(json).expect("generated documents are Unicode")
}

fn json_lines(rng: &mut Rng, lines: usize) -> String {
    let line = |n: usize| {
        let (state, worker) = (rng.pick(&["open", "closed", "held"]), rng.below(8));
        let took = rng.below(900);
        format!("{{\"id\":{n},\"state\":\"{state}\",\"worker\":\"worker-{worker}\",\"took_ms\":{took}}}\n")
    };
    (1..=lines).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_and_they_never_change() {
        let (first, second) = (transcripts(), transcripts());
        assert!(first.len() >= 60, "{}", first.len());
        for (one, other) in first.iter().zip(&second) {
            assert_eq!(one.text, other.text, "{}", one.name);
            assert!(one.text.len() > 100, "{}", one.name);
        }
    }
}
