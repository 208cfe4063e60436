//! The law that all work on what a client or a tool wrote is linear: steps of `stc-abridge`, rules of `stc-redact`, walks of
//! `stc-wire`, requests of `stc-context` and messages of `stc-layer`, on adversarial shapes of n, 2n and 4n bytes.
//!
//! Here the steps of [`stc_wire::budget`] are counted, which loops charge themselves. `scripts/doubling-context` counts instructions
//! of the same work, which a loop that charges nothing does not escape.

mod shapes;
mod steps;

use shapes::{EXCHANGES, REQUESTS, Shape, TEXTS};
use stc_wire::budget::{charge, counted};
use steps::{Measured, all, exchange};

/// The bytes of the shortest text.
const SIZE: usize = 8 << 10;
/// Twice the text takes at most so many percent of the steps, and so many more.
const MOST_PERCENT: u64 = 240;
const MOST_MORE: u64 = 300;
/// The steps for each byte of work whose texts are bounded.
const MOST_PER_BYTE: u64 = 64;

/// Returns what is wrong with the growth of work from a size to twice and four times that size.
fn growth(name: &str, work: impl Fn(usize) -> u64) -> Result<(), String> {
    let [once, twice, four] = [SIZE, 2 * SIZE, 4 * SIZE].map(work);
    let too_many = |few: u64, many: u64| many > few * MOST_PERCENT / 100 + MOST_MORE;
    if too_many(once, twice) || too_many(twice, four) {
        return Err(format!("{name}: {once}, {twice} and {four} steps"));
    }
    Ok(())
}

/// Returns the steps of work on a text.
#[inline(never)]
fn go_off(work: impl FnOnce()) -> u64 {
    counted(work).1
}

fn of_shape(measured: &Measured, (shape, make): &Shape) -> Result<(), String> {
    let name = format!("{}: {shape}", measured.name);
    let steps = |size: usize| {
        let text = make(size);
        go_off(|| (measured.work)(&text))
    };
    match measured.longest {
        None => growth(&name, steps),
        Some(longest) => {
            // A quarter of it: what a byte may cost is the same at every length.
            let spent = steps(longest / 4);
            let most = (longest / 4) as u64 * MOST_PER_BYTE;
            if spent > most { Err(format!("{name}: {spent} steps of {most}")) } else { Ok(()) }
        }
    }
}

#[test]
fn everything_is_linear() {
    assert!(TEXTS.len() >= 50 && REQUESTS.len() >= 20 && EXCHANGES.len() >= 10);
    let mut wrong: Vec<String> = Vec::new();
    for measured in all() {
        wrong.extend(measured.shapes.iter().filter_map(|shape| of_shape(&measured, shape).err()));
    }
    for (name, make) in EXCHANGES {
        let steps = |size: usize| {
            let messages = make(size);
            go_off(|| exchange(&messages))
        };
        wrong.extend(growth(name, steps).err());
    }
    assert!(wrong.is_empty(), "{} grow too fast:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every sixteenth line is compared with all of them before it.
fn planted(text: &str) {
    let lines: Vec<_> = text.lines().step_by(16).collect();
    for (number, line) in lines.iter().enumerate() {
        for before in &lines[..number] {
            let _ = charge(usize::from(before != line) + 1);
        }
    }
}

fn plant() -> Measured {
    Measured { name: "planted".to_owned(), shapes: &TEXTS[..4], work: Box::new(planted), longest: None }
}

#[test]
fn a_planted_quadratic_loop_is_found() {
    let work = plant();
    let found: Vec<_> = work.shapes.iter().filter_map(|shape| of_shape(&work, shape).err()).collect();
    assert!(found.iter().any(|wrong| wrong.starts_with("planted: blank lines: ")), "{found:?}");
    let none = Measured { work: Box::new(|text| assert_eq!(charge(text.len()), Some(()))), ..work };
    assert_eq!(TEXTS.iter().find_map(|shape| of_shape(&none, shape).err()), None);
}

/// One piece of work of `scripts/doubling-context`: what `STC_LINEAR` names, on each of its shapes in two sizes. Without it, prints the
/// names.
#[test]
fn one_work() {
    let Ok(name) = std::env::var("STC_LINEAR") else {
        all().iter().for_each(|measured| println!("work {}", measured.name));
        return println!("work exchanges\nwork planted");
    };
    let size: usize = std::env::var("STC_SIZE").map_or(SIZE, |size| size.parse().expect("a number"));
    if name == "exchanges" {
        for (shape, make) in EXCHANGES {
            for size in [size, 2 * size] {
                let messages = make(size);
                println!("shape {size} {shape}");
                go_off(|| exchange(&messages));
            }
        }
        return;
    }
    let measured =
        all().into_iter().chain([plant()]).find(|measured| measured.name == name).expect("a name of the list");
    // Of work whose texts are bounded, the longest: growth ends there.
    let sizes = measured.longest.map_or([size, 2 * size], |longest| [longest - 2_000; 2]);
    for (shape, make) in measured.shapes {
        for size in sizes {
            let text = make(size);
            println!("shape {size} {shape}");
            go_off(|| (measured.work)(&text));
        }
    }
}
