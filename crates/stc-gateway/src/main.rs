//! `stc-gateway`: a reverse proxy that sends STC to clients that opt in.

use std::process::ExitCode;

fn main() -> ExitCode {
    stc_gateway::main(&stc_gateway::Catalogue::builtin())
}
