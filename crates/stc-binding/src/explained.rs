//! What an encoder of version 2 made of a document, as JSON: the members of `stc explain --json`.

use std::fmt::Write;

use stc::explain::{Array, Explanation, Form, Named, Planned, Size};

/// Returns an explanation as JSON, in one line.
pub fn explained(explanation: &Explanation) -> String {
    let mut out = String::from("{\"json\":");
    size(&mut out, explanation.json);
    out += ",\"stc\":";
    size(&mut out, explanation.stc);
    let planned = match explanation.planned {
        Planned::All => "all",
        Planned::NoReferences => "no references",
        Planned::Nothing => "nothing",
    };
    let _ = write!(out, ",\"plain\":{},\"planned\":\"{planned}\",\"arrays\":", explanation.plain);
    list(&mut out, &explanation.arrays, array);
    for (name, all) in [
        ("shapes", &explanation.shapes),
        ("dictionary", &explanation.dictionary),
        ("templates", &explanation.templates),
        ("anchors", &explanation.anchors),
    ] {
        let _ = write!(out, ",\"{name}\":");
        list(&mut out, all, named);
    }
    out.push('}');
    out
}

fn list<T>(out: &mut String, all: &[T], write: impl Fn(&mut String, &T)) {
    out.push('[');
    for (at, item) in all.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        write(out, item);
    }
    out.push(']');
}

fn array(out: &mut String, array: &Array) {
    let form = match array.form {
        Form::Table => "table",
        Form::KeyedTable => "keyed",
        Form::Plain => "plain",
    };
    out.push_str("{\"path\":");
    quoted(out, &array.path);
    let _ = write!(out, ",\"form\":\"{form}\",\"header\":");
    quoted(out, &array.header);
    let _ = write!(out, ",\"rows\":{},\"json\":", array.rows);
    size(out, array.json);
    out.push_str(",\"stc\":");
    size(out, array.stc);
    out.push('}');
}

fn named(out: &mut String, named: &Named) {
    for (name, text) in [("{\"name\":", &named.name), (",\"path\":", &named.path), (",\"text\":", &named.text)] {
        out.push_str(name);
        quoted(out, text);
    }
    let (uses, bytes, tokens) = (named.uses, named.saved_bytes, named.saved_tokens);
    let _ = write!(out, ",\"uses\":{uses},\"saved\":{{\"bytes\":{bytes},\"tokens\":{tokens}}}}}");
}

fn size(out: &mut String, size: Size) {
    let _ = write!(out, "{{\"bytes\":{},\"tokens\":{}}}", size.bytes, size.tokens);
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_is_json() {
        let rows = r#"[{"id":1,"a\n\"b":"é"},{"id":2,"a\n\"b":"é"},{"id":3,"a\n\"b":"é"}]"#;
        for format in [stc::Format::Stc2Labelled, stc::Format::Stc2] {
            let options = stc::Options::default().format(format);
            let explanation = stc::Encoder::with_options(options).explain(rows.as_bytes()).expect("valid");
            let json = explained(&explanation);
            stc::validate(json.as_bytes()).unwrap_or_else(|error| panic!("{error}: {json}"));
            assert!(json.contains(r#""rows":3"#), "{json}");
        }
        let mut out = String::new();
        quoted(&mut out, "\u{1}\"\\/é");
        assert_eq!(out, "\"\\u0001\\\"\\\\/é\"");
    }
}
