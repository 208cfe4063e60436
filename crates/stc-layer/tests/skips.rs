//! Every reason to send a response unchanged: the body is the upstream's, and the header contains the reason.

use crate::upstream::{Answer, Client, Got, ROWS};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use stc_layer::{Engine, Filter, Format, Policy, Skip, TransformLayer};
use tower::{Layer, ServiceExt};

const ASK: &[(&str, &str)] = &[("accept-encoding", "stc")];

async fn skipped(policy: Policy, answer: Answer) -> Got {
    Client::new(policy).ask(ASK, answer).await
}

#[track_caller]
fn assert_skipped(got: &Got, body: &[u8], reason: Skip) {
    assert_eq!(got.header("x-stc-skipped"), reason.name());
    assert_eq!(got.body, body);
    assert_eq!((got.header("x-stc-version"), got.header("x-stc-ratio")), ("", ""));
    assert!(got.header("vary").contains("Accept-Encoding"));
}

#[tokio::test]
async fn too_small() {
    let short = r#"[{"a": 1}, {"a": 2}]"#;
    assert_skipped(&skipped(Policy::default(), Answer::json(short)).await, short.as_bytes(), Skip::TooSmall);
    let unsaid = Answer::new(short).with("content-type", "application/json");
    assert_skipped(&skipped(Policy::default(), unsaid).await, short.as_bytes(), Skip::TooSmall);
}

#[tokio::test]
async fn too_large() {
    let policy = Policy { max_bytes: 100, ..Policy::default() };
    assert_skipped(&skipped(policy.clone(), Answer::json(ROWS)).await, ROWS.as_bytes(), Skip::TooLarge);
    // Without a length, the limit is met while collecting: the collected frames are sent first, then the rest.
    let mut unsaid = Answer::new("").with("content-type", "application/json");
    unsaid.frames = ROWS.as_bytes().chunks(30).map(<[u8]>::to_vec).collect();
    assert_skipped(&skipped(policy.clone(), unsaid.clone()).await, ROWS.as_bytes(), Skip::TooLarge);
    unsaid.breaks = true;
    let got = skipped(policy, unsaid).await;
    assert_skipped(&got, ROWS.as_bytes(), Skip::TooLarge);
    assert!(got.broken);
}

#[tokio::test]
async fn not_json() {
    for kind in ["text/html", "application/x-ndjson", "text/event-stream", "application/jsonx", ""] {
        let got = skipped(Policy::default(), Answer::new(ROWS).with("content-type", kind)).await;
        assert_skipped(&got, ROWS.as_bytes(), Skip::NotJson);
    }
    assert_skipped(&skipped(Policy::default(), Answer::new(ROWS)).await, ROWS.as_bytes(), Skip::NotJson);
}

#[tokio::test]
async fn not_smaller() {
    let prose = format!(r#"["{}"]"#, "word ".repeat(40));
    assert_skipped(&skipped(Policy::default(), Answer::json(prose.as_str())).await, prose.as_bytes(), Skip::NotSmaller);
}

#[tokio::test]
async fn invalid() {
    let broken = &ROWS[..ROWS.len() - 1];
    assert_skipped(&skipped(Policy::default(), Answer::json(broken)).await, broken.as_bytes(), Skip::Invalid);
    // A body that is not gzip although its header says so.
    let lies = Answer::json(ROWS).with("content-encoding", "gzip");
    let got = skipped(Policy::default(), lies).await;
    assert_skipped(&got, ROWS.as_bytes(), Skip::Invalid);
    assert_eq!(got.header("content-encoding"), "gzip");
}

#[cfg(feature = "toon")]
#[tokio::test]
async fn invalid_as_toon() {
    let twice = format!(r#"{{"a": 1, "a": 2, "rows": {ROWS}}}"#);
    let got = Client::new(Policy::default()).ask(&[("x-prefer-format", "toon")], Answer::json(twice.as_str())).await;
    assert_skipped(&got, twice.as_bytes(), Skip::Invalid);
}

#[tokio::test]
async fn no_transform() {
    let answer = Answer::json(ROWS).with("cache-control", "private, No-Transform");
    assert_skipped(&skipped(Policy::default(), answer).await, ROWS.as_bytes(), Skip::NoTransform);
    let asks = [("accept-encoding", "stc"), ("cache-control", "no-transform")];
    let got = Client::new(Policy::default()).ask(&asks, Answer::json(ROWS)).await;
    assert_skipped(&got, ROWS.as_bytes(), Skip::NoTransform);
}

#[tokio::test]
async fn encoded() {
    for coding in ["stc", "deflate", "gzip, br"] {
        let got = skipped(Policy::default(), Answer::json(ROWS).with("content-encoding", coding)).await;
        assert_skipped_with(&got, coding);
    }
    let already = Answer::new(ROWS).with("content-type", "application/stc+json");
    assert_skipped(&skipped(Policy::default(), already).await, ROWS.as_bytes(), Skip::Encoded);
}

#[track_caller]
fn assert_skipped_with(got: &Got, coding: &str) {
    assert_skipped(got, ROWS.as_bytes(), Skip::Encoded);
    assert_eq!(got.header("content-encoding"), coding);
}

#[tokio::test]
async fn excluded() {
    let by_route = Policy { routes: Filter::new([], ["/rows"]).unwrap(), ..Policy::default() };
    let got = skipped(by_route, Answer::json(ROWS)).await;
    assert_skipped(&got, ROWS.as_bytes(), Skip::Excluded);
    assert_eq!(got.asked["accept-encoding"], "stc", "an excluded route is asked as it came");
    let by_format = Policy { formats: vec![Format::Toon], ..Policy::default() };
    assert_skipped(&skipped(by_format, Answer::json(ROWS)).await, ROWS.as_bytes(), Skip::Excluded);
    let by_status = skipped(Policy::default(), Answer::json(ROWS).status(500)).await;
    assert_skipped(&by_status, ROWS.as_bytes(), Skip::Excluded);
    let allowed = Policy { error_statuses: true, ..Policy::default() };
    let got = skipped(allowed, Answer::json(ROWS).status(500)).await;
    assert_eq!((got.status, got.header("content-encoding")), (StatusCode::INTERNAL_SERVER_ERROR, "stc"));
    let by_predicate =
        TransformLayer::default().when(|parts: &http::response::Parts| !parts.headers.contains_key("x-raw"));
    let client = Client::new(Policy::default());
    let got = client.ask_through(by_predicate.clone(), ASK, Answer::json(ROWS).with("x-raw", "1")).await;
    assert_skipped(&got, ROWS.as_bytes(), Skip::Excluded);
    assert_eq!(client.ask_through(by_predicate, ASK, Answer::json(ROWS)).await.header("content-encoding"), "stc");
}

/// The client learns that the name is unknown.
#[tokio::test]
async fn unknown_format() {
    let client = Client::new(Policy::default());
    let got = client.ask(&[("x-prefer-format", "stc9")], Answer::json(ROWS)).await;
    assert_skipped(&got, ROWS.as_bytes(), Skip::UnknownFormat);
    let got = client.ask(&[("x-prefer-format", "stc9"), ("accept-encoding", "stc")], Answer::json(ROWS)).await;
    assert_eq!((got.header("content-encoding"), got.header("x-stc-skipped")), ("stc", ""), "another header has one");
    let got = client.ask(&[("x-prefer-format", "json")], Answer::json(ROWS)).await;
    assert_eq!(got.header("x-stc-skipped"), "", "JSON is known");
}

#[tokio::test]
async fn busy() {
    let engine = Engine::new(Policy { max_held: 1, ..Policy::default() });
    let mut client = Client::new(Policy::default());
    client.engine = engine.clone();
    let held = engine.hold().expect("one place");
    assert!(engine.hold().is_none());
    assert_skipped(&client.ask(ASK, Answer::json(ROWS)).await, ROWS.as_bytes(), Skip::Busy);
    drop(held);
    // The room is released, whatever happened to the body.
    let mut broken = Answer::new("[").with("content-type", "application/json");
    broken.breaks = true;
    for answer in [Answer::json(ROWS), Answer::json("[1]"), broken, Answer::json(ROWS)] {
        assert_ne!(client.ask(ASK, answer).await.header("x-stc-skipped"), "busy");
    }
}

/// A body that waits for a slow client counts as held.
#[tokio::test]
async fn busy_while_another_is_being_sent() {
    let rows = stc_corpus::make("sql-rows", 1, 400 << 10).expect("a kind of the catalogue");
    let engine = Engine::new(Policy { max_held: 1, ..Policy::default() });
    let ask = || async {
        let answer = http::Response::builder().header("content-type", "application/json");
        let answer = answer.body(Full::new(Bytes::from(rows.clone()))).unwrap();
        let service = tower::service_fn(move |_| std::future::ready(Ok::<_, std::convert::Infallible>(answer.clone())));
        let request = http::Request::builder().header("accept-encoding", "stc").body(Full::new(Bytes::new())).unwrap();
        TransformLayer::with_engine(engine.clone()).layer(service).oneshot(request).await.unwrap()
    };
    let mut first = ask().await;
    assert_eq!(first.headers()["content-encoding"], "stc");
    let mut length = first.body_mut().frame().await.unwrap().unwrap().into_data().unwrap().len();
    assert_eq!(ask().await.headers()["x-stc-skipped"], "busy", "the rest of the first waits here");
    while let Some(frame) = first.body_mut().frame().await {
        length += frame.unwrap().into_data().unwrap().len();
    }
    assert_eq!(first.headers()["content-length"], length.to_string());
    assert_eq!(ask().await.headers()["content-encoding"], "stc", "sent: its place is free");
    drop(ask().await);
    assert_eq!(ask().await.headers()["content-encoding"], "stc", "left: its place is free");
}
