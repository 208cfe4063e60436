//! The document that most tests send, in both forms.

/// A document that is smaller as STC.
pub(crate) const ROWS: &str = r#"[{"id": 1, "name": "users", "method": "GET"}, {"id": 2, "name": "orders", "method": "POST"}, {"id": 3, "name": "carts", "method": "GET"}]"#;
/// The same document as STC 1.
pub(crate) const ROWS_STC: &str = r#"[3]{id,name,method}: 1,"users","GET" / 2,"orders","POST" / 3,"carts","GET""#;
