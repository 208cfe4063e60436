//! The README's service, its commands and their output.

#[allow(dead_code)]
mod rows {
    include!("../examples/rows/service.rs");

    pub(super) fn service() -> (Router, &'static str) {
        (app(), ROWS)
    }
}

use stc_layer::{Filter, Policy};
use std::process::Command;

const README: &str = include_str!("../README.md");

#[test]
fn the_readme_shows_the_example() {
    assert!(README.contains(include_str!("../examples/rows/service.rs")));
}

#[test]
fn the_readme_shows_a_whole_policy() {
    let block = README.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let shown: Policy = toml::from_str(block).unwrap();
    assert!(!shown.routes.admits(Some("/internal/x/y")) && !shown.tools.admits(Some("delete_all")));
    // All other settings are the defaults.
    let shown = Policy { routes: Filter::default(), tools: Filter::default(), ..shown };
    assert_eq!(format!("{shown:?}"), format!("{:?}", Policy::default()));
}

#[test]
fn the_readme_s_rules_are_valid() {
    let block = README.split("```toml\n").nth(2).unwrap().split("```").next().unwrap();
    let policy: Policy = toml::from_str(block).unwrap();
    assert!(policy.check().is_ok() && policy.clients.len() == 1 && policy.overrides.len() == 1);
}

/// The output of curl is the README's, except for the date.
#[tokio::test(flavor = "multi_thread")]
async fn the_readme_shows_what_curl_prints() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/rows", listener.local_addr().unwrap());
    let (app, json) = rows::service();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let curl = move |arguments: &[&str]| {
        let output = Command::new("curl").args(arguments).arg(&url).output().expect("curl is installed");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().replace('\r', "")
    };
    let answered = tokio::task::spawn_blocking(move || {
        (curl(&["-si", "-H", "Accept-Encoding: stc"]), curl(&["-s", "-H", "Accept-Encoding: stc"]), curl(&["-s"]))
    });
    let (asked, body, plain) = answered.await.unwrap();
    let printed: Vec<_> = asked.lines().filter(|line| !line.starts_with("date:")).collect();
    assert!(README.contains(&format!("```text\n{}\n```", printed.join("\n"))), "{asked}");
    assert_eq!(plain, json);
    assert_eq!(stc::decode(body.as_bytes()).unwrap(), stc::decode(plain.as_bytes()).unwrap());
}
