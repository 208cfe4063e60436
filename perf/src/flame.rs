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

/// A direction of the codec: the file that every sample of it has on its stack, and the stages of its files. A sample in a file
/// that is not listed (kernels, buffers, copying) counts for its nearest caller in the list.
pub(crate) struct Direction {
    /// Its name in messages and in the name of the flamegraph.
    pub(crate) name: &'static str,
    entry: &'static str,
    /// Parts of paths, each with its stage; the first that fits counts.
    files: &'static [(&'static str, &'static str)],
}

/// Encoding: version 2 scans, links and plans the whole document before it writes, version 1 does all in one pass.
pub(crate) const ENCODE: Direction = Direction {
    name: "encode",
    entry: "src/encode.rs",
    files: &[
        ("src/json/scan/escapes.rs", "scan"),
        ("src/json/scan/mod.rs", "scan"),
        ("src/json/scan/utf8.rs", "scan"),
        ("src/json/tape.rs", "tape"),
        ("src/v1/write.rs", "write"),
        ("src/v1/", "analyze"),
        ("src/v2/link.rs", "link"),
        ("src/json/lexer.rs", "analyze"),
        ("src/json/nesting.rs", "analyze"),
        ("src/v2/plan/columns/", "plan columns"),
        ("src/v2/plan/shapes.rs", "plan shapes"),
        ("src/v2/plan/dictionary.rs", "plan dictionary"),
        ("src/v2/plan/templates.rs", "plan templates"),
        ("src/v2/plan/anchors.rs", "plan anchors"),
        ("src/v2/plan/open.rs", "plan open lists"),
        ("src/v2/plan/survey.rs", "survey"),
        ("src/v2/plan/tables.rs", "plan tables"),
        ("src/v2/plan/mod.rs", "plan tables"),
        ("src/v2/write.rs", "write"),
        ("src/v2/visit", "write"),
        ("src/encode.rs", REST),
    ],
};

/// Decoding: fast paths over what is common, and the machine byte by byte.
pub(crate) const DECODE: Direction = Direction {
    name: "decode",
    entry: "src/decode.rs",
    files: &[
        ("src/decode/segment.rs", "check segments"),
        ("src/decode/v2/header_", "headers"),
        ("src/decode/v2/schema.rs", "headers"),
        ("src/decode/header.rs", "headers"),
        ("src/decode/v2/table_fast_path.rs", "fast path: tables"),
        ("src/decode/v2/cell_fast_path.rs", "fast path: cells"),
        ("src/decode/v2/object_fast_path.rs", "fast path: objects"),
        ("src/decode/v2/name_fast_path.rs", "fast path: names"),
        ("src/decode/columnar.rs", "fast path: columnar"),
        ("src/decode/members.rs", "fast path: members"),
        ("src/decode/fast_path.rs", "fast path: tokens"),
        ("src/decode/v2/", "machine"),
        ("src/decode/steps.rs", "machine"),
        ("src/decode/machine.rs", "machine"),
        ("src/decode.rs", REST),
    ],
};

/// The stage of samples that belong to none.
const REST: &str = "rest";

impl Direction {
    /// Returns the stage of a stack, given its files from the innermost out.
    fn stage<'f>(&self, mut files: impl Iterator<Item = &'f str>) -> &'static str {
        let of = |file: &str| self.files.iter().find(|(part, _)| file.contains(part)).map(|(_, stage)| *stage);
        files.find_map(of).unwrap_or(REST)
    }

    /// Returns the stages, each once.
    fn stages(&self) -> Vec<&'static str> {
        let mut stages = Vec::new();
        for (_, stage) in self.files {
            if !stages.contains(stage) {
                stages.push(*stage);
            }
        }
        stages
    }
}

/// Repeats `work` for that time and writes a flamegraph into the folder.
#[cfg(unix)]
pub(crate) fn sample(
    direction: &Direction,
    folder: &Path,
    time: Duration,
    mut work: impl FnMut(),
) -> Result<Samples, String> {
    let mut stacks = Vec::new();
    let mut random = 1_u64;
    let begun = Instant::now();
    let mut length = SESSION_TIME;
    while begun.elapsed() < time {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let sampled = session(Duration::from_nanos((random >> 32) % 10_000_000), length, &mut work)?;
        // The timer counts the time of this process; on a busy machine that is a small part of the session.
        length = if sampled.is_empty() { (2 * length).min(LONGEST_SESSION_TIME) } else { SESSION_TIME };
        stacks.extend(sampled);
    }

    let mut shares: Vec<(&str, f64)> = direction.stages().into_iter().map(|stage| (stage, 0.0)).collect();
    let mut named = Vec::new();
    for stack in &stacks {
        let symbols = || stack.frames.iter().flatten();
        let files = || symbols().filter_map(|symbol| symbol.filename.as_deref().and_then(Path::to_str));
        // A sample of the delay before the work.
        if !files().any(|file| file.contains(direction.entry)) {
            continue;
        }
        let found = direction.stage(files());
        shares.iter_mut().filter(|(name, _)| *name == found).for_each(|(_, share)| *share += 1.0);
        // The frames outside of `session` are the same in every stack.
        let names = symbols().take_while(|symbol| !symbol.name().starts_with("session")).map(|symbol| symbol.name());
        named.push((names.collect::<Vec<_>>().into_iter().rev().collect(), 1.0));
    }
    let count = named.len();
    if count == 0 {
        return Err(format!("no sample in {time:?}: the machine is too busy, or the time is too short"));
    }
    shares.iter_mut().for_each(|(_, share)| *share /= count as f64);
    shares.retain(|(_, share)| *share > 0.0);
    let graph = folder.join(format!("flamegraph-{}.svg", direction.name));
    std::fs::write(&graph, plot::flames(named.into_iter())).map_err(|error| format!("{}: {error}", graph.display()))?;
    Ok(Samples { graph, count, shares })
}

/// The time of a session: a little more than one period of the timer.
#[cfg(unix)]
const SESSION_TIME: Duration = Duration::from_millis(12);

/// The longest time of a session.
#[cfg(unix)]
const LONGEST_SESSION_TIME: Duration = Duration::from_millis(400);

/// Takes a sample or a few. pprof merges samples of one function and keeps the first, so an encoder inlined into one
/// function would yield a single point. Hence a new profiler for every point, started a random time before the work, so
/// that the points spread over it.
#[cfg(unix)]
fn session(delay: Duration, length: Duration, work: &mut impl FnMut()) -> Result<Vec<pprof::Frames>, String> {
    let failed = |error: pprof::Error| format!("no flamegraph: {error}");
    let sampler = pprof::ProfilerGuardBuilder::default().frequency(99).blocklist(&["libgcc", "vdso"]);
    let sampler = sampler.build().map_err(failed)?;
    let begun = Instant::now();
    while begun.elapsed() < delay {
        std::hint::spin_loop();
    }
    while begun.elapsed() < delay + length {
        work();
    }
    let report = sampler.report().build_unresolved().map_err(failed)?;
    drop(sampler);
    Ok(report.data.into_keys().map(pprof::Frames::from).collect())
}

/// Returns an error: this platform has no timer signal.
#[cfg(not(unix))]
pub(crate) fn sample(_: &Direction, _: &Path, _: Duration, _: impl FnMut()) -> Result<Samples, String> {
    Err("no flamegraph: this platform has no timer signal for sampling; use the platform's profiler".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_file_of_the_codec_names_the_stage() {
        let encode = |files: &[&'static str]| ENCODE.stage(files.iter().copied());
        assert_eq!(encode(&["std/ptr.rs", "x/src/v1/write.rs", "x/src/v1/analyze.rs"]), "write");
        assert_eq!(encode(&["x/src/json/scan/arch/avx2.rs", "x/src/v1/fast_path.rs"]), "analyze");
        assert_eq!(encode(&["x/src/v2/plan/cost.rs", "x/src/v2/plan/columns/merge.rs"]), "plan columns");
        assert_eq!(encode(&["x/src/main.rs"]), "rest");
        assert_eq!(DECODE.stage(["x/src/decode/cursor.rs", "x/src/decode/v2/steps.rs"].into_iter()), "machine");
    }

    /// A stage whose files have been moved would have no samples, and nothing else would show it.
    #[test]
    fn every_file_of_a_stage_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for direction in [&ENCODE, &DECODE] {
            for (part, _) in direction.files {
                let path = root.join(part);
                let folder = path.parent().expect("a folder");
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                let mut found = std::fs::read_dir(folder).expect(part).filter_map(Result::ok);
                let begins = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&name);
                assert!(found.any(begins), "{part}");
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_graph_is_drawn_in_each_direction() {
        let folder = tempfile::tempdir().expect("a folder");
        let json = stc_corpus::make("pods", 1, 100_000).expect("a kind");
        let mut encoder = stc::Encoder::with_options(stc::Options::default().format(stc::Format::Stc2));
        let stc = encoder.encode(&json).expect("JSON").to_vec();
        let mut decoder = stc::Decoder::new();
        let mut encode = || {
            std::hint::black_box(encoder.encode(&json).map_or(0, <[u8]>::len));
        };
        let mut decode = || {
            std::hint::black_box(decoder.decode(&stc).map_or(0, <[u8]>::len));
        };
        let works: [(&Direction, &mut dyn FnMut()); 2] = [(&ENCODE, &mut encode), (&DECODE, &mut decode)];
        for (direction, work) in works {
            // Longer on a busy machine.
            let times = (0..8).map(|doubled| Duration::from_millis(300 << doubled));
            let mut sampled = times.map(|time| sample(direction, folder.path(), time, &mut *work));
            let samples = sampled.find_map(Result::ok).expect("sampled");
            assert!(std::fs::read_to_string(&samples.graph).expect("an image").contains("</svg>"));
            let whole: f64 = samples.shares.iter().map(|(_, share)| share).sum();
            assert!((whole - 1.0).abs() < 0.001, "{whole}");
            assert!(samples.shares.iter().any(|(stage, _)| *stage != REST), "{}", direction.name);
        }
    }
}
