//! `explain`: every form at its path, and numbers that agree with the encoder.

use stc::explain::{Explanation, Form, Planned};
use stc::{Encoder, Format, Options};

use crate::corpus::files;
use crate::levels::Level;
use crate::texts::array;

fn explained(json: &str, references: bool) -> Explanation {
    let level = if references { Level::Whole } else { Level::NoReferences };
    Encoder::with_options(level.options()).explain(json.as_bytes()).expect("JSON")
}

#[test]
fn tables_are_listed_by_path() {
    let table = array(3, |n| format!(r#"{{"id":{n},"kind":"user","name":"n{n}"}}"#));
    let json = format!(r#"{{"a b": {{"items": [1, {table}]}}, "last": [{{"x":1}},{{"y":[]}}]}}"#);
    let explanation = explained(&json, false);
    let [table, plain] = &explanation.arrays[..] else { panic!("{explanation:?}") };
    assert_eq!((table.path.as_str(), table.form, table.rows), (r#".["a b"].items[1]"#, Form::Table, 3));
    assert_eq!(table.header, "[3]{id,kind=user,name}");
    assert_eq!((table.json.bytes, table.stc.bytes), (106, 39));
    assert!(table.json.tokens > table.stc.tokens);
    assert_eq!((plain.path.as_str(), plain.form, plain.rows), (".last", Form::Plain, 2));
    assert_eq!((plain.json.bytes, plain.stc.bytes), (18, 14));
    assert!(!explanation.plain);
}

#[test]
fn a_plain_array_has_no_header_whatever_is_in_it() {
    let table = array(5, |n| format!(r#"{{"x":{n},"y":"some text {n}"}}"#));
    for references in [false, true] {
        let explanation = explained(&format!(r#"[{{"a":{table}}},{{"b":1}}]"#), references);
        let [plain, table] = &explanation.arrays[..] else { panic!("{explanation:?}") };
        assert_eq!((plain.form, plain.header.as_str()), (Form::Plain, ""));
        assert_eq!((table.form, table.header.starts_with("[5]{x,y")), (Form::Table, true));
        assert_eq!(explanation.planned, Planned::All);
    }
}

#[test]
fn keyed_tables_and_references_are_counted() {
    let table = array(4, |n| format!(r#"{{"id":{n},"url":"https://example.org/a/{n}"}}"#));
    let text = "a rather long text that is worth a name because it comes again";
    let shape = |n| format!(r#"{{"first":{n},"second":"{text}","third":[{n}]}}"#);
    let member = |n: usize| format!(r#""k{n}":{{"id":{n},"state":"open","count":{n}}}"#);
    let keyed = (0..4).map(member).collect::<Vec<_>>().join(",");
    let copy = r#"{"one":"alpha beta","two":["gamma delta",12345678,"epsilon zeta eta"]}"#;
    let [one, two, three] = [1, 2, 3].map(shape);
    let json = format!(
        r#"{{"t":{table},"k":{{{keyed}}},"s":[{one},[{two}],[[{three}]]],"c":{copy},"d":[0,{copy}],"e":[[{copy}]]}}"#
    );
    let explanation = explained(&json, true);
    let forms: Vec<(&str, Form)> = explanation.arrays.iter().map(|array| (array.path.as_str(), array.form)).collect();
    assert_eq!(forms, [(".t", Form::Table), (".k", Form::KeyedTable)]);
    let [template] = &explanation.templates[..] else { panic!("{explanation:?}") };
    assert_eq!((template.name.as_str(), template.path.as_str(), template.uses), ("url", ".t", 4));
    assert_eq!(template.text, r#""https://example.org/a/${id}""#);
    let [shape] = &explanation.shapes[..] else { panic!("{explanation:?}") };
    assert_eq!((shape.name.as_str(), shape.path.as_str(), shape.uses), ("a", ".s[0]", 2));
    // Twice "first":"second":"third": for @a, minus one @a.
    assert_eq!(shape.saved_bytes, 2 * (25 - 2) - 2);
    // Three words, each with a colon, for `@a`, which counts as two tokens.
    assert_eq!(shape.saved_tokens, 2 * (3 * 2 - 2) - 2);
    let [entry] = &explanation.dictionary[..] else { panic!("{explanation:?}") };
    assert_eq!((entry.name.as_str(), entry.uses), ("a", 3));
    // Three strings with their quotes for $a, minus the definition.
    assert_eq!(entry.saved_bytes, 3 * (text.len() as i64 + 2 - 2) - (text.len() as i64 + 6));
    let [anchor] = &explanation.anchors[..] else { panic!("{explanation:?}") };
    assert_eq!((anchor.name.as_str(), anchor.path.as_str(), anchor.uses), ("a", ".c", 2));
    assert_eq!(anchor.saved_bytes, 2 * (copy.len() as i64 - 2) - 2);
}

#[test]
fn totals_are_those_of_the_encoder() {
    let options = Options::default().format(Format::Stc2);
    let mut encoder = Encoder::with_options(options);
    for (path, json) in files("made", "json") {
        let Ok(explanation) = encoder.explain(&json) else { continue };
        let stc = encoder.encode(&json).expect("as before");
        assert_eq!(
            (explanation.stc.bytes, explanation.stc.tokens),
            (stc.len() as u64, stc::estimate_tokens(stc)),
            "{}",
            path.display()
        );
        let inside: u64 =
            explanation.arrays.iter().filter(|array| array.form != Form::Plain).map(|a| a.stc.bytes).sum();
        assert!(explanation.plain || inside <= explanation.stc.bytes, "{}", path.display());
        // A table has a header; what is plain has none, also if tables are inside.
        for array in explanation.arrays {
            assert_eq!(array.header.is_empty(), array.form == Form::Plain, "{}: {}", path.display(), array.path);
        }
    }
    assert!(encoder.explain(b"{]").is_err());
}

#[test]
fn arrays_that_are_not_shorter_are_plain() {
    let explanation = explained("[1, 2]", true);
    assert!(explanation.plain && explanation.arrays.is_empty());
    assert_eq!(explanation.json, explanation.stc);
}

#[test]
fn a_path_leads_to_its_value() {
    let json = r#"{"a":[[],{"b-c":[{"d":1},{"d":2}]}],"e":[{},{}]}"#;
    let explanation = explained(json, false);
    let paths: Vec<&str> = explanation.arrays.iter().map(|array| array.path.as_str()).collect();
    assert_eq!(paths, [r#".a[1]["b-c"]"#, ".e"]);
    assert_eq!(explained(r#"[{"d":1},{"d":2}]"#, false).arrays[0].path, ".");
}

#[test]
fn documents_too_large_to_plan_are_reported() {
    let dense = |count| array(count, |n| format!(r#"{{"a":{},"b":{}}}"#, n % 10, n % 7));
    let (some, many) = (dense(100_000), dense(180_000));
    assert_eq!(explained(&some, false).planned, Planned::All);
    let explanation = explained(&some, true);
    assert_eq!((explanation.planned, explanation.plain), (Planned::NoReferences, false));
    for references in [false, true] {
        let explanation = explained(&many, references);
        assert_eq!((explanation.planned, explanation.plain), (Planned::Nothing, true));
        assert_eq!(explanation.stc.bytes, many.len() as u64);
    }
    let plain = explained("[{}]", true);
    assert_eq!((plain.planned, plain.plain), (Planned::All, true));
}

#[test]
fn a_template_saves_its_strings_but_one() {
    // A nested column, so that its name is a path.
    let row = |n: usize| format!(r#"{{"x":[{n}],"user":{{"id":{n},"url":"https://example.org/a/{n}"}}}}"#);
    let explanation = explained(&format!(r#"{{"first":1,"rows":{}}}"#, array(4, row)), true);
    let [template] = &explanation.templates[..] else { panic!("{explanation:?}") };
    assert_eq!((template.name.as_str(), template.path.as_str(), template.uses), ("user.url", ".rows", 4));
    // Four strings of 25 bytes, each with a comma, for the template of 29 bytes and its sigil.
    assert_eq!((template.text.len(), template.saved_bytes), (29, 4 * (25 + 1) - 29 - 1));
    let [value, text] = [br#""https://example.org/a/0""#, template.text.as_bytes()].map(stc::estimate_tokens);
    assert_eq!(template.saved_tokens, 4 * value as i64 - text as i64 - 1);
}

#[test]
fn a_filled_column_saves_what_the_header_has_of_its_strings() {
    let row = |n: usize| format!(r#"{{"x":{n},"of":{{"at":"2026-05-1{n}T08:00:00Z"}}}}"#);
    let explanation = explained(&format!(r#"{{"first":1,"rows":{}}}"#, array(5, row)), true);
    let [template] = &explanation.templates[..] else { panic!("{explanation:?}") };
    assert_eq!((template.name.as_str(), template.path.as_str(), template.uses), ("of.at", ".rows", 5));
    // Five times a string without its quotes and what the template has.
    let text = r#""2026-05-${}T08:00:00Z""#;
    assert_eq!((template.text.as_str(), template.saved_bytes), (text, 5 * 20 - text.len() as i64 - 1));
}

#[test]
fn two_tables_with_templates_are_told_apart() {
    let table = |host: &str| array(5, |n| format!(r#"{{"id":{n},"url":"https://{host}.example.org/{n}"}}"#));
    let json = format!(r#"{{"a":{},"b":[1,{}],"c":{{"d":{}}}}}"#, table("one"), table("two"), table("three"));
    let explanation = explained(&json, true);
    let found: Vec<_> = explanation.templates.iter().map(|named| (named.path.as_str(), named.text.as_str())).collect();
    assert_eq!(
        found,
        [
            (".a", r#""https://one.example.org/${id}""#),
            (".b[1]", r#""https://two.example.org/${id}""#),
            (".c.d", r#""https://three.example.org/${id}""#),
        ]
    );
}

#[test]
fn what_is_saved_in_tokens_is_what_the_estimate_says() {
    let tokens = |text: &str| stc::estimate_tokens(text.as_bytes()) as i64;
    let copy = r#"{"one":"alpha beta","two":["gamma delta",12345678,"epsilon zeta eta"]}"#;
    let json = format!(r#"{{"c":{copy},"d":[0,{copy}],"e":[[{copy}]]}}"#);
    let explanation = explained(&json, true);
    let [anchor] = &explanation.anchors[..] else { panic!("{explanation:?}") };
    // Two copies for `*a`; where it is defined, `&a` costs two tokens.
    assert_eq!(anchor.saved_tokens, 2 * (tokens(copy) - tokens("*a")) - 2);
    let text = "a rather long text that is worth a name because it comes again";
    let json = format!(r#"["{text}",["{text}"],[["{text}"]]]"#);
    let explanation = explained(&json, true);
    let [entry] = &explanation.dictionary[..] else { panic!("{explanation:?}") };
    // Three strings for `$a`; the definition costs the text and three tokens around it.
    let saved = 3 * (tokens(&format!("\"{text}\"")) - tokens("$a")) - tokens(text) - 3;
    assert_eq!(
        (entry.text.as_str(), entry.saved_tokens),
        ("a rather long text that is worth a name because it comes aga…", saved)
    );
}

#[test]
fn a_long_text_is_shown_up_to_sixty_characters() {
    for (length, shown) in [(59, 59), (60, 60), (61, 61)] {
        let text = "é".repeat(length);
        let json = format!(r#"["{text}",["{text}"],[["{text}"]]]"#);
        let explanation = explained(&json, true);
        let [entry] = &explanation.dictionary[..] else { panic!("{explanation:?}") };
        assert_eq!(entry.text.chars().count(), shown);
        assert_eq!(entry.text.ends_with('…'), length > 60);
    }
}

#[test]
fn every_name_has_its_own_numbers() {
    let texts = ["a rather long text that is worth a name, the first", "another text that is worth a name, the second"];
    let copies = [
        r#"{"one":"alpha beta","two":["gamma delta",12345678,"epsilon zeta eta"]}"#,
        r#"{"six":["theta iota kappa",87654321,"lambda"],"ten":"mu nu xi omicron"}"#,
    ];
    let strings = |text: &str| format!(r#"["{text}",["{text}"],[["{text}"]]]"#);
    let [one, two] = texts.map(strings);
    let [first, second] = copies;
    let json =
        format!(r#"{{"x":{one},"y":{two},"c":{first},"d":[{second},{first}],"e":[[{second}],{second},[[{first}]]]}}"#);
    let explanation = explained(&json, true);
    let found = |named: &[stc::explain::Named]| -> Vec<(String, String, u64)> {
        named.iter().map(|named| (named.name.clone(), named.path.clone(), named.uses)).collect()
    };
    let expected = |all: [(&str, &str, u64); 2]| all.map(|(name, path, uses)| (name.to_owned(), path.to_owned(), uses));
    assert_eq!(found(&explanation.dictionary), expected([("a", "", 3), ("b", "", 3)]));
    assert_eq!(found(&explanation.anchors), expected([("a", ".c", 2), ("b", ".d[0]", 2)]));
}

#[test]
fn a_copy_of_an_array_is_not_listed_again() {
    let array = r#"[{"first":"a text that is long enough"},{"second":"and another one of about that length"}]"#;
    let json = format!(r#"{{"a":{array},"b":[0,{array}],"c":{array},"z":[{{"x":1}},{{"y":[]}}]}}"#);
    let explanation = explained(&json, true);
    let paths: Vec<&str> = explanation.arrays.iter().map(|array| array.path.as_str()).collect();
    assert_eq!(paths, [".a", ".z"]);
    assert_eq!(explanation.anchors.len(), 1);
}
