//! The switch between the original code and its mutants.

use std::fs::File;
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// No environment has been read yet.
const UNREAD: u32 = u32::MAX;
/// The original code runs, and the sites that it reaches are written to a file.
const RECORD: u32 = u32::MAX - 1;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static READ: OnceLock<u32> = OnceLock::new();
static SITES: OnceLock<File> = OnceLock::new();
static REACHED: [AtomicBool; 1 << 15] = [const { AtomicBool::new(false) }; 1 << 15];

/// Returns which of the `count` mutants from `first` on is switched on, counted from 1, or 0 for the original code.
#[inline(always)]
pub(crate) fn at(first: u32, count: u32) -> u32 {
    let active = ACTIVE.load(Relaxed);
    let which = active.wrapping_sub(first);
    if which < count {
        which + 1
    } else if active >= RECORD {
        rarely(first, count)
    } else {
        0
    }
}

/// Reads the environment or records the site; allocates only in the first call, since tests count allocations.
#[cold]
#[inline(never)]
fn rarely(first: u32, count: u32) -> u32 {
    let reached = &REACHED[first as usize];
    // Most sites are reached often, and only where sites are recorded is any of them set.
    if reached.load(Relaxed) {
        return 0;
    }
    // Threads may come here together: only the first reads the environment, the others wait for what it has read.
    let active = *READ.get_or_init(|| {
        if let Ok(path) = std::env::var("STC_MUTANT_SITES") {
            let file = File::options().append(true).create(true).open(path).expect("a file for the sites");
            SITES.set(file).expect("opened once");
            RECORD
        } else {
            std::env::var("STC_MUTANT").map_or(0, |number| number.parse().expect("a mutant's number"))
        }
    });
    ACTIVE.store(active, Relaxed);
    if active != RECORD {
        return at(first, count);
    }
    if !reached.swap(true, Relaxed) {
        let mut line = [b'\n'; 8];
        let (mut at, mut rest) = (7, first);
        while rest > 0 {
            at -= 1;
            line[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        let mut file = SITES.get().expect("opened by the first call");
        file.write_all(&line[at..]).expect("a site written");
    }
    0
}
