//! Texts through the dictionary and back, its bounds, and hostile texts.

use super::*;

const HOWS: [Dictionary; 3] = [Dictionary::Lzw, Dictionary::Repair, Dictionary::Auto];

/// A generator of numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as usize % most
    }
}

fn paths(count: usize) -> String {
    (0..count).map(|number| format!("/usr/local/lib/python3.11/site-packages/requests/file{number}.py\n")).collect()
}

#[test]
fn a_repeated_path_is_written_once() {
    let text = paths(6);
    let written = abbreviate(&text, Dictionary::Lzw).unwrap();
    let expected = "[Repeated passages are written once: in the text after this list, «1» stands for what follows «1»= in it. «» ends the list.]\n\
        «1»=/usr/local/lib/python3.11/site-packages/requests/\n\
        «»\n\
        «1»file0.py\n«1»file1.py\n«1»file2.py\n«1»file3.py\n«1»file4.py\n«1»file5.py\n";
    assert_eq!(written, expected);
    assert_eq!(expand(&written).unwrap(), text);
}

#[test]
fn sequences_may_cross_two_line_feeds() {
    let block = "error: the borrowed value does not live long enough\n  in this function\n";
    let text: String =
        (0..8).map(|number| format!("{block}case {number} of the long list of all the cases\n")).collect();
    let repair = abbreviate(&text, Dictionary::Repair).unwrap();
    let list = &repair[..repair.find("«»\n").unwrap()];
    let passages = list.split('«').skip(4);
    assert!(passages.clone().any(|passage| passage.matches('\n').count() == 3), "{repair}");
    assert!(passages.into_iter().all(|passage| passage.matches('\n').count() <= 3), "{repair}");
    assert_eq!(expand(&repair).unwrap(), text);
    let lzw = abbreviate(&text, Dictionary::Lzw).unwrap();
    let auto = abbreviate(&text, Dictionary::Auto).unwrap();
    assert_eq!(auto.len(), lzw.len().min(repair.len()));
}

#[test]
fn what_saves_too_little_stays() {
    for how in HOWS {
        for text in ["", "a", "no repetition at all in this line of text, nor in the next one", &paths(2)] {
            assert_eq!(abbreviate(text, how), None, "{text}");
        }
        let long = paths(2_000);
        assert!(long.len() > LONGEST_ABBREVIATED);
        assert_eq!(abbreviate(&long, how), None);
    }
}

#[test]
fn a_text_with_markers_is_not_taken_again() {
    for how in HOWS {
        let written = abbreviate(&paths(20), how).unwrap();
        assert_eq!(abbreviate(&written, how), None);
        assert_eq!(abbreviate(&format!("{}{written}", paths(9)), how), None);
    }
}

#[test]
fn other_signs_are_used_if_a_text_has_the_first() {
    let mut text = paths(9);
    for (open, close) in SIGNS {
        let written = abbreviate(&text, Dictionary::Lzw).unwrap();
        assert!(written.contains(&marker(1, (open, close))), "{written}");
        assert_eq!(expand(&written).unwrap(), text);
        text.push(open);
    }
    assert_eq!(abbreviate(&text, Dictionary::Lzw), None);
}

#[test]
fn bounds_are_kept() {
    let mut random = Random(7);
    for _ in 0..200 {
        let text = text(&mut random, 200);
        for how in HOWS {
            let Some(written) = abbreviate(&text, how) else { continue };
            assert!(written.len() + LEAST_BYTES <= text.len());
            assert!((text.len() - written.len()) * 100 >= text.len() * 3);
            let signs = *SIGNS.iter().find(|signs| written.starts_with(&header(**signs))).unwrap();
            let list = &written[header(signs).len()..];
            let list = &list[..list.find(&format!("{}{}\n", signs.0, signs.1)).unwrap()];
            let after = &written[header(signs).len() + list.len()..];
            let passages: Vec<_> = list.split(signs.0).skip(1).collect();
            assert!((1..=20).contains(&passages.len()));
            for (number, passage) in passages.iter().enumerate() {
                let marker = marker(number + 1, signs);
                let length = passage.len() - marker.len() + signs.0.len_utf8() - 2;
                let count = after.matches(&marker).count();
                assert!(count >= 3, "{written}");
                assert!(count * (length - marker.len()) >= length + 2 + marker.len() + 16, "{written}");
            }
        }
    }
}

/// Returns a text of passages that repeat, among them markers and headers.
fn text(random: &mut Random, parts: usize) -> String {
    let own = header(SIGNS[0]);
    let all = [
        "a",
        " ",
        "\n",
        "«",
        "»",
        "«1»",
        "«2»=",
        "«»\n",
        "‹",
        "⟦7⟧",
        "¤1¤",
        "=",
        "é",
        "日本",
        "\r\n",
        "\t",
        "/usr/local/share/",
        "2026-11-17T08:00:00Z INFO ",
        "error: cannot find value\n",
        "the same words again and again ",
        "    at com.example.Application.main(Application.java:42)\n",
        "\u{0}",
        "0123456789abcdef",
        "[Repeated passages are written",
        &own,
    ];
    // Most texts have few kinds of parts: so they repeat.
    let count = random.below(5) + 1;
    let mut kind = || {
        let without_header = usize::from(random.below(8) > 0);
        all[random.below(all.len() - without_header)]
    };
    let kinds: Vec<&str> = (0..count).map(|_| kind()).collect();
    let mut text = String::new();
    for _ in 0..random.below(parts) {
        text.push_str(if random.below(12) == 0 {
            all[random.below(all.len() - 1)]
        } else {
            kinds[random.below(kinds.len())]
        });
    }
    text
}

#[test]
fn expanding_returns_the_text_exactly() {
    // Four parts at once: the longest test of the crate, which would otherwise leave all processors but one idle.
    let parts: [usize; 4] = std::thread::scope(|scope| {
        [1, 2, 3, 4].map(|seed| scope.spawn(move || expanded_exactly(seed, 25_000))).map(|part| part.join().unwrap())
    });
    assert!(parts.into_iter().all(|taken| taken > 2_500), "{parts:?}");
}

/// Checks that many texts of a seed, and returns how many were abbreviated.
fn expanded_exactly(seed: u64, texts: usize) -> usize {
    let mut random = Random(seed);
    let mut taken = 0;
    for number in 0..texts {
        let text = text(&mut random, 32);
        let how = HOWS[number % 3];
        let written = abbreviate(&text, how);
        if let Some(written) = &written {
            taken += 1;
            assert_eq!(expand(written).as_deref(), Some(&*text));
            assert_eq!(abbreviate(written, how), None);
        }
        if number % 16 == 0 {
            assert_eq!(abbreviate(&text, how), written, "the same bytes each time");
        }
    }
    taken
}

/// Texts that look like ours and are not: expanding ends, and never returns more than a text may have.
#[test]
fn imitations_are_refused() {
    let good = abbreviate(&paths(12), Dictionary::Lzw).unwrap();
    for text in [
        good.replace("«»\n", ""),
        good.replace("«1»=", "«2»="),
        good.replacen("«1»file3", "«9»file3", 1),
        good.replacen("«1»file3", "«01»file3", 1),
        good.replacen("«1»file3", "«+1»file3", 1),
        good.replacen("«1»file3", "«1file3", 1),
        good[..good.len() / 4].to_owned(),
        header(SIGNS[0]),
        format!("{}«»\ntext", header(SIGNS[0])),
        paths(3),
    ] {
        assert_eq!(expand(&text), None, "{text}");
    }
    let bomb = format!("{}«1»={}\n«»\n{}", header(SIGNS[0]), "x".repeat(40_000), "«1»".repeat(9_000));
    assert_eq!(expand(&bomb), None);
    for end in (0..good.len()).filter(|end| good.is_char_boundary(*end)) {
        let _ = expand(&good[..end]);
    }
}

/// Texts of the greatest length that repeat as much as they can.
#[test]
fn hostile_texts_end() {
    let of = |part: &str| part.repeat(LONGEST_ABBREVIATED / part.len());
    let mut fibonacci = (String::from("ab "), String::from("abc "));
    while fibonacci.1.len() < LONGEST_ABBREVIATED / 2 {
        fibonacci = (fibonacci.1.clone(), fibonacci.1 + &fibonacci.0);
    }
    let mut random = Random(3);
    let bits: String = (0..LONGEST_ABBREVIATED).map(|_| if random.below(2) == 0 { 'a' } else { 'b' }).collect();
    let words: String = (0..9_000).map(|_| ["one ", "two ", "three\n", "four, "][random.below(4)]).collect();
    for text in [of("a"), of("ab"), of("a b\n"), of("é"), of("a\n"), fibonacci.1, bits, words, of(&paths(7)), of("\n")]
    {
        for how in HOWS {
            if let Some(written) = abbreviate(&text, how) {
                assert_eq!(expand(&written).as_deref(), Some(&*text));
            }
        }
    }
}
