//! The command `stc`: the codec at a shell's prompt. Everything about the format is the library's; here are files,
//! pipes, a terminal and the words for what went wrong.

mod args;
mod check;
mod decode;
mod diagnose;
mod encode;
mod failure;
mod input;
mod minify;
mod output;
mod progress;
mod size;
mod stats;
mod style;
mod table;
mod tokens;
mod trail;
mod walk;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::{Failure, Status};
use output::Output;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        None => help(),
        Some(Command::Encode(args)) => encode::run(&args),
        Some(Command::Decode(args)) => decode::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Stats(args)) => stats::run(&args),
        Some(Command::Completions { shell }) => completions(shell),
    };
    let status = result.unwrap_or_else(|failure| {
        failure.report();
        failure.status()
    });
    status.into()
}

/// `stc` alone: what `stc --help` says.
fn help() -> Result<Status, Failure> {
    // Clap knows whether the terminal wants colours; a closed pipe is no reason to complain.
    let _ = Cli::command().print_long_help();
    Ok(Status::Fine)
}

fn completions(shell: clap_complete::Shell) -> Result<Status, Failure> {
    // Into memory first: clap_complete panics where a pipe is closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "stc", &mut script);
    let mut output = Output::stdout();
    output.write_all(&script)?;
    output.commit()?;
    Ok(Status::Fine)
}
