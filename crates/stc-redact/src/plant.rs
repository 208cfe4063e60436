//! Secrets that are made up: the examples of the rules, and texts that hold them, for tests and measurements.

pub use crate::fill::{Planted, fill};

use crate::rule;

/// Shorter parts of an example are names of users and of accounts, not secrets.
const SHORTEST_SECRET: usize = 12;

/// Returns the id and the example of every rule. Its gaps are filled by [`fill`].
#[must_use]
pub fn examples() -> Vec<(String, String)> {
    rule::texts().into_iter().map(|text| (text.id, text.hit)).collect()
}

impl Planted {
    /// Returns the parts that must be gone.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(String::as_str).filter(|part| part.len() >= SHORTEST_SECRET)
    }
}

/// Returns a text with a secret.
pub type Way = fn(&str) -> String;

/// The ways in which a secret gets into a text, with their names.
pub const WAYS: [(&str, Way); 14] = [
    ("plain", |secret| secret.to_owned()),
    ("in a log", |secret| format!("2026-11-17T08:00:00Z INFO starting\nconfig {secret}\ndone in 3 ms\n")),
    ("in a string of JSON", |secret| format!("{{\"id\":7,\"text\":{},\"ok\":true}}", quoted(secret))),
    ("in a list of JSON", |secret| {
        format!(
            "[\n  {{\n    \"a\": [\n      {},\n      \"x\"\n    ]\n  }},\n  {{\n    \"a\": []\n  }}\n]",
            quoted(secret)
        )
    }),
    ("in a key of JSON", |secret| format!("{{{}:1}}", quoted(secret))),
    ("with every character escaped", |secret| format!("{{\"text\":\"{}\"}}", escaped(secret, |_| true))),
    ("with its signs escaped", |secret| {
        format!("{{\"text\":\"{}\"}}", escaped(secret, |unit| !(unit as u8 as char).is_ascii_alphanumeric()))
    }),
    ("in arguments of a call", |secret| {
        let arguments = format!("{{\"command\":{},\"timeout\":3}}", quoted(&format!("run {secret}")));
        format!("{{\"tool_calls\":[{{\"function\":{{\"name\":\"bash\",\"arguments\":{}}}}}]}}", quoted(&arguments))
    }),
    ("in arguments in a recorded request", |secret| {
        let arguments = format!("{{\"text\":{}}}", quoted(secret));
        let request = format!("{{\"messages\":[{{\"content\":{}}}]}}", quoted(&arguments));
        format!("{{\"body\":{}}}", quoted(&request))
    }),
    ("in colour", |secret| format!("\x1b[32mok\x1b[0m \x1b[1;31m{secret}\x1b[0m\n")),
    ("with a change of colour inside", |secret| around_middle(secret, "\x1b[7m", "\x1b[0m")),
    ("with a change of colour of one character inside", |secret| around_middle(secret, "\u{9b}7m", "\u{9b}0m")),
    ("with a string for the terminal inside", |secret| around_middle(secret, "\u{90}q\u{9c}\u{84}", "\x1bPq\x1b\\")),
    ("in a message about an error", |secret| format!("error: request failed ({secret}), retrying")),
];

/// Returns a private key as texts have it that wrap its lines: indented, with carriage returns, in quotes of a mail, in lists of
/// JSON, cut off, with other headers.
#[must_use]
pub fn wrapped(key: &str) -> Vec<String> {
    let header = "-----BEGIN RSA PRIVATE KEY-----";
    let listed = |line: fn(&str) -> String, between: &str| key.lines().map(line).collect::<Vec<_>>().join(between);
    vec![
        key.replace('\n', "\n    "),
        key.replace('\n', "\r\n"),
        key.replace('\n', "\n> "),
        key.replace('\n', " "),
        key.replace('\n', "\\n"),
        key.replace('\n', "\\\\n"),
        format!("\"{}\";", key.trim_end().replace('\n', "\\n\" +\n    \"")),
        format!("[{}]", listed(quoted, ",")),
        format!("[{}]", listed(|line| format!("{{\"line\":{},\"ok\":true}}", quoted(line)), ",")),
        format!("{{\n  \"lines\": [\n    {}\n  ]\n}}", listed(quoted, ",\n    ")),
        key[..key.len() / 2].to_owned(),
        key.replace(header, &format!("{header}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123ABCD\n")),
        key.replace("RSA ", "").replace("BEGIN", "BEGIN OPENSSH").replace("END", "END OPENSSH"),
    ]
}

/// Returns a secret with one text in its middle and another after it.
fn around_middle(secret: &str, inside: &str, after: &str) -> String {
    let middle = secret.len() / 2;
    let middle = (middle..).find(|at| secret.is_char_boundary(*at)).unwrap_or(secret.len());
    format!("{}{inside}{}{after}", &secret[..middle], &secret[middle..])
}

/// Returns a text as a string of JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns a text with those UTF-16 units escaped for which `is` says so, and those that JSON has escaped.
fn escaped(text: &str, is: fn(u16) -> bool) -> String {
    let unit = |unit: u16| match is(unit) || matches!(unit, 0x22 | 0x5c) || unit < 0x20 {
        true => format!("\\u{unit:04x}"),
        false => String::from_utf16_lossy(&[unit]),
    };
    text.encode_utf16().map(unit).collect()
}
