//! The office: tickets with their custom fields, chat, mail, calendars, pages made of blocks.

use crate::moment::{START, offset, utc};
use crate::rng::Rng;
use crate::value::Null;
use crate::words;
use crate::writer::Writer;

/// Tickets of a tracker: dozens of custom fields, nearly all of them null, and the same people and states in full.
pub(crate) fn tickets(rng: &mut Rng, w: &mut Writer) {
    let customs = if w.target() < 2000 { 4 } else { 18 };
    w.object(|w| {
        w.field("startAt", 0).field("maxResults", 50).array_field("issues", |w| {
            w.rows(|w, i| {
                let key = format!("SHOP-{}", 2000 + i);
                w.object(|w| {
                    w.field("id", (10_400 + i).to_string()).field("key", &key);
                    w.field("self", format!("https://tracker.example.com/rest/api/3/issue/{}", 10_400 + i));
                    w.object_field("fields", |w| {
                        w.field("summary", words::title(rng)).object_field("status", |w| status(rng, w));
                        w.object_field("reporter", |w| account(rng, w));
                        if rng.chance(50) && customs > 4 {
                            w.object_field("assignee", |w| account(rng, w));
                        } else {
                            w.field("assignee", Null);
                        }
                        for n in 0..customs {
                            w.field(
                                &format!("customfield_{}", 10_010 + n),
                                rng.chance(6).then(|| rng.pick(words::NOUNS)),
                            );
                        }
                        w.field("created", offset(START + i as i64 * 999)).field("labels", [rng.pick(words::SERVICES)]);
                        w.field("resolution", Null).field("votes", 0);
                    });
                });
            });
        });
    });
}

/// Messages of a channel: blocks, reactions, threads, edits.
pub(crate) fn messages(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("ok", true).array_field("messages", |w| {
            w.rows(|w, i| {
                let ts = format!("{}.{:06}", START + i as i64 * 71, rng.below(1_000_000));
                w.object(|w| {
                    w.field("type", "message").field("user", format!("U{}", words::opaque(rng, 8).to_uppercase()));
                    w.field("text", format!("<@U02ACME> {} :eyes: &amp; 👍🏽", words::sentence(rng, 6))).field("ts", &ts);
                    if rng.chance(25) {
                        w.array_field("reactions", |w| {
                            w.object(|w| {
                                w.field("name", rng.prefer(&["+1", "tada", "eyes"]))
                                    .field("users", ["U02ACME"])
                                    .field("count", 1);
                            });
                        });
                    }
                    if rng.chance(30) {
                        w.field("thread_ts", &ts).field("reply_count", rng.skewed(20)).field("subscribed", false);
                    }
                    if rng.chance(10) {
                        w.object_field("edited", |w| {
                            w.field("user", "U02ACME").field("ts", &ts);
                        });
                    }
                });
            });
        });
        w.field("has_more", false).object_field("response_metadata", |w| {
            w.field("next_cursor", "");
        });
    });
}

/// A calendar: organiser, attendees with their answers, start and end with their time zones.
pub(crate) fn calendar(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("kind", "calendar#events").field("timeZone", "Europe/Lisbon").array_field("items", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("id", words::tail(rng, 26))
                        .field("status", "confirmed")
                        .field("summary", words::title(rng));
                    w.object_field("organizer", |w| {
                        w.field("email", "ann.baker@example.com").field("self", true);
                    });
                    for (edge, hour) in [("start", 0), ("end", 1800)] {
                        w.object_field(edge, |w| {
                            w.field("dateTime", offset(START + i as i64 * 5400 + hour))
                                .field("timeZone", "Europe/Lisbon");
                        });
                    }
                    w.array_field("attendees", |w| {
                        for _ in 0..rng.below(5) {
                            w.object(|w| {
                                w.field("email", words::email(rng));
                                if rng.chance(20) {
                                    w.field("optional", true);
                                }
                                w.field("responseStatus", rng.prefer(&["accepted", "needsAction", "declined"]));
                            });
                        }
                    });
                    if rng.chance(20) {
                        w.field("recurrence", ["RRULE:FREQ=WEEKLY;BYDAY=TU"]);
                    }
                });
            });
        });
    });
}

/// Mail: headers as name-value pairs, a body of text.
pub(crate) fn mail(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("messages", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("id", words::hex(rng, 16))
                        .field("threadId", words::hex(rng, 16))
                        .field("labelIds", ["INBOX", "UNREAD"]);
                    w.array_field("headers", |w| {
                        let (from, title, when) = (words::email(rng), words::title(rng), utc(START + i as i64 * 300));
                        for (name, value) in [("From", &from), ("Subject", &title), ("Date", &when)] {
                            w.object(|w| {
                                w.field("name", name).field("value", value);
                            });
                        }
                    });
                    w.field(
                        "body",
                        format!("Hi,\r\n\r\n{}\r\n\r\n-- \r\n{}", words::paragraph(rng, 2), words::person(rng)),
                    );
                    w.field("sizeEstimate", rng.skewed(40_000));
                });
            });
        });
    });
}

/// A page made of blocks: rich text with six annotation flags on every run of it.
pub(crate) fn blocks(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("object", "list").array_field("results", |w| {
            w.rows(|w, i| {
                let kind = rng.prefer(&["paragraph", "bulleted_list_item", "heading_2", "to_do"]);
                w.object(|w| {
                    w.field("object", "block")
                        .field("id", words::uuid(rng))
                        .field("created_time", utc(START + i as i64));
                    w.field("has_children", rng.chance(10)).field("archived", false).field("type", kind);
                    w.object_field(kind, |w| {
                        w.array_field("rich_text", |w| (0..1 + rng.skewed(3)).for_each(|_| run(rng, w)));
                        if kind == "to_do" {
                            w.field("checked", rng.chance(50));
                        }
                        w.field("color", "default");
                    });
                });
            });
        });
        w.field("next_cursor", Null).field("has_more", false);
    });
}

fn run(rng: &mut Rng, w: &mut Writer) {
    let text = words::sentence(rng, 5);
    w.object(|w| {
        w.field("type", "text").object_field("text", |w| {
            w.field("content", &text).field("link", Null);
        });
        w.object_field("annotations", |w| {
            for flag in ["bold", "italic", "strikethrough", "underline", "code"] {
                w.field(flag, rng.chance(4));
            }
            w.field("color", "default");
        });
        w.field("plain_text", &text).field("href", Null);
    });
}

fn status(rng: &mut Rng, w: &mut Writer) {
    let (id, name, color) =
        rng.prefer(&[("1", "To Do", "blue-gray"), ("3", "In Progress", "yellow"), ("5", "Done", "green")]);
    w.field("self", format!("https://tracker.example.com/rest/api/3/status/{id}")).field("description", "");
    w.field("name", name).field("id", id).object_field("statusCategory", |w| {
        w.field("key", name.to_lowercase()).field("colorName", color);
    });
}

fn account(rng: &mut Rng, w: &mut Writer) {
    let login = words::login(rng);
    w.field("self", format!("https://tracker.example.com/rest/api/3/user?accountId={login}"))
        .field("accountId", &login);
    w.field("displayName", words::person(&mut Rng::named(&login, 0)))
        .field("active", true)
        .field("timeZone", "Etc/UTC");
}
