//! The flags of `stc context`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use stc_context::{Mode, Reader};

use crate::format;

/// Show what becomes of the tool results in a request to a model
///
/// Reads a request of one of the APIs below as `stc-gateway` does for a route with `context = true`, and
/// lists each tool result with its tokens before and after. Tokens are counted with the vocabulary o200k_base. Nothing is
/// sent anywhere. JSON that is no such request ends with code 2.
#[derive(Args)]
#[command(after_long_help = concat!(
    "\
Examples:
  stc context request.json
  stc context request.json --out prepared.json
  stc context --back prepared.json
  stc context --model claude-sonnet-4-5 request.json
  stc context --reader large request.json
  stc context --json request.json
  stc context --mode standard --steps request.json

",
    exit_codes!()
))]
pub(crate) struct Context {
    /// The request's body; stdin if none or `-`
    #[arg(value_name = "REQUEST", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// What happens to tool results
    #[arg(short, long, value_parser = Mode::ALL.map(Mode::name), default_value = "lossless")]
    pub(crate) mode: String,
    /// Print what each step did to each text
    #[arg(long)]
    pub(crate) steps: bool,
    /// What JSON becomes
    ///
    /// `by-model`: what suits the model that the request names.
    #[arg(short, long, value_parser = format::names(&["by-model", "stc2", "stc2-labelled", "json"]), default_value = "by-model")]
    pub(crate) format: String,
    /// The model that reads, where a path names it and not the request
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub(crate) model: Option<String>,
    /// How much the model reads, whatever its name
    ///
    /// Without it readers.toml of stc-context says so, by the model's name.
    #[arg(long, value_parser = Reader::ALL.map(Reader::name))]
    pub(crate) reader: Option<String>,
    /// The share of its estimated tokens that a text must save, from 0 to below 1 [default: 0.02]
    #[arg(long, value_name = "SHARE", value_parser = share, hide_short_help = true)]
    pub(crate) min_saving: Option<f64>,
    /// The API of the request [default: as its tool results say]
    #[arg(long, value_parser = ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "ollama"])]
    pub(crate) api: Option<String>,
    /// Decode the STC texts of a prepared request
    #[arg(long, conflicts_with_all = ["json", "mode", "format", "model", "reader", "min_saving", "steps"])]
    pub(crate) back: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the prepared or decoded request to FILE
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to below 1".to_owned())
}
