//! The proxy people run: the program around the library.

mod admin;
mod config;
mod demo;
mod forward;
mod guarded;
mod idle;
mod ledger;
mod respond;
mod serve;
mod setup;
mod tls;
mod worker;

use clap::{Parser, Subcommand};
use config::{Config, Flags};
use std::path::PathBuf;
use std::process::ExitCode;

/// A reverse proxy whose clients get STC if they ask, and the upstream's bytes if they do not
#[derive(Parser)]
#[command(name = "stc-gateway", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    flags: Flags,
}

#[derive(Subcommand)]
enum Command {
    /// Read a configuration file and say what is wrong with it
    CheckConfig {
        /// The file
        file: PathBuf,
    },
    /// Start a sample upstream and the proxy before it, and print what to try
    Demo(demo::Demo),
}

/// Reads the command line and runs until it is told to stop.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::CheckConfig { file }) => {
            let flags = Flags { config: Some(file.clone()), ..Flags::default() };
            Config::load(&flags).map(|config| println!("{}: good, {} routes", file.display(), config.routes.len()))
        }
        Some(Command::Demo(demo)) => demo.run(),
        None => serve::run(&cli.flags, |_| {}),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("stc-gateway: {why}");
            ExitCode::FAILURE
        }
    }
}
