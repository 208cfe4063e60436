//! `stc-perf`: the speed of the codec next to its rivals, on the same bytes in the same process, and whether it has changed.

// Some functions and fields are for tokens, profile and report alone.
#![cfg_attr(not(feature = "command"), allow(dead_code))]

mod allocations;
mod budget;
mod compare;
mod context;
#[cfg(feature = "command")]
mod flame;
mod gate;
mod instructions;
mod latency;
mod layouts;
#[cfg(feature = "command")]
mod plot;
#[cfg(feature = "command")]
mod profile;
mod progress;
#[cfg(feature = "command")]
mod report;
mod results;
mod run;
mod scaling;
mod selection;
mod show;
mod table;
#[cfg(feature = "command")]
mod tokens;
mod worktree;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The performance harness of the STC codec.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Throughput of encode and decode next to every rival; geometric means of the ratios last.
    Run(run::Arguments),
    /// Percentiles of the time for a small reply, over 256 different replies.
    Latency(latency::Arguments),
    /// Cost per byte from 10 KiB to 100 MiB, and the cost of hostile keys.
    Scaling(scaling::Arguments),
    /// Decoding speed of the same rows in other layouts, and of small tables with wide headers.
    Layouts(layouts::Arguments),
    /// Bytes and tokens of JSON, YAML, TOON and STC, by file and by group, as Markdown.
    #[cfg(feature = "command")]
    Tokens(tokens::Arguments),
    /// The time to prepare requests to models, and to recognise those without tool results.
    Context(context::Arguments),
    /// Two commits, or two files of results, side by side as Markdown.
    Compare(compare::Arguments),
    /// Measures every class of response against perf/budget.toml; fails if one is over budget.
    Gate(gate::Arguments),
    /// Time, memory and allocations of one document by stage in both directions, and flamegraphs.
    #[cfg(feature = "command")]
    Profile(profile::Arguments),
    /// One HTML page with plots.
    #[cfg(feature = "command")]
    Report(report::Arguments),
    /// Encodes and decodes a case the given number of times; the gate counts the instructions of this.
    #[command(hide = true)]
    Repeat(instructions::Repeat),
    /// Prepares a request the given number of times; the gate counts the instructions of this.
    #[command(hide = true)]
    RepeatContext(context::Repeat),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Latency(arguments) => latency::run(&arguments),
        Command::Scaling(arguments) => scaling::run(&arguments),
        Command::Layouts(arguments) => layouts::run(&arguments),
        #[cfg(feature = "command")]
        Command::Tokens(arguments) => tokens::run(&arguments),
        Command::Context(arguments) => context::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Gate(arguments) => gate::run(&arguments),
        #[cfg(feature = "command")]
        Command::Profile(arguments) => profile::run(&arguments),
        #[cfg(feature = "command")]
        Command::Report(arguments) => report::run(&arguments),
        Command::Repeat(arguments) => instructions::repeat(&arguments),
        Command::RepeatContext(arguments) => context::repeat(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stc-perf: {error}");
            ExitCode::FAILURE
        }
    }
}
