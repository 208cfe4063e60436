//! A progress bar on stderr for long work, shown on a terminal only.

use std::io::{IsTerminal, stderr, stdout};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar stays hidden for work shorter than this.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that is hidden until [`PATIENCE`] is over, and is removed on drop.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    shown: OnceLock<()>,
}

impl Progress {
    /// Returns a bar for work that writes while it runs: none if its output goes to the same terminal.
    pub(crate) fn with_output(to_stdout: bool) -> Self {
        Self::shown_if(stderr().is_terminal() && !(to_stdout && stdout().is_terminal()))
    }

    /// Returns a bar for work that prints nothing until it is done.
    pub(crate) fn alone() -> Self {
        Self::shown_if(stderr().is_terminal())
    }

    fn shown_if(wanted: bool) -> Self {
        let bar = wanted.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()));
        Self { bar, began: Instant::now(), shown: OnceLock::new() }
    }

    /// Sets the total amount of work, if it is known.
    pub(crate) fn expect(&self, total: Option<u64>) {
        if let (Some(bar), Some(total)) = (&self.bar, total) {
            bar.set_length(total);
        }
    }

    /// Sets the name of the current input.
    pub(crate) fn name(&self, name: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(name.to_owned());
        }
    }

    pub(crate) fn advance(&self, bytes: u64) {
        let Some(bar) = &self.bar else { return };
        bar.inc(bytes);
        if self.began.elapsed() >= PATIENCE {
            self.shown.get_or_init(|| show(bar));
        }
    }

    /// Hides the bar while something else is written to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn show(bar: &ProgressBar) {
    let template = match bar.length() {
        Some(_) => "{bar:32} {percent:>3} %  {bytes}/{total_bytes}, {eta} left  {wide_msg}",
        None => "{spinner} {bytes}, {bytes_per_sec}  {wide_msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.set_draw_target(ProgressDrawTarget::stderr());
}
