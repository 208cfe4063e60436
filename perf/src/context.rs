//! `context`: the cost of preparing requests to models, and its budget in the gate.
//!
//! The request is one that an agent sends after 200 calls: 840 KB with 200 JSON results, in the mode `lossless`, and one with
//! what 200 programs printed, in the mode `standard`. They are measured in time, in instructions a byte, in allocations a result, and in
//! peak memory; beside them stands the cost of recognising a request of the same length without tool results.

use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use stc_context::{Api, Caller, Context, Done, HeaderOptions, Memo, Mode, Request, Settings};
use stc_perf::requests::{self, RESULTS, measured};
use stc_perf::stats::median;

use crate::instructions::collected;
use crate::show::show;
use crate::table::Table;
use crate::worktree::{memory, output};

/// Repetitions under valgrind.
const TIMES: usize = 3;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Repetitions of each request; the median counts.
    #[arg(long, default_value_t = 101)]
    turns: usize,
}

#[derive(clap::Args)]
pub(crate) struct Repeat {
    times: usize,
    /// The name of the request.
    name: String,
}

/// The costs of preparing the request: allowed or measured.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Costs {
    /// Instructions a byte of the body.
    pub(crate) instructions: f64,
    /// Allocations a result, with warm codecs.
    pub(crate) allocations: f64,
    /// Peak bytes for a byte of the body.
    pub(crate) peak: f64,
}

fn prepare(context: &Context, api: Api, body: &[u8]) -> usize {
    let request = Request::new(api, body);
    let done = context.prepare(request).expect("no options");
    done.body.map_or(0, |body| body.len())
}

fn memoised(context: &Context, body: &[u8], found: &[Option<Arc<[u8]>>]) -> Done {
    let headers = HeaderOptions { session: Some(b"session"), ..HeaderOptions::default() };
    let request = Request { endpoint: Api::OpenAiChat.into(), body, headers, model: None };
    let begun = context.begin(request, Caller { tenant: b"tenant", route: "/" }).expect("no wrong options");
    context.finish(body, begun, found).expect("redaction is not required")
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let context = Context::new(Settings::default())?;
    let mut table = Table::new(["request", "bytes", "sent", "milliseconds", "MB/s"]);
    let mut measure = |name: &str, body: &[u8], work: &dyn Fn() -> usize| {
        let sent = work();
        let mut times: Vec<f64> = (0..arguments.turns)
            .map(|_| {
                let began = Instant::now();
                assert_eq!(std::hint::black_box(work()), sent);
                began.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        let time = median(&mut times);
        let speed = body.len() as f64 / time / 1e3;
        let cells = [body.len().to_string(), sent.to_string(), format!("{time:.3}"), format!("{speed:.0}")];
        table.row([name.to_owned()].into_iter().chain(cells));
    };
    for api in Api::ALL {
        let body = requests::of_api(api);
        measure(&format!("{}, {RESULTS} results", api.name()), &body, &|| prepare(&context, api, &body));
    }
    let (standard, printed) = measured("standard")?;
    measure(&format!("openai-chat, {RESULTS} printed, standard"), &printed, &|| {
        prepare(&standard, Api::OpenAiChat, &printed)
    });
    // Texts in which nothing is to be done.
    let clean = requests::clean();
    let safe = Context::new(Settings { mode: Mode::Safe, ..Settings::default() })?;
    measure("openai-chat, clean text, safe", &clean, &|| prepare(&safe, Api::OpenAiChat, &clean));
    // Every result known from the request before, as in a later turn of a session.
    let body = requests::of_api(Api::OpenAiChat);
    let known = memoised(&context, &body, &[]);
    let found: Vec<_> = known.keep.into_iter().map(|write| Some(write.value)).collect();
    measure(&format!("openai-chat, {RESULTS} results known"), &body, &|| {
        let done = memoised(&context, &body, &found);
        assert_eq!(done.report.memos(Memo::Reused), RESULTS);
        done.body.map_or(0, |body| body.len())
    });
    let words = "Summarise all pages, and say which of them has no rows. ".repeat(18_000);
    let plain = format!(r#"{{"messages":[{{"role":"user","content":"{words}"}}]}}"#).into_bytes();
    for api in Api::ALL {
        let name = format!("{}, no results", api.name());
        measure(&name, &plain, &|| usize::from(context.may_change(api, &plain)));
    }
    show(&table)
}

/// Runs the repetitions; this is the process that callgrind measures.
pub(crate) fn repeat(arguments: &Repeat) -> Result<(), String> {
    let (context, body) = measured(&arguments.name)?;
    // One more than requested: the codecs are warm in either run.
    for _ in 0..=arguments.times {
        std::hint::black_box(prepare(&context, Api::OpenAiChat, std::hint::black_box(&body)));
    }
    Ok(())
}

/// Measures instructions, allocations and memory of a request.
pub(crate) fn measure(name: &str) -> Result<Costs, String> {
    let length = measured(name)?.1.len();
    let work = callgrind(name, TIMES)?.saturating_sub(callgrind(name, 0)?);
    let printed = output(memory()?.args(["context", name]))?;
    #[derive(Deserialize)]
    struct Memory {
        allocations: u64,
        peak: u64,
    }
    let memory: Memory = serde_json::from_str(&printed).map_err(|error| format!("stc-perf-memory: {error}"))?;
    Ok(Costs {
        instructions: work as f64 / (TIMES * length) as f64,
        allocations: memory.allocations as f64 / RESULTS as f64,
        peak: memory.peak as f64 / length as f64,
    })
}

fn callgrind(name: &str, times: usize) -> Result<u64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"]).arg(own);
    let printed = output(valgrind.args(["repeat-context", &times.to_string(), name]));
    let printed = printed.map_err(|error| format!("valgrind is needed to count instructions: {error}"))?;
    collected(&printed).ok_or_else(|| format!("valgrind counted nothing:\n{printed}"))
}

/// Returns both as a line.
pub(crate) fn compared(is: Costs, may: Costs) -> String {
    format!(
        "{:.2} / {:.2} instructions a byte, {:.2} / {:.2} allocations a result, peak {:.2} / {:.2} of the body",
        is.instructions, may.instructions, is.allocations, may.allocations, is.peak, may.peak
    )
}

/// Returns what of a request is over its budget.
pub(crate) fn over(name: &str, is: Costs, may: Costs) -> Vec<String> {
    let pairs = [
        ("instructions", is.instructions, may.instructions),
        ("allocations", is.allocations, may.allocations),
        ("peak", is.peak, may.peak),
    ];
    pairs.into_iter().filter(|(_, is, may)| is > may).map(|(what, ..)| format!("context {name} {what}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cost_fails_by_itself_and_by_name() {
        let may = Costs { instructions: 20.0, allocations: 2.0, peak: 3.0 };
        let over = |is| over("prepare", is, may);
        assert!(over(may).is_empty());
        assert_eq!(over(Costs { instructions: 20.1, ..may }), ["context prepare instructions"]);
        assert_eq!(over(Costs { allocations: 2.1, ..may }), ["context prepare allocations"]);
        assert_eq!(over(Costs { peak: 3.1, ..may }), ["context prepare peak"]);
    }
}
