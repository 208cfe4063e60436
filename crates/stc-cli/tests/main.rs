//! The command `stc`, run as a user runs it: input, output, exit code and messages.

mod command;
mod context;
mod errors;
mod files;
mod folders;
mod formats;
mod limits;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod mcp_files;
#[cfg(unix)]
mod mcp_url;
mod readme;
mod reports;
mod shell;
