//! The command in a shell: help, completions, colours, closed pipes and full disks.

use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

#[cfg(target_os = "linux")]
use crate::command::in_terminal;
use crate::command::{FORMATS, folder, long, run, stc, text};

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = String::from_utf8(run(&["completions", shell], "").fine()).unwrap();
        for word in ["max-depth", "format", "legend", "explain"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // The other two shells complete no values.
        for format in FORMATS {
            assert_eq!(script.contains(format), matches!(shell, "bash" | "zsh" | "fish"), "{shell}: {format}");
        }
    }
    assert_eq!(run(&["completions", "abacus"], "").code, Some(2));
}

const COMMANDS: [&str; 9] =
    ["encode", "decode", "check", "stats", "explain", "legend", "context", "mcp", "completions"];

#[test]
fn a_short_help_fits_a_screen() {
    let help = |arguments: &[&str]| {
        let ran = stc(arguments).env("COLUMNS", "80").output().expect("stc runs");
        assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    assert_eq!(help(&[]), help(&["--help"]));
    let mut texts = vec![help(&[])];
    for command in COMMANDS {
        assert_eq!(help(&[command, "-h"]), help(&[command, "--help"]), "{command}");
        texts.push(help(&[command, "--help"]));
    }
    for text in texts {
        assert!(text.contains("Usage: stc") && text.contains("--help-all"), "{text}");
        assert!(text.lines().count() <= 24 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    assert!(COMMANDS.iter().all(|command| help(&[]).contains(&format!("\n  {command} "))), "{}", help(&[]));
}

#[test]
fn the_whole_help_has_every_flag_examples_and_exit_codes() {
    let help = |arguments: &[&str]| String::from_utf8(run(arguments, "").fine()).unwrap();
    for arguments in COMMANDS[..7].iter().map(|command| vec![*command, "--help-all"]).chain([vec!["--help-all"]]) {
        let help = help(&arguments);
        assert!(help.contains("Usage: stc") && help.contains("Examples:"), "{arguments:?}\n{help}");
        assert!(help.contains("Exit codes:\n  0    success"), "{arguments:?}\n{help}");
    }
    assert_eq!(help(&["help", "decode"]), help(&["decode", "--help-all"]));
    assert!(help(&["decode", "--help-all"]).contains(&format!("[default: {}]", stc::Limits::DEFAULT.depth)));
    for command in ["encode", "legend", "explain"] {
        let help = help(&[command, "--help-all"]);
        assert!(help.contains("[default: stc2]"), "{help}");
        assert!(FORMATS[1..].iter().all(|format| help.contains(&format!("- {format}: "))), "{help}");
        assert_eq!(help.contains("- stc1: "), command != "explain", "{help}");
    }
    assert_eq!(run(&["no-such-command"], "").code, Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_noticed_by_every_command() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &[],
        &["stats", "-h"],
        &["completions", "zsh"],
        &["encode"],
        &["legend"],
        &["explain"],
    ] {
        let full = fs::File::options().write(true).open("/dev/full").expect("a full device");
        let mut child = stc(arguments).stdin(Stdio::piped()).stdout(full).spawn().expect("stc starts");
        child.stdin.take().expect("a pipe").write_all(b"[1]").ok();
        let ended = child.wait_with_output().expect("stc ends");
        assert_eq!(ended.status.code(), Some(3), "{arguments:?}");
        assert!(ended.stderr.starts_with(b"error: <stdout>: "), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_gets_a_final_line_feed_and_a_pipe_does_not() {
    let shown = |line: &str| in_terminal(line);
    assert_eq!(shown("echo '[ 1 ]' | $STC encode"), (Some(0), "[1]\n".to_owned()));
    assert_eq!(shown("echo '[ 1 ]' | $STC decode"), (Some(0), "[1]\n".to_owned()));
    assert_eq!(shown("echo '[ 1 ]' | $STC encode --lines"), (Some(0), "[1]\n".to_owned()));
    assert_eq!(shown("echo '[ 1 ]' | $STC encode | cat; echo :"), (Some(0), "[1]:\n".to_owned()));
    // A text of version 2 that ends with a line feed gets no second one.
    let rows: Vec<String> = (0..9).map(|n| format!(r#"{{"number":{n},"state":"open","title":"t{n}"}}"#)).collect();
    let file = folder("terminal").join("rows.json");
    fs::write(&file, format!("[{}]", rows.join(","))).unwrap();
    let stc = String::from_utf8(run(&["encode", "-f", "stc2-labelled", text(&file)], "").fine()).unwrap();
    assert!(stc.ends_with('\n'), "{stc}");
    assert_eq!(shown(&format!("$STC encode -f stc2-labelled '{}'", file.display())), (Some(0), stc));
    // A message after a rejected document starts on its own line.
    let (code, said) = shown("echo '[1,' | $STC decode");
    assert_eq!(code, Some(1));
    assert!(said.starts_with("[1\nerror: ") || said.starts_with("[1,\nerror: "), "{said}");
}

#[test]
fn no_colours_in_a_pipe() {
    for arguments in [&["--help"][..], &["stats"], &["check"], &["encode"], &["explain"]] {
        for input in ["[1,2]", "[1,,2]"] {
            let ran = run(arguments, input);
            assert!(!ran.out.contains(&0x1B) && !ran.errors.contains('\x1B'), "{arguments:?}");
        }
    }
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let folder = folder("closed-pipe");
    let [file, lines] = ["long.json", "long.ndjson"].map(|name| folder.join(name));
    fs::write(&file, long()).unwrap();
    fs::write(&lines, "{\"a\": 1}\n".repeat(500_000)).unwrap();
    for arguments in
        [&["encode", "-f", "stc1", text(&file)][..], &["decode", text(&file)], &["encode", "--lines", text(&lines)]]
    {
        let mut child = stc(arguments).spawn().expect("stc starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        stdout.read_exact(&mut [0; 3]).expect("a beginning");
        drop(stdout);
        let ended = child.wait_with_output().expect("stc ends");
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{arguments:?}");
        assert_eq!(ended.status.code(), Some(0), "{arguments:?}");
    }
}
