//! The flags of `stc mcp`.

use clap::{Args, ValueHint};
use stc::Format;
use stc_context::Reader;

use crate::format;

/// Run an MCP server, with its tool results as STC
///
/// The server runs as a child and talks through pipes, as without this command. Only texts of tool results that are JSON and become
/// shorter change, and they are marked; every other byte is the server's own. Its stderr, signals and exit code pass. In a client's
/// configuration, put `stc mcp --` before the server's command. With --url the server is one that talks Streamable HTTP.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  stc mcp -- npx -y @modelcontextprotocol/server-filesystem ~/documents
  stc mcp --format stc2-labelled -- python server.py    for a small model
  stc mcp --model llama3.2:3b -- ./server        writes what suits this model
  stc mcp --skip-tools '' -- ./rows              files that tools read become STC too
  stc mcp --legend -- ./server                   adds a description of the format to the server's instructions
  stc mcp --url https://example.com/mcp --header 'Authorization: Bearer KEY'

Exit codes:
  those of the server; 128 and the number of the signal that ended it
  127  the server's command was not found
  2    usage: an unknown flag, a value that cannot be parsed
  3    I/O: the server could not be started")]
pub(crate) struct Mcp {
    /// The format to write
    #[arg(short, long, value_parser = format::parser(&Format::STC), default_value_t = format::DEFAULT)]
    pub(crate) format: Format,
    /// How much the model reads, instead of a format
    #[arg(long, value_parser = Reader::ALL.map(Reader::name), conflicts_with_all = ["format", "model"])]
    pub(crate) reader: Option<String>,
    /// The name of the model behind the client, instead of a format
    #[arg(long, value_name = "NAME", conflicts_with = "format", hide_short_help = true)]
    pub(crate) model: Option<String>,
    /// Texts shorter than this stay as they are
    #[arg(long, value_name = "BYTES", default_value_t = 128)]
    pub(crate) min_bytes: usize,
    /// Tools whose results stay as they are: families (read, edit, write, bash, glob, grep), names, globs
    ///
    /// An agent that edits a file copies from what it has read, so tools that read, edit and write files are left alone. An empty
    /// list converts the results of all tools.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',', default_value = "read,edit,write")]
    pub(crate) skip_tools: Vec<String>,
    /// Add the legend of the format to the server's instructions
    #[arg(long)]
    pub(crate) legend: bool,
    /// The address of a server that talks Streamable HTTP
    #[cfg(feature = "http")]
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url, conflicts_with = "command")]
    pub(crate) url: Option<String>,
    /// A header of every request to --url; may be repeated
    #[cfg(feature = "http")]
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub(crate) headers: Vec<String>,
    /// The server's command and its arguments, after --
    #[cfg_attr(feature = "http", arg(required_unless_present = "url"))]
    #[cfg_attr(not(feature = "http"), arg(required = true))]
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments, num_args = 1..)]
    pub(crate) command: Vec<std::ffi::OsString>,
}
