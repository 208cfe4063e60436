//! Runs of tests.

use super::names::NAMES;
use crate::rng::Rng;

pub(super) fn cargo(rng: &mut Rng, lines: usize) -> String {
    run_of_cargo(rng, lines, 0)
}

pub(super) fn cargo_failing(rng: &mut Rng, lines: usize) -> String {
    run_of_cargo(rng, lines, 1 + lines / 50)
}

fn run_of_cargo(rng: &mut Rng, lines: usize, failing: usize) -> String {
    let mut out = "   Compiling app v0.1.0 (/app)\n    Finished `test` profile [unoptimized + debuginfo] target(s) in 3.02s\n     Running unittests \
                   src/lib.rs (target/debug/deps/app-5d0c1a2b3c4d5e6f)\n\n"
        .to_owned();
    out += &format!("running {lines} tests\n");
    let mut failed = Vec::new();
    for number in 0..lines {
        let name = format!("{}::tests::{}_{}_{number}", rng.pick(NAMES), rng.pick(NAMES), rng.pick(NAMES));
        let fails = failed.len() < failing && number % (lines / failing.max(1)).max(1) == 3.min(lines - 1);
        out += &format!("test {name} ... {}\n", if fails { "FAILED" } else { "ok" });
        if fails {
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        out += "\nfailures:\n\n";
        for name in &failed {
            let (left, right) = (rng.below(100), rng.below(100));
            out += &format!(
                "---- {name} stdout ----\n\nthread '{name}' panicked at src/{}.rs:{}:9:\nassertion `left == right` failed: {} differs\n  left: {left}\n right: \
                 {right}\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n",
                rng.pick(NAMES),
                1 + rng.below(500),
                rng.pick(NAMES)
            );
        }
        out += &format!("\nfailures:\n    {}\n", failed.join("\n    "));
    }
    let verdict = if failed.is_empty() { "ok" } else { "FAILED" };
    out += &format!(
        "\ntest result: {verdict}. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.41s\n",
        lines - failed.len(),
        failed.len()
    );
    if !failed.is_empty() {
        out += "\nerror: test failed, to rerun pass `--lib`\n";
    }
    out
}

pub(super) fn pytest(rng: &mut Rng, lines: usize) -> String {
    let mut out = format!(
        "============================= test session starts ==============================\nplatform linux -- Python 3.13.5, pytest-8.4.2, pluggy-1.6.0 -- \
         /app/.venv/bin/python\ncachedir: .pytest_cache\nrootdir: /app\nconfigfile: pyproject.toml\nplugins: anyio-4.11.0\ncollecting ... collected {lines} items\n\n"
    );
    for number in 1..=lines {
        let (file, name, other) = (rng.pick(NAMES), rng.pick(NAMES), rng.pick(NAMES));
        let percent = number * 100 / lines;
        out += &format!(
            "tests/test_{file}.py::Test{name}::test_{other}_{number} PASSED                     [{percent:3}%]\n"
        );
    }
    out + &format!("\n============================= {lines} passed in 4.12s ==============================\n")
}

pub(super) fn pytest_failing(rng: &mut Rng, lines: usize) -> String {
    let mut out = format!(
        "============================= test session starts ==============================\nplatform linux -- Python 3.13.5, pytest-8.4.2, \
         pluggy-1.6.0\nrootdir: /app\ncollected {} items\n\n",
        lines * 6
    );
    let failing = 1 + lines / 60;
    for number in 0..lines / 2 {
        let dots: String = (0..6 + rng.below(20)).map(|_| '.').collect();
        let dots = if number < failing { format!("{dots}F.") } else { dots };
        out += &format!("tests/test_{}_{number}.py {dots}    [{:3}%]\n", rng.pick(NAMES), number * 200 / lines);
    }
    out += "\n=================================== FAILURES ===================================\n";
    let mut summary = String::new();
    for number in 0..failing {
        let (name, other) = (rng.pick(NAMES), rng.pick(NAMES));
        let line = 1 + rng.below(200);
        out += &format!(
            "_________________________ test_{name}_{other}_{number} _________________________\n\n    def test_{name}_{other}_{number}():\n        {name} = \
             make_{name}(\"{other}\")\n>       assert {name}.count == 3\nE       AssertionError: assert {line} == 3\nE        +  where {line} = \
             {capital}.count\n\ntests/test_{name}.py:{line}: AssertionError\n",
            capital = name.to_uppercase()
        );
        summary += &format!(
            "FAILED tests/test_{name}.py::test_{name}_{other}_{number} - AssertionError: assert {line} == 3\n"
        );
    }
    out += "=========================== short test summary info ============================\n";
    out + &summary
        + &format!(
            "=================== {failing} failed, {} passed in 3.20s ===================\n",
            lines * 6 - failing
        )
}

pub(super) fn jest(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for suite in 0..1 + lines / 12 {
        let (file, name) = (rng.pick(NAMES), rng.pick(NAMES));
        let fails = suite == 1;
        out += &format!(
            "{} src/{file}/{name}.test.ts ({}.{} s)\n  {name}\n",
            if fails { "FAIL" } else { "PASS" },
            rng.below(4),
            rng.below(10)
        );
        for _ in 0..10 {
            count += 1;
            out +=
                &format!("    ✓ keeps the {} of a {} ({} ms)\n", rng.pick(NAMES), rng.pick(NAMES), 1 + rng.below(90));
        }
        if fails {
            out += &format!(
                "    ✕ returns the {name} (4 ms)\n\n  ● {name} › returns the {name}\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 3\n    Received: 4\n\n      12 |   const {name} = open();\n    > 13 |   expect({name}.count).toBe(3);\n         |                        ^\n\n      at Object.<anonymous> (src/{file}/{name}.test.ts:13:24)\n\n"
            );
        }
    }
    out + &format!(
        "\nTest Suites: {} total\nTests:       {count} passed, {count} total\nSnapshots:   0 total\nTime:        6.012 s\n",
        1 + lines / 12
    )
}

pub(super) fn go(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..lines / 3 {
        let name = format!("Test{}{}{number}", capital(rng.pick(NAMES)), capital(rng.pick(NAMES)));
        out += &format!("=== RUN   {name}\n");
        if number == 4 {
            out += &format!(
                "    {}_test.go:{}: got 4, want 3\n--- FAIL: {name} (0.01s)\n",
                rng.pick(NAMES),
                1 + rng.below(300)
            );
        } else {
            out += &format!("--- PASS: {name} (0.0{}s)\n", rng.below(10));
        }
    }
    let verdict = if lines / 3 > 4 {
        "FAIL\nFAIL\tgit.example/acme/app/queue\t0.412s\nFAIL\n"
    } else {
        "PASS\nok  \tgit.example/acme/app/queue\t0.412s\n"
    };
    out + verdict
}

fn capital(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}
