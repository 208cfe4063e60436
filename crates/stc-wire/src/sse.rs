//! Server-sent events, converted one by one.
//!
//! Lines are sent at once, up to the first `data` line of an event; from there on the event is held until its blank line,
//! when its message is complete. So keep-alive comments, a priming event's id and retry lines are never delayed. Each byte
//! is read once, however the stream is divided into chunks.

use crate::budget::charge_bytes;
use std::ops::Range;

/// Converts a message; `None` leaves its event unchanged.
pub type Rewrite<'a> = dyn FnMut(&[u8]) -> Option<Vec<u8>> + 'a;

/// The state of a stream of events.
#[derive(Debug)]
pub struct Events {
    /// The current line, and before it the event from its first `data` line on.
    held: Vec<u8>,
    /// The start of the current line in `held`.
    line: usize,
    /// The length of the current line, held or not. An empty line ends an event.
    line_length: usize,
    /// Whether `held` starts with a `data` line.
    has_data: bool,
    /// Whether the event has a name other than `message`.
    named: bool,
    /// Whether the last byte was a CR that ended a line: a following LF belongs to it.
    after_cr: bool,
    /// Whether the event was too long to hold: the rest of it is sent unchanged.
    too_long: bool,
    /// Whether this is the stream's first line, which may start with a byte order mark.
    first: bool,
    /// The most bytes that are held.
    most: usize,
}

impl Events {
    /// Creates a stream that holds at most `most` bytes of an event; longer events pass unchanged.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        Self {
            held: Vec::new(),
            line: 0,
            line_length: 0,
            has_data: false,
            named: false,
            after_cr: false,
            too_long: false,
            first: true,
            most,
        }
    }

    /// Takes the next chunk and appends what can be sent.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>, rewrite: &mut Rewrite<'_>) {
        let mut rest = chunk;
        if self.after_cr && !rest.is_empty() {
            self.after_cr = false;
            if rest[0] == b'\n' {
                self.end_of_crlf(out);
                rest = &rest[1..];
            }
        }
        while let Some(at) = memchr::memchr2(b'\r', b'\n', rest) {
            charge_bytes(at);
            let end = at + if rest[at..].starts_with(b"\r\n") { 2 } else { 1 };
            self.after_cr = end == rest.len() && rest[end - 1] == b'\r';
            self.content(&rest[..at], out);
            self.end_of_line(&rest[at..end], out, rewrite);
            rest = &rest[end..];
        }
        self.content(rest, out);
    }

    /// Ends the stream; an incomplete event is appended unchanged.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
    }

    /// Returns the number of bytes that are held.
    #[must_use]
    pub const fn held_len(&self) -> usize {
        self.held.len()
    }

    /// Stops holding the current event: the rest of it is sent unchanged.
    pub fn let_go(&mut self, out: &mut Vec<u8>) {
        self.too_long = true;
        out.append(&mut self.held);
    }

    fn content(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.line_length += bytes.len();
        if self.too_long {
            out.extend_from_slice(bytes);
        } else if self.held.len() + bytes.len() > self.most {
            self.let_go(out);
            out.extend_from_slice(bytes);
        } else {
            self.held.extend_from_slice(bytes);
        }
    }

    fn end_of_line(&mut self, terminator: &[u8], out: &mut Vec<u8>, rewrite: &mut Rewrite<'_>) {
        let blank = self.line_length == 0;
        let first = std::mem::take(&mut self.first);
        self.line_length = 0;
        if self.too_long {
            out.extend_from_slice(terminator);
        } else {
            let line = if first { without_mark(&self.held) } else { &self.held[self.line..] };
            match field(line) {
                ("data", _) => self.has_data |= !blank,
                ("event", value) => self.named = !value.is_empty() && value != b"message",
                _ => {}
            }
            self.held.extend_from_slice(terminator);
            self.line = self.held.len();
            if !self.has_data {
                out.append(&mut self.held);
                self.line = 0;
            }
        }
        if blank {
            if self.has_data && !self.too_long {
                emit(&self.held, self.named, out, rewrite);
                self.held.clear();
            }
            (self.line, self.has_data, self.named, self.too_long) = (0, false, false, false);
        }
    }

    /// Takes the LF of a CRLF that was divided between two chunks.
    fn end_of_crlf(&mut self, out: &mut Vec<u8>) {
        if self.held.is_empty() {
            out.push(b'\n');
        } else {
            self.held.push(b'\n');
            self.line = self.held.len();
        }
    }
}

/// Appends one event, including its blank line.
fn emit(event: &[u8], named: bool, out: &mut Vec<u8>, rewrite: &mut Rewrite<'_>) {
    let data: Vec<Line> = lines(event).filter(|line| line.is_data(event)).collect();
    let message = match data.as_slice() {
        [one] => event[one.value(event)].to_vec(),
        many => many.iter().map(|line| &event[line.value(event)]).collect::<Vec<_>>().join(&b'\n'),
    };
    let Some(message) = Some(message).filter(|_| !named).and_then(|message| rewrite(&message)) else {
        return out.extend_from_slice(event);
    };
    // A conversion never adds a line end, so the new message has at most as many lines. Surplus lines are removed.
    let mut kept = 0;
    let mut news = message.split(|byte| *byte == b'\n');
    for line in &data {
        match news.next() {
            Some(new) => {
                let value = line.value(event);
                out.extend_from_slice(&event[kept..value.start]);
                if event[value.start - 1] == b'a' && !new.is_empty() {
                    out.push(b':'); // a bare `data`
                }
                out.extend_from_slice(new);
                kept = value.end;
            }
            None => {
                out.extend_from_slice(&event[kept..line.text.start]);
                kept = line.end;
            }
        }
    }
    out.extend_from_slice(&event[kept..]);
}

/// A line of an event: its text, and where its terminator ends.
struct Line {
    text: Range<usize>,
    end: usize,
}

impl Line {
    fn field<'a>(&self, event: &'a [u8]) -> (&'static str, &'a [u8]) {
        let text = &event[self.text.clone()];
        // An event is held from a `data` line on, so a byte order mark there can only be the stream's.
        field(if self.text.start == 0 { without_mark(text) } else { text })
    }

    fn is_data(&self, event: &[u8]) -> bool {
        self.field(event).0 == "data"
    }

    /// Returns the range of the field's value.
    fn value(&self, event: &[u8]) -> Range<usize> {
        self.text.end - self.field(event).1.len()..self.text.end
    }
}

fn lines(event: &[u8]) -> impl Iterator<Item = Line> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let length = memchr::memchr2(b'\r', b'\n', &event[at..])?;
        charge_bytes(length);
        let text = at..at + length;
        at = text.end + if event[text.end..].starts_with(b"\r\n") { 2 } else { 1 };
        Some(Line { text, end: at })
    })
}

/// Returns a line's field, if it is `data` or `event`, and its value.
fn field(line: &[u8]) -> (&'static str, &[u8]) {
    for name in ["data", "event"] {
        if let Some(rest) = line.strip_prefix(name.as_bytes()) {
            if rest.is_empty() {
                return (name, rest);
            }
            if let Some(value) = rest.strip_prefix(b":") {
                return (name, value.strip_prefix(b" ").unwrap_or(value));
            }
        }
    }
    ("", &[])
}

/// Removes a byte order mark, which only the start of a stream may have.
fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brackets every message that has an `x`.
    fn bracket(message: &[u8]) -> Option<Vec<u8>> {
        message.contains(&b'x').then(|| [b"<", message, b">"].concat())
    }

    fn whole(stream: &[u8], most: usize) -> Vec<u8> {
        let (mut events, mut out) = (Events::new(most), Vec::new());
        events.push(stream, &mut out, &mut bracket);
        events.finish(&mut out);
        out
    }

    #[test]
    fn only_the_data_of_messages_changes() {
        for (stream, expected) in [
            ("data: x\n\n", "data: <x>\n\n"),
            ("data:x\r\n\r\n", "data:<x>\r\n\r\n"),
            ("data:  x\r\r", "data: < x>\r\r"),
            (
                ": hi\nid: 1\nevent: message\nretry: 5\ndata: x\nid: 2\n\n",
                ": hi\nid: 1\nevent: message\nretry: 5\ndata: <x>\nid: 2\n\n",
            ),
            ("event: other\ndata: x\n\ndata: x\n\n", "event: other\ndata: x\n\ndata: <x>\n\n"),
            ("data: x\nevent: other\n\n", "data: x\nevent: other\n\n"),
            ("data: a\r\n: c\r\ndata: x\r\n\r\n", "data: <a\r\n: c\r\ndata: x>\r\n\r\n"),
            ("data\ndata: x\n\n", "data:<\ndata: x>\n\n"),
            ("data: x\n\u{feff}data: y\n\n", "data: <x>\n\u{feff}data: y\n\n"),
            ("\u{feff}data: x\n\n", "\u{feff}data: <x>\n\n"),
            ("datax: x\nxdata: x\n\n", "datax: x\nxdata: x\n\n"),
            ("id: 7\ndata:\n\n", "id: 7\ndata:\n\n"),
            ("data: x", "data: x"),
            ("data: x\n", "data: x\n"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8(whole(stream.as_bytes(), 1000)).unwrap(), expected, "{stream:?}");
        }
    }

    #[test]
    fn lines_that_are_not_data_are_not_delayed() {
        let (mut events, mut out) = (Events::new(1000), Vec::new());
        for line in [": ping\n", "id: 9\r", "\nretry: 3\n", "event: message\n"] {
            events.push(line.as_bytes(), &mut out, &mut bracket);
        }
        assert_eq!(out, b": ping\nid: 9\r\nretry: 3\nevent: message\n");
        events.push(b"data: x\n: held, because it comes after\n", &mut out, &mut bracket);
        assert!(out.ends_with(b"event: message\n"));
        events.push(b"\n", &mut out, &mut bracket);
        assert!(out.ends_with(b"data: <x>\n: held, because it comes after\n\n"));
    }

    #[test]
    fn a_long_event_passes_and_the_next_is_converted() {
        let long = format!("data: x{}\ndata: x\n\ndata: x\n\n", "y".repeat(100));
        let expected = format!("data: x{}\ndata: x\n\ndata: <x>\n\n", "y".repeat(100));
        for cut in 0..long.len() {
            let (mut events, mut out) = (Events::new(50), Vec::new());
            events.push(&long.as_bytes()[..cut], &mut out, &mut bracket);
            assert!(events.held_len() <= 60);
            events.push(&long.as_bytes()[cut..], &mut out, &mut bracket);
            events.finish(&mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{cut}");
        }
    }

    /// Divides the stream at every offset, and into single bytes.
    #[test]
    fn any_division_gives_the_same_bytes() {
        let stream = b"\xEF\xBB\xBFid: 1\r\ndata: x\r\n\r\n: c\rdata: a\rdata: x\r\revent: e\ndata: x\n\n\n\r\n\rdata:x\n\ndata: tail";
        let expected = whole(stream, 1000);
        for cut in 0..=stream.len() {
            let (mut events, mut out) = (Events::new(1000), Vec::new());
            events.push(&stream[..cut], &mut out, &mut bracket);
            events.push(&[], &mut out, &mut bracket);
            events.push(&stream[cut..], &mut out, &mut bracket);
            events.finish(&mut out);
            assert_eq!(out, expected, "{cut}");
        }
        let (mut events, mut out) = (Events::new(1000), Vec::new());
        for byte in stream {
            events.push(&[*byte], &mut out, &mut bracket);
        }
        events.finish(&mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn a_message_that_lost_lines_loses_the_lines_at_the_end() {
        let (mut events, mut out) = (Events::new(1000), Vec::new());
        let mut join = |message: &[u8]| Some(message.iter().copied().filter(|byte| *byte != b'\n').collect());
        events.push(b"data: a\nid: 1\ndata: b\ndata: c\n\n", &mut out, &mut join);
        assert_eq!(out, b"data: abc\nid: 1\n\n");
    }
}
