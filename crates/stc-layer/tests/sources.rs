//! Every source of a preference, through the layer: the response, and the request that the upstream gets.

use crate::upstream::{Answer, Client, ROWS, ROWS_STC};
use stc_layer::{Format, Policy};

#[tokio::test]
async fn each_source_is_read() {
    let client = Client::new(Policy::default());
    for (source, value) in [
        ("accept-encoding", "stc"),
        ("accept-encoding", "gzip, STC"),
        ("x-prefer-format", "stc"),
        ("x-prefer-format", "stc1"),
        ("accept", "application/stc+json"),
    ] {
        let got = client.ask(&[(source, value)], Answer::json(ROWS)).await;
        assert_eq!(got.text(), ROWS_STC, "{source}: {value}");
        assert_eq!(got.header("x-stc-version"), "1");
    }
}

#[cfg(feature = "toon")]
#[tokio::test]
async fn toon_by_both_headers() {
    let client = Client::new(Policy::default());
    for (source, value) in [("x-prefer-format", "toon"), ("accept", "text/toon")] {
        let got = client.ask(&[(source, value)], Answer::json(ROWS)).await;
        assert_eq!(
            got.text(),
            "[3]{id,name,method}:\n  1,users,GET\n  2,orders,POST\n  3,carts,GET",
            "{source}: {value}"
        );
        assert_eq!((got.header("content-type"), got.header("content-encoding")), ("text/toon", ""));
        assert_eq!(got.header("x-stc-version"), "");
    }
}

/// A build without the feature offers no TOON.
#[cfg(not(feature = "toon"))]
#[tokio::test]
async fn without_the_feature_toon_is_excluded() {
    let got = Client::new(Policy::default()).ask(&[("x-prefer-format", "toon")], Answer::json(ROWS)).await;
    assert_eq!((got.text(), got.header("x-stc-skipped")), (ROWS, "excluded"));
}

#[tokio::test]
async fn a_reader_of_version_2_gets_the_best_that_is_allowed() {
    let client = Client::new(Policy { formats: vec![Format::Stc1], ..Policy::default() });
    for asks in [
        &[("x-prefer-format", "stc2-labelled")][..],
        &[("x-prefer-format", "stc2")],
        &[("accept-encoding", "stc"), ("x-stc-version", "2; labelled")],
        &[("accept-encoding", "stc"), ("x-stc-version", "2")],
    ] {
        let got = client.ask(asks, Answer::json(ROWS)).await;
        assert_eq!((got.text(), got.header("x-stc-version")), (ROWS_STC, "1"), "{asks:?}");
    }
}

/// Rows that both levels of STC 2 write differently: a shared value, an object in each row, addresses that end with an id.
fn nested_rows() -> String {
    let row = |id: u32| {
        format!(
            r#"{{"id": {id}, "state": "open", "by": {{"name": "n{id}", "age": {id}}}, "url": "https://forge.example/api/issues/{id}"}}"#
        )
    };
    format!("[{}]", (1..7).map(row).collect::<Vec<_>>().join(", "))
}

#[tokio::test]
async fn each_level_of_version_2_is_sent_and_named() {
    let client = Client::new(Policy::default());
    let json = nested_rows();
    for (format, version, header) in
        [("stc2", "2", "[6]{id,state=open,by.{name"), ("stc2-labelled", "2; labelled", "[6]{*,state=open,by}:")]
    {
        for asks in [&[("x-prefer-format", format)][..], &[("accept-encoding", "stc"), ("x-stc-version", version)]] {
            let got = client.ask(asks, Answer::json(json.as_str())).await;
            assert_eq!(got.header("x-stc-version"), version, "{asks:?}");
            assert!(got.text().starts_with(header), "{asks:?}: {}", got.text());
            assert_eq!(got.text().contains("/${id}\""), format == "stc2", "{}", got.text());
            assert_eq!(stc::decode(&got.body).unwrap(), stc::decode(json.as_bytes()).unwrap(), "{asks:?}");
        }
    }
    // An operator who does not offer it: the next lower level.
    let client = Client::new(Policy { formats: vec![Format::Stc1, Format::Stc2Labelled], ..Policy::default() });
    let got = client.ask(&[("x-prefer-format", "stc2")], Answer::json(json.as_str())).await;
    assert_eq!(got.header("x-stc-version"), "2; labelled");
}

#[tokio::test]
async fn the_upstream_does_not_see_the_preference() {
    let client = Client::new(Policy::default());
    let asks = [("accept-encoding", "gzip, stc"), ("x-prefer-format", "stc"), ("x-stc-version", "1"), ("x-else", "7")];
    let got = client.ask(&asks, Answer::json(ROWS)).await;
    let seen: Vec<_> = got.asked.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
    assert_eq!(seen, [("accept-encoding", "identity"), ("x-else", "7")]);
}

/// No preference, a refusal, or another preference: no header changes in either direction.
#[tokio::test]
async fn without_a_preference_everything_passes_unchanged() {
    let client = Client::new(Policy::default());
    for asks in [
        &[][..],
        &[("accept", "*/*"), ("accept-encoding", "gzip, br, zstd")],
        &[("accept-encoding", "*")],
        &[("accept-encoding", "stc;q=0")],
        &[("accept-encoding", "gzip, stc;q=0.1")],
        &[("x-prefer-format", "json"), ("accept-encoding", "stc")],
        &[("x-stc-version", "2")],
    ] {
        let answer = Answer::json(ROWS).with("etag", "\"a\"").with("content-md5", "x").with("accept-ranges", "bytes");
        let got = client.ask(asks, answer.clone()).await;
        assert_eq!(got.text(), ROWS, "{asks:?}");
        let mut headers: Vec<_> =
            got.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let mut sent: Vec<_> = answer.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        headers.sort_unstable();
        sent.sort_unstable();
        assert_eq!(headers, sent, "{asks:?}");
        let seen: Vec<_> = got.asked.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(seen, *asks);
    }
}
