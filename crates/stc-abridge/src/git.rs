//! What git prints: hints on what to type next, lines that only programs read, and ids longer than git needs.
//!
//! Lost are hints, the ids of blobs in diffs, and of commits the digits after the twelfth. A diff names its file once: its
//! line `diff --git` goes where `---` and `+++` follow.

use crate::lines::{Line, lines};
use crate::signals::is_error;

/// The digits of a commit that stay.
const DIGITS: usize = 12;

/// Shortens what git printed; `None` if there is nothing to shorten.
pub(crate) fn git(text: &str) -> Option<String> {
    let lines: Vec<_> = lines(text).collect();
    // The hints after an error explain it.
    let explains = lines.iter().any(|line| is_error(line.body) || line.body.contains("[rejected]"));
    let mut out = String::with_capacity(text.len());
    for (at, line) in lines.iter().enumerate() {
        let body = line.body;
        let is_hint = body.trim_start().starts_with("(use \"git ") && body.ends_with(')');
        match () {
            () if is_hint || (body.starts_with("hint: ") && !explains) => {}
            () if body.starts_with("index ") && is_blobs(&body[6..]) => {}
            () if body.starts_with("diff --git ") && names_follow(&lines[at + 1..]) => {}
            () => match short_commit(body) {
                Some((start, end)) => {
                    out.push_str(start);
                    Line { body: end, ending: line.ending }.write(&mut out);
                }
                None => line.write(&mut out),
            },
        }
    }
    (out.len() < text.len()).then_some(out)
}

/// Returns whether a line after `index ` is two ids and perhaps a mode: `83db48f..bf2a0c1 100644`.
fn is_blobs(ids: &str) -> bool {
    let (ids, mode) = ids.split_once(' ').unwrap_or((ids, "100644"));
    let is_hex = |id: &str| id.len() >= 7 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mode = mode.len() == 6 && mode.bytes().all(|byte| byte.is_ascii_digit());
    is_mode && ids.split_once("..").is_some_and(|(old, new)| is_hex(old) && is_hex(new))
}

/// Returns whether the lines of a file in a diff go on to `---` and `+++`.
fn names_follow(lines: &[Line<'_>]) -> bool {
    let starts = ["index ", "new file mode ", "deleted file mode ", "old mode ", "new mode ", "similarity index "];
    let head = lines.iter().take(6).take_while(|line| starts.iter().any(|start| line.body.starts_with(start))).count();
    let next = |at: usize| lines.get(head + at).map_or("", |line| line.body);
    next(0).starts_with("--- ") && next(1).starts_with("+++ ")
}

/// Returns a line that begins with a commit's id of 40 digits or more, in two parts without the digits between them.
fn short_commit(line: &str) -> Option<(&str, &str)> {
    let id = line.strip_prefix("commit ").unwrap_or(line);
    let digits = id.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    let is_id = matches!(digits, 40 | 64) && id[digits..].chars().next().is_none_or(char::is_whitespace);
    let start = line.len() - id.len();
    is_id.then(|| (&line[..start + DIGITS], &line[start + digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_without_hints() {
        let text = "On branch main\nChanges not staged for commit:\n  (use \"git add <file>...\" to update what will be committed)\n\tmodified:   \
                    a.rs\n";
        let short = git(text).unwrap();
        assert_eq!(short, "On branch main\nChanges not staged for commit:\n\tmodified:   a.rs\n");
        assert_eq!(git(&short), None);
    }

    #[test]
    fn a_diff_names_its_file_once() {
        let text = "diff --git a/a.rs b/a.rs\nindex 83db48f..bf2a0c1 100644\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-index 1\n+index 2\n\
                    diff --git a/b.png b/b.png\nindex 83db48f..bf2a0c1 100644\nBinary files a/b.png and b/b.png differ\n";
        let short = git(text).unwrap();
        assert_eq!(
            short,
            "--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-index 1\n+index 2\ndiff --git a/b.png b/b.png\nBinary files a/b.png and b/b.png differ\n"
        );
        assert_eq!(git(&short), None);
    }

    #[test]
    fn commits_keep_twelve_digits() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let text = format!("commit {id} (HEAD -> main)\nAuthor: Ann\n\n    commit {id}\n{id} subject\n{id}x\n");
        let short = git(&text).unwrap();
        assert_eq!(
            short,
            format!(
                "commit 0123456789ab (HEAD -> main)\nAuthor: Ann\n\n    commit {id}\n0123456789ab subject\n{id}x\n"
            )
        );
        assert_eq!(git(&short), None);
    }

    #[test]
    fn the_hints_of_an_error_stay() {
        let text = " ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs\nhint: Updates were rejected\n";
        assert_eq!(git(text), None);
        assert_eq!(git("hint: Using 'master' as the name\nok\n").as_deref(), Some("ok\n"));
    }
}
