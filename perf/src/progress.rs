//! A progress bar on the terminal during long measurements; nothing in a pipe.

use indicatif::{ProgressBar, ProgressStyle};

/// Returns a bar of that many steps. It draws to standard error, and only if that is a terminal.
pub(crate) fn bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}").expect("a valid template");
    let bar = ProgressBar::new(steps as u64).with_style(style);
    if !bar.is_hidden() {
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
    }
    bar
}
