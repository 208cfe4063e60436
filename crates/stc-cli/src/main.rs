//! The command `stc`. All codec logic is in the library; this crate handles files, pipes, terminals and messages.

mod args;
mod check;
mod context;
mod convert;
mod decode;
mod diagnose;
mod encode;
mod explain;
mod failure;
mod format;
mod input;
mod legend;
mod limits;
mod lines;
mod mcp;
mod measured;
mod minify;
mod output;
mod pretty;
mod progress;
mod size;
mod sources;
mod stats;
mod style;
mod table;
mod tokens;
mod trail;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use failure::{Failure, Status, named};
use output::Output;

fn main() -> ExitCode {
    let cli = match Cli::try_parse().and_then(Cli::checked) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    end(match cli.command {
        None => printed(Cli::command().print_help()),
        Some(Command::Encode(args)) => encode::run(&args),
        Some(Command::Decode(args)) => decode::run(&args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Stats(args)) => stats::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Legend(args)) => legend::run(&args),
        Some(Command::Context(args)) => context::run(&args),
        // It ends as the server does.
        Some(Command::Mcp(args)) => return mcp::run(&args).unwrap_or_else(|failure| end(Err(failure))),
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

/// Prints clap's output: help and version to stdout, a usage error to stderr.
fn unparsed(error: &clap::Error) -> ExitCode {
    let written = error.print();
    if error.use_stderr() {
        // Clap's code for usage errors; a closed stderr is ignored.
        return ExitCode::from(2);
    }
    end(printed(written))
}

/// Converts the result of clap's own writing to stdout.
fn printed(written: io::Result<()>) -> Result<Status, Failure> {
    written.and_then(|()| io::stdout().flush()).map_err(|error| named("<stdout>", &error))?;
    Ok(Status::Fine)
}

fn completions(shell: clap_complete::Shell) -> Result<Status, Failure> {
    // Written to memory first: clap_complete panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "stc", &mut script);
    let mut output = Output::stdout();
    output.write_all(&script)?;
    output.commit()?;
    Ok(Status::Fine)
}
