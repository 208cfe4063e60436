//! Chains of steps over single texts.

use super::*;
use crate::Format;
use crate::redaction::{Finder, Redaction};
use stc_abridge::{Programs, commands};
use stc_wire::Verify;
use std::sync::Arc;

fn rules() -> Rules {
    let (min_bytes, max_bytes, min_saving) = (16, 1 << 20, 0.02);
    Rules { format: Format::Stc2Labelled, min_bytes, max_bytes, min_saving, verify: Verify::Always, toon: None }
}

fn origin(line: &str) -> Origin {
    let programs = commands(line).fold(Programs::default(), |all, one| all.and(Programs::of(&one)));
    Origin { kind: Kind::Text, programs }
}

fn applied(mode: Mode, cap: usize, command: &str, text: &str) -> (Outcome, String, Vec<Trace>) {
    let chain = Chain { mode, cap, excerpt: 0, dictionary: Dictionary::Auto };
    let mut guard = Guard::new(Finder::Rules(Arc::default()), Redaction::On);
    let (mut traces, mut out) = (Vec::new(), Vec::new());
    let input = Input { text, origin: origin(command), owed: None };
    let outcome = chain.apply(input, &rules(), &mut guard, Some(&mut traces), &mut out).unwrap();
    (outcome, String::from_utf8(out).unwrap(), traces)
}

fn steps(outcome: &Outcome) -> Vec<Step> {
    outcome.steps.iter().collect()
}

const BUILD: &str = "\u{1b}[32m   Compiling\u{1b}[0m a v1.0.0\n\u{1b}[32m   Compiling\u{1b}[0m b v1.0.0\n\u{1b}[32m   Compiling\u{1b}[0m c v1.0.0\nwarning: \
                     unused   \nwaiting for the lock\nwaiting for the lock\nwaiting for the lock\n";

#[test]
fn a_mode_takes_its_steps_and_those_of_the_modes_before() {
    let (outcome, out, _) = applied(Mode::Safe, 9000, "cargo build", BUILD);
    assert_eq!((outcome.status, steps(&outcome)), (Status::Cleaned, vec![Step::Ansi]));
    assert!(out.starts_with("   Compiling a v1.0.0\n"));
    let (outcome, out, _) = applied(Mode::Standard, 9000, "cargo build", BUILD);
    assert_eq!(outcome.status, Status::Abridged);
    assert_eq!(out, "[3 progress lines left out]\nwarning: unused\n[×3] waiting for the lock\n");
    assert!(outcome.tokens_out < outcome.tokens_in);
    let log: String = (10..40).map(|n| format!("10:00:{n} poll ok in {n}ms\n")).collect();
    assert_eq!(applied(Mode::Standard, 9000, "x", &log).0.status, Status::NotJson);
    let (outcome, out, _) = applied(Mode::Aggressive, 9000, "x", &log);
    assert_eq!((outcome.status, steps(&outcome)), (Status::Abridged, vec![Step::Noise]));
    assert_eq!(out, "[×30, values differ] 10:00:10 poll ok in 10ms\n");
}

/// What costs more than its budget is as it was after `cap`: a secret is gone, escape sequences are, and nothing else.
#[test]
fn a_text_that_costs_too_much_stays() {
    let log: String = (10..40).map(|n| format!("10:00:{n} poll ok in {n}ms\n")).collect();
    let plain = stc_abridge::ansi(BUILD, true).unwrap();
    for (text, status, expected) in [(&*log, Status::Failed, ""), (BUILD, Status::Cleaned, &plain)] {
        let mut seen = None;
        let within = budget::within(9, || seen = Some(applied(Mode::Aggressive, 9000, "cargo build", text)));
        assert_eq!(within, None);
        let (outcome, out, traces) = seen.unwrap();
        assert_eq!((outcome.status, &*out), (status, expected));
        let kept: Vec<_> = traces.iter().filter(|trace| trace.kept).map(|trace| trace.step).collect();
        assert_eq!(kept, steps(&outcome));
    }
}

#[test]
fn json_takes_no_step_of_texts() {
    let rows: Vec<_> = (0..400).map(|n| format!("{{\"id\":{n},\"state\":\"open\",\"by\":\"ann\"}}")).collect();
    let json = format!("[{}]", rows.join(","));
    let (outcome, out, _) = applied(Mode::Aggressive, 1 << 20, "cargo build", &json);
    assert_eq!((outcome.status, steps(&outcome)), (Status::Stc2Labelled, vec![Step::Json]));
    assert_eq!(stc::decode(out.as_bytes()).unwrap(), json.as_bytes());
    // Coloured, it is the same.
    let coloured = format!("\u{1b}[1m{json}\u{1b}[0m");
    let (outcome, again, _) = applied(Mode::Safe, 1 << 20, "jq -C .", &coloured);
    assert_eq!((outcome.status, steps(&outcome)), (Status::Stc2Labelled, vec![Step::Ansi, Step::Json]));
    assert_eq!(again, out);
    // Converted first, capped by rows then.
    let (outcome, capped, _) = applied(Mode::Safe, 2000, "x", &json);
    assert_eq!((outcome.status, steps(&outcome)), (Status::Abridged, vec![Step::Cap, Step::Json]));
    assert!(capped.len() <= 2000 && capped.starts_with(&out[..500]));
    // What was written stays.
    assert_eq!(applied(Mode::Aggressive, 1 << 20, "x", &out).0.status, Status::NotJson);
}

#[test]
fn output_that_is_not_text_is_suppressed_and_long_output_capped() {
    let (outcome, out, _) = applied(Mode::Safe, 9000, "cat x.png", &"\0\u{1}PNG".repeat(200));
    assert_eq!((outcome.status, out.as_str()), (Status::Abridged, "[Binary output suppressed: 1000 bytes]"));
    let log = format!("{}error: it broke\n{}", "line\n".repeat(1000), "more\n".repeat(1000));
    let (outcome, out, _) = applied(Mode::Safe, 1000, "x", &log);
    assert_eq!((outcome.status, steps(&outcome)), (Status::Abridged, vec![Step::Cap]));
    assert!(out.len() <= 1000 && out.contains("error: it broke"));
    // Too long to be read as JSON, and not JSON: the other steps follow.
    let long = "line that repeats\n".repeat(70_000);
    let (outcome, out, _) = applied(Mode::Standard, 9000, "x", &long);
    assert_eq!(steps(&outcome), [Step::Cap, Step::Fold]);
    assert!(out.len() < 200, "{out}");
}

#[test]
fn files_and_texts_that_gain_nothing_stay() {
    let chain = Chain { mode: Mode::Aggressive, cap: 9000, excerpt: 4, dictionary: Dictionary::Lzw };
    let text = "fn a() {}   \n\n\n\n\nfn b() {}\nfn b() {}\nfn b() {}\n";
    let mut guard = Guard::new(Finder::Rules(Arc::default()), Redaction::On);
    let mut out = Vec::new();
    let file = Origin { kind: Kind::File, ..Origin::default() };
    let input = Input { text, origin: file, owed: None };
    let outcome = chain.apply(input, &rules(), &mut guard, None, &mut out).unwrap();
    assert_eq!((outcome.status, out.is_empty()), (Status::NotJson, true));
    let prose = "Some words that say something, and others that do not say the same.\n";
    assert_eq!(applied(Mode::Aggressive, 9000, "x", prose).0.status, Status::NotJson);
}

/// A text without line feeds keeps its carriage returns, also when a dictionary has given it line feeds.
#[test]
fn a_dictionary_of_a_text_with_carriage_returns_stays() {
    let bar = |n: usize| format!("\rpart-0.bin [{}{}] {n:3}% of 935 MB", "#".repeat(n / 5), ".".repeat(20 - n / 5));
    let text: String = (0..=50).step_by(5).map(bar).collect();
    let (outcome, out, _) = applied(Mode::Aggressive, 9000, "x", &text);
    assert_eq!(steps(&outcome), [Step::Dictionary]);
    assert_eq!(stc_abridge::expand(&out).as_deref(), Some(text.as_str()));
    let (outcome, again, _) = applied(Mode::Aggressive, 9000, "x", &out);
    assert_eq!((outcome.status, again.as_str()), (Status::NotJson, ""));
}

#[test]
fn traces_say_what_each_step_did() {
    let (outcome, _, traces) = applied(Mode::Standard, 9000, "cargo build", BUILD);
    assert_eq!(traces[0].step, Step::Ansi);
    assert_eq!(traces[0].bytes[0], BUILD.len() as u64);
    let kept: Vec<_> = traces.iter().filter(|trace| trace.kept).collect();
    for pair in kept.windows(2) {
        assert_eq!((pair[0].bytes[1], pair[0].tokens[1]), (pair[1].bytes[0], pair[1].tokens[0]));
    }
    assert_eq!(kept.last().unwrap().tokens[1], outcome.tokens_out);
}
