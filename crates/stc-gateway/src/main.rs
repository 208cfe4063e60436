//! `stc-gateway`: a reverse proxy that sends STC to clients that opt in.

use std::process::ExitCode;

// Its threads give freed memory back to the system; the C library keeps what a burst of connections needed.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    stc_gateway::main(&stc_gateway::Catalogue::builtin())
}
