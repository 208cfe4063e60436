//! `report`: one HTML page with all plots. The command measures everything it shows, so a page describes one machine, one
//! build and one point in time.

use std::fmt::Write as _;
use std::path::PathBuf;

use stc_perf::contenders::{RIVALS, TAPE_MINIFIED, WARM};
use stc_perf::measure::{Effort, Latencies, contest};
use stc_perf::stats::geometric_mean;
use stc_perf::{Case, Contender, Kernel, cases};

use crate::plot::{Axis, Bar, Series, bars, escaped, lines};
use crate::results::{Line, find};
use crate::show::show;
use crate::table::{size, time};
use crate::{latency, progress, scaling, tokens, worktree};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The file to write; target/perf/report.html by default.
    #[arg(long)]
    out: Option<PathBuf>,
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// Stop at 10 MB and measure for a shorter time.
    #[arg(long)]
    quick: bool,
}

/// The measurements that the page shows.
struct Data {
    kernel: &'static str,
    /// The cases of the list.
    results: Vec<Line>,
    latencies: Vec<(Contender, Latencies)>,
    /// A size in bytes, with nanoseconds a byte of encode, decode and simd-json.
    costs: Vec<(usize, [f64; 3])>,
    /// The files of corpus/made in every format.
    tokens: Vec<tokens::Measured>,
}

/// Sizes of the growth plot below those of `scaling`.
const SMALL: [usize; 2] = [1 << 10, 4 << 10];

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let kernel = stc_perf::kernel(arguments.kernel.as_deref())?;
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => worktree::outputs()?.join("report.html"),
    };
    let page = page(&measure(kernel, arguments.quick)?);
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    show(format_args!("{}\n", path.display()))?;
    Ok(())
}

fn measure(kernel: Kernel, quick: bool) -> Result<Data, String> {
    let contenders: Vec<Contender> = WARM.iter().chain(RIVALS).copied().collect();
    let effort = if quick { Effort::QUICK } else { Effort::FULL };
    let large = if quick { &[][..] } else { &cases::LARGE };
    let list: Vec<&str> = cases::listed().chain(large.iter().copied()).collect();
    let sizes: Vec<usize> = SMALL.into_iter().chain(scaling::sizes(quick)).collect();
    let bar = progress::bar(list.len() + 3);
    let mut results = Vec::new();
    for line in list {
        let case = cases::case(line)?;
        bar.set_message(case.name.clone());
        let outcomes = contest(&case, &contenders, kernel, effort);
        results.extend(
            contenders.iter().zip(&outcomes).map(|(contender, outcome)| Line::new(&case, contender, kernel, outcome)),
        );
        bar.inc(1);
    }
    bar.set_message("latency");
    let latencies =
        latency::measure(&latency::replies("issues-4KB", "issues", 4 << 10)?, kernel, if quick { 5 } else { 20 })?;
    bar.inc(1);
    bar.set_message("growth");
    let made: Result<Vec<Case>, String> =
        sizes.iter().map(|&bytes| cases::generated("users", "users", bytes, 1)).collect();
    let costs = sizes.into_iter().zip(scaling::costs(&made?, kernel, scaling::effort(quick))).collect();
    bar.inc(1);
    bar.set_message("tokens");
    let tokens = tokens::made()?;
    bar.finish_and_clear();
    Ok(Data { kernel: kernel.name(), results, latencies, costs, tokens })
}

const BYTES: Axis = Axis { label: "size of the document", base: Some(16.0), tick: size };

fn page(data: &Data) -> String {
    let mut html = String::from(HEAD);
    let _ = writeln!(
        html,
        "<h1>STC performance</h1>\n<p>Kernel {}, {}. Medians of interleaved turns, all contenders on the same bytes in one \
         process. A busy machine changes the absolute numbers; the ratios stay.</p>",
        escaped(data.kernel),
        std::env::consts::ARCH
    );
    section(
        &mut html,
        "Against the rivals",
        "Speed of STC 1 encode over each rival, geometric mean over all cases. All speeds here are for STC 1; <code>cargo perf run --format stc2</code>, <code>stc2-dense</code> and <code>stc2-refs</code> print those of version 2.",
        &rivals(data),
    );
    section(&mut html, "Throughput by size", "The kind <code>users</code> from 256 B up.", &throughput(data));
    let about = "Share of replies of 4 KB that are done within a time, over 256 different replies.";
    section(&mut html, "Latency", about, &latency_plot(data));
    section(
        &mut html,
        "How cost grows",
        "A byte should cost the same in a large document as in a small one.",
        &growth(data),
    );
    let about = "o200k tokens of the files of <code>corpus/made</code> in each format; for every format the files are sorted \
                 from its best to its worst.";
    section(&mut html, "Tokens", about, &tokens_plot(data));
    let _ =
        writeln!(html, "<h2>All numbers</h2>\n<p>GB of JSON a second.</p>\n{}</main>\n</body>\n</html>", numbers(data));
    html
}

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>STC performance</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; margin: 0; }
main { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; font-size: 12px; }
svg text { fill: #444; } svg .grid { stroke: #ddd; } svg polyline { fill: none; stroke-width: 2; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: 2px 10px; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr:nth-child(even) { background: #f5f5f5; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818; } svg text { fill: #bbb; } svg .grid { stroke: #333; }
  tr:nth-child(even) { background: #222; }
}
</style>
</head>
<body>
<main>
"#;

fn section(html: &mut String, title: &str, about: &str, plot: &str) {
    let _ = writeln!(html, "<h2>{title}</h2>\n<p>{about}</p>\n{plot}");
}

/// Returns the colour of a contender, the same in every plot.
fn colour(contender: &str) -> usize {
    WARM.iter().chain(RIVALS).position(|other| other.name == contender).unwrap_or(0)
}

/// Returns the contenders of the results, in order.
fn contenders(data: &Data) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for line in &data.results {
        if !names.contains(&line.contender.as_str()) {
            names.push(&line.contender);
        }
    }
    names
}

fn rivals(data: &Data) -> String {
    let cases = crate::results::cases(&data.results);
    let speed = |case: &str, contender: &str| find(&data.results, case, contender)?.gigabytes_per_second;
    let mean = |rival: &str| {
        let ratio = |case: &&str| Some(speed(case, "encode")? / speed(case, rival)?);
        geometric_mean(cases.iter().filter_map(ratio))
    };
    // simd-json on minified bytes is compared with the decoder only.
    let own = |name: &str| WARM.iter().chain([&TAPE_MINIFIED]).any(|own| own.name == name);
    let rivals = contenders(data).into_iter().filter(|name| !own(name));
    let bar = |rival: &str| Some(Bar { name: rival.to_owned(), colour: colour(rival), value: mean(rival)? });
    bars("times as fast as", &rivals.filter_map(bar).collect::<Vec<_>>(), |ratio| format!("{ratio:.2}x"))
}

fn throughput(data: &Data) -> String {
    let of = |contender: &str| {
        let lines = data.results.iter().filter(|line| line.contender == contender && line.case.starts_with("users-"));
        Series {
            name: contender.to_owned(),
            colour: colour(contender),
            points: lines.filter_map(|line| Some((line.bytes, line.gigabytes_per_second?))).collect(),
        }
    };
    let y = Axis { label: "GB/s", base: Some(10.0), tick: |speed| format!("{speed}") };
    lines(&BYTES, &y, &contenders(data).into_iter().map(of).collect::<Vec<_>>())
}

fn latency_plot(data: &Data) -> String {
    let series = data.latencies.iter().map(|(contender, latencies)| {
        let mut latencies = latencies.clone();
        let mut points: Vec<(f64, f64)> = Vec::new();
        for percent in (1..=99).map(f64::from).chain([99.5, 99.9]) {
            points.push((latencies.percentile(percent), percent));
        }
        Series { name: contender.name.into(), colour: colour(contender.name), points }
    });
    let x = Axis { label: "time for a document", base: Some(10.0), tick: time };
    let y = Axis { label: "% done", base: None, tick: |percent| format!("{percent:.0}") };
    lines(&x, &y, &series.collect::<Vec<_>>())
}

fn growth(data: &Data) -> String {
    let of = |(at, name): (usize, &str)| Series {
        name: name.into(),
        colour: colour(name),
        points: data.costs.iter().map(|(bytes, costs)| (*bytes as f64, costs[at] * 1024.0)).collect(),
    };
    let series: Vec<Series> = ["encode", "decode", "simd-json"].into_iter().enumerate().map(of).collect();
    let y = Axis { label: "ns a KB", base: None, tick: |cost| format!("{cost:.0}") };
    lines(&BYTES, &y, &series)
}

fn tokens_plot(data: &Data) -> String {
    let series = tokens::FORMATS.iter().enumerate().skip(tokens::MINIFIED + 1).map(|(format, name)| {
        let mut shares: Vec<f64> = data
            .tokens
            .iter()
            .filter_map(|file| file.share(format, tokens::O200K))
            .map(|share| 100.0 * share)
            .collect();
        shares.sort_unstable_by(f64::total_cmp);
        let place = |at: usize| 100.0 * (at as f64 + 0.5) / shares.len() as f64;
        let points = shares.iter().enumerate().map(|(at, &share)| (place(at), share)).collect();
        Series { name: (*name).into(), colour: format, points }
    });
    let x = Axis { label: "% of files", base: None, tick: |percent| format!("{percent:.0}") };
    let y = Axis { label: "% of minified JSON", base: None, tick: |percent| format!("{percent:.0}") };
    lines(&x, &y, &series.collect::<Vec<_>>())
}

fn numbers(data: &Data) -> String {
    let names = contenders(data);
    let mut html = String::from("<table>\n<tr><th>case</th>");
    for name in &names {
        let _ = write!(html, "<th>{}</th>", escaped(name));
    }
    html.push_str("</tr>\n");
    for case in crate::results::cases(&data.results) {
        let _ = write!(html, "<tr><td>{}</td>", escaped(case));
        for name in &names {
            let speed = find(&data.results, case, name).and_then(|line| line.gigabytes_per_second);
            let _ = write!(html, "<td>{}</td>", speed.map_or("-".into(), |speed| format!("{speed:.3}")));
        }
        html.push_str("</tr>\n");
    }
    html + "</table>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::line;

    fn data() -> Data {
        let case = cases::generated("users", "users", 256, 2).expect("a case");
        let kernel = stc_perf::kernel(None).expect("a kernel");
        let latencies = stc_perf::measure::latencies(&case, &WARM, kernel, 1).expect("timed");
        let names = ["users-256B", "users-1KB", "<odd> & \"quoted\""];
        let both = |case: &&str| [line(case, "encode", 2.0), line(case, "simd-json", 1.0)];
        Data {
            kernel: "portable",
            results: names.iter().flat_map(both).collect(),
            latencies: WARM.into_iter().zip(latencies).collect(),
            costs: vec![(1 << 10, [0.5, 0.4, 0.9]), (100 << 20, [0.5, 0.4, f64::NAN])],
            tokens: vec![tokens::Measured::new("a".into(), br#"[{"id":1},{"id":2}]"#).expect("JSON")],
        }
    }

    /// Asserts that every opened element is closed, in order.
    fn assert_well_formed(html: &str) {
        let mut open = Vec::new();
        let body = html.strip_prefix("<!DOCTYPE html>").expect("a document type");
        for element in body.split('<').skip(1) {
            let (tag, _) = element.split_once('>').expect("a tag ends");
            let name = tag.trim_start_matches('/').split([' ', '\n']).next().expect("a name");
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name), "{tag}");
            } else if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }

    #[test]
    fn the_page_is_well_formed_and_self_contained() {
        let page = page(&data());
        assert_well_formed(&page);
        assert_eq!(page.matches("<svg").count(), 5);
        for outside in ["http", "src=", "href=", "@import", "url(", "<script"] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("&lt;odd&gt; &amp; &quot;quoted&quot;") && !page.contains("NaN"));
    }
}
