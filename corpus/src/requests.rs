//! Requests to models with tool results in them: six APIs, every kind of response as a result, odd spellings, repeated keys,
//! options, deep and huge bodies, and some that are not JSON at all.

pub(crate) mod long;
mod nested;

use crate::catalogue::catalogue;
use crate::rng::Rng;
use crate::style::{Escaping, Layout, Style};
use crate::transcripts::transcript;

/// A request to a model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The API: one of [`APIS`].
    pub api: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

/// The APIs of requests.
pub const APIS: [&str; 6] = ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "ollama"];

/// Makes a request. The same seed always gives the same bytes.
///
/// ```
/// let request = stc_corpus::request(7);
/// assert_eq!(request.body, stc_corpus::request(7).body);
/// ```
pub fn request(seed: u64) -> ModelRequest {
    let mut rng = Rng::named("request", seed);
    let api = rng.pick(&APIS);
    let layout = rng.prefer(&[Layout::Minified, Layout::Spaced, Layout::Pretty(2)]);
    // Of a stream of their own, so that the rest of a request is the same without them.
    let mut callers = Rng::named("callers", seed);
    let has_programs = callers.chance(15);
    let mut maker = Maker { rng, api, layout, calls: 0, earlier: Vec::new(), callers, has_programs };
    let mut body = maker.body().into_bytes();
    match maker.rng.below(400) {
        // Cut off, also inside a character, or followed by something: not JSON.
        0 => body.truncate(body.len() / 2),
        1 => body.extend_from_slice(b" {}"),
        _ => {}
    }
    ModelRequest { api, body }
}

struct Maker {
    rng: Rng,
    api: &'static str,
    layout: Layout,
    calls: usize,
    /// Results so far, for agents that call twice.
    earlier: Vec<String>,
    /// Decides who calls the tools.
    callers: Rng,
    /// Whether programs call some of them.
    has_programs: bool,
}

/// A member of an object, its value as JSON.
type Member = (&'static str, String);

/// A tool, and the arguments of its calls.
const TOOLS: &[(&str, &str)] = &[
    ("list_rows", "{}"),
    ("search", r#"{"query":"open","limit":20}"#),
    ("mcp__store__list_orders", r#"{"page":1}"#),
    ("bash", r#"{"command":"curl -s https://api.example/rows"}"#),
    ("bash", r#"{"command":"cd src && cat rows.json"}"#),
    ("shell", r#"{"command":["bash","-lc","jq . rows.json"]}"#),
    ("read_file", r#"{"path":"rows.json"}"#),
    ("Edit", r#"{"path":"rows.json","old":"a","new":"b"}"#),
    ("odd tool é", "{}"),
    ("bash", r#"{"command":"cargo test 2>&1 | tail -100"}"#),
    ("bash", r#"{"command":"cd app && git diff"}"#),
    ("bash", r#"{"command":"npm install && pip install -r requirements.txt; make"}"#),
    ("bash", r#"{"command":"find . -type f"}"#),
    ("Grep", r#"{"pattern":"retry"}"#),
    ("deploy", r#"{"command":"docker build .","token":"hunter2-hunter2"}"#),
];

/// Who calls a tool: programs, the model, and what is neither.
const CALLERS: &[&str] = &[
    r#"{"type":"code_execution_20250825","tool_id":"srvtoolu_1"}"#,
    r#"{"type":"program","caller_id":"prog_1"}"#,
    r#"{"type":"direct"}"#,
    "null",
    r#"{"type":["direct"]}"#,
    r#""direct""#,
];

/// The schema of the tool that requests define: descriptions of schemas, one that is empty, and a property of that name.
const SCHEMA: &str = r#"{"type":"object","description":"Which  rows. \n\n\nAll of them.","properties":{"description":{"type":"string","description":"A  part of it. ","default":"a  b "},"limit":{"type":"integer","description":"  "},"of":{"anyOf":[{"description":"\tOne  "},{"enum":["x  y"]}]}},"required":["description"]}"#;

impl Maker {
    fn body(&mut self) -> String {
        let turns = if self.rng.chance(3) { 12 } else { 1 + self.rng.skewed(5) };
        let mut rows = vec![self.user("How many of them are open?")];
        for _ in 0..turns {
            self.turn(&mut rows);
        }
        if self.rng.chance(30) {
            rows.push(self.user("tool_result, \"tool\" and function_call_output are words too."));
        }
        let rows = self.array(&rows);
        let conversation = conversation(self.api);
        let mut members: Vec<Member> = vec![("model", "\"sample\"".to_owned()), (conversation, rows.clone())];
        if self.rng.chance(40) {
            members.push(self.tools());
        }
        if self.rng.chance(20) {
            members.push(("stream", "true".to_owned()));
        }
        if self.rng.chance(15) {
            members.push(("_stc", self.options()));
        }
        if self.rng.chance(5) {
            members.push(("_forge", r#"{"trace":1,"tool_output_compression":"on","x":[2]}"#.to_owned()));
        }
        if self.rng.chance(1) {
            members.push((conversation, rows));
        }
        if self.rng.chance(1) {
            let depth = self.rng.pick(&[100, 511, 600, 5000]);
            members.push(("metadata", "[".repeat(depth) + &"]".repeat(depth)));
        }
        self.shuffle(&mut members);
        self.object(&members)
    }

    /// Adds the assistant's calls and their results.
    fn turn(&mut self, rows: &mut Vec<String>) {
        let count = 1 + self.rng.skewed(4);
        let calls: Vec<_> = (0..count).map(|_| (self.next_id(), self.rng.pick(TOOLS))).collect();
        let known = self.rng.chance(90);
        match self.api {
            "gemini" | "bedrock" | "ollama" if known => rows.push(self.called(&calls)),
            "openai-responses" => {
                for (id, (tool, arguments)) in &calls {
                    let mut members = vec![
                        ("type", text("function_call")),
                        ("call_id", text(id)),
                        ("name", text(tool)),
                        ("arguments", text(arguments)),
                    ];
                    self.shuffle(&mut members);
                    members.extend(self.caller());
                    if known {
                        rows.push(self.object(&members));
                    }
                }
            }
            "anthropic" if known => {
                let mut blocks = vec![self.object(&[("type", text("text")), ("text", text("I look."))])];
                for (id, (tool, arguments)) in &calls {
                    let mut members = vec![
                        ("type", text("tool_use")),
                        ("id", text(id)),
                        ("name", text(tool)),
                        ("input", (*arguments).to_owned()),
                    ];
                    self.shuffle(&mut members);
                    members.extend(self.caller());
                    blocks.push(self.object(&members));
                }
                let blocks = self.array(&blocks);
                rows.push(self.object(&[("role", text("assistant")), ("content", blocks)]));
            }
            "openai-chat" if known => {
                let call = |maker: &mut Self, (id, (tool, arguments)): &(String, (&str, &str))| {
                    let function = maker.object(&[("name", text(tool)), ("arguments", text(arguments))]);
                    let mut members = vec![("id", text(id)), ("type", text("function")), ("function", function)];
                    members.extend(maker.caller());
                    maker.object(&members)
                };
                let calls: Vec<_> = calls.iter().map(|one| call(self, one)).collect();
                let calls = self.array(&calls);
                let members = [("role", text("assistant")), ("content", "null".to_owned()), ("tool_calls", calls)];
                rows.push(self.object(&members));
            }
            _ => {}
        }
        let results: Vec<_> = calls.iter().map(|(id, (tool, _))| self.result(id, tool)).collect();
        match self.api {
            "anthropic" | "bedrock" | "gemini" => {
                let blocks = self.array(&results);
                rows.push(self.object(&[("role", text("user")), (content(self.api), blocks)]));
            }
            _ => rows.extend(results),
        }
    }

    /// Makes a row or block with a result.
    fn result(&mut self, id: &str, tool: &str) -> String {
        if matches!(self.api, "gemini" | "bedrock") {
            return self.nested_result(id, tool);
        }
        let content = self.content();
        let mut members = match self.api {
            "openai-responses" => {
                vec![("type", text("function_call_output")), ("call_id", text(id)), ("output", content)]
            }
            "anthropic" => {
                let mut members = vec![("type", text("tool_result")), ("tool_use_id", text(id)), ("content", content)];
                if self.rng.chance(10) {
                    members.push(("is_error", self.rng.pick(&["true", "false"]).to_owned()));
                }
                if self.rng.chance(20) {
                    members.push(("cache_control", r#"{"type":"ephemeral"}"#.to_owned()));
                }
                members
            }
            "ollama" => vec![("role", text("tool")), ("tool_name", text(tool)), ("content", content)],
            _ => vec![("role", text("tool")), ("tool_call_id", text(id)), ("content", content)],
        };
        self.shuffle(&mut members);
        if self.rng.chance(2) {
            let again = members[self.rng.below(members.len() as u64) as usize].clone();
            members.push(again);
        }
        members.extend(self.caller().filter(|_| self.callers.chance(20)));
        self.object(&members)
    }

    /// Makes a member that says who calls a tool, or none.
    pub(crate) fn caller(&mut self) -> Option<Member> {
        let is_said = self.has_programs && self.callers.chance(60);
        is_said.then(|| ("caller", self.callers.pick(CALLERS).to_owned()))
    }

    /// Makes the content of a result: a string, or a list of parts.
    fn content(&mut self) -> String {
        if self.rng.chance(2) {
            return self.rng.pick(&["null", "7", "[]", "{}", "[null,3]"]).to_owned();
        }
        if self.rng.chance(75) {
            let text = self.text();
            return self.string(&text);
        }
        let kind = if self.api == "openai-responses" { "input_text" } else { "text" };
        let parts: Vec<_> = (0..1 + self.rng.skewed(3))
            .map(|_| {
                let text = self.text();
                let mut members = vec![("type", format!("\"{kind}\"")), ("text", self.string(&text))];
                self.shuffle(&mut members);
                match self.rng.below(20) {
                    0 => members[0] = ("type", "\"image\"".to_owned()),
                    1 => members.push(members[0].clone()),
                    _ => {}
                }
                self.object(&members)
            })
            .collect();
        self.array(&parts)
    }

    /// Makes the text of a result.
    fn text(&mut self) -> String {
        if !self.earlier.is_empty() && self.rng.chance(15) {
            return self.earlier[self.rng.below(self.earlier.len() as u64) as usize].clone();
        }
        let mut text = if self.rng.chance(20) { self.printed() } else { self.document() };
        match self.rng.below(40) {
            0 => text = text.chars().take(text.chars().count() / 2).collect(),
            1 => text = format!("Result:\n{text}"),
            2 => text = String::new(),
            3 => text = "[2]{*,ok=true}:\n{id:1}\n{id:2}\n".repeat(40),
            4 => text = format!("[Duplicate of c1 (list_rows); see earlier result]{}", " ".repeat(1200)),
            5 => text = "error: \u{1b}[31mline 7\u{1b}[0m\n".repeat(60),
            6 => text = "[".repeat(1500) + &"]".repeat(1500),
            7 => text.insert(0, '\u{feff}'),
            8 => text.push_str("\npassword: hunter2-hunter2\n"),
            9 => text = "\u{0}\u{1}\u{2}\u{fffd}PNG".repeat(1 + self.rng.below(300) as usize),
            _ => {}
        }
        self.earlier.push(text.clone());
        text
    }

    /// Makes what a program prints.
    fn printed(&mut self) -> String {
        let lines = match self.rng.below(1000) {
            0..3 => 3_000,
            3..100 => 200,
            100..500 => 40,
            _ => 12,
        };
        transcript(&mut self.rng, lines).text
    }

    /// Makes a document.
    fn document(&mut self) -> String {
        let bytes = match self.rng.below(1000) {
            0 => 300_000,
            1..50 => 20_000,
            50..400 => 3_000,
            400..700 => 1_200,
            _ => 400,
        };
        let kinds = catalogue();
        let one = kinds[self.rng.below(kinds.len() as u64) as usize];
        let style = self.rng.prefer(&[one.style, Style::MINIFIED, Style::PYTHON, Style::PRETTY_2, Style::PRETTY_4]);
        let json = one.make_in(style, &mut self.rng, bytes);
        String::from_utf8(json).expect("generated documents are Unicode")
    }

    fn user(&mut self, words: &str) -> String {
        let words = self.string(words);
        if matches!(self.api, "gemini" | "bedrock") {
            let part = self.object(&[("text", words)]);
            let parts = self.array(&[part]);
            return self.object(&[("role", text("user")), (content(self.api), parts)]);
        }
        self.object(&[("role", text("user")), ("content", words)])
    }

    /// Returns the definitions of a tool, whose descriptions have more blanks than they need.
    fn tools(&mut self) -> Member {
        let schema = match self.api {
            "anthropic" => ("input_schema", SCHEMA.to_owned()),
            "bedrock" => ("inputSchema", self.object(&[("json", SCHEMA.to_owned())])),
            _ => ("parameters", SCHEMA.to_owned()),
        };
        let kind = (self.api == "openai-responses").then(|| ("type", text("function")));
        let own = [("name", text("list_rows")), ("description", text("Lists  rows.")), schema];
        let lists = [r#"["code_execution_20250825"]"#, r#"["direct","programmatic"]"#, r#"["direct"]"#];
        let callers = self.has_programs.then(|| ("allowed_callers", self.callers.pick(&lists).to_owned()));
        let tool = self.object(&kind.into_iter().chain(own).chain(callers).collect::<Vec<_>>());
        let tool = match self.api {
            "openai-chat" | "ollama" => self.object(&[("type", text("function")), ("function", tool)]),
            "gemini" => {
                let list = self.array(&[tool]);
                self.object(&[("functionDeclarations", list)])
            }
            "bedrock" => self.object(&[("toolSpec", tool)]),
            _ => tool,
        };
        let tools = self.array(&[tool]);
        match self.api {
            "bedrock" => ("toolConfig", self.object(&[("tools", tools)])),
            _ => ("tools", tools),
        }
    }

    fn options(&mut self) -> String {
        let options = [
            r#""lossless""#,
            r#""disabled""#,
            r#"{"mode":"lossless","dedup":true}"#,
            r#"{"format":"stc2-labelled","min_bytes":200}"#,
            r#"{"format":"stc2"}"#,
            r#"{"format":"json","skip_tools":[]}"#,
            r#"{"skip_tools":["mcp__*","bash"]}"#,
            r#""safe""#,
            r#""standard""#,
            r#"{"mode":"aggressive","method":"auto","max_output_bytes":2000}"#,
        ];
        self.rng.pick(&options).to_owned()
    }

    fn next_id(&mut self) -> String {
        if !self.rng.chance(2) {
            self.calls += 1; // sometimes an id is used again
        }
        format!("call_{}", self.calls)
    }

    /// Writes a string as clients do: with the escapes that it needs, or with more.
    fn string(&mut self, text: &str) -> String {
        let escaping = self.rng.prefer(&[Escaping::Bare, Escaping::Ascii, Escaping::Html, Escaping::Slashes]);
        let mut out = String::with_capacity(text.len() + text.len() / 8 + 2);
        out.push('"');
        for character in text.chars() {
            let escaped = match escaping {
                Escaping::Bare => false,
                Escaping::Ascii => !character.is_ascii(),
                Escaping::Html => "<>&\u{2028}\u{2029}".contains(character),
                Escaping::Slashes => character == '/' || !character.is_ascii(),
            };
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '/' if escaped => out.push_str("\\/"),
                _ if escaped || character < ' ' => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                _ => out.push(character),
            }
        }
        out.push('"');
        out
    }

    fn object(&mut self, members: &[Member]) -> String {
        let (comma, colon) = self.separators();
        let one = |(key, value): &Member| format!("\"{key}\"{colon}{value}");
        // A key with an escape is the same key.
        let odd = self.rng.below(300) == 0;
        let mut members: Vec<_> = members.iter().map(one).collect();
        if let (true, Some(first)) = (odd, members.first_mut()) {
            let letter = first.as_bytes()[1];
            *first = format!("\"\\u{letter:04x}{}", &first[2..]);
        }
        format!("{{{}}}", members.join(comma))
    }

    fn array(&mut self, elements: &[String]) -> String {
        format!("[{}]", elements.join(self.separators().0))
    }

    const fn separators(&self) -> (&'static str, &'static str) {
        match self.layout {
            Layout::Minified => (",", ":"),
            Layout::Spaced => (", ", ": "),
            Layout::Pretty(_) => (",\n  ", ": "),
        }
    }

    fn shuffle(&mut self, members: &mut [Member]) {
        if !self.rng.chance(20) {
            return;
        }
        for place in (1..members.len()).rev() {
            members.swap(place, self.rng.below(place as u64 + 1) as usize);
        }
    }
}

/// Returns the member that has the conversation.
fn conversation(api: &str) -> &'static str {
    match api {
        "openai-responses" => "input",
        "gemini" => "contents",
        _ => "messages",
    }
}

/// Returns the member of a message that has its content.
fn content(api: &str) -> &'static str {
    if api == "gemini" { "parts" } else { "content" }
}

/// Writes a string that needs few escapes.
fn text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
