//! One spelling for each path, so that what rules are matched by is what a server reads.
//!
//! Servers differ in how they read `/%61dmin`, `//admin`, `/x/../admin` or `/admin;x`. A gateway that looks at the bytes of a path and
//! forwards them lets such a spelling pass by its rules. So [`normal`] gives every path that all servers read alike one spelling, and
//! refuses the others; [`loose`] is the reading of the most lenient server, for rules that must hold there too.

use std::borrow::Cow;

/// A path, in the spelling for rules and in the one for the upstream. Both have the same segments, and decode to the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normal<'a> {
    /// The spelling for rules: an escape only for what a path cannot contain, with upper-case digits. Paths that decode to the same
    /// text have the same one.
    pub matched: Cow<'a, str>,
    /// The spelling for the upstream: escapes of letters, digits, `-`, `.`, `_` and `~` are decoded. Other escapes stay, because they
    /// may be signed, or not mean what they decode to.
    pub sent: Cow<'a, str>,
}

/// Why servers may read a path in different ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguous {
    /// It does not start with `/`, or has a `?` or `#`.
    NotAPath,
    /// Two slashes with nothing between: some servers read one.
    Empty,
    /// A segment `.` or `..`, perhaps in escapes.
    Dots,
    /// `%2F`.
    Slash,
    /// `\` or `%5C`, which some servers read as a slash.
    Backslash,
    /// NUL, another control character or a raw blank.
    Control,
    /// A `%` without two hexadecimal digits.
    Escape,
    /// Escapes that are not UTF-8.
    Text,
}

impl Ambiguous {
    /// Returns a sentence without anything of the path.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::NotAPath => "the path is not one",
            Self::Empty => "the path has an empty segment",
            Self::Dots => "the path has a segment of dots",
            Self::Slash => "the path has an encoded slash",
            Self::Backslash => "the path has a backslash",
            Self::Control => "the path has a control character",
            Self::Escape => "the path has a `%` without two hexadecimal digits",
            Self::Text => "the path has escapes that are not UTF-8",
        }
    }
}

/// Returns the spellings of a path, without its query. A path that needs no change is borrowed.
///
/// ```
/// use stc_plugin::path::{Ambiguous, normal};
///
/// assert_eq!(normal("/%61dmin/x%3ay").unwrap().matched, "/admin/x:y");
/// assert_eq!(normal("/%61dmin/x%3ay").unwrap().sent, "/admin/x%3Ay");
/// assert_eq!(normal("/x/%2e%2e/admin"), Err(Ambiguous::Dots));
/// ```
pub fn normal(path: &str) -> Result<Normal<'_>, Ambiguous> {
    if !path.starts_with('/') {
        return Err(Ambiguous::NotAPath);
    }
    if path.bytes().all(|byte| byte == b'/' || is_plain(byte)) {
        segments(path)?;
        return Ok(Normal { matched: path.into(), sent: path.into() });
    }
    let (mut matched, mut sent) = (String::with_capacity(path.len()), String::with_capacity(path.len()));
    let (mut bytes, mut text) = (path.bytes(), Vec::with_capacity(path.len()));
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => {
                let byte = escaped(&mut bytes)?;
                text.push(byte);
                if is_unreserved(byte) {
                    sent.push(byte.into())
                } else {
                    escape(&mut sent, byte)
                }
                push(&mut matched, byte);
            }
            b'\\' => return Err(Ambiguous::Backslash),
            b'?' | b'#' => return Err(Ambiguous::NotAPath),
            0..=b' ' | 0x7F => return Err(Ambiguous::Control),
            b'/' => {
                text.push(byte);
                matched.push('/');
                sent.push('/');
            }
            // How servers read raw bytes differs.
            0x80.. => {
                text.push(byte);
                escape(&mut matched, byte);
                escape(&mut sent, byte);
            }
            _ => {
                text.push(byte);
                push(&mut matched, byte);
                sent.push(byte.into());
            }
        }
    }
    segments(&matched)?;
    if std::str::from_utf8(&text).is_err() {
        return Err(Ambiguous::Text);
    }
    Ok(Normal { matched: matched.into(), sent: sent.into() })
}

/// Returns a path as the most lenient server reads it: escapes decoded as often as there are any, `\` as `/`, empty segments and `.`
/// left out, `..` resolved, parameters after `;` and blanks and dots at the end of a segment cut off, all after a NUL, `?` or `#` left
/// out. Two paths that any server takes for the same differ here only in the case of letters.
///
/// ```
/// assert_eq!(stc_plugin::path::loose("/x;y/..%252fadmin%20/./keys"), "/admin/keys");
/// ```
#[must_use]
pub fn loose(path: &str) -> Cow<'_, str> {
    let bytes = path.as_bytes();
    let ends = |at: usize| matches!(bytes.get(at + 1), None | Some(b'/'));
    let changes = |(at, byte): (usize, &u8)| match byte {
        b'%' | b';' | b'\\' | b'?' | b'#' | 0..=b' ' => true,
        b'.' => ends(at),
        b'/' => bytes.get(at + 1) == Some(&b'/'),
        _ => false,
    };
    if !bytes.iter().enumerate().any(changes) {
        return path.into();
    }
    // Twice, because the digits of an escape may be escaped themselves.
    let text = decoded(&decoded(bytes));
    let end = text.iter().position(|byte| matches!(byte, 0 | b'?' | b'#')).unwrap_or(text.len());
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut is_folder = false;
    for segment in text[..end].split(|byte| matches!(byte, b'/' | b'\\')) {
        let name = segment.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
        is_folder = true;
        if name == b".." {
            kept.pop();
            continue;
        }
        let dots = name.iter().rev().take_while(|byte| matches!(byte, b'.' | b' ')).count();
        if dots < name.len() {
            kept.push(&name[..name.len() - dots]);
            is_folder = false;
        }
    }
    let mut joined = vec![b'/'];
    joined.extend(kept.join(&b'/'));
    if is_folder && joined.len() > 1 {
        joined.push(b'/');
    }
    String::from_utf8_lossy(&joined).into_owned().into()
}

/// Returns whether some server may read a segment `..` in a path. Where it leads depends on what that server takes for segments.
#[must_use]
pub fn climbs(path: &str) -> bool {
    if !path.contains('%') && !path.contains("..") {
        return false;
    }
    let text = decoded(&decoded(path.as_bytes()));
    text.split(|byte| matches!(byte, b'/' | b'\\'))
        .any(|segment| segment.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end() == b"..")
}

/// Checks that no segment is empty, but the last, or consists of dots.
fn segments(path: &str) -> Result<(), Ambiguous> {
    let mut segments = path[1..].split('/').peekable();
    while let Some(segment) = segments.next() {
        match segment {
            "." | ".." => return Err(Ambiguous::Dots),
            "" if segments.peek().is_some() => return Err(Ambiguous::Empty),
            _ => {}
        }
    }
    Ok(())
}

/// Reads the two digits of an escape that means one thing to all servers.
fn escaped(bytes: &mut std::str::Bytes<'_>) -> Result<u8, Ambiguous> {
    let mut digit = || bytes.next().and_then(value).ok_or(Ambiguous::Escape);
    match digit()? << 4 | digit()? {
        b'/' => Err(Ambiguous::Slash),
        b'\\' => Err(Ambiguous::Backslash),
        0..b' ' | 0x7F => Err(Ambiguous::Control),
        byte => Ok(byte),
    }
}

/// Decodes escapes; `%2541` and `%252541` are an `A` too.
fn decoded(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            decoded.push(*byte);
            continue;
        }
        while let Some(inner) = rest.strip_prefix(b"25") {
            rest = inner;
        }
        match rest {
            [high, low, after @ ..] if value(*high).is_some() && value(*low).is_some() => {
                decoded.push(value(*high).unwrap_or_default() << 4 | value(*low).unwrap_or_default());
                rest = after;
            }
            _ => decoded.push(b'%'),
        }
    }
    decoded
}

fn value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// Appends a byte of a decoded path, as an escape if it needs one.
fn push(path: &mut String, byte: u8) {
    if is_plain(byte) { path.push(byte.into()) } else { escape(path, byte) }
}

fn escape(path: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    path.extend(['%', DIGITS[usize::from(byte >> 4)].into(), DIGITS[usize::from(byte & 15)].into()]);
}

/// Returns whether an escape of a byte always means the byte itself (RFC 3986, 2.3).
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Returns whether a segment can contain a byte as it is (RFC 3986, 3.3).
const fn is_plain(byte: u8) -> bool {
    is_unreserved(byte)
        || matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b':' | b'@')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths, with what is matched and what is sent.
    const ACCEPTED: &[(&str, &str, &str)] = &[
        ("/", "/", "/"),
        ("/admin", "/admin", "/admin"),
        ("/admin/", "/admin/", "/admin/"),
        ("/a/b.c/.d/e..f/...", "/a/b.c/.d/e..f/...", "/a/b.c/.d/e..f/..."),
        ("/%61dmin", "/admin", "/admin"),
        ("/%7Euser/%7euser", "/~user/~user", "/~user/~user"),
        ("/a%2Db%5f", "/a-b_", "/a-b_"),
        ("/model/x%3A0:y", "/model/x:0:y", "/model/x%3A0:y"),
        ("/model/x%3a0", "/model/x:0", "/model/x%3A0"),
        ("/a;x=1/b%3Bc", "/a;x=1/b;c", "/a;x=1/b%3Bc"),
        ("/a%20b", "/a%20b", "/a%20b"),
        ("/a+b%2Bc", "/a+b+c", "/a+b%2Bc"),
        ("/100%25", "/100%25", "/100%25"),
        ("/%2561", "/%2561", "/%2561"),
        ("/caf\u{e9}", "/caf%C3%A9", "/caf%C3%A9"),
        ("/caf%c3%a9", "/caf%C3%A9", "/caf%C3%A9"),
        ("/a%3Fb%23", "/a%3Fb%23", "/a%3Fb%23"),
        ("/a\"{[|]}", "/a%22%7B%5B%7C%5D%7D", "/a\"{[|]}"),
        ("/ADMIN", "/ADMIN", "/ADMIN"),
    ];

    #[test]
    fn one_spelling_for_each_path() {
        for (path, matched, sent) in ACCEPTED {
            let normal = normal(path).unwrap_or_else(|why| panic!("{path}: {why:?}"));
            assert_eq!((&*normal.matched, &*normal.sent), (*matched, *sent), "{path}");
            assert_eq!(super::normal(sent).unwrap().sent, *sent, "{path}: again");
            assert_eq!(super::normal(sent).unwrap().matched, *matched, "{path}: again");
            assert_eq!(super::normal(matched).unwrap().matched, *matched, "{path}: again");
        }
        assert!(matches!(normal("/a/b:c").unwrap(), Normal { matched: Cow::Borrowed(_), sent: Cow::Borrowed(_) }));
    }

    #[test]
    fn what_servers_read_in_different_ways_is_refused() {
        for (why, paths) in [
            (Ambiguous::NotAPath, &["", "*", "admin", "?", "/a?b", "/a#b"][..]),
            (Ambiguous::Empty, &["//", "//admin", "/a//b", "/a//"]),
            (Ambiguous::Dots, &["/.", "/..", "/./a", "/x/../a", "/%2e/a", "/x/.%2E/a", "/x/%2e%2e", "/a/."]),
            (Ambiguous::Slash, &["/a%2fb", "/a%2Fb", "/..%2fa"]),
            (Ambiguous::Backslash, &["/a\\b", "/x\\..\\a", "/a%5cb", "/a%5C..%5Cb"]),
            (Ambiguous::Control, &["/a%00", "/a%0d%0ab", "/a%7F", "/a\tb", "/a b", "/%1f"]),
            (Ambiguous::Escape, &["/%", "/a%4", "/a%zz", "/a%%61", "/%u0061", "/%+1"]),
            (Ambiguous::Text, &["/%ff", "/%c0%af", "/%c0%aeadmin", "/a%e9", "/\u{e9}%a9", "/%c3/%a9", "/%c3%25a9"]),
        ] {
            for path in paths {
                assert_eq!(normal(path), Err(why), "{path}");
            }
        }
    }

    #[test]
    fn the_most_lenient_reading() {
        for path in [
            "/admin/keys",
            "/%61dmin/keys",
            "//admin/keys",
            "/x/../admin/keys",
            "/./admin/keys",
            "/admin;x/keys",
            "/admin%3Bx/keys",
            "/admin;x/keys;y=1",
            "/admin%2Fkeys",
            "/x/..%2fadmin/keys",
            "/x%5c..%5cadmin/keys",
            "/x\\..\\admin\\keys",
            "/admin%20/keys",
            "/admin./keys..",
            "/..;/admin/keys",
            "/..%20/admin/keys",
            "/%2561dmin/keys",
            "/%25252561dmin/keys",
            "/%25%36%31dmin/keys",
            "/x/%252e%252e/admin/keys",
            "/.../admin/keys",
            "/admin/keys%00.html",
            "/admin/keys%3Fx",
            "/admin/keys%2523",
            "/../../admin/keys",
            "/x/..\r/admin/keys\t",
        ] {
            assert_eq!(loose(path), "/admin/keys", "{path}");
        }
        for (path, expected) in [
            ("/", "/"),
            ("/a/", "/a/"),
            ("/a/.", "/a/"),
            ("/a/..", "/"),
            ("/a//", "/a/"),
            ("/100%25", "/100%"),
            ("/a/../b/..", "/"),
        ] {
            assert_eq!(loose(path), expected, "{path}");
        }
        for path in ["/", "/a/b", "/a.b/.c", "/models/x:y", "/caf\u{e9}"] {
            assert!(matches!(loose(path), Cow::Borrowed(_)), "{path}");
        }
        for (path, expected) in
            [("/a/..", true), ("/a/%252e.;x/b", true), ("/a\\..", true), ("/a/...", false), ("/a..b/..c", false)]
        {
            assert_eq!(climbs(path), expected, "{path}");
        }
    }
}
