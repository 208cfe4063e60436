//! What decides whether a document is written in STC 2 at all, besides its tables and names: strings without quotes, and what a
//! document must save at least.

use crate::estimate::TOKEN_COST;
use crate::format::is_bare_string;
use crate::v2::tree::{Token, Tree};

/// Returns what a document must save to be written in STC 2: one token of 512, so that one whose saving is smaller than the
/// error of the estimate stays JSON.
pub(super) fn margin(tree: Tree<'_>) -> i64 {
    // A token has about four bytes.
    tree.text.len() as i64 / 4 / 512 * TOKEN_COST
}

/// Returns what the bare strings of a document save (section 14.5), up to the first sum over `enough`.
pub(super) fn saving_of_bare_strings(tree: Tree<'_>, enough: i64) -> i64 {
    let is_member = |&string: &Token| tree.first(string) == b'"' && tree.is_key(string - 1);
    let mut saving = 0;
    for string in (1..tree.len() as Token).filter(is_member) {
        saving += bare_string_saving(tree.value(string));
        if saving > enough {
            break;
        }
    }
    saving
}

/// Returns what a string saves without its quotes. In 140 files that is a token for an address, half a token for a word, and
/// less for what is cut into many tokens: after a quote, `/` or `:` is often part of a longer one.
fn bare_string_saving(string: &[u8]) -> i64 {
    let body = &string[1..string.len() - 1];
    if !is_bare_string(body) {
        return 0;
    }
    match body.iter().position(|byte| matches!(byte, b':' | b'/')) {
        None => TOKEN_COST / 2,
        Some(at) if body[at..].starts_with(b"://") => TOKEN_COST,
        Some(_) => TOKEN_COST / 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::with_tree;

    #[test]
    fn a_document_must_save_a_token_of_512() {
        for (length, tokens) in [(3, 0), (2047, 0), (2048, 1), (4095, 1), (4096, 2), (8191, 3), (20_480, 10)] {
            let json = format!("\"{}\"", "a".repeat(length - 2));
            assert_eq!(with_tree(&json, margin), tokens * TOKEN_COST, "{length} bytes");
        }
    }

    #[test]
    fn strings_of_members_save_their_quotes_and_elements_do_not() {
        let cases = [
            ("word", TOKEN_COST / 2),
            ("https://example.org", TOKEN_COST),
            ("https:example.org", TOKEN_COST / 4),
            ("a/b", TOKEN_COST / 4),
            ("a/b://c", TOKEN_COST / 4),
            ("a://b/c", TOKEN_COST),
            ("two words", 0),
            ("", 0),
            ("true", 0),
            ("12", 0),
            ("last", TOKEN_COST / 2),
        ];
        let mut sum = 0;
        for (string, saving) in cases {
            assert_eq!(bare_string_saving(format!("\"{string}\"").as_bytes()), saving, "{string}");
            sum += saving;
        }
        let members: Vec<String> = cases.iter().map(|(string, _)| format!("\"k\":\"{string}\"")).collect();
        let elements: Vec<String> = cases.iter().map(|(string, _)| format!("\"{string}\"")).collect();
        let json =
            format!(r#"["word",{{{}}},[{}],{{"k":[{}]}}]"#, members.join(","), elements.join(","), elements.join(","));
        with_tree(&json, |tree| {
            for enough in [sum, sum + 1, 1000] {
                assert_eq!(saving_of_bare_strings(tree, enough), sum);
            }
            // The sum ends where it is enough.
            assert_eq!(saving_of_bare_strings(tree, TOKEN_COST / 2), TOKEN_COST / 2 + TOKEN_COST);
            assert_eq!(saving_of_bare_strings(tree, TOKEN_COST / 2 - 1), TOKEN_COST / 2);
        });
    }
}
