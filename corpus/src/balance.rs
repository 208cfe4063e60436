//! Test helper: checks that quotes and brackets close in the right order. It is not a JSON parser, but it catches a faulty
//! writer; the codec's own tests parse every file.

/// Returns what is wrong with `document`, if anything.
pub(crate) fn fault(document: &[u8]) -> Option<String> {
    if let Err(error) = std::str::from_utf8(document) {
        return Some(error.to_string());
    }
    let mut open = Vec::new();
    let mut in_string = false;
    let mut escaped = false;
    for (at, &byte) in document.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            0..0x20 if in_string => return Some(format!("a control character in a string at {at}")),
            _ if in_string => {}
            b'{' | b'[' => open.push(byte),
            b'}' | b']' if open.pop() != Some(if byte == b'}' { b'{' } else { b'[' }) => {
                return Some(format!("unmatched closing bracket at {at}"));
            }
            b'}' | b']' | b',' | b':' | b'+' | b'-' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {}
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => return Some(format!("{:?} outside a string at {at}", char::from(byte))),
        }
    }
    (in_string || !open.is_empty()).then(|| "unclosed string or container at the end".to_owned())
}

#[test]
fn faults_are_found() {
    assert_eq!(fault(br#" {"a":["\"]",1e5]} "#), None);
    for wrong in ["{", "]", "[}", "\"", "\"\\\"", "[\"\n\"]", "{'a':1}", "(1)"] {
        assert!(fault(wrong.as_bytes()).is_some(), "{wrong}");
    }
}
