//! Tables.

use super::names::{NAMES, hex};
use crate::rng::Rng;

pub(super) fn pods(rng: &mut Rng, lines: usize) -> String {
    let mut out =
        "NAMESPACE     NAME                                READY   STATUS             RESTARTS   AGE\n".to_owned();
    for _ in 0..lines {
        let name = format!("{}-{}-{}", rng.pick(NAMES), hex(rng, 10), hex(rng, 5));
        let status = rng.prefer(&["Running", "Running", "Completed", "CrashLoopBackOff"]);
        out += &format!(
            "{:<13} {name:<35} {:<7} {status:<18} {:<10} {}d\n",
            rng.pick(&["default", "kube-system", "shop"]),
            "1/1",
            rng.below(20),
            rng.below(90)
        );
    }
    out
}

pub(super) fn psql(rng: &mut Rng, lines: usize) -> String {
    let mut out = "  id  |   customer   |  state   |  total  |     created_at      \n------+--------------+----------+---------+---------------------\n".to_owned();
    for number in 1..=lines {
        let (name, state) = (rng.pick(NAMES), rng.prefer(&["open", "paid", "shipped", "refunded"]));
        let (day, total, cents) = (1 + rng.below(28), rng.below(900), rng.below(100));
        out += &format!(
            " {number:4} | {name:<12} | {state:<8} | {total:4}.{cents:02} | 2026-11-{day:02} 10:00:{:02} \n",
            number % 60
        );
    }
    out + &format!("({lines} rows)\n\n")
}

pub(super) fn processes(rng: &mut Rng, lines: usize) -> String {
    let mut out = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n".to_owned();
    for _ in 0..lines {
        let (pid, size) = (rng.below(90_000), rng.below(900_000));
        out += &format!(
            "{:<9} {pid:6}  0.{}  0.{} {size:6} {:5} ?        {:<4} 09:{:02}   0:0{} /usr/bin/{}\n",
            rng.pick(&["root", "ann", "postgres"]),
            rng.below(10),
            rng.below(10),
            rng.below(90_000),
            rng.pick(&["Ss", "S", "Sl"]),
            rng.below(60),
            rng.below(10),
            rng.pick(NAMES)
        );
    }
    out
}

pub(super) fn markdown(rng: &mut Rng, lines: usize) -> String {
    let mut out =
        "# Report\n\n| name         | state      | count |\n|--------------|------------|-------|\n".to_owned();
    for _ in 0..lines {
        out += &format!(
            "| {:<12} | {:<10} | {:5} |\n",
            rng.pick(NAMES),
            rng.prefer(&["open", "closed", "waiting"]),
            rng.below(90_000)
        );
    }
    out + "\n\n\n\nEnd of the report.   \n"
}
