//! Numbers and strings in every spelling that JSON allows. A codec that parses and prints values loses the spelling; a codec
//! that copies lexemes keeps it. The values are written as finished lexemes, so that nothing normalises them.

use crate::rng::Rng;
use crate::value::Raw;
use crate::words;
use crate::writer::Writer;

/// Numbers: signs, zeros, fractions, exponents, more digits than any machine number has.
pub(crate) fn numbers(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("precision", "arbitrary").array_field("readings", |w| {
            w.rows(|w, i| {
                let (value, error, raw) = (number(rng), number(rng), number(rng));
                w.object(|w| {
                    w.field("n", i)
                        .field("value", Raw(&value))
                        .field("error", Raw(&error))
                        .field("raw", [Raw(&raw), Raw("-0")]);
                });
            });
        });
    });
}

/// Strings: each character in any of its spellings, surrogates in pairs and alone.
pub(crate) fn escapes(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("lines", |w| {
            w.rows(|w, i| {
                let (left, right) = (string(rng), string(rng));
                w.object(|w| {
                    w.field("n", i).field("left", Raw(&left)).field("right", Raw(&right));
                    if rng.chance(10) {
                        w.field("both", [Raw(&right), Raw(&left)]);
                    }
                });
            });
        });
    });
}

/// Keys that are not names: spaces, dots, quotes, escapes, digits first, other scripts, the empty key.
pub(crate) fn keys(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            w.object(|w| {
                w.field("id", i).field("first name", words::person(rng)).field("content-type", "text/plain");
                w.field("2xx", rng.skewed(900)).field("5xx", rng.skewed(9)).field("a.b/c", true).field("@id", i * 7);
                w.field("\"quoted\"", 1)
                    .field("back\\slash", "\\")
                    .field("größe", rng.between(1, 9))
                    .field("", "empty");
                w.field("tab\there", "\t").field("$ref", format!("#/{}", rng.pick(words::NOUNS))).field("_ok", true);
            });
        });
    });
}

fn number(rng: &mut Rng) -> String {
    let sign = rng.prefer(&["", "-"]);
    let digits = |rng: &mut Rng, count| (0..count).map(|_| char::from(b'0' + rng.below(10) as u8)).collect::<String>();
    let whole = match rng.below(5) {
        0 => String::from("0"),
        1 => rng.between(1, 9).to_string() + &digits(rng, 39),
        2 => (1_u64 << 53).wrapping_add(rng.below(9)).to_string(),
        3 => u64::MAX.to_string(),
        _ => rng.skewed(100_000).to_string(),
    };
    let places = 1 + rng.skewed(18);
    let fraction = match rng.below(4) {
        0 => String::from(".0"),
        1 => format!(".{}", digits(rng, places)),
        2 => format!(".{}00", rng.below(100)),
        _ => String::new(),
    };
    let exponent = match rng.below(5) {
        0 => format!("{}{}{}", rng.pick(&["e", "E"]), rng.pick(&["", "+", "-"]), rng.skewed(400)),
        1 => format!("{}{:03}", rng.pick(&["e", "E+", "e-"]), rng.below(30)),
        _ => String::new(),
    };
    format!("{sign}{whole}{fraction}{exponent}")
}

fn string(rng: &mut Rng) -> String {
    let mut text = String::from("\"");
    for _ in 0..rng.between(0, 14) {
        match rng.below(8) {
            0 => text += rng.pick(&[r"\/", "/", r"\u002f", r"\u002F"]),
            1 => text += rng.pick(&[r"\n", r"\u000a", r"\u000A", r"\r\n", r"\t", r"\u0009", r"\b", r"\f", r"\u0000"]),
            2 => text += rng.pick(&[r#"\""#, r"\u0022", r"\\", r"\u005c", r"\\\\", r#"\\\""#]),
            3 => text += rng.pick(&["A", r"\u0041", r"\u0061", "a", r"\u007f", r"\u007F"]),
            4 => text += rng.pick(&["é", r"\u00e9", r"\u00E9", r"e\u0301", "e\u{301}"]),
            5 => text += rng.pick(&["😀", r"\ud83d\ude00", r"\uD83D\uDE00", r"\ud83D\uDe00"]),
            6 => text += rng.pick(&[r"\ud800", r"\udfff", r"\ude00\ud83d", r"\uD83Dx", "\u{2028}", r"\u2028"]),
            _ => text += rng.pick(words::NOUNS),
        }
    }
    text + "\""
}
