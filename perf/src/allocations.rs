//! Allocations and peak memory, counted by `stc-perf-memory`. That is a separate program because of its counting
//! allocator, which would slow down every rival that allocates.

use serde::Deserialize;

use crate::worktree::{memory, output};

/// Stands for the format of each case, in the arguments of the program.
const OWN_FORMAT: &str = "-";

/// Memory use of one direction.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Memory {
    /// Peak bytes of a new codec.
    pub(crate) peak: u64,
    /// Allocations of a new codec.
    pub(crate) cold: u64,
    /// Allocations of a codec that has processed the document before.
    pub(crate) warm: u64,
}

/// Memory that a stage allocates in addition to the stage before it, with new buffers.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Stage {
    pub(crate) allocations: u64,
    pub(crate) bytes: u64,
}

/// Memory use of a document.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Counted {
    pub(crate) encode: Memory,
    pub(crate) decode: Memory,
    /// The scan, and what comes after it.
    pub(crate) stages: [Stage; 2],
}

/// Counts the memory use of documents, each a case of the list or the path of a file, on a scan kernel. A case is written in its
/// own format unless one is named.
pub(crate) fn count(documents: &[&str], kernel: &str, format: Option<&str>) -> Result<Vec<Counted>, String> {
    let printed = output(memory()?.arg(kernel).arg(format.unwrap_or(OWN_FORMAT)).args(documents))?;
    let counted: Result<Vec<Counted>, _> = printed.lines().map(serde_json::from_str).collect();
    let counted = counted.map_err(|error| format!("stc-perf-memory: {error}"))?;
    if counted.len() == documents.len() { Ok(counted) } else { Err("stc-perf-memory printed too few lines".into()) }
}
