//! The command line: every subcommand and flag, with the help that `--help` prints.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueHint};
use stc::{Format, Options};

use crate::format;
use crate::limits::{Bounds, Expansion, Window};

/// The list of exit codes, printed under the long help of every subcommand.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0    success (also if the reader of a pipe closed it)
  1    rejected: not valid, over a limit, or a round trip that is not exact
  2    usage: an unknown flag, a value that cannot be parsed
  3    I/O: a file that cannot be read or written
  130  interrupted (SIGINT, SIGTERM or SIGHUP) while writing to -o; no partial file is left"
    };
}

// After the macro, which they use.
mod context;
mod mcp;

pub(crate) use context::Context;
pub(crate) use mcp::Mcp;

/// STOA Token Compression: JSON as a lossless, compact text for LLM agents.
///
/// STC is JSON in fewer tokens: lists of objects become rows under a header, and what repeats is written once. Strings,
/// numbers, key order and duplicate keys are restored byte for byte; only insignificant whitespace is lost.
#[derive(Parser)]
#[command(
    name = "stc",
    version,
    disable_help_flag = true,
    after_help = "\
Examples:
  stc encode response.json -o response.stc   JSON to STC
  stc stats responses/                       bytes and tokens in every format",
    after_long_help = concat!(
        "\
Examples:
  stc encode response.json -o response.stc       JSON to STC
  curl -s https://example.org/api | stc encode   the same in a pipe
  stc encode --format stc2-labelled a.json       for a small model
  stc decode response.stc                        STC (any version) or JSON to minified JSON
  stc encode --lines < log.ndjson                one document per line, in constant memory
  stc check responses/                           checks that files are valid and round trips exact
  stc stats responses/                           bytes and tokens in every format
  stc explain response.json                      which arrays version 2 shortens, and how
  stc legend                                     a description of the format for a model
  stc context request.json                       the tool results in a request to a model
  stc mcp -- npx SERVER                          an MCP server whose results are STC

",
        exit_codes!()
    )
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Print a short help
    #[arg(short, long, global = true, action = ArgAction::HelpShort, display_order = 1000)]
    help: Option<bool>,
    /// Print all flags, examples and exit codes
    #[arg(long, global = true, action = ArgAction::HelpLong, display_order = 1001)]
    help_all: Option<bool>,
}

impl Cli {
    /// Rejects flags that conflict, with an error like clap's for an unknown flag.
    pub(crate) fn checked(self) -> Result<Self, clap::Error> {
        let Some(Command::Encode(encode)) = &self.command else { return Ok(self) };
        let format = encode.format;
        let is_stc2 = !matches!(format, Format::Stc1 | Format::Json);
        let wrong = if encode.stream.lines && is_stc2 {
            Some(format!(
                "{format} has line feeds inside a document, so it cannot be one document per line: --lines needs --format stc1"
            ))
        } else if encode.window.window.is_some() && format != Format::Stc1 {
            Some(format!("{format} reads the whole document before it writes: --window needs --format stc1"))
        } else {
            None
        };
        match wrong {
            Some(message) => {
                let mut command = Self::command();
                command.build();
                let encode = command.find_subcommand_mut("encode").expect("a subcommand");
                Err(encode.error(ErrorKind::ArgumentConflict, message))
            }
            None => Ok(self),
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Encode(Encode),
    Decode(Decode),
    Check(Check),
    Stats(Stats),
    Explain(Explain),
    Legend(Legend),
    Context(Context),
    Mcp(Mcp),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  stc completions bash > ~/.local/share/bash-completion/completions/stc
  stc completions zsh > ~/.zfunc/_stc
  stc completions fish > ~/.config/fish/completions/stc.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// JSON to STC
///
/// Input that is not valid JSON (RFC 8259) is rejected, and nothing is written: no byte on stdout, no file. With --lines,
/// the lines before the rejected one have already been written.
#[derive(Args)]
#[command(after_long_help = concat!(
    "\
Examples:
  stc encode response.json
  stc encode response.json -o response.stc
  stc encode --format stc2-labelled response.json
  stc encode responses/ more.json --out-dir encoded/
  stc encode --lines events.ndjson -o events.ndstc
  stc encode -f stc1 --window 1M huge.json -o huge.stc    in bounded memory

",
    exit_codes!()
))]
pub(crate) struct Encode {
    /// JSON files, with --out-dir also folders; stdin if none or `-`
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// The format to write
    ///
    /// `stc decode` reads all of them. With --lines the default is STC 1.
    #[arg(
        short,
        long,
        value_parser = format::parser(&Format::ALL),
        default_value_t = format::DEFAULT,
        default_value_if("lines", "true", format::LINES.name())
    )]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) stream: Stream,
    #[command(flatten)]
    pub(crate) window: Window,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

impl Encode {
    pub(crate) fn options(&self) -> Options {
        self.window.apply(Options::default().limits(self.bounds.limits())).format(self.format)
    }
}

/// STC (any version) or JSON to minified JSON
///
/// Reads and writes as a stream, in constant memory: if the input is rejected half-way, stdout may already have a correct
/// beginning. A file named by -o appears only on success.
#[derive(Args)]
#[command(after_long_help = concat!(
    "\
Examples:
  stc decode response.stc
  stc decode --pretty response.stc
  stc decode encoded/ --out-dir decoded/
  stc decode --lines events.ndstc -o events.ndjson
  stc decode --max-output 10M --max-ratio 20 untrusted.stc

",
    exit_codes!()
))]
pub(crate) struct Decode {
    /// STC files, with --out-dir also folders; stdin if none or `-`
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Indent the JSON
    ///
    /// Two spaces a level; levels after the 64th are indented like it.
    #[arg(short, long, conflicts_with = "lines")]
    pub(crate) pretty: bool,
    #[command(flatten)]
    pub(crate) stream: Stream,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    #[command(flatten)]
    pub(crate) expansion: Expansion,
}

impl Decode {
    pub(crate) fn options(&self) -> Options {
        Options::default().limits(self.expansion.apply(self.bounds.limits()))
    }
}

/// Check that input is valid and that its round trip is exact
///
/// JSON is encoded in every format, decoded and compared with its own minified text; a second JSON parser has to agree
/// that it is valid. STC (`.stc` files, or --stc) has to decode, and the result has to pass the same test. Folders are
/// searched for .json, .ndjson, .jsonl and .stc. The report is written to stdout; stderr lists files that cannot be read.
#[derive(Args)]
#[command(after_long_help = concat!(
    "\
Examples:
  stc check response.json
  stc check responses/ extra.ndjson response.stc
  stc decode response.stc | stc check

",
    exit_codes!()
))]
pub(crate) struct Check {
    /// Files and folders; stdin if none or `-`
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Treat every input as STC, whatever its name
    #[arg(long)]
    pub(crate) stc: bool,
    /// One document per line (.ndjson and .jsonl files always are)
    #[arg(short, long)]
    pub(crate) lines: bool,
    #[command(flatten)]
    pub(crate) window: Window,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
    #[command(flatten)]
    pub(crate) expansion: Expansion,
}

impl Check {
    pub(crate) fn options(&self) -> Options {
        self.window.apply(Options::default().limits(self.expansion.apply(self.bounds.limits())))
    }
}

/// Bytes and tokens of JSON, TOON and every STC format
///
/// Savings are shares of minified JSON. Tokens are counted offline with the vocabularies o200k_base and cl100k_base. TOON is
/// written from parsed JSON: numbers may be spelled differently, and of duplicate keys one is kept. Folders are searched for
/// .json, .ndjson and .jsonl. A rejected file is reported, and the others are still measured.
#[derive(Args)]
#[command(after_long_help = concat!(
    "\
Examples:
  stc stats response.json
  stc stats responses/ --json
  curl -s https://example.org/api | stc stats

",
    exit_codes!()
))]
pub(crate) struct Stats {
    /// Files and folders; stdin if none or `-`
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// One document per line (.ndjson and .jsonl files always are)
    #[arg(short, long)]
    pub(crate) lines: bool,
    #[command(flatten)]
    pub(crate) window: Window,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

impl Stats {
    pub(crate) fn options(&self) -> Options {
        self.window.apply(Options::default().limits(self.bounds.limits()))
    }
}

/// Show how version 2 writes each array and what that saves
///
/// Lists arrays of two or more objects, and objects that became tables; values inside a table count for that table. Bytes
/// and tokens are those of minified JSON and what STC saves of them; tokens are the estimate by which the encoder decides.
/// `stc stats` counts real tokens.
#[derive(Args)]
#[command(after_long_help = concat!(
    "\
Examples:
  stc explain response.json
  stc explain --format stc2-labelled --all response.json
  curl -s https://example.org/api | stc explain --json

",
    exit_codes!()
))]
pub(crate) struct Explain {
    /// The JSON to read; stdin if none or `-`
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// The format to explain
    #[arg(short, long, value_parser = format::parser(&Format::STC[1..]), default_value_t = format::DEFAULT)]
    pub(crate) format: Format,
    /// List every array, however many there are
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Show whole paths, headers and texts, however long they are
    #[arg(short, long)]
    pub(crate) wide: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

impl Explain {
    pub(crate) fn options(&self) -> Options {
        Options::default().limits(self.bounds.limits()).format(self.format)
    }
}

/// Print a description of a format for a model
///
/// Send it once, in the system prompt or in the description of a tool, not with every response.
#[derive(Args)]
#[command(after_long_help = concat!(
    "\
Examples:
  stc legend
  stc legend --format stc2-labelled

",
    exit_codes!()
))]
pub(crate) struct Legend {
    /// The format to describe
    #[arg(short, long, value_parser = format::parser(&Format::STC), default_value_t = format::DEFAULT)]
    pub(crate) format: Format,
}

/// The output, and whether the input is one document per line.
#[derive(Args)]
pub(crate) struct Stream {
    /// Write to FILE; stdout if none or `-`
    ///
    /// The file is created or replaced only on success.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Write each input to a file of the same name in DIR
    ///
    /// The extension becomes .stc or .json, with --lines .ndstc or .ndjson. Files of folders keep their folders. Nothing is
    /// written if an output would replace an input.
    #[arg(short = 'd', long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "output")]
    pub(crate) out_dir: Option<PathBuf>,
    /// One document per line (NDJSON)
    ///
    /// Memory is bounded by the longest line, and limits apply to each line.
    #[arg(short, long)]
    pub(crate) lines: bool,
}

impl Stream {
    pub(crate) fn to_stdout(&self) -> bool {
        self.out_dir.is_none() && self.output.as_deref().is_none_or(|path| path == Path::new("-"))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }
}
