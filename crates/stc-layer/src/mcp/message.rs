//! One JSON-RPC message or batch: its tool results in another format.

use super::legend::legend;
use super::parts::{self, Message};
use super::result;
use super::setting::{Findings, Setting};
use crate::rules::Structured;
use crate::{Format, Skip};
use stc_wire::budget::charge_bytes;
use stc_wire::edit::Edits;
use stc_wire::span::{self, Span};
use stc_wire::transcode;
use std::collections::HashMap;

/// Returns the converted message; `None` if nothing changes.
pub(crate) fn rewrite(message: &[u8], setting: Setting<'_>, findings: &mut Findings) -> Option<Vec<u8>> {
    let mut edits = Edits::default();
    let mut found = Findings::default();
    let mut rewriter = Rewriter { text: message, setting, by_call: HashMap::new() };
    for one in parts::read(message)? {
        charge_bytes(one.object.span.len());
        rewriter.response(&one, &mut edits, &mut found);
    }
    if !edits.is_empty() && !transcode::is_json(message) {
        // The spans are reliable in JSON only, and this message is not JSON.
        (edits, found) = (Edits::default(), Findings { skipped: Some(Skip::Invalid), ..Findings::default() });
    }
    findings.changed += found.changed;
    findings.saved += found.saved;
    findings.format = found.format.or(findings.format);
    findings.skipped = found.skipped.or(findings.skipped);
    if edits.is_empty() { None } else { edits.apply(message) }
}

/// A message or batch on its way.
struct Rewriter<'a> {
    text: &'a [u8],
    setting: Setting<'a>,
    /// What applies to the results of a call, and whether they may change. The name of a tool may be long and answered often, so it is
    /// compared with the policy's once.
    by_call: HashMap<usize, (Setting<'a>, bool)>,
}

impl<'a> Rewriter<'a> {
    fn response(&mut self, message: &Message<'_>, edits: &mut Edits, found: &mut Findings) {
        let Self { text, setting, .. } = *self;
        let (Some(id), Some(result)) = (message.object.value("id"), message.object.value("result")) else { return };
        let id = &text[id];
        let number = setting.calls.number(id);
        match number.map(|number| setting.calls.method(number)) {
            Some("tools/call" | "tasks/result") | None => {
                let (setting, is_admitted) = self.of_call(number, id);
                result::rewrite(text, &message.result, is_admitted, setting, edits, found);
            }
            Some("resources/read") => result::rewrite_resources(text, &message.result, setting, edits, found),
            Some("tools/list") if setting.strips() => strip_output_schemas(text, result, setting, edits),
            Some("initialize" | "server/discover") if setting.legend => {
                explain(text, result, setting.format, edits);
            }
            Some(_) => {}
        }
    }

    fn of_call(&mut self, number: Option<usize>, id: &[u8]) -> (Setting<'a>, bool) {
        let setting = self.setting;
        let converts = |tool: Option<&str>| setting.policy.converts(tool);
        let Some(number) = number else { return (setting.for_tool(None), converts(None)) };
        let of_call = || {
            let tool = setting.calls.tool_of(number);
            (setting.for_tool(tool), converts(tool) && !setting.calls.stays(id, converts))
        };
        *self.by_call.entry(number).or_insert_with(of_call)
    }
}

/// Removes `outputSchema` from every tool whose `structuredContent` is removed from results.
fn strip_output_schemas(text: &[u8], result: Span, setting: Setting<'_>, edits: &mut Edits) {
    let Some(tools) = span::member(text, result, "tools") else { return };
    for tool in span::elements(text, tools.value) {
        let name = span::member(text, tool.clone(), "name").and_then(|name| span::string(text, &name.value));
        let strips = setting.for_tool(name.as_deref()).structured == Structured::Strip;
        if strips && setting.policy.converts(name.as_deref()) {
            edits.remove_member(text, &tool, "outputSchema");
        }
    }
}

/// Adds the legend to the server's instructions.
fn explain(text: &[u8], result: Span, format: Format, edits: &mut Edits) {
    let Some(legend) = legend(format) else { return };
    if text[result.start] != b'{' {
        return;
    }
    let mut quoted = Vec::new();
    span::quote_into(legend, &mut quoted);
    if let Some(instructions) = span::member(text, result.clone(), "instructions") {
        let at = instructions.value;
        if text[at.start] == b'"' && at.len() > 2 {
            let mut more = br"\n\n".to_vec();
            more.extend_from_slice(&quoted[1..]);
            edits.replace(at.end - 1..at.end, more);
        } else if text[at.start] == b'"' || &text[at.clone()] == b"null" {
            edits.replace(at, quoted);
        }
        return;
    }
    let mut member = br#""instructions":"#.to_vec();
    member.extend_from_slice(&quoted);
    if span::members(text, result.clone()).next().is_some() {
        member.push(b',');
    }
    edits.replace(result.start + 1..result.start + 1, member);
}
