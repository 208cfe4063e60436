//! Laws of the MCP conversion, over the whole corpus and over randomly damaged messages.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::Value;
use stc_corpus::{Rng, made};
use stc_layer::mcp::{Calls, EXTENSION};
use stc_layer::{Engine, McpPolicy, Plan, Policy, Structured, Verify};

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;

/// Converts a message; `None` if it is sent unchanged.
fn rewritten(engine: &Engine, format: &'static str, message: &[u8]) -> Option<Bytes> {
    let mut headers = HeaderMap::new();
    headers.insert("x-prefer-format", HeaderValue::from_static(format));
    headers.insert("mcp-protocol-version", HeaderValue::from_static("2025-06-18"));
    let mut exchange = engine.open(&Method::POST, "/mcp", &mut headers).expect("it asks");
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    let calls = || Calls::read(&Bytes::from_static(CALL));
    match engine.plan(&mut exchange, calls, StatusCode::OK, &headers) {
        Plan::Message(job) => engine.message(&exchange, &job, &mut headers, message),
        other => panic!("{other:?}"),
    }
}

fn message(text: &str) -> String {
    let text = Value::from(text);
    format!(
        "{{\"jsonrpc\" :\"2.0\", \"id\":1,\n \"result\":{{\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"n\":1.0}}}} "
    )
}

/// Every document of the corpus as a text, in every format: the converted text decodes to it, and the rest of the message
/// is unchanged.
#[test]
fn texts_decode_and_the_rest_stays() {
    for format in ["stc1", "stc2", "stc2-labelled"] {
        let changed = converted(format);
        assert!(changed > 40, "{format}: {changed}");
    }
}

/// Converts the corpus, checks the results and returns how many documents changed.
fn converted(format: &'static str) -> u32 {
    let engine = Engine::new(Policy { min_bytes: 0, verify: Verify::Always, ..Policy::default() });
    let mut changed = 0;
    for document in made() {
        let Ok(text) = std::str::from_utf8(&document.bytes) else { continue };
        let before = message(text);
        let Some(after) = rewritten(&engine, format, before.as_bytes()) else { continue };
        changed += 1;
        assert!(after.len() < before.len(), "{}", document.name);
        let value: Value = serde_json::from_slice(&after).unwrap();
        let block = &value["result"]["content"][0];
        assert_eq!(block["_meta"][EXTENSION]["format"], format);
        let coded = block["text"].as_str().unwrap();
        assert_eq!(stc::decode(coded.as_bytes()).unwrap(), stc::decode(&document.bytes).unwrap(), "{}", document.name);
        let mark = format!(r#","_meta":{{"{EXTENSION}":{{"format":"{format}"}}}}"#);
        let restored = String::from_utf8(after.to_vec()).unwrap().replacen(&mark, "", 1);
        assert_eq!(restored, message(coded), "{}", document.name);
    }
    changed
}

/// A damaged message never causes a panic. It changes only if it is still JSON, and the result is JSON.
#[test]
fn damaged_messages_pass_or_stay_json() {
    let mcp =
        McpPolicy { fold: true, structured: Structured::Strip, errors: true, legend: true, ..McpPolicy::default() };
    let engine = Engine::new(Policy { min_bytes: 0, mcp, ..Policy::default() });
    let rows = r#"[{"id": 1, "name": "a\"b"}, {"id": 2, "name": "c"}, {"id": 3, "name": "d"}]"#;
    let whole = message(rows).replace(r#","n""#, &format!(r#","structuredContent":{rows},"isError":false,"n""#));
    let mut rng = Rng::new(11);
    let mut changed = 0;
    for _ in 0..20_000 {
        let mut damaged = whole.clone().into_bytes();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(damaged.len() as u64) as usize;
            match rng.below(4) {
                0 => damaged[at] = b"\"\\{}[],:x0 \n"[rng.below(12) as usize],
                1 => damaged.truncate(at.max(8)),
                2 => drop(damaged.remove(at)),
                _ => damaged.insert(at, b"\"\\{}[],:x0 \n"[rng.below(12) as usize]),
            }
        }
        if let Some(after) = rewritten(&engine, "stc", &damaged) {
            changed += 1;
            let parses = |text: &[u8]| serde_json::from_slice::<Value>(text).is_ok();
            assert!(parses(&damaged) && parses(&after), "{}", String::from_utf8_lossy(&damaged));
        }
    }
    assert!(changed > 100, "{changed}");
}
