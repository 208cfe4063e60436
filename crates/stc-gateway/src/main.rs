//! `stc-gateway`: a reverse proxy whose clients get STC if they ask, and the upstream's bytes if they do not.

use std::process::ExitCode;

fn main() -> ExitCode {
    stc_gateway::program::main(&stc_gateway::program::Catalogue::stock())
}
