//! `stc-gateway`: a reverse proxy whose clients get STC if they ask, and the upstream's bytes if they do not.

mod program;

use clap::{Parser, Subcommand};
use program::config::{Config, Flags};
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
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::CheckConfig { file }) => {
            let flags = Flags { config: Some(file.clone()), ..Flags::default() };
            Config::load(&flags).map(|config| println!("{}: good, {} routes", file.display(), config.routes.len()))
        }
        None => tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
            .and_then(|runtime| runtime.block_on(program::serve::run(cli.flags))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("stc-gateway: {why}");
            ExitCode::FAILURE
        }
    }
}
