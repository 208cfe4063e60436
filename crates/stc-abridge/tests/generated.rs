//! What holds of every step, on random texts that mix lines of builds, tests, searches, lists and logs with escapes, errors,
//! long lines and other characters.

use stc_abridge::{
    Kind, Origin, Programs, ansi, binary, cap, commands, excerpt, family, fold, is_error, noise, space, table,
};
use stc_corpus::Rng;

/// Lines that the steps know, and others.
const LINES: &[&str] = &[
    "   Compiling serde v1.0.219",
    "   Compiling app v0.1.0 (/app)",
    "warning: unused variable: `x`",
    "error[E0308]: mismatched types",
    "  --> src/main.rs:4:5",
    "test work::tests::a ... ok",
    "test work::tests::b ... FAILED",
    "thread 'main' panicked at src/main.rs:4:5:",
    "tests/test_a.py ......  [ 12%]",
    "src/work.rs:12:use std::fmt;",
    "src/work.rs:14:use std::io;",
    "src/app/main.rs",
    "src/app/args.rs",
    "src/app/trail.rs",
    "node_modules/a/index.js",
    "NAME        READY   STATUS",
    "web-1       1/1     Running",
    "| id | state |",
    "|----|-------|",
    "commit 0123456789abcdef0123456789abcdef01234567",
    "index 83db48f..bf2a0c1 100644",
    "diff --git a/a.rs b/a.rs",
    "--- a/a.rs",
    "+++ b/a.rs",
    "@@ -1,3 +1,3 @@",
    "  (use \"git add <file>...\" to update)",
    "2026-11-18T10:00:01.120Z GET /health 200 in 12ms",
    "2026-11-18T10:00:02.133Z GET /health 200 in 9ms",
    "10% done\r50% done\r100% done",
    "\u{1b}[32m    Finished\u{1b}[0m `dev` profile",
    "\u{1b}]0;title\u{7}prompt $ ",
    "trailing blanks   ",
    "",
    "",
    "```",
    "let a   = 1;",
    "Größe: 12 µs – ok ✓",
    "[×3] waiting",
    "[12 bytes left out]",
    "[2 progress lines left out]",
    "\u{9b}1mbold\u{9b}0m",
    "Downloading a",
    "Collecting b",
];

const COMMANDS: &[&str] = &[
    "cargo build",
    "cargo test",
    "git status",
    "git diff | head",
    "pytest -q",
    "npm install",
    "pip install x",
    "make -j4",
    "docker build .",
    "mvn test",
    "apt-get install x",
    "echo",
    "",
];

/// Returns the number of texts; `STC_TEXTS` sets how many times as many.
fn texts(usual: u64) -> u64 {
    usual * std::env::var("STC_TEXTS").map_or(1, |times| times.parse().expect("a number"))
}

/// Makes a text of up to `most` lines.
fn text(rng: &mut Rng, most: u64) -> String {
    let mut out = String::new();
    for _ in 0..rng.below(most) {
        let times = if rng.chance(15) { 1 + rng.below(6) } else { 1 };
        let line = match rng.below(20) {
            0 => "x".repeat(rng.below(200) as usize),
            1 => "é".repeat(rng.below(60) as usize),
            2 => char::from_u32(rng.below(0x300) as u32).unwrap_or('?').to_string(),
            3 => format!("{} {}", rng.pick(LINES), rng.below(10)),
            _ => rng.pick(LINES).to_owned(),
        };
        for _ in 0..times {
            out.push_str(&line);
            out.push_str(if rng.chance(5) { "\r\n" } else { "\n" });
        }
    }
    if rng.chance(30) {
        out.truncate(out.trim_end_matches('\n').len());
    }
    out
}

fn origin(rng: &mut Rng) -> Origin {
    let kind = rng.pick(&[Kind::Text, Kind::Text, Kind::Text, Kind::Search, Kind::Listing, Kind::File]);
    let programs = commands(rng.pick(COMMANDS)).fold(Programs::default(), |all, one| all.and(Programs::of(&one)));
    Origin { kind, programs }
}

/// Each step changes nothing in its own output, never makes a text longer, and gives the same text every time.
#[test]
fn steps_are_idempotent() {
    let mut changed = [0_u32; 9];
    for seed in 0..texts(4_000) {
        let mut rng = Rng::named("abridge", seed);
        let (text, origin) = (text(&mut rng, 30), origin(&mut rng));
        type Step = Box<dyn Fn(&str) -> Option<String>>;
        let steps: [(&str, Step); 9] = [
            ("ansi", Box::new(|text| ansi(text, false))),
            ("ansi, overwritten", Box::new(|text| ansi(text, true))),
            ("binary", Box::new(binary)),
            ("table", Box::new(table)),
            ("family", Box::new(move |text| family(text, origin))),
            ("fold", Box::new(fold)),
            ("space", Box::new(space)),
            ("noise", Box::new(noise)),
            ("excerpt", Box::new(|text| excerpt(text, 6))),
        ];
        for (number, (name, step)) in steps.iter().enumerate() {
            let Some(once) = step(&text) else { continue };
            changed[number] += 1;
            assert!(once.len() <= text.len() + 40, "{seed}: {name} made it longer");
            assert_eq!(step(&once), None, "{seed}: {name} {origin:?}\n{text:?}\n{once:?}");
            assert_eq!(step(&text).as_ref(), Some(&once), "{seed}: {name}");
        }
    }
    assert!(changed.iter().all(|count| *count > 5), "{changed:?}");
}

/// No step but `binary` and `cap` leaves out a line of an error.
#[test]
fn lines_of_errors_stay() {
    for seed in 0..texts(2_000) {
        let mut rng = Rng::named("errors", seed);
        let (text, origin) = (text(&mut rng, 30), origin(&mut rng));
        let text = ansi(&text, true).unwrap_or(text);
        let steps = [table(&text), family(&text, origin), fold(&text), space(&text), noise(&text), excerpt(&text, 6)];
        for (number, after) in steps.into_iter().enumerate() {
            let Some(after) = after else { continue };
            for line in text.lines().filter(|line| is_error(line)) {
                let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                let path = line.split_once(":12:").or_else(|| line.split_once(":14:")).map_or(line, |(_, rest)| rest);
                assert!(words(&after).contains(&words(path)), "{seed}: step {number} lost {line:?}\n{text}\n{after}");
            }
        }
    }
}

/// A capped text is within its bound, has the first error, and counts what is missing.
#[test]
fn capped_texts_are_bounded_and_keep_the_first_error() {
    let mut capped = 0;
    for seed in 0..texts(100_000) {
        let mut rng = Rng::named("cap", seed);
        let text = text(&mut rng, 12);
        let most = 1 + rng.below(400) as usize;
        let Some(short) = cap(&text, most) else {
            assert!(text.len() <= most);
            continue;
        };
        capped += 1;
        assert!(short.len() <= most, "{seed}: {} of {most}", short.len());
        assert_eq!(cap(&short, most), None);
        assert!(short.matches(" bytes left out]\n").count() <= 2 + text.matches(" bytes left out]\n").count());
        if let Some(error) =
            text.split('\n').find(|line| is_error(line)).filter(|error| error.len() * 8 < most && most > 120)
        {
            assert!(short.contains(error), "{seed}: {most}\n{error}\n{text:?}\n{short:?}");
        }
    }
    assert!(capped > texts(100_000) / 5, "{capped}");
}
