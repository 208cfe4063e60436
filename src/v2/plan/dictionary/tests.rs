//! The dictionary against the letter of the rules (STC.md, section 21.3): a slow reading that computes every gain anew at each step.

use super::*;
use crate::testing::with_tree;

/// A choice of entries: their bodies, the entry of each string, and what they save.
#[derive(Debug, PartialEq, Eq)]
struct Choice {
    entries: Vec<String>,
    uses: Vec<Option<u32>>,
    saving: i64,
}

/// Returns the beginnings of a string that may be named.
fn prefixes(body: &str) -> Vec<&str> {
    let mut prefixes = Vec::new();
    if body.len() < MIN_PREFIX_BYTES {
        return prefixes;
    }
    if body.starts_with("arn:") || (0..=9).any(|at| body.get(at..at + 3) == Some("://")) {
        let slashes = body.match_indices('/').map(|(at, _)| at).filter(|&at| at < MAX_BYTES).take(MAX_CUTS);
        let is_cut = |&at: &usize| at >= MIN_PREFIX_BYTES && !body[..at].ends_with(['/', '\\', ':']);
        prefixes.extend(slashes.filter(is_cut).map(|at| &body[..at]));
    }
    if (MIN_WHOLE_BYTES..=MAX_BYTES).contains(&body.len()) {
        prefixes.push(body);
    }
    prefixes
}

/// Returns what the rules choose from strings, at most `max_entries`.
fn chosen_slowly(bodies: &[String], max_entries: usize) -> Choice {
    let of: Vec<Vec<&str>> = bodies.iter().map(|body| prefixes(body)).collect();
    let saves = |prefix: &str| tokens(prefix.as_bytes()) - USE_COST;
    // All that three strings begin with, in the order of the text.
    let mut known: Vec<&str> = Vec::new();
    for &prefix in of.iter().flatten() {
        let uses = of.iter().filter(|all| all.contains(&prefix)).count();
        if uses >= MIN_USES as usize && !known.contains(&prefix) {
            known.push(prefix);
        }
    }
    let mut entries: Vec<&str> = Vec::new();
    let mut uses: Vec<Option<usize>> = vec![None; bodies.len()];
    while entries.len() < max_entries {
        let now: Vec<i64> = uses.iter().map(|used| used.map_or(0, |entry| saves(entries[entry]))).collect();
        let mut best: Option<(i64, &str)> = None;
        for &prefix in &known {
            let better: Vec<i64> = (0..bodies.len())
                .filter(|&string| of[string].contains(&prefix))
                .map(|string| saves(prefix) - now[string])
                .filter(|&more| more > 0)
                .collect();
            let gain: i64 = better.iter().sum();
            let pays = better.len() >= MIN_USES as usize && gain > saves(prefix) + ENTRY_COST;
            if pays && best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, prefix));
            }
        }
        let Some((_, prefix)) = best else { break };
        for string in 0..bodies.len() {
            if of[string].contains(&prefix) && saves(prefix) > now[string] {
                uses[string] = Some(entries.len());
            }
        }
        entries.push(prefix);
    }
    // An entry with too few uses goes, and its strings take the best that is left.
    while let Some(idle) =
        (0..entries.len()).find(|&entry| uses.iter().filter(|&&used| used == Some(entry)).count() < 3)
    {
        entries.remove(idle);
        for string in 0..bodies.len() {
            let mut best: Option<usize> = None;
            for entry in (0..entries.len()).filter(|&entry| of[string].contains(&entries[entry])) {
                if best.is_none_or(|best| saves(entries[entry]) > saves(entries[best])) {
                    best = Some(entry);
                }
            }
            uses[string] = best;
        }
    }
    let saved: i64 = uses.iter().flatten().map(|&entry| saves(entries[entry])).sum();
    Choice {
        saving: saved - entries.iter().map(|entry| saves(entry) + ENTRY_COST).sum::<i64>(),
        entries: entries.into_iter().map(str::to_owned).collect(),
        uses: uses.into_iter().map(|entry| entry.map(|entry| entry as u32)).collect(),
    }
}

/// Calls `read` with the dictionary of strings, all of them added `times` times with everything taken back in between.
fn with_dictionary<R>(
    bodies: &[String],
    max_found: usize,
    times: usize,
    read: impl FnOnce(&mut Dictionary<'_>, Tree<'_>) -> R,
) -> R {
    let json = format!("[{}]", bodies.iter().map(|body| format!("\"{body}\"")).collect::<Vec<_>>().join(","));
    with_tree(&json, |tree| {
        let (arena, mut slots) = (Bump::new(), DictionarySlots::default());
        let mut dictionary = Dictionary::new(&arena, &mut slots, Hasher::default(), max_found);
        for _ in 0..times {
            dictionary.clear();
            (0..bodies.len()).for_each(|string| dictionary.add(tree, string as Token + 1));
        }
        read(&mut dictionary, tree)
    })
}

/// Returns what a dictionary chooses from strings.
fn chosen(bodies: &[String], times: usize, limits: &Limits) -> Choice {
    with_dictionary(bodies, 1 << 14, times, |dictionary, tree| {
        let saving = dictionary.decide(tree, limits);
        let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
        let entries: Vec<String> = dictionary.entries(tree).map(text).collect();
        let mut next = 0;
        let uses = (1..=bodies.len() as Token).map(|string| {
            let used = dictionary.entry_of(&mut next, string);
            used.map(|(entry, length)| {
                assert_eq!(length, entries[entry as usize].len());
                entry
            })
        });
        Choice { uses: uses.collect(), saving, entries }
    })
}

/// Returns lists of strings: paths of few parts, in every shape of a small tree, addresses or not.
fn lists() -> Vec<Vec<String>> {
    const ROOTS: [&str; 7] = [
        "https://e.org",
        "arn:aws:s3:::a-bucket",
        "one/two/three/four",
        "http://example.org/api/v1",
        "x",
        "ftp://a",
        "twelve-bytes://x",
    ];
    const PARTS: [&str; 8] =
        ["a", "users", "and a long part of a path", "b\\/c", "/", "x:", "12345678901234567890", "a-b-c-d"];
    let mut seed = 1_u64;
    let mut below = |bound: usize| {
        seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (seed >> 33) as usize % bound
    };
    let mut lists = Vec::new();
    for round in 0..400 {
        let (roots, parts, depth) = (1 + round % 3, 1 + round % 5, 1 + below(4));
        let first = below(ROOTS.len());
        let list = (0..3 + below(if round % 10 == 0 { 80 } else { 24 })).map(|number| {
            let mut body = ROOTS[(first + below(roots)) % ROOTS.len()].to_owned();
            for _ in 0..below(depth + 1) {
                body += "/";
                body += PARTS[below(parts)];
            }
            if number % 3 == 0 { format!("{body}/{number}") } else { body }
        });
        lists.push(list.collect());
    }
    lists
}

#[test]
fn entries_are_those_of_the_rules() {
    let (mut most, mut with_entries) = (0, 0);
    for (number, bodies) in lists().into_iter().enumerate() {
        let most_entries = 1 + number % MAX_ENTRIES;
        let expected = chosen_slowly(&bodies, most_entries);
        let found = chosen(&bodies, 1 + bodies.len() % 2, &Limits::DEFAULT.columns(most_entries));
        assert_eq!(found, expected, "{bodies:#?}");
        most = most.max(found.entries.len());
        with_entries += usize::from(!found.entries.is_empty());
    }
    assert!(most >= 4 && with_entries > 100, "up to {most} entries, {with_entries} lists with some");
}

/// An entry chosen first is left with few uses by longer ones: it goes, and later entries take its number.
#[test]
fn entries_that_others_leave_idle_are_removed() {
    let (mut removed, mut few) = (0, 0);
    for (more, extra) in (0..12).flat_map(|more| (0..6).map(move |extra| (more, extra))) {
        for root in ["https://example.org/root", "https://a-rather-long-name.of-a-host.example.org/and-its-root"] {
            let mut bodies: Vec<String> = Vec::new();
            for branch in ["aaaaaaaa bbbb cccc dddd", "eeeeeeee ffff gggg hhhh", "iiiiiiii jjjj kkkk llll"] {
                (0..3 + more).for_each(|n| bodies.push(format!("{root}/{branch}/{n}")));
            }
            (0..extra).for_each(|n| bodies.push(format!("{root}/{n}")));
            (0..5).for_each(|n| bodies.push(format!("arn:aws:iam::1234567890:user/{n}")));
            let expected = chosen_slowly(&bodies, MAX_ENTRIES);
            assert_eq!(chosen(&bodies, 1, &Limits::DEFAULT), expected, "{bodies:#?}");
            let has_root = expected.entries.iter().any(|entry| entry == root);
            removed += usize::from(!has_root);
            // Two uses are too few, whatever they save.
            few += usize::from(!has_root && extra == 2);
        }
    }
    assert!(removed < 144 && few > 4, "{removed} {few}");
}

/// Two strings are too few for an entry, whatever it saves: it takes no place of another one.
#[test]
fn what_two_strings_have_left_is_no_entry() {
    for (root, others) in [5, 20, 60].into_iter().flat_map(|root| (1..4).map(move |others| (root, others))) {
        let root = format!("https://host.example.org/{}", "some-part.".repeat(root));
        let long = (0..8).map(|n| format!("{root}/and/more/of/it/{n}"));
        let few = (0..others).map(|n| format!("{root}/{n}"));
        let bodies: Vec<String> =
            long.chain(few).chain((0..3).map(|n| format!("arn:aws:iam::1234567890:user/{n}"))).collect();
        for columns in 1..5 {
            let found = chosen(&bodies, 1, &Limits::DEFAULT.columns(columns));
            assert_eq!(found, chosen_slowly(&bodies, columns), "{bodies:#?}");
            let uses = |entry| found.uses.iter().filter(|&&used| used == Some(entry)).count();
            assert!((0..found.entries.len() as u32).all(|entry| uses(entry) > 2), "{bodies:#?}");
        }
    }
}

#[test]
fn entries_and_bytes_are_as_many_as_a_decoder_takes() {
    // Nine beginnings that pay.
    let bodies: Vec<String> =
        (0..9).flat_map(|host| (0..9).map(move |n| format!("https://host-{host}.example.org/{n}"))).collect();
    for columns in 0..12 {
        let found = chosen(&bodies, 1, &Limits::DEFAULT.columns(columns));
        assert_eq!(found, chosen_slowly(&bodies, columns.min(MAX_ENTRIES)), "{columns}");
        assert_eq!(found.entries.len(), columns.min(MAX_ENTRIES));
    }
    // Strings of up to 512 bytes between quotes: as many as there may be are within the limit.
    let most = MAX_ENTRIES * (MAX_BYTES + 2);
    for (bytes, entries) in [(0, 0), (MAX_BYTES, 0), (most - 1, 0), (most, MAX_ENTRIES), (most + 1, MAX_ENTRIES)] {
        assert_eq!(chosen(&bodies, 1, &Limits::DEFAULT.header(bytes)).entries.len(), entries, "{bytes}");
    }
    for (length, entries) in [(39, 0), (40, 1), (511, 1), (512, 1), (513, 0)] {
        let bodies = vec!["ab".repeat(300)[..length].to_owned(); 4];
        assert_eq!(chosen(&bodies, 1, &Limits::DEFAULT).entries.len(), entries, "{length} bytes");
    }
}

/// Of a document that has more, the first strings and beginnings are held.
#[test]
fn strings_and_beginnings_are_held_up_to_a_limit() {
    // Each string has one beginning, which no other has.
    let bodies: Vec<String> = (0..40).map(|n| format!("https://host-{n}.example.org/x")).collect();
    for max_found in 0..30 {
        let held = with_dictionary(&bodies, max_found, 1, |dictionary, _| {
            (dictionary.strings.len(), dictionary.prefixes.len())
        });
        let expected = (max_found + 1).min(40);
        assert_eq!(held, (expected, expected), "{max_found}");
    }
    // All strings have the same beginning.
    let bodies: Vec<String> = (0..40).map(|n| format!("https://host.example.org/{n}")).collect();
    for max_found in 0..30 {
        let held = with_dictionary(&bodies, max_found, 1, |dictionary, _| {
            (dictionary.strings.len(), dictionary.prefixes.len())
        });
        assert_eq!(held, ((2 * max_found).clamp(1, 40), 1), "{max_found}");
    }
}
