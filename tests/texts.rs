//! Texts of every combination of tokens, and arrays of elements by number, as src/testing.rs has them for the unit tests.

/// Returns all texts of `length` of these tokens.
pub(crate) fn texts<'a>(tokens: &'a [&'a str], length: u32) -> impl Iterator<Item = String> + 'a {
    let token = move |number: usize, at: u32| tokens[number / tokens.len().pow(at) % tokens.len()];
    (0..tokens.len().pow(length)).map(move |number| (0..length).map(|at| token(number, at)).collect())
}

/// Returns an array of `count` elements, each made from its number.
pub(crate) fn array(count: usize, element: impl Fn(usize) -> String) -> String {
    format!("[{}]", (0..count).map(element).collect::<Vec<_>>().join(","))
}
