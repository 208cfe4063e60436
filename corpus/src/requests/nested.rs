//! Calls and results of Gemini, Bedrock and Ollama.

use super::{Maker, text};

impl Maker {
    /// Makes the row with the assistant's calls.
    pub(super) fn called(&mut self, calls: &[(String, (&str, &str))]) -> String {
        let calls: Vec<_> = calls.iter().map(|(id, (tool, arguments))| self.call(id, tool, arguments)).collect();
        let calls = self.array(&calls);
        match self.api {
            "gemini" => self.object(&[("role", text("model")), ("parts", calls)]),
            "bedrock" => self.object(&[("role", text("assistant")), ("content", calls)]),
            _ => self.object(&[("role", text("assistant")), ("content", text("")), ("tool_calls", calls)]),
        }
    }

    fn call(&mut self, id: &str, tool: &str, arguments: &str) -> String {
        let arguments = arguments.to_owned();
        let (wrapper, mut members) = match self.api {
            "gemini" => ("functionCall", vec![("name", text(tool)), ("args", arguments)]),
            "bedrock" => ("toolUse", vec![("toolUseId", text(id)), ("name", text(tool)), ("input", arguments)]),
            _ => ("function", vec![("name", text(tool)), ("arguments", arguments)]),
        };
        if self.api == "gemini" && self.rng.chance(50) {
            members.push(("id", text(id)));
        }
        self.shuffle(&mut members);
        members.extend(self.caller());
        let call = self.object(&members);
        self.object(&[(wrapper, call)])
    }

    /// Makes a part or block with a result.
    pub(super) fn nested_result(&mut self, id: &str, tool: &str) -> String {
        let (wrapper, mut members) = match self.api {
            "gemini" => {
                let response = self.response();
                let wrapper = if self.rng.chance(90) { "functionResponse" } else { "function_response" };
                let mut members = vec![("name", text(tool)), ("response", response)];
                if self.rng.chance(50) {
                    members.push(("id", text(id)));
                }
                (wrapper, members)
            }
            _ => {
                let blocks: Vec<_> = (0..1 + self.rng.skewed(3)).map(|_| self.result_block()).collect();
                let blocks = self.array(&blocks);
                let mut members = vec![("toolUseId", text(id)), ("content", blocks)];
                if self.rng.chance(10) {
                    members.push(("status", text(self.rng.pick(&["error", "success"]))));
                }
                ("toolResult", members)
            }
        };
        self.shuffle(&mut members);
        if self.rng.chance(2) {
            let again = members[self.rng.below(members.len() as u64) as usize].clone();
            members.push(again);
        }
        members.extend(self.caller().filter(|_| self.callers.chance(20)));
        let result = self.object(&members);
        self.object(&[(wrapper, result)])
    }

    /// Makes a response of Gemini: an object with a text by convention, or with the result itself.
    fn response(&mut self) -> String {
        if self.rng.chance(15) {
            let json = self.document();
            return if json.starts_with('{') { json } else { self.object(&[("rows", json)]) };
        }
        let text = self.text();
        let own = self.string(&text);
        match self.rng.below(20) {
            0 => self.rng.pick(&["null", "7", "[]", "{}", "{\"output\":7}"]).to_owned(),
            1 => self.object(&[("error", own)]),
            2 => self.object(&[("output", own.clone()), ("result", own)]),
            _ => {
                let key = self.rng.prefer(&["output", "result", "content", "text"]);
                self.object(&[(key, own)])
            }
        }
    }

    /// Makes a block of a result of Bedrock: a text, or a document.
    fn result_block(&mut self) -> String {
        if self.rng.chance(40) {
            let json = self.document();
            return self.object(&[("json", json)]);
        }
        let text = self.text();
        let own = self.string(&text);
        match self.rng.below(20) {
            0 => self.object(&[("image", "{}".to_owned())]),
            1 => self.object(&[("text", own.clone()), ("text", own)]),
            _ => self.object(&[("text", own)]),
        }
    }

    /// Makes the row with one result, whose text is a string already.
    pub(super) fn answered(&mut self, id: &str, tool: &str, content: String) -> String {
        match self.api {
            "gemini" => {
                let response = self.object(&[("output", content)]);
                let part = self.object(&[("id", text(id)), ("name", text(tool)), ("response", response)]);
                let part = self.object(&[("functionResponse", part)]);
                let parts = self.array(&[part]);
                self.object(&[("role", text("user")), ("parts", parts)])
            }
            "bedrock" => {
                let block = self.object(&[("text", content)]);
                let blocks = self.array(&[block]);
                let result = self.object(&[("toolUseId", text(id)), ("content", blocks)]);
                let result = self.object(&[("toolResult", result)]);
                let content = self.array(&[result]);
                self.object(&[("role", text("user")), ("content", content)])
            }
            _ => self.object(&[("role", text("tool")), ("tool_name", text(tool)), ("content", content)]),
        }
    }
}
