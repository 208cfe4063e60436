//! What the operator decides: formats for clients that did not opt in, settings for single tools, resources.

use crate::upstream::{Answer, Client, ROWS, ROWS_STC};
use http::Method;
use serde_json::{Value, json};
use stc_layer::{Engine, Policy};

const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");

fn client(policy: &str) -> Client {
    let policy: Policy = toml::from_str(policy).unwrap();
    policy.check().unwrap();
    let mut client = Client::new(Policy::default());
    client.engine = Engine::new(policy);
    client.method = Method::POST;
    client.path = "/mcp";
    client.body = call("tools/call", json!({"name": "list_rows"}));
    client
}

fn call(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn result(blocks: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "result": {"content": blocks}}).to_string()
}

/// Rows that are smaller in every format.
fn rows() -> String {
    String::from_utf8(stc_corpus::make("sql-rows", 1, 3000).expect("a kind of the catalogue")).unwrap()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

async fn ask(client: &Client, headers: &[(&'static str, &str)], message: &str) -> Value {
    let got = client.ask(&[&[ACCEPT], headers].concat(), Answer::json(message)).await;
    serde_json::from_str(got.text()).unwrap()
}

fn format(message: &Value) -> Option<&str> {
    message["result"]["content"][0]["_meta"]["io.stoa/stc"]["format"].as_str()
}

#[tokio::test]
async fn a_client_that_knows_no_header_gets_what_the_operator_says() {
    let client = client("[[clients]]\nuser_agent = \"claude-code/*\"\nformat = \"stc2-labelled\"\n");
    let message = result(json!([text(&rows())]));
    let agent = ("user-agent", "claude-code/2.1");
    assert_eq!(format(&ask(&client, &[agent], &message).await), Some("stc2-labelled"));
    assert_eq!(format(&ask(&client, &[("user-agent", "other/1")], &message).await), None);
    // The client's own word counts more.
    assert_eq!(format(&ask(&client, &[agent, ("x-prefer-format", "json")], &message).await), None);
    assert_eq!(format(&ask(&client, &[agent, ("accept-encoding", "stc;q=0")], &message).await), None);
    assert_eq!(format(&ask(&client, &[agent, ("x-prefer-format", "stc1")], &message).await), Some("stc1"));
}

#[tokio::test]
async fn the_extension_counts_more_than_the_operator() {
    let mut client = client("default_format = \"stc2\"\n[[clients]]\nformat = \"stc1\"\n");
    let message = result(json!([text(&rows())]));
    let extended = |settings: Value| {
        let capabilities = json!({"extensions": {"io.stoa/stc": settings}});
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
        call("tools/call", json!({"name": "list_rows", "_meta": meta}))
    };
    let headers = [("mcp-method", "tools/call")];
    assert_eq!(format(&ask(&client, &headers, &message).await), Some("stc1"));
    client.body = extended(json!({"format": "stc2-labelled"}));
    assert_eq!(format(&ask(&client, &headers, &message).await), Some("stc2-labelled"));
    client.body = extended(json!({}));
    assert_eq!(format(&ask(&client, &headers, &message).await), Some("stc2"), "the default without a name");
}

#[tokio::test]
async fn the_legend_comes_with_the_decision() {
    for (policy, expected) in [
        ("[[clients]]\nformat = \"stc2-labelled\"\n", true),
        ("[[clients]]\nformat = \"stc2-labelled\"\nlegend = false\n", false),
        ("[[clients]]\nformat = \"stc2-labelled\"\nlegend = false\n[mcp]\nlegend = true\n", true),
        ("[[clients]]\nformat = \"json\"\n[mcp]\nlegend = true\n", false),
    ] {
        let mut client = client(policy);
        client.body = call("initialize", json!({}));
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"instructions": "Ask.", "serverInfo": {"name": "x".repeat(200)}}});
        let got = ask(&client, &[], &answer.to_string()).await;
        let legend = stc_layer::mcp::legend(stc_layer::Format::Stc2Labelled).unwrap();
        let instructions = got["result"]["instructions"].as_str().unwrap();
        assert_eq!(instructions == format!("Ask.\n\n{legend}"), expected, "{policy}: {instructions}");
    }
}

/// The tenant decides, and caches cannot see it.
#[tokio::test]
async fn responses_chosen_by_a_tenant_are_private() {
    let mut client = client("[[clients]]\ntenant = \"search\"\nformat = \"stc1\"\nrest = true\n");
    client.method = Method::GET;
    for (upstream, expected) in [
        ("", "private"),
        ("public, max-age=60, S-MaxAge=9", "max-age=60, private"),
        ("private=\"x, y\"", "private=\"x, y\", private"),
        ("no-store", "no-store"),
        ("max-age=60, Private", "max-age=60, Private"),
    ] {
        let answer = Answer::json(ROWS).with("cache-control", upstream);
        client.tenant = Some("search");
        let got = client.ask(&[], answer.clone()).await;
        assert_eq!((got.header("content-encoding"), got.header("cache-control")), ("stc", expected), "{upstream}");
        let got = client.ask(&[("x-prefer-format", "stc1")], answer.clone()).await;
        assert_eq!((got.text(), got.header("cache-control")), (ROWS_STC, upstream), "the client's own preference");
        client.tenant = Some("ads");
        let got = client.ask(&[], answer).await;
        assert_eq!((got.text(), got.header("cache-control")), (ROWS, upstream));
    }
}

/// Whole bodies change only where the rule says that the client reads them.
#[tokio::test]
async fn rest_needs_a_rule_of_its_own() {
    for (rest, expected) in [("rest = true", "stc"), ("", "")] {
        let mut client = client(&format!("[[clients]]\nheader = \"x-team\"\nformat = \"stc1\"\n{rest}\n"));
        client.method = Method::GET;
        let headers = [("x-team", "search"), ("accept-encoding", "gzip")];
        let got = client.ask(&headers, Answer::json(ROWS).with("etag", "\"v1\"")).await;
        assert_eq!(got.header("content-encoding"), expected, "{rest}");
        let vary: Vec<_> = got.headers.get_all("vary").iter().collect();
        match rest {
            "" => assert!(vary.is_empty() && got.text() == ROWS && got.asked["accept-encoding"] == "gzip"),
            _ => assert!(vary.contains(&&"x-team".parse().unwrap()) && got.text() == ROWS_STC, "{vary:?}"),
        }
    }
}

#[tokio::test]
async fn a_tool_has_its_own_settings() {
    let policy = "min_bytes = 9000\n[[overrides]]\ntools = [\"list_*\"]\nformat = \"stc1\"\nmin_bytes = 100\n\
                  structured = \"strip\"\n[[overrides]]\ntools = [\"deep\"]\nformat = \"stc2\"\nmin_bytes = 10\n";
    let mut client = client(policy);
    let rows = rows();
    let minified = String::from_utf8(stc::minify(rows.as_bytes()).unwrap()).unwrap();
    let message = result(json!([text(&rows)]));
    let message = message.replacen("\"content\"", &format!("\"structuredContent\":{minified},\"content\""), 1);
    let asks = [("x-prefer-format", "stc2-labelled")];
    let got = ask(&client, &asks, &message).await;
    assert_eq!((format(&got), got["result"].get("structuredContent")), (Some("stc1"), None));
    client.body = call("tools/call", json!({"name": "deep"}));
    let got = ask(&client, &asks, &message).await;
    assert_eq!(format(&got), Some("stc2-labelled"), "not more than the client reads");
    assert!(got["result"].get("structuredContent").is_some(), "kept");
    client.body = call("tools/call", json!({"name": "other"}));
    assert_eq!(format(&ask(&client, &asks, &message).await), None, "too small");
    // The schema goes with the content, for this tool only.
    client.body = call("tools/list", json!({}));
    let tools = json!([{"name": "list_rows", "outputSchema": {}}, {"name": "other", "outputSchema": {}}]);
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools, "more": "x".repeat(100)}}).to_string();
    let got = ask(&client, &asks, &answer).await;
    assert_eq!(got["result"]["tools"], json!([{"name": "list_rows"}, {"name": "other", "outputSchema": {}}]));
}

#[tokio::test]
async fn resources_are_converted_and_keep_their_type_in_the_mark() {
    let mut client = client("");
    let asks = [("x-prefer-format", "stc1")];
    let old = json!({"uri": "db://rows", "mimeType": "application/json", "text": ROWS});
    let mark = json!({"io.stoa/stc": {"format": "stc1", "mimeType": "application/json"}});
    let new = json!({"uri": "db://rows", "mimeType": "application/stc+json", "text": ROWS_STC, "_meta": mark});
    let got = ask(&client, &asks, &result(json!([{"type": "resource", "resource": old}, text("hello")]))).await;
    assert_eq!(got["result"]["content"], json!([{"type": "resource", "resource": new}, text("hello")]));
    client.body = call("resources/read", json!({"uri": "db://rows"}));
    let blob = json!({"uri": "db://image", "mimeType": "image/png", "blob": "AAAA"});
    let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"contents": [old, blob]}}).to_string();
    let got = ask(&client, &asks, &message).await;
    assert_eq!(got["result"]["contents"], json!([new, blob]));
    // A resource without a type has none afterwards.
    let untyped = json!({"uri": "db://rows", "text": ROWS});
    let message = json!({"jsonrpc": "2.0", "id": 1, "result": {"contents": [untyped]}}).to_string();
    let got = ask(&client, &asks, &message).await;
    let contents = &got["result"]["contents"][0];
    assert_eq!((&contents["text"], contents.get("mimeType")), (&ROWS_STC.into(), None));
    assert_eq!(contents["_meta"], json!({"io.stoa/stc": {"format": "stc1"}}));
}

/// A Python tool that returns a list sends each element as a block, all of them too small.
#[tokio::test]
async fn lists_in_many_blocks_save_by_default() {
    let client = client("");
    let rows: Vec<Value> = serde_json::from_str(ROWS).unwrap();
    let blocks: Vec<Value> = rows.iter().map(|row| text(&format!("{row:#}"))).collect();
    let got = ask(&client, &[("x-prefer-format", "stc1")], &result(json!(blocks))).await;
    let mark = json!({"io.stoa/stc": {"format": "stc1", "blocks": 3}});
    let keys: Vec<_> = rows[0].as_object().unwrap().keys().cloned().collect();
    assert_eq!(got["result"]["content"][0]["_meta"], mark, "{keys:?}");
    assert_eq!(got["result"]["content"].as_array().unwrap().len(), 1);
}
