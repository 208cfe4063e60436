//! `[context]` and the `context` of routes: a table merged over the defaults, checked when the program starts.

use crate::config::mistakes::{self, Document};
use crate::config::values::ErrorAt;
use serde::Deserialize;
use stc_context::{Context, Encode, Settings};
use stc_layer::{Format, Verify};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// What applies to routes that do not say otherwise.
#[derive(Default)]
pub(crate) struct Defaults {
    table: Table,
    /// Whether routes without a word on it have a context: with `--context`.
    on: bool,
}

impl Defaults {
    /// Reads `[context]`, `--context` and `--reader`.
    pub(crate) fn read(
        table: Option<Spanned<Table>>,
        mode: Option<&str>,
        reader: Option<&str>,
    ) -> Result<Self, ErrorAt> {
        let place = table.as_ref().map(|table| table.span().start);
        let mut defaults = Self { table: table.map(Spanned::into_inner).unwrap_or_default(), on: mode.is_some() };
        settings(defaults.table.clone()).map_err(|why| (place, why))?;
        for (flag, key, value) in [("--context", "mode", mode), ("--reader", "reader", reader)] {
            if let Some(value) = value {
                defaults.table.insert(key.to_owned(), Value::String(value.to_owned()));
                settings(defaults.table.clone()).map_err(|why| (None, format!("{flag}: {why}")))?;
            }
        }
        Ok(defaults)
    }

    /// Returns the settings of a path that compresses.
    pub(crate) fn compress(&self, own: Option<&Spanned<Value>>) -> Result<Settings, ErrorAt> {
        let table = match own.map(Spanned::get_ref) {
            Some(Value::Table(own)) => merged(self.table.clone(), own),
            _ => self.table.clone(),
        };
        settings(table).map_err(|why| (own.map(|own| own.span().start), why))
    }

    /// Returns the settings of a route; `None` if it has no context.
    pub(crate) fn route(&self, written: Option<&Spanned<Value>>) -> Result<Option<Settings>, ErrorAt> {
        let table = match written.map(Spanned::get_ref) {
            None if !self.on => return Ok(None),
            Some(Value::Boolean(false)) => return Ok(None),
            None | Some(Value::Boolean(true)) => self.table.clone(),
            Some(Value::Table(own)) => merged(self.table.clone(), own),
            Some(_) => {
                let why = "`context`: expected true, false or a table".to_owned();
                return Err((written.map(|written| written.span().start), why));
            }
        };
        settings(table).map(Some).map_err(|why| (written.map(|written| written.span().start), why))
    }
}

/// Compiles the settings of a route for a program that writes TOON if it was built so.
pub(crate) fn compile(settings: Settings) -> Result<Context, String> {
    let encode: Encode = |json| stc_layer::encode(json, Format::Toon, Verify::Off).ok();
    Context::with_toon(settings, Format::Toon.is_available().then_some(encode))
}

/// Returns the mistakes in `[context]` and in the tables of routes, each at its own place.
pub(crate) fn mistakes(document: &DeTable<'_>, text: &str) -> Vec<ErrorAt> {
    written(document).flat_map(|table| mistakes_of(table, text)).collect()
}

/// Returns `[context]`, and the `context` of routes that is a table.
pub(super) fn written<'a>(document: &DeTable<'a>) -> impl Iterator<Item = Document<'a>> {
    let routes = document.get("routes").and_then(|routes| routes.get_ref().as_array());
    let routes = routes.into_iter().flat_map(|routes| routes.iter()).filter_map(|route| route.get_ref().as_table());
    let all = std::iter::once(document).chain(routes).filter_map(|table| mistakes::table(table.get("context")?));
    all.collect::<Vec<_>>().into_iter()
}

fn mistakes_of(mut table: Document<'_>, text: &str) -> Vec<ErrorAt> {
    let mut found = Vec::new();
    loop {
        let (read, wrong) = mistakes::read::<Settings>(table.clone(), text);
        let places: Vec<_> = wrong.iter().filter_map(|(offset, _)| *offset).collect();
        found.extend(wrong);
        for offset in places {
            mistakes::cut(table.get_mut(), offset);
        }
        // What each setting allows for itself may not fit together.
        let Some(Err(why)) = read.map(compile) else { return found };
        let place = named(table.get_ref(), &why);
        found.push((place.or(Some(table.span().start)), why));
        if !place.is_some_and(|offset| mistakes::cut(table.get_mut(), offset)) {
            return found;
        }
    }
}

/// Returns the place of the setting that a message names, in the first table that has it.
pub(crate) fn place(document: &DeTable<'_>, why: &str) -> Option<usize> {
    written(document).find_map(|table| named(table.get_ref(), why))
}

/// Returns the place of the setting that a message names first, as in "`context.redact.rules`: ...". Of a table that is the
/// place of the text that the message quotes next.
fn named(table: &DeTable<'_>, why: &str) -> Option<usize> {
    let mut quoted = why.split('`').skip(1).step_by(2);
    let name = quoted.next()?.strip_prefix("context.")?;
    let value = mistakes::member(table, &name.split('.').collect::<Vec<_>>())?;
    let text = quoted.next().filter(|_| value.get_ref().is_table());
    text.and_then(|text| text_at(value, text)).or(Some(value.span().start))
}

/// Returns the place of a text inside a value, with or without a hyphen before it.
fn text_at(value: &Spanned<DeValue<'_>>, text: &str) -> Option<usize> {
    match value.get_ref() {
        DeValue::String(found) if found.strip_prefix('-').unwrap_or(found) == text => Some(value.span().start),
        DeValue::Array(array) => array.iter().find_map(|value| text_at(value, text)),
        DeValue::Table(table) => table.iter().find_map(|(_, value)| text_at(value, text)),
        _ => None,
    }
}

/// Reads and checks settings.
fn settings(table: Table) -> Result<Settings, String> {
    let settings = Settings::deserialize(Value::Table(table)).map_err(|error| error.message().trim().to_owned())?;
    compile(settings.clone())?;
    Ok(settings)
}

/// Puts the members of `own` over those of `table`.
pub(super) fn merged(mut table: Table, own: &Table) -> Table {
    for (key, value) in own {
        let value = match (table.get(key), value) {
            (Some(Value::Table(under)), Value::Table(over)) => Value::Table(merged(under.clone(), over)),
            _ => value.clone(),
        };
        table.insert(key.clone(), value);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings in docs/context.md are the defaults.
    #[test]
    fn the_page_shows_the_defaults() {
        let page = include_str!("../../../../docs/context.md");
        let text = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let file: Table = toml::from_str(text).unwrap();
        let mut shown = settings(file["context"].as_table().unwrap().clone()).unwrap();
        shown.telemetry.file = None;
        assert_eq!(format!("{shown:?}"), format!("{:?}", Settings::default()));
        for name in file["context"].as_table().unwrap().keys() {
            assert!(format!("{:?}", Settings::default()).contains(&format!("{name}: ")), "{name}");
        }
    }

    #[test]
    fn a_route_is_merged_over_the_defaults() {
        let spanned = |text: &str| {
            #[derive(Deserialize)]
            struct Only {
                context: Spanned<Value>,
            }
            toml::from_str::<Only>(text).unwrap().context
        };
        let defaults = Defaults { table: toml::from_str("min_bytes = 7\n[telemetry]\nqueue = 9").unwrap(), on: false };
        let own = spanned("context = { dedup = true, telemetry = { event_bytes = 5 } }");
        let settings = defaults.route(Some(&own)).unwrap().unwrap();
        assert_eq!((settings.min_bytes, settings.dedup), (7, true));
        assert_eq!((settings.telemetry.queue, settings.telemetry.event_bytes), (9, 5));
        assert!(defaults.route(None).unwrap().is_none());
        assert!(defaults.route(Some(&spanned("context = false"))).unwrap().is_none());
        let on = Defaults::read(None, Some("lossless"), None).unwrap();
        assert!(on.route(None).unwrap().is_some());
        assert!(on.route(Some(&spanned("context = false"))).unwrap().is_none());
    }
}
