//! Documents that simd-json has already parsed (feature `simd-json`).
//!
//! The tape is written as JSON text, which is then encoded like any other. simd-json has unescaped the strings and parsed
//! the numbers, so their spelling is simd-json's (`1e2` decodes to `100.0`). A caller that needs the lexemes encodes the
//! bytes instead, which is also faster.

use std::io::Write;

use simd_json::{Node, StaticNode, Tape};
use smallvec::SmallVec;

use crate::{Encoder, Error};

impl Encoder {
    /// Encodes a document that simd-json has parsed, into the encoder's own buffer.
    ///
    /// It decodes to the same document with simd-json's spelling of numbers and strings. Where every lexeme matters, encode
    /// the bytes instead of the tape. An error's offset counts in that spelling.
    ///
    /// ```
    /// let mut json = br#"[{"id": 1, "price": 1e2}, {"id": 2, "price": 0.5}]"#.to_vec();
    /// let tape = simd_json::to_tape(&mut json)?;
    /// let mut encoder = stc::Encoder::with_options(stc::Options::default().format(stc::Format::Stc1));
    /// assert_eq!(encoder.encode_tape(&tape)?, b"[2]{id,price}: 1,100.0 / 2,0.5");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn encode_tape(&mut self, tape: &Tape<'_>) -> Result<&[u8], Error> {
        let mut json = std::mem::take(&mut self.parsed);
        json.clear();
        write(&tape.0, &mut json);
        let result = self.encode(&json).map(<[u8]>::len);
        self.parsed = json;
        result?;
        Ok(self.encoded())
    }
}

/// An open container, and what is left of it.
struct Open {
    object: bool,
    /// The nodes that are left directly inside; a key and its value are two.
    left: usize,
    first: bool,
}

/// Writes the tape as JSON text. A tape made by hand may have wrong lengths; the text is then not JSON, and the encoder
/// refuses it.
fn write(nodes: &[Node<'_>], out: &mut Vec<u8>) {
    let mut open: SmallVec<[Open; 32]> = SmallVec::new();
    for node in nodes {
        if let Some(inside) = open.last_mut() {
            let is_value = inside.object && inside.left % 2 == 1;
            if is_value {
                out.push(b':');
            } else if !std::mem::take(&mut inside.first) {
                out.push(b',');
            }
            inside.left = inside.left.saturating_sub(1);
        }
        match *node {
            Node::String(text) => string(text, out),
            Node::Static(node) => scalar(node, out),
            Node::Object { len, .. } => {
                out.push(b'{');
                open.push(Open { object: true, left: len.saturating_mul(2), first: true });
            }
            Node::Array { len, .. } => {
                out.push(b'[');
                open.push(Open { object: false, left: len, first: true });
            }
        }
        while let Some(done) = open.last().filter(|inside| inside.left == 0) {
            out.push(if done.object { b'}' } else { b']' });
            open.pop();
        }
    }
}

fn scalar(node: StaticNode, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = match node {
        StaticNode::Null => out.write_all(b"null"),
        // `Debug` keeps the point or the exponent by which a float differs from an integer.
        StaticNode::F64(float) => write!(out, "{float:?}"),
        other => write!(out, "{other}"),
    };
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let short = match rest[at] {
            b'"' => Some(b'"'),
            b'\\' => Some(b'\\'),
            b'\n' => Some(b'n'),
            b'\r' => Some(b'r'),
            b'\t' => Some(b't'),
            _ => None,
        };
        match short {
            Some(letter) => out.extend_from_slice(&[b'\\', letter]),
            None => {
                let _ = write!(out, "\\u{:04x}", rest[at]);
            }
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through_simd_json(json: &str) -> String {
        let mut bytes = json.as_bytes().to_vec();
        let tape = simd_json::to_tape(&mut bytes).expect("simd-json takes it");
        let mut encoder = Encoder::new();
        let stc = encoder.encode_tape(&tape).expect("so does the encoder").to_vec();
        String::from_utf8(crate::decode(&stc).expect("it decodes")).expect("text")
    }

    #[test]
    fn gives_the_same_document_in_simd_jsons_spelling() {
        let same = r#"{"a":[1,-2,3.5],"b":[],"c":{},"d":[{"x":"y","z":null},{"x":"\"\\\n\r\t\u0001 é","z":true}],"e":18446744073709551615}"#;
        assert_eq!(through_simd_json(same), same);
        assert_eq!(
            through_simd_json("[1e2, 1E-9, -0.0, 123456789012345678e9]"),
            "[100.0,1e-9,-0.0,1.2345678901234568e26]"
        );
        for scalar in ["null", "true", "\"\"", "7"] {
            assert_eq!(through_simd_json(scalar), scalar);
        }
    }

    #[test]
    fn refuses_a_tape_with_wrong_lengths() {
        let wrong = Tape(vec![Node::Array { len: 3, count: 1 }, Node::Static(StaticNode::Null)]);
        assert!(Encoder::new().encode_tape(&wrong).is_err());
        let infinite = Tape(vec![Node::Static(StaticNode::F64(f64::INFINITY))]);
        assert!(Encoder::new().encode_tape(&infinite).is_err());
        assert!(Encoder::new().encode_tape(&Tape(Vec::new())).is_err());
    }
}
