//! A progress bar on stderr for long work, shown on a terminal only.

use std::fmt;
use std::io::{IsTerminal, stderr, stdout};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::size::decimal;
use crate::style::terminal_is_dumb;

/// The bar stays hidden for work shorter than this.
const HIDDEN_FOR: Duration = Duration::from_millis(500);

/// The time between two drawings while nothing advances.
const TIME_BETWEEN_DRAWINGS: Duration = Duration::from_millis(250);

/// A bar that appears after [`HIDDEN_FOR`], whether or not the work has advanced, and is removed on drop.
pub(crate) struct Progress {
    shown: Option<Shown>,
}

struct Shown {
    bar: ProgressBar,
    /// Dropped to stop the thread that waits to show the bar.
    stop: Option<Sender<()>>,
    /// Returns whether it has shown the bar.
    waiting: Option<JoinHandle<bool>>,
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
        Self { shown: (wanted && !terminal_is_dumb()).then(|| Shown::after(HIDDEN_FOR)) }
    }

    fn bar(&self) -> Option<&ProgressBar> {
        self.shown.as_ref().map(|shown| &shown.bar)
    }

    /// Sets the total amount of work in bytes, if it is known.
    pub(crate) fn expect(&self, total: Option<u64>) {
        if let (Some(bar), Some(total)) = (self.bar(), total) {
            bar.set_length(total);
        }
    }

    /// Sets the name of the current input.
    pub(crate) fn name(&self, name: &str) {
        if let Some(bar) = self.bar() {
            bar.set_message(name.to_owned());
        }
    }

    /// Adds bytes to those that are done.
    pub(crate) fn advance(&self, bytes: u64) {
        if let Some(bar) = self.bar() {
            bar.inc(bytes);
        }
    }

    /// Sets the bytes that are done.
    pub(crate) fn reach(&self, bytes: u64) {
        if let Some(bar) = self.bar() {
            bar.set_position(bytes);
        }
    }

    /// Hides the bar while something else is written to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.bar() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Shown {
    fn after(hidden_for: Duration) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let (stop, stopped) = mpsc::channel();
        let later = bar.clone();
        let waiting = thread::spawn(move || {
            let still_busy = stopped.recv_timeout(hidden_for) == Err(RecvTimeoutError::Timeout);
            if still_busy {
                show(&later);
            }
            still_busy
        });
        Self { bar, stop: Some(stop), waiting: Some(waiting) }
    }

    /// Removes the bar; returns whether there was one.
    fn end(&mut self) -> bool {
        drop(self.stop.take());
        let was_shown = self.waiting.take().is_some_and(|waiting| waiting.join().unwrap_or(false));
        self.bar.finish_and_clear();
        was_shown
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.end();
    }
}

fn show(bar: &ProgressBar) {
    let template = match bar.length() {
        Some(_) => "{bar:32} {percent:>3} %  {done} of {all}{left}  {wide_msg}",
        None => "{spinner} {done}  {wide_msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(
            style
                .with_key("done", |state: &ProgressState, to: &mut dyn fmt::Write| {
                    let _ = to.write_str(&decimal(state.pos()));
                })
                .with_key("all", |state: &ProgressState, to: &mut dyn fmt::Write| {
                    let _ = to.write_str(&decimal(state.len().unwrap_or(0)));
                })
                .with_key("left", |state: &ProgressState, to: &mut dyn fmt::Write| {
                    let left = left(state.elapsed(), state.pos(), state.len().unwrap_or(0));
                    let _ = left.map_or(Ok(()), |left| write!(to, ", {left} left"));
                }),
        );
    }
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar.enable_steady_tick(TIME_BETWEEN_DRAWINGS);
}

/// Returns the time that the rest needs at the speed so far; none before the first byte is done.
fn left(elapsed: Duration, done: u64, all: u64) -> Option<String> {
    let rest = all.checked_sub(done).filter(|_| done > 0)?;
    let seconds = (elapsed.as_secs_f64() * rest as f64 / done as f64).round() as u64;
    Some(match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_ends_first_shows_no_bar() {
        assert!(!Shown::after(Duration::MAX).end());
    }

    #[test]
    fn the_time_left_follows_the_bytes() {
        let after = |seconds, done, all| left(Duration::from_secs(seconds), done, all);
        assert_eq!(after(10, 0, 1000), None);
        assert_eq!(after(10, 250, 1000).as_deref(), Some("30 s"));
        assert_eq!(after(10, 1000, 1000).as_deref(), Some("0 s"));
        assert_eq!(after(60, 1, 3).as_deref(), Some("2 min 0 s"));
        assert_eq!(after(3600, 1, 3).as_deref(), Some("2 h 0 min"));
        // A file that has grown.
        assert_eq!(after(10, 1001, 1000), None);
    }
}
