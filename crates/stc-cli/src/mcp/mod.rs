//! `stc mcp`: an MCP server, a command or a URL, with its tool results as STC. The rules are those of stc-layer.

#[cfg(feature = "http")]
mod http;
mod lines;
mod pipe;

use std::process::ExitCode;

use stc_layer::{Format, McpPolicy, Policy, SkipTools};

use crate::args::Mcp;
use crate::failure::Failure;

pub(crate) fn run(args: &Mcp) -> Result<ExitCode, Failure> {
    let skipped = args.skip_tools.iter().map(String::as_str).filter(|name| !name.is_empty());
    let skip_tools = SkipTools::new(skipped).map_err(|error| Failure::Usage(format!("--skip-tools: {error}")))?;
    let policy = Policy {
        skip_tools,
        min_bytes: args.min_bytes,
        mcp: McpPolicy { legend: args.legend, ..McpPolicy::default() },
        ..Policy::default()
    };
    #[cfg(feature = "http")]
    if let Some(url) = &args.url {
        return http::run(url, &args.headers, policy, wire_format(args.format));
    }
    #[cfg(feature = "http")]
    if !args.headers.is_empty() {
        return Err(Failure::Usage("--header is for --url".to_owned()));
    }
    pipe::run(&args.command, policy, wire_format(args.format))
}

fn wire_format(format: stc::Format) -> Format {
    match format {
        stc::Format::Stc1 => Format::Stc1,
        stc::Format::Stc2Labelled => Format::Stc2Labelled,
        _ => Format::Stc2,
    }
}
