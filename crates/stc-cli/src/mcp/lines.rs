//! Messages between pipes: each is a line.

use std::io::{self, BufRead, Read};

/// A line, or a part of one that is too long to be held.
pub(crate) enum Line<'a> {
    Whole(&'a [u8]),
    Part(&'a [u8]),
}

/// Calls `take` for every line, with its line feed, until the end of the input.
pub(crate) fn lines(
    mut input: impl BufRead,
    longest: usize,
    mut take: impl FnMut(Line<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut is_part = false;
    loop {
        line.clear();
        let read = (&mut input).take(longest as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        let has_ended = line.ends_with(b"\n");
        // A part that did not end its line is followed by another part.
        is_part |= !has_ended && read == longest;
        take(if is_part { Line::Part(&line) } else { Line::Whole(&line) })?;
        is_part &= !has_ended;
    }
}
