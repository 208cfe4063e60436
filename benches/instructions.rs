//! Instruction counts by iai-callgrind: every case of `perf/cases.txt`, the codec in all its uses, and the rivals.
//!
//! `cargo bench --bench instructions` runs all of it; a filter is matched against the name of this file, so a part cannot
//! be selected. It needs valgrind and `cargo install iai-callgrind-runner --version 0.16.1`.
//! A contender has shown its answer and is warm before the count begins. The count covers each of the case's documents
//! once, and a copy of each, which is 0.03 instructions a byte. Valgrind does not support AVX-512: the encoder runs its
//! AVX2 kernel.

#![allow(missing_docs, unreachable_pub, reason = "iai-callgrind's macros generate public, undocumented items")]

use std::hint::black_box;
use std::time::Duration;

use iai_callgrind::{library_benchmark, library_benchmark_group, main};
use stc_perf::contender::Turn;
use stc_perf::contenders::named;
use stc_perf::rotation::Rotations;
use stc_perf::{Case, cases};

/// A contender that is ready to start, if it accepts the case.
struct Prepared {
    turn: Option<Turn<'static>>,
    rotations: Rotations<'static>,
    documents: usize,
}

impl Prepared {
    fn new(contender: &str, line: &str) -> Self {
        let case: &'static Case = Box::leak(Box::new(cases::case(line).expect("the list has cases only")));
        let kernel = stc_perf::kernel(None).expect("one kernel is always there");
        let contenders = named(&[contender]);
        let ready = contenders.first().and_then(|contender| contender.prepare(case, kernel).ok());
        let mut prepared = Self {
            turn: ready.map(|ready| ready.turn),
            rotations: Rotations::new(case),
            documents: case.documents.len(),
        };
        prepared.work();
        prepared
    }

    fn work(&mut self) -> Duration {
        let Self { turn, rotations, documents } = self;
        turn.as_mut().map_or(Duration::ZERO, |turn| turn(rotations, *documents))
    }
}

/// Defines a benchmark over the list for each contender; iai-callgrind needs a function for each, and its list in a file.
macro_rules! contenders {
    ($($function:ident $name:literal),* $(,)?) => {
        $(
            #[library_benchmark(setup = setup::$function)]
            #[benches::listed(file = "perf/cases.txt")]
            fn $function(mut prepared: Prepared) -> Prepared {
                black_box(prepared.work());
                prepared
            }
        )*

        mod setup {
            use super::Prepared;
            $(
                pub(crate) fn $function(line: String) -> Prepared {
                    Prepared::new($name, &line)
                }
            )*
        }

        library_benchmark_group!(name = codec; benchmarks = $($function),*);
    };
}

contenders! {
    encode "encode",
    decode "decode",
    encode_once "encode-once",
    decode_once "decode-once",
    encode_stream "encode-stream",
    decode_stream "decode-stream",
    simd_json "simd-json",
    sonic_rs "sonic-rs",
    serde_json "serde_json",
    serde_json_copy "serde_json-copy",
    toon_format "toon-format",
    serde_toon "serde_toon",
    memcpy "memcpy",
}

main!(library_benchmark_groups = codec);
