//! The proxy people run: the program around the library.

mod admin;
mod body;
mod compare;
mod config;
mod demo;
mod forward;
mod idle;
mod ledger;
mod log;
mod metrics;
mod pace;
mod page;
mod permits;
mod plugins;
mod request_id;
mod respond;
mod savings;
mod sending;
mod serve;
mod setup;
mod socket;
mod stock;
mod streams;
mod tls;
mod worker;

pub use stock::Catalogue;

use clap::{Parser, Subcommand};
use config::Flags;
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

/// Reads the command line and runs until it is told to stop. Whoever has plugins of their own writes a `main` with a
/// [`Catalogue`] that has them too.
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
