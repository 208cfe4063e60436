#![doc = include_str!("../README.md")]

mod access;
mod admin;
mod body;
mod builtin;
mod called;
mod client;
mod config;
mod context;
mod demo;
mod guard;
mod log;
mod metrics;
mod notify;
mod plugins;
mod pool;
mod request_id;
mod respond;
mod routing;
mod serve;
mod setup;
mod traces;
mod upstream;
mod worker;

pub use builtin::Catalogue;
pub use context::ContextPlugin;

use clap::{Parser, Subcommand};
use config::Flags;
use std::path::PathBuf;
use std::process::ExitCode;

/// A reverse proxy that sends STC to clients that opt in, and the upstream's bytes to all others
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
    /// Read a configuration file and report its errors
    CheckConfig {
        /// The file
        file: PathBuf,
    },
    /// Start a sample upstream and the proxy, and print commands to try
    Demo(demo::Demo),
}

/// Runs the command line until a signal ends the program. A program with plugins of its own calls this with a
/// [`Catalogue`] that contains them.
#[must_use]
pub fn main(catalogue: &Catalogue) -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::CheckConfig { file }) => {
            let flags = Flags { config: Some(file.clone()), ..Flags::default() };
            serve::check(&flags, catalogue).map(|(routes, plugins)| {
                println!("{}: good, {routes} routes, {plugins} plugins", file.display());
            })
        }
        Some(Command::Demo(demo)) => demo.run(catalogue),
        None => serve::run(&cli.flags, catalogue, |_| {}),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("stc-gateway: {why}");
            ExitCode::FAILURE
        }
    }
}
