//! Work grows with the length of a text and not with its square, and what repeats keywords is looked through to its end.

use stc_redact::{RULES, Redactor, RuleText, plant};

/// The name of a kind of texts, and what they repeat.
type Shape = (String, String);

/// So many of them fail, for what they repeat looks like a secret at every keyword, until it is read to its end.
const MOST_LATE: usize = 9;

/// Texts that were made to cost much, each repeated to its length.
fn shapes() -> Vec<Shape> {
    let rules: toml::Table = toml::from_str(RULES).unwrap();
    let rules: Vec<RuleText> = rules["rule"].clone().try_into().unwrap();
    let words: Vec<String> = rules.iter().flat_map(|rule| rule.keywords.clone()).collect();
    let mut shapes: Vec<Shape> = Vec::new();
    let mut add = |name: &str, part: String| shapes.push((name.to_owned(), part));
    for word in &words {
        add("repeated", word.clone());
        add("upper", word.to_ascii_uppercase() + "-");
    }
    for word in words.iter().step_by(7) {
        add("with a quote", format!("{word}\""));
        add("assigned", format!("{word}="));
        add("as a member", format!("\"{word}\":\""));
        add("escaped once", format!("\\\"{word}\\\":\\\""));
        add("escaped twice", format!("\\\\\\\"{word}\\\\\\\":"));
        add("with an escape", format!("{word}\\u002d"));
        add("with backslashes", format!("{word}{}", "\\".repeat(50)));
        add("with a sign", format!("{word}a1B2!@"));
    }
    for (_, example) in plant::examples() {
        let hit = plant::fill(&example, 1).text;
        add("secrets in a row", format!("{hit} "));
        add("secrets in a string", format!("\"{hit}\\n\","));
        add("secrets without a gap", hit);
    }
    for part in [
        "eyJ",
        "eyJa.",
        "a://x:",
        "://a:b@",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nA\n",
        "\\",
        "\"",
        "\\\"",
        "\\u0061",
        "\\u005c",
        "\\ud83d",
        "\\udc00",
        "\x1b[",
        "\x1b]",
        "\x1b[31m",
        "[redacted:",
        "[redacted:a]",
        "password: |\n ",
        "password: |\n  a1!bcdef\n",
        "name=token\n",
        "\0",
        "-u",
        "-u a:",
        "é",
        "\"name\":\"token\",\"value\":\"",
    ] {
        add("alone", part.to_owned());
    }
    shapes
}

#[test]
fn work_is_linear() {
    let redactor = Redactor::default();
    let shapes = shapes();
    assert!(shapes.len() > 500);
    let mut late = Vec::new();
    for (name, part) in shapes {
        let of = |length: usize| part.repeat(length / part.len() + 1);
        let texts = [8 << 10, 16 << 10, 32 << 10].map(of);
        let [one, two, four] = [0, 1, 2].map(|number| redactor.work(&texts[number]));
        // Twice the work for twice the text, and the windows at the ends of a text.
        let rest = 64 << 10;
        assert!(two <= 2 * one + rest && four <= 2 * two + rest, "{name} {part:?}: {one}, {two}, {four}");
        if redactor.redact(&texts[2]).is_err() {
            late.push(format!("{name} {part:?}: {one}, {two}, {four}"));
        }
    }
    assert!(late.len() <= MOST_LATE, "{} are late:\n{}", late.len(), late.join("\n"));
}

/// A keyword without a secret before a real one hides nothing, however often it is repeated.
#[test]
fn secrets_after_many_keywords_are_found() {
    let redactor = Redactor::default();
    for (number, (id, example)) in plant::examples().into_iter().enumerate() {
        let planted = plant::fill(&example, number as u64);
        // A key that ends after many markers is longer than a key may be.
        let words = ["eyJ", "nvapi-", "sk-", "token=", "\\", "ghp_", "://", "-----BEGIN CERTIFICATE-----"];
        for (place, before) in words.iter().enumerate().filter(|(place, _)| (number + place) % 3 == 0) {
            let between = [" ", "\n", "/"][(number + place) / 3 % 3];
            let text = format!("{}{between} {}", before.repeat(2_000), planted.text);
            let redacted = redactor.redact(&text).unwrap_or_else(|why| panic!("{id} after {before}: {why:?}"));
            let left: Vec<_> = planted.secrets().filter(|part| redacted.text.contains(part)).collect();
            assert!(left.is_empty(), "{id} after {before:?}{between:?}: {left:?}");
        }
    }
}

/// Of a run of keywords without a gap, a secret at its end is found: what begins in it is not skipped.
#[test]
fn secrets_at_the_end_of_a_run_are_found() {
    let redactor = Redactor::default();
    for (prefix, secret) in [("ghp_", plant::fill("ghp_<36>", 1)), ("sk-", plant::fill("sk-<48>", 1))] {
        for count in [1, 2, 3, 10, 100, 3_000] {
            let text = format!("{}{} after", prefix.repeat(count), secret.text);
            let redacted = redactor.redact(&text).unwrap();
            assert!(
                !redacted.text.contains(&secret.parts[0][secret.parts[0].len() - 8..]),
                "{prefix} {count}: {}",
                redacted.text
            );
            assert!(redacted.text.ends_with(" after"));
        }
    }
}
