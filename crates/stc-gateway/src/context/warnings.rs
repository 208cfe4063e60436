//! Settings of `[context]`, and of the tables of routes, that are right and have no effect.

use super::settings::{merged, written};
use crate::config::mistakes::{Document, member, nearest};
use crate::config::values::ErrorAt;
use serde::Deserialize;
use stc_context::{
    Api, ApiChoice, ReaderChoice, ReaderLine, RedactWhen, SessionFrom, Settings, family_names, family_of_tool,
};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// Returns the warnings about the settings of a document without mistakes. A flag may choose another mode than the document.
pub(crate) fn of(document: &DeTable<'_>, has_flag: bool) -> Vec<ErrorAt> {
    let tables: Vec<_> = written(document).collect();
    let usual = document.get("context").and_then(|table| plain(table).as_table().cloned()).unwrap_or_default();
    // A setting of `[context]` may have its effect on one route only.
    let all: Vec<_> = tables.iter().filter_map(|table| effective(&usual, table)).collect();
    let mut found = Vec::new();
    for table in &tables {
        let is_usual = document.get("context").is_some_and(|usual| usual.span() == table.span());
        let own = effective(&usual, table);
        let read: Vec<_> = if is_usual { all.iter().collect() } else { own.iter().collect() };
        for (path, why) in useless(&read, has_flag) {
            let place = place(table, path);
            found
                .extend(place.map(|place| (Some(place), format!("`context.{}` has no effect: {why}", path.join(".")))));
        }
        families(table, &mut found);
        readers(table, own.as_ref(), &mut found);
    }
    found
}

/// A line of `readers` after one that fits all its names.
fn readers(table: &Document<'_>, own: Option<&Settings>, found: &mut Vec<ErrorAt>) {
    let written = table.get_ref().get("readers").and_then(|lines| lines.get_ref().as_array());
    let (Some(written), Some(settings)) = (written, own) else { return };
    let Some((line, by)) = ReaderLine::shadowed(&settings.readers) else { return };
    let number = settings.readers.iter().position(|one| std::ptr::eq(one, line));
    let place = number.and_then(|number| written.get(number)).map(|value| value.span().start);
    let why =
        format!("`context.readers`: `{}` has no effect: `{}` before it fits the same names", line.model, by.model);
    found.push((place, why));
}

/// Returns the settings that apply where a table is written.
fn effective(usual: &Table, table: &Document<'_>) -> Option<Settings> {
    let own: Table = table.get_ref().iter().map(|(key, value)| (key.get_ref().to_string(), plain(value))).collect();
    Settings::deserialize(Value::Table(merged(usual.clone(), &own))).ok()
}

/// Returns a value without places.
fn plain(value: &Spanned<DeValue<'_>>) -> Value {
    let value = toml::de::ValueDeserializer::from(value.clone());
    Value::deserialize(value).unwrap_or(Value::Boolean(false))
}

/// Returns where a setting is written, if it is.
fn place(table: &Document<'_>, path: &[&str]) -> Option<usize> {
    let (last, before) = path.split_last()?;
    let inner = match before {
        [] => table.get_ref(),
        before => member(table.get_ref(), before)?.get_ref().as_table()?,
    };
    inner.get(*last).map(|value| value.span().start)
}

type Useless = (&'static [&'static str], &'static str);

/// Returns the settings that have no effect where all of these apply.
fn useless(all: &[&Settings], has_flag: bool) -> Vec<Useless> {
    let every = |fits: fn(&Settings) -> bool| all.iter().all(|settings| fits(settings));
    let mut found: Vec<Useless> = Vec::new();
    if every(|settings| settings.api.fixed().is_some_and(|api| api != Api::Gemini)) {
        found.push((&["gemini_wrap"], "`api` is not gemini"));
    }
    if every(|settings| settings.memo.sessions_from.iter().all(|from| never_has(settings.api, *from))) {
        found.push((&["memo", "sessions_from"], "requests of this `api` have no such members"));
    }
    if every(|settings| settings.format.fixed().is_some() && !settings.options) {
        let why = "`format` is not by-model";
        found.extend([(&["readers"][..], why), (&["reader"], why), (&["unknown_reader"], why)]);
    } else if every(|settings| settings.reader != ReaderChoice::Auto) {
        found.push((&["unknown_reader"], "`reader` says who reads"));
    }
    if every(|settings| settings.redact.enabled == RedactWhen::Off) {
        found.extend([(&["redact", "rules"][..], "redaction is off"), (&["redact", "more"], "redaction is off")]);
    }
    if every(|settings| settings.telemetry.file.is_none()) {
        let why = "telemetry has no `file`";
        found.extend([(&["telemetry", "queue"][..], why), (&["telemetry", "event_bytes"], why)]);
    }
    if every(|settings| !settings.memo.enabled) {
        let names: [&'static [&'static str]; 6] = [
            &["memo", "entry_bytes"],
            &["memo", "session_bytes"],
            &["memo", "sessions"],
            &["memo", "total_bytes"],
            &["memo", "ttl"],
            &["memo", "sessions_from"],
        ];
        found.extend(names.map(|name| (name, "`memo.enabled` is false")));
    }
    if every(|settings| settings.store.redis.is_none()) {
        found.push((&["store", "timeout"], "the store has no `redis`"));
    }
    if !has_flag && every(|settings| !settings.mode.is_lossy() && !may_lose(settings)) {
        let why = "no request can have a mode that loses something";
        found.extend([(&["cap"][..], why), (&["excerpt"], why), (&["dictionary"], why)]);
    }
    if every(|settings| !settings.options) {
        found.push((&["allow"], "`options` is false"));
    }
    found
}

/// Returns whether a request can choose a mode that loses something.
fn may_lose(settings: &Settings) -> bool {
    settings.options && settings.allow.iter().any(|mode| mode.is_lossy())
}

fn never_has(api: ApiChoice, from: SessionFrom) -> bool {
    let Some(api) = api.fixed() else { return false };
    match from {
        SessionFrom::Option | SessionFrom::Header => false,
        SessionFrom::PromptCacheKey => !matches!(api, Api::OpenAiChat | Api::OpenAiResponses),
        SessionFrom::MetadataUserId => api != Api::Anthropic,
        SessionFrom::Conversation => api != Api::OpenAiResponses,
    }
}

/// Names of tools that were probably meant as families.
fn families(table: &Document<'_>, found: &mut Vec<ErrorAt>) {
    let entries = table.get_ref().get("skip_tools").and_then(|entries| entries.get_ref().as_array());
    for entry in entries.into_iter().flat_map(|entries| entries.iter()) {
        let Some(name) = entry.get_ref().as_str() else { continue };
        let is_family = family_names().contains(&name);
        let Some(meant) = nearest(name, family_names()).filter(|_| !is_family) else { continue };
        // `Edit` is a tool of the family `edit`, and may be meant alone.
        if family_of_tool(name) != meant && !name.contains(['*', '?', '[', '{']) {
            let why = format!(
                "`context.skip_tools`: `{name}` is taken as the name of a tool; did you mean the family `{meant}`?"
            );
            found.push((Some(entry.span().start), why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::mistakes::parse;

    #[track_caller]
    fn warned(text: &str, expected: &[&str]) {
        let document = parse(text).unwrap();
        let found: Vec<_> =
            of(document.get_ref(), false).into_iter().map(|(offset, why)| (offset.unwrap(), why)).collect();
        assert_eq!(found.len(), expected.len(), "{text}\n{found:#?}");
        for expected in expected {
            assert!(found.iter().any(|(_, why)| why.contains(expected)), "{expected}: {found:#?}");
        }
    }

    #[test]
    fn settings_without_effect() {
        warned("[context]\nmode = \"safe\"\ncap = { bytes = 5 }\nallow = [\"safe\"]\n", &[]);
        warned("[context]\napi = \"anthropic\"\ngemini_wrap = true\n", &["`context.gemini_wrap` has no effect"]);
        warned("[context]\napi = \"gemini\"\ngemini_wrap = true\n", &[]);
        warned(
            "[context]\noptions = false\nallow = [\"safe\"]\n[context.cap]\nbytes = 7\n",
            &["`context.allow`", "`context.cap`"],
        );
        warned("[context.redact]\nenabled = \"off\"\nrules = [\"-jwt\"]\n", &["`context.redact.rules`"]);
        warned("[context.telemetry]\nqueue = 7\nevent_bytes = 9\n", &["telemetry.queue", "telemetry.event_bytes"]);
        warned("[context.memo]\nenabled = false\nttl = 7\n", &["`context.memo.ttl`"]);
        warned("[context.store]\ntimeout = 1.0\n", &["`context.store.timeout`"]);
        let lines =
            "readers = [{ model = \"gpt-*\", format = \"json\" }, { model = \"gpt-4*\", format = \"stc2-labelled\" }]";
        warned(&format!("[context]\n{lines}\n"), &["`gpt-4*` has no effect: `gpt-*` before it fits the same names"]);
        let fixed = "format = \"json\"\noptions = false\nreader = \"large\"\n";
        warned(&format!("[context]\n{fixed}"), &["`context.reader` has no effect: `format` is not by-model"]);
        warned("[context]\nreader = \"large\"\nunknown_reader = \"large\"\n", &["`context.unknown_reader`"]);
        warned(
            "[context]\nunknown_reader = \"large\"\nreaders = [{ model = \"x\", format = \"stc2-labelled\" }]\n",
            &[],
        );
        let conversation = "memo = { sessions_from = [\"conversation\"] }";
        warned(&format!("[context]\napi = \"anthropic\"\n{conversation}\n"), &["`context.memo.sessions_from`"]);
        warned(&format!("[context]\napi = \"openai-responses\"\n{conversation}\n"), &[]);
    }

    /// A setting of `[context]` counts if one route uses it; that of a route counts for the route.
    #[test]
    fn settings_with_an_effect_on_some_routes() {
        let file = "[context.telemetry]\nqueue = 7\n[[routes]]\ncontext = { telemetry = { file = \"x\" } }\n";
        warned(file, &[]);
        let file = "[context.redact]\nenabled = \"off\"\n[[routes]]\ncontext = { redact = { rules = [\"-jwt\"] } }\n";
        warned(file, &["`context.redact.rules`"]);
        warned("[context]\n[[routes]]\ncontext = { api = \"ollama\", gemini_wrap = true }\n", &["gemini_wrap"]);
    }

    #[test]
    fn families_that_do_not_exist() {
        for (entries, expected) in [
            ("\"reads\"", &["did you mean the family `read`?"][..]),
            ("\"wirte\", \"grpe\"", &["family `write`", "family `grep`"]),
            ("\"read\", \"edit\", \"Edit\", \"get_file\", \"rea*\", \"query\", \"jq\"", &[]),
        ] {
            warned(&format!("[context]\nskip_tools = [{entries}]\n"), expected);
        }
    }
}
