//! README.md and docs/: the texts and figures shown there are what the command prints, and every link leads to a file.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{run, text};

/// The columns of README's table, by their names in `stats --json`.
const COLUMNS: [&str; 5] = ["minified", "toon", "stc1", "stc2", "stc2_labelled"];

/// Returns the path of a file of the repository.
fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn page(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}")).replace("\r\n", "\n")
}

/// Runs `stc` on a file and returns what it prints.
fn printed(arguments: &[&str], file: &str) -> String {
    let path = path(file);
    let arguments: Vec<&str> = arguments.iter().copied().chain([text(&path)]).collect();
    String::from_utf8(run(&arguments, "").fine()).expect("UTF-8")
}

fn statistics(file: &str) -> Value {
    serde_json::from_str(&printed(&["stats", "--json"], file)).expect("JSON")
}

fn in_a_block(page: &str, text: &str) -> bool {
    page.contains(&format!("```text\n{}\n```", text.trim_end_matches('\n')))
}

/// Returns the number with commas between thousands, as pages write it.
fn with_commas(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", with_commas(number / 1000), number % 1000) }
}

#[test]
fn the_first_example_is_what_the_command_writes_and_counts() {
    let readme = page("README.md");
    assert!(in_a_block(&readme, &printed(&["encode"], "docs/example.json")));
    let wrapped = readme.split("```text\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a block");
    assert_eq!(wrapped.replace('\n', ""), printed(&["encode", "--format", "json"], "docs/example.json"));

    let file = &statistics("docs/example.json")["files"][0];
    let figures = |format: &str, between: &str| format!("{}{between}{}", file[format]["bytes"], file[format]["o200k"]);
    assert!(readme.contains(&format!("(wrapped here), {} tokens:", figures("minified", " bytes and "))));
    let stc2 = format!("{} tokens (TOON: {}):", figures("stc2", " bytes and "), figures("toon", " and "));
    assert!(readme.contains(&format!("as STC 2, {stc2}")), "{stc2}");
}

#[test]
fn the_configuration_of_a_desktop_client_is_accepted() {
    let readme = page("crates/stc-cli/README.md");
    let block = readme.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let file: Value = serde_json::from_str(block).expect("JSON");
    let servers = file["mcpServers"].as_object().expect("servers");
    assert_eq!(servers.len(), 2);
    for server in servers.values() {
        assert_eq!(server["command"], "stc");
        let arguments = server["args"].as_array().expect("a list").iter().map(|word| word.as_str().expect("a string"));
        // Help is printed if all options before it are known.
        let options: Vec<&str> = arguments.take_while(|word| *word != "--").chain(["--help"]).collect();
        let help = String::from_utf8(run(&options, "").fine()).expect("UTF-8");
        assert!(help.contains("stc mcp"), "{help}");
    }
}

#[test]
fn the_table_of_tokens_is_what_stats_counts() {
    let readme = page("README.md");
    let statistics = statistics("corpus/made");
    let files = statistics["files"].as_array().expect("files");
    let tokens = |file: &Value, column: &str| file[column]["o200k"].as_u64();
    let mut compared = 0;
    for file in files {
        let path = Path::new(file["file"].as_str().expect("a name"));
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let Some(row) = readme.lines().find(|line| line.starts_with(&format!("| `{name}`"))) else { continue };
        let cells: Vec<String> = row.split(" | ").skip(1).map(|cell| cell.trim_end_matches(" |").to_owned()).collect();
        assert_eq!(cells, COLUMNS.map(|column| with_commas(tokens(file, column).expect("tokens"))), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 7);

    // Shares of the sums, over the files that the format can have.
    let with_toon = files.iter().filter(|file| tokens(file, "toon").is_some()).count();
    let shares = COLUMNS.map(|column| {
        let counted = files.iter().filter_map(|file| Some((tokens(file, column)?, tokens(file, "minified")?)));
        let (sum, minified) = counted.fold((0, 0), |(sum, of), (tokens, minified)| (sum + tokens, of + minified));
        format!("{:.3}", sum as f64 / minified as f64)
    });
    let row = format!("| all {} files (TOON: {with_toon}) | {} |", files.len(), shares.join(" | "));
    assert!(readme.contains(&row), "{row}");
}

#[test]
fn the_legend_is_the_one_that_is_printed() {
    let legend = String::from_utf8(run(&["legend"], "").fine()).expect("UTF-8");
    assert!(in_a_block(&page("README.md"), &legend));
    assert_eq!(legend.lines().count(), 9, "docs/gateways.md says how many lines it has");
}

#[test]
fn the_examples_of_the_format_are_what_the_command_writes() {
    let format = page("docs/format.md");
    let block = format.split("```text\n").nth(1).and_then(|rest| rest.split("\n```").next()).expect("a block");
    let (json, stc2) = block.split_once("\n\n").expect("JSON and STC 2");
    assert_eq!(run(&["encode"], json).fine(), stc2.as_bytes());
    let labelled = String::from_utf8(run(&["encode", "--format", "stc2-labelled"], json).fine()).expect("UTF-8");
    assert!(in_a_block(&format, &labelled), "{labelled}");
}

#[test]
fn the_message_about_crlf_is_the_one_that_is_printed() {
    let message = run(&["decode"], "[3]{*,ok=true}:\r\n{id:1}\r\n{id:2}\r\n{id:3}\r\n").errors;
    assert!(message.starts_with("error: ") && page("docs/errors.md").contains(&message), "{message}");
}

#[test]
fn every_link_leads_to_a_file() {
    let pages = fs::read_dir(path("docs")).expect("docs").map(|entry| entry.expect("an entry").file_name());
    let pages = pages.filter_map(|name| name.into_string().ok()).filter(|name| name.ends_with(".md"));
    let mut pages: Vec<String> = pages.map(|name| format!("docs/{name}")).collect();
    let readme = page("README.md");
    for page in &pages {
        assert_eq!(readme.matches(&format!("]({page})")).count(), 1, "README links {page} once");
    }
    pages.push("README.md".to_owned());
    let mut links = 0;
    for name in &pages {
        let folder = path(name).parent().expect("a folder").to_owned();
        for link in page(name).split("](").skip(1).map(|rest| rest.split(')').next().expect("a link")) {
            assert!(folder.join(link).exists(), "{name} links {link}");
            links += 1;
        }
    }
    assert!(links > 30, "{links} links");
}
