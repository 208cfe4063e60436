//! `[context]` and the `context` of routes: a table merged over the defaults, checked when the program starts.

use crate::config::values::ErrorAt;
use serde::Deserialize;
use stc_context::{Context, Encode, Settings};
use stc_layer::{Format, Verify};
use toml::{Spanned, Table, Value};

/// What applies to routes that do not say otherwise.
#[derive(Default)]
pub(crate) struct Defaults {
    table: Table,
    /// Whether routes without a word on it have a context: with `--context`.
    on: bool,
}

impl Defaults {
    /// Reads `[context]` and `--context`.
    pub(crate) fn read(table: Option<Spanned<Table>>, mode: Option<&str>) -> Result<Self, ErrorAt> {
        let place = table.as_ref().map(|table| table.span().start);
        let mut defaults = Self { table: table.map(Spanned::into_inner).unwrap_or_default(), on: mode.is_some() };
        settings(defaults.table.clone()).map_err(|why| (place, why))?;
        if let Some(mode) = mode {
            defaults.table.insert("mode".to_owned(), Value::String(mode.to_owned()));
            settings(defaults.table.clone()).map_err(|why| (None, format!("--context: {why}")))?;
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

/// Reads and checks settings.
fn settings(table: Table) -> Result<Settings, String> {
    let settings = Settings::deserialize(Value::Table(table)).map_err(|error| error.message().trim().to_owned())?;
    compile(settings.clone())?;
    Ok(settings)
}

/// Puts the members of `own` over those of `table`.
fn merged(mut table: Table, own: &Table) -> Table {
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
        let on = Defaults::read(None, Some("lossless")).unwrap();
        assert!(on.route(None).unwrap().is_some());
        assert!(on.route(Some(&spanned("context = false"))).unwrap().is_none());
    }
}
