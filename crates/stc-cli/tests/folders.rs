//! Several files and folders: `--out-dir`.

use std::fs;
use std::path::Path;

use crate::command::{EXAMPLES, NESTED, folder, inside, names, run, text};

/// Writes three documents, one of them in a folder inside.
fn documents(folder: &Path) {
    fs::create_dir_all(folder.join("in/deeper")).unwrap();
    fs::write(folder.join("in/a.json"), NESTED).unwrap();
    fs::write(folder.join("in/deeper/b.json"), EXAMPLES[2].0).unwrap();
    fs::write(folder.join("in/notes.txt"), "not JSON").unwrap();
    fs::write(folder.join("c.d.json"), EXAMPLES[0].0).unwrap();
}

#[test]
fn files_and_folders_keep_their_names_and_change_their_extension() {
    let folder = folder("out-dir");
    documents(&folder);
    let at = |name: &str| inside(&folder, name);
    run(&["encode", &at("in"), &at("c.d.json"), "--out-dir", &at("stc")], "").fine();
    assert_eq!(names(&folder.join("stc")), ["a.stc", "c.d.stc", "deeper"]);
    assert_eq!(names(&folder.join("stc/deeper")), ["b.stc"]);
    assert_eq!(fs::read(at("stc/a.stc")).unwrap(), run(&["encode"], NESTED).fine());
    run(&["decode", &at("stc"), "-d", &at("back/again")], "").fine();
    assert_eq!(names(&folder.join("back/again")), ["a.json", "c.d.json", "deeper"]);
    for (name, json) in [("a", NESTED), ("deeper/b", EXAMPLES[2].0), ("c.d", EXAMPLES[0].0)] {
        let back = fs::read(at(&format!("back/again/{name}.json"))).unwrap();
        assert_eq!(back, stc::laws::minify(json.as_bytes()), "{name}");
    }
    // Outputs of an earlier run are replaced.
    run(&["encode", "-f", "json", &at("in"), "--out-dir", &at("back/again")], "").fine();
    fs::write(at("lines.ndjson"), "[1, 2]\n").unwrap();
    run(&["encode", "--lines", &at("lines.ndjson"), "--out-dir", &at("stc")], "").fine();
    run(&["decode", "--lines", &at("stc/lines.ndstc"), "--out-dir", &at("stc")], "").fine();
    assert_eq!(fs::read(at("stc/lines.ndjson")).unwrap(), b"[1,2]\n");
}

#[test]
fn a_rejected_file_does_not_stop_the_others() {
    let folder = folder("out-dir-rejected");
    documents(&folder);
    let at = |name: &str| inside(&folder, name);
    fs::write(at("in/a.json"), "[1,,2]").unwrap();
    let ran = run(&["encode", &at("in"), &at("missing.json"), &at("c.d.json"), "--out-dir", &at("out")], "");
    assert_eq!((ran.code, ran.out.as_slice()), (Some(3), &b""[..]));
    assert!(ran.errors.contains(&format!("{}:1:4 (byte 3)", at("in/a.json"))), "{}", ran.errors);
    assert!(ran.errors.contains(&format!("error: {}: ", at("missing.json"))), "{}", ran.errors);
    assert_eq!(names(&folder.join("out")), ["c.d.stc", "deeper"]);
    assert_eq!(run(&["encode", &at("in"), "--out-dir", &at("out")], "").code, Some(1));
    // A folder that cannot be created: its name is a file's.
    let ran = run(&["encode", &at("c.d.json"), "--out-dir", &at("in/notes.txt")], "");
    assert_eq!(ran.code, Some(3));
    assert!(ran.errors.contains(&format!("error: {}: ", at("in/notes.txt"))), "{}", ran.errors);
}

#[test]
fn mistakes_are_reported_before_anything_is_written() {
    let folder = folder("out-dir-mistakes");
    documents(&folder);
    let at = |name: &str| inside(&folder, name);
    fs::write(at("in/x.stc"), "[1]").unwrap();
    fs::write(at("in/x.json"), "[1]").unwrap();
    let (input, a, c, x) = (at("in"), at("in/a.json"), at("c.d.json"), at("in/x.stc"));
    let here = text(&folder);
    let cases: [(&[&str], String); 8] = [
        (&["encode", &a, &c], "2 inputs need --out-dir".to_owned()),
        (&["encode", &input], format!("{input} is a folder: --out-dir names")),
        (&["encode", "--out-dir", here], "stdin has none: use -o".to_owned()),
        (&["encode", "-", &a, "--out-dir", here], "stdin has none: use -o".to_owned()),
        (&["encode", "-f", "json", &c, "--out-dir", here], format!("the output of {c} would replace an input, {c}")),
        (&["decode", &x, &at("in/x.json"), "--out-dir", &input], format!("the output of {x} would replace an input")),
        (&["encode", &a, &at("in/../in/a.json"), "--out-dir", here], "have the same output".to_owned()),
        (&["encode", &a, "-o", &c, "--out-dir", here], "cannot be used with".to_owned()),
    ];
    for (arguments, message) in cases {
        let ran = run(arguments, "[1]");
        assert_eq!((ran.code, ran.out.as_slice()), (Some(2), &b""[..]), "{arguments:?}\n{}", ran.errors);
        assert!(ran.errors.starts_with("error: ") && ran.errors.contains(&message), "{arguments:?}\n{}", ran.errors);
    }
    assert_eq!(names(&folder), ["c.d.json", "in"]);
    assert_eq!(names(&folder.join("in")), ["a.json", "deeper", "notes.txt", "x.json", "x.stc"]);
    assert_eq!(fs::read_to_string(&c).unwrap(), EXAMPLES[0].0);
}
