//! JSON without insignificant whitespace: the expected result in `check`, and a column of `stats`.
//!
//! Independent of the codec, so that the two cannot share a mistake. It assumes valid JSON; the codec has checked that
//! before.

/// Removes the whitespace between the tokens of `json`.
pub(crate) fn minify(json: &[u8]) -> Vec<u8> {
    let mut minified = Vec::with_capacity(json.len());
    let mut rest = json.iter().copied();
    while let Some(byte) = rest.next() {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            b'"' => {
                minified.push(byte);
                while let Some(byte) = rest.next() {
                    minified.push(byte);
                    match byte {
                        b'\\' => minified.extend(rest.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => minified.push(byte),
        }
    }
    minified
}

#[cfg(test)]
mod tests {
    use super::minify;

    #[test]
    fn only_whitespace_between_tokens_is_removed() {
        let json = b" {\t\"a b\" :\r\n[ 1.0 , \"\\\" ]\\\\\" ,\"\" ] } \n";
        assert_eq!(minify(json), b"{\"a b\":[1.0,\"\\\" ]\\\\\",\"\"]}");
    }
}
