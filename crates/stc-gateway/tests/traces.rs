//! Traces: what a collector receives, and what a request notices of a collector that fails.

use crate::gateway::{Gateway, answers, get, head, json_upstream, send, to, upstream};
use crate::protocols::certify;
use crate::proxying::echo;
use crate::rows::{ROWS, ROWS_STC};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc;
use std::time::Duration;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector, which keeps the head and the body of what it receives.
struct Collector {
    address: SocketAddr,
    received: mpsc::Receiver<(String, Value)>,
}

impl Collector {
    /// Starts a collector that answers with this status line and body.
    fn answering(status: &'static str, answer: &'static str) -> Self {
        let (send, received) = mpsc::channel();
        let address = upstream(move |mut socket| {
            loop {
                let seen = head(&mut socket).to_lowercase();
                let Some(length) = seen.split("content-length: ").nth(1) else { return };
                let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
                socket.read_exact(&mut body).unwrap();
                let _ = send.send((seen, serde_json::from_slice(&body).unwrap()));
                let length = answer.len();
                let _ = write!(socket, "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{answer}");
            }
        });
        Self { address, received }
    }

    fn start() -> Self {
        Self::answering("200 OK", "{}")
    }

    /// Waits for this many spans, sorted by kind: client spans are last.
    fn spans(&self, count: usize) -> Vec<Value> {
        let mut spans = Vec::new();
        while spans.len() < count {
            let (_, body) = self.received.recv_timeout(Duration::from_secs(20)).expect("spans");
            spans.extend(body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().iter().cloned());
        }
        assert_eq!(spans.len(), count, "{spans:?}");
        spans.sort_by_key(|span| span["kind"].as_u64());
        spans
    }
}

fn traced(collector: SocketAddr, more: &str) -> String {
    format!("[traces]\nendpoint = \"http://{collector}\"\ninterval = 0.05\n{more}")
}

/// Returns the text of an attribute, whatever its type.
fn attribute(span: &Value, name: &str) -> Option<String> {
    let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == name)?;
    let (_, value) = found["value"].as_object().unwrap().iter().next().unwrap();
    Some(value.as_str().map_or_else(|| value.to_string(), String::from))
}

fn assert_attributes(span: &Value, expected: &[(&str, &str)]) {
    for (name, value) in expected {
        assert_eq!(attribute(span, name).as_deref(), Some(*value), "{name}: {span:#}");
    }
}

/// Returns the `traceparent` that the echo of a request shows.
fn parent_of(seen: &str) -> Vec<String> {
    let line = seen.split("traceparent: ").nth(1).unwrap_or_else(|| panic!("{seen}")).lines().next().unwrap();
    line.split('-').map(String::from).collect()
}

#[test]
fn a_sampled_parent_is_honoured() {
    let collector = Collector::start();
    let upstream = echo();
    let config = traced(collector.address, "sample = 0\nservice_name = \"edge\"\nheaders_env = \"STC_TEST_HEADERS\"\n");
    let gateway = Gateway::start(&to(upstream, &config));
    let parent = format!("traceparent: 00-{TRACE}-{PARENT}-01\r\ntracestate: a=b\r\nx-request-id: one\r\n");
    let (_, seen) = get(gateway.traffic, "/a/b?secret=1", &parent);
    let (head, body) = collector.received.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(head.starts_with("post /v1/traces http/1.1") && head.contains("content-type: application/json"), "{head}");
    assert!(head.contains("api-key: k,ey"), "{head}");
    let resource = &body["resourceSpans"][0];
    assert_eq!(attribute(&resource["resource"], "service.name").as_deref(), Some("edge"));
    assert_eq!(resource["scopeSpans"][0]["scope"]["name"], "stc-gateway");
    let mut spans = resource["scopeSpans"][0]["spans"].as_array().unwrap().clone();
    if spans.len() < 2 {
        spans.extend(collector.spans(1));
    }
    spans.sort_by_key(|span| span["kind"].as_u64());
    let [server, client] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((&server["kind"], &client["kind"]), (&2.into(), &3.into()));
    for span in &spans {
        assert_eq!((&span["traceId"], &span["flags"], &span["status"]["code"]), (&TRACE.into(), &1.into(), &0.into()));
        let id = span["spanId"].as_str().unwrap();
        assert!(id.len() == 16 && id.bytes().all(|digit| digit.is_ascii_hexdigit()) && id != PARENT, "{id}");
        let time = |name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
    }
    assert_eq!((&server["parentSpanId"], &client["parentSpanId"]), (&PARENT.into(), &server["spanId"]));
    assert_eq!((&server["name"], &client["name"]), (&"GET /".into(), &"GET".into()));
    assert_attributes(
        server,
        &[
            ("http.request.method", "GET"),
            ("url.path", "/a/b"),
            ("url.scheme", "http"),
            ("server.address", "h"),
            ("http.route", "/"),
            ("http.response.status_code", "200"),
            ("network.protocol.version", "1.1"),
            ("stc.request_id", "one"),
            ("stc.complete", "true"),
        ],
    );
    let port = upstream.port().to_string();
    assert_attributes(
        client,
        &[
            ("http.request.method", "GET"),
            ("server.address", "127.0.0.1"),
            ("server.port", &port),
            ("url.full", &format!("http://{upstream}/a/b")),
            ("http.response.status_code", "200"),
        ],
    );
    let sent = parent_of(&seen);
    assert_eq!(
        sent,
        ["00", TRACE, client["spanId"].as_str().unwrap(), "01"],
        "the upstream's parent is the client span"
    );
    assert!(seen.contains("tracestate: a=b\r\n"), "{seen}");
    assert!(!format!("{spans:?}").contains("secret"));
    gateway.comes_to("stc_sent_spans_total", 2);
}

#[test]
fn requests_without_a_sampled_parent() {
    let collector = Collector::start();
    let none = Gateway::start(&to(echo(), &traced(collector.address, "sample = 0\n")));
    // A trace that is not sampled passes as it came.
    let parent = format!("traceparent: 00-{TRACE}-{PARENT}-00\r\ntracestate: a=b\r\n");
    assert!(get(none.traffic, "/", &parent).1.contains(&parent));
    // The upstream is told the decision about a request without a trace.
    let (_, seen) = get(none.traffic, "/", "tracestate: a=b\r\n");
    assert!(parent_of(&seen)[3] == "00" && !seen.contains("tracestate"), "{seen}");
    let all = Gateway::start(&to(echo(), &traced(collector.address, "")));
    assert!(get(all.traffic, "/", &parent).1.contains(&parent));
    let sent = parent_of(&get(all.traffic, "/", "traceparent: nonsense\r\n").1);
    // Of four requests, one has spans.
    let spans = collector.spans(2);
    assert_eq!((spans[0]["traceId"].as_str(), spans[0].get("parentSpanId")), (Some(sent[1].as_str()), None));
    assert_eq!((spans[1]["spanId"].as_str(), sent[3].as_str()), (Some(sent[2].as_str()), "01"));
    let line: Value = serde_json::from_str(&all.says(&sent[1])).unwrap();
    assert_eq!(line["target"], "access", "the log has the trace too: {line}");
    for gateway in [none, all] {
        gateway.signal("-TERM");
        gateway.rest();
    }
    assert!(collector.received.try_recv().is_err());
}

#[test]
fn conversions_and_failures_in_spans() {
    let collector = Collector::start();
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let broken = answers("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n[1,");
    let routes = format!(
        "[[routes]]\npath = \"/refused\"\nupstream = \"http://{refused}\"\n[[routes]]\npath = \"/broken\"\nupstream = \"http://{broken}\"\n"
    );
    // Without a log there are spans too.
    let config = format!("log = \"off\"\n{}", to(json_upstream(), &(traced(collector.address, "") + &routes)));
    let gateway = Gateway::start(&config);
    assert_eq!(get(gateway.traffic, "/rows", "accept-encoding: stc\r\n").1, ROWS_STC);
    let spans = collector.spans(2);
    let saved = (ROWS.len() - ROWS_STC.len()).to_string();
    let sizes =
        (ROWS_STC.len().to_string(), stc::estimate_tokens(ROWS.as_bytes()), stc::estimate_tokens(ROWS_STC.as_bytes()));
    let tokens = (sizes.1 - sizes.2).to_string();
    assert_attributes(
        &spans[0],
        &[
            ("stc.format", "stc1"),
            ("stc.bytes_saved", &saved),
            ("stc.estimated_tokens_saved", &tokens),
            ("http.response.body.size", &sizes.0),
        ],
    );
    assert!(!format!("{spans:?}").contains("orders"), "nothing of a body");
    get(gateway.traffic, "/rows", "accept-encoding: stc\r\ncache-control: no-transform\r\n");
    let spans = collector.spans(2);
    assert_attributes(&spans[0], &[("stc.skipped", "no-transform")]);
    assert_eq!((attribute(&spans[0], "stc.format"), attribute(&spans[0], "stc.bytes_saved")), (None, None));
    for (path, status, cause) in [("/refused", "502", "refused"), ("/broken", "200", "broken")] {
        get(gateway.traffic, path, "");
        let spans = collector.spans(2);
        for span in &spans {
            assert_attributes(span, &[("error.type", cause)]);
            assert_eq!(span["status"]["code"], 2, "{span:#}");
        }
        assert_attributes(&spans[0], &[("http.route", path), ("http.response.status_code", status)]);
    }
    // The gateway's own answer has no call of an upstream.
    send(gateway.traffic, "GET / HTTP/1.1\r\nconnection: close\r\n\r\n");
    let spans = collector.spans(1);
    assert_attributes(&spans[0], &[("http.response.status_code", "400"), ("server.address", "")]);
    assert_eq!(spans[0]["status"]["code"], 0);
}

/// A collector that is down delays and fails no request; the state is logged when it changes, and lost spans are counted.
#[test]
fn a_collector_that_is_down() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let gateway = Gateway::start(&to(json_upstream(), &traced(address, "queue = 4\n")));
    get(gateway.traffic, "/", "");
    let line: Value = serde_json::from_str(&gateway.says("the collector fails")).unwrap();
    assert_eq!(
        (&line["target"], &line["collector"]),
        (&"traces".into(), &format!("http://{address}/v1/traces").into())
    );
    assert!(line["why"].as_str().unwrap().contains("refused"), "{line}");
    for _ in 0..20 {
        assert!(get(gateway.traffic, "/", "").0.starts_with("http/1.1 200"));
    }
    assert!(gateway.metric("stc_dropped_spans_total{reason=\"queue-full\"}") > 0);
    // In the end all are dropped, for one reason or the other.
    let dropped = || {
        let count = |reason: &str| gateway.metric(&format!("stc_dropped_spans_total{{reason=\"{reason}\"}}"));
        count("queue-full") + count("failed")
    };
    for _ in 0..600 {
        if dropped() == 42 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!((dropped(), gateway.metric("stc_sent_spans_total")), (42, 0));
    gateway.signal("-TERM");
    let rest = gateway.rest();
    assert!(!rest.contains("the collector fails"), "said once: {rest}");
}

#[test]
fn a_collector_that_comes_back_and_one_that_rejects() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let gateway = Gateway::start(&to(json_upstream(), &traced(address, "")));
    get(gateway.traffic, "/", "");
    gateway.says("the collector fails");
    let back = TcpListener::bind(address).unwrap();
    let (mut socket, _) = back.accept().unwrap();
    assert!(head(&mut socket).starts_with("POST /v1/traces"));
    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").unwrap();
    gateway.says("the collector accepts spans again");
    gateway.comes_to("stc_sent_spans_total", 2);
    for (status, answer, sent, rejected) in
        [("400 Bad Request", "{}", 0, 2), ("200 OK", r#"{"partialSuccess":{"rejectedSpans":"1"}}"#, 1, 1)]
    {
        let collector = Collector::answering(status, answer);
        let gateway = Gateway::start(&to(
            json_upstream(),
            &traced(collector.address, "interval = 1\n").replacen("interval = 0.05\n", "", 1),
        ));
        get(gateway.traffic, "/", "");
        gateway.comes_to("stc_dropped_spans_total{reason=\"rejected\"}", rejected);
        assert_eq!(gateway.metric("stc_sent_spans_total"), sent);
    }
}

/// Spans that wait when the program ends are sent; and nothing is sent without `[traces]`.
#[test]
fn the_last_spans_and_no_spans() {
    let collector = Collector::start();
    let config = format!("[traces]\nendpoint = \"http://{}/base\"\ninterval = 3600\n", collector.address);
    let gateway = Gateway::start(&to(json_upstream(), &config));
    get(gateway.traffic, "/", "");
    gateway.signal("-TERM");
    let (head, body) = collector.received.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(head.starts_with("post /base/v1/traces"), "{head}");
    assert_eq!(body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().len(), 2);
    let gateway = Gateway::start(&to(echo(), ""));
    assert!(!get(gateway.traffic, "/", "").1.contains("traceparent"));
    assert_eq!(gateway.metric("stc_sent_spans_total"), 0);
    gateway.signal("-TERM");
    gateway.rest();
    assert!(collector.received.try_recv().is_err());
}

/// A collector over TLS: another gateway, before the plain one.
#[test]
fn a_collector_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let collector = Collector::start();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let tls = format!("[tls]\ncertificate = \"{}\"\nkey = \"{}\"\n", path("cert.pem"), path("key.pem"));
    let secure = Gateway::start(&to(collector.address, &tls));
    let config = format!("[traces]\nendpoint = \"https://localhost:{}\"\ninterval = 0.05\n", secure.traffic.port());
    let gateway = Gateway::start_trusting(&to(json_upstream(), &config), &folder.path().join("cert.pem"));
    get(gateway.traffic, "/", "");
    assert_eq!(collector.spans(2)[0]["name"], "GET /");
}

#[test]
fn check_config_knows_traces() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        let path = folder.path().join("c.toml");
        std::fs::write(&path, format!("upstream = \"http://a\"\n[traces]\n{text}")).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
        let output = command.arg("check-config").arg(path).env("STC_TEST_HEADERS", "secret").output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (good, said) = check("endpoint = \"http://collector:4318\"\nsample = 0.5\n");
    assert!(good, "{said}");
    let endpoint = "endpoint = \"http://a\"\n";
    for (wrong, expected) in [
        ("sample = 1\n".to_owned(), "missing field `endpoint`"),
        ("endpoint = \"collector:4318\"\n".to_owned(), "c.toml:3:12: "),
        ("endpoint = \"http://a/v1/traces\"\n".to_owned(), "c.toml:3:12: "),
        (format!("{endpoint}sample = 1.5\n"), "c.toml:4:10: "),
        (format!("{endpoint}sample = nan\n"), "c.toml:4:10: "),
        (format!("{endpoint}queue = 0\n"), "c.toml:4:9: "),
        (format!("{endpoint}interval = 0\n"), "c.toml:4:12: "),
        (format!("{endpoint}service_name = \"\"\n"), "c.toml:4:16: "),
        (format!("{endpoint}ratio = 1\n"), "unknown field `ratio`"),
        (format!("{endpoint}headers_env = \"STC_NO_SUCH\"\n"), "STC_NO_SUCH is not set"),
        (format!("{endpoint}headers_env = \"STC_TEST_HEADERS\"\n"), "is not a list"),
    ] {
        let (good, said) = check(&wrong);
        assert!(!good && said.contains(expected) && !said.contains("secret"), "{wrong}: {said}");
    }
}
