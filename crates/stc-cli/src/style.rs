//! Colours for terminals, plain text for everything else.

use std::io::IsTerminal;

/// Returns whether the terminal says that it can neither colour nor take anything away.
pub(crate) fn terminal_is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// The colours of an output stream, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    /// Returns colours for a terminal, unless NO_COLOR (no-color.org) or `TERM=dumb` is set.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        let disabled = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || terminal_is_dumb();
        Self { colour: stream.is_terminal() && !disabled }
    }

    pub(crate) fn error(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn frame(self, text: &str) -> String {
        self.paint("1;34", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1B[{code}m{text}\x1B[0m") } else { text.to_owned() }
    }
}
