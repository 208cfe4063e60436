//! Plots as inline SVG: lines, bars and a flamegraph. No script and no external asset, so that a page with them can be
//! mailed and archived.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The size of a plot in its own units. A narrow screen shrinks it, so the page's style sets larger letters there, and the
/// margins have room for them.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 56.0;
/// Room for the names of bars, and for their values.
const NAMES: f64 = 170.0;
const VALUES: f64 = 76.0;
/// The width of a flamegraph.
const FLAMES: f64 = 1200.0;

/// Colours of the series, distinguishable with colour blindness (Okabe and Ito).
const COLOURS: [&str; 10] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#b8a800", "#8c6bb1", "#a65628"];

/// Returns the colour of an index, and whether its lines are dashed: after the last colour the first ones come again, dashed.
fn colour(index: usize) -> (&'static str, bool) {
    (COLOURS[index % COLOURS.len()], index >= COLOURS.len())
}

/// A named line through points.
pub(crate) struct Series {
    pub(crate) name: String,
    /// The index of its colour: the same for the same name in every plot of a page.
    pub(crate) colour: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A named bar. Successive bars of one name show it once.
pub(crate) struct Bar {
    pub(crate) name: String,
    /// What the legend calls its colour.
    pub(crate) group: String,
    /// The index of its colour, as for a [`Series`].
    pub(crate) colour: usize,
    pub(crate) value: f64,
}

/// The label and the scale of an axis.
pub(crate) struct Axis {
    pub(crate) label: &'static str,
    /// Logarithmic with a tick at each power of this base; linear if none.
    pub(crate) base: Option<f64>,
    pub(crate) tick: fn(f64) -> String,
}

/// Escapes text for HTML and SVG.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A mapping from values to positions between two ends.
struct Scale {
    low: f64,
    high: f64,
    base: Option<f64>,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, base: Option<f64>, from: f64, to: f64) -> Self {
        let logarithmic = base.is_some();
        let finite = values.filter(|value| value.is_finite() && (!logarithmic || *value > 0.0));
        let high = finite.clone().fold(f64::MIN, f64::max);
        let low = if logarithmic { finite.fold(f64::MAX, f64::min) } else { 0.0 };
        let (low, high) = if low < high { (low, high) } else { (0.5, 2.0) };
        let mut scale = Self { low, high, base, from, to };
        if !logarithmic {
            // Up to a round value, so that the last tick is at the end.
            scale.high = low + (scale.step() * ((high - low) / scale.step()).ceil()).max(f64::MIN_POSITIVE);
        }
        scale
    }

    /// Returns the distance of the ticks of a linear scale.
    fn step(&self) -> f64 {
        let rough = (self.high - self.low) / 5.0;
        let magnitude = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * magnitude).into_iter().find(|step| *step >= rough);
        step.unwrap_or(magnitude * 10.0)
    }

    fn place(&self, value: f64) -> f64 {
        let share = match self.base {
            Some(_) => (value / self.low).ln() / (self.high / self.low).ln(),
            None => (value - self.low) / (self.high - self.low),
        };
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// Returns round values: the powers of the base, or a few equal steps.
    fn ticks(&self) -> Vec<f64> {
        if let Some(base) = self.base {
            // A small tolerance at the ends: the logarithm of 1000 may be 2.9999999.
            let first = (self.low.log(base) - 1e-9).ceil() as i32;
            let last = (self.high.log(base) + 1e-9).floor() as i32;
            return (first..=last).map(|power| base.powi(power)).collect();
        }
        let step = self.step();
        let steps = ((self.high - self.low) / step + 1e-9).floor() as i32;
        (0..=steps).map(|number| self.low + step * f64::from(number)).collect()
    }
}

impl Axis {
    /// Returns the label, which says so if the scale is not linear.
    fn title(&self) -> String {
        if self.base.is_some() { format!("{} (logarithmic)", self.label) } else { self.label.to_owned() }
    }
}

/// Draws a line through the points of each series, with a legend below.
pub(crate) fn lines(x: &Axis, y: &Axis, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|series| series.points.iter().copied());
    let across = Scale::new(points().map(|point| point.0).collect::<Vec<_>>().into_iter(), x.base, LEFT, WIDTH - RIGHT);
    let up = Scale::new(points().map(|point| point.1).collect::<Vec<_>>().into_iter(), y.base, HEIGHT - BOTTOM, TOP);
    let mut svg = opened(HEIGHT, &format!("{} by {}", y.label, x.label));
    for tick in across.ticks() {
        upright(&mut svg, across.place(tick), HEIGHT, &(x.tick)(tick));
    }
    for tick in up.ticks() {
        let at = up.place(tick);
        let _ =
            writeln!(svg, r#"<line class="grid" x1="{LEFT}" y1="{at:.1}" x2="{:.1}" y2="{at:.1}"/>"#, WIDTH - RIGHT);
        text(&mut svg, (LEFT - 6.0, at + 4.0), "end", &(y.tick)(tick));
    }
    text(&mut svg, ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0), "middle", &x.title());
    text(&mut svg, (4.0, TOP - 14.0), "start", &y.title());
    for series in series {
        let (colour, dashed) = colour(series.colour);
        let dashes = if dashed { r#" stroke-dasharray="7 4""# } else { "" };
        let finite = series.points.iter().filter(|point| point.0.is_finite() && point.1.is_finite());
        let path: Vec<String> = finite.map(|&(x, y)| format!("{:.1},{:.1}", across.place(x), up.place(y))).collect();
        let _ = writeln!(svg, r#"<polyline stroke="{colour}"{dashes} points="{}"/>"#, path.join(" "));
        for (x, y) in path.iter().filter_map(|point| point.split_once(',')).filter(|_| path.len() <= MARKED) {
            let _ = writeln!(svg, r#"<circle fill="{colour}" cx="{x}" cy="{y}" r="3"/>"#);
        }
    }
    svg + "</svg>\n" + &legend(series.iter().map(|series| (series.name.as_str(), series.colour)))
}

/// Returns a paragraph with the colour of each name.
fn legend<'n>(entries: impl Iterator<Item = (&'n str, usize)>) -> String {
    let entry = |(name, index)| {
        let (colour, dashed) = colour(index);
        let fill = match dashed {
            true => format!("repeating-linear-gradient(90deg, {colour} 0 4px, transparent 4px 6px)"),
            false => colour.to_owned(),
        };
        format!(r#"<span><b style="background: {fill}"></b>{}</span>"#, escaped(name))
    };
    format!("<p class=\"legend\">{}</p>\n", entries.map(entry).collect::<Vec<_>>().join("\n"))
}

/// Lines of at most this many points show each of them.
const MARKED: usize = 20;

/// Draws a bar for each ratio, from 1 to its value, on a logarithmic scale: the rivals differ by a factor of a thousand, and twice
/// as fast is as long as half as fast.
pub(crate) fn bars(label: &str, bars: &[Bar], value: fn(f64) -> String) -> String {
    let height = TOP + 24.0 * bars.len() as f64 + BOTTOM;
    let values = bars.iter().map(|bar| bar.value).chain([1.0]);
    let across = Scale::new(values.collect::<Vec<_>>().into_iter(), Some(10.0), NAMES, WIDTH - VALUES);
    let mut svg = opened(height, label);
    for tick in across.ticks() {
        upright(&mut svg, across.place(tick), height, &value(tick));
    }
    let one = across.place(1.0);
    for (number, bar) in bars.iter().enumerate() {
        let top = TOP + 4.0 + 24.0 * number as f64;
        let ((colour, _), end) = (colour(bar.colour), across.place(bar.value));
        let (from, long) = (one.min(end), (end - one).abs().max(1.0));
        let _ = writeln!(svg, r#"<rect fill="{colour}" x="{from:.1}" y="{top:.1}" width="{long:.1}" height="16"/>"#);
        if number == 0 || bars[number - 1].name != bar.name {
            text(&mut svg, (NAMES - 12.0, top + 13.0), "end", &bar.name);
        }
        text(&mut svg, (one.max(end) + 6.0, top + 13.0), "start", &value(bar.value));
    }
    let axis = Axis { label: "", base: Some(10.0), tick: value }.title();
    text(&mut svg, ((NAMES + WIDTH - VALUES) / 2.0, height - 8.0), "middle", &format!("{label}{axis}"));
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for bar in bars {
        if !groups.contains(&(&bar.group, bar.colour)) {
            groups.push((&bar.group, bar.colour));
        }
    }
    svg + "</svg>\n" + &legend(groups.into_iter())
}

/// Draws an upright line of the grid and its tick below.
fn upright(svg: &mut String, at: f64, height: f64, tick: &str) {
    let bottom = height - BOTTOM;
    let _ = writeln!(svg, r#"<line class="grid" x1="{at:.1}" y1="{TOP}" x2="{at:.1}" y2="{bottom:.1}"/>"#);
    text(svg, (at, bottom + 18.0), "middle", tick);
}

/// A node of the flamegraph; its children are sorted by name, so that equal stacks merge and the picture is repeatable.
#[derive(Default)]
struct Flame {
    weight: f64,
    above: BTreeMap<String, Flame>,
}

/// Draws a flamegraph: the width of a box is its share of the samples, callers are below their callees, and names are in
/// the titles of the boxes. It is a separate file, so it contains its own style.
pub(crate) fn flames(stacks: impl Iterator<Item = (Vec<String>, f64)>) -> String {
    let mut ground = Flame::default();
    let mut deepest = 0;
    for (names, weight) in stacks {
        deepest = deepest.max(names.len());
        ground.weight += weight;
        let mut flame = &mut ground;
        for name in names {
            flame = flame.above.entry(name).or_default();
            flame.weight += weight;
        }
    }
    let height = 17.0 * (deepest + 1) as f64;
    let mut svg =
        opened_wide(FLAMES, height, "flamegraph").replace("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    svg.push_str("<style>text { font: 11px monospace; } rect { stroke: #fff; stroke-width: 0.3; }</style>\n");
    let mut todo = vec![("all", &ground, 0.0, 0)];
    while let Some((name, flame, left, level)) = todo.pop() {
        let wide = FLAMES * flame.weight / ground.weight.max(1.0);
        // A narrower box would be invisible.
        if wide < 0.2 {
            continue;
        }
        let top = height - 17.0 * (level + 1) as f64;
        let colour = COLOURS[name.bytes().map(usize::from).sum::<usize>() % COLOURS.len()];
        let share = flame.weight / ground.weight.max(1.0) * 100.0;
        let _ = writeln!(svg, "<g><title>{}, {share:.1} %</title>", escaped(name));
        let _ = writeln!(
            svg,
            r#"<rect fill="{colour}" fill-opacity="0.6" x="{left:.1}" y="{top}" width="{wide:.1}" height="16"/>"#
        );
        let fits: String = name.chars().take((wide / 7.0) as usize).collect();
        text(&mut svg, (left + 2.0, top + 12.0), "start", if fits.chars().count() > 2 { &fits } else { "" });
        svg.push_str("</g>\n");
        let mut left = left;
        for (name, flame_above) in &flame.above {
            todo.push((name, flame_above, left, level + 1));
            left += FLAMES * flame_above.weight / ground.weight.max(1.0);
        }
    }
    svg + "</svg>\n"
}

fn opened(height: f64, label: &str) -> String {
    opened_wide(WIDTH, height, label)
}

fn opened_wide(width: f64, height: f64, label: &str) -> String {
    format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n", escaped(label))
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, content: &str) {
    let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}">{}</text>"#, escaped(content));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_maps_its_ends() {
        let scale = Scale::new([1.0, 1000.0].into_iter(), Some(10.0), 10.0, 20.0);
        assert_eq!((scale.place(1.0), scale.place(1000.0)), (10.0, 20.0));
        assert_eq!(scale.ticks().len(), 4);
        let scale = Scale::new([3.0, 9.0].into_iter(), None, 100.0, 0.0);
        assert_eq!((scale.place(0.0), scale.place(10.0)), (100.0, 0.0));
        assert_eq!(scale.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(Scale::new([99.9].into_iter(), None, 0.0, 1.0).ticks(), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
    }

    #[test]
    fn an_empty_plot_is_valid() {
        let axis = || Axis { label: "x", base: Some(2.0), tick: |value| value.to_string() };
        let none = Series { name: "none".into(), colour: 0, points: vec![(f64::NAN, f64::NAN)] };
        let plot = lines(&axis(), &axis(), &[none]);
        assert!(plot.contains("</svg>\n") && plot.ends_with("none</span></p>\n"), "{plot}");
        assert!(plot.contains(">x (logarithmic)</text>"), "{plot}");
        assert!(bars("none", &[], |value| value.to_string()).contains("</svg>\n"));
    }

    #[test]
    fn equal_stacks_share_a_flame() {
        let stack = |names: &[&str], weight: f64| (names.iter().map(ToString::to_string).collect(), weight);
        let svg = flames([stack(&["main", "scan"], 3.0), stack(&["main", "<write>"], 1.0)].into_iter());
        assert_eq!(svg.matches("<title>main, 100.0 %").count(), 1);
        assert!(svg.contains("<title>scan, 75.0 %") && svg.contains("<title>&lt;write&gt;, 25.0 %"), "{svg}");
    }

    #[test]
    fn bars_begin_at_one_and_have_an_axis() {
        let bar = |name: &str, value| Bar { name: name.into(), group: "own".into(), colour: 0, value };
        let plot = bars("times as fast", &[bar("a", 100.0), bar("b", 0.1)], |ratio| format!("{ratio}x"));
        let attribute = |line: &str, name: &str| -> f64 {
            let value = line.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split('"').next());
            value.and_then(|value| value.parse().ok()).expect("a number")
        };
        let rects: Vec<&str> = plot.lines().filter(|line| line.starts_with("<rect")).collect();
        // Two powers of ten to the right of 1, one to its left.
        let (faster, slower) = (rects[0], rects[1]);
        let end = attribute(slower, "x") + attribute(slower, "width");
        assert!((attribute(faster, "x") - end).abs() < 0.2, "{plot}");
        assert!((attribute(faster, "width") - 2.0 * attribute(slower, "width")).abs() < 0.2, "{plot}");
        for tick in ["0.1x", "1x", "10x", "100x"] {
            assert!(plot.contains(&format!(">{tick}</text>")), "{tick}: {plot}");
        }
        assert!(plot.contains("times as fast (logarithmic)"), "{plot}");
        assert_eq!(plot.matches("own</span>").count(), 1, "{plot}");
    }

    #[test]
    fn no_two_series_look_alike() {
        let series = |colour| Series { name: format!("s{colour}"), colour, points: vec![(1.0, 1.0), (2.0, 2.0)] };
        let axis = || Axis { label: "x", base: None, tick: |value| value.to_string() };
        let plot = lines(&axis(), &axis(), &(0..2 * COLOURS.len()).map(series).collect::<Vec<_>>());
        let drawn: Vec<&str> = plot.lines().filter(|line| line.starts_with("<polyline")).collect();
        assert!(drawn.iter().enumerate().all(|(at, line)| !drawn[..at].contains(line)), "{plot}");
    }

    #[test]
    fn names_are_escaped() {
        let bar = Bar { name: "<b>&\"".into(), group: "own".into(), colour: 0, value: 1.0 };
        assert!(bars("x", &[bar], |value| value.to_string()).contains("&lt;b&gt;&amp;&quot;"));
    }
}
