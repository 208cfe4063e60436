//! The same as perf/bindings/repeat.c, without the C ABI: `repeat FILE TIMES` encodes a document with one encoder.

fn main() {
    let mut args = std::env::args().skip(1);
    let json = std::fs::read(args.next().expect("a file")).expect("readable");
    let times: usize = args.next().and_then(|times| times.parse().ok()).expect("a number");
    let mut encoder = stc::Encoder::new();
    let written: usize = (0..times).map(|_| encoder.encode(&json).expect("valid JSON").len()).sum();
    println!("{written}");
}
