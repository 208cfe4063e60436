//! Tokens of the transcripts in `corpus/` before and after each mode, beside the crate forge-guardrails, and what each lost.
//!
//! Both get the same texts, tool names and arguments. Tokens are those of o200k. Two columns say what was lost: lines of errors,
//! which must all be there, and distinct words of the text that are not in what is left of it.
//!
//! The other crate leaves out all but 40 lines of most texts of more than 80, errors or not. The modes here keep 160 lines, and
//! those about problems: a column each, with the defaults and with `excerpt.lines = 0`, which keeps all. The exit code is 1 if a mode
//! has more tokens in total than the other's, or lost a line of an error.

use forge_guardrails::tool_output::{ToolOutputCompressionConfig, ToolOutputCompressionMode, compress_tool_output};
use indexmap::IndexMap;
use serde_json::{Value, json};
use stc_context::{Api, Context, ExcerptSettings, HeaderOptions, Mode, Request, Settings};
use stc_corpus::{Transcript, transcripts};
use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::time::Instant;

const MODES: [(Mode, ToolOutputCompressionMode); 3] = [
    (Mode::Safe, ToolOutputCompressionMode::Safe),
    (Mode::Standard, ToolOutputCompressionMode::Standard),
    (Mode::Aggressive, ToolOutputCompressionMode::Aggressive),
];

/// What a text became: its tokens, the lines of errors and the words that are gone.
#[derive(Clone, Copy, Default)]
struct Result {
    tokens: usize,
    errors: usize,
    words: usize,
}

impl std::ops::AddAssign for Result {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.errors += other.errors;
        self.words += other.words;
    }
}

fn main() -> ExitCode {
    let each = std::env::args().any(|word| word == "--each");
    let all = transcripts();
    println!("{} transcripts, {} bytes", all.len(), all.iter().map(|one| one.text.len()).sum::<usize>());
    let mut good = true;
    for (mode, theirs) in MODES {
        let mut groups: BTreeMap<&str, [Result; 4]> = BTreeMap::new();
        for one in &all {
            let before = Result { tokens: tokens(&one.text), ..Result::default() };
            let after = [ours(mode, ExcerptSettings::default(), one), ours(mode, ExcerptSettings { lines: 0 }, one), forge(theirs, one)].map(|after| judged(one, &after));
            let results = [before, after[0], after[1], after[2]];
            if each {
                print_row(&one.name, &results);
            }
            for name in [one.group, "total"] {
                let sums = groups.entry(name).or_default();
                sums.iter_mut().zip(results).for_each(|(sum, result)| *sum += result);
            }
        }
        println!("\n{}", mode.name());
        print!("{:<24} {:>8}", "", "before");
        ["stc", "no cut", "forge"].iter().for_each(|name| print!(" {name:>8} {:>6} {:>6}", "errors", "words"));
        println!();
        let total = groups.remove("total").unwrap_or_default();
        groups.iter().for_each(|(name, results)| print_row(name, results));
        print_row("total", &total);
        good &= total[1].tokens <= total[3].tokens && total[1].errors + total[2].errors == 0;
    }
    calibration(&all);
    speed();
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print_row(name: &str, [before, after @ ..]: &[Result; 4]) {
    print!("{name:<24} {:>8}", before.tokens);
    after.iter().for_each(|one| print!(" {:>8} {:>6} {:>6}", one.tokens, one.errors, one.words));
    println!();
}

fn tokens(text: &str) -> usize {
    bpe_openai::o200k_base().count(text)
}

/// Counts what is left of a transcript, and what is not.
fn judged(one: &Transcript, after: &str) -> Result {
    let plain = stc_abridge::ansi(&one.text, true).unwrap_or_else(|| one.text.clone());
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // What a dictionary names is there.
    let written = stc_abridge::expand(after).unwrap_or_else(|| after.to_owned());
    let left = squeezed(&written);
    // The path of a search may be on a line of its own.
    let own = |line: &str| squeezed(line.rsplit_once(".rs:").map_or(line, |(_, rest)| rest));
    let lost = |line: &&str| stc_abridge::is_error(line) && !left.contains(&own(line));
    let words = |text: &str| -> HashSet<String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(String::from).collect()
    };
    let errors = if one.group == "json" { 0 } else { plain.lines().filter(lost).count() };
    Result { tokens: tokens(after), errors, words: words(&plain).difference(&words(&written)).count() }
}

fn arguments(one: &Transcript) -> Value {
    match one.tool {
        "bash" => json!({"command": one.command}),
        _ => serde_json::from_str(&one.command).expect("arguments"),
    }
}

fn request(one: &Transcript) -> String {
    json!({"messages": [
        {"role": "assistant", "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": one.tool, "arguments": arguments(one).to_string()}},
        ]},
        {"role": "tool", "tool_call_id": "c", "content": one.text},
    ]})
    .to_string()
}

fn ours(mode: Mode, excerpt: ExcerptSettings, one: &Transcript) -> String {
    let context =
        Context::new(Settings { mode, excerpt, min_bytes: 256, ..Settings::default() }).expect("good settings");
    let body = request(one);
    let headers = HeaderOptions::default();
    let done = context.prepare(Request { endpoint: Api::OpenAiChat.into(), body: body.as_bytes(), headers, model: None });
    let done = done.expect("no options");
    let sent = done.body.as_deref().unwrap_or(body.as_bytes());
    let sent: Value = serde_json::from_slice(sent).expect("what is sent is JSON");
    sent["messages"][1]["content"].as_str().expect("a text").to_owned()
}

fn forge(mode: ToolOutputCompressionMode, one: &Transcript) -> String {
    let config = ToolOutputCompressionConfig::from_mode(mode);
    let members = arguments(one).as_object().cloned().unwrap_or_default();
    let arguments: IndexMap<String, Value> = members.into_iter().collect();
    compress_tool_output(one.tool, Some("c"), Some(&arguments), &one.text, &config, None).output
}

/// Prints how far the estimate is from real tokens.
fn calibration(all: &[Transcript]) {
    let ratio = |one: &Transcript| stc::estimate_tokens(one.text.as_bytes()) as f64 / tokens(&one.text) as f64;
    let mut ratios: Vec<(f64, &str)> = all.iter().map(|one| (ratio(one), one.name.as_str())).collect();
    ratios.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut errors: Vec<f64> = ratios.iter().map(|(ratio, _)| (ratio - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
    println!(
        "\nestimate / o200k: median error {:.1} %, from {:.2} ({}) to {:.2} ({})",
        errors[errors.len() / 2] * 100.0,
        low.0,
        low.1,
        high.0,
        high.1
    );
}

/// Returns a request with `results` texts of about `bytes` bytes each.
fn long(results: usize, bytes: usize, text: impl Fn(usize) -> String) -> Vec<u8> {
    let mut rows = Vec::new();
    for n in 0..results {
        let mut text = text(n);
        while text.len() < bytes {
            text = format!("{text}{text}");
        }
        text.truncate((0..=bytes).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0));
        let arguments = json!({"command": (["cargo test", "git log", "rg -n x", "ls"][n % 4])}).to_string();
        rows.push(json!({"role": "assistant", "tool_calls": [
            {"id": format!("c{n}"), "type": "function", "function": {"name": "bash", "arguments": arguments}},
        ]}));
        rows.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": text}));
    }
    json!({"messages": rows}).to_string().into_bytes()
}

/// Returns the seconds that this thread had a processor, or else the time, so that other programs do not count.
fn seconds(began: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|stat| stat.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| began.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}

/// Prints the median time of requests.
fn speed() {
    let start = Instant::now();
    let clean = long(200, 50_000, |n| {
        format!("Line {n} of a text that says what was found and where.\nNothing was changed in it.\n")
    });
    let all = transcripts();
    let mixed = long(200, 5_000, |n| all[n * 7 % all.len()].text.clone());
    for (name, mode, body) in [
        ("safe, clean text, 10 MB", Mode::Safe, &clean),
        ("lossless, clean text, 10 MB", Mode::Lossless, &clean),
        ("safe, transcripts, 1 MB in 200 results", Mode::Safe, &mixed),
        ("standard, transcripts, 1 MB in 200 results", Mode::Standard, &mixed),
        ("aggressive, transcripts, 1 MB in 200 results", Mode::Aggressive, &mixed),
    ] {
        let context =
            Context::new(Settings { mode, skip_tools: Vec::new(), ..Settings::default() }).expect("good settings");
        let mut times: Vec<f64> = (0..15)
            .map(|_| {
                let began = seconds(start);
                let headers = HeaderOptions::default();
                let request = Request { endpoint: Api::OpenAiChat.into(), body, headers, model: None };
                std::hint::black_box(context.prepare(request).expect("no options"));
                seconds(start) - began
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        println!("{name}: {:.1} ms, {:.0} MB/s", median * 1000.0, body.len() as f64 / median / 1e6);
    }
}
