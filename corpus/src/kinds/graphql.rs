//! GraphQL: connections of edges and nodes, `__typename` in every object, errors next to data.

use crate::moment::{START, utc};
use crate::rng::Rng;
use crate::value::Null;
use crate::words;
use crate::writer::Writer;

/// A connection of edges, each node with connections of its own.
pub(crate) fn edges(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.object_field("data", |w| {
            w.object_field("organization", |w| {
                w.field("__typename", "Organization").field("login", "acme").object_field("projects", |w| {
                    w.field("totalCount", w.target() / 700).array_field("edges", |w| {
                        w.rows(|w, i| {
                            w.object(|w| {
                                w.field("cursor", cursor(i)).object_field("node", |w| node(rng, w, i));
                            });
                        });
                    });
                    page_info(w, true);
                });
            });
        });
        w.object_field("extensions", |w| {
            w.object_field("cost", |w| {
                w.field("requested", 112).field("actual", 74);
            });
        });
    });
}

/// Plain nodes, some of them null with an error that explains it.
pub(crate) fn errors(rng: &mut Rng, w: &mut Writer) {
    let mut failed = Vec::new();
    let most = w.target() * 9 / 10;
    w.object(|w| {
        w.object_field("data", |w| {
            w.array_field("devices", |w| {
                let count = w.rows_to(most, |w, i| {
                    if failed.len() < 8 && rng.chance(12) {
                        failed.push(i);
                        return w.value(Null);
                    }
                    w.object(|w| {
                        w.field("__typename", rng.prefer(&["Sensor", "Switch"])).field("id", words::uuid(rng));
                        w.field("label", words::slug(rng)).field("firmware", words::version(rng));
                        w.field("online", rng.chance(90)).field("lastSeen", utc(START + i as i64 * 31));
                    });
                });
                failed.retain(|&i| i < count);
            });
        });
        w.array_field("errors", |w| {
            for index in &failed {
                w.object(|w| {
                    w.field("message", "Upstream timed out").array_field("locations", |w| {
                        w.object(|w| {
                            w.field("line", 3).field("column", 5);
                        });
                    });
                    w.array_field("path", |w| {
                        w.value("devices");
                        w.value(index);
                    });
                });
            }
        });
    });
}

fn node(rng: &mut Rng, w: &mut Writer, i: u64) {
    w.field("__typename", "Project")
        .field("id", format!("gid://acme/Project/{}", 4000 + i))
        .field("name", words::slug(rng));
    w.field("archivedAt", Null).object_field("owner", |w| person(rng, w)).object_field("tasks", |w| {
        w.array_field("edges", |w| {
            for _ in 0..rng.below(4) {
                w.object(|w| {
                    w.object_field("node", |w| {
                        w.field("__typename", "Task").field("title", words::title(rng));
                        w.field("state", rng.prefer(&["TODO", "DOING", "DONE"]));
                        if rng.chance(60) {
                            w.object_field("assignee", |w| person(rng, w));
                        } else {
                            w.field("assignee", Null);
                        }
                    });
                });
            }
        });
        page_info(w, false);
    });
}

fn person(rng: &mut Rng, w: &mut Writer) {
    let login = words::login(rng);
    w.field("__typename", "User").field("login", &login);
    w.field("avatarUrl", format!("https://cdn.example.com/avatars/{login}.png"));
}

fn page_info(w: &mut Writer, more: bool) {
    w.object_field("pageInfo", |w| {
        w.field("__typename", "PageInfo").field("hasNextPage", more).field("endCursor", more.then(|| cursor(99)));
    });
}

fn cursor(i: u64) -> String {
    // Looks like base64 of `cursor:000…`; no base64 encoder is needed.
    format!("Y3Vyc29yO{:06}==", i * 37)
}
