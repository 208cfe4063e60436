//! The options of one request: members of its body, `_stc` and `_forge`, and headers. The body wins over headers, headers
//! win over the route's settings. An option that is wrong, unknown or of a later version is an error that names its field.

use crate::bad_option::{BadOption, listed};
use crate::family::Family;
use crate::layout::Slot;
use crate::{CapSettings, FormatChoice, Method, Mode, RedactWhen, Schemas, Settings};
use globset::{Glob, GlobSet, GlobSetBuilder};
use serde_json::Value;
use stc_wire::span::{self, Span};
use std::sync::Arc;

/// The longest options of a request in bytes.
const LONGEST_OPTIONS: usize = 16 << 10;
/// The longest name of a session in bytes.
pub(crate) const LONGEST_SESSION: usize = 256;
/// The most entries of `skip_tools` in a request, and the longest in bytes.
const MOST_SKIPPED_TOOLS: usize = 64;
const LONGEST_TOOL: usize = 128;

/// The headers of a request that are options, as they came.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeaderOptions<'a> {
    /// `X-STC-Mode`.
    pub mode: Option<&'a [u8]>,
    /// `X-STC-Session`.
    pub session: Option<&'a [u8]>,
    /// `X-STC-Bypass` or `X-Headroom-Bypass`.
    pub bypass: Option<&'a [u8]>,
}

/// What applies to one request.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) mode: Mode,
    pub(crate) format: FormatChoice,
    pub(crate) min_bytes: usize,
    pub(crate) dedup: bool,
    /// The most bytes of a text in the modes that lose something.
    pub(crate) cap: usize,
    pub(crate) method: Method,
    /// Whether secrets are replaced, if the request says so.
    pub(crate) redact: Option<bool>,
    pub(crate) schemas: Schemas,
    /// Whether a memo may be used.
    pub(crate) memo: bool,
    /// The session, if the option or the header names it.
    pub(crate) session_option: Option<Vec<u8>>,
    pub(crate) session_header: Option<Vec<u8>>,
    pub(crate) skip: Arc<SkipTools>,
}

/// The tools whose results stay.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkipTools {
    families: Vec<Family>,
    names: Option<GlobSet>,
}

impl SkipTools {
    /// Compiles a list of families, names and globs.
    pub(crate) fn new(entries: &[String]) -> Result<Self, String> {
        let mut skip = Self::default();
        let mut globs = GlobSetBuilder::new();
        let mut any = false;
        for entry in entries {
            match Family::named(entry) {
                Some(family) => skip.families.push(family),
                None => {
                    globs.add(Glob::new(entry).map_err(|_| "expected families, names or globs of tools".to_owned())?);
                    any = true;
                }
            }
        }
        if any {
            skip.names = Some(globs.build().map_err(|_| "expected fewer or shorter globs".to_owned())?);
        }
        Ok(skip)
    }

    pub(crate) fn has(&self, family: Family, name: Option<&str>) -> bool {
        let named = |names: &GlobSet| name.is_some_and(|name| names.is_match(name));
        self.families.contains(&family) || self.names.as_ref().is_some_and(named)
    }
}

/// Returns the names of all families, as `skip_tools` takes them.
#[must_use]
pub fn family_names() -> [&'static str; Family::ALL.len()] {
    Family::ALL.map(Family::name)
}

/// Returns the name of the family that a tool belongs to.
#[must_use]
pub fn family_of_tool(name: &str) -> &'static str {
    Family::of_tool(name).name()
}

/// What a route allows its requests to choose.
pub(crate) struct Allowed<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) skip: &'a Arc<SkipTools>,
    /// Whether the host writes TOON.
    pub(crate) toon: bool,
}

impl Allowed<'_> {
    /// Returns what applies without options.
    pub(crate) fn choice(&self) -> Choice {
        Choice {
            mode: self.settings.mode,
            format: self.settings.format,
            min_bytes: self.settings.min_bytes,
            dedup: self.settings.dedup,
            cap: self.settings.cap.bytes,
            method: self.settings.dictionary.method,
            redact: None,
            schemas: self.settings.schemas,
            memo: true,
            session_option: None,
            session_header: None,
            skip: self.skip.clone(),
        }
    }

    /// Applies the headers.
    pub(crate) fn headers(&self, headers: &HeaderOptions<'_>, choice: &mut Choice) -> Result<(), BadOption> {
        let text = |value: &[u8]| String::from_utf8_lossy(value).trim().to_ascii_lowercase();
        if let Some(mode) = headers.mode {
            choice.mode = self.mode("X-STC-Mode", &text(mode))?;
        }
        if let Some(session) = headers.session {
            choice.session_header = Some(session_name("X-STC-Session", session)?);
        }
        match headers.bypass.map(text).as_deref() {
            None | Some("false" | "0") => {}
            Some("true" | "1") => choice.mode = self.mode("X-STC-Bypass", "disabled")?,
            Some(_) => return Err(BadOption::new("X-STC-Bypass", "expected true or false")),
        }
        Ok(())
    }

    /// Applies the members of the body.
    pub(crate) fn body(&self, body: &[u8], stc: &Slot, forge: &Slot, choice: &mut Choice) -> Result<(), BadOption> {
        if let Some(forge) = placed("_forge", forge)? {
            self.forge(body, forge, choice)?;
        }
        if let Some(stc) = placed("_stc", stc)? {
            self.compression("_stc", body, stc, true, choice)?;
        }
        Ok(())
    }

    fn forge(&self, body: &[u8], forge: &Span, choice: &mut Choice) -> Result<(), BadOption> {
        if body[forge.start] != b'{' {
            return Ok(()); // not an object of options: it stays
        }
        for (name, value) in members("_forge", body, forge)? {
            match name.as_str() {
                "tool_output_compression" => {
                    self.compression("_forge.tool_output_compression", body, &value, false, choice)?;
                }
                "schema_compression" => {
                    let field = "_forge.schema_compression";
                    match string(field, body, &value)?.as_str() {
                        "disabled" | "off" | "none" => choice.schemas = Schemas::Keep,
                        "minify" => choice.schemas = Schemas::Minify,
                        _ => return Err(BadOption::new(field, "expected disabled or minify")),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Applies a mode, or an object of options.
    fn compression(
        &self,
        field: &str,
        body: &[u8],
        value: &Span,
        ours: bool,
        choice: &mut Choice,
    ) -> Result<(), BadOption> {
        match body[value.start] {
            b'"' => {
                let mode = string(field, body, value)?;
                choice.mode = self.mode_or_synonym(field, &mode, ours)?;
                Ok(())
            }
            b'{' => {
                for (name, value) in members(field, body, value)? {
                    self.option(&format!("{field}.{name}"), &name, body, &value, ours, choice)?;
                }
                Ok(())
            }
            _ => Err(BadOption::new(field, "expected a mode or an object of options")),
        }
    }

    fn option(
        &self,
        field: &str,
        name: &str,
        body: &[u8],
        value: &Span,
        ours: bool,
        choice: &mut Choice,
    ) -> Result<(), BadOption> {
        match name {
            "mode" => choice.mode = self.mode_or_synonym(field, &string(field, body, value)?, ours)?,
            "dedup" => choice.dedup = boolean(field, body, value)?,
            "memo" => choice.memo = boolean(field, body, value)?,
            "session_id" => {
                choice.session_option = Some(session_name(field, string(field, body, value)?.as_bytes())?);
            }
            "redact_secrets" => {
                let wanted = boolean(field, body, value)?;
                if !wanted && self.settings.redact.enabled == RedactWhen::Required {
                    return Err(BadOption::new(field, "false is not allowed here: redaction is required"));
                }
                choice.redact = Some(wanted);
            }
            "method" => {
                let method = Method::named(&string(field, body, value)?);
                choice.method = method.map_err(|why| BadOption::new(field, why))?;
            }
            "max_output_bytes" => {
                let bytes = json(body, value).and_then(|value| value.as_u64()).filter(|bytes| *bytes > 0);
                let bytes = bytes.ok_or_else(|| BadOption::new(field, "expected a positive integer"))?;
                choice.cap = usize::try_from(bytes).unwrap_or(usize::MAX).min(CapSettings::MOST);
            }
            "format" if ours => {
                let format = FormatChoice::named(&string(field, body, value)?);
                let format = format.map_err(|why| BadOption::new(field, why))?;
                if format == FormatChoice::Toon && !self.toon {
                    return Err(BadOption::new(field, "this program does not write toon"));
                }
                choice.format = format;
            }
            "min_bytes" if ours => {
                let bytes = json(body, value).and_then(|value| value.as_u64()).and_then(|bytes| bytes.try_into().ok());
                choice.min_bytes = bytes.ok_or_else(|| BadOption::new(field, "expected a number of bytes"))?;
            }
            "skip_tools" if ours => choice.skip = Arc::new(skip_tools(field, body, value)?),
            "schemas" if ours => {
                choice.schemas =
                    Schemas::named(&string(field, body, value)?).map_err(|why| BadOption::new(field, why))?;
            }
            "expand" if ours => only_false(field, body, value)?,
            "debug" if ours => return Err(BadOption::new(field, "not available in this version")),
            _ => {
                let known: &[&str] = if ours { &OURS } else { &FORGES };
                // An answer repeats no word of a client, but names that are our own.
                let object = if ours { "_stc" } else { "_forge.tool_output_compression" };
                let field = if OURS.contains(&name) { field } else { object };
                return Err(BadOption::new(field, format!("unknown option; expected {}", listed(known))));
            }
        }
        Ok(())
    }

    fn mode_or_synonym(&self, field: &str, name: &str, ours: bool) -> Result<Mode, BadOption> {
        match name {
            "off" | "none" if !ours => self.mode(field, "disabled"),
            "on" if !ours => Ok(self.settings.mode),
            name => self.mode(field, name),
        }
    }

    fn mode(&self, field: &str, name: &str) -> Result<Mode, BadOption> {
        let mode = Mode::named(name).map_err(|why| BadOption::new(field, why))?;
        if self.settings.allow.contains(&mode) {
            return Ok(mode);
        }
        let allowed: Vec<_> = self.settings.allow.iter().map(|mode| mode.name()).collect();
        Err(BadOption::new(field, format!("{} is not allowed here; expected {}", mode.name(), listed(&allowed))))
    }
}

/// The options of `_stc` that this version follows.
const OURS: [&str; 11] = [
    "mode",
    "format",
    "method",
    "dedup",
    "min_bytes",
    "max_output_bytes",
    "redact_secrets",
    "skip_tools",
    "session_id",
    "memo",
    "schemas",
];
/// The options of `_forge.tool_output_compression` that this version follows.
const FORGES: [&str; 7] = ["mode", "method", "dedup", "max_output_bytes", "redact_secrets", "session_id", "memo"];

fn placed<'a>(field: &str, slot: &'a Slot) -> Result<Option<&'a Span>, BadOption> {
    match slot {
        Slot::Missing => Ok(None),
        Slot::Once(span) if span.len() > LONGEST_OPTIONS => Err(BadOption::new(field, "longer than 16 KiB")),
        Slot::Once(span) => Ok(Some(span)),
        Slot::Repeated => Err(BadOption::new(field, "given twice")),
    }
}

/// Returns the members of an object, each key once.
fn members(field: &str, body: &[u8], object: &Span) -> Result<Vec<(String, Span)>, BadOption> {
    let mut found: Vec<(String, Span)> = Vec::new();
    for member in span::members(body, object.clone()) {
        let key = span::string(body, &member.key).map(String::from).unwrap_or_default();
        if found.iter().any(|(other, _)| *other == key) {
            return Err(BadOption::new(field, "a member is given twice"));
        }
        found.push((key, member.value));
    }
    Ok(found)
}

fn json(body: &[u8], value: &Span) -> Option<Value> {
    serde_json::from_slice(&body[value.clone()]).ok()
}

fn string(field: &str, body: &[u8], value: &Span) -> Result<String, BadOption> {
    let string = span::string(body, value).map(String::from);
    string.ok_or_else(|| BadOption::new(field, "expected a string"))
}

fn boolean(field: &str, body: &[u8], value: &Span) -> Result<bool, BadOption> {
    match &body[value.clone()] {
        b"true" => Ok(true),
        b"false" => Ok(false),
        _ => Err(BadOption::new(field, "expected true or false")),
    }
}

/// Reads an option of which only `false` is available.
fn only_false(field: &str, body: &[u8], value: &Span) -> Result<(), BadOption> {
    match boolean(field, body, value)? {
        false => Ok(()),
        true => Err(later(field, "true")),
    }
}

fn session_name(field: &str, name: &[u8]) -> Result<Vec<u8>, BadOption> {
    let fits = (1..=LONGEST_SESSION).contains(&name.len());
    if fits { Ok(name.to_vec()) } else { Err(BadOption::new(field, "expected 1 to 256 bytes")) }
}

fn skip_tools(field: &str, body: &[u8], value: &Span) -> Result<SkipTools, BadOption> {
    let wrong = || BadOption::new(field, "expected at most 64 names, each of at most 128 bytes");
    let Some(Value::Array(entries)) = json(body, value) else { return Err(wrong()) };
    let name = |entry: &Value| entry.as_str().filter(|name| name.len() <= LONGEST_TOOL).map(String::from);
    let names: Option<Vec<_>> = entries.iter().map(name).collect();
    let names = names.filter(|names| names.len() <= MOST_SKIPPED_TOOLS).ok_or_else(wrong)?;
    SkipTools::new(&names).map_err(|why| BadOption::new(field, why))
}

fn later(field: &str, value: &str) -> BadOption {
    BadOption::new(field, format!("{value} is not available in this version"))
}
