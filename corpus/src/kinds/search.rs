//! Search engines: hits with scores, highlights with markup in them, facets and suggestions.

use crate::moment::{START, utc};
use crate::rng::Rng;
use crate::value::{Decimal, Null};
use crate::words;
use crate::writer::Writer;

/// Hits of a document index: source and highlights nested, then facets.
pub(crate) fn hits(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("took", rng.below(90)).field("timed_out", false).object_field("_shards", |w| {
            w.field("total", 5).field("successful", 5).field("skipped", 0).field("failed", 0);
        });
        w.object_field("hits", |w| {
            w.object_field("total", |w| {
                w.field("value", 10_000).field("relation", "gte");
            });
            w.field("max_score", Decimal(18_734_021, 6)).array_field("hits", |w| {
                w.rows(|w, i| {
                    w.object(|w| {
                        w.field("_index", "docs-v3").field("_id", words::opaque(rng, 20));
                        w.field("_score", Decimal(18_734_021 - (i as i64 * 9173).min(18_000_000), 6));
                        w.object_field("_source", |w| {
                            w.field("title", words::title(rng)).field("author", words::person(rng));
                            w.field("published", utc(START + rng.below(9_000_000) as i64));
                            w.field("tags", [rng.pick(words::NOUNS), rng.pick(words::SERVICES)]);
                        });
                        w.object_field("highlight", |w| {
                            if rng.chance(60) {
                                w.field("title", [marked(rng)]);
                            }
                            w.field("body", [marked(rng), marked(rng)]);
                        });
                        w.field("sort", [START + i as i64, i as i64]);
                    });
                });
            });
        });
        w.object_field("aggregations", |w| {
            w.object_field("by_team", |w| {
                w.field("sum_other_doc_count", 0).array_field("buckets", |w| {
                    for (i, team) in words::SERVICES[..if w.target() > 3000 { 5 } else { 2 }].iter().enumerate() {
                        w.object(|w| {
                            w.field("key", team).field("doc_count", 900 / (i + 1));
                        });
                    }
                });
            });
        });
    });
}

/// Results of a web search, as search tools hand them to an agent.
pub(crate) fn web(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("query", "stale cache \"gateway\" site:example.org").field("answer", Null);
        w.array_field("results", |w| {
            w.rows(|w, i| {
                let slug = words::slug(rng);
                w.object(|w| {
                    w.field("position", i + 1).field("title", words::title(rng));
                    w.field("url", format!("https://docs.example.org/guides/{slug}?utm_source=search&page={i}"));
                    w.field("snippet", words::paragraph(rng, 2))
                        .field("score", Decimal(rng.between(100_000, 999_999), 6));
                    if rng.chance(30) {
                        w.field("published_date", utc(START + rng.below(9_000_000) as i64));
                    }
                    if rng.chance(15) {
                        w.array_field("sitelinks", |w| {
                            for title in ["Install", "Reference"] {
                                w.object(|w| {
                                    w.field("title", title)
                                        .field("url", format!("https://docs.example.org/{slug}#{title}"));
                                });
                            }
                        });
                    }
                });
            });
        });
        w.field("follow_up_questions", Null).field("response_time", Decimal(143, 2));
    });
}

/// Matches of a search through code: a path, line numbers, the text around.
pub(crate) fn code(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("matches", |w| {
            w.rows(|w, _| {
                let noun = rng.pick(words::NOUNS);
                w.object(|w| {
                    w.field("path", format!("src/{}/{noun}.rs", rng.prefer(words::SERVICES)))
                        .field("line", rng.skewed(900));
                    w.field("column", rng.skewed(60));
                    w.field(
                        "text",
                        format!("\tlet {noun} = Self::{}(&self.{noun}, \"{noun}\\n\")?;", rng.pick(words::VERBS)),
                    );
                    w.array_field("submatches", |w| {
                        w.object(|w| {
                            w.field("match", noun).field("start", 5).field("end", 5 + noun.len());
                        });
                    });
                });
            });
        });
        w.field("truncated", true);
    });
}

fn marked(rng: &mut Rng) -> String {
    let (before, after) = (words::sentence(rng, 4), words::sentence(rng, 4));
    format!("{before} <em>{}</em> &amp; <em>{}</em> {after}", rng.pick(words::NOUNS), rng.pick(words::ADJECTIVES))
}
