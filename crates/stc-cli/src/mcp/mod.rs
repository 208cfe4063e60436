//! `stc mcp`: an MCP server, a command or a URL, with its tool results as STC. The rules are those of stc-layer.

#[cfg(feature = "http")]
mod http;
mod lines;
mod pipe;

use std::process::ExitCode;

use stc_context::{Reader, Settings};
use stc_layer::{Format, McpPolicy, Policy, SkipTools};

use crate::args::Mcp;
use crate::context;
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
        return http::run(url, &args.headers, policy, format(args));
    }
    #[cfg(feature = "http")]
    if !args.headers.is_empty() {
        return Err(Failure::Usage("--header is for --url".to_owned()));
    }
    pipe::run(&args.command, policy, format(args))
}

/// Returns the format to write: the one that is named, or that for the reader.
fn format(args: &Mcp) -> Format {
    let usual = Settings::default();
    let named = args.reader.as_deref().and_then(context::reader);
    let settings = Settings { reader: named.unwrap_or(usual.reader), ..usual };
    let is_named = args.reader.is_some() || args.model.is_some();
    let reading = settings.reading(args.model.as_deref()).filter(|_| is_named);
    match reading.and_then(|reading| reading.reader) {
        Some(Reader::Large) => Format::Stc2,
        Some(Reader::Small) => Format::Stc2Labelled,
        None => wire_format(args.format),
    }
}

fn wire_format(format: stc::Format) -> Format {
    match format {
        stc::Format::Stc1 => Format::Stc1,
        stc::Format::Stc2Labelled => Format::Stc2Labelled,
        _ => Format::Stc2,
    }
}
