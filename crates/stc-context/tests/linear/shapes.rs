//! Adversarial shapes: each a function of a size, whose text has about as many bytes.

/// A shape and its name.
pub(super) type Shape = (&'static str, fn(usize) -> String);

fn repeated(unit: &str, size: usize) -> String {
    unit.repeat(size / unit.len() + 1)
}

/// Repeats what `make` makes of its number, until there are `size` bytes.
fn numbered(size: usize, make: impl Fn(usize) -> String) -> String {
    let mut out = String::with_capacity(size + 100);
    let mut number = 0;
    while out.len() < size {
        out.push_str(&make(number));
        number += 1;
    }
    out
}

/// Three lines that a fold makes one, after two of the same as that one, and so on: each round makes work for the next.
fn ladder(size: usize) -> String {
    let mut out = String::from("a longer line\na longer line\na longer line\n");
    let mut marks = String::new();
    while out.len() < size {
        marks.push_str("[×3] ");
        out.insert_str(0, &format!("{marks}a longer line\n").repeat(2));
    }
    out
}

/// A word of which each prefix repeats, in many lengths.
fn fibonacci(size: usize) -> String {
    let (mut one, mut two) = ("b".to_owned(), "a".to_owned());
    while two.len() < size {
        (one, two) = (two.clone(), two + &one);
    }
    two.truncate(size);
    two
}

/// A list whose values stand for a long one: STC 2 with references.
fn references(size: usize) -> String {
    let long = "x".repeat(size / 4);
    let rows = numbered(size / 2, |number| format!("{number},&1 / "));
    format!("[9999]{{a,b}}: &1={long},{rows}")
}

/// Texts of tools.
pub(super) const TEXTS: &[Shape] = &[
    ("blank lines", |n| repeated("\n", n)),
    ("blank lines with blanks", |n| repeated(" \n", n)),
    ("blank lines, CRLF", |n| repeated("\r\n", n)),
    ("carriage returns", |n| repeated("x\r", n) + "\n"),
    ("one line again and again", |n| repeated("a\n", n)),
    ("a cycle of two lines", |n| repeated("a\nb\n", n)),
    ("a cycle of four lines", |n| repeated("a\nb\n\nd\n", n)),
    ("a cycle of five lines", |n| repeated("a\nb\nc\nd\ne\n", n)),
    ("each line twice", |n| numbered(n, |i| format!("{i}\n{i}\n"))),
    ("each line three times", |n| numbered(n, |i| format!("line {i}\n").repeat(3))),
    ("folds of folds", ladder),
    ("long lines that differ at their ends", |n| numbered(n, |i| format!("{}{}\n", "x".repeat(n / 16), i % 3))),
    ("an x and hex digits", |n| "x".to_owned() + &"a".repeat(n)),
    ("an x and digits", |n| "x".to_owned() + &"1".repeat(n)),
    ("a hex number", |n| "0x".to_owned() + &"a".repeat(n)),
    ("many hex numbers", |n| repeated("0xa ", n)),
    ("digits and points", |n| "_".to_owned() + &"1.".repeat(n / 2)),
    ("digits and colons", |n| repeated("12:", n)),
    ("digits and commas", |n| repeated("1,", n)),
    ("addresses", |n| repeated("10.0.0.1:", n)),
    ("ids with bars", |n| repeated("deadbeef-", n)),
    ("groups of an id", |n| repeated("deadbeef-1234-", n)),
    ("times", |n| repeated("10:00:01.", n)),
    ("dates", |n| repeated("2026-11-18T", n)),
    ("single digits", |n| repeated("1 ", n)),
    ("durations", |n| repeated("1.5s", n)),
    ("a log", |n| numbered(n, |i| format!("10:00:{:02}.{:03} poll in {i}ms\n", i / 1000 % 60, i % 1000))),
    ("blanks", |n| "a".to_owned() + &" ".repeat(n) + "b"),
    ("tabs", |n| repeated("\t", n)),
    ("blanks at line ends", |n| repeated("a   \n", n)),
    ("columns", |n| repeated("aa   bb   cc\n", n)),
    ("bars", |n| repeated("|", n)),
    ("a table with bars", |n| repeated("| aa  | bb  |\n", n)),
    ("two bars and one", |n| repeated("a || b  |\n| c |\n", n)),
    ("rules of a table", |n| repeated("---+---\n", n)),
    ("fences", |n| repeated("```\na   b\n", n)),
    ("escapes", |n| repeated("\u{1b}", n)),
    ("control sequences without an end", |n| repeated("\u{1b}[", n)),
    ("one control sequence without an end", |n| "\u{1b}[".to_owned() + &"0;".repeat(n / 2)),
    ("control sequences and parameters", |n| repeated("\u{1b}[0;1", n)),
    ("intermediate bytes", |n| repeated("\u{1b}(((", n)),
    ("strings without an end", |n| repeated("\u{1b}]", n)),
    ("strings of one character", |n| repeated("\u{9d}", n)),
    ("strings that end by one character", |n| repeated("\u{9d}x\u{9c}", n)),
    ("strings that end by a bell", |n| repeated("\u{1b}Px\u{7}", n)),
    ("sequences of one character", |n| repeated("\u{9b}", n)),
    ("the lead of a control character", |n| repeated("\u{b0}", n)),
    ("folders", |n| repeated("a/", n)),
    ("files of one folder", |n| numbered(n, |i| format!("src/{i}\n"))),
    ("files of two folders in turn", |n| repeated("a/x\na/y\nb/x\nb/y\n", n)),
    ("generated folders", |n| repeated("node_modules/a\n", n)),
    ("generated folders, one file each", |n| numbered(n, |i| format!("{i}/target/a\n"))),
    ("one long path", |n| repeated("target/", n)),
    ("lines of one file", |n| numbered(n, |i| format!("a.rs:{i}:x\n"))),
    ("lines of two files in turn", |n| repeated("a.rs:1:x\nb.rs:1:x\n", n)),
    ("colons", |n| repeated("a:", n)),
    ("heads of diffs", |n| repeated("diff --git a/a b/a\n", n)),
    ("ids of blobs", |n| repeated("index 83db48f..bf2a0c1 100644\n", n)),
    ("commits", |n| repeated("commit 0123456789abcdef0123456789abcdef01234567\n", n)),
    ("hints", |n| repeated("hint: a\n  (use \"git a\")\n", n)),
    ("lines of errors", |n| repeated("error: a\n", n)),
    ("errors in one line", |n| repeated("error: ", n)),
    ("parts of the words of errors", |n| repeated("Traceback (most recent cal", n)),
    ("warnings", |n| repeated("warning: a\n  b\n", n)),
    ("lines left out", |n| repeated("[1 lines left out]\na\n", n)),
    ("progress", |n| numbered(n, |i| format!("   Compiling a{i} v1.0.0\n"))),
    ("almost progress", |n| repeated(&("Compiling ".to_owned() + &"1".repeat(480) + "\n"), n)),
    ("almost passed", |n| repeated(&("test ".to_owned() + &"a ".repeat(230) + "... o\n"), n)),
    ("points and blanks", |n| repeated(&("..... ".repeat(80) + "%\n"), n)),
    ("digits to a percent", |n| repeated(&("1 ".repeat(250) + "%\n"), n)),
    ("points", |n| repeated(".", n)),
    ("objects", |n| repeated("{", n)),
    ("arrays", |n| repeated("[", n)),
    ("objects in arrays", |n| repeated("[{", n)),
    ("arrays that are closed", |n| repeated("[", n / 2) + &repeated("]", n / 2)),
    ("members", |n| repeated("{\"a\":", n)),
    ("rows", |n| format!("[{}0]", numbered(n, |i| format!("{{\"a\":{i},\"b\":\"x\"}},")))),
    ("keys that repeat", |n| format!("{{{}\"a\":0}}", repeated("\"a\":1,", n))),
    ("keys that differ", |n| format!("[{}0]", numbered(n, |i| format!("{{\"k{i}\":1}},")))),
    ("quotes", |n| repeated("\"", n)),
    ("backslashes", |n| repeated("\\", n)),
    ("escapes by number", |n| repeated("\\u0041", n)),
    ("half escapes", |n| repeated("\\ud800", n)),
    ("an open string", |n| "[\"".to_owned() + &"a".repeat(n)),
    ("the counts of STC", |n| repeated("[9]{a}: ", n)),
    ("references of STC", references),
    ("words that differ", |n| numbered(n, |i| format!("word{i} "))),
    ("a word of Fibonacci", fibonacci),
    ("a bit sequence", |n| (0..n).map(|i| if i.count_ones() % 2 == 0 { 'a' } else { 'b' }).collect()),
    ("a passage of many words", |n| numbered(n, |i| format!("alpha{} beta{} ", i % 61, i % 67))),
    ("markers", |n| repeated("«1»", n)),
    ("a dictionary", |n| {
        let list = numbered(n / 2, |i| format!("«{}»={i}\n", i + 1));
        let header = "[Repeated passages are written once: in the text after this list, ";
        format!(
            "{header}«1» stands for what follows «1»= in it. «» ends the list.]\n{list}«»\n{}",
            repeated("«1»", n / 2)
        )
    }),
    ("a word of secrets", |n| repeated("password=", n)),
    ("half keys", |n| repeated("-----BEGIN RSA PRIVATE KEY-----\n", n)),
    ("half tokens", |n| repeated("eyJhbGciOi.", n)),
    ("keys of clouds", |n| repeated("AKIA", n)),
    ("other characters", |n| repeated("é", n)),
    ("zeros", |n| repeated("\0", n)),
    ("lost characters", |n| repeated("\u{fffd}", n)),
    ("commands in order", |n| repeated("cd a && ", n)),
    ("shells in shells", |n| repeated("bash -lc '", n)),
    ("pipes", |n| repeated("cat|", n)),
    ("runners", |n| repeated("env timeout 5 ", n)),
    ("variables", |n| repeated("A=1 ", n)),
    ("data of events", |n| repeated("data: x\n", n) + "\n"),
    ("empty data", |n| repeated("data\n\n", n)),
    ("names of events", |n| repeated("event: x\ndata: {}\r\r", n)),
    ("marks of events", |n| repeated("\u{feff}data:\n", n)),
];

/// Returns a text as JSON.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn anthropic(calls: &str, results: &str) -> String {
    format!(
        r#"{{"messages":[{{"role":"assistant","content":[{calls}]}},{{"role":"user","content":[{results}{{"type":"text","text":""}}]}}]}}"#
    )
}

/// Makes results of one call.
fn results_of_one(name: &str, command: &str, size: usize) -> String {
    let call =
        format!(r#"{{"type":"tool_use","id":"t","name":{},"input":{{"command":{}}}}}"#, quoted(name), quoted(command));
    let result = format!(r#"{{"type":"tool_result","tool_use_id":"t","content":"{}"}},"#, "x ".repeat(30));
    anthropic(&call, &repeated(&result, size))
}

fn schema(schema: &str) -> String {
    let call = r#"{"type":"tool_result","tool_use_id":"t","content":"x"}"#;
    format!(
        r#"{{"messages":[{{"role":"user","content":[{call}]}}],"tools":[{{"name":"x","description":"a  b","input_schema":{schema}}}]}}"#
    )
}

fn chat(messages: &str) -> String {
    format!(r#"{{"messages":[{messages}{{"role":"user","content":"x"}}]}}"#)
}

/// Makes a request with one result after these members.
fn of_model(members: &str) -> String {
    let rows = quoted(&format!("[{}0]", "{\"a\":1,\"b\":\"open\"},".repeat(90)));
    let result = format!(r#"{{"type":"tool_result","tool_use_id":"t","content":{rows}}},"#);
    let request = anthropic(r#"{"type":"tool_use","id":"t","name":"a","input":{}}"#, &result);
    format!("{{{members}{}", &request[1..])
}

/// Requests to models.
pub(super) const REQUESTS: &[Shape] = &[
    ("many results of a long command", |n| results_of_one("bash", &repeated("cd a && ", n / 2), n / 2)),
    ("many results of a long name", |n| results_of_one(&repeated("a__", n / 2), "ls", n / 2)),
    ("many results of a name with escapes", |n| results_of_one(&repeated("\u{1}\"", n / 10), "ls", n / 2)),
    ("a command in words", |n| {
        let call = format!(
            r#"{{"type":"tool_use","id":"t","name":"bash","input":{{"cmd":[{}""]}}}}"#,
            repeated("\"a\",", n / 2)
        );
        anthropic(&call, &repeated(r#"{"type":"tool_result","tool_use_id":"t","content":"x"},"#, n / 2))
    }),
    ("calls and results", |n| {
        let call = |i: usize| format!(r#"{{"type":"tool_use","id":"{i}","name":"bash","input":{{"command":"ls"}}}},"#);
        let result = |i: usize| format!(r#"{{"type":"tool_result","tool_use_id":"{i}","content":"x"}},"#);
        anthropic(numbered(n / 2, call).trim_end_matches(','), &numbered(n / 2, result))
    }),
    ("the same result", |n| {
        let text = "same text ".repeat(40);
        let result = |i: usize| format!(r#"{{"type":"tool_result","tool_use_id":"t{i}","content":"{text}"}},"#);
        anthropic(r#"{"type":"tool_use","id":"t0","name":"a","input":{}}"#, &numbered(n, result))
    }),
    ("many rows", |n| {
        let rows = quoted(&format!("[{}0]", "{\"a\":1,\"b\":\"open\"},".repeat(30)));
        let result = format!(r#"{{"type":"tool_result","tool_use_id":"t","content":{rows}}},"#);
        anthropic(r#"{"type":"tool_use","id":"t","name":"a","input":{}}"#, &repeated(&result, n))
    }),
    ("a long name of a model", |n| of_model(&format!("\"model\":\"{}\",", repeated("gpt-5:", n)))),
    ("a long name of a model in escapes", |n| of_model(&format!("\"model\":\"{}\",", repeated("\\u0067", n)))),
    ("models that repeat", |n| of_model(&repeated("\"model\":\"gpt-5\",", n))),
    ("keys of a message that repeat", |n| {
        format!(r#"{{"messages":[{{{}"role":"tool"}}]}}"#, repeated(r#""content":"x","#, n))
    }),
    ("conversations that repeat", |n| {
        format!(r#"{{{}"a":"tool_result"}}"#, repeated(r#""messages":[{"role":"user","content":"x"}],"#, n))
    }),
    ("options that repeat", |n| format!(r#"{{{}"messages":["tool_result"]}}"#, repeated(r#""metadata":{},"#, n))),
    ("blocks", |n| anthropic("", &repeated(r#"{"type":"text","text":"x"},"#, n))),
    ("texts of a result", |n| {
        let texts = repeated(r#"{"type":"text","text":"x"},"#, n);
        let texts = texts.trim_end_matches(',');
        anthropic("", &format!(r#"{{"type":"tool_result","tool_use_id":"t","content":[{texts}]}},"#))
    }),
    ("deep values", |n| {
        let deep = repeated("[", n / 2) + &repeated("]", n / 2);
        anthropic(
            &format!(r#"{{"type":"tool_use","id":"t","name":"bash","input":{deep}}}"#),
            r#"{"type":"tool_result"},"#,
        )
    }),
    ("blanks between tokens", |n| anthropic("", &format!("{}{}", r#"{"type":"tool_result"},"#, " ".repeat(n)))),
    ("calls without ids", |n| {
        let call = r#"{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":"{}"}}]},"#;
        chat(&(repeated(call, n / 2) + &repeated(r#"{"role":"tool","name":"a","content":"x"},"#, n / 2)))
    }),
    ("keys with escapes", |n| chat(&repeated(r#"{"r\u006fle":"tool","c\u006fntent":"x"},"#, n))),
    ("keywords of a schema that repeat", |n| {
        schema(&format!(r#"{{"type":"object",{}"not":{{}}}}"#, repeated(r#""items":{},"#, n)))
    }),
    ("keywords with escapes", |n| schema(&format!(r#"{{{}"not":{{}}}}"#, repeated(r#""\u0069tems":{},"#, n)))),
    ("names of a schema", |n| schema(&format!(r#"{{{}"items":{{}}}}"#, numbered(n, |i| format!(r#""k{i}":1,"#))))),
    ("properties", |n| {
        let property = |i: usize| format!(r#""k{i}":{{"description":"a  b"}},"#);
        schema(&format!(r#"{{"properties":{{{}"k":{{}}}}}}"#, numbered(n, property)))
    }),
    ("empty descriptions", |n| {
        let property = |i: usize| format!(r#""k{i}":{{"description":" ","type":"x"}},"#);
        schema(&format!(r#"{{"properties":{{{}"k":{{}}}}}}"#, numbered(n, property)))
    }),
    ("schemas in schemas", |n| {
        schema(&format!(r#"{}{{"description":"  "}}{}"#, repeated(r#"{"items":"#, n), "}".repeat(n / 9 + 1)))
    }),
    ("any of many", |n| {
        schema(&format!(r#"{{"anyOf":[{}{{}}]}}"#, repeated(r#"{"description":"a  b","items":{}},"#, n)))
    }),
    ("a long description", |n| schema(&format!(r#"{{"description":{}}}"#, quoted(&repeated("a  b \n\n\n```\n", n))))),
    ("many tools", |n| {
        let tool = |i: usize| format!(r#"{{"name":"x{i}","description":"d  e","input_schema":{{"items":{{}}}}}},"#);
        format!(r#"{{"messages":[],"tools":[{}{{"description":" "}}]}}"#, numbered(n, tool))
    }),
    ("parts of Gemini", |n| {
        let part = r#"{"functionResponse":{"name":"a","response":{"output":"x","b":1}}},"#;
        format!(r#"{{"contents":[{{"role":"user","parts":[{}{{"text":"x"}}]}}]}}"#, repeated(part, n))
    }),
    ("members of a response of Gemini", |n| {
        let members = numbered(n, |i| format!(r#""k{i}":"x","#));
        format!(
            r#"{{"contents":[{{"parts":[{{"functionResponse":{{"name":"a","response":{{{members}"output":"x"}}}}}}]}}]}}"#
        )
    }),
    ("blocks of Bedrock", |n| {
        let blocks = repeated(r#"{"json":{"a":1}},{"text":"x"},"#, n);
        let result = format!(r#"{{"toolResult":{{"toolUseId":"t","content":[{blocks}{{"text":"x"}}]}}}}"#);
        format!(r#"{{"messages":[{{"role":"user","content":[{result}]}}]}}"#)
    }),
    ("items of Responses", |n| {
        let items = r#"{"type":"function_call","call_id":"c","name":"bash","arguments":"{\"command\":\"ls\"}"},{"type":"function_call_output","call_id":"c","output":"x"},"#;
        format!(r#"{{"input":[{}{{"role":"user","content":"x"}}]}}"#, repeated(items, n))
    }),
];

fn parts(parts: &str) -> String {
    format!(r#"{{"messages":[{{"role":"user","content":[{parts}{{"type":"text","text":"x"}}]}}]}}"#)
}

/// Requests whose secrets are replaced, with strings at places of all kinds.
pub(super) const SECRETS: &[Shape] = &[
    ("parts without a secret", |n| parts(&repeated(r#"{"type":"text","text":"x"},"#, n))),
    ("parts of one byte of a token", |n| {
        let token = ["ghp_aB3dE5fG7hI9jK1l", "M3nO5pQ7rS9tU1vW3xY5 "].concat();
        let part = |i: usize| format!(r#"{{"text":"{}"}},"#, &token[i % token.len()..][..1]);
        parts(&numbered(n, part))
    }),
    ("marks in parts", |n| {
        parts(&repeated(r#"{"text":"[redacted:x]"},{"text":"password=[red"},{"text":"acted:"},"#, n))
    }),
    ("one part with marks, and a secret in two", |n| {
        let marks = repeated("[redacted:x] ", n);
        let token = ["ghp_aB3dE5fG7hI9jK1l", "M3nO5pQ7rS9tU1vW3xY5"];
        parts(&format!(r#"{{"text":"{marks}"}},{{"text":"{}"}},{{"text":"{}"}},"#, token[0], token[1]))
    }),
    ("empty strings", |n| format!(r#"{{"messages":[],"x":[{}0]}}"#, repeated(r#""","#, n))),
    ("short strings", |n| format!(r#"{{"messages":[],"x":[{}0]}}"#, repeated(r#""pw=","#, n))),
    ("short members", |n| format!(r#"{{"messages":[],"x":{{{}"a":0}}}}"#, repeated(r#""a":"b","#, n))),
    ("long keys", |n| format!(r#"{{"messages":[],"x":{{{}"a":0}}}}"#, repeated(r#""password":1,"#, n))),
    ("deep frames", |n| {
        format!(r#"{{"messages":[],"x":{}"y"{}}}"#, repeated(r#"[{"contents":"#, n / 2), "}]".repeat(n / 26 + 1))
    }),
    ("deep strings", |n| {
        format!(r#"{{"messages":[],"x":{}"y"{}}}"#, repeated(r#"["ab","#, n / 2), "]".repeat(n / 12 + 1))
    }),
    ("strings of one character's control", |n| parts(&repeated("{\"text\":\"a\u{9d}\u{9b}7m\"},", n))),
];

fn batch(size: usize, make: impl Fn(usize) -> String) -> String {
    format!("[{}]", numbered(size, |i| make(i) + ",").trim_end_matches(','))
}

const ROW: &str = r#"{\"state\":\"open\",\"type\":\"User\"}"#;

fn answer(id: usize) -> String {
    let rows = format!("[{}]", [ROW; 8].join(","));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{rows}"}}]}}}}"#)
}

fn call(id: usize, name: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#)
}

/// What a client of MCP sends, and what a server answers; their name.
pub(super) type Exchange = (&'static str, fn(usize) -> (String, String));

/// Messages of MCP.
pub(super) const EXCHANGES: &[Exchange] = &[
    ("a batch of calls", |n| (batch(n / 2, |i| call(i, "a")), batch(n / 2, answer))),
    ("one id in a batch", |n| (batch(n / 2, |_| call(1, "a")), batch(n / 2, |_| answer(1)))),
    ("ids that no call has", |n| (batch(n / 2, |i| call(i, "a")), batch(n / 2, |i| answer(i + 1_000_000)))),
    ("a long name, answered often", |n| (call(1, &"a/".repeat(n / 4)), batch(n / 2, |_| answer(1)))),
    ("a long id", |n| {
        let id = "1".repeat(n / 4);
        let call = format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"a"}}}}"#);
        (call, format!(r#"{{"id":{id},"result":{{"content":[]}}}}"#) + &" ".repeat(n / 2))
    }),
    ("blocks of a result", |n| {
        let rows = format!("[{}]", [ROW; 4].join(","));
        let block = format!(r#"{{"type":"text","text":"{rows}"}},"#);
        (call(1, "a"), format!(r#"{{"id":1,"result":{{"content":[{}{{}}]}}}}"#, repeated(&block, n)))
    }),
    ("blocks that are folded", |n| {
        let block = format!(r#"{{"type":"text","text":"{ROW}"}},"#);
        let blocks = repeated(&block, n / 2);
        let copy = format!("[{}]", repeated(&format!("{ROW},"), n / 2).replace('\\', "").trim_end_matches(','));
        let blocks = blocks.trim_end_matches(',');
        (
            call(1, "a"),
            format!(r#"{{"id":1,"result":{{"content":[{blocks}],"structuredContent":{{"result":{copy}}}}}}}"#),
        )
    }),
    ("members of a mark", |n| {
        let meta = numbered(n, |i| format!(r#""k{i}":1,"#));
        let rows = format!("[{}]", [ROW; 8].join(","));
        let block = format!(r#"{{"type":"text","text":"{rows}","_meta":{{{meta}"k":1}}}}"#);
        (call(1, "a"), format!(r#"{{"id":1,"result":{{"content":[{block}]}}}}"#))
    }),
    ("keys of a result that repeat", |n| {
        (call(1, "a"), format!(r#"{{"id":1,"result":{{{}"a":1}}}}"#, repeated(r#""content":[{}],"#, n)))
    }),
    ("tools that are listed", |n| {
        let tools = numbered(n, |i| format!(r#"{{"name":"t{i}","outputSchema":{{"type":"object"}}}},"#));
        let list = r#"{"id":1,"method":"tools/list"}"#.to_owned();
        (list, format!(r#"{{"id":1,"result":{{"tools":[{}]}}}}"#, tools.trim_end_matches(',')))
    }),
    ("extensions in params", |n| {
        let meta = repeated(r#""_meta":{"a":{}},"#, n);
        (format!(r#"{{"id":1,"method":"tools/call","params":{{{meta}"name":"a"}}}}"#), answer(1))
    }),
];
