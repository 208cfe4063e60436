//! Logs and traces: flat rows that are nearly a table, and ragged ones whose keys depend on what happened.

use crate::moment::{START, utc_millis};
use crate::rng::Rng;
use crate::words;
use crate::writer::Writer;

/// Access logs: the same keys in every line.
pub(crate) fn flat(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            w.object(|w| {
                w.field("ts", stamp(i)).field("level", rng.prefer(&["INFO", "INFO", "WARN", "ERROR"]));
                w.field("service", rng.prefer(words::SERVICES)).field("method", rng.prefer(&["GET", "POST", "DELETE"]));
                w.field("path", format!("/api/v1/{}/{}", rng.pick(words::NOUNS), rng.skewed(9000)));
                w.field("status", rng.prefer(&[200, 204, 404, 500])).field("duration_ms", rng.skewed(900));
                w.field("request_id", words::hex(rng, 16));
            });
        });
    });
}

/// Application logs: the keys differ from line to line.
pub(crate) fn ragged(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("hits", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("@timestamp", stamp(i)).field("message", words::sentence(rng, 7));
                    w.field("log.level", rng.prefer(&["info", "debug", "warn", "error"]));
                    match rng.below(5) {
                        0 => {
                            w.object_field("error", |w| {
                                w.field("type", "TimeoutError")
                                    .field("message", format!("no answer in {} ms", rng.below(9000)));
                                w.field(
                                    "stack_trace",
                                    format!("at {}.rs:{}\n\tat main", rng.pick(words::NOUNS), rng.below(400)),
                                );
                            });
                        }
                        1 => {
                            w.object_field("http", |w| {
                                w.object_field("request", |w| {
                                    w.field("method", "POST").field("body.bytes", rng.skewed(70_000));
                                });
                                w.object_field("response", |w| {
                                    w.field("status_code", rng.prefer(&[201, 422, 503]));
                                });
                            });
                        }
                        2 => {
                            w.field("user.id", rng.skewed(900))
                                .field("tags", [rng.pick(words::NOUNS), rng.pick(words::NOUNS)]);
                        }
                        3 => {
                            w.field("retry", rng.between(1, 5)).field("queue", rng.pick(words::SERVICES));
                        }
                        _ => {}
                    }
                    if rng.chance(30) {
                        w.field("trace.id", words::hex(rng, 32));
                    }
                });
            });
        });
        w.field("took", 14).field("timed_out", false);
    });
}

/// Container logs: every line is JSON inside a string.
pub(crate) fn wrapped(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            let mut line = Writer::new(crate::Style::MINIFIED, 200);
            line.object(|w| {
                w.field("level", rng.prefer(&["info", "error"])).field("msg", words::title(rng));
                w.field("path", "C:\\jobs\\in").object_field("ctx", |w| {
                    w.field("user", words::login(rng)).field("quote", "said \"no\"\n");
                });
            });
            w.object(|w| {
                w.field("time", stamp(i))
                    .field("stream", rng.prefer(&["stdout", "stderr"]))
                    .field("log", line.into_text() + "\n");
            });
        });
    });
}

/// Spans of a distributed trace: attributes as typed key-value pairs, children pointing at parents.
pub(crate) fn spans(rng: &mut Rng, w: &mut Writer) {
    let trace = words::hex(rng, 32);
    let mut parent: Option<String> = None;
    w.object(|w| {
        w.array_field("resourceSpans", |w| {
            w.object(|w| {
                w.object_field("resource", |w| {
                    w.array_field("attributes", |w| attribute(w, "service.name", "stringValue", "checkout"));
                });
                w.array_field("scopeSpans", |w| {
                    w.object(|w| {
                        w.array_field("spans", |w| {
                            w.rows(|w, i| {
                                let id = words::hex(rng, 16);
                                let start = (START * 1000 + i as i64 * 7) * 1_000_000;
                                w.object(|w| {
                                    w.field("traceId", &trace).field("spanId", &id);
                                    if let Some(parent) = &parent {
                                        w.field("parentSpanId", parent);
                                    }
                                    w.field("name", format!("{} {}", rng.pick(words::VERBS), rng.pick(words::NOUNS)));
                                    w.field("kind", rng.between(1, 5)).field("startTimeUnixNano", start.to_string());
                                    w.field("endTimeUnixNano", (start + rng.between(1000, 9_000_000)).to_string());
                                    w.array_field("attributes", |w| {
                                        attribute(w, "db.system", "stringValue", "postgresql");
                                        attribute(w, "db.rows", "intValue", &rng.skewed(900).to_string());
                                    });
                                    w.object_field("status", |w| {
                                        if rng.chance(6) {
                                            w.field("code", 2).field("message", "deadline exceeded");
                                        }
                                    });
                                });
                                if rng.chance(70) {
                                    parent = Some(id);
                                }
                            });
                        });
                    });
                });
            });
        });
    });
}

fn attribute(w: &mut Writer, key: &str, kind: &str, value: &str) {
    w.object(|w| {
        w.field("key", key).object_field("value", |w| {
            w.field(kind, value);
        });
    });
}

fn stamp(i: u64) -> String {
    utc_millis(START * 1000 + i as i64 * 1379)
}
