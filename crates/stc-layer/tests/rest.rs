//! Whole bodies: their headers, and the responses that pass unchanged.

use crate::upstream::{Answer, Client, Got, ROWS, ROWS_STC};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use stc_layer::{Policy, Verify};
use std::io::Write;

const ASK: &[(&str, &str)] = &[("accept-encoding", "stc")];

async fn ask(answer: Answer) -> Got {
    Client::new(Policy { verify: Verify::Always, ..Policy::default() }).ask(ASK, answer).await
}

#[tokio::test]
async fn the_headers_of_a_converted_body() {
    let got = ask(Answer::json(ROWS)
        .with("etag", "\"v1\"")
        .with("digest", "sha-256=x")
        .with("content-digest", "sha-256=:x:")
        .with("repr-digest", "sha-256=:x:")
        .with("content-md5", "x")
        .with("accept-ranges", "bytes")
        .with("vary", "origin")
        .with("x-else", "7"))
    .await;
    assert_eq!(got.text(), ROWS_STC);
    assert_eq!(stc::decode(&got.body).unwrap(), stc::decode(ROWS.as_bytes()).unwrap());
    for (name, value) in [
        ("content-type", "application/stc+json"),
        ("content-encoding", "stc"),
        ("content-length", "74"),
        ("x-stc-version", "1"),
        ("x-stc-ratio", "0.54"),
        ("etag", "\"v1-stc1\""),
        ("x-stc-content-type", ""),
        ("x-else", "7"),
    ] {
        assert_eq!(got.header(name), value, "{name}");
    }
    assert_eq!(got.body.len(), 74);
    let vary: Vec<_> = got.headers.get_all("vary").iter().map(|value| value.to_str().unwrap()).collect();
    assert_eq!(vary, ["origin", "Accept, Accept-Encoding, X-Prefer-Format, X-STC-Version"]);
    for gone in ["digest", "content-digest", "repr-digest", "content-md5", "accept-ranges", "x-stc-skipped"] {
        assert!(!got.headers.contains_key(gone), "{gone}");
    }
}

#[tokio::test]
async fn a_weak_etag_stays_weak() {
    assert_eq!(ask(Answer::json(ROWS).with("etag", "W/\"v1\"")).await.header("etag"), "W/\"v1-stc1\"");
}

#[tokio::test]
async fn a_body_in_many_frames_without_a_length() {
    for cut in 0..ROWS.len() {
        let (left, right) = ROWS.as_bytes().split_at(cut);
        let mut answer = Answer::new("").with("content-type", "application/json; charset=utf-8");
        answer.frames = vec![left.to_vec(), Vec::new(), right.to_vec()];
        assert_eq!(ask(answer).await.text(), ROWS_STC, "{cut}");
    }
}

#[tokio::test]
async fn other_types_that_are_json() {
    let problem = "application/problem+json; charset=utf-8";
    for kind in ["application/json", "Application/JSON;charset=UTF-8", "application/vnd.api+json", "text/json", problem]
    {
        let got = ask(Answer::new(ROWS).with("content-type", kind)).await;
        assert_eq!(got.text(), ROWS_STC, "{kind}");
        let original = if kind == "application/json" { "" } else { kind };
        assert_eq!(got.header("x-stc-content-type"), original, "a decoder can restore the type");
    }
}

#[tokio::test]
async fn compressed_upstreams_are_decompressed() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(ROWS.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = ruzstd::encoding::compress_to_vec(ROWS.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let mut brotli = Vec::new();
    let quick = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
    brotli::BrotliCompress(&mut ROWS.as_bytes(), &mut brotli, &quick).unwrap();
    for (name, body) in [("gzip", gzip), ("zstd", zstd), ("br", brotli)] {
        let got = ask(Answer::json(body).with("content-encoding", name)).await;
        assert_eq!((got.text(), got.header("content-encoding")), (ROWS_STC, "stc"), "{name}");
        assert_eq!(got.header("content-length"), ROWS_STC.len().to_string(), "{name}");
    }
}

#[tokio::test]
async fn trailers_lose_their_digests() {
    let mut trailers = HeaderMap::new();
    trailers.insert("content-digest", HeaderValue::from_static("x"));
    trailers.insert("server-timing", HeaderValue::from_static("db;dur=1"));
    let mut answer = Answer::json(ROWS);
    answer.trailers = Some(trailers.clone());
    let got = ask(answer).await;
    assert_eq!(got.text(), ROWS_STC);
    let left = got.trailers.unwrap();
    assert!(left.contains_key("server-timing") && !left.contains_key("content-digest"));
    let mut unchanged = Answer::json("[1]");
    unchanged.trailers = Some(trailers.clone());
    assert_eq!(ask(unchanged).await.trailers.unwrap(), trailers);
}

#[tokio::test]
async fn an_upstream_error_reaches_the_client() {
    let mut answer = Answer::new("").with("content-type", "application/json");
    answer.frames = vec![ROWS.as_bytes()[..40].to_vec(), ROWS.as_bytes()[40..80].to_vec()];
    answer.breaks = true;
    let got = ask(answer).await;
    assert!(got.broken);
    assert_eq!(got.text(), &ROWS[..80]);
}

#[tokio::test]
async fn the_same_body_gives_the_same_bytes() {
    let body = Bytes::from(stc_corpus::make("tickets", 5, 20_000).expect("a kind of the catalogue"));
    let first = ask(Answer::json(body.to_vec())).await;
    for _ in 0..3 {
        assert_eq!(ask(Answer::json(body.to_vec())).await.body, first.body);
    }
}
