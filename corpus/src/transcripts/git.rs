//! Version control.

use super::names::{NAMES, hex};
use crate::rng::Rng;
use crate::words::{FIRST, LAST};

pub(super) fn status(rng: &mut Rng, lines: usize) -> String {
    let mut out = "On branch main\nYour branch is ahead of 'origin/main' by 2 commits.\n  (use \"git push\" to publish your local commits)\n\nChanges to be \
                   committed:\n  (use \"git restore --staged <file>...\" to unstage)\n"
        .to_owned();
    for _ in 0..lines / 4 {
        out += &format!("\tmodified:   src/{}/{}.rs\n", rng.pick(NAMES), rng.pick(NAMES));
    }
    out += "\nChanges not staged for commit:\n  (use \"git add <file>...\" to update what will be committed)\n  (use \"git restore <file>...\" to discard changes in \
            working directory)\n";
    for _ in 0..lines / 3 {
        out += &format!("\tmodified:   src/{}/{}.rs\n", rng.pick(NAMES), rng.pick(NAMES));
    }
    out += "\nUntracked files:\n  (use \"git add <file>...\" to include in what will be committed)\n";
    for _ in 0..lines / 4 {
        out += &format!("\tnotes/{}-{}.md\n", rng.pick(NAMES), rng.pick(NAMES));
    }
    out + "\n"
}

pub(super) fn log(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..lines / 6 + 1 {
        let (first, last) = (rng.prefer(FIRST), rng.prefer(LAST));
        let (hour, minute) = (rng.below(24), rng.below(60));
        out += &format!(
            "commit {}\nAuthor: {first} {last} <{}@mail.example>\nDate:   Tue Nov {} {hour:02}:{minute:02}:11 2026 +0000\n\n    {}: the {} of a {} is checked first\n\n",
            hex(rng, 40),
            first.to_lowercase(),
            28 - number % 28,
            rng.pick(NAMES),
            rng.pick(NAMES),
            rng.pick(NAMES)
        );
    }
    out
}

pub(super) fn diff(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for _ in 0..lines / 24 + 1 {
        let (folder, file) = (rng.pick(NAMES), rng.pick(NAMES));
        let path = format!("src/{folder}/{file}.rs");
        out += &format!(
            "diff --git a/{path} b/{path}\nindex {}..{} 100644\n--- a/{path}\n+++ b/{path}\n",
            hex(rng, 7),
            hex(rng, 7)
        );
        for _ in 0..2 {
            let line = 1 + rng.below(300);
            out += &format!("@@ -{line},7 +{line},8 @@ impl {} {{\n", rng.pick(NAMES).to_uppercase());
            for _ in 0..3 {
                out += &format!("     fn {}(&self) -> usize {{\n", rng.pick(NAMES));
            }
            let (old, new) = (rng.pick(NAMES), rng.pick(NAMES));
            out += &format!(
                "-        self.{old}.len()\n+        let {new} = self.{old}.len();\n+        {new}.min(self.most)\n"
            );
            for _ in 0..3 {
                out += &format!("         self.{}();\n", rng.pick(NAMES));
            }
        }
    }
    out
}

pub(super) fn clone(rng: &mut Rng, lines: usize) -> String {
    let mut out = "Cloning into 'app'...\nremote: Enumerating objects: 4213, done.\n".to_owned();
    for what in ["remote: Counting objects", "remote: Compressing objects", "Receiving objects", "Resolving deltas"] {
        let steps = 3 + lines / 8;
        for step in 1..=steps {
            out += &format!("{what}: {:3}% ({}/4213)\r", step * 100 / steps, step * 4213 / steps);
        }
        out += &format!("{what}: 100% (4213/4213), {} KiB | 9.1 MiB/s, done.\n", 100 + rng.below(900));
    }
    out + "remote: Total 4213 (delta 1911), reused 3977 (delta 1750), pack-reused 0\n"
}

pub(super) fn rejected(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..lines / 12 {
        out += &format!(
            "warning: in the working copy of 'src/{}/{number}.rs', CRLF will be replaced by LF\n",
            rng.pick(NAMES)
        );
    }
    out + "To https://git.example/acme/app.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to \
           'https://git.example/acme/app.git'\nhint: Updates were rejected because the remote contains work that you do not\nhint: have locally. This is usually \
           caused by another repository pushing to\nhint: the same ref. If you want to integrate the remote changes, use\nhint: 'git pull' before pushing again.\n"
}
