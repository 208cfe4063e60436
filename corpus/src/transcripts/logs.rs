//! Logs, and what is printed while a program runs.

use super::names::{NAMES, clock, hex};
use crate::rng::Rng;

pub(super) fn service(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..lines {
        let time = clock(number * 3, rng);
        let (name, other) = (rng.pick(NAMES), rng.pick(NAMES));
        out += &match rng.below(12) {
            0 => format!("2026-11-18T{time}Z WARN  {name}: slow {other}, took {}ms\n", 500 + rng.below(4000)),
            1 if number > lines / 3 => {
                format!(
                    "2026-11-18T{time}Z ERROR {name}: error: {other} refused the connection (attempt {})\n",
                    1 + rng.below(5)
                )
            }
            2..=5 => format!("2026-11-18T{time}Z INFO  health check ok in {}ms\n", 1 + rng.below(9)),
            _ => format!("2026-11-18T{time}Z INFO  {name}: {other} {} done in {}ms\n", rng.below(9000), rng.below(90)),
        };
    }
    out
}

pub(super) fn polling(rng: &mut Rng, lines: usize) -> String {
    let mut out = "Waiting for the deployment to finish\n".to_owned();
    for number in 0..lines {
        out += &match number % 40 {
            39 => format!("{} deployment: {} of 12 replicas are ready\n", clock(number, rng), 1 + number / 40),
            _ => format!("{} poll {} ok, request {}\n", clock(number, rng), "deploy/gateway", hex(rng, 32)),
        };
    }
    for _ in 0..lines / 4 {
        out += "still waiting for the last replica\n";
    }
    out + "done\n"
}

pub(super) fn access(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..lines {
        let (host, minute) = (rng.below(250), number / 60 % 60);
        let path = rng.pick(&["/health", "/health", "/health", "/v1/orders", "/v1/orders/7", "/static/app.js"]);
        out += &format!(
            "192.0.2.{host} - - [18/Nov/2026:10:{minute:02}:{:02} +0000] \"GET {path} HTTP/1.1\" {} {} \"-\" \"probe/1.0\"\n",
            number % 60,
            rng.prefer(&[200, 200, 304, 404, 500]),
            rng.below(9000)
        );
    }
    out
}

pub(super) fn coloured(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..lines {
        let time = clock(number * 2, rng);
        let (name, other) = (rng.pick(NAMES), rng.pick(NAMES));
        let (colour, level) = rng.prefer(&[("32", "INFO"), ("36", "DEBUG"), ("33", "WARN"), ("31", "ERROR")]);
        out += &format!(
            "\u{1b}[2m2026-11-18T{time}Z\u{1b}[0m \u{1b}[{colour}m{level:>5}\u{1b}[0m \u{1b}[1m{name}\u{1b}[0m\u{1b}[2m:\u{1b}[0m {other} \u{1b}[3mid\u{1b}[0m\u{1b}[2m=\u{1b}[0m{}   \n",
            rng.below(9000)
        );
    }
    out
}

pub(super) fn traces(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..lines / 10 + 1 {
        let (name, other) = (rng.pick(NAMES), rng.pick(NAMES));
        out += &format!(
            "2026-11-18 {} ERROR [main] example.{name}.Service - {other} failed\njava.lang.IllegalStateException: {other} {number} is closed\n",
            clock(number, rng)
        );
        for _ in 0..8 {
            let class = rng.pick(NAMES);
            out += &format!("\tat example.{name}.{class}.open({class}.java:{})\n", rng.below(400));
        }
    }
    out
}

pub(super) fn bars(rng: &mut Rng, lines: usize) -> String {
    let mut out = String::new();
    for number in 0..1 + lines / 20 {
        let size = 100 + rng.below(900);
        for step in 0..20 {
            let bar = "#".repeat(step) + &".".repeat(20 - step);
            out += &format!("\rpart-{number}.bin [{bar}] {:3}% of {size} MB", step * 5);
        }
        out += &format!("\rpart-{number}.bin [{}] 100% of {size} MB\n", "#".repeat(20));
        out += &format!("part-{number}.bin: checksum {} ok\n", hex(rng, 64));
    }
    out
}
