//! `stc-perf`: how fast the codec is, beside its rivals on the same bytes in the same run, and whether it stayed so.

mod allocations;
mod budget;
mod compare;
mod flame;
mod gate;
mod instructions;
mod latency;
mod plot;
mod profile;
mod progress;
mod report;
mod results;
mod run;
mod scaling;
mod show;
mod table;
mod tokens;
mod worktree;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// The performance harness of the STC codec.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Throughput of encode and decode beside every rival, with geometric means of the ratios at the end.
    Run(run::Arguments),
    /// Percentiles of the time a small reply takes, 256 different replies in rotation.
    Latency(latency::Arguments),
    /// Cost per byte from 10 KB to 100 MB, and what hostile keys cost.
    Scaling(scaling::Arguments),
    /// Bytes and tokens of JSON, YAML, TOON and STC, file by file and by groups, as Markdown.
    Tokens(tokens::Arguments),
    /// Two commits, or two files of results, side by side as Markdown.
    Compare(compare::Arguments),
    /// Measures every class of response against perf/budget.toml; fails if one is over.
    Gate(gate::Arguments),
    /// Where the time, the memory and the allocations of one document go, and a flamegraph.
    Profile(profile::Arguments),
    /// One HTML page with plots.
    Report(report::Arguments),
    /// Encodes or decodes a class of response so many times; what the gate counts instructions of.
    #[command(hide = true)]
    Repeat(instructions::Repeat),
}

/// Which documents to measure; the list of the benches if none are named.
#[derive(Args)]
struct Chosen {
    /// A JSON file of your own; may be given several times.
    #[arg(long)]
    file: Vec<PathBuf>,
    /// A folder of JSON files of your own, and of folders with more; may be given several times.
    #[arg(long)]
    dir: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Latency(arguments) => latency::run(&arguments),
        Command::Scaling(arguments) => scaling::run(&arguments),
        Command::Tokens(arguments) => tokens::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Gate(arguments) => gate::run(&arguments),
        Command::Profile(arguments) => profile::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Repeat(arguments) => instructions::repeat(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stc-perf: {error}");
            ExitCode::FAILURE
        }
    }
}
