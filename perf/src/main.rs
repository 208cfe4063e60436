//! `stc-perf`: how fast the codec is, beside a rival on the same bytes in the same run.

mod case;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The performance harness of the STC codec.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Throughput of encode and decode, beside simd-json and memcpy.
    Run {
        /// A JSON file of your own; may be given several times.
        #[arg(long)]
        file: Vec<PathBuf>,
        /// A folder of JSON files of your own; may be given several times.
        #[arg(long)]
        dir: Vec<PathBuf>,
    },
}

fn main() -> ExitCode {
    let Command::Run { file, dir } = Args::parse().command;
    match case::gather(&file, &dir).and_then(|cases| run::run(&cases)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stc-perf: {error}");
            ExitCode::FAILURE
        }
    }
}
