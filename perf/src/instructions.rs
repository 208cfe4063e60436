//! Instructions, counted by valgrind: the count does not depend on what else the machine does.
//!
//! The harness runs itself under callgrind with n repetitions and with none; the difference is the work. Start-up, building
//! the document and the first allocations of the codec cancel out.

use std::process::Command;

use stc::{Decoder, Encoder};
use stc_perf::cases::{self, Document};

use crate::worktree::output;

/// Bytes of work under valgrind: enough to make start-up noise negligible, few enough to finish in seconds.
const WORK: usize = 1 << 20;

#[derive(clap::Args)]
pub(crate) struct Repeat {
    /// A case of the list.
    case: String,
    encodes: usize,
    decodes: usize,
}

/// Runs the repetitions; this is the process that callgrind measures.
pub(crate) fn repeat(arguments: &Repeat) -> Result<(), String> {
    let case = cases::named(&arguments.case)?;
    let Document { json, stc, .. } = &case.documents[0];
    let (mut encoder, mut decoder) = (Encoder::with_options(case.options), Decoder::with_options(case.options));
    // One more than requested: the codec is warm in either run, so the first allocations cancel out.
    for _ in 0..=arguments.encodes {
        std::hint::black_box(encoder.encode(std::hint::black_box(json)).map_err(|error| error.to_string())?);
    }
    for _ in 0..=arguments.decodes {
        std::hint::black_box(decoder.decode(std::hint::black_box(stc)).map_err(|error| error.to_string())?);
    }
    Ok(())
}

/// Instructions a byte of JSON: JSON read by the encoder, JSON written by the decoder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    pub(crate) encode: f64,
    pub(crate) decode: f64,
}

/// Counts the instructions of a case of the list.
pub(crate) fn count(name: &str) -> Result<Counted, String> {
    let case = cases::named(name)?;
    let (read, written) = (case.documents[0].json.len(), case.documents[0].minified.len());
    let times = WORK.div_ceil(read);
    let nothing = callgrind(name, 0, 0)?;
    let per_byte = |counted: u64, bytes: usize| counted.saturating_sub(nothing) as f64 / (times * bytes) as f64;
    Ok(Counted {
        encode: per_byte(callgrind(name, times, 0)?, read),
        decode: per_byte(callgrind(name, 0, times)?, written),
    })
}

fn callgrind(name: &str, encodes: usize, decodes: usize) -> Result<u64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-fd=1"]).arg(own);
    let printed = output(valgrind.args(["repeat", name, &encodes.to_string(), &decodes.to_string()]));
    let printed = printed.map_err(|error| format!("valgrind is needed to count instructions: {error}"))?;
    collected(&printed).ok_or_else(|| format!("valgrind counted nothing:\n{printed}"))
}

/// Returns the count in callgrind's last lines: `==7== Collected : 123456`.
pub(crate) fn collected(printed: &str) -> Option<u64> {
    let line = printed.lines().find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_in_valgrinds_output() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 123456\n"), Some(123_456));
        assert_eq!(collected("==7== Command: stc-perf\n"), None);
    }
}
