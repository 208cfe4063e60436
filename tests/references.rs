//! The laws about what references may cut, on random choices.

use stc::laws::{anchors_use_their_whole_limit, references_cut_cleanly, round_trip};
use stc::{Format, Options};

use crate::random::{Choices, Random, rounds};

/// Returns the choices of one document.
fn choices(random: &mut Random) -> Vec<u8> {
    (0..80).map(|_| random.below(256) as u8).collect()
}

#[test]
fn references_cut_cleanly_in_random_documents() {
    const FORMS: [&str; 8] = ["~\"", "${id}", "$a=\"", "$a\"", "&a", "*a", ".{", "?="];
    let mut random = Random::new(8);
    let mut forms = [0; FORMS.len()];
    let rounds = rounds(2000);
    for _ in 0..rounds {
        let text = String::from_utf8(references_cut_cleanly(&choices(&mut random))).expect("text");
        for (form, count) in FORMS.iter().zip(&mut forms) {
            *count += usize::from(text.contains(form));
        }
    }
    // Each form is what the law is about, so each must be there.
    let rare: Vec<_> = FORMS.iter().zip(forms).filter(|&(_, count)| count < rounds / 50).collect();
    assert!(rare.is_empty(), "{rare:?}");
}

#[test]
fn anchors_use_their_whole_limit_in_random_documents() {
    let mut random = Random::new(9);
    let rounds = rounds(300);
    let used = (0..rounds).filter(|_| anchors_use_their_whole_limit(&choices(&mut random)) > 0).count();
    assert!(used >= rounds / 3, "{used}");
}

#[test]
fn an_escape_that_two_columns_share_is_not_cut() {
    let rows: Vec<String> =
        (1..6).map(|id| format!(r#"{{"id":{id},"text":"a longer text before \u004{id}"}}"#)).collect();
    let json = format!("[{}]", rows.join(","));
    let stc = round_trip(json.as_bytes(), Options::default().format(Format::Stc2Refs)).expect("JSON");
    assert!(!stc.contains(&b'~'), "{}", stc.escape_ascii());
}
