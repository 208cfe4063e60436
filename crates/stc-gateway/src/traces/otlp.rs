//! The JSON encoding of OTLP: ids are hexadecimal digits, 64-bit numbers are strings.

use crate::request_id::process;
use crate::traces::span::{Span, Value};
use serde_json::{Value as Json, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Encodes an `ExportTraceServiceRequest` with these spans.
pub(super) fn encode(spans: &[Span], service: &str) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    let resource = [
        attribute("service.name", &Value::Text(service.to_owned().into())),
        attribute("service.version", &Value::Text(version.into())),
        attribute("service.instance.id", &Value::Text(format!("{:016x}", process()).into())),
    ];
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{
            "scope": {"name": "stc-gateway", "version": version},
            "spans": spans.iter().map(shown).collect::<Vec<_>>(),
        }],
    }]})
    .to_string()
    .into_bytes()
}

fn shown(span: &Span) -> Json {
    let attributes = span.attributes.0.iter().map(|(name, value)| attribute(name, value));
    let mut shown = json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "flags": span.flags,
        "name": span.name,
        "kind": span.kind as u8,
        "startTimeUnixNano": nanoseconds(span.began, Duration::ZERO),
        "endTimeUnixNano": nanoseconds(span.began, span.took),
        "attributes": attributes.collect::<Vec<_>>(),
        // 2 is an error; 0 leaves the judgement to the reader.
        "status": {"code": if span.failed { 2 } else { 0 }},
    });
    if let Some(parent) = span.parent {
        shown["parentSpanId"] = parent.to_string().into();
    }
    shown
}

fn attribute(name: &str, value: &Value) -> Json {
    let value = match value {
        Value::Text(text) => json!({"stringValue": text}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::Flag(flag) => json!({"boolValue": flag}),
    };
    json!({"key": name, "value": value})
}

fn nanoseconds(began: SystemTime, after: Duration) -> String {
    (began.duration_since(UNIX_EPOCH).unwrap_or_default() + after).as_nanos().to_string()
}

/// Returns how many spans an answer of the collector rejects.
pub(super) fn rejected(answer: &[u8]) -> u64 {
    let Ok(answer) = serde_json::from_slice::<Json>(answer) else { return 0 };
    let count = &answer["partialSuccess"]["rejectedSpans"];
    count.as_u64().or_else(|| count.as_str()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::parent::{SpanId, TraceId};
    use crate::traces::span::{Attributes, Kind};

    #[test]
    fn a_span_in_json() {
        let mut attributes = Attributes::default();
        attributes.word("http.request.method", "GET");
        attributes.number("http.response.status_code", 502);
        attributes.flag("stc.complete", false);
        let (trace, id, parent) = (TraceId::random(), SpanId::random(), SpanId::random());
        let span = Span {
            trace,
            id,
            parent: Some(parent),
            flags: 1,
            kind: Kind::Server,
            name: "GET /\"".to_owned(),
            began: UNIX_EPOCH + Duration::from_secs(1_700_000_000),
            took: Duration::from_nanos(7),
            attributes,
            failed: true,
        };
        let sent: Json = serde_json::from_slice(&encode(&[span], "edge")).unwrap();
        let resource = &sent["resourceSpans"][0];
        assert_eq!(
            resource["resource"]["attributes"][0],
            json!({"key": "service.name", "value": {"stringValue": "edge"}})
        );
        assert_eq!(
            resource["scopeSpans"][0]["spans"][0],
            json!({
                "traceId": trace.to_string(), "spanId": id.to_string(), "parentSpanId": parent.to_string(), "flags": 1,
                "name": "GET /\"", "kind": 2, "status": {"code": 2},
                "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000000000000007",
                "attributes": [
                    {"key": "http.request.method", "value": {"stringValue": "GET"}},
                    {"key": "http.response.status_code", "value": {"intValue": "502"}},
                    {"key": "stc.complete", "value": {"boolValue": false}},
                ],
            })
        );
    }

    #[test]
    fn answers() {
        for (answer, expected) in [
            ("{}", 0),
            ("", 0),
            (r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"x"}}"#, 3),
            (r#"{"partialSuccess":{"rejectedSpans":4}}"#, 4),
            (r#"{"partialSuccess":null}"#, 0),
        ] {
            assert_eq!(rejected(answer.as_bytes()), expected, "{answer}");
        }
    }
}
