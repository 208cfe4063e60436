//! Settings of a handle: the format, the window and the limits.

use std::mem::MaybeUninit;

use crate::error::{Failure, Status};

/// The formats that an encoder writes. A decoder reads all of them.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Minified JSON.
    Json = 0,
    /// STC 1: one line, streams its output.
    Stc1 = 1,
    /// STC 2, for large models and programs: rows are cells in the order of a header, and what repeats has a name. The default.
    Stc2 = 2,
    /// STC 2 for small models: rows keep their keys.
    Stc2Labelled = 3,
}

/// Returns the codec's format for a number of stc_format, which C does not check.
pub(crate) fn format(number: u32) -> Result<stc::Format, Failure> {
    [
        (Format::Json, stc::Format::Json),
        (Format::Stc1, stc::Format::Stc1),
        (Format::Stc2, stc::Format::Stc2),
        (Format::Stc2Labelled, stc::Format::Stc2Labelled),
    ]
    .into_iter()
    .find(|&(named, _)| named as u32 == number)
    .map(|(_, format)| format)
    .ok_or(Failure::Call(Status::UnknownFormat))
}

/// Settings of a handle. stc_options_init writes the defaults; change what you need after it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A stc_format. A decoder reads every format, whichever is named here.
    pub format: u32,
    /// STC 1: bytes of an array that a stream holds back at most; 0 is the default.
    pub window: u64,
    /// Containers open at once.
    pub depth: u64,
    /// Bytes of a document's input.
    pub input: u64,
    /// Bytes of a document's output.
    pub output: u64,
    /// Decoding: bytes of output for each byte of input.
    pub ratio: u64,
    /// Decoding: bytes of output after which `ratio` applies.
    pub ratio_after: u64,
    /// Keys of a header or a shape; names of a kind.
    pub columns: u64,
    /// Bytes of a header, of the keys of all shapes, of the dictionary.
    pub header: u64,
    /// Decoding: bytes of JSON of a row with templates.
    pub row: u64,
    /// Bytes of JSON of all anchored values.
    pub anchors: u64,
}

impl Options {
    pub(crate) fn codec(&self) -> Result<stc::Options, Failure> {
        // A limit that memory cannot reach is no limit.
        let size = |limit| usize::try_from(limit).unwrap_or(usize::MAX);
        let limits = stc::Limits::default()
            .depth(size(self.depth))
            .input(self.input)
            .output(self.output)
            .ratio(self.ratio)
            .ratio_after(self.ratio_after)
            .columns(size(self.columns))
            .header(size(self.header))
            .row(size(self.row))
            .anchors(size(self.anchors));
        let options = stc::Options::default().format(format(self.format)?).limits(limits);
        Ok(if self.window == 0 { options } else { options.window(size(self.window)) })
    }
}

impl Default for Options {
    fn default() -> Self {
        let stc::Limits { depth, input, output, ratio, ratio_after, columns, header, row, anchors, .. } =
            stc::Limits::DEFAULT;
        Self {
            format: Format::Stc2 as u32,
            window: 0,
            depth: depth as u64,
            input,
            output,
            ratio,
            ratio_after,
            columns: columns as u64,
            header: header as u64,
            row: row as u64,
            anchors: anchors as u64,
        }
    }
}

/// Writes the defaults to `options`.
#[unsafe(no_mangle)]
pub extern "C" fn stc_options_init(options: Option<&mut MaybeUninit<Options>>) {
    if let Some(options) = options {
        options.write(Options::default());
    }
}
