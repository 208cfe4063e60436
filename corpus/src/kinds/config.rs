//! Configuration and metadata: deep trees, maps whose keys are data, and schemas.

use crate::moment::{START, utc_millis};
use crate::rng::Rng;
use crate::value::{Null, Raw};
use crate::words;
use crate::writer::{Value, Writer};

/// A service's configuration: nested sections, each slightly different.
pub(crate) fn deep(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("version", "3.7").field("inherit", Null);
        w.object_field("services", |w| {
            w.rows(|w, i| {
                let name = format!("{}-{i}", rng.pick(words::SERVICES));
                // Sections vary tenfold in size: near the target only shallow ones fit.
                let levels = if w.room() < 5000 { 2 } else { 5 };
                w.object_field(&name, |w| section(rng, w, levels));
            });
        });
    });
}

/// The metadata of a package in a registry: versions keyed by number, each with maps of dependencies.
pub(crate) fn package(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("_id", "acme-gateway").field("name", "acme-gateway").object_field("dist-tags", |w| {
            w.field("latest", "4.2.0").field("next", "5.0.0-beta.1");
        });
        w.object_field("versions", |w| {
            w.rows(|w, i| {
                let version = format!("{}.{}.{}", i / 40, i / 4 % 10, i % 4);
                w.object_field(&version, |w| {
                    w.field("name", "acme-gateway")
                        .field("version", &version)
                        .field("license", "MIT")
                        .field("main", "dist/index.js");
                    w.object_field("dependencies", |w| dependencies(rng, w, 4));
                    if rng.chance(50) {
                        w.object_field("devDependencies", |w| dependencies(rng, w, 3));
                    }
                    w.object_field("engines", |w| {
                        w.field("node", if i < 20 { ">=14" } else { ">=18.17" });
                    });
                    w.object_field("dist", |w| {
                        w.field("integrity", format!("sha512-{}==", words::opaque(rng, 86)))
                            .field("shasum", words::hex(rng, 40));
                        w.field(
                            "tarball",
                            format!("https://registry.example.com/acme-gateway/-/acme-gateway-{version}.tgz"),
                        );
                        w.field("fileCount", rng.between(20, 90)).field("unpackedSize", rng.skewed(900_000));
                    });
                    if rng.chance(8) {
                        w.field("deprecated", "please upgrade, see https://example.com/advisory");
                    }
                });
            });
        });
        w.object_field("time", |w| {
            w.field("created", utc_millis(START * 1000)).field("modified", utc_millis(START * 1000 + 86_400_123));
        });
    });
}

/// A lock file: packages keyed by path, optional keys, most of them one shape.
pub(crate) fn lock(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("name", "shop").field("lockfileVersion", 3).field("requires", true).object_field("packages", |w| {
            w.rows(|w, i| {
                let name = format!("{}-{}-{i}", rng.pick(words::ADJECTIVES), rng.pick(words::NOUNS));
                let version = words::version(rng);
                w.object_field(&format!("node_modules/@acme/{name}"), |w| {
                    w.field("version", &version);
                    w.field("resolved", format!("https://registry.example.com/@acme/{name}/-/{name}-{version}.tgz"));
                    w.field("integrity", format!("sha512-{}==", words::opaque(rng, 86)));
                    if rng.chance(40) {
                        w.field("dev", true);
                    }
                    w.field("license", rng.prefer(&["MIT", "ISC", "Apache-2.0"]));
                    if rng.chance(50) {
                        w.object_field("dependencies", |w| dependencies(rng, w, 2));
                    }
                });
            });
        });
    });
}

/// An interface description: paths, operations, parameters, schemas by reference.
pub(crate) fn openapi(rng: &mut Rng, w: &mut Writer) {
    w.object(|w| {
        w.field("openapi", "3.1.0").object_field("info", |w| {
            w.field("title", "Acme Gateway").field("version", "2025-01-01");
        });
        w.object_field("paths", |w| {
            w.rows(|w, i| {
                let noun = rng.pick(words::NOUNS);
                w.object_field(&format!("/v{i}/{noun}/{{{noun}_id}}"), |w| {
                    for method in &["get", "post", "delete"][..1 + rng.below(3) as usize] {
                        w.object_field(method, |w| operation(rng, w, noun, method));
                    }
                });
            });
        });
    });
}

fn section(rng: &mut Rng, w: &mut Writer, levels: u64) {
    let mut used = 0_u64;
    for _ in 0..rng.between(2, 4) {
        let choice = rng.below(words::NOUNS.len() as u64) as usize;
        if used & 1 << choice != 0 {
            continue;
        }
        used |= 1 << choice;
        let key = words::NOUNS[choice];
        match rng.below(6) {
            0 | 1 if levels > 0 => {
                w.object_field(key, |w| section(rng, w, levels - 1));
            }
            2 => {
                w.field(key, rng.chance(50));
            }
            3 => {
                w.field(&format!("{key}.limit"), rng.skewed(10_000));
            }
            4 => {
                w.field(&format!("max-{key}"), format!("${{{}:-{}}}", key.to_uppercase(), rng.below(100)));
            }
            _ => list(rng, w, key),
        }
    }
}

fn list(rng: &mut Rng, w: &mut Writer, key: &str) {
    w.array_field(key, |w| {
        for _ in 0..rng.below(4) {
            if rng.chance(60) {
                w.value(format!("{}.{}.svc", rng.pick(words::SERVICES), rng.pick(words::NOUNS)));
            } else {
                w.object(|w| {
                    w.field("host", rng.pick(words::SERVICES)).field("weight", rng.between(1, 100));
                });
            }
        }
    });
}

fn dependencies(rng: &mut Rng, w: &mut Writer, most: u64) {
    for i in 0..rng.below(most + 1) {
        w.field(&format!("{}-{}", rng.pick(words::NOUNS), i), format!("^{}", words::version(rng)));
    }
}

fn operation(rng: &mut Rng, w: &mut Writer, noun: &str, method: &str) {
    w.field("operationId", format!("{method}_{noun}")).field("tags", [rng.prefer(words::SERVICES)]);
    w.field("summary", words::title(rng)).array_field("parameters", |w| {
        w.object(|w| {
            w.field("name", format!("{noun}_id")).field("in", "path").field("required", true);
            schema(w, "type", "string");
        });
    });
    w.object_field("responses", |w| {
        for code in &["200", "404", "429"][..2 + rng.below(2) as usize] {
            w.object_field(code, |w| {
                w.field("description", if *code == "200" { Raw("\"OK\"") } else { Raw("\"\"") });
                w.object_field("content", |w| {
                    w.object_field("application/json", |w| schema(w, "$ref", format!("#/components/schemas/{noun}")));
                });
            });
        }
    });
}

fn schema(w: &mut Writer, key: &str, value: impl Value) {
    w.object_field("schema", |w| {
        w.field(key, value);
    });
}
