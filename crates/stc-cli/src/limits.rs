//! The flags that set limits, with the library's own as their defaults.

use clap::Args;
use stc::{Limits, Options};

use crate::size::Size;

/// The heading of these flags in the long help.
const HEADING: &str = "Limits (SIZE: bytes, 64K = 65,536, 64KB = 64,000, 10M, 1G, unlimited)";

/// Limits of both directions.
#[derive(Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Bounds {
    /// Nesting depth
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = Limits::DEFAULT.depth)]
    max_depth: usize,
    /// Bytes of an input document
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value_t = Size::UNLIMITED)]
    max_input: Size,
    /// Bytes of an output document
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value_t = Size::UNLIMITED)]
    max_output: Size,
    /// Keys of a header or a shape, names of a kind; the encoder writes wider rows plain
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = Limits::DEFAULT.columns)]
    max_columns: usize,
    /// Bytes of a header's keys and values, of all shapes' keys, of the dictionary; the encoder writes longer ones plain
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value_t = Size(Limits::DEFAULT.header as u64))]
    max_header: Size,
    /// STC 2: bytes of a row that has templates; the encoder uses none in longer rows
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value_t = Size(Limits::DEFAULT.row as u64))]
    max_row: Size,
    /// STC 2: bytes of all anchored values; the encoder stops anchoring at this size
    #[arg(long, hide_short_help = true, value_name = "SIZE", default_value_t = Size(Limits::DEFAULT.anchors as u64))]
    max_anchors: Size,
}

impl Bounds {
    pub(crate) fn limits(&self) -> Limits {
        // The library's default limits on input and output are for gateways; here the files belong to the user.
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

/// Limits that only a decoder needs: headers and references let a small text expand to a large one.
#[derive(Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct Expansion {
    /// Decoding: output bytes for each input byte
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = Limits::DEFAULT.ratio)]
    max_ratio: u64,
    /// Decoding: output bytes before --max-ratio applies
    #[arg(long, alias = "max-free", hide_short_help = true, value_name = "SIZE", default_value_t = Size(Limits::DEFAULT.ratio_after))]
    ratio_after: Size,
}

impl Expansion {
    pub(crate) fn apply(&self, limits: Limits) -> Limits {
        limits.ratio(self.max_ratio).ratio_after(self.ratio_after.0)
    }
}

/// What an encoder of version 1 holds back.
#[derive(Args)]
pub(crate) struct Window {
    /// Encoding: write arrays longer than SIZE plain, so that no more than SIZE is buffered
    #[arg(
        long,
        hide_short_help = true,
        value_name = "SIZE",
        help_heading = HEADING
    )]
    pub(crate) window: Option<Size>,
}

impl Window {
    pub(crate) fn apply(&self, options: Options) -> Options {
        match self.window {
            Some(size) => options.window(size.as_usize()),
            None => options,
        }
    }
}
