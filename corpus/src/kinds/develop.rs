//! Output of development tools: trees of files, pipeline runs, diagnostics, the accessibility tree of a page.

use crate::moment::{START, utc};
use crate::rng::Rng;
use crate::value::Null;
use crate::words;
use crate::writer::Writer;

/// A directory tree: the same small object inside itself, children only where there are any.
pub(crate) fn files(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("name", "shop").field("type", "directory").array_field("children", |w| {
            w.rows(|w, _| directory(rng, w, 4));
        });
    });
}

/// Runs of a pipeline: jobs in runs, steps in jobs.
pub(crate) fn runs(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("total_count", w.target() / 1500).array_field("workflow_runs", |w| {
            w.rows(|w, i| {
                let start = START + i as i64 * 1800;
                let ok = rng.chance(80);
                w.object(|w| {
                    w.field("id", 9_100_000_000 + i * 211).field("name", "ci").field("head_sha", words::hex(rng, 40));
                    w.field("status", "completed").field("conclusion", if ok { "success" } else { "failure" });
                    w.array_field("jobs", |w| {
                        for job in &["build", "test (linux)", "lint"][..1 + rng.below(3) as usize] {
                            w.object(|w| {
                                w.field("name", job)
                                    .field("runner_name", format!("runner-{}", rng.below(9)))
                                    .array_field("steps", |w| {
                                        for (number, step) in
                                            ["Set up job", "Checkout", "cargo test"].iter().enumerate()
                                        {
                                            w.object(|w| {
                                                w.field("name", step)
                                                    .field("status", "completed")
                                                    .field("conclusion", "success");
                                                w.field("number", number + 1)
                                                    .field("started_at", utc(start + number as i64 * 9));
                                            });
                                        }
                                    });
                            });
                        }
                    });
                });
            });
        });
    });
}

/// Diagnostics of a language server: ranges of positions, codes that are numbers or strings.
pub(crate) fn diagnostics(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, _| {
            let line = rng.skewed(900);
            w.object(|w| {
                w.field("uri", format!("file:///src/{}/{}.ts", rng.prefer(words::SERVICES), rng.pick(words::NOUNS)));
                w.object_field("range", |w| {
                    for (edge, character) in [("start", 4), ("end", 4 + rng.between(1, 30))] {
                        w.object_field(edge, |w| {
                            w.field("line", line).field("character", character);
                        });
                    }
                });
                w.field("severity", rng.between(1, 3));
                if rng.chance(60) {
                    w.field("code", rng.pick(&[2322, 2345, 7006]));
                } else {
                    w.field("code", "no-unused-vars");
                }
                w.field(
                    "message",
                    format!("Property '{}' is missing.\n  Try `{}`?", rng.pick(words::NOUNS), rng.pick(words::VERBS)),
                );
                if rng.chance(10) {
                    w.field("tags", [1]).field("relatedInformation", Vec::<bool>::new());
                }
            });
        });
    });
}

/// The accessibility tree of a page, as browser tools give it: deep, ragged, short strings.
pub(crate) fn page_tree(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("role", "RootWebArea").field("name", "Acme – Orders").field("focused", true).array_field(
            "children",
            |w| {
                w.rows(|w, _| element(rng, w, 5));
            },
        );
    });
}

fn directory(rng: &mut Rng, w: &mut Writer, levels: u64) {
    w.object(|w| {
        if levels == 0 || rng.chance(55) {
            w.field("name", format!("{}.{}", rng.pick(words::NOUNS), rng.prefer(&["rs", "toml", "md", "ts"])));
            w.field("type", "file").field("size", rng.skewed(60_000));
        } else {
            w.field("name", rng.pick(words::NOUNS)).field("type", "directory");
            w.array_field("children", |w| (0..rng.below(4)).for_each(|_| directory(rng, w, levels - 1)));
        }
    });
}

fn element(rng: &mut Rng, w: &mut Writer, levels: u64) {
    w.object(|w| match rng.below(if levels == 0 { 3 } else { 5 }) {
        0 => {
            w.field("role", "link").field("name", words::title(rng)).field("url", format!("/{}", words::slug(rng)));
        }
        1 => {
            w.field("role", "button").field("name", rng.pick(words::VERBS)).field("disabled", true);
        }
        2 => {
            w.field("role", "text").field("name", words::sentence(rng, 4)).field("value", Null);
        }
        _ => {
            w.field("role", rng.prefer(&["group", "list", "navigation"]));
            w.array_field("children", |w| (0..1 + rng.below(3)).for_each(|_| element(rng, w, levels - 1)));
        }
    });
}
