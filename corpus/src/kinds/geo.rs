//! Geography: mostly numbers in nested arrays, with a few properties.

use crate::moment::{START, utc};
use crate::rng::Rng;
use crate::value::{Decimal, Null};
use crate::words;
use crate::writer::Writer;

/// Features: points, lines and polygons with properties.
pub(crate) fn features(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("type", "FeatureCollection").array_field("features", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("type", "Feature").field("id", i).object_field("properties", |w| {
                        w.field("name", words::slug(rng))
                            .field("population", rng.chance(70).then(|| rng.skewed(900_000)));
                        w.field("admin_level", rng.between(2, 10));
                    });
                    w.object_field("geometry", |w| geometry(rng, w));
                });
            });
        });
        w.object_field("crs", |w| {
            w.field("type", "name").object_field("properties", |w| {
                w.field("name", "urn:ogc:def:crs:OGC:1.3:CRS84");
            });
        });
    });
}

/// A recorded track: one very long array of `[longitude, latitude, metres]`.
pub(crate) fn track(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("name", "morning run").field("started", utc(START)).field("distance", Decimal(10_482, 3));
        w.array_field("coordinates", |w| {
            let (mut x, mut y, mut height) = (13_404_954, 52_520_008, 340);
            w.rows(|w, _| {
                x += rng.between(-90, 140);
                y += rng.between(-90, 110);
                height += rng.between(-4, 4);
                w.array(|w| {
                    w.value(Decimal(x, 6));
                    w.value(Decimal(y, 6));
                    w.value(Decimal(height, 1));
                });
            });
        });
        w.field("bbox", Null);
    });
}

/// Places near a point: nested location, opening hours, optional rating.
pub(crate) fn places(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.array_field("places", |w| {
            w.rows(|w, _| {
                w.object(|w| {
                    w.field("id", words::opaque(rng, 27)).field("types", ["cafe", "food", "point_of_interest"]);
                    w.field(
                        "formattedAddress",
                        format!("{} Harbour Road, {}", rng.between(1, 99), rng.pick(words::CITIES)),
                    );
                    w.object_field("location", |w| {
                        w.field("latitude", Decimal(rng.between(52_000_000, 53_000_000), 7));
                        w.field("longitude", Decimal(rng.between(-13_999_999, 13_999_999), 7));
                    });
                    if rng.chance(75) {
                        w.field("rating", Decimal(rng.between(20, 50), 1)).field("userRatingCount", rng.skewed(3000));
                    }
                    w.object_field("displayName", |w| {
                        w.field("text", format!("Café {}", rng.pick(words::LAST))).field("languageCode", "fr");
                    });
                    if rng.chance(50) {
                        w.field(
                            "weekdayDescriptions",
                            ["Monday: 8:00\u{202f}AM\u{2009}–\u{2009}6:00\u{202f}PM", "Sunday: Closed"],
                        );
                    }
                });
            });
        });
    });
}

fn geometry(rng: &mut Rng, w: &mut Writer) {
    let (x, y) = (rng.between(-1_700_000, 1_700_000), rng.between(-800_000, 800_000));
    let mut ring = |w: &mut Writer, corners: i64| {
        for i in 0..corners {
            position(w, x + i * rng.between(1, 99), y - i * rng.between(1, 99));
        }
    };
    match x.rem_euclid(3) {
        0 => {
            w.field("type", "Point").field("coordinates", [Decimal(x, 4), Decimal(y, 4)]);
        }
        1 => {
            w.field("type", "LineString").array_field("coordinates", |w| ring(w, 12));
        }
        _ => {
            w.field("type", "Polygon").array_field("coordinates", |w| {
                w.array(|w| {
                    position(w, x, y);
                    ring(w, 9);
                    position(w, x, y);
                });
            });
        }
    }
}

fn position(w: &mut Writer, x: i64, y: i64) {
    w.value([Decimal(x, 4), Decimal(y, 4)]);
}
