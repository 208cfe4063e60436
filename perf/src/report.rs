//! `report`: one HTML page with all plots. The command measures everything it shows, so a page describes one machine, one
//! build and one point in time, and says which.

use std::fmt::Write as _;
use std::path::PathBuf;

use stc::Format;
use stc_perf::contenders::{PLAIN, RIVALS, WARM, ratios};
use stc_perf::measure::{Effort, Latencies, contest};
use stc_perf::stats::geometric_mean;
use stc_perf::{Case, Contender, Kernel, cases};

use crate::plot::{Axis, Bar, Series, bars, escaped, lines};
use crate::results::Line;
use crate::selection::Selection;
use crate::show::show;
use crate::table::{size, time};
use crate::{budget, latency, progress, scaling, tokens, worktree};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,
    /// The file to write; target/perf/report.html by default.
    #[arg(long)]
    out: Option<PathBuf>,
    /// The scan kernel: avx512, avx2, neon or portable; the fastest one if none is named.
    #[arg(long)]
    kernel: Option<String>,
    /// Stop at 10 MiB and measure for a shorter time.
    #[arg(long)]
    quick: bool,
}

/// The formats that the page compares.
const FORMATS: [&str; 2] = [Format::Stc1.name(), Format::Stc2.name()];

/// Where and when the page was measured.
struct Origin {
    date: String,
    commit: String,
    processor: String,
    kernel: &'static str,
}

/// The measurements that the page shows.
struct Data {
    origin: Origin,
    /// The cases, with a line for each contender and each of [`FORMATS`].
    results: Vec<Line>,
    /// Whether the cases are the user's own files.
    own_files: bool,
    /// For each of [`FORMATS`]: the contenders and their times.
    latencies: Vec<Vec<(Contender, Latencies)>>,
    /// For each of [`FORMATS`]: a size in bytes, with nanoseconds a byte of encode, decode and simd-json.
    costs: Vec<Vec<(usize, [f64; 3])>>,
    /// The files in every format.
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
    let page = page(&measure(arguments, kernel)?);
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    show(format_args!("{}\n", path.display()))?;
    Ok(())
}

fn measure(arguments: &Arguments, kernel: Kernel) -> Result<Data, String> {
    let Arguments { selection, quick, .. } = arguments;
    let own_files = !selection.is_empty();
    let contenders: Vec<Contender> = WARM.iter().chain(&PLAIN).chain(RIVALS).copied().collect();
    let effort = if *quick { Effort::QUICK } else { Effort::FULL };
    let sources = sources(selection, *quick)?;
    let bar = progress::bar(FORMATS.len() * (sources.len() + 2) + 1);
    let (mut results, mut latencies, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    for format in FORMATS {
        let options = cases::options(format)?;
        for source in &sources {
            let case = source.case()?.written_with(options)?;
            bar.set_message(format!("{}, {format}", case.name));
            let outcomes = contest(&case, &contenders, kernel, effort);
            let line = |(contender, outcome)| Line::new(&case, contender, kernel, outcome);
            results.extend(contenders.iter().zip(&outcomes).map(line));
            bar.inc(1);
        }
        bar.set_message(format!("latency, {format}"));
        let replies = match own_files {
            true => Case::new("files", documents(&sources)?)?,
            false => latency::replies("issues-4KiB", "issues", 4 << 10)?,
        };
        latencies.push(latency::measure(&replies.written_with(options)?, kernel, if *quick { 5 } else { 20 })?);
        bar.inc(1);
        if !own_files {
            bar.set_message(format!("growth, {format}"));
            let sizes: Vec<usize> = SMALL.into_iter().chain(scaling::sizes(*quick)).collect();
            let made = |&bytes: &usize| cases::generated("users", "users", bytes, 1)?.written_with(options);
            let made: Result<Vec<Case>, String> = sizes.iter().map(made).collect();
            costs.push(sizes.into_iter().zip(scaling::costs(&made?, kernel, scaling::effort(*quick))).collect());
        }
        bar.inc(1);
    }
    bar.set_message("tokens");
    let tokens = if own_files { tokens::of_files(&selection.files()?).0 } else { tokens::made()? };
    bar.finish_and_clear();
    Ok(Data { origin: Origin::new(kernel), results, own_files, latencies, costs, tokens })
}

/// A case that is built when it is measured, and dropped afterwards.
enum Source {
    Listed(&'static str),
    File(PathBuf, String),
}

impl Source {
    fn case(&self) -> Result<Case, String> {
        match self {
            Source::Listed(line) => cases::case(line),
            Source::File(path, name) => cases::read(path, false).map(|case| Case { name: name.clone(), ..case }),
        }
    }
}

fn sources(selection: &Selection, quick: bool) -> Result<Vec<Source>, String> {
    if !selection.is_empty() {
        let paths = selection.files()?;
        let names = cases::names(&paths);
        return Ok(paths.into_iter().zip(names).map(|(path, name)| Source::File(path, name)).collect());
    }
    // Lines with their own format are for benches: here every case is measured in both formats.
    let listed = cases::listed().filter(|line| line.split(' ').count() < 4);
    let large = if quick { &[][..] } else { &cases::LARGE };
    Ok(listed.chain(large.iter().copied()).map(Source::Listed).collect())
}

/// Returns the documents of the files.
fn documents(sources: &[Source]) -> Result<Vec<Vec<u8>>, String> {
    let document = |source: &Source| Ok(source.case()?.documents.swap_remove(0).json);
    sources.iter().map(document).collect()
}

impl Origin {
    fn new(kernel: Kernel) -> Self {
        let commit = worktree::state().unwrap_or_else(|_| "unknown".to_owned());
        Self { date: budget::today(), commit, processor: processor(), kernel: kernel.name() }
    }
}

/// Returns the name of the processor and the number of its threads, or the architecture if the system does not tell.
fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model_name(&text));
    let brand = || worktree::output(std::process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"])).ok();
    let name = cpuinfo.or_else(brand).unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {threads} threads", name.trim())
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_owned())
}

const BYTES: Axis =
    Axis { label: "size of the document", base: Some(10.0), tick: |bytes| size(bytes).replace(".0 ", " ") };

fn page(data: &Data) -> String {
    let Origin { date, commit, processor, kernel } = &data.origin;
    let mut html = String::from(HEAD);
    let _ = writeln!(
        html,
        "<h1>STC performance</h1>\n<p>{}, commit {}. {}; kernel {}.</p>\n<p>Medians of interleaved turns, all contenders on \
         the same bytes in one process. A busy machine changes the absolute numbers; the ratios stay.</p>",
        escaped(date),
        escaped(commit),
        escaped(processor),
        escaped(kernel)
    );
    let cases = crate::results::cases(&data.results).len();
    section(
        &mut html,
        "Against the rivals",
        &format!(
            "Times as fast as the rival, geometric mean over {cases} {}. Right of 1x the codec is faster. decode is compared over the JSON that it writes.",
            if cases == 1 { "document" } else { "documents" }
        ),
        &rivals(data),
    );
    if cases > 1 {
        let about = match data.own_files {
            true => "Every file is a point.",
            false => "The kind <code>users</code> from 256 bytes up.",
        };
        section(&mut html, "Throughput by size", about, &throughput(data));
    }
    let about = match data.own_files {
        true => "Share of the files that are done within a time.",
        false => "Share of replies of 4 KiB that are done within a time, over 256 different replies.",
    };
    section(&mut html, "Latency", about, &latency_plot(data));
    if !data.costs.is_empty() {
        let about = "A byte should cost the same in a large document as in a small one.";
        section(&mut html, "How cost grows", about, &growth(data));
    }
    let about = match data.own_files {
        true => {
            "o200k tokens of the files in each format; for every format the files are sorted from its best to its worst."
        }
        false => {
            "o200k tokens of the files of <code>corpus/made</code> in each format; for every format the files are sorted \
             from its best to its worst."
        }
    };
    section(&mut html, "Tokens", about, &(tokens_table(data) + &tokens_plot(data)));
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
main { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; }
svg { width: 100%; height: auto; font-size: 11px; }
svg text { fill: #444; } svg .grid { stroke: #ddd; } svg polyline { fill: none; stroke-width: 2; }
.legend { margin: 0.25rem 0; font-size: 13px; } .legend span { margin-right: 1rem; white-space: nowrap; }
.legend b { display: inline-block; width: 0.7em; height: 0.7em; margin-right: 0.4em; }
.table { overflow-x: auto; margin-bottom: 1rem; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: 2px 10px; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } tr:nth-child(even) { background: #f5f5f5; }
@media (max-width: 600px) { svg { font-size: 17px; } h2 { margin-top: 2rem; } }
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

/// A contender in a format: the codec once for each of [`FORMATS`], all others once.
#[derive(Clone, Copy, PartialEq)]
struct Shown<'d> {
    contender: &'d str,
    format: &'d str,
}

impl Shown<'_> {
    fn is_codec(self) -> bool {
        WARM.iter().any(|own| own.name == self.contender)
    }

    /// Returns its name in legends and tables.
    fn name(self) -> String {
        if self.is_codec() { format!("{} {}", self.contender, self.format) } else { self.contender.to_owned() }
    }

    /// Returns its colour, the same in every plot.
    fn colour(self) -> usize {
        let codec = WARM.iter().map(|own| own.name).collect::<Vec<_>>();
        let format = FORMATS.iter().position(|format| *format == self.format).unwrap_or(0);
        match codec.iter().position(|own| *own == self.contender) {
            Some(at) => at * FORMATS.len() + format,
            None => {
                let others = PLAIN.iter().chain(RIVALS).position(|other| other.name == self.contender);
                codec.len() * FORMATS.len() + others.unwrap_or(0)
            }
        }
    }

    /// Returns its speed on a case.
    fn speed(self, data: &Data, case: &str) -> Option<f64> {
        let own = |line: &&Line| line.case == case && line.contender == self.contender && line.format == self.format;
        data.results.iter().find(own)?.gigabytes_per_second
    }
}

/// Returns what plots and tables show, the codec first. Rivals read JSON, so they are the same for every format.
fn shown(data: &Data) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for line in &data.results {
        let one = Shown { contender: &line.contender, format: &line.format };
        let one = if one.is_codec() { one } else { Shown { format: FORMATS[0], ..one } };
        if !shown.contains(&one) {
            shown.push(one);
        }
    }
    shown.sort_by_key(|one| one.colour());
    shown
}

/// Draws the ratios; both sides of a ratio are measured in the same contest, so each format has its own.
fn rivals(data: &Data) -> String {
    let cases = crate::results::cases(&data.results);
    let bar = |(own, rival): (&'static str, &'static str), format: &'static str| {
        let [own, rival] = [own, rival].map(|contender| Shown { contender, format });
        let ratio = |case: &&str| Some(own.speed(data, case)? / rival.speed(data, case)?);
        let value = geometric_mean(cases.iter().filter_map(ratio))?;
        let name = rival.contender.trim_end_matches("-min").to_owned();
        Some(Bar { name, group: own.name(), colour: own.colour(), value })
    };
    let mut drawn = Vec::new();
    for pair in ratios() {
        let codec = WARM.iter().any(|own| own.name == pair.0);
        drawn.extend(FORMATS.iter().take(if codec { FORMATS.len() } else { 1 }).filter_map(|format| bar(pair, format)));
    }
    bars("times as fast", &drawn, |ratio| match ratio {
        _ if ratio >= 9.95 => format!("{ratio:.0}x"),
        _ => format!("{}x", (ratio * 100.0).round() / 100.0),
    })
}

fn throughput(data: &Data) -> String {
    let of = |one: Shown<'_>| {
        let own = |line: &&Line| line.contender == one.contender && line.format == one.format;
        let listed = |line: &&Line| data.own_files || line.case.starts_with("users-");
        let lines = data.results.iter().filter(own).filter(listed);
        let mut points: Vec<(f64, f64)> =
            lines.filter_map(|line| Some((line.bytes, line.gigabytes_per_second?))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        Series { name: one.name(), colour: one.colour(), points }
    };
    let y = Axis { label: "GB/s", base: Some(10.0), tick: |speed| format!("{speed}") };
    lines(&BYTES, &y, &shown(data).into_iter().map(of).collect::<Vec<_>>())
}

fn latency_plot(data: &Data) -> String {
    let mut series: Vec<Series> = Vec::new();
    for (format, latencies) in FORMATS.iter().zip(&data.latencies) {
        for (contender, latencies) in latencies {
            let one = Shown { contender: contender.name, format };
            if *format != FORMATS[0] && !one.is_codec() {
                continue;
            }
            let mut latencies = latencies.clone();
            let percents = (1..=99).map(f64::from).chain([99.5, 99.9]);
            let points = percents.map(|percent| (latencies.percentile(percent), percent)).collect();
            series.push(Series { name: one.name(), colour: one.colour(), points });
        }
    }
    series.sort_by_key(|series| series.colour);
    let x = Axis { label: "time for a document", base: Some(10.0), tick: |spent| time(spent).replace(".00 ", " ") };
    let y = Axis { label: "% done", base: None, tick: |percent| format!("{percent:.0}") };
    lines(&x, &y, &series)
}

fn growth(data: &Data) -> String {
    let mut series = Vec::new();
    for (format, costs) in FORMATS.iter().zip(&data.costs) {
        for (at, contender) in ["encode", "decode", "simd-json"].into_iter().enumerate() {
            let one = Shown { contender, format };
            if *format == FORMATS[0] || one.is_codec() {
                let points = costs.iter().map(|(bytes, costs)| (*bytes as f64, costs[at] * 1000.0)).collect();
                series.push(Series { name: one.name(), colour: one.colour(), points });
            }
        }
    }
    series.sort_by_key(|series| series.colour);
    let y = Axis { label: "ns for a KB", base: None, tick: |cost| format!("{cost:.0}") };
    lines(&BYTES, &y, &series)
}

/// Returns the tokens of all files together as a table. A format that cannot express a file is compared over the others.
fn tokens_table(data: &Data) -> String {
    let mut html = String::from("<div class=\"table\"><table>\n");
    html.push_str("<tr><th>format</th><th>files</th><th>o200k tokens</th><th>saved</th></tr>\n");
    for (format, name) in tokens::FORMATS.iter().enumerate() {
        let pairs = data.tokens.iter().filter_map(|file| Some((file.sizes[format]?, file.sizes[tokens::MINIFIED]?)));
        let (mut files, mut own, mut json) = (0, 0, 0);
        for (size, minified) in pairs {
            files += 1;
            own += size.unit(tokens::O200K);
            json += minified.unit(tokens::O200K);
        }
        let saved = match json {
            0 => "-".to_owned(),
            _ if format == tokens::MINIFIED => String::new(),
            _ => format!("{:.1} %", 100.0 * (1.0 - own as f64 / json as f64)),
        };
        let _ = writeln!(html, "<tr><td>{}</td><td>{files}</td><td>{own}</td><td>{saved}</td></tr>", escaped(name));
    }
    html + "</table></div>\n"
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
    let shown = shown(data);
    let mut html = String::from("<div class=\"table\"><table>\n<tr><th>case</th>");
    for one in &shown {
        let _ = write!(html, "<th>{}</th>", escaped(&one.name()));
    }
    html.push_str("</tr>\n");
    for case in crate::results::cases(&data.results) {
        let _ = write!(html, "<tr><td>{}</td>", escaped(case));
        for one in &shown {
            let speed = one.speed(data, case).map_or("-".into(), |speed| format!("{speed:.3}"));
            let _ = write!(html, "<td>{speed}</td>");
        }
        html.push_str("</tr>\n");
    }
    html + "</table></div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::line;

    fn data() -> Data {
        let case = cases::generated("users", "users", 256, 2).expect("a case");
        let kernel = stc_perf::kernel(None).expect("a kernel");
        let latencies = || {
            let times = stc_perf::measure::latencies(&case, &WARM, kernel, 1).expect("timed");
            WARM.into_iter().zip(times).collect()
        };
        let names = ["users-256B", "users-1KiB", "<odd> & \"quoted\""];
        let of = |format: &'static str, speed: f64| {
            let line = move |case: &str, contender: &str, speed| Line {
                format: format.into(),
                ..line(case, contender, speed)
            };
            names.into_iter().flat_map(move |case| [line(case, "encode", speed), line(case, "simd-json", 1.0)])
        };
        let costs = vec![(1 << 10, [0.5, 0.4, 0.9]), (100 << 20, [0.5, 0.4, f64::NAN])];
        Data {
            origin: Origin {
                date: "2026-11-30".into(),
                commit: "0123abc, changed".into(),
                processor: "A <fast> one, 2 threads".into(),
                kernel: "portable",
            },
            results: of("stc1", 4.0).chain(of("stc2", 0.5)).collect(),
            own_files: false,
            latencies: vec![latencies(), latencies()],
            costs: vec![costs.clone(), costs],
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

    #[test]
    fn the_page_says_where_it_comes_from_and_compares_both_formats() {
        let page = page(&data());
        for said in ["2026-11-30", "commit 0123abc, changed", "A &lt;fast&gt; one, 2 threads", "kernel portable"] {
            assert!(page.contains(said), "{said}");
        }
        assert!(page.contains("</b>encode stc1</span>") && page.contains("</b>encode stc2</span>"), "{page}");
        assert_eq!(page.matches(">simd-json</text>").count(), 1, "one name for both formats");
        // Each format against the rival of its own contest.
        assert!(page.contains(">4x</text>") && page.contains(">0.5x</text>"), "{page}");
        assert!(page.contains("<th>encode stc1</th><th>encode stc2</th><th>simd-json</th>"), "{page}");
        assert_eq!(page.matches("times as fast (logarithmic)").count(), 1);
        assert_eq!(page.matches("size of the document (logarithmic)").count(), 2);
    }

    #[test]
    fn own_files_have_no_growth() {
        let page = page(&Data { own_files: true, costs: Vec::new(), ..data() });
        assert_well_formed(&page);
        assert!(!page.contains("How cost grows") && page.contains("Every file is a point"), "{page}");
    }

    #[test]
    fn the_processor_has_a_name() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t: fpu\n";
        assert_eq!(model_name(text).as_deref(), Some("Some CPU @ 2 GHz"));
        assert_eq!(model_name("processor : 0\n"), None);
        assert!(processor().ends_with(" threads"));
    }
}
