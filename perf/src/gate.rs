//! `gate`: every class of response against its budget. Instructions and allocations are exact; time is a ratio to simd-json
//! in the same process, and is measured again before it fails a build.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use stc_perf::cases::{self, CLASSES};
use stc_perf::contenders::{TAPE, WARM};
use stc_perf::measure::{Effort, Outcome, contest};
use stc_perf::requests;
use stc_perf::stats::median;
use stc_perf::{Case, Kernel};

use crate::budget::{self, Costs, Entry};
use crate::show::show;
use crate::table::Table;
use crate::{allocations, context, instructions, progress};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print the measurements as budget entries; writes nothing and never fails a budget.
    #[arg(long)]
    update: bool,
    /// The budget file.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/budget.toml"), hide_default_value = true)]
    budget: PathBuf,
}

/// The measured costs of a class.
#[derive(Clone, Copy)]
struct Measured {
    encode: Costs,
    decode: Costs,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if !cfg!(target_arch = "x86_64") {
        return Err("the budgets are for x86-64; instruction counts of another processor are not comparable".into());
    }
    // Budgets are read first: a malformed file fails before minutes of measuring.
    let entries = if arguments.update { None } else { Some(read(arguments)?) };
    let prepared = requests::MEASURED.map(|(name, _)| context::measure(name).map(|costs| (name, costs)));
    let prepared = prepared.into_iter().collect::<Result<Vec<_>, _>>()?;
    let kernel = kernel()?;
    let measured = measure(kernel, entries.as_ref())?;
    let Some(entries) = entries else {
        let today = budget::today();
        let suggest =
            |(class, measured): (&str, &Measured)| budget::suggest(class, measured.encode, measured.decode, &today);
        let classes = CLASSES.iter().map(|&(class, _, _)| class);
        show(format_args!("[context] {prepared:?}\n"))?;
        show(format_args!("{}\n", classes.zip(&measured).map(suggest).collect::<Vec<_>>().join("\n")))?;
        return Ok(());
    };
    let (table, mut over, loose) = judge(&entries, &measured);
    let allowed = budget::parse_context(&text(arguments)?)?;
    let prepared: Vec<_> = prepared.into_iter().map(|(name, is)| (name, is, allowed[name])).collect();
    over.extend(prepared.iter().flat_map(|(name, is, may)| context::over(name, *is, *may)));
    show(format_args!(
        "Measured / budget; time on kernel {}, the rest on the best kernel that valgrind supports\n\n",
        kernel.name()
    ))?;
    show(&table)?;
    show(format_args!("\nrequests to models, measured / budget:\n"))?;
    for (name, is, may) in prepared {
        show(format_args!("{name}: {}\n", context::compared(is, may)))?;
    }
    if !loose.is_empty() {
        show(format_args!("\nloose, could be tightened: {}\n", loose.join(", ")))?;
    }
    if !over.is_empty() {
        return Err(format!("over budget: {}", over.join(", ")));
    }
    show(format_args!("\nwithin budget\n"))?;
    Ok(())
}

fn read(arguments: &Arguments) -> Result<BTreeMap<String, Entry>, String> {
    budget::parse(&text(arguments)?).map_err(|error| format!("{}: {error}", arguments.budget.display()))
}

fn text(arguments: &Arguments) -> Result<String, String> {
    std::fs::read_to_string(&arguments.budget).map_err(|error| format!("{}: {error}", arguments.budget.display()))
}

/// Returns the AVX2 kernel where there is one: valgrind supports nothing newer, and a time budget should mean the same on
/// every machine.
fn kernel() -> Result<Kernel, String> {
    stc_perf::kernel(Some("avx2")).or_else(|_| stc_perf::kernel(None))
}

fn measure(kernel: Kernel, entries: Option<&BTreeMap<String, Entry>>) -> Result<Vec<Measured>, String> {
    let names = CLASSES.map(|(_, name, _)| name);
    let bar = progress::bar(CLASSES.len() * 2 + 1);
    bar.set_message("allocations");
    let memory = allocations::count(&names, kernel.name(), None)?;
    bar.inc(1);
    bar.set_message("instructions");
    let counted = in_parallel(&names, |name| instructions::count(name).inspect(|_| bar.inc(1)))?;
    bar.set_message("time");
    let mut all = Vec::new();
    for ((&(class, name, _), memory), counted) in CLASSES.iter().zip(memory).zip(counted) {
        let case = cases::named(name)?;
        let allowed = entries.and_then(|entries| entries.get(class));
        let [encode_time, decode_time] = latency(&case, kernel, allowed.map(|entry| [entry.encode, entry.decode]))?;
        let document = &case.documents[0];
        let costs = |instructions: f64, memory: allocations::Memory, input: &[u8], latency: f64| Costs {
            instructions,
            allocations: memory.warm,
            peak: memory.peak as f64 / input.len() as f64,
            latency,
        };
        all.push(Measured {
            encode: costs(counted.encode, memory.encode, &document.json, encode_time),
            decode: costs(counted.decode, memory.decode, &document.stc, decode_time),
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(all)
}

/// Runs `work` for all names on all processors; valgrind is slow, and its counts do not depend on the load.
fn in_parallel<T: Send>(names: &[&str], work: impl Fn(&str) -> Result<T, String> + Sync) -> Result<Vec<T>, String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*name, work(name)));
        }
        done
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(names.len());
    let mut done: Vec<(&str, Result<T, String>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    done.sort_by_key(|(name, _)| names.iter().position(|other| other == name));
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns the time of encode and decode over that of simd-json: the median of three for a new budget. Against a budget, the
/// best of up to four measurements counts: a busy neighbour on the same core slows the codec more than simd-json, which
/// stalls on its own branches half of the time.
fn latency(case: &Case, kernel: Kernel, allowed: Option<[Costs; 2]>) -> Result<[f64; 2], String> {
    let once = || {
        let effort = Effort { time: Duration::from_millis(500), turns: 31 };
        let outcomes = contest(case, &[WARM[0], WARM[1], TAPE], kernel, effort);
        let time = |outcome: &Outcome| outcome.timing().map(|timing| timing.nanoseconds);
        let times: Option<Vec<f64>> = outcomes.iter().map(time).collect();
        let times = times.ok_or_else(|| format!("{}: rejected", case.name))?;
        Ok::<_, String>([times[0] / times[2], times[1] / times[2]])
    };
    let Some([encode, decode]) = allowed else {
        let all = [once()?, once()?, once()?];
        return Ok([median(&mut all.map(|ratios| ratios[0])), median(&mut all.map(|ratios| ratios[1]))]);
    };
    let mut best = once()?;
    for _ in 0..3 {
        if best[0] <= encode.latency && best[1] <= decode.latency {
            break;
        }
        let again = once()?;
        best = [best[0].min(again[0]), best[1].min(again[1])];
    }
    Ok(best)
}

/// Returns the table, what is over budget, and which budgets are so loose that they no longer guard anything.
fn judge(entries: &BTreeMap<String, Entry>, measured: &[Measured]) -> (Table, Vec<String>, Vec<String>) {
    let mut table =
        Table::new(["class", "", "instructions/byte", "warm allocations", "peak/byte", "time/simd-json", ""]);
    let (mut over, mut loose) = (Vec::new(), Vec::new());
    for (&(class, _, _), measured) in CLASSES.iter().zip(measured) {
        let Some(entry) = entries.get(class) else { continue };
        for (direction, is, may) in
            [("encode", measured.encode, entry.encode), ("decode", measured.decode, entry.decode)]
        {
            let before = over.len();
            let mut cell = |what: &str, is: f64, may: f64, digits: usize| {
                let exceeded = is > may;
                if exceeded {
                    over.push(format!("{class} {direction} {what}"));
                } else if is < may * 0.75 && what == "instructions" {
                    loose.push(format!("{class} {direction}"));
                }
                format!("{}{is:.digits$} / {may:.digits$}", if exceeded { "! " } else { "" })
            };
            let cells = [
                cell("instructions", is.instructions, may.instructions, 2),
                cell("allocations", is.allocations as f64, may.allocations as f64, 0),
                cell("peak", is.peak, may.peak, 2),
                cell("time", is.latency, may.latency, 2),
            ];
            let verdict = if over.len() > before { "OVER" } else { "ok" };
            table.row([class.into(), direction.to_owned()].into_iter().chain(cells).chain([verdict.into()]));
        }
    }
    (table, over, loose)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs { instructions: 3.0, allocations: 0, peak: 2.0, latency: 0.5 };

    fn budgets() -> BTreeMap<String, Entry> {
        let entry = |&(class, _, _): &(&str, &str, &str)| budget::suggest(class, COSTS, COSTS, "2026-11-30");
        let text: String = CLASSES.iter().map(entry).collect();
        budget::parse(&text.replace("SAY WHY", "a test")).expect("complete")
    }

    #[test]
    fn measurements_are_within_their_own_budget() {
        let (_, over, loose) = judge(&budgets(), &[Measured { encode: COSTS, decode: COSTS }; CLASSES.len()]);
        assert!(over.is_empty() && loose.is_empty());
    }

    #[test]
    fn each_measure_fails_by_itself_and_by_name() {
        for (what, costs) in [
            ("instructions", Costs { instructions: 3.4, ..COSTS }),
            ("allocations", Costs { allocations: 1, ..COSTS }),
            ("peak", Costs { peak: 2.3, ..COSTS }),
            ("time", Costs { latency: 1.1, ..COSTS }),
        ] {
            let mut all = [Measured { encode: COSTS, decode: COSTS }; CLASSES.len()];
            all[1].decode = costs;
            let (table, over, _) = judge(&budgets(), &all);
            assert_eq!(over, [format!("typical decode {what}")]);
            assert_eq!(table.to_string().matches("OVER").count(), 1);
        }
    }

    #[test]
    fn a_budget_that_guards_nothing_is_called_loose() {
        let mut all = [Measured { encode: COSTS, decode: COSTS }; CLASSES.len()];
        all[0].encode.instructions = 1.0;
        assert_eq!(judge(&budgets(), &all).2, ["small encode"]);
    }

    #[test]
    fn parallel_work_keeps_its_order() {
        let names = ["a", "b", "c", "d", "e"];
        let done = in_parallel(&names, |name| Ok(name.to_owned())).expect("all done");
        assert_eq!(done, names);
        assert!(in_parallel(&names, |name| if name == "c" { Err("no".to_owned()) } else { Ok(()) }).is_err());
    }
}
