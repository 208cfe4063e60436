//! A flamegraph of repeated work, and the share of each stage. The program samples itself with a timer signal, so no other
//! tool and no extra permissions are needed.
//!
//! The encoder is a single pass, so its stages cannot run separately; but each sample names the source file it was taken
//! in, also for inlined code.

use std::path::{Path, PathBuf};
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

#[cfg(unix)]
use crate::plot;

/// The samples of a run.
pub(crate) struct Samples {
    pub(crate) graph: PathBuf,
    /// The number of samples.
    pub(crate) count: usize,
    /// Each stage with its share of the samples.
    pub(crate) shares: Vec<(&'static str, f64)>,
}

/// Files of the codec and the stage they belong to. A sample in another file (kernels, buffers, copying) counts for its
/// nearest caller in the list.
const STAGES: [(&str, &str); 9] = [
    ("src/json/scan/escapes.rs", "scan"),
    ("src/json/scan/mod.rs", "scan"),
    ("src/json/scan/utf8.rs", "scan"),
    ("src/json/tape.rs", "tape"),
    ("src/v1/write.rs", "write"),
    ("src/v1/", "analyze"),
    ("src/json/lexer.rs", "analyze"),
    ("src/json/nesting.rs", "analyze"),
    ("src/encode.rs", "rest"),
];

/// Returns the stage of a stack, given its files from the innermost out.
fn stage<'f>(mut files: impl Iterator<Item = &'f str>) -> &'static str {
    let of = |file: &str| STAGES.iter().find(|(part, _)| file.contains(part)).map(|(_, stage)| *stage);
    files.find_map(of).unwrap_or("rest")
}

/// Repeats `work` for that time and writes `flamegraph.svg` into the folder.
#[cfg(unix)]
pub(crate) fn sample(folder: &Path, time: Duration, mut work: impl FnMut()) -> Result<Samples, String> {
    let mut stacks = Vec::new();
    let mut random = 1_u64;
    let begun = Instant::now();
    while begun.elapsed() < time {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        stacks.extend(session(Duration::from_nanos((random >> 32) % 10_000_000), &mut work)?);
    }

    let mut shares = ["scan", "tape", "analyze", "write", "rest"].map(|stage| (stage, 0.0)).to_vec();
    let mut named = Vec::new();
    for stack in &stacks {
        let symbols = || stack.frames.iter().flatten();
        let files = || symbols().filter_map(|symbol| symbol.filename.as_deref().and_then(Path::to_str));
        // A sample of the delay before the work.
        if !files().any(|file| file.contains("src/encode.rs")) {
            continue;
        }
        let found = stage(files());
        shares.iter_mut().filter(|(name, _)| *name == found).for_each(|(_, share)| *share += 1.0);
        // The frames outside of `session` are the same in every stack.
        let names = symbols().take_while(|symbol| !symbol.name().starts_with("session")).map(|symbol| symbol.name());
        named.push((names.collect::<Vec<_>>().into_iter().rev().collect(), 1.0));
    }
    let count = named.len();
    shares.iter_mut().for_each(|(_, share)| *share /= count.max(1) as f64);
    let graph = folder.join("flamegraph.svg");
    std::fs::write(&graph, plot::flames(named.into_iter())).map_err(|error| format!("{}: {error}", graph.display()))?;
    Ok(Samples { graph, count, shares })
}

/// Takes one or two samples. pprof merges samples of one function and keeps the first, so an encoder inlined into one
/// function would yield a single point. Hence a new profiler for every point, started a random time before the work, so
/// that the points spread over it.
#[cfg(unix)]
fn session(delay: Duration, work: &mut impl FnMut()) -> Result<Vec<pprof::Frames>, String> {
    let failed = |error: pprof::Error| format!("no flamegraph: {error}");
    let sampler = pprof::ProfilerGuardBuilder::default().frequency(99).blocklist(&["libgcc", "vdso"]);
    let sampler = sampler.build().map_err(failed)?;
    let begun = Instant::now();
    while begun.elapsed() < delay {
        std::hint::spin_loop();
    }
    while begun.elapsed() < delay + Duration::from_millis(12) {
        work();
    }
    let report = sampler.report().build_unresolved().map_err(failed)?;
    drop(sampler);
    Ok(report.data.into_keys().map(pprof::Frames::from).collect())
}

/// Returns an error: this platform has no timer signal.
#[cfg(not(unix))]
pub(crate) fn sample(_: &Path, _: Duration, _: impl FnMut()) -> Result<Samples, String> {
    Err("no flamegraph: this platform has no timer signal for sampling; use the platform's profiler".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_file_of_the_codec_names_the_stage() {
        assert_eq!(stage(["std/ptr.rs", "x/src/v1/write.rs", "x/src/v1/analyze.rs"].into_iter()), "write");
        assert_eq!(stage(["x/src/json/scan/arch/avx2.rs", "x/src/v1/fast_path.rs"].into_iter()), "analyze");
        assert_eq!(stage(["x/src/main.rs"].into_iter()), "rest");
    }

    #[cfg(unix)]
    #[test]
    fn a_graph_is_drawn() {
        let folder = tempfile::tempdir().expect("a folder");
        let json = stc_corpus::make("pods", 1, 100_000).expect("a kind");
        let mut encoder = stc::Encoder::new();
        let samples = sample(folder.path(), Duration::from_millis(300), || {
            std::hint::black_box(encoder.encode(&json).map_or(0, <[u8]>::len));
        });
        let samples = samples.expect("sampled");
        assert!(std::fs::read_to_string(&samples.graph).expect("an image").contains("</svg>"));
        let whole: f64 = samples.shares.iter().map(|(_, share)| share).sum();
        assert!(whole < 1.001, "{whole}");
    }
}
