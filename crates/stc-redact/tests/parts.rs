//! Secrets in texts that come in parts.

use stc_redact::{Redactor, plant};

/// Wherever a text is cut, what the parts make is the redacted text.
#[test]
fn secrets_are_found_across_parts() {
    let redactor = Redactor::default();
    for (number, (id, example)) in plant::examples().into_iter().enumerate() {
        let planted = plant::fill(&example, number as u64);
        let text = format!("é before {} after", planted.text);
        let expected = redactor.redact(&text).unwrap().text;
        for step in [1, 3, 7, 20, 1_000] {
            let cuts: Vec<_> =
                (0..text.len()).filter(|at| at % step == 0 && text.is_char_boundary(*at)).chain([text.len()]).collect();
            let parts = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
            let redacted = redactor.redact_parts(parts).unwrap().unwrap();
            assert_eq!(redacted.len(), cuts.len() - 1);
            assert_eq!(redacted.concat(), expected, "{id} {step}");
        }
    }
}

#[test]
fn each_part_keeps_what_is_no_secret() {
    let redactor = Redactor::default();
    let secret = plant::fill("ghp_<36>", 1).text;
    let (start, end) = secret.split_at(20);
    let redacted =
        redactor.redact_parts(["a ", &format!("b {start}"), end, "", " c", &format!(" d {secret} e"), " f"]).unwrap();
    let expected = ["a ", "b [redacted:github-token]", "", "", " c", " d [redacted:github-token] e", " f"];
    assert_eq!(redacted.unwrap(), expected);
    assert_eq!(redactor.redact_parts(["a", "b"]).unwrap(), None);
    assert_eq!(redactor.redact_parts([]).unwrap(), None);
}
