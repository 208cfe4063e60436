//! One JSON-RPC message or batch: its tool results in another format.

use super::legend::legend;
use super::parts::{self, Message};
use super::result;
use super::setting::{Findings, Setting};
use crate::rules::Structured;
use crate::{Format, Skip};
use stc_wire::edit::Edits;
use stc_wire::span::{self, Span};
use stc_wire::transcode;

/// Returns the converted message; `None` if nothing changes.
pub(crate) fn rewrite(message: &[u8], setting: Setting<'_>, findings: &mut Findings) -> Option<Vec<u8>> {
    let mut edits = Edits::default();
    let mut found = Findings::default();
    for one in parts::read(message)? {
        response(message, &one, setting, &mut edits, &mut found);
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

fn response(text: &[u8], message: &Message<'_>, setting: Setting<'_>, edits: &mut Edits, found: &mut Findings) {
    let (Some(id), Some(result)) = (message.object.value("id"), message.object.value("result")) else { return };
    let id = &text[id];
    let call = setting.calls.answered_by(id);
    match call.map(|call| call.method.as_str()) {
        Some("tools/call" | "tasks/result") | None => {
            // Of two calls with one id it is not known which is answered.
            let stays = setting.calls.all_answered_by(id).any(|call| {
                call.is_for_program || (call.method == "tools/call" && !setting.policy.converts(call.tool.as_deref()))
            });
            let tool = call.and_then(|call| call.tool.as_deref());
            result::rewrite(text, &message.result, tool, stays, setting, edits, found);
        }
        Some("resources/read") => result::rewrite_resources(text, &message.result, setting, edits, found),
        Some("tools/list") if setting.strips() => strip_output_schemas(text, result, setting, edits),
        Some("initialize" | "server/discover") if setting.legend => {
            explain(text, result, setting.format, edits);
        }
        Some(_) => {}
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
