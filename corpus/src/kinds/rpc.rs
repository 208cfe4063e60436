//! JSON-RPC and the Model Context Protocol: answers that carry whole documents inside a string, and schemas of tools.
//!
//! A tool's answer is often JSON, printed into the `text` of a content block: each of its quotes becomes `\"`, each
//! of its own escapes `\\n` or `\\\"`. A codec must not treat the inside of such a string as structure.

use crate::kinds::{cluster, forge, sql};
use crate::rng::Rng;
use crate::style::Style;
use crate::value::Null;
use crate::words;
use crate::writer::Writer;

/// A batch of answers: results of several shapes, errors among them.
pub(crate) fn batch(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            w.object(|w| {
                w.field("jsonrpc", "2.0");
                match rng.below(5) {
                    0 => {
                        w.object_field("error", |w| {
                            w.field("code", rng.prefer(&[-32602, -32601, -32000])).field("message", "Invalid params");
                            w.field("data", rng.chance(50).then(|| words::sentence(rng, 5)));
                        });
                    }
                    1 => {
                        w.field("result", Null);
                    }
                    2 => {
                        w.field("result", format!("0x{}", words::hex(rng, 40)));
                    }
                    _ => {
                        w.object_field("result", |w| {
                            w.field("hash", format!("0x{}", words::hex(rng, 64))).field("nonce", rng.skewed(900));
                            w.field("logs", Vec::<bool>::new()).field("status", "0x1");
                        });
                    }
                }
                if rng.chance(95) {
                    w.field("id", i + 1);
                } else {
                    w.field("id", format!("req-{i}"));
                }
            });
        });
    });
}

/// A tool's result: minified JSON inside a string.
pub(crate) fn result(rng: &mut Rng, w: &mut Writer) {
    let text = nested(rng, w, Style::MINIFIED, forge::issues);
    answer(w, |w| {
        w.array_field("content", |w| block(w, &text)).field("isError", false);
    });
}

/// A tool's result: indented JSON inside a string, so that every line end is an escape too.
pub(crate) fn result_pretty(rng: &mut Rng, w: &mut Writer) {
    let text = nested(rng, w, Style::PRETTY_2, cluster::pods);
    answer(w, |w| {
        w.array_field("content", |w| block(w, &text));
    });
}

/// A tool's result in several blocks: a line of prose before each page of rows, a resource, an image.
pub(crate) fn blocks(rng: &mut Rng, w: &mut Writer) {
    answer(w, |w| {
        w.array_field("content", |w| {
            w.object(|w| {
                w.field("type", "image").field("data", words::opaque(rng, 120) + "==").field("mimeType", "image/png");
            });
            w.rows(|w, i| {
                block(w, &format!("Page {}: \"{}\"", i + 1, words::title(rng)));
                let mut page = Writer::new(Style::PYTHON, 500);
                sql::nulls(rng, &mut page);
                block(w, &page.into_text());
                w.object(|w| {
                    w.field("type", "resource").object_field("resource", |w| {
                        w.field("uri", format!("file:///exports/page-{i}.csv")).field("mimeType", "text/csv");
                        w.field("text", format!("id,name\r\n{i},\"{}\"\r\n", words::person(rng)));
                    });
                });
            });
        });
        w.field("isError", false);
    });
}

/// A result given twice, as the protocol requires: structured, and as text for clients that cannot read that.
pub(crate) fn structured(rng: &mut Rng, w: &mut Writer) {
    let mut twin = Writer::new(Style::MINIFIED, w.target() * 40 / 100);
    let start = rng.clone();
    twin.object(|w| structured_rows(rng, w));
    let text = twin.into_text();
    answer(w, |w| {
        w.array_field("content", |w| block(w, &text));
        w.object_field("structuredContent", |w| structured_rows(&mut start.clone(), w)).field("isError", false);
    });
}

/// The list of tools a server offers: names, long descriptions, JSON Schemas.
pub(crate) fn tools(rng: &mut Rng, w: &mut Writer) {
    answer(w, |w| {
        w.array_field("tools", |w| {
            w.rows(|w, _| {
                let (verb, noun) = (rng.pick(words::VERBS), rng.pick(words::NOUNS));
                w.object(|w| {
                    w.field("name", format!("{verb}_{noun}")).field("title", format!("{verb} a {noun}"));
                    w.field("description", words::paragraph(rng, 2)).object_field("inputSchema", |w| {
                        w.field("$schema", "http://json-schema.org/draft-07/schema#").field("type", "object");
                        w.object_field("properties", |w| properties(rng, w));
                        w.field("required", ["owner", "id"]).field("additionalProperties", false);
                    });
                    if rng.chance(60) {
                        w.object_field("annotations", |w| {
                            w.field("readOnlyHint", rng.chance(50))
                                .field("destructiveHint", false)
                                .field("openWorldHint", true);
                        });
                    }
                });
            });
        });
        w.field("nextCursor", "eyJwYWdlIjoyfQ==");
    });
}

fn properties(rng: &mut Rng, w: &mut Writer) {
    for name in ["owner", "id"] {
        w.object_field(name, |w| {
            w.field("type", "string").field("description", words::sentence(rng, 4));
        });
    }
    if rng.chance(60) {
        w.object_field("state", |w| {
            w.field("type", "string").field("enum", ["open", "closed", "all"]).field("default", "open");
        });
    }
    if rng.chance(60) {
        w.object_field("perPage", |w| {
            w.field("type", "integer")
                .field("minimum", 1)
                .field("maximum", 100)
                .field("description", "Results per page");
        });
    }
    if rng.chance(30) {
        w.object_field("filters", |w| {
            w.field("type", "array").object_field("items", |w| {
                w.array_field("anyOf", |w| {
                    for kind in ["string", "null"] {
                        w.object(|w| {
                            w.field("type", kind);
                        });
                    }
                });
            });
        });
    }
}

fn structured_rows(rng: &mut Rng, w: &mut Writer) {
    let end = w.target() - w.target() / 50;
    w.array_field("temperatures", |w| {
        w.rows_to(end, |w, i| {
            w.object(|w| {
                w.field("station", format!("st-{i:04}"))
                    .field("city", rng.pick(words::CITIES))
                    .field("celsius", rng.between(-20, 40));
            });
        });
    });
}

fn answer(w: &mut Writer, result: impl FnOnce(&mut Writer)) {
    w.object(|w| {
        w.field("jsonrpc", "2.0").field("id", 7).object_field("result", result);
    });
}

fn block(w: &mut Writer, text: &str) {
    w.object(|w| {
        w.field("type", "text").field("text", text);
    });
}

/// Makes a document of `kind` as text that fills `w` once it is escaped: a trial run measures how much the escapes add.
fn nested(rng: &mut Rng, w: &Writer, style: Style, kind: fn(&mut Rng, &mut Writer)) -> String {
    let document = |rng: &mut Rng, target| {
        let mut inner = Writer::new(style, target);
        kind(rng, &mut inner);
        inner.into_text()
    };
    let trial = document(&mut rng.clone(), 16_384);
    let mut escaped = Writer::new(w.style(), trial.len());
    escaped.value(&trial);
    let room = w.target().saturating_sub(100);
    document(rng, (room as u128 * trial.len() as u128 / escaped.finish().len() as u128) as usize)
}
