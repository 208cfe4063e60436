//! Limits: every one is a flag, and each is enforced before memory is used.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::command::{nested, run, stc};

#[test]
fn depth_is_a_limit_and_not_a_stack_overflow() {
    let deep = nested(100_000);
    for command in ["encode", "decode"] {
        let errors = run(&[command, "-o", "-"], &deep).errors;
        assert!(errors.contains("depth limit") && errors.contains("(byte 512)"), "{errors}");
        assert!(errors.contains("--max-depth"), "{errors}");
        assert_eq!(run(&[command, "--max-depth", "200000"], &deep).fine(), deep.as_bytes());
    }
    assert_eq!(run(&["check", "--max-depth", "200000"], &deep).fine(), b"<stdin>: ok\n");
}

#[test]
fn a_line_over_the_limit_is_rejected_before_its_end() {
    for command in ["encode", "decode", "check", "stats"] {
        // The pipe stays open without a line feed: a command that reads on would hang.
        for endless in ["[1, 2, 3, 4]", "                      "] {
            let mut child =
                stc(&[command, "--lines", "--max-input", "8"]).stdin(Stdio::piped()).spawn().expect("stc starts");
            let mut stdin = child.stdin.take().expect("a pipe");
            stdin.write_all(format!("[1,2,33]\n\n{endless}").as_bytes()).expect("stc reads");
            let mut errors = String::new();
            child.stderr.take().expect("a pipe").read_to_string(&mut errors).expect("UTF-8");
            if command == "check" {
                child.stdout.take().expect("a pipe").read_to_string(&mut errors).expect("UTF-8");
            }
            assert_eq!(child.wait().unwrap().code(), Some(1), "{command}");
            assert!(errors.contains("input limit") && errors.contains("3:9 (byte 18)"), "{command}\n{errors}");
            assert!(errors.contains("--max-input"), "{errors}");
            drop(stdin);
        }
    }
}

#[test]
fn every_limit_is_a_flag() {
    let columnar = r#"[3]{id,name}: 1,"a" / 2,"b" / 3,"c""#;
    let limits: [(&[&str], &str); 6] = [
        (&["--max-input", "10"], "input limit"),
        (&["--max-output", "10"], "output limit"),
        (&["--max-ratio", "1", "--max-free", "10"], "ratio limit"),
        (&["--max-columns", "1"], "more columns"),
        (&["--max-header", "4"], "header longer"),
        (&["--max-depth", "1"], "depth limit"),
    ];
    for (flags, message) in limits {
        let arguments: Vec<&str> = ["decode"].iter().chain(flags).copied().collect();
        let ran = run(&arguments, columnar);
        assert_eq!(ran.code, Some(1), "{flags:?}");
        assert!(ran.errors.contains(message) && ran.errors.contains(flags[0]), "{}", ran.errors);
    }
    let named = "[&a{b:[1,2,3]},*a]";
    let filled = "[1]{id,url~\"https://example.org/${id}\"}:\n1\n";
    for (stc, flags, message) in [
        (named, ["--max-anchors", "8"], "anchor"),
        (filled, ["--max-row", "8"], "row"),
        (filled, ["--max-header", "8"], "header longer"),
    ] {
        let errors = run(&["decode", flags[0], flags[1]], stc).errors;
        assert!(errors.contains(message) && errors.contains(flags[0]), "{errors}");
        run(&["decode", flags[0], "1K"], stc).fine();
    }
    let errors = run(&["decode", "--max-ratio", "1", "--ratio-after", "10"], columnar).errors;
    assert!(errors.contains("--max-ratio") && errors.contains("--ratio-after"), "{errors}");
    let json = run(&["decode", "--max-output", "1K", "--max-input", "1M"], columnar).fine();
    let stc1 = ["encode", "--format", "stc1"];
    assert_eq!(run(&stc1, &json).fine(), columnar.as_bytes());
    assert_eq!(
        run(&[&stc1[..], &["--max-columns", "1"]].concat(), &json).fine(),
        b"[{id: 1, name: \"a\"},{id: 2, name: \"b\"},{id: 3, name: \"c\"}]"
    );
    assert_ne!(run(&[&stc1[..], &["--window", "16"]].concat(), &json).fine(), columnar.as_bytes());
    assert_eq!(run(&["encode", "--max-input", "lots"], &json).code, Some(2));
}
