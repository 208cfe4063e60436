//! MCP through the layer: only texts change.

use crate::upstream::{Answer, Client, Got, ROWS, ROWS_STC};
use http::Method;
use serde_json::{Value, json};
use stc_layer::{Filter, McpPolicy, Policy, SkipTools, Structured, Verify};

const ASK: &[(&str, &str)] = &[("accept-encoding", "stc"), ("accept", "application/json, text/event-stream")];
const MARK: &str = r#""_meta":{"io.stoa/stc":{"format":"stc1"}}"#;

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn call(id: &str, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#)
}

fn client(mcp: McpPolicy) -> Client {
    let mut client = Client::new(Policy { mcp, verify: Verify::Always, ..Policy::default() });
    client.method = Method::POST;
    client.path = "/mcp";
    client.body = call("1", "list_rows");
    client
}

fn plain() -> Client {
    client(McpPolicy::default())
}

async fn ask(client: &Client, message: &str) -> Got {
    client.ask(ASK, Answer::json(message)).await
}

#[tokio::test]
async fn only_texts_that_are_json_change() {
    let rows = quoted(ROWS);
    let message = format!(
        r#" {{"x":1.0,"result" : {{ "content":[{{"type":"text","text":"hello"}}, {{"type":"image","data":"[{{}}]"}},
        {{"annotations":{{"p":1e2}}, "type" : "text", "text" : {rows} , "k":-0}}, {{"type":"resource","resource":{{"text":{rows}}}}}],
        "structuredContent":{{"b":1,"a":1}}}},"jsonrpc":"2.0","id":1}}
"#
    );
    let got = ask(&plain(), &message).await;
    let stc = quoted(ROWS_STC);
    let expected = message.replacen(&format!("\"text\" : {rows}"), &format!("\"text\" : {stc},{MARK}"), 1);
    let expected = expected.replacen(&format!("\"text\":{rows}"), &format!("\"text\":{stc},{MARK}"), 1);
    assert_eq!(got.text(), expected);
    assert_ne!(got.text(), message);
    assert_eq!(got.header("content-type"), "application/json");
    assert_eq!(got.header("content-encoding"), "");
    assert_eq!(got.header("content-length"), expected.len().to_string());
}

#[tokio::test]
async fn every_spelling_of_the_text_is_read() {
    let escaped: String = ROWS.chars().map(|letter| format!("\\u{:04X}", u32::from(letter))).collect();
    for text in [quoted(ROWS), format!("\"{escaped}\""), quoted(ROWS).replace('u', "\\u0075")] {
        let message = format!(r#"{{"id":1,"result":{{"content":[{{"typ\u0065":"te\u0078t","t\u0065xt":{text}}}]}}}}"#);
        let got = ask(&plain(), &message).await;
        assert_eq!(got.text(), message.replacen(&text, &format!("{},{MARK}", quoted(ROWS_STC)), 1));
    }
}

#[tokio::test]
async fn a_mark_is_added_to_existing_meta() {
    let mark = r#""io.stoa/stc":{"format":"stc1"}"#;
    for (meta, expected) in [
        ("{}", format!("{{{mark}}}")),
        (r#"{"a": [1]}"#, format!(r#"{{{mark},"a": [1]}}"#)),
        ("null", format!("{{{mark}}}")),
    ] {
        let message = |meta: &str, text: &str| {
            format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","_meta":{meta},"text":{}}}]}}}}"#, quoted(text))
        };
        let got = ask(&plain(), &message(meta, ROWS)).await;
        assert_eq!(got.text(), message(&expected, ROWS_STC), "{meta}");
    }
}

fn one_block(text: &str, more: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{}}}]{more}}}}}"#, quoted(text))
}

fn one_marked(text: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":{},{MARK}}}]{more}}}}}"#,
        quoted(text)
    )
}

#[tokio::test]
async fn what_is_sent_unchanged_and_why() {
    let marked = one_marked(ROWS, "");
    let twice = one_block(ROWS, "").replace(r#"{"type""#, r#"{"text":"x","type""#);
    let broken = one_block(ROWS, "").replace("]}}", "],}}");
    for (message, why) in [
        (one_block(ROWS, r#","isError":true"#), "excluded"),
        (one_block(ROWS, r#","resultType":"input_required""#), "excluded"),
        (one_block("[1, 2]", ""), "too-small"),
        (one_block(&ROWS.replace(']', ""), ""), "invalid"),
        (one_block(&format!("[\"{}\"]", "word ".repeat(50)), ""), "not-smaller"),
        (marked, "encoded"),
        (broken, "invalid"),
        (twice, ""),
        (one_block("just words, and then some more of them, so that it is not too small", ""), ""),
        (one_block(ROWS, "").replace("content", "contents"), ""),
        (one_block(ROWS, "").replace("result", "error"), ""),
        (one_block(ROWS, "").replace(r#""type":"text""#, r#""type":"image""#), ""),
        ("[]".to_owned() + &" ".repeat(200), ""),
        ("{\"id\":1}".to_owned() + &" ".repeat(200), ""),
    ] {
        let got = ask(&plain(), &message).await;
        assert_eq!(got.text(), message);
        assert_eq!(got.header("x-stc-skipped"), why, "{message}");
        assert_eq!(got.header("content-length"), message.len().to_string());
    }
}

#[tokio::test]
async fn is_error_by_policy() {
    let client = client(McpPolicy { errors: true, ..McpPolicy::default() });
    let got = ask(&client, &one_block(ROWS, r#","isError":true"#)).await;
    assert_eq!(got.text(), one_marked(ROWS_STC, r#","isError":true"#));
}

#[cfg(feature = "toon")]
#[tokio::test]
async fn toon_inside_a_message() {
    let asks = [("x-prefer-format", "toon"), ASK[1]];
    let got = plain().ask(&asks, Answer::json(one_block(ROWS, ""))).await;
    let toon = "[3]{id,name,method}:\n  1,users,GET\n  2,orders,POST\n  3,carts,GET";
    assert_eq!(got.text(), one_marked(toon, "").replace("stc1", "toon"));
}

#[tokio::test]
async fn a_batch_and_its_tools() {
    let mut client = plain();
    client.engine =
        stc_layer::Engine::new(Policy { tools: Filter::new([], ["secret_*"]).unwrap(), ..Policy::default() });
    client.body = format!("[{},{}]", call("1", "list"), call("\"1\"", "secret_list"));
    let (first, second) = (one_block(ROWS, ""), one_block(ROWS, "").replace("\"id\":1", "\"id\":\"1\""));
    let unknown = one_block(ROWS, "").replace("\"id\":1", "\"id\":9");
    let got = ask(&client, &format!("[ {first} , {second},{unknown}]")).await;
    assert_eq!(got.text(), format!("[ {} , {second},{unknown}]", one_marked(ROWS_STC, "")));
}

#[tokio::test]
async fn other_methods_pass_unchanged() {
    let mut client = plain();
    client.body = client.body.replace("tools/call", "prompts/get");
    let message = one_block(ROWS, "");
    assert_eq!(ask(&client, &message).await.text(), message);
}

fn blocks(texts: &[&str]) -> String {
    let blocks: Vec<_> = texts.iter().map(|text| format!(r#"{{"type":"text","text":{}}}"#, quoted(text))).collect();
    format!(r#"{{"id":1,"result":{{"content":[{}]}}}}"#, blocks.join(", "))
}

#[tokio::test]
async fn a_list_in_many_blocks_is_folded_unless_the_policy_says_no() {
    let texts = [("1", "users", "GET"), ("2", "orders", "POST"), ("3", "carts", "GET")].map(|(id, name, method)| {
        format!("{{\n  \"id\": {id},\n  \"name\": \"{name}\",\n  \"method\": \"{method}\"\n}}")
    });
    let message = blocks(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let folding = plain();
    let apart = client(McpPolicy { fold: false, ..McpPolicy::default() });
    let got = ask(&folding, &message).await;
    let block = format!(
        r#"{{"type":"text","text":{},"_meta":{{"io.stoa/stc":{{"format":"stc1","blocks":3}}}}}}"#,
        quoted(ROWS_STC)
    );
    assert_eq!(got.text(), format!(r#"{{"id":1,"result":{{"content":[{block}]}}}}"#));
    assert_eq!(ask(&apart, &message).await.text(), message);
    // A block that is not JSON, or has more members, prevents folding.
    for other in
        [blocks(&[&texts[0], &texts[1], "done"]), message.replacen("\"type\"", "\"annotations\":{},\"type\"", 1)]
    {
        assert_eq!(ask(&folding, &other).await.text(), other);
    }
}

#[tokio::test]
async fn structured_content_is_removed_only_beside_an_equal_text() {
    let strip = client(McpPolicy { structured: Structured::Strip, ..McpPolicy::default() });
    for (structured, goes) in [
        (format!(r#"{{"result":{ROWS}}}"#), true),
        (ROWS.replace(' ', ""), true),
        (ROWS.replace("orders", "other"), false),
        ("null".to_owned(), false),
    ] {
        let more = format!(r#", "structuredContent" : {structured}"#);
        let got = ask(&strip, &one_block(ROWS, &more)).await;
        assert_eq!(got.text(), one_marked(ROWS_STC, if goes { "" } else { &more }), "{structured}");
        assert_eq!(ask(&plain(), &one_block(ROWS, &more)).await.text(), one_marked(ROWS_STC, &more), "kept by default");
    }
    let unchanged = one_block("[1]", r#","structuredContent":{"result":[1]}"#);
    assert_eq!(ask(&strip, &unchanged).await.text(), unchanged);
}

#[tokio::test]
async fn output_schemas_are_removed_with_structured_content() {
    let mut strip = client(McpPolicy { structured: Structured::Strip, ..McpPolicy::default() });
    strip.body = r#"{"id":1,"method":"tools/list"}"#.to_owned();
    let list = r#"{"id":1,"result":{"tools":[{"name":"a","outputSchema":{"type":"object"},"inputSchema":{}}, {"name":"b","inputSchema":{"properties":{"outputSchema":{}}},"outputSchema":{}},{"name":"c"}]}}"#;
    let expected = list.replace(r#","outputSchema":{"type":"object"}"#, "").replace(r#","outputSchema":{}},"#, "},");
    assert_eq!(ask(&strip, list).await.text(), expected);
    let mut keep = plain();
    keep.body = strip.body.clone();
    assert_eq!(ask(&keep, list).await.text(), list);
}

#[tokio::test]
async fn the_policy_appends_the_legend_to_the_instructions() {
    let legend = stc_layer::mcp::legend(stc_layer::Format::Stc1).unwrap();
    for method in ["initialize", "server/discover"] {
        let mut explains = client(McpPolicy { legend: true, ..McpPolicy::default() });
        explains.body = format!(r#"{{"id":1,"method":"{method}","params":{{}}}}"#);
        for (before, after) in [
            (
                json!({"id": 1, "result": {"instructions": "Be \"kind\".", "serverInfo": {}}}),
                format!("Be \"kind\".\n\n{legend}"),
            ),
            (json!({"id": 1, "result": {"instructions": "", "serverInfo": {}}}), legend.to_owned()),
            (json!({"id": 1, "result": {"serverInfo": {"instructions": "x"}}}), legend.to_owned()),
            (json!({"id": 1, "result": {}}), legend.to_owned()),
        ] {
            let padded = before.to_string() + &" ".repeat(200);
            let got: Value = serde_json::from_slice(&ask(&explains, &padded).await.body).unwrap();
            let mut expected = before;
            expected["result"]["instructions"] = Value::from(after);
            assert_eq!(got, expected);
        }
    }
}

#[tokio::test]
async fn the_extension_in_the_body_is_a_preference() {
    let mut client = plain();
    let message = one_block(ROWS, "");
    let extended = |format: &str| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list", "_meta": {
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.stoa/stc": {"format": format}}}}}})
        .to_string()
    };
    let modern = [("mcp-method", "tools/call"), ("mcp-name", "list"), ("mcp-protocol-version", "2026-07-28")];
    assert_eq!(client.ask(&modern, Answer::json(message.as_str())).await.text(), message, "nothing asked");
    client.body = extended("stc1");
    assert_eq!(client.ask(&modern, Answer::json(message.as_str())).await.text(), one_marked(ROWS_STC, ""));
    client.body = extended("stc2");
    assert_ne!(client.ask(&modern, Answer::json(message.as_str())).await.text(), message);
    client.body = extended("json");
    assert_eq!(client.ask(&modern, Answer::json(message.as_str())).await.text(), message);
    // A refusal in a header has precedence.
    client.body = extended("stc1");
    let refusing = [modern[0], modern[1], modern[2], ("accept-encoding", "stc;q=0")];
    assert_eq!(client.ask(&refusing, Answer::json(message.as_str())).await.text(), message);
    // With the extension disabled the body is not read.
    client.engine = stc_layer::Engine::new(Policy {
        mcp: McpPolicy { extension: false, ..McpPolicy::default() },
        ..Policy::default()
    });
    assert_eq!(client.ask(&modern, Answer::json(message.as_str())).await.text(), message);
}

fn stream() -> (String, String) {
    let event = |message: &str| {
        format!(
            "id: 0\nretry: 500\ndata:\n\n: keep-alive\r\n\r\nevent: message\nid: 1\ndata: {{\"method\":\"notifications/progress\"}}\n\nevent: message\r\nid: 2\r\ndata: {message}\r\n\r\nevent: ping\ndata: {message}\n\ndata: tail"
        )
    };
    let (before, after) = (one_block(ROWS, ""), one_marked(ROWS_STC, ""));
    let changed = event(&before).replacen(&format!("data: {before}"), &format!("data: {after}"), 1);
    (event(&before), changed)
}

fn events(frames: Vec<Vec<u8>>) -> Answer {
    let mut answer =
        Answer::new("").with("content-type", "text/event-stream").with("cache-control", "no-cache, no-transform");
    answer.frames = frames;
    answer
}

#[tokio::test]
async fn a_stream_divided_anywhere_gives_the_same_bytes() {
    let (before, after) = stream();
    let client = plain();
    for cut in 0..before.len() {
        let (left, right) = before.as_bytes().split_at(cut);
        assert_eq!(client.ask(ASK, events(vec![left.to_vec(), right.to_vec()])).await.text(), after, "{cut}");
    }
    let bytes = before.bytes().map(|byte| vec![byte]).collect();
    assert_eq!(client.ask(ASK, events(bytes)).await.text(), after);
}

#[tokio::test]
async fn a_stream_reserves_room_while_it_holds_part_of_an_event() {
    let (before, after) = stream();
    let policy = Policy { max_held: 1, ..Policy::default() };
    let client = Client { method: Method::POST, body: call("1", "list"), ..Client::new(policy) };
    let taken = client.engine.hold().expect("one place");
    for cut in 1..before.len() {
        let (left, right) = before.as_bytes().split_at(cut);
        let got = client.ask(ASK, events(vec![left.to_vec(), right.to_vec()])).await;
        assert!([&before, &after].contains(&&got.text().to_owned()), "{cut}: one or the other, never a mixture");
    }
    let cut = before.find("method\\\": ").expect("inside the rows");
    let halves = || events(vec![before.as_bytes()[..cut].to_vec(), before.as_bytes()[cut..].to_vec()]);
    assert_eq!(client.ask(ASK, halves()).await.text(), before, "no place: as it was");
    let whole = events(vec![before.clone().into_bytes()]);
    assert_eq!(client.ask(ASK, whole).await.text(), after, "nothing to hold, no place needed");
    drop(taken);
    assert_eq!(client.ask(ASK, halves()).await.text(), after);
    assert!(client.engine.hold().is_some(), "and the place came back");
}

#[tokio::test]
async fn streams_that_end_early_and_streams_without_a_preference() {
    let (before, after) = stream();
    let client = plain();
    let mut broken = events(vec![before.clone().into_bytes()]);
    broken.breaks = true;
    let got = client.ask(ASK, broken).await;
    assert!(got.broken);
    assert_eq!(got.text(), after, "everything that had come, and then the error");
    let not_asked = client.ask(&ASK[1..], events(vec![before.clone().into_bytes()])).await;
    assert_eq!(not_asked.text(), before);
}

#[tokio::test]
async fn each_event_is_sent_when_it_is_complete() {
    use http_body_util::BodyExt;
    use tower::{Layer, ServiceExt};
    let (send, receive) = tokio::sync::mpsc::channel::<Vec<u8>>(8);
    let receive = std::sync::Mutex::new(Some(receive));
    let service = tower::service_fn(move |_: http::Request<_>| {
        let body = Channel(receive.lock().unwrap().take().unwrap());
        let response = http::Response::builder().header("content-type", "text/event-stream").body(body);
        async move { Ok::<_, std::convert::Infallible>(response.unwrap()) }
    });
    let mut request = http::Request::post("/mcp");
    for (name, value) in ASK {
        request = request.header(*name, *value);
    }
    let request = request.body(http_body_util::Empty::<bytes::Bytes>::new()).unwrap();
    // Nobody reads the request, so the tool is not known.
    let policy = Policy { skip_tools: SkipTools::new([]).unwrap(), ..Policy::default() };
    let mut body = stc_layer::TransformLayer::new(policy).layer(service).oneshot(request).await.unwrap().into_body();
    for (sent, expected) in [
        (": alive\n".to_owned(), ": alive\n".to_owned()),
        (format!("data: {}\n\n", one_block(ROWS, "")), format!("data: {}\n\n", one_marked(ROWS_STC, ""))),
        ("data: {}\n\ndata: {".to_owned(), "data: {}\n\n".to_owned()),
    ] {
        send.send(sent.into_bytes()).await.unwrap();
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), expected, "before anything else was sent");
    }
}

/// A body that ends when its channel closes.
struct Channel(tokio::sync::mpsc::Receiver<Vec<u8>>);

impl http_body::Body for Channel {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|frame| frame.map(|frame| Ok(http_body::Frame::data(frame.into()))))
    }
}

/// What a tool reads from files, edits or writes is copied into the next edit, so it stays; so do results of unknown tools.
#[tokio::test]
async fn tools_of_files_stay() {
    let message = one_block(ROWS, "");
    let mut client = plain();
    for tool in ["read_text_file", "fs__read_file", "edit_file", "write_file", "memory", "str_replace_based_edit_tool"]
    {
        client.body = call("1", tool);
        let got = ask(&client, &message).await;
        assert_eq!((got.text(), got.header("x-stc-skipped")), (message.as_str(), "excluded"), "{tool}");
    }
    // The answer to no call that is known, to one whose name is ambiguous, and to two calls of one id.
    let twice = call("1", "list").replace(r#""name":"list""#, r#""name":"list","name":"list""#);
    for body in [call("2", "list"), String::new(), twice, format!("[{},{}]", call("1", "list"), call("1", "read_file"))]
    {
        client.body = body;
        assert_eq!(ask(&client, &message).await.text(), message, "{}", client.body);
    }
    let strips = McpPolicy { structured: Structured::Strip, ..McpPolicy::default() };
    for (skip, tool, stays) in
        [(vec![], "read_file", false), (vec!["list_*"], "list_rows", true), (vec!["edit"], "read_file", false)]
    {
        let policy = Policy { skip_tools: SkipTools::new(skip).unwrap(), mcp: strips, ..Policy::default() };
        client.engine = stc_layer::Engine::new(policy);
        client.body = call("1", tool);
        assert_eq!(ask(&client, &message).await.text() == message, stays, "{tool}");
        client.body = r#"{"id":1,"method":"tools/list"}"#.to_owned();
        let list = format!(
            r#"{{"id":1,"result":{{"tools":[{{"name":"{tool}","outputSchema":{{"type":"object"}}}}]}}}}{}"#,
            " ".repeat(99)
        );
        assert_eq!(
            ask(&client, &list).await.text() == list,
            stays,
            "a schema goes where results lose what it describes"
        );
    }
}

/// Files that are read as resources stay; other resources do not.
#[tokio::test]
async fn resources_that_are_files_stay() {
    let mut client = plain();
    client.body = r#"{"id":1,"method":"resources/read","params":{}}"#.to_owned();
    for (uri, stays) in [("file:///rows.json", true), ("FILE:/rows", true), ("db://rows", false), ("", false)] {
        let text = quoted(ROWS);
        let message = format!(
            r#"{{"id":1,"result":{{"contents":[{{"uri":"{uri}","mimeType":"application/json","text":{text}}}]}}}}"#
        );
        assert_eq!(ask(&client, &message).await.text() == message, stays, "{uri}");
    }
}

/// A call or a result that says that a program is the caller.
#[tokio::test]
async fn results_that_programs_read_stay() {
    let message = one_block(ROWS, "");
    let mut client = plain();
    let usual = call("1", "list");
    for (marked, stays) in [
        (r#""caller":{"type":"code_execution_20250825","tool_id":"s"},"#, true),
        (r#""caller":{"type":"program"},"#, true),
        (r#""_meta":{"caller":{"type":"program"}},"#, true),
        (r#""_meta":{"example.com/caller":{"type":"program"}},"#, true),
        (r#""caller":{"type":"direct"},"caller":{"type":"program"},"#, true),
        (r#""caller":{"type":"direct"},"#, false),
        (r#""_meta":{"progressToken":1},"#, false),
    ] {
        client.body = usual.replace(r#""params":{"#, &format!(r#""params":{{{marked}"#));
        assert_eq!(ask(&client, &message).await.text() == message, stays, "{marked}");
        client.body.clone_from(&usual);
        let message = message.replace(r#""result":{"#, &format!(r#""result":{{{marked}"#));
        assert_eq!(ask(&client, &message).await.text() == message, stays, "{marked}");
    }
}
