//! Arrays that are tables, nearly tables, or not tables: the cases in which an encoder has to choose.

use crate::moment::{START, date};
use crate::rng::Rng;
use crate::value::{Decimal, Null};
use crate::words;
use crate::writer::Writer;

/// Rows of one shape but for one in two hundred, which lacks a key, adds one, or nests where the others do not.
pub(crate) fn near_table(rng: &mut Rng, w: &mut Writer) {
    let odd = 11;
    w.array(|w| {
        w.rows(|w, i| {
            w.object(|w| {
                w.field("id", i).field("name", words::slug(rng));
                if i % 200 != odd {
                    w.field("owner", words::login(rng));
                }
                w.field("quota", rng.skewed(5000));
                if i % 600 == odd {
                    w.object_field("region", |w| {
                        w.field("primary", "eu-west-1").field("backup", Null);
                    });
                } else {
                    w.field("region", rng.prefer(words::REGIONS));
                }
            });
        });
    });
}

/// Rows that agree in all keys except the last.
pub(crate) fn last_key(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            w.object(|w| {
                w.field("seq", i).field("host", format!("db-{}", rng.below(9))).field("kind", "backup");
                w.field(rng.prefer(&["finished_at", "failed_at", "skipped_because"]), date(START + i as i64 * 86_400));
            });
        });
    });
}

/// The same keys in every row, but not in the same order.
pub(crate) fn reordered(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            w.object(|w| {
                let turn = rng.skewed(4);
                for step in 0..4 {
                    match (turn + step) % 4 {
                        0 => w.field("id", i),
                        1 => w.field("label", rng.pick(words::NOUNS)),
                        2 => w.field("on", rng.chance(50)),
                        _ => w.field("weight", Decimal(rng.between(0, 999), 2)),
                    };
                }
            });
        });
    });
}

/// Tables inside the rows of a table, three deep.
pub(crate) fn nested_table(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("warehouses", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("id", format!("wh-{i}")).field("city", rng.pick(words::CITIES)).array_field(
                        "aisles",
                        |w| {
                            for aisle in 0..1 + rng.below(3) {
                                w.object(|w| {
                                    w.field("no", aisle).field("cold", rng.chance(20)).array_field("bins", |w| {
                                        for bin in 0..rng.below(5) {
                                            w.object(|w| {
                                                w.field("bin", bin).field("sku", format!("AC-{:05}", rng.skewed(900)));
                                                w.field("qty", rng.skewed(80));
                                            });
                                        }
                                    });
                                });
                            }
                        },
                    );
                });
            });
        });
    });
}

/// Objects keyed by data, all of one shape: a table whose first column became keys.
pub(crate) fn keyed(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("zone", "example.net").object_field("hosts", |w| {
            w.rows(|w, i| {
                w.object_field(&format!("{}-{i}.example.net", rng.prefer(words::SERVICES)), |w| {
                    w.field("ip", words::address(rng))
                        .field("up", rng.chance(95))
                        .field("load", Decimal(rng.between(0, 400), 2));
                    w.field("rack", rng.between(1, 40));
                });
            });
        });
    });
}

/// Equal rows of numbers.
pub(crate) fn matrix(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("labels", ["a", "b", "c", "d", "e", "f", "g", "h"]).array_field("confusion", |w| {
            w.rows(|w, _| {
                w.array(|w| (0..8).for_each(|_| w.value(rng.skewed(1000))));
            });
        });
    });
}

/// Vectors of many small floats: what embedding services answer.
pub(crate) fn vectors(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("object", "list").field("model", "acme-embed-2").array_field("data", |w| {
            w.rows(|w, i| {
                let length = (w.room() / 13).clamp(4, 64);
                w.object(|w| {
                    w.field("object", "embedding").field("index", i).array_field("embedding", |w| {
                        (0..length).for_each(|_| w.value(Decimal(rng.between(-99_999_999, 99_999_999), 9)));
                    });
                });
            });
        });
    });
}

/// Arrays with elements of every type.
pub(crate) fn mixed(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| w.rows(|w, _| anything(rng, w, 3)));
}

/// One object whose keys never repeat: nothing to share, and a flood for a table of interned keys.
pub(crate) fn distinct_keys(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.rows(|w, i| {
            let key = format!("{}_{}{i}", rng.pick(words::NOUNS), words::hex(rng, 8));
            w.field(&key, rng.below(100));
        });
    });
}

/// Rows with a few of fifty optional keys each, always in the same order.
pub(crate) fn sparse(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("results", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("id", 1 + i);
                    for word in words::NOUNS.iter().chain(words::ADJECTIVES) {
                        if rng.chance(8) {
                            w.field(word, rng.skewed(100));
                        }
                    }
                });
            });
        });
    });
}

fn anything(rng: &mut Rng, w: &mut Writer, levels: u64) {
    match rng.below(if levels == 0 { 6 } else { 9 }) {
        0 => w.value(rng.between(-1000, 1000)),
        1 => w.value(Decimal(rng.between(-99_999, 99_999), 3)),
        2 => w.value(rng.chance(50)),
        3 => w.value(Null),
        4 => w.value(words::slug(rng)),
        5 => w.value(rng.pick(&[
            "",
            " ",
            "null",
            "[2]{a,b}: 1,2 / 3,4",
            "a, b",
            "x[1]: y",
            "@a",
            "${id}",
            "(1,2)",
            "$a",
        ])),
        6 => w.array(|w| (0..rng.below(5)).for_each(|_| anything(rng, w, levels - 1))),
        _ => w.object(|w| {
            for key in &["k", "first name", "", "0", "true", "a.b", "naïve"][rng.below(7) as usize..] {
                if rng.chance(50) {
                    w.field(key, rng.below(10));
                }
            }
        }),
    }
}
