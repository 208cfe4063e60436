//! The list of kinds: name, description, the style in which its servers print, and the generator.

use crate::kinds::{
    cloud, cluster, commerce, config, desk, develop, forge, geo, graphql, logs, prose, rpc, search, series, shapes,
    spelling, sql,
};
use crate::rng::Rng;
use crate::style::Style;
use crate::writer::Writer;

/// A kind of tool response that can be made at any size.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name for [`make`].
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// How servers of this kind print their JSON.
    pub style: Style,
    write: fn(&mut Rng, &mut Writer),
}

impl Kind {
    /// Makes a document of about `bytes` bytes. It has at least one row, so it may exceed a very small size.
    pub fn make(&self, rng: &mut Rng, bytes: usize) -> Vec<u8> {
        self.make_in(self.style, rng, bytes)
    }

    /// Makes a document of about `bytes` bytes in the given style.
    pub fn make_in(&self, style: Style, rng: &mut Rng, bytes: usize) -> Vec<u8> {
        let mut writer = Writer::new(style, bytes);
        (self.write)(rng, &mut writer);
        writer.finish()
    }
}

/// Returns all kinds.
pub fn catalogue() -> &'static [Kind] {
    KINDS
}

/// Returns the kind of that name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Makes a document of the kind `name`, of about `target_bytes` bytes. The same arguments always give the same bytes.
///
/// Returns `None` if there is no such kind. Time and memory are linear in `target_bytes`.
pub fn make(name: &str, seed: u64, target_bytes: usize) -> Option<Vec<u8>> {
    Some(kind(name)?.make(&mut Rng::named(name, seed), target_bytes))
}

const fn entry(name: &'static str, style: Style, write: fn(&mut Rng, &mut Writer), about: &'static str) -> Kind {
    Kind { name, about, style, write }
}

const MINIFIED: Style = Style::MINIFIED;
const GO: Style = Style::GO;
const PHP: Style = Style::PHP;
const PYTHON: Style = Style::PYTHON;
const PRETTY_2: Style = Style::PRETTY_2;
const PRETTY_4: Style = Style::PRETTY_4;

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    entry("issues", MINIFIED, forge::issues, "issues of a forge: author, labels, reactions, URLs that repeat the number"),
    entry("issue-thread", PRETTY_2, forge::issue_thread, "one issue and the comments under it"),
    entry("pulls", MINIFIED, forge::pulls, "pull requests: head and base with whole repositories, null where the fork is gone"),
    entry("repositories", MINIFIED, forge::repositories, "repositories: the same owners in full, ten URL templates each"),
    entry("repository", PRETTY_2, forge::repository, "one repository in detail: parent, languages, contributors"),
    entry("commits", MINIFIED, forge::commits, "commits: the author as git and as the forge know them, parents"),
    entry("users", PYTHON, forge::users, "flat profiles in an envelope, some members null"),
    entry("customers", PRETTY_2, commerce::customers, "customers of a payment provider: many nulls, metadata, addresses"),
    entry("invoices", PRETTY_2, commerce::invoices, "invoices with nested lists of lines"),
    entry("payments", MINIFIED, commerce::payments, "charges with outcome and card, failures now and then"),
    entry("orders", PHP, commerce::orders, "a shop's orders: addresses, items, optional discounts and notes"),
    entry("order", PRETTY_4, commerce::order, "one order: two long lists of different shape"),
    entry("products", PHP, commerce::products, "products with variants, HTML in strings, slashes escaped"),
    entry("search-hits", MINIFIED, search::hits, "hits of a document index with highlights and facets"),
    entry("web-search", PYTHON, search::web, "results of a web search as tools give them to agents"),
    entry("code-search", MINIFIED, search::code, "matches in source code: paths, lines, submatches"),
    entry("pods", PRETTY_4, cluster::pods, "pods of a cluster: labels, ownership trees, conditions, optional keys"),
    entry("deployments", PRETTY_2, cluster::deployments, "deployments with their pod templates"),
    entry("events", GO, cluster::events, "events of a cluster: few messages, many times"),
    entry("config-maps", GO, cluster::config_maps, "files of configuration as strings, keyed by file name"),
    entry("instances", PRETTY_4, cloud::instances, "virtual machines in reservations, tags as lists of pairs"),
    entry("security-groups", PRETTY_4, cloud::security_groups, "firewall rules nested in groups"),
    entry("bucket-objects", PRETTY_4, cloud::objects, "objects of a bucket: shared key prefixes, quoted entity tags"),
    entry("role-policies", PYTHON, cloud::policies, "roles and policies: members that are a string or a list"),
    entry("sql-rows", MINIFIED, sql::rows, "a flat table: the best case"),
    entry("sql-nulls", PYTHON, sql::nulls, "a flat table of which a third is null"),
    entry("sql-wide", MINIFIED, sql::wide, "a table of thirty-five columns, mostly flags"),
    entry("sql-columns", PYTHON, sql::columns, "columns named once, rows as arrays"),
    entry("weather", MINIFIED, series::weather, "hourly forecast as parallel arrays of numbers"),
    entry("forecast", PRETTY_2, series::forecast, "daily forecast: nested objects of equal shape"),
    entry("metrics", MINIFIED, series::metrics, "labelled series of [seconds, \"value\"]"),
    entry("points", MINIFIED, series::points, "a time series with gaps"),
    entry("candles", MINIFIED, series::candles, "rows of prices, numbers and numbers as strings"),
    entry("logs", MINIFIED, logs::flat, "access logs: the same keys in every line"),
    entry("logs-ragged", MINIFIED, logs::ragged, "application logs: keys depend on what happened"),
    entry("logs-wrapped", GO, logs::wrapped, "container logs: every line is JSON inside a string"),
    entry("spans", MINIFIED, logs::spans, "spans of a trace, attributes as typed pairs"),
    entry("graphql", MINIFIED, graphql::edges, "edges, nodes and pageInfo, connections inside nodes"),
    entry("graphql-errors", PRETTY_2, graphql::errors, "data with nulls and the errors that explain them"),
    entry("json-rpc", MINIFIED, rpc::batch, "a batch of answers, errors among them"),
    entry("mcp-result", MINIFIED, rpc::result, "a tool result: minified JSON inside a string"),
    entry("mcp-result-pretty", MINIFIED, rpc::result_pretty, "a tool result: indented JSON inside a string"),
    entry("mcp-blocks", PYTHON, rpc::blocks, "a tool result of many blocks: prose, JSON in strings, resources, an image"),
    entry("mcp-structured", MINIFIED, rpc::structured, "a tool result twice: as text and as structuredContent"),
    entry("mcp-tools", PRETTY_2, rpc::tools, "tools/list: descriptions and JSON Schemas"),
    entry("config-deep", PRETTY_2, config::deep, "configuration: sections in sections"),
    entry("package", PRETTY_2, config::package, "package metadata: versions keyed by number"),
    entry("lock-file", PRETTY_2, config::lock, "a lock file: packages keyed by path, one shape with optional keys"),
    entry("openapi", PYTHON, config::openapi, "an interface description: paths, operations, schemas by reference"),
    entry("geojson", MINIFIED, geo::features, "features: mostly coordinates"),
    entry("track", MINIFIED, geo::track, "one long array of positions"),
    entry("places", PRETTY_2, geo::places, "places nearby: nested, optional, thin spaces in text"),
    entry("tickets", MINIFIED, desk::tickets, "tickets with custom fields, nearly all null"),
    entry("messages", PHP, desk::messages, "chat: mentions, reactions, threads, emoji as escapes"),
    entry("calendar", PRETTY_2, desk::calendar, "calendar events with attendees"),
    entry("mail", MINIFIED, desk::mail, "mail: headers as pairs, bodies with line ends"),
    entry("page-blocks", MINIFIED, desk::blocks, "a page of rich-text blocks, the same flags on every run"),
    entry("file-tree", PRETTY_2, develop::files, "a directory tree: one shape inside itself"),
    entry("ci-runs", MINIFIED, develop::runs, "pipeline runs: steps in jobs in runs"),
    entry("diagnostics", MINIFIED, develop::diagnostics, "compiler diagnostics: ranges, codes of two types"),
    entry("page-tree", MINIFIED, develop::page_tree, "a page's accessibility tree: deep and ragged"),
    entry("unicode", MINIFIED, prose::unicode, "many scripts as UTF-8: right to left, combining, emoji, U+2028"),
    entry("unicode-ascii", PYTHON, prose::unicode, "the same scripts, all of it as escapes"),
    entry("markdown", GO, prose::markdown, "long Markdown texts"),
    entry("stack-traces", MINIFIED, prose::traces, "errors with long stack traces"),
    entry("diffs", GO, prose::diffs, "patches of a change"),
    entry("near-table", MINIFIED, shapes::near_table, "a table but for one row in two hundred"),
    entry("last-key", MINIFIED, shapes::last_key, "rows that differ in the last key"),
    entry("reordered", MINIFIED, shapes::reordered, "the same keys in different orders"),
    entry("nested-table", MINIFIED, shapes::nested_table, "tables in tables in tables"),
    entry("keyed", PRETTY_2, shapes::keyed, "an object whose values share a shape"),
    entry("matrix", MINIFIED, shapes::matrix, "equal rows of integers"),
    entry("vectors", MINIFIED, shapes::vectors, "embeddings: long arrays of small floats"),
    entry("mixed", MINIFIED, shapes::mixed, "an array of everything, strings that look like the format"),
    entry("sparse", MINIFIED, shapes::sparse, "rows with a few of fifty optional keys"),
    entry("distinct-keys", MINIFIED, shapes::distinct_keys, "one object, no key twice: a flood for anything that interns"),
    entry("numbers", MINIFIED, spelling::numbers, "numbers in every spelling"),
    entry("escapes", MINIFIED, spelling::escapes, "strings in every spelling, lone surrogates too"),
    entry("quoted-keys", PYTHON, spelling::keys, "rows whose keys need quotes"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::fault;

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        for kind in catalogue() {
            let first = make(kind.name, 7, 9_000);
            assert_eq!(first, make(kind.name, 7, 9_000), "{}", kind.name);
            assert_ne!(first, make(kind.name, 8, 9_000), "{}", kind.name);
        }
        assert_eq!(make("no such kind", 1, 1), None);
    }

    #[test]
    fn sizes_are_roughly_met() {
        for kind in catalogue() {
            for (target, seeds) in [(4_100, 6), (5_000, 4), (7_000, 3), (20_000, 1), (200_000, 1)] {
                for seed in 1..=seeds {
                    let length = kind.make(&mut Rng::named(kind.name, seed), target).len();
                    let range = target * 3 / 4..=target * 5 / 4;
                    assert!(range.contains(&length), "{} of {target} is {length}, seed {seed}", kind.name);
                }
            }
        }
    }

    #[test]
    fn every_kind_is_well_formed_at_every_size() {
        for kind in catalogue() {
            for style in [kind.style, Style::MINIFIED, Style::PYTHON, Style::PRETTY_2] {
                for target in [0, 256, 1_000, 30_000] {
                    let document = kind.make_in(style, &mut Rng::new(target as u64), target);
                    assert_eq!(fault(&document), None, "{} of {target}", kind.name);
                }
            }
        }
    }

    #[test]
    fn names_are_distinct() {
        let mut names: Vec<_> = catalogue().iter().map(|kind| kind.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), catalogue().len());
    }
}
