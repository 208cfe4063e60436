//! Criterion over the corpus: encode and decode, warm, whole buffers. Each case is checked before it is timed.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use stc::{Decoder, Encoder, laws};

const CASES: [&str; 6] = ["issues", "pods", "sql-rows", "logs-ragged", "markdown", "geojson"];
const SIZES: [usize; 3] = [1 << 10, 32 << 10, 1 << 20];

fn codec(criterion: &mut Criterion) {
    let mut encoder = Encoder::new();
    let mut decoder = Decoder::new();
    for kind in CASES {
        for bytes in SIZES {
            let json = stc_corpus::make(kind, 1, bytes).expect("the corpus makes it");
            let stc = encoder.encode(&json).expect("valid").to_vec();
            let minified = laws::minify(&json);
            assert_eq!(decoder.decode(&stc).expect("valid"), minified);

            let mut group = criterion.benchmark_group(kind);
            group.throughput(Throughput::Bytes(json.len() as u64));
            group.bench_function(BenchmarkId::new("encode", bytes), |bencher| {
                bencher.iter(|| encoder.encode(&json).map(<[u8]>::len))
            });
            group.throughput(Throughput::Bytes(minified.len() as u64));
            group.bench_function(BenchmarkId::new("decode", bytes), |bencher| {
                bencher.iter(|| decoder.decode(&stc).map(<[u8]>::len))
            });
        }
    }
}

criterion_group!(benches, codec);
criterion_main!(benches);
