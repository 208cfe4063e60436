//! A progress bar on stderr, for work that takes long enough to wonder about, on a terminal and nowhere else.

use std::io::{IsTerminal, stderr, stdout};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this is done before anyone wonders.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that stays out of sight until [`PATIENCE`] is over. It goes away when dropped.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
    shown: OnceLock<()>,
}

impl Progress {
    /// For work whose result goes out as it is made: through a bar, if both are on one terminal.
    pub(crate) fn beside_data(to_stdout: bool) -> Self {
        Self::shown_if(stderr().is_terminal() && !(to_stdout && stdout().is_terminal()))
    }

    /// For work that is silent until it is done.
    pub(crate) fn alone() -> Self {
        Self::shown_if(stderr().is_terminal())
    }

    fn shown_if(wanted: bool) -> Self {
        let bar = wanted.then(|| ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()));
        Self { bar, began: Instant::now(), shown: OnceLock::new() }
    }

    /// Says how much work there is in all, once that is known.
    pub(crate) fn expect(&self, total: Option<u64>) {
        if let (Some(bar), Some(total)) = (&self.bar, total) {
            bar.set_length(total);
        }
    }

    /// Says what the work is about right now.
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

    /// Takes the bar away while something else is said to the terminal.
    pub(crate) fn aside<T>(&self, say: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
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
