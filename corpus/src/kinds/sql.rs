//! Rows of a database as query tools return them: flat, flat with nulls, very wide, and the column-and-rows form.

use crate::moment::{START, date, sql};
use crate::rng::Rng;
use crate::value::Decimal;
use crate::words;
use crate::writer::Writer;

/// A flat table: the same scalar keys in every row.
pub(crate) fn rows(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            w.object(|w| {
                w.field("id", i + 1)
                    .field("email", words::email(rng))
                    .field("plan", rng.prefer(&["free", "team", "scale"]));
                w.field("seats", 1 + rng.skewed(50)).field("mrr", Decimal(rng.between(0, 99_900), 2));
                w.field("active", rng.chance(85)).field("signed_up", date(START - rng.below(40_000_000) as i64));
            });
        });
    });
}

/// A flat table of which a third is null.
pub(crate) fn nulls(rng: &mut Rng, w: &mut Writer) {
    let mut count = 0;
    w.object(|w| {
        w.array_field("rows", |w| {
            count = w.rows_to(w.target(), |w, i| {
                w.object(|w| {
                    w.field("ticket_id", 70_000 + i).field("subject", words::title(rng));
                    w.field("assignee", rng.chance(60).then(|| words::login(rng)));
                    w.field("resolved_at", rng.chance(40).then(|| sql(START + i as i64 * 60)));
                    w.field("score", rng.chance(30).then(|| rng.between(1, 5))).field("parent_id", None::<bool>);
                    w.field("escalated", rng.chance(50).then(|| rng.chance(10)));
                });
            });
        });
        w.field("rowCount", count).field("command", "SELECT");
    });
}

/// A table of thirty-five columns, most of them zero or one.
pub(crate) fn wide(rng: &mut Rng, w: &mut Writer) {
    let flags: Vec<String> = words::NOUNS.iter().map(|noun| format!("has_{noun}")).collect();
    w.array(|w| {
        w.rows(|w, i| {
            w.object(|w| {
                w.field("account_id", i).field("name", words::slug(rng)).field("created", sql(START + i as i64));
                flags.iter().for_each(|flag| {
                    w.field(flag, rng.below(2));
                });
                w.field("balance", Decimal(rng.between(-99_999, 999_999), 4))
                    .field("region", rng.prefer(words::REGIONS));
            });
        });
    });
}

/// Columns named once and rows as arrays: what many query tools answer with.
pub(crate) fn columns(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("fields", |w| {
            for (name, kind) in [("day", "date"), ("service", "text"), ("requests", "int8"), ("p99_ms", "numeric")] {
                w.object(|w| {
                    w.field("name", name).field("type", kind).field("nullable", name == "p99_ms");
                });
            }
        });
        w.array_field("rows", |w| {
            w.rows(|w, i| {
                w.array(|w| {
                    w.value(date(START + (i / 15) as i64 * 86_400));
                    w.value(words::SERVICES[(i % 15) as usize]);
                    w.value(rng.skewed(2_000_000));
                    w.value(rng.chance(95).then(|| Decimal(rng.between(900, 90_000), 2)));
                });
            });
        });
        w.field("truncated", false);
    });
}
