//! The page itself: its sections, tables and plots.

use std::fmt::Write as _;

use stc_perf::contenders::{PLAIN, RIVALS, WARM, ratios};
use stc_perf::stats::geometric_mean;

use super::measured::{FORMATS, Measured, Origin};
use crate::plot::{Axis, Bar, Series, bars, escaped, lines};
use crate::results::Line;
use crate::table::{size, time};
use crate::tokens;

const BYTES: Axis =
    Axis { label: "size of the document", base: Some(10.0), tick: |bytes| size(bytes).replace(".0 ", " ") };

pub(super) fn page(data: &Measured) -> String {
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
    fn speed(self, data: &Measured, case: &str) -> Option<f64> {
        let own = |line: &&Line| line.case == case && line.contender == self.contender && line.format == self.format;
        data.results.iter().find(own)?.gigabytes_per_second
    }
}

/// Returns what plots and tables show, the codec first. Rivals read JSON, so they are the same for every format.
fn shown(data: &Measured) -> Vec<Shown<'_>> {
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
fn rivals(data: &Measured) -> String {
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

fn throughput(data: &Measured) -> String {
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

fn latency_plot(data: &Measured) -> String {
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

fn growth(data: &Measured) -> String {
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
fn tokens_table(data: &Measured) -> String {
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

fn tokens_plot(data: &Measured) -> String {
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

fn numbers(data: &Measured) -> String {
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
    use stc_perf::cases;

    use super::*;
    use crate::results::tests::line;

    fn data() -> Measured {
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
        Measured {
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
        let page = page(&Measured { own_files: true, costs: Vec::new(), ..data() });
        assert_well_formed(&page);
        assert!(!page.contains("How cost grows") && page.contains("Every file is a point"), "{page}");
    }
}
