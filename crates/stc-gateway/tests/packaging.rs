//! The packaged files fit the program: valid configurations, existing commands.

use std::path::Path;
use std::process::Command;

fn packaged(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging").join(name)).unwrap()
}

fn check(configuration: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.toml");
    std::fs::write(&path, configuration).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stc-gateway"));
    let output =
        command.arg("check-config").arg(&path).env("STC_STORE_SECRET", "of the test, long enough").output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn configurations_are_valid() {
    let said = check(&packaged("gateway.toml"));
    assert!(said.contains("good, 1 routes"), "{said}");
    let sidecar = packaged("kubernetes-sidecar.yaml");
    let inside = sidecar.split("gateway.toml: |\n").nth(1).unwrap().split("---").next().unwrap();
    let unindented = |text: &str| text.lines().map(|line| line.trim_start().to_owned() + "\n").collect::<String>();
    let said = check(&unindented(inside));
    assert!(said.contains("good, 1 routes"), "{said}");
    let compose = packaged("compose-redis.yaml");
    let said = check(&unindented(compose.split("content: |\n").nth(1).unwrap()));
    assert!(said.contains("good, 1 routes"), "{said}");
}

#[test]
fn commands_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_stc-gateway")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for name in ["stc-gateway.service", "kubernetes-sidecar.yaml", "compose-redis.yaml", "Dockerfile"] {
        let text = packaged(name);
        let words = text.split(|letter: char| letter.is_whitespace() || "\"[],=".contains(letter));
        let flags: Vec<_> = words
            .filter(|word| word.starts_with("--config") || word.starts_with("STC_GATEWAY") || *word == "check-config")
            .collect();
        assert!(!flags.is_empty() && flags.iter().all(|flag| help.contains(flag)), "{name}: {flags:?}");
    }
}
