//! One tool result: its text blocks in another format, marked, if that is smaller.

use super::calls::EXTENSION;
use super::parts::{Content, Object, Parts};
use super::setting::{Findings, Setting};
use crate::Skip;
use crate::convert::transcode;
use crate::rules::Structured;
use stc_wire::Saved;
use stc_wire::edit::Edits;
use stc_wire::span::{self, Span};
use stc_wire::transcode::minify;
use std::borrow::Cow;

/// Adds the edits that a result needs. `setting` is that of its tool, and `is_admitted` says whether the policy lets it change.
pub(super) fn rewrite(
    text: &[u8],
    result: &Parts<'_>,
    is_admitted: bool,
    setting: Setting<'_>,
    edits: &mut Edits,
    found: &mut Findings,
) {
    let policy = setting.policy;
    let value = |key| result.object.value(key);
    let blocks: Vec<Block<'_>> = result.content.iter().map(|content| Block::read(text, content)).collect();
    if !blocks.iter().any(|block| block.json.is_some()) {
        return;
    }
    let complete = value("resultType").is_none_or(|kind| span::is_string(text, &kind, "complete"));
    let is_error = value("isError").is_some_and(|is| &text[is] == b"true");
    let stays = !is_admitted || result.object.has_program(text);
    if !complete || (is_error && !policy.mcp.errors) || stays {
        found.skipped = Some(Skip::Excluded);
        return;
    }
    let changed = match fold(text, &blocks, setting, edits, found) {
        true => 1,
        false => blocks.iter().filter(|block| one(text, block, setting, edits, found)).count(),
    };
    if changed > 0 && setting.structured == Structured::Strip && carries(text, &blocks, value("structuredContent")) {
        edits.remove_member(text, &result.object.span, "structuredContent");
    }
}

/// Adds the edits that the result of `resources/read` needs.
pub(super) fn rewrite_resources(
    text: &[u8],
    result: &Parts<'_>,
    setting: Setting<'_>,
    edits: &mut Edits,
    found: &mut Findings,
) {
    let blocks: Vec<_> = result.contents.iter().map(|content| Block::resource(text, &content.object)).collect();
    if !setting.policy.tools.is_open() && blocks.iter().any(|block| block.json.is_some()) {
        // Resources have no tool, so a filter on tools cannot let them pass.
        found.skipped = Some(Skip::Excluded);
        return;
    }
    for (block, content) in blocks.iter().zip(&result.contents) {
        if setting.policy.skip_tools.has_files() && is_file(text, &content.object) {
            found.skipped = block.json.as_ref().map(|_| Skip::Excluded).or(found.skipped);
        } else {
            one(text, block, setting, edits, found);
        }
    }
}

/// Returns whether a resource is a file, as far as its address says.
fn is_file(text: &[u8], resource: &Object<'_>) -> bool {
    let uri = resource.value("uri").and_then(|uri| span::string(text, &uri));
    uri.is_none_or(|uri| uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")))
}

/// A content block.
struct Block<'a> {
    span: Span,
    /// The span of its text and the text, if that starts like an array or an object.
    json: Option<(Span, Cow<'a, str>)>,
    /// The `_meta` beside the text.
    meta: Option<Span>,
    /// The media type of a resource, which says how its text is read.
    media_type: Option<Span>,
    /// Whether type and text are its only members.
    plain: bool,
}

impl<'a> Block<'a> {
    fn read(text: &'a [u8], content: &Content<'_>) -> Self {
        let object = &content.object;
        let is = |kind: &str| object.value("type").is_some_and(|value| span::is_string(text, &value, kind));
        if is("resource") && object.value("resource").is_some() {
            return Self { span: object.span.clone(), ..Self::resource(text, &content.resource) };
        }
        let json = object.value("text").filter(|_| is("text")).and_then(|value| json(text, value));
        Self {
            json,
            meta: object.value("_meta"),
            media_type: None,
            plain: object.len() == 2,
            span: object.span.clone(),
        }
    }

    /// Reads the contents of a resource, embedded in a block or as `resources/read` returns them.
    fn resource(text: &'a [u8], object: &Object<'_>) -> Self {
        let json = object.value("text").and_then(|value| json(text, value));
        let media_type = object.value("mimeType");
        Self { json, meta: object.value("_meta"), media_type, plain: false, span: object.span.clone() }
    }
}

/// Returns the span of a text and the text, if that starts like an array or an object.
fn json(text: &[u8], value: Span) -> Option<(Span, Cow<'_, str>)> {
    let content = span::string(text, &value)?;
    let begins = content.trim_start_matches([' ', '\t', '\n', '\r']).starts_with(['{', '[']);
    begins.then_some((value, content))
}

/// Converts one block; returns whether it changed.
fn one(text: &[u8], block: &Block<'_>, setting: Setting<'_>, edits: &mut Edits, found: &mut Findings) -> bool {
    let Some((place, content)) = &block.json else { return false };
    let before = edits.len();
    match replace(text, block, place, content, setting, edits) {
        Ok(saved) => {
            found.changed += 1;
            found.saved += saved;
            found.format = Some(setting.format);
            true
        }
        Err(skip) => {
            edits.truncate(before);
            found.skipped = Some(skip);
            false
        }
    }
}

fn replace(
    text: &[u8],
    block: &Block<'_>,
    place: &Span,
    content: &str,
    setting: Setting<'_>,
    edits: &mut Edits,
) -> Result<Saved, Skip> {
    if content.len() < setting.min_bytes {
        return Err(Skip::TooSmall);
    }
    let coded = transcode(content.as_bytes(), setting.format, setting.policy.verify)?;
    let mut replaced = Vec::with_capacity(coded.bytes.len() + 64);
    span::quote_into(std::str::from_utf8(&coded.bytes).map_err(|_| Skip::Invalid)?, &mut replaced);
    let name = setting.format.name();
    let mut added = 0;
    let mark = match &block.media_type {
        None => format!(r#""{EXTENSION}":{{"format":"{name}"}}"#),
        // The new text is of another type; the mark keeps the old one.
        Some(old) => {
            let new = format!("\"{}\"", setting.format.media_type());
            added = new.len().saturating_sub(old.len());
            edits.replace(old.clone(), new.into_bytes());
            let old = std::str::from_utf8(&text[old.clone()]).map_err(|_| Skip::Invalid)?;
            format!(r#""{EXTENSION}":{{"format":"{name}","mimeType":{old}}}"#)
        }
    };
    match &block.meta {
        None => replaced.extend_from_slice(format!(r#","_meta":{{{mark}}}"#).as_bytes()),
        Some(meta) => added += mark_beside(text, meta, mark, edits)?,
    }
    if replaced.len() + added >= place.len() {
        return Err(Skip::NotSmaller);
    }
    edits.replace(place.clone(), replaced);
    Ok(coded.saved)
}

/// Adds the mark to an existing `_meta`; returns the number of bytes added.
fn mark_beside(text: &[u8], meta: &Span, mark: String, edits: &mut Edits) -> Result<usize, Skip> {
    if &text[meta.clone()] == b"null" {
        let with = format!("{{{mark}}}").into_bytes();
        let added = with.len();
        edits.replace(meta.clone(), with);
        return Ok(added);
    }
    if text[meta.start] != b'{' {
        return Err(Skip::Invalid);
    }
    let mut others = span::members(text, meta.clone());
    if others.any(|member| span::is_string(text, &member.key, EXTENSION)) {
        return Err(Skip::Encoded); // by another gateway
    }
    let mut with = mark.into_bytes();
    if span::members(text, meta.clone()).next().is_some() {
        with.push(b',');
    }
    let added = with.len();
    edits.replace(meta.start + 1..meta.start + 1, with);
    Ok(added)
}

/// Folds the blocks into one, if the policy allows it, every block is plain JSON text and the result is smaller. Returns
/// whether it did.
fn fold(text: &[u8], blocks: &[Block<'_>], setting: Setting<'_>, edits: &mut Edits, found: &mut Findings) -> bool {
    if !setting.policy.mcp.fold || blocks.len() < 2 || !blocks.iter().all(|block| block.plain) {
        return false;
    }
    let Some((list, before)) = as_list(blocks) else { return false };
    if before.bytes_in < setting.min_bytes as u64 {
        return false;
    }
    let Ok(coded) = transcode(&list, setting.format, setting.policy.verify) else { return false };
    let Ok(coded_text) = std::str::from_utf8(&coded.bytes) else { return false };
    let mut folded = br#"{"type":"text","text":"#.to_vec();
    span::quote_into(coded_text, &mut folded);
    let (name, count) = (setting.format.name(), blocks.len());
    folded.extend_from_slice(
        format!(r#","_meta":{{"{EXTENSION}":{{"format":"{name}","blocks":{count}}}}}}}"#).as_bytes(),
    );
    let whole = blocks[0].span.start..blocks[count - 1].span.end;
    if folded.len() >= text[whole.clone()].len() {
        return false;
    }
    edits.replace(whole, folded);
    found.changed += 1;
    found.format = Some(setting.format);
    found.saved += Saved { bytes_out: coded.saved.bytes_out, tokens_out: coded.saved.tokens_out, ..before };
    true
}

/// Returns the blocks' values as one minified array, and the sizes of their texts as they came; `None` if one of them is
/// not JSON.
fn as_list(blocks: &[Block<'_>]) -> Option<(Vec<u8>, Saved)> {
    let mut list = vec![b'['];
    let mut before = Saved::default();
    for block in blocks {
        let (_, content) = block.json.as_ref()?;
        if list.len() > 1 {
            list.push(b',');
        }
        let minified = minify(content.as_bytes())?;
        list.extend_from_slice(&minified);
        before += Saved::between(content.as_bytes(), b"").minified(&minified);
    }
    list.push(b']');
    Some((list, before))
}

/// Returns whether the blocks' texts contain the value of `structuredContent`, so that removing it loses nothing: the
/// same JSON, or wrapped as `{"result": ...}`, as servers send values that are not objects.
fn carries(text: &[u8], blocks: &[Block<'_>], structured: Option<Span>) -> bool {
    let Some(structured) = structured.and_then(|span| minify(&text[span])) else { return false };
    let wraps = |value: &[u8]| {
        structured == value
            || structured.strip_prefix(br#"{"result":"#).and_then(|rest| rest.strip_suffix(b"}")) == Some(value)
    };
    let single = || blocks.iter().filter_map(|block| block.json.as_ref()).find_map(|(_, text)| minify(text.as_bytes()));
    match blocks {
        [_] => single().is_some_and(|value| wraps(&value)),
        _ => as_list(blocks).is_some_and(|(list, _)| wraps(&list)),
    }
}
