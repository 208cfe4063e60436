//! Long bodies and events are converted by the pool, with the same result.

use crate::upstream::{Answer, Client};
use http::Method;
use stc_layer::{Engine, Policy, Pool};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs jobs on threads of their own, or drops them.
#[derive(Default)]
struct Counting {
    jobs: AtomicUsize,
    drops: bool,
}

impl Pool for Counting {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        self.jobs.fetch_add(1, Ordering::Relaxed);
        if !self.drops {
            std::thread::spawn(job);
        }
    }
}

fn client(pool: &Arc<Counting>) -> Client {
    let mut client = Client::new(Policy::default());
    client.engine = Engine::new(Policy { max_held: 1, ..Policy::default() }).with_pool(pool.clone());
    client
}

fn rows(length: usize) -> String {
    String::from_utf8(stc_corpus::make("sql-rows", 1, length).expect("a kind of the catalogue")).unwrap()
}

#[tokio::test]
async fn long_bodies_are_converted_elsewhere_with_the_same_result() {
    let pool = Arc::new(Counting::default());
    for (length, jobs) in [(10_000, 0), (300_000, 1), (300_000, 2), (20_000, 2)] {
        let rows = rows(length);
        let asks = [("x-prefer-format", "stc2-labelled"), ("accept-encoding", "gzip")];
        let here = Client::new(Policy::default()).ask(&asks, Answer::json(rows.as_str()).with("etag", "\"v1\"")).await;
        let there = client(&pool).ask(&asks, Answer::json(rows.as_str()).with("etag", "\"v1\"")).await;
        assert_eq!((here.headers, here.body), (there.headers, there.body));
        assert_eq!(pool.jobs.load(Ordering::Relaxed), jobs, "{length}");
    }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(plain).unwrap();
    gzip.finish().unwrap()
}

/// One frame of 128 KiB blocks that repeat a byte, with a window of 8 MiB, which the decoder fills before it returns a byte.
fn zstd_of_spaces(blocks: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 13 << 3];
    for block in 1..=blocks {
        let header = (128 << 10) << 3 | 1 << 1 | u32::from(block == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(b' ');
    }
    frame
}

/// A compressed body has a few percent of the length that is converted, or a thousandth; only the work of decompressing it shows that.
#[tokio::test]
async fn bodies_in_a_content_coding_are_converted_elsewhere() {
    let pool = Arc::new(Counting::default());
    let fastest = ruzstd::encoding::CompressionLevel::Fastest;
    for (name, coded) in [
        ("gzip", gzip(rows(500).as_bytes())),
        ("gzip", gzip(rows(120_000).as_bytes())),
        ("gzip", gzip(rows(300_000).as_bytes())),
        ("gzip", gzip(format!("[{}1]", " ".repeat(2 << 20)).as_bytes())),
        ("gzip", b"[1]".to_vec()),
        ("zstd", ruzstd::encoding::compress_to_vec(rows(500).as_bytes(), fastest)),
        ("zstd", zstd_of_spaces(1)),
        ("zstd", zstd_of_spaces(50)),
    ] {
        assert!(coded.len() < 128 << 10, "{}", coded.len());
        let (length, jobs) = (coded.len(), pool.jobs.load(Ordering::Relaxed));
        let answer = Answer::json(coded).with("content-encoding", name);
        let asks = [("x-prefer-format", "stc2-labelled")];
        let here = Client::new(Policy::default()).ask(&asks, answer.clone()).await;
        let there = client(&pool).ask(&asks, answer).await;
        assert_eq!((here.headers, here.body), (there.headers, there.body));
        assert_eq!(pool.jobs.load(Ordering::Relaxed) - jobs, 1, "{name} of {length}");
    }
}

#[tokio::test]
async fn a_lost_job_sends_the_original() {
    let pool = Arc::new(Counting { drops: true, ..Counting::default() });
    let rows = rows(300_000);
    let client = client(&pool);
    for _ in 0..3 {
        let got = client.ask(&[("x-prefer-format", "stc2-labelled")], Answer::json(rows.as_str())).await;
        assert_eq!((got.header("x-stc-skipped"), got.text()), ("invalid", rows.as_str()));
    }
    assert_eq!(pool.jobs.load(Ordering::Relaxed), 3, "the room of a lost job is free again");
}

#[tokio::test]
async fn long_events_are_converted_elsewhere_with_the_same_result() {
    let pool = Arc::new(Counting::default());
    let event = |length| {
        let text = serde_json::Value::from(rows(length));
        format!("id: 7\ndata: {{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}]}}}}\n\n")
    };
    let stream = format!(": hello\n\n{}{}{}retry: 3\n\n", event(1000), event(300_000), event(2000));
    let mut answer = Answer::new("").with("content-type", "text/event-stream");
    answer.frames = stream.as_bytes().chunks(50_000).map(<[u8]>::to_vec).collect();
    let asks = [("accept", "application/json, text/event-stream"), ("x-prefer-format", "stc2-labelled")];
    let ask = async |mut client: Client| {
        client.method = Method::POST;
        client.body = r#"{"id":1,"method":"tools/call","params":{"name":"list"}}"#.to_owned();
        client.ask(&asks, answer.clone()).await
    };
    let here = ask(Client::new(Policy::default())).await;
    let there = ask(client(&pool)).await;
    assert_eq!(here.text(), there.text());
    assert_eq!(there.text().matches("io.stoa/stc").count(), 3);
    assert!(pool.jobs.load(Ordering::Relaxed) > 0);
}
