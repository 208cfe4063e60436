//! Numbers over time: weather as parallel arrays, metrics as pairs, candles as rows.

use crate::moment::{START, utc};
use crate::rng::Rng;
use crate::value::{Decimal, Null};
use crate::words;
use crate::writer::Writer;

/// A forecast: one hourly array for each quantity, all of the same length, and the units.
pub(crate) fn weather(rng: &mut Rng, w: &mut Writer) {
    w.fitted(rng, |rng, w, hours| {
        w.object(|w| {
            w.field("latitude", Decimal(5_252, 2))
                .field("longitude", Decimal(13_419, 3))
                .field("elevation", Decimal(380, 1));
            w.field("generationtime_ms", Decimal(2_210, 4))
                .field("timezone", "Europe/Berlin")
                .field("utc_offset_seconds", 3600);
            w.object_field("hourly_units", |w| {
                w.field("time", "iso8601").field("temperature_2m", "°C").field("relative_humidity_2m", "%");
                w.field("precipitation", "mm").field("wind_speed_10m", "km/h");
            });
            w.object_field("hourly", |w| {
                let minute = |i: u64| utc(START + i as i64 * 3600)[..16].to_owned();
                w.array_field("time", |w| (0..hours).for_each(|i| w.value(minute(i))));
                w.array_field("temperature_2m", |w| random_walk(rng, hours, 40, 6, |v| w.value(Decimal(v, 1))));
                w.array_field("relative_humidity_2m", |w| {
                    random_walk(rng, hours, 70, 3, |v| w.value(v.clamp(20, 100)))
                });
                w.array_field("precipitation", |w| {
                    (0..hours).for_each(|_| w.value(Decimal(if rng.chance(20) { rng.between(1, 40) } else { 0 }, 1)));
                });
                w.array_field("wind_speed_10m", |w| random_walk(rng, hours, 120, 15, |v| w.value(Decimal(v.abs(), 1))));
            });
        });
    });
}

/// A forecast day by day, each with its parts of the day.
pub(crate) fn forecast(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.object_field("location", |w| {
            w.field("name", rng.pick(words::CITIES)).field("tz_id", "Etc/UTC").field("localtime_epoch", START);
        });
        w.array_field("forecastday", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    let day = START + i as i64 * 86_400;
                    w.field("date", &utc(day)[..10]).field("date_epoch", day).object_field("astro", |w| {
                        w.field("sunrise", "06:41 AM")
                            .field("sunset", "05:12 PM")
                            .field("moon_phase", "Waxing Gibbous");
                    });
                    w.array_field("parts", |w| {
                        for part in ["morning", "day", "evening", "night"] {
                            w.object(|w| {
                                w.field("part", part).field("temp_c", Decimal(rng.between(-50, 300), 1));
                                w.object_field("condition", |w| {
                                    let (text, code) =
                                        rng.prefer(&[("Sunny", 1000), ("Cloudy", 1006), ("Light rain", 1183)]);
                                    w.field("text", text).field("icon", format!("//cdn.example.com/64/{code}.png"));
                                    w.field("code", code);
                                });
                            });
                        }
                    });
                });
            });
        });
    });
}

/// A metrics query: labelled series, each a list of `[seconds, "value"]`.
pub(crate) fn metrics(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("status", "success").object_field("data", |w| {
            w.field("resultType", "matrix").array_field("result", |w| {
                w.rows(|w, i| {
                    w.object(|w| {
                        w.object_field("metric", |w| {
                            w.field("__name__", "http_requests_total")
                                .field("code", rng.prefer(&["200", "404", "500"]));
                            w.field("instance", format!("{}:9090", words::address(rng)));
                            w.field("job", words::SERVICES[(i % 15) as usize]);
                        });
                        w.array_field("values", |w| {
                            let mut at = START;
                            random_walk(rng, 24, 90_000, 4000, |v| {
                                w.array(|w| {
                                    w.value(at);
                                    w.value(v.to_string());
                                });
                                at += 15;
                            });
                        });
                    });
                });
            });
        });
    });
}

/// A time series of points with gaps.
pub(crate) fn points(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("metric", "queue.depth").field("interval", 60).object_field("tags", |w| {
            w.field("host", "mq-1").field("env", "prod");
        });
        w.array_field("points", |w| {
            w.rows(|w, i| {
                w.object(|w| {
                    w.field("ts", START * 1000 + i as i64 * 60_000);
                    if rng.chance(4) {
                        w.field("value", Null).field("quality", "gap");
                    } else {
                        w.field("value", Decimal(rng.between(0, 999_999), 3));
                    }
                });
            });
        });
    });
}

/// Candles: rows of six numbers, prices as strings.
pub(crate) fn candles(rng: &mut Rng, w: &mut Writer) {
    w.array(|w| {
        w.rows(|w, i| {
            let open = 4_200_000 + rng.between(-90_000, 90_000);
            let price = |units: i64| format!("{}.{:02}", units / 100, units % 100);
            w.array(|w| {
                w.value((START + i as i64 * 60) * 1000);
                [open, open + rng.between(0, 900), open - rng.between(0, 900)].iter().for_each(|&v| w.value(price(v)));
                w.value(Decimal(rng.between(1, 999_999), 5));
                w.value(rng.skewed(500));
            });
        });
    });
}

/// Emits `count` values of a random walk around `start` with steps of about `step`.
fn random_walk(rng: &mut Rng, count: u64, start: i64, step: i64, mut each: impl FnMut(i64)) {
    let mut value = start;
    for _ in 0..count {
        each(value);
        value += rng.between(-step, step) - (value - start) / 24;
    }
}
