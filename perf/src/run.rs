//! Throughput, interleaved: every contender takes its turn in every round, and the median round counts, so that a
//! noisy neighbour hits all of them alike.

use std::hint::black_box;
use std::time::{Duration, Instant};

use simd_json::Buffers;

use crate::case::Case;

/// How long a case is measured.
const BUDGET: Duration = Duration::from_millis(400);

/// Measures every case and prints a table.
pub(crate) fn run(cases: &[Case]) -> Result<(), String> {
    let kernel = std::env::consts::ARCH;
    println!(
        "GB of JSON a second, median; encode and simd-json read the file as it is, decode writes it minified ({kernel})\n"
    );
    println!(
        "{:32} {:>9} {:>8} {:>8} {:>14} {:>8} {:>8}",
        "case", "bytes", "encode", "decode", "simd-json tape", "memcpy", "ratio"
    );
    let mut logs = 0.0;
    for case in cases {
        let speeds = measure(case)?;
        let ratio = speeds[0] / speeds[2];
        logs += ratio.ln();
        println!(
            "{:32} {:>9} {:>8.2} {:>8.2} {:>14.2} {:>8.1} {:>7.2}x",
            case.name,
            case.json.len(),
            speeds[0],
            speeds[1],
            speeds[2],
            speeds[3],
            ratio
        );
    }
    println!("\nencode against simd-json's tape, geometric mean: {:.2}x", (logs / cases.len() as f64).exp());
    Ok(())
}

/// GB/s of: encode, decode, simd-json to_tape, memcpy.
fn measure(case: &Case) -> Result<[f64; 4], String> {
    let mut encoder = stc::Encoder::new();
    let mut decoder = stc::Decoder::new();
    let mut buffers = Buffers::new(case.json.len());
    let mut scratch = case.json.clone();
    simd_json::to_tape_with_buffers(&mut scratch, &mut buffers)
        .map_err(|error| format!("{}: simd-json: {error}", case.name))?;

    // Enough repetitions that the clock's own cost does not count.
    let repeats = (64 << 10) / case.json.len() + 1;
    let mut times: [Vec<Duration>; 4] = Default::default();
    let begun = Instant::now();
    while begun.elapsed() < BUDGET || times[0].len() < 5 {
        times[0].push(time(repeats, || black_box(encoder.encode(black_box(&case.json)).map(<[u8]>::len)).is_ok()));
        times[1].push(time(repeats, || black_box(decoder.decode(black_box(&case.stc)).map(<[u8]>::len)).is_ok()));
        // simd-json wants to own its input, so it is given a fresh copy, and the copy is not counted.
        let mut spent = Duration::ZERO;
        for _ in 0..repeats {
            scratch.copy_from_slice(&case.json);
            spent +=
                time(1, || black_box(simd_json::to_tape_with_buffers(black_box(&mut scratch), &mut buffers)).is_ok());
        }
        times[2].push(spent);
        times[3].push(time(repeats, || {
            scratch.copy_from_slice(black_box(&case.json));
            black_box(&mut scratch);
            true
        }));
    }
    let speed = |mut times: Vec<Duration>, bytes: usize| {
        times.sort_unstable();
        (bytes * repeats) as f64 / times[times.len() / 2].as_nanos() as f64
    };
    let [encode, decode, tape, copy] = times;
    let length = case.json.len();
    Ok([speed(encode, length), speed(decode, case.minified.len()), speed(tape, length), speed(copy, length)])
}

fn time(repeats: usize, mut work: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    for _ in 0..repeats {
        assert!(work(), "the work was refused");
    }
    begun.elapsed()
}
