//! The bytes of held bodies are counted in the account of an embedding program, and come back whatever becomes of a body.

use crate::upstream::{Answer, Client, ROWS};
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use stc_layer::{Engine, Memory, Policy, Pool, Tee, Ticket, TransformLayer};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tower::{Layer, ServiceExt, service_fn};

/// An account with a bound, which remembers its peak.
#[derive(Default)]
struct Account {
    held: AtomicUsize,
    peak: AtomicUsize,
    most: usize,
}

impl Account {
    fn of(most: usize) -> Arc<Self> {
        Arc::new(Self { most, ..Self::default() })
    }

    fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }
}

impl Memory for Account {
    fn take(&self, bytes: usize, _: usize) -> bool {
        let more = |held: usize| Some(held + bytes).filter(|all| *all <= self.most);
        let taken = self.held.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        self.peak.fetch_max(self.held(), Ordering::SeqCst);
        taken.is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::SeqCst);
    }
}

const ASK: &[(&str, &str)] = &[("x-prefer-format", "stc2-labelled")];

fn rows(length: usize) -> String {
    String::from_utf8(stc_corpus::make("sql-rows", 1, length).expect("a kind of the catalogue")).unwrap()
}

/// Every way in which a response can end gives back what was counted for it.
#[tokio::test]
async fn the_account_is_empty_after_each_kind_of_end() {
    let broken = Answer { breaks: true, ..Answer::new("[1,").with("content-type", "application/json") };
    let mut small = Answer::json(rows(5000));
    small.frames = small.frames[0].chunks(1).map(<[u8]>::to_vec).collect();
    let event = format!("data: {{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{ROWS:?}}}]}}}}\n\n");
    let mut stream = Answer::new("").with("content-type", "text/event-stream");
    stream.frames = event.as_bytes().chunks(7).map(<[u8]>::to_vec).collect();
    let half = Answer { frames: stream.frames[..9].to_vec(), breaks: true, ..stream.clone() };
    let long =
        Answer { frames: vec![vec![b' '; 1 << 20]; 9], ..Answer::new("").with("content-type", "application/json") };
    for (name, answer, is_mcp) in [
        ("converted", Answer::json(rows(50_000)), false),
        ("in small frames", small, false),
        ("not smaller", Answer::json(format!("[{}]", "x".repeat(9000))), false),
        ("too long", long, false),
        ("broken", broken, false),
        (
            "a message",
            Answer::json(format!("{{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{ROWS:?}}}]}}}}")),
            true,
        ),
        ("events", stream, true),
        ("events that break", half, true),
    ] {
        for most in [usize::MAX, 100, 0] {
            let account = Account::of(most);
            let mut client = Client::new(Policy::default());
            let mut asks = ASK.to_vec();
            if is_mcp {
                client.method = Method::POST;
                client.body = r#"{"id":1,"method":"tools/call","params":{"name":"list"}}"#.to_owned();
                asks.push(("accept", "application/json, text/event-stream"));
            }
            let layer = TransformLayer::with_engine(client.engine.clone()).counted(account.clone());
            let got = client.ask_through(layer, &asks, answer.clone()).await;
            assert_eq!(got.broken, answer.breaks, "{name}");
            assert_eq!(account.held(), 0, "{name}, {most}");
            let peak = account.peak.load(Ordering::SeqCst);
            assert!(peak <= most && (most < usize::MAX || peak > 0), "{name}, {most}: {peak}");
            if most < usize::MAX && got.header("x-stc-skipped") == "busy" {
                assert_eq!(got.body, answer.frames.concat(), "{name}: as it came");
            }
        }
    }
}

/// A converted body counts as long as a frame of it waits somewhere, and no other fits meanwhile.
#[tokio::test]
async fn a_converted_body_counts_until_its_last_frame_is_gone() {
    let account = Account::of(200_000);
    let answer = Bytes::from(rows(150_000));
    let ask = async || {
        let answer = answer.clone();
        let service = service_fn(move |_: Request<_>| {
            let response = Response::builder().header("content-type", "application/json");
            std::future::ready(Ok::<_, Infallible>(response.body(Full::new(answer.clone())).unwrap()))
        });
        let request =
            Request::builder().header("x-prefer-format", "stc2-labelled").body(Full::new(Bytes::new())).unwrap();
        let layer = TransformLayer::with_engine(Engine::new(Policy::default())).counted(account.clone());
        layer.layer(service).oneshot(request).await.unwrap()
    };
    let mut first = ask().await;
    assert!(first.headers().contains_key("x-stc-encoded") || !first.headers().contains_key("x-stc-skipped"));
    let length: usize = first.headers()["content-length"].to_str().unwrap().parse().unwrap();
    assert_eq!(account.held(), length, "what it was made from is gone");
    let mut frames = Vec::new();
    while let Some(frame) = first.body_mut().frame().await {
        frames.push(frame.unwrap().into_data().unwrap());
    }
    drop(first);
    assert_eq!(account.held(), length, "the frames wait in the server");
    let other = ask().await;
    assert_eq!(other.headers()["x-stc-skipped"], "busy");
    assert_eq!(other.into_body().collect().await.unwrap().to_bytes(), answer);
    frames.drain(1..);
    assert_eq!(account.held(), length);
    frames.clear();
    assert_eq!(account.held(), 0);
}

/// A stream counts what it holds and not what has passed: one whose reads end within events is converted to its end.
#[tokio::test]
async fn a_stream_counts_what_it_holds() {
    let text = rows(600);
    let event = format!("data: {{\"id\":1,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text:?}}}]}}}}\n\n");
    assert!((600..1000).contains(&event.len()));
    let stream = event.repeat(10_000 / event.len() + 1);
    let mut client = Client::new(Policy::default());
    client.method = Method::POST;
    client.body = r#"{"id":1,"method":"tools/call","params":{"name":"query"}}"#.to_owned();
    let asks = [ASK, &[("accept", "application/json, text/event-stream")]].concat();
    let answer = Answer::new(stream.clone()).with("content-type", "text/event-stream");
    let expected = client.ask(&asks, answer.clone()).await.body;
    assert!(expected.len() < stream.len());
    for cut in [1, 7, event.len() - 1, event.len() + 9] {
        let account = Account::of(2000);
        let layer = TransformLayer::with_engine(client.engine.clone()).counted(account.clone());
        let frames = stream.as_bytes().chunks(cut).map(<[u8]>::to_vec).collect();
        let got = client.ask_through(layer, &asks, Answer { frames, ..answer.clone() }).await;
        assert!(got.body == expected, "{cut}: converted wholly");
        assert_eq!(account.held(), 0);
    }
}

/// A body in a content coding counts with what it becomes without it.
#[tokio::test]
async fn a_bomb_does_not_fit() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(format!("[{}1]", " ".repeat(4 << 20)).as_bytes()).unwrap();
    let coded = gzip.finish().unwrap();
    let account = Account::of(1 << 20);
    let client = Client::new(Policy::default());
    let layer = TransformLayer::with_engine(client.engine.clone()).counted(account.clone());
    let answer = Answer::json(coded.clone()).with("content-encoding", "gzip");
    let got = client.ask_through(layer, ASK, answer).await;
    assert_eq!((got.header("x-stc-skipped"), &got.body), ("busy", &coded));
    assert_eq!(account.held(), 0);
}

type Job = Box<dyn FnOnce() + Send>;

/// A pool that keeps its jobs until they are wanted.
#[derive(Default)]
struct Shelf {
    jobs: Arc<Mutex<Vec<Job>>>,
}

impl Pool for Shelf {
    fn run(&self, job: Job) {
        self.jobs.lock().unwrap().push(job);
    }

    fn queue(&self, _: usize, job: Job) -> Ticket {
        self.run(job);
        let jobs = self.jobs.clone();
        Ticket::new(move || jobs.lock().unwrap().clear())
    }
}

/// A client that leaves takes its waiting job with it, and a job that panics keeps nothing.
#[tokio::test]
async fn jobs_of_clients_that_leave_keep_nothing() {
    for end in ["leaves", "leaves a running job", "panics"] {
        let (account, pool) = (Account::of(usize::MAX), Arc::new(Shelf::default()));
        let engine = Engine::new(Policy::default()).with_pool(pool.clone());
        let service = service_fn(|_: Request<_>| {
            let response = Response::builder().header("content-type", "application/json");
            std::future::ready(Ok::<_, Infallible>(response.body(Full::new(Bytes::from(rows(300_000)))).unwrap()))
        });
        let request =
            Request::builder().header("x-prefer-format", "stc2-labelled").body(Full::new(Bytes::new())).unwrap();
        let layer = TransformLayer::with_engine(engine).counted(account.clone());
        let mut response = Box::pin(layer.layer(service).oneshot(request));
        let waits = std::future::poll_fn(|cx| Poll::Ready(response.as_mut().poll(cx).is_pending())).await;
        assert!(waits && account.held() > 0 && pool.jobs.lock().unwrap().len() == 1);
        match end {
            "leaves" => drop(response),
            "leaves a running job" => {
                let job = pool.jobs.lock().unwrap().pop().unwrap();
                drop(response);
                assert!(account.held() > 0, "it works on the body");
                job();
            }
            _ => {
                // What unwinding does.
                drop(pool.jobs.lock().unwrap().pop());
                let got = response.await.unwrap();
                assert_eq!(got.headers()["x-stc-skipped"], "invalid");
            }
        }
        assert_eq!(account.held(), 0, "{end}");
    }
}

/// A body of which each frame keeps a buffer of 64 KiB.
struct Wasteful(usize);

impl Body for Wasteful {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.0 == 0 {
            return Poll::Ready(None);
        }
        self.0 -= 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![b' '; 64 << 10]).slice(..1)))))
    }
}

/// The copy of a request takes its own bytes, whatever its frames are parts of, and is counted.
#[tokio::test]
async fn the_copy_of_a_request_in_small_frames_is_small() {
    let account = Account::of(usize::MAX);
    let seen = account.clone();
    let service = service_fn(move |request: Request<Tee<Wasteful>>| {
        let seen = seen.clone();
        async move {
            let mut body = request.into_body();
            while let Some(Ok(frame)) = body.frame().await {
                // The copy does not share the frame's buffer.
                assert!(frame.into_data().unwrap().try_into_mut().is_ok());
            }
            let held = seen.held();
            assert!((5000..9000).contains(&held), "{held}");
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
        }
    });
    let request = Request::post("/mcp").header("accept", "application/json, text/event-stream");
    let request = request.header("x-prefer-format", "stc2-labelled").body(Wasteful(5000)).unwrap();
    let layer = TransformLayer::with_engine(Engine::new(Policy::default())).counted(account.clone());
    drop(layer.layer(service).oneshot(request).await.unwrap());
    assert_eq!(account.held(), 0);
}
