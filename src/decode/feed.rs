//! How the machine is fed: many tokens at a time where the input is clean and a sprint knows the state, else byte by byte.

use crate::decode::cursor::{Cursor, LOOKAHEAD};
use crate::decode::fast_path::{WINDOW, clean_len};
use crate::decode::machine::Machine;
use crate::decode::output::Output;
use crate::decode::state::{Role, State, Step, V2State};
use crate::decode::v2::state::BoundaryKind;
use crate::error::Error;
use crate::format::{LINE_FEED, continues_bare};
use crate::json::lexer::Sink;
use crate::json::scan::{Choice, with_kernel};
use crate::options::Limits;

/// How much is taken at once: bytes, tokens of version 1 and of what both versions have, or columns or rows of version 2.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gait {
    Walk,
    Sprint,
    Columns,
    Rows,
}

impl Machine {
    /// Reads the next bytes, which stand at `offset`, until they end or `out` is full. Returns how many it took.
    pub(crate) fn feed(
        &mut self,
        kernel: Choice,
        bytes: &[u8],
        offset: u64,
        limits: &Limits,
        out: &mut Output<'_>,
    ) -> Result<usize, Error> {
        let mut at = 0;
        // Up to where the input has been looked at, up to where it is clean, and from where on to sprint again.
        let (mut looked, mut clean, mut again) = (0, 0, 0);
        // The next line feed, once somebody has looked for it.
        let mut line = 0;
        let mut misses = 0;
        while at < bytes.len() && !out.is_full() {
            if at >= looked {
                looked = bytes.len().min(at + WINDOW);
                clean = at + clean_len(kernel, &bytes[at..looked]);
                // A torn character begins the next window.
                looked = if looked < bytes.len() && clean > at { clean } else { looked };
                line = 0;
            }
            // In a header only containers are worth it: what else is in it is short.
            let worth = !out.in_header() || matches!(bytes[at], b'{' | b'[') || self.is_inside_boundary();
            let gait = if at >= again && at < clean && worth { self.gait() } else { Gait::Walk };
            if gait != Gait::Walk {
                let came = at;
                self.nesting.watch();
                let mut end = clean;
                if gait != Gait::Rows {
                    // In strings there are no line feeds, and elsewhere canonical text has none: what has some is the machine's.
                    if line <= at {
                        line = memchr::memchr(LINE_FEED, &bytes[at..clean]).map_or(clean, |end| at + end);
                    }
                    end = end.min(line);
                }
                at = with_kernel!(kernel, kernel => {
                    let cursor = Cursor { kernel, bytes: &bytes[..end], at, end, base: offset, limits };
                    match gait {
                        Gait::Rows => self.fast_rows(cursor, out),
                        Gait::Columns => self.fast_columns(cursor),
                        _ => self.fast_tokens(cursor, out),
                    }
                });
                self.v2.opened(self.nesting.peak());
                // What a sprint does not take may be a single byte, or spacing that is never canonical, where another
                // try at every byte is not worth it.
                misses = if at == came { LOOKAHEAD.min(2 * misses + 1) } else { 0 };
                again = at + misses.max(1);
                continue;
            }
            crate::slow_path::count_slow_step();
            let here = offset + at as u64;
            match self.state {
                State::Lexeme(role) => {
                    let (taken, done) = match role {
                        Role::HeaderKey => self.lexeme.feed(&bytes[at..], here, &mut self.header.sink(limits))?,
                        Role::Definition | Role::ListKey | Role::Template => {
                            self.v2.feed(&mut self.lexeme, role, &bytes[at..], here, limits)?
                        }
                        // No further than the limit on keys: what comes first is found first.
                        Role::Key => {
                            let most = self.v2.key_room(self.nesting.depth(), limits).saturating_add(1);
                            self.lexeme.feed(&bytes[at..bytes.len().min(at.saturating_add(most))], here, out)?
                        }
                        _ => self.lexeme.feed(&bytes[at..], here, out)?,
                    };
                    if role == Role::Key {
                        self.v2.key_bytes(self.nesting.depth(), &bytes[at..at + taken], here, limits)?;
                    }
                    at += taken;
                    if done {
                        self.lexeme_done(role, offset + at as u64, out)?;
                    }
                }
                State::Bare(role) => {
                    let taken = bytes[at..].iter().take_while(|&&byte| continues_bare(byte)).count();
                    let run = &bytes[at..at + taken];
                    match role {
                        Role::HeaderKey => self.header.sink(limits).copy(run, here)?,
                        Role::ListKey => self.v2.list_key(run, here, limits)?,
                        _ => out.copy(run, here)?,
                    }
                    if role == Role::Key {
                        self.v2.key_bytes(self.nesting.depth(), run, here, limits)?;
                    }
                    at += taken;
                    if at < bytes.len() {
                        let end = offset + at as u64;
                        match role {
                            Role::HeaderKey => self.header.quote(),
                            Role::ListKey => self.v2.list_quote(),
                            _ => out.write(b"\"", end)?,
                        }
                        if role == Role::Key {
                            self.v2.key_quote(self.nesting.depth());
                        }
                        self.lexeme_done(role, end, out)?;
                    }
                }
                _ => {
                    let byte = bytes[at];
                    if self.may_skip(byte) || self.step(byte, here, limits, out)? == Step::Consumed {
                        at += 1;
                    }
                }
            }
        }
        Ok(at)
    }

    /// How the reading may go on from here.
    #[inline(always)]
    fn gait(&self) -> Gait {
        match self.state {
            State::V2(V2State::Cell) => Gait::Rows,
            State::V2(V2State::ListKey) => Gait::Columns,
            State::Value | State::V2(V2State::ShapeValue) => Gait::Sprint,
            State::First | State::Key { .. } | State::After | State::Element | State::Cell | State::HeaderColon => {
                let above = self.is_inside_boundary() || self.v2.boundary().kind != BoundaryKind::Other;
                if above || self.v2.is_idle() { Gait::Sprint } else { Gait::Walk }
            }
            _ => Gait::Walk,
        }
    }

    /// Whether the innermost container is one that version 1 has.
    #[inline(always)]
    fn is_inside_boundary(&self) -> bool {
        self.nesting.depth() > self.v2.boundary().depth
    }
}
