//! Builds the harness of another commit in a temporary worktree.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Runs a command and returns its standard output; the error holds the last lines of its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let tail: Vec<&str> = errors.trim_end().lines().rev().take(12).collect();
    Err(format!("{name} failed:\n{}", tail.into_iter().rev().collect::<Vec<_>>().join("\n")))
}

/// Returns a command for the cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns a command that runs `stc-perf-memory`, built with the features of this program, so that nothing is built twice.
pub(crate) fn memory() -> Result<Command, String> {
    let mut cargo = cargo();
    cargo.current_dir(env!("CARGO_MANIFEST_DIR")).args(["run", "--quiet", "--release", "--bin", "stc-perf-memory"]);
    cargo.arg("--no-default-features").args(features().flat_map(|feature| ["--features", feature]));
    cargo.arg("--target-dir").arg(target()?).arg("--");
    Ok(cargo)
}

/// Returns the features of this program.
fn features() -> impl Iterator<Item = &'static str> {
    let all = [
        ("gate", true),
        ("command", cfg!(feature = "command")),
        ("sonic", cfg!(feature = "sonic")),
        ("toon", cfg!(feature = "toon")),
    ];
    all.into_iter().filter_map(|(name, is_on)| is_on.then_some(name))
}

/// Returns the target folder that this program was built into, so that nothing is built twice.
pub(crate) fn target() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = own.parent().and_then(Path::parent);
    target.map(Path::to_path_buf).ok_or_else(|| "this program is not in a target folder".into())
}

/// Returns the folder for reports, flamegraphs and builds of other commits, and creates it.
pub(crate) fn outputs() -> Result<PathBuf, String> {
    let folder = target()?.join("perf");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Returns the short hash of the commit that a revision names.
pub(crate) fn commit(revision: &str) -> Result<String, String> {
    let commit = format!("{revision}^{{commit}}");
    let found = output(git().args(["rev-parse", "--verify", "--quiet", "--short", &commit]));
    found.map(|commit| commit.trim().to_owned()).map_err(|_| format!("{revision}: neither a file nor a commit"))
}

/// Returns the short hash of the current commit, and whether the working tree differs from it.
pub(crate) fn state() -> Result<String, String> {
    let commit = commit("HEAD")?;
    let changed = !output(git().args(["status", "--porcelain", "--untracked-files=no"]))?.trim().is_empty();
    Ok(if changed { format!("{commit}, changed") } else { commit })
}

/// Builds the harness of that commit, or of the working tree, and copies the program to `aside`.
///
/// The target folders are kept, so dependencies are built once. Commits share one, and the working tree has this program's own: cargo
/// rebuilds what is newer than the last build. A fresh checkout is; the working tree's files may be older, and would pass for the commit's.
pub(crate) fn build(commit: Option<&str>, aside: &Path) -> Result<PathBuf, String> {
    let build = |sources: &Path, target: PathBuf| {
        let mut cargo = cargo();
        cargo.current_dir(sources).args(["build", "--release", "--quiet", "-p", "stc-perf", "--bin", "stc-perf"]);
        output(cargo.arg("--target-dir").arg(&target))?;
        Ok::<_, String>(target.join("release").join(format!("stc-perf{}", std::env::consts::EXE_SUFFIX)))
    };
    let built = match commit {
        Some(commit) => build(Checkout::new(commit)?.sources(), outputs()?.join("compare"))?,
        None => build(Path::new(output(git().args(["rev-parse", "--show-toplevel"]))?.trim()), target()?)?,
    };
    let kept = aside.join(commit.unwrap_or("working-tree"));
    std::fs::copy(&built, &kept).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(kept)
}

fn git() -> Command {
    Command::new("git")
}

/// A temporary worktree, removed on drop.
struct Checkout(TempDir);

impl Checkout {
    fn new(commit: &str) -> Result<Self, String> {
        let folder = Self(TempDir::new().map_err(|error| error.to_string())?);
        output(git().args(["worktree", "add", "--quiet", "--detach"]).arg(folder.sources()).arg(commit))?;
        Ok(folder)
    }

    fn sources(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // On failure `git worktree prune` cleans up: the folder itself is removed with the temporary directory.
        let _ = output(git().args(["worktree", "remove", "--force"]).arg(self.0.path()));
    }
}
