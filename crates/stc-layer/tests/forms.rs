//! The forms of one response: HEAD, conditional requests and content codings agree with the converted body.

use crate::upstream::{Answer, Client, Got, ROWS, ROWS_STC};
use http::{Method, StatusCode};
use stc_layer::Policy;
use stc_layer::coding::Coding;

const ASK: &[(&str, &str)] = &[("accept-encoding", "stc")];

fn client(method: Method) -> Client {
    let mut client = Client::new(Policy::default());
    client.method = method;
    client
}

/// Every header of a HEAD's response is that of the GET's.
#[tokio::test]
async fn head_agrees_with_get() {
    let prose = format!(r#"["{}"]"#, "word ".repeat(400));
    let answers = [
        Answer::json(ROWS).with("etag", "\"v1\"").with("digest", "x"),
        Answer::json(ROWS).with("content-type", "application/problem+json"),
        Answer::new(ROWS).with("content-type", "application/json"),
        Answer::json("[1]").with("etag", "\"v1\""),
        Answer::json(prose).with("etag", "\"v1\""),
        Answer::new("<p>").with("content-type", "text/html"),
        Answer::json(ROWS).status(404),
        Answer::json(ROWS).with("cache-control", "no-transform"),
    ];
    for answer in answers {
        for asks in [ASK, &[("accept-encoding", "stc, gzip")], &[("x-prefer-format", "stc2-labelled")]] {
            let got = client(Method::GET).ask(asks, answer.clone()).await;
            let head = client(Method::HEAD).ask(asks, answer.clone()).await;
            assert_eq!((head.status, &head.headers), (got.status, &got.headers));
            assert!(head.body.is_empty() && head.method == Method::GET);
        }
    }
    // Without a preference a HEAD stays a HEAD.
    let head = client(Method::HEAD).ask(&[], Answer::json(ROWS)).await;
    assert_eq!(head.method, Method::HEAD);
    let head = client(Method::HEAD).ask(&[("x-prefer-format", "json")], Answer::json(ROWS)).await;
    assert_eq!(head.method, Method::HEAD);
}

#[tokio::test]
async fn a_converted_response_can_be_revalidated() {
    let got = client(Method::GET).ask(ASK, Answer::json(ROWS).with("etag", "\"v1\"")).await;
    let tag = got.header("etag").to_owned();
    assert_eq!((tag.as_str(), got.text()), ("\"v1-stc1\"", ROWS_STC));
    // The service sees its own tag and answers with it; the client sees its own again.
    let asks = [("accept-encoding", "stc"), ("if-none-match", tag.as_str())];
    let unchanged = Answer::new("").status(304).with("etag", "\"v1\"").with("vary", "origin");
    let got = client(Method::GET).ask(&asks, unchanged.clone()).await;
    assert_eq!(got.asked["if-none-match"], "\"v1\"");
    assert_eq!((got.status, got.header("etag")), (StatusCode::NOT_MODIFIED, tag.as_str()));
    let vary: Vec<_> = got.headers.get_all("vary").iter().collect();
    assert_eq!(vary, ["origin", "Accept, Accept-Encoding, X-Prefer-Format, X-STC-Version"]);
    // A client that holds the plain form gets the plain form's tag.
    let got = client(Method::GET).ask(&[ASK[0], ("if-none-match", "\"v1\"")], unchanged.clone()).await;
    assert_eq!(got.header("etag"), "\"v1\"");
    // A tag of a format that this request does not prefer cannot match.
    let got = client(Method::GET).ask(&[ASK[0], ("if-none-match", "\"v1-stc2-labelled\"")], Answer::json(ROWS)).await;
    assert!(!got.asked.contains_key("if-none-match"));
    // Without a preference nothing is touched.
    let got = client(Method::GET).ask(&[("if-none-match", "\"v1-stc1\"")], unchanged).await;
    assert_eq!((&got.asked["if-none-match"], got.header("etag")), (&"\"v1-stc1\"".parse().unwrap(), "\"v1\""));
}

#[tokio::test]
async fn a_condition_on_a_converted_response_holds() {
    let mut client = client(Method::PUT);
    client.body = "[]".to_owned();
    let got = client.ask(&[ASK[0], ("if-match", "\"v1-stc1\", \"v0-stc2.gzip\"")], Answer::json("{}")).await;
    assert_eq!(got.asked["if-match"], "\"v1\", \"v0\"");
}

/// Parts of the plain form pass; a part of a converted body cannot be made, so the whole is sent.
#[tokio::test]
async fn ranges() {
    let part = Answer::json("[{").status(206).with("content-range", "bytes 0-1/138").with("etag", "\"v1\"");
    let asks = [ASK[0], ("range", "bytes=0-1"), ("if-range", "\"v1\"")];
    let got = client(Method::GET).ask(&asks, part).await;
    assert_eq!((got.text(), got.header("etag"), got.header("x-stc-skipped")), ("[{", "\"v1\"", ""));
    assert!(got.header("vary").contains("Accept-Encoding") && got.asked.contains_key("range"));
    let asks = [ASK[0], ("range", "bytes=0-1"), ("if-range", "\"v1-stc1\"")];
    let got = client(Method::GET).ask(&asks, Answer::json(ROWS)).await;
    assert!(!got.asked.contains_key("range") && !got.asked.contains_key("if-range"));
    assert_eq!(got.text(), ROWS_STC);
}

#[tokio::test]
async fn an_empty_response_is_left_alone() {
    let got = client(Method::GET).ask(ASK, Answer::new("").status(204).with("etag", "\"v1\"")).await;
    assert_eq!((got.header("etag"), got.header("x-stc-skipped"), got.header("vary")), ("\"v1\"", "", ""));
}

fn plain(got: &Got, coding: Coding) -> Vec<u8> {
    coding.decompress(&got.body, 1 << 24).unwrap().into_owned()
}

/// The client that prefers STC keeps the compression that it would have had without.
#[tokio::test]
async fn converted_bodies_are_compressed_for_clients_that_accept_it() {
    let rows = stc_corpus::make("sql-rows", 1, 50_000).expect("a kind of the catalogue");
    let answer = Answer::json(rows.clone()).with("etag", "\"v1\"");
    let identity = client(Method::GET).ask(ASK, answer.clone()).await;
    for (accepts, name, coding) in [
        ("stc, gzip", "gzip", Coding::Gzip),
        ("gzip, deflate, br, zstd, stc", "br", Coding::Brotli),
        ("stc, zstd", "zstd", Coding::Zstd),
    ] {
        let got = client(Method::GET).ask(&[("accept-encoding", accepts)], answer.clone()).await;
        assert_eq!(got.header("content-encoding"), format!("stc, {name}"));
        assert_eq!(got.header("etag"), format!("\"v1-stc1.{name}\""));
        assert_eq!(got.header("content-length"), got.body.len().to_string());
        assert_eq!(got.header("x-stc-ratio"), identity.header("x-stc-ratio"), "of the texts, not of the coded bytes");
        assert!(got.body.len() < identity.body.len() / 2, "{accepts}: {}", got.body.len());
        assert_eq!(plain(&got, coding), identity.body, "{accepts}");
        assert_eq!(got.asked["accept-encoding"], "identity");
    }
    let short = client(Method::GET).ask(&[("accept-encoding", "stc, gzip")], Answer::json(ROWS)).await;
    assert_eq!((short.header("content-encoding"), short.text()), ("stc", ROWS_STC));
    // A client that does not accept the coding `stc` gets no other one beside it, which it could not undo.
    for accepts in ["gzip, deflate, br, zstd", "*"] {
        let asks = [("x-prefer-format", "stc1"), ("accept-encoding", accepts)];
        let got = client(Method::GET).ask(&asks, answer.clone()).await;
        assert_eq!(got.header("content-encoding"), "stc", "{accepts}");
        assert!(got.body == identity.body, "{accepts}");
    }
}

#[tokio::test]
async fn skipped_bodies_are_compressed_for_clients_that_accept_it() {
    let prose = format!(r#"["{}"]"#, "word ".repeat(2000));
    let asks = [("accept-encoding", "stc, gzip")];
    let ask = async |answer| client(Method::GET).ask(&asks, answer).await;
    let got = ask(Answer::json(prose.as_str()).with("etag", "\"v1\"").with("accept-ranges", "bytes")).await;
    assert_eq!((got.header("x-stc-skipped"), got.header("content-encoding")), ("not-smaller", "gzip"));
    assert_eq!((got.header("etag"), got.header("content-length")), ("\"v1-json.gzip\"", ""));
    assert_eq!(got.header("accept-ranges"), "");
    assert_eq!(plain(&got, Coding::Gzip), prose.as_bytes());
    // A body over the size limit, in many frames, with trailers.
    let rows = stc_corpus::make("sql-rows", 1, 300_000).expect("a kind of the catalogue");
    let mut large = Answer::new("").with("content-type", "application/json");
    large.frames = rows.chunks(1000).map(<[u8]>::to_vec).collect();
    large.trailers = Some(http::HeaderMap::from_iter([(http::header::SERVER, "x".parse().unwrap())]));
    let mut small = client(Method::GET);
    small.engine = stc_layer::Engine::new(Policy { max_bytes: 100_000, ..Policy::default() });
    let got = small.ask(&asks, large).await;
    assert_eq!((got.header("x-stc-skipped"), got.header("content-encoding")), ("too-large", "gzip"));
    assert_eq!((plain(&got, Coding::Gzip), got.trailers.is_some()), (rows, true));
    // What is compressed already, is no text, or must not change.
    for (name, value) in [("content-encoding", "br"), ("content-type", "image/png"), ("cache-control", "no-transform")]
    {
        let mut answer = Answer::new(prose.as_str()).with("content-length", prose.len().to_string());
        if name != "content-type" {
            answer = answer.with("content-type", "text/plain");
        }
        let got = ask(answer.with(name, value)).await;
        assert_eq!(got.body, prose.as_bytes(), "{name}");
        assert_eq!(got.header("content-encoding"), if name == "content-encoding" { "br" } else { "" });
    }
    let mut broken = Answer::new(prose.as_str()).with("content-type", "text/plain");
    broken.breaks = true;
    assert!(ask(broken).await.broken);
}

/// Texts inside MCP messages change, and the message is compressed like any other JSON.
#[tokio::test]
async fn messages_are_compressed_for_clients_that_accept_it() {
    let rows = String::from_utf8(stc_corpus::make("sql-rows", 1, 20_000).expect("a kind of the catalogue")).unwrap();
    let text = serde_json::Value::from(rows);
    let message = format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#);
    let mut client = client(Method::POST);
    client.body = r#"{"id":1,"method":"tools/call","params":{"name":"list"}}"#.to_owned();
    let asks = [
        ("accept", "application/json, text/event-stream"),
        ("x-prefer-format", "stc2-labelled"),
        ("accept-encoding", "gzip, deflate"),
    ];
    let got = client.ask(&asks, Answer::json(message.as_str())).await;
    assert_eq!((got.header("content-encoding"), got.header("content-type")), ("gzip", "application/json"));
    assert_eq!(got.header("content-length"), got.body.len().to_string());
    let got = String::from_utf8(plain(&got, Coding::Gzip)).unwrap();
    assert!(got.contains(r#""io.stoa/stc":{"format":"stc2-labelled"}"#) && got.len() < message.len(), "{got:.300}");
}
