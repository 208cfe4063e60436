//! The laws about what references may cut, on random choices.

use stc::laws::{anchors_use_their_whole_limit, references_cut_cleanly, round_trip};
use stc::{Encoder, Format, Options};

use crate::random::{Choices, Random, rounds};

/// Returns the choices of one document.
fn choices(random: &mut Random) -> Vec<u8> {
    (0..80).map(|_| random.below(256) as u8).collect()
}

#[test]
fn references_cut_cleanly_in_random_documents() {
    const FORMS: [&str; 10] = ["~\"", "${id}", "${}", "?~", "$a=\"", "$a\"", "&a", "*a", ".{", "?="];
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
    let stc = round_trip(json.as_bytes(), Options::default().format(Format::Stc2)).expect("JSON");
    assert!(!stc.contains(&b'~'), "{}", stc.escape_ascii());
}

/// An encoder that has written other copies, names and templates writes a document as a new one does.
#[test]
fn references_of_one_document_do_not_reach_the_next() {
    let object = |number: usize| format!(r#"{{"a":[{number},2,3],"b":"a text of {number}","c":{{"d":{number}}}}}"#);
    let documents = (1..60).map(|step| {
        let elements = (0..60 - step).map(|at| object(at * step % 7 + step % 5)).collect::<Vec<_>>();
        // Elements of arrays, of different lengths, so that they are at other tokens than those of the document before.
        let nested: Vec<String> =
            elements.iter().enumerate().map(|(at, one)| format!("[{}{one}]", "1,".repeat(at % step))).collect();
        format!("[{}]", nested.join(","))
    });
    let options = Options::default().format(Format::Stc2);
    let mut used = Encoder::with_options(options);
    let mut with_copies = 0;
    for json in documents {
        let stc = Encoder::with_options(options).encode(json.as_bytes()).expect("JSON").to_vec();
        assert_eq!(used.encode(json.as_bytes()), Ok(&*stc), "{json}");
        assert_eq!(stc::decode(&stc).as_deref(), Ok(json.as_bytes()));
        with_copies += usize::from(stc.contains(&b'*'));
    }
    assert!(with_copies > 30, "{with_copies}");
}
