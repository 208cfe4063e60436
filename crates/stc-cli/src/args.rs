//! The command line: every subcommand and flag, with the help that `--help` prints.
//!
//! Defaults are read from the library's [`Limits::DEFAULT`], so that the help cannot say anything else.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use stc::{Limits, Options};

use crate::format::Format;
use crate::size::Size;

/// Said once, printed under the help of every subcommand.
macro_rules! exit_codes {
    () => {
        "\
Exit codes:
  0    all went well (also when the reader of a pipe closed it)
  1    refused: not valid, over a limit, or a round trip that is not exact
  2    usage: an unknown flag, a value that cannot be read
  3    I/O: a file that cannot be read or written
  130  interrupted, by SIGTERM or SIGHUP too, while writing to -o; nothing of it is left"
    };
}

/// STOA Token Compression: JSON tool responses as a lossless, compact text for LLM agents.
///
/// STC is JSON in fewer tokens: keys without quotes, arrays with a count, lists of like objects as columns. Strings,
/// numbers, key order and duplicate keys come back byte for byte; only insignificant whitespace is not kept.
#[derive(Parser)]
#[command(
    name = "stc",
    version,
    after_long_help = concat!(
        "\
Examples:
  stc encode response.json -o response.stc       JSON to STC
  curl -s https://example.org/api | stc encode   the same in a pipe
  stc encode --format stc2 response.json         version 2: tables of rows that nest and leave keys out
  stc decode response.stc                        STC (any version) or JSON to minified JSON
  stc encode --lines < log.ndjson                one document a line, in constant memory
  stc check responses/                           is every file valid, is every round trip exact?
  stc stats responses/                           what does it save, in bytes and tokens?
  stc explain response.json                      where does version 2 save it?
  stc legend --format stc2                       what to tell a model about the format

",
        exit_codes!()
    ),
    after_help = exit_codes!()
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

impl Cli {
    /// Refuses flags that are right by themselves and wrong together, as clap refuses an unknown one.
    pub(crate) fn checked(self) -> Result<Self, clap::Error> {
        let Some(Command::Encode(encode)) = &self.command else { return Ok(self) };
        let wrong = if encode.format == Format::Stc1 {
            None
        } else if encode.stream.lines {
            Some("STC 2 holds line feeds, so it cannot be one document a line: --lines goes with --format stc1 only")
        } else if encode.window.window.is_some() {
            Some("STC 2 looks at the whole document before it writes: --window goes with --format stc1 only")
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
/// What is not valid JSON (RFC 8259) is refused, and then nothing is written: no byte on stdout, no file. With
/// --lines the lines before the refused one are out already.
#[derive(Args)]
#[command(after_help = concat!(
    "\
Examples:
  stc encode response.json
  stc encode response.json -o response.stc
  stc encode --format stc2-refs response.json
  stc encode --lines events.ndjson -o events.ndstc
  stc encode --window 1M huge.json -o huge.stc    in bounded memory

",
    exit_codes!()
))]
pub(crate) struct Encode {
    /// The JSON to read; stdin if none or `-`
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// What to write; `stc decode` reads them all
    #[arg(short, long, value_enum, default_value_t)]
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
        self.format.apply(self.window.apply(Options::default().limits(self.bounds.limits())))
    }
}

/// STC (any version) or JSON to minified JSON
///
/// Reads and writes as a stream, in constant memory: where the input is refused half-way, a correct beginning may be on
/// stdout already. A file named by -o appears only when all went well.
#[derive(Args)]
#[command(after_help = concat!(
    "\
Examples:
  stc decode response.stc
  stc decode < response.stc | jq .
  stc decode --lines events.ndstc -o events.ndjson
  stc decode --max-output 10M --max-ratio 20 untrusted.stc

",
    exit_codes!()
))]
pub(crate) struct Decode {
    /// The STC to read; stdin if none or `-`
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
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

/// Is it valid, and is the round trip exact?
///
/// JSON is encoded in every format, decoded and compared with its own minified text; a second JSON parser has to agree
/// that it is valid. STC (`.stc` files, or --stc) has to decode, and what it decodes to has to pass the same test. Folders are
/// walked for .json, .ndjson, .jsonl and .stc.
#[derive(Args)]
#[command(after_help = concat!(
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
    /// Take every input for STC, whatever its name
    #[arg(long)]
    pub(crate) stc: bool,
    /// Take every input for one document a line (.ndjson and .jsonl files always are)
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

/// Bytes and tokens of JSON as it is, of minified JSON and of every STC format
///
/// Tokens are real ones, counted offline with the vocabularies o200k_base and cl100k_base. Folders are walked for .json,
/// .ndjson and .jsonl. A refused file is reported, the others are still measured.
#[derive(Args)]
#[command(after_help = concat!(
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
    /// JSON for machines instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Take every input for one document a line (.ndjson and .jsonl files always are)
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

/// Where version 2 saves: array by array, which form was chosen and what came of it
///
/// Listed are arrays of two objects or more, and objects that became tables; what stands inside a table is the table's.
/// Bytes are those of minified JSON and of STC; tokens are the estimate that the encoder itself decides by, which needs no
/// vocabulary. `stc stats` counts real ones.
#[derive(Args)]
#[command(after_help = concat!(
    "\
Examples:
  stc explain response.json
  stc explain --format stc2 --all response.json
  curl -s https://example.org/api | stc explain --json

",
    exit_codes!()
))]
pub(crate) struct Explain {
    /// The JSON to read; stdin if none or `-`
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// What to explain
    #[arg(short, long, value_parser = of_version_2(), default_value = "stc2-refs")]
    pub(crate) format: Format,
    /// Every array, however many there are
    #[arg(short, long)]
    pub(crate) all: bool,
    /// JSON for machines instead of tables
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) bounds: Bounds,
}

impl Explain {
    pub(crate) fn options(&self) -> Options {
        self.format.apply(Options::default().limits(self.bounds.limits()))
    }
}

/// The formats that have something to explain.
fn of_version_2() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["stc2", "stc2-refs"])
        .map(|name| if name == "stc2" { Format::Stc2 } else { Format::Stc2Refs })
}

/// The lines that explain a format to a model
///
/// Send them once, in the system prompt or in the description of a tool, not with every response.
#[derive(Args)]
#[command(after_help = concat!(
    "\
Examples:
  stc legend
  stc legend --format stc2-refs

",
    exit_codes!()
))]
pub(crate) struct Legend {
    /// What to explain
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Where the result goes and how the documents come.
#[derive(Args)]
pub(crate) struct Stream {
    /// Write to FILE, which appears, or is replaced, only when all went well; stdout if none or `-`
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// One document a line (NDJSON), in memory bounded by the longest line; limits are those of a line
    #[arg(short, long)]
    pub(crate) lines: bool,
}

impl Stream {
    pub(crate) fn to_stdout(&self) -> bool {
        self.output.as_deref().is_none_or(|path| path == Path::new("-"))
    }
}

#[derive(Args)]
#[command(next_help_heading = "Limits (SIZE: bytes, or 64K, 10M, 1G, unlimited)")]
pub(crate) struct Bounds {
    /// Containers open at once
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.depth)]
    max_depth: usize,
    /// Bytes of a document as it comes in
    #[arg(long, value_name = "SIZE", default_value_t = Size::UNLIMITED)]
    max_input: Size,
    /// Bytes of a document as it goes out
    #[arg(long, value_name = "SIZE", default_value_t = Size::UNLIMITED)]
    max_output: Size,
    /// Keys of a header; an encoder leaves wider rows as they are
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.columns)]
    max_columns: usize,
    /// Bytes of a header's keys, constants and templates; an encoder leaves longer ones as they are
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::DEFAULT.header as u64))]
    max_header: Size,
    /// STC 2: bytes of a row that has templates; an encoder gives longer ones none
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::DEFAULT.row as u64))]
    max_row: Size,
    /// STC 2: bytes of all values that anchors name; an encoder names no more
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::DEFAULT.anchors as u64))]
    max_anchors: Size,
}

impl Bounds {
    pub(crate) fn limits(&self) -> Limits {
        // The library's own bounds on input and output are a gateway's; here the files are the user's.
        Limits::default()
            .depth(self.max_depth)
            .input(self.max_input.0)
            .output(self.max_output.0)
            .columns(self.max_columns)
            .header(self.max_header.as_usize())
            .row(self.max_row.as_usize())
            .anchors(self.max_anchors.as_usize())
    }
}

/// What only a decoder needs: headers and names let a small text stand for a large one.
#[derive(Args)]
#[command(next_help_heading = "Limits (SIZE: bytes, or 64K, 10M, 1G, unlimited)")]
pub(crate) struct Expansion {
    /// Decoding: bytes out for each byte in
    #[arg(long, value_name = "N", default_value_t = Limits::DEFAULT.ratio)]
    max_ratio: u64,
    /// Decoding: bytes out before --max-ratio binds
    #[arg(long, value_name = "SIZE", default_value_t = Size(Limits::DEFAULT.free))]
    max_free: Size,
}

impl Expansion {
    fn apply(&self, limits: Limits) -> Limits {
        limits.ratio(self.max_ratio).free(self.max_free.0)
    }
}

#[derive(Args)]
pub(crate) struct Window {
    /// Encoding: write an array longer than SIZE plain, so that no more than that is ever held back
    #[arg(long, value_name = "SIZE", help_heading = "Limits (SIZE: bytes, or 64K, 10M, 1G, unlimited)")]
    window: Option<Size>,
}

impl Window {
    fn apply(&self, options: Options) -> Options {
        match self.window {
            Some(size) => options.window(size.as_usize()),
            None => options,
        }
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
