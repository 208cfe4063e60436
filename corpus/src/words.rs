//! Names, words and identifiers for the generated documents.
//!
//! All are invented. Domains and addresses are those reserved for examples and documentation, so the corpus refers to no
//! real person. Common choices come first in a list, because `Rng::prefer` picks them more often, as in real data.

use crate::rng::Rng;

pub(crate) const FIRST: &[&str] = &[
    "Ann", "Ben", "Carla", "Dmitri", "Elif", "Farid", "Grete", "Hana", "Ivo", "Jun", "Katya", "Lars", "Mina", "Noor",
    "Olu", "Petra", "Quinn", "Rosa", "Sven", "Tomás", "Uma", "Vikram", "Wen", "Ximena", "Yara", "Zoë",
];
pub(crate) const LAST: &[&str] = &[
    "Adler",
    "Baker",
    "Castillo",
    "Dang",
    "Eriksen",
    "Fontaine",
    "Gupta",
    "Hoang",
    "Ito",
    "Jansen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Nakamura",
    "Okafor",
    "Pereira",
    "Quist",
    "Rossi",
    "Schäfer",
    "Tanaka",
    "Ueda",
    "Vargas",
    "Weiss",
    "Xu",
    "Yılmaz",
    "Zhang",
];
pub(crate) const ORGS: &[&str] =
    &["acme", "brightwell", "oakline", "ferrous", "lumenfold", "quartzo", "tidewater", "nimbic"];
pub(crate) const SERVICES: &[&str] = &[
    "gateway",
    "checkout",
    "billing",
    "catalog",
    "search",
    "auth",
    "ledger",
    "mailer",
    "scheduler",
    "inventory",
    "notifier",
    "ingest",
    "reports",
    "webhooks",
    "profile",
];
pub(crate) const NOUNS: &[&str] = &[
    "cache", "timeout", "retry", "session", "header", "queue", "index", "token", "worker", "cursor", "batch", "schema",
    "socket", "backup", "replica", "payload", "quota", "metric", "parser", "route", "invoice", "upload", "webhook",
    "shard", "cluster", "policy", "secret", "deploy", "branch", "release",
];
pub(crate) const VERBS: &[&str] = &[
    "fix", "add", "remove", "update", "handle", "refactor", "document", "test", "improve", "allow", "reject", "log",
    "rename", "support", "skip", "limit", "restore", "validate", "split", "drop",
];
pub(crate) const ADJECTIVES: &[&str] = &[
    "slow",
    "empty",
    "stale",
    "nested",
    "missing",
    "large",
    "duplicate",
    "expired",
    "partial",
    "broken",
    "default",
    "optional",
    "remote",
    "idle",
    "shared",
    "invalid",
    "pending",
    "early",
    "rare",
    "quiet",
];
pub(crate) const FILLERS: &[&str] = &["when", "after", "before", "because", "while", "until", "unless", "once"];
pub(crate) const CITIES: &[&str] =
    &["Lisbon", "Osaka", "Tromsø", "Medellín", "Nairobi", "Zürich", "Austin", "Łódź", "Hanoi", "Perth"];
pub(crate) const REGIONS: &[&str] = &["eu-west-1", "us-east-1", "us-west-2", "ap-southeast-2", "eu-central-1"];
pub(crate) const LANGUAGES: &[&str] = &["Rust", "TypeScript", "Python", "Go", "Java", "Shell", "C", "HCL"];

/// `Ann Baker`.
pub(crate) fn person(rng: &mut Rng) -> String {
    format!("{} {}", rng.pick(FIRST), rng.pick(LAST))
}

/// `abaker7`: one of about a thousand people, a few of them much more frequent.
pub(crate) fn login(rng: &mut Rng) -> String {
    let limit = rng.skewed(1000) + 1;
    login_of(rng.skewed(limit))
}

/// The login of the `n`th person.
pub(crate) fn login_of(n: u64) -> String {
    let first = FIRST[n as usize % FIRST.len()].chars().next().unwrap_or('x');
    let last: String = LAST[n as usize / 7 % LAST.len()].chars().filter(char::is_ascii).collect();
    format!("{first}{last}{n}").to_lowercase()
}

/// `ann.baker@example.com`.
pub(crate) fn email(rng: &mut Rng) -> String {
    let ascii = |name: &str| name.chars().filter(char::is_ascii).collect::<String>().to_lowercase();
    let domain = rng.prefer(&["example.com", "example.org", "acme.example", "mail.example.net"]);
    format!("{}.{}@{domain}", ascii(rng.pick(FIRST)), ascii(rng.pick(LAST)))
}

/// `Fix stale cache in the gateway`.
pub(crate) fn title(rng: &mut Rng) -> String {
    let (adjective, noun, service) = (rng.pick(ADJECTIVES), rng.pick(NOUNS), rng.pick(SERVICES));
    let text = match rng.below(4) {
        0 => format!("{} {adjective} {noun} in the {service}", rng.pick(VERBS)),
        1 => format!("{service}: {} {adjective} {noun}", rng.pick(VERBS)),
        2 => format!("{adjective} {noun} breaks {service} ({})", rng.pick(NOUNS)),
        _ => format!("{} the {noun} {} the {service} is {adjective}", rng.pick(VERBS), rng.pick(FILLERS)),
    };
    capital(&text)
}

/// A sentence of about `words` words.
pub(crate) fn sentence(rng: &mut Rng, words: u64) -> String {
    let mut text = String::from("The");
    let mut count = 1;
    while count < words {
        let (noun, verb) = (rng.pick(NOUNS), rng.pick(VERBS));
        match rng.below(4) {
            0 => text.push_str(&format!(" {} {noun}", rng.pick(ADJECTIVES))),
            1 => text.push_str(&format!(" {noun} of the {}", rng.pick(SERVICES))),
            2 => text.push_str(&format!(" {noun} {} we {verb}", rng.pick(FILLERS))),
            _ => text.push_str(&format!(" {noun}, and {verb}")),
        }
        count += 3;
    }
    text.push_str(rng.prefer(&[".", ".", "!", "?"]));
    text
}

/// Several sentences on one line.
pub(crate) fn paragraph(rng: &mut Rng, sentences: u64) -> String {
    let sentences: Vec<String> = (0..sentences).map(|_| sentence(rng, 8)).collect();
    sentences.join(" ")
}

/// `stale-cache-gateway`.
pub(crate) fn slug(rng: &mut Rng) -> String {
    format!("{}-{}-{}", rng.pick(ADJECTIVES), rng.pick(NOUNS), rng.pick(SERVICES))
}

/// `digits` lower-case hexadecimal digits.
pub(crate) fn hex(rng: &mut Rng, digits: usize) -> String {
    spelled(rng, b"0123456789abcdef", digits)
}

/// `length` letters and digits: what opaque identifiers look like.
pub(crate) fn opaque(rng: &mut Rng, length: usize) -> String {
    spelled(rng, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", length)
}

/// `length` lower-case letters and digits without the ones that read as words: the tail of a pod's name.
pub(crate) fn tail(rng: &mut Rng, length: usize) -> String {
    spelled(rng, b"bcdfghjklmnpqrstvwxz2456789", length)
}

/// A random UUID.
pub(crate) fn uuid(rng: &mut Rng) -> String {
    let (a, b, c, d, e) = (hex(rng, 8), hex(rng, 4), hex(rng, 3), hex(rng, 3), hex(rng, 12));
    format!("{a}-{b}-4{c}-{}{d}-{e}", rng.pick(&['8', '9', 'a', 'b']))
}

/// A private address.
pub(crate) fn address(rng: &mut Rng) -> String {
    format!("10.{}.{}.{}", rng.below(4), rng.below(256), rng.between(1, 254))
}

/// `2.14.0`.
pub(crate) fn version(rng: &mut Rng) -> String {
    format!("{}.{}.{}", rng.skewed(6), rng.below(30), rng.skewed(12))
}

fn spelled(rng: &mut Rng, alphabet: &[u8], length: usize) -> String {
    (0..length).map(|_| char::from(rng.pick(alphabet))).collect()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
