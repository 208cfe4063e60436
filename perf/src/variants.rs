//! The same rows in other layouts, and small tables with wide headers: inputs that a decoder should read nearly as fast as
//! its best case.
//!
//! A fast path that gives up at the first unexpected byte, or that pays a fixed price for every header, is invisible in
//! large minified documents. Each variant here is compared with its own base: layouts with the minified rows, small tables
//! with simd-json on the same JSON.

use stc::laws::minify;

use crate::cases::{Case, Document, generated};

/// Rows in one layout, and the least decoding speed wanted for it.
#[derive(Debug)]
pub struct Layout {
    /// Its name in tables.
    pub name: &'static str,
    /// The case: its documents are decoded from the text as it is.
    pub case: Case,
    /// The least speed a byte of input, as a share of the speed of the minified rows.
    pub wanted: f64,
}

/// One stray TAB for this many rows.
const STRAY_EVERY: usize = 300;

/// Builds an array of rows of about `bytes` bytes in each layout; the first is minified.
pub fn layouts(bytes: usize) -> Result<Vec<Layout>, String> {
    let json = minify(&stc_corpus::make("sql-rows", 1, bytes).ok_or("the corpus makes no sql-rows")?);
    let layout = |name, wanted, text| decoded_from(name, text).map(|case| Layout { name, wanted, case });
    Ok(vec![
        layout("minified", 1.0, json.clone())?,
        layout("a TAB every 300 rows", 0.9, with_stray_tabs(&json))?,
        layout("indented by two", 0.5, indented(&json, "\n", "  "))?,
        layout("indented by TABs", 0.5, indented(&json, "\n", "\t"))?,
        layout("indented, CRLF", 0.5, indented(&json, "\r\n", "  "))?,
    ])
}

/// Builds a case that decodes this JSON text itself: every JSON text is an STC text too.
fn decoded_from(name: &str, text: Vec<u8>) -> Result<Case, String> {
    let case = Case::new(name, [text])?;
    let as_it_is = |document: Document| Document { stc: document.json.clone(), ..document };
    Ok(Case { documents: case.documents.into_iter().map(as_it_is).collect(), ..case })
}

/// Inserts a TAB before every 300th row of an array of flat objects without escaped quotes.
fn with_stray_tabs(json: &[u8]) -> Vec<u8> {
    let (mut out, mut rows, mut quoted) = (Vec::with_capacity(json.len() + json.len() / 1000), 0, false);
    for &byte in json {
        quoted ^= byte == b'"';
        if byte == b'{' && !quoted {
            rows += 1;
            if rows % STRAY_EVERY == 0 {
                out.push(b'\t');
            }
        }
        out.push(byte);
    }
    out
}

/// Puts every element and member of minified JSON without escaped quotes on its own line.
fn indented(json: &[u8], line_end: &str, indent: &str) -> Vec<u8> {
    let (mut out, mut level, mut quoted) = (Vec::with_capacity(3 * json.len()), 0, false);
    let break_line = |level: usize, out: &mut Vec<u8>| {
        out.extend_from_slice(line_end.as_bytes());
        out.extend_from_slice(indent.repeat(level).as_bytes());
    };
    for &byte in json {
        quoted ^= byte == b'"';
        match byte {
            b'{' | b'[' if !quoted => {
                level += 1;
                out.push(byte);
                break_line(level, &mut out);
            }
            b'}' | b']' if !quoted => {
                level -= 1;
                break_line(level, &mut out);
                out.push(byte);
            }
            b',' if !quoted => {
                out.push(byte);
                break_line(level, &mut out);
            }
            b':' if !quoted => out.extend_from_slice(b": "),
            _ => out.push(byte),
        }
    }
    out
}

/// The least speed of decoding a small table, as a share of simd-json's speed on the same JSON.
pub const WIDE_WANTED: f64 = 0.7;

/// Builds cases of small tables of 35 columns, 64 different documents each.
pub fn wide_tables() -> Result<Vec<Case>, String> {
    let sizes = [("wide-1KiB", 1 << 10), ("wide-2KiB", 2 << 10), ("wide-4KiB", 4 << 10)];
    sizes.into_iter().map(|(name, bytes)| generated(name, "sql-wide", bytes, 64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_the_same_document() {
        let layouts = layouts(100_000).expect("layouts");
        for layout in &layouts {
            let document = &layout.case.documents[0];
            assert_eq!(document.minified, layouts[0].case.documents[0].json, "{}", layout.name);
            assert_eq!(stc::decode(&document.stc).as_ref(), Ok(&document.minified), "{}", layout.name);
        }
        let tabs = |at: usize| layouts[at].case.documents[0].stc.iter().filter(|&&byte| byte == b'\t').count();
        let rows: Vec<serde_json::Value> = serde_json::from_slice(&layouts[0].case.documents[0].json).expect("rows");
        assert_eq!((tabs(0), tabs(1)), (0, rows.len() / STRAY_EVERY));
        assert!(tabs(1) > 0 && layouts[4].case.documents[0].stc.contains(&b'\r'));
    }

    #[test]
    fn wide_tables_are_small_and_columnar() {
        for case in wide_tables().expect("tables") {
            let mean = case.mean(|document| document.json.len());
            assert!((700.0..5000.0).contains(&mean), "{}: {mean}", case.name);
            // A columnar array begins with its count.
            let columnar = |document: &Document| document.stc[0] == b'[' && document.stc[1].is_ascii_digit();
            assert!(case.documents.iter().all(columnar), "{}", case.name);
        }
    }
}
