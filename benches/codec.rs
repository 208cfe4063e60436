//! Times by criterion: every case of `perf/cases.txt`, the codec in all its uses, and the rivals on the same bytes.
//!
//! `cargo bench --bench codec -- users-4KiB` runs one case, `-- encode` one contender. A contender shows its answer before it
//! is timed. An iteration is one document, so the printed time is a latency and the rate a throughput.
//! `STC_BENCH_HUGE=1` adds the case of 100 MB.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stc_perf::rotation::Rotations;
use stc_perf::{cases, contenders};

fn codec(criterion: &mut Criterion) {
    let kernel = stc_perf::kernel(None).expect("one kernel is always there");
    let huge = if std::env::var_os("STC_BENCH_HUGE").is_some() { &cases::HUGE[..] } else { &[] };
    for line in cases::listed().chain(cases::LARGE).chain(huge.iter().copied()) {
        let case = cases::case(line).expect("the list has cases only");
        let mut group = criterion.benchmark_group(&case.name);
        for contender in contenders::all() {
            // Contenders that reject the largest case are skipped. For other cases the check is left to the benchmark
            // itself: checking an answer twice would cost more than timing it.
            if cases::HUGE.contains(&line) && contender.prepare(&case, kernel).is_err() {
                continue;
            }
            group.throughput(Throughput::Bytes(case.mean(|document| contender.per.bytes(document)) as u64));
            group.bench_function(contender.name, |bencher| {
                let Ok(mut ready) = contender.prepare(&case, kernel) else {
                    panic!("{} rejects {}", contender.name, case.name)
                };
                let mut rotations = Rotations::new(&case);
                bencher.iter_custom(|documents| (ready.turn)(&mut rotations, documents as usize));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600));
    targets = codec
}
criterion_main!(benches);
