//! Long texts and many scripts: documents with long strings and little structure.

use crate::moment::{START, utc};
use crate::rng::Rng;
use crate::value::Null;
use crate::words;
use crate::writer::Writer;

/// Greetings in many scripts: right to left, combining marks, joined emoji, characters beyond the first plane.
const PHRASES: &[(&str, &str)] = &[
    ("de", "Größe prüfen, bitte schön"),
    ("fr", "Déjà vu à l’été, naïveté"),
    ("vi", "Tiếng Việt có dấu"),
    ("pl", "Zażółć gęślą jaźń"),
    ("el", "Καλημέρα κόσμε"),
    ("ru", "Проверка очереди заказов"),
    ("he", "שלום, תור ההזמנות ריק"),
    ("ar", "مرحبا، الطلب رقم ٤٢"),
    ("hi", "नमस्ते, आदेश तैयार है"),
    ("th", "สวัสดี คำสั่งซื้อพร้อม"),
    ("ja", "注文を確認してください。"),
    ("zh", "订单已发货，请查收"),
    ("ko", "주문이 완료되었습니다"),
    ("am", "ሰላም ዓለም"),
    ("ka", "გამარჯობა მსოფლიო"),
    ("math", "∀x∈ℝ: ⌈x⌉ ≥ x, 𝒜 ⊂ 𝔹"),
    ("emoji", "👩🏽‍🚀 🏳️‍🌈 👨‍👩‍👧‍👦 🇵🇹 ✅"),
    ("combining", "e\u{301}a\u{308}o\u{302}\u{323} Z\u{351}\u{36b}\u{343}algo"),
    ("separators", "line\u{2028}paragraph\u{2029}nbsp\u{a0}zwsp\u{200b}bom\u{feff}end"),
    ("marks", "\u{202b}right\u{202c} \u{200e}left\u{200f} \u{2066}isolated\u{2069}"),
    ("edges", "\u{7f}\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{fffd}\u{ffff}\u{10000}\u{10ffff}"),
];

/// Rows in every script; printed bare, as UTF-8.
pub(crate) fn unicode(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("überschrift", "Übersetzungen").field("件数", PHRASES.len()).array_field("translations", |w| {
            w.rows(|w, i| {
                let (language, phrase) = PHRASES[i as usize % PHRASES.len()];
                w.object(|w| {
                    w.field("key", format!("{}.{}", rng.pick(words::NOUNS), rng.pick(words::NOUNS)))
                        .field("lang", language);
                    w.field("text", phrase).field("by", words::person(rng)).field("ok", rng.chance(80));
                    if rng.chance(15) {
                        w.field("ملاحظة", "تم");
                    }
                });
            });
        });
    });
}

/// Pages of Markdown: headings, lists, tables, code in fences.
pub(crate) fn markdown(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("pages", |w| {
            w.rows(|w, i| {
                let parts = (w.room() / 400).clamp(1, 5) as u64;
                w.object(|w| {
                    w.field("path", format!("docs/{}.md", words::slug(rng))).field("title", words::title(rng));
                    w.field("updated", utc(START + i as i64 * 86_400))
                        .field("content", page(rng, parts))
                        .field("links", Null);
                });
            });
        });
    });
}

/// Errors with their stack traces, as an error tracker lists them.
pub(crate) fn traces(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            let frames = (w.room() / 100).clamp(2, 12);
            let name = rng.pick(words::NOUNS);
            w.object(|w| {
                w.field("id", 88_000 + i)
                    .field("title", format!("TypeError: Cannot read properties of undefined (reading '{name}')"));
                w.field("count", 1 + rng.skewed(4000)).field("lastSeen", utc(START + i as i64 * 50));
                w.field("level", rng.prefer(&["error", "fatal"])).field("stack", stack(rng, frames));
                w.object_field("tags", |w| {
                    w.field("browser", rng.prefer(&["Firefox 140", "Chrome 141"]))
                        .field("os", rng.prefer(&["Linux", "Windows"]));
                });
            });
        });
    });
}

/// Files of a change with their patches.
pub(crate) fn diffs(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("sha", words::hex(rng, 40)).array_field("files", |w| {
            w.rows(|w, _| {
                let hunks = (w.room() / 350).clamp(1, 4);
                let path = format!("src/{}/{}.rs", rng.pick(words::SERVICES), rng.pick(words::NOUNS));
                w.object(|w| {
                    w.field("sha", words::hex(rng, 40))
                        .field("filename", &path)
                        .field("status", rng.prefer(&["modified", "added"]));
                    w.field("additions", 2 * hunks).field("deletions", hunks).field("changes", 3 * hunks);
                    w.field("patch", patch(rng, hunks));
                });
            });
        });
    });
}

fn page(rng: &mut Rng, parts: u64) -> String {
    let mut text = format!("# {}\n\n", words::title(rng));
    for _ in 0..parts {
        text += &format!("## {}\n\n{}\n\n", words::title(rng), words::paragraph(rng, 2));
        text += &match rng.below(3) {
            0 => format!("- **{}**: {}\n- `{}`\n", rng.pick(words::NOUNS), words::sentence(rng, 4), words::slug(rng)),
            1 => format!("| name | value |\n|---|---|\n| {} | {} |\n", rng.pick(words::NOUNS), rng.below(900)),
            _ => format!("```sh\n$ curl -H \"X-Id: {}\" \\\n    'https://api.example.com'\n```\n", words::hex(rng, 8)),
        };
    }
    text
}

fn stack(rng: &mut Rng, frames: usize) -> String {
    let mut text = String::from("TypeError: Cannot read properties of undefined");
    for _ in 0..frames {
        let (verb, noun) = (rng.pick(words::VERBS), rng.pick(words::NOUNS));
        let (line, column) = (rng.below(900), rng.below(80));
        text += &format!("\n    at {noun}.{verb} (/app/node_modules/@acme/{noun}/dist/{verb}.js:{line}:{column})");
    }
    text
}

fn patch(rng: &mut Rng, hunks: usize) -> String {
    let mut text = String::new();
    for _ in 0..hunks {
        let (line, noun, verb) = (rng.below(800), rng.pick(words::NOUNS), rng.pick(words::VERBS));
        text +=
            &format!("@@ -{line},4 +{line},5 @@ impl {noun} {{\n     fn {verb}(&self) -> Result<(), \"{noun}\"> {{\n");
        text += &format!("-        self.{noun}.{verb}()?;\n+        let {noun} = self.{noun}.{verb}()?;\n");
        text += &format!("+        debug!(\"{noun} = {{:?}}\\n\", {noun});\n         Ok(())\n");
    }
    text
}
