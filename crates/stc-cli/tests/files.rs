//! Output files: created or replaced only on success, whatever interrupts the run.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use crate::command::{binary, folder, long, names, run, stc, text};

#[test]
fn a_file_appears_only_on_success() {
    let folder = folder("only-then");
    let [wrong, out, missing] = ["wrong.json", "out.stc", "missing.json"].map(|name| folder.join(name));
    // Long, so that much of it has been written before the error.
    fs::write(&wrong, long() + "]").unwrap();
    for command in ["encode", "decode"] {
        run(&[command, text(&wrong), "-o", text(&out)], "").rejected();
        assert_eq!(names(&folder), ["wrong.json"]);
    }
    fs::write(&out, "old").unwrap();
    for command in ["encode", "decode"] {
        run(&[command, text(&wrong), "-o", text(&out)], "").rejected();
        run(&[command, "--lines", "-o", text(&out)], "1\n{]\n").rejected();
        assert_eq!(run(&[command, text(&missing), "-o", text(&out)], "").code, Some(3));
        assert_eq!(fs::read_to_string(&out).unwrap(), "old");
        assert_eq!(names(&folder), ["out.stc", "wrong.json"]);
    }
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions_and_its_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder("replaced");
    let [file, link] = ["file.stc", "link.stc"].map(|name| folder.join(name));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file.stc", &link).unwrap();
    run(&["encode", "-o", text(&link)], "[1]").fine();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "[1]");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_dangling_link_stays_and_its_file_is_created() {
    use std::os::unix::fs::symlink;
    let folder = folder("dangling");
    let [link, further, round] = ["link.stc", "further.stc", "round.stc"].map(|name| folder.join(name));
    fs::create_dir(folder.join("deeper")).unwrap();
    symlink("deeper/link.stc", &link).unwrap();
    symlink("../made.stc", folder.join("deeper/link.stc")).unwrap();
    symlink(folder.join("missing/made.stc"), &further).unwrap();
    symlink("round.stc", &round).unwrap();
    // Rejected: no file is created.
    run(&["encode", "-o", text(&link)], "[").rejected();
    assert!(!folder.join("made.stc").exists());
    run(&["encode", "-o", text(&link)], "[1]").fine();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::symlink_metadata(folder.join("deeper/link.stc")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(folder.join("made.stc")).unwrap(), "[1]");
    for nowhere in [&further, &round] {
        assert_eq!(run(&["encode", "-o", text(nowhere)], "[1]").code, Some(3));
        assert!(fs::symlink_metadata(nowhere).unwrap().is_symlink());
    }
    assert_eq!(names(&folder), ["deeper", "further.stc", "link.stc", "made.stc", "round.stc"]);
    assert_eq!(names(&folder.join("deeper")), ["link.stc"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_no_file() {
    let folder = folder("interrupted");
    for signal in ["-INT", "-TERM"] {
        let mut child =
            stc(&["encode", "-o", text(&folder.join("out.stc"))]).stdin(Stdio::piped()).spawn().expect("stc starts");
        // Held until the end: waiting for a child closes its input, and the end of input would end the run.
        let input = child.stdin.take();
        // It waits for input; the temporary file shows that it has started.
        while names(&folder).is_empty() {
            assert_eq!(child.try_wait().unwrap(), None);
            std::thread::yield_now();
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs").success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
        drop(input);
        assert!(names(&folder).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_file_only() {
    let folder = folder("fills-up");
    let [long_file, target] = ["long.json", "out"].map(|name| folder.join(name));
    fs::write(&long_file, long()).unwrap();
    fs::write(&target, "old").unwrap();
    for command in ["encode", "decode"] {
        // The limit on file size makes writes fail as on a full disk.
        let limited = format!("trap '' XFSZ; ulimit -f 16; exec \"$0\" {command} \"$1\" -o \"$2\"");
        let ended = Command::new("bash").args(["-c", &limited]).args([binary(), &long_file, &target]).output().unwrap();
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(3), "{errors}");
        assert!(errors.starts_with("error: "), "{errors}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(names(&folder), ["long.json", "out"]);
    }
}

#[test]
fn a_file_truncated_while_it_is_read_is_rejected() {
    let folder = folder("shrinks");
    let file = folder.join("long.json");
    // Longer than the pipe and all buffers together, which hold a few hundred KiB.
    let rows = format!("[{}1]", "[1,[2]],".repeat(1 << 20));
    let shrink = || {
        let file = fs::File::options().write(true).open(&file).unwrap();
        file.set_len(rows.len() as u64 - 5).unwrap();
    };
    fs::write(&file, &rows).unwrap();
    let mut child = stc(&["decode", text(&file)]).spawn().expect("stc starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0; 3]).expect("a beginning");
    // The command waits until its output is read; meanwhile the file is truncated.
    shrink();
    stdout.read_to_end(&mut Vec::new()).expect("readable");
    let ended = child.wait_with_output().expect("stc ends");
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{errors}");
    assert!(errors.contains("the input ends where"), "{errors}");

    // With -o nothing is written unless the input was whole; either outcome is possible.
    let out = folder.join("out");
    for command in ["encode", "decode"] {
        fs::write(&file, &rows).unwrap();
        let mut child = stc(&[command, text(&file), "-o", text(&out)]).spawn().expect("stc starts");
        while names(&folder).len() == 1 && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        shrink();
        match child.wait().unwrap().code() {
            Some(0) => assert_eq!(fs::read(&out).unwrap(), rows.as_bytes()),
            code => assert_eq!((code, out.exists()), (Some(1), false)),
        }
        let _ = fs::remove_file(&out);
        assert_eq!(names(&folder), ["long.json"]);
    }
}
