//! Output that is not text.
//!
//! All of it is lost; a line says how many bytes there were.

/// Texts of fewer bytes stay, whatever is in them.
const SHORTEST_JUDGED: usize = 32;
/// The characters that a text has for each control character; what has fewer is binary.
const MIN_CHARACTERS_PER_CONTROL: usize = 20;

/// Returns the line that replaces a text with a NUL, or with control characters among more than a twentieth of its characters.
#[must_use]
pub fn binary(text: &str) -> Option<String> {
    if text.len() < SHORTEST_JUDGED || !is_binary(text) {
        return None;
    }
    let line = format!("[Binary output suppressed: {} bytes]", text.len());
    (line.len() <= text.len()).then_some(line)
}

fn is_binary(text: &str) -> bool {
    let bytes = text.as_bytes();
    if memchr::memchr(0, bytes).is_some() {
        return true;
    }
    // In blocks of 255 bytes, whose count fits a byte: the compiler then counts many bytes at once, without a branch.
    let control = |byte: u8| (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f;
    let count = |of: &dyn Fn(u8) -> bool| bytes.iter().filter(|byte| of(**byte)).count();
    let mut controls = bytes
        .chunks(255)
        .map(|block| usize::from(block.iter().map(|byte| u8::from(control(*byte))).sum::<u8>()))
        .sum::<usize>();
    // What a lossy conversion to Unicode leaves of other bytes.
    if memchr::memmem::find(bytes, "\u{fffd}".as_bytes()).is_some() {
        controls += memchr::memmem::find_iter(bytes, "\u{fffd}".as_bytes()).count();
    }
    if controls == 0 {
        return false;
    }
    let characters = count(&|byte| byte & 0xc0 != 0x80);
    controls * MIN_CHARACTERS_PER_CONTROL > characters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_text_becomes_a_line() {
        let image = format!("\u{fffd}PNG\r\n\u{1a}\n\0\0\0\rIHDR{}", "\u{fffd}\u{1}x".repeat(40));
        let line = binary(&image).unwrap();
        assert_eq!(line, format!("[Binary output suppressed: {} bytes]", image.len()));
        assert_eq!(binary(&line), None);
        let bells = "abcdefghi\u{7}".repeat(10);
        assert!(binary(&bells).is_some());
        assert!(binary(&"\u{fffd}abcd".repeat(20)).is_some());
    }

    #[test]
    fn text_stays() {
        for text in [
            "short \0".to_owned(),
            "a\tb\r\n".repeat(50),
            format!("{}\u{7}", "one bell in many characters ".repeat(10)),
            "é".repeat(100),
        ] {
            assert_eq!(binary(&text), None, "{text:?}");
        }
    }
}
