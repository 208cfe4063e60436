//! The command `stc`: the codec at a shell's prompt. Everything about the format is the library's; here are files,
//! pipes, a terminal and the words for what went wrong.

mod args;
mod check;
mod decode;
mod diagnose;
mod encode;
mod explain;
mod failure;
mod format;
mod input;
mod legend;
mod lines;
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

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::{Failure, Status, named};
use output::Output;

fn main() -> ExitCode {
    let cli = match Cli::try_parse().and_then(Cli::checked) {
        Ok(cli) => cli,
        Err(said) => return unparsed(&said),
    };
    end(match cli.command {
        None => printed(Cli::command().print_long_help()),
        Some(Command::Encode(args)) => encode::run(&args),
        Some(Command::Decode(args)) => decode::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Stats(args)) => stats::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Legend(args)) => legend::run(&args),
        Some(Command::Completions { shell }) => completions(shell),
    })
}

fn end(result: Result<Status, Failure>) -> ExitCode {
    let status = result.unwrap_or_else(|failure| {
        failure.report();
        failure.status()
    });
    status.into()
}

/// What clap has to say instead of arguments: help and the version to stdout, a mistake to stderr.
fn unparsed(said: &clap::Error) -> ExitCode {
    let written = said.print();
    if said.use_stderr() {
        // Clap's, for usage; nothing is left to do if stderr is closed.
        return ExitCode::from(2);
    }
    end(printed(written))
}

/// Clap has written to stdout, since it knows whether the terminal wants colours, and that went so.
fn printed(written: io::Result<()>) -> Result<Status, Failure> {
    written.and_then(|()| io::stdout().flush()).map_err(|error| named("<stdout>", &error))?;
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
