//! Plots as inline SVG: lines, bars and a flamegraph. No script and no external asset, so that a page with them can be
//! mailed and archived.

use std::collections::BTreeMap;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 44.0;

/// Colours of the series, distinguishable with colour blindness (Okabe and Ito).
const COLOURS: [&str; 10] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#b8a800", "#8c6bb1", "#333333"];

/// A named line through points.
pub(crate) struct Series {
    pub(crate) name: String,
    /// The index of its colour: the same for the same name in every plot of a page.
    pub(crate) colour: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A named bar.
pub(crate) struct Bar {
    pub(crate) name: String,
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
        Self { low, high, base, from, to }
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
        let rough = (self.high - self.low) / 5.0;
        let magnitude = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * magnitude).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(magnitude * 10.0);
        let steps = ((self.high - self.low) / step).floor() as i32;
        (0..=steps).map(|number| self.low + step * f64::from(number)).collect()
    }
}

/// Draws a line through the points of each series.
pub(crate) fn lines(x: &Axis, y: &Axis, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|series| series.points.iter().copied());
    let across = Scale::new(points().map(|point| point.0).collect::<Vec<_>>().into_iter(), x.base, LEFT, WIDTH - RIGHT);
    let up = Scale::new(points().map(|point| point.1).collect::<Vec<_>>().into_iter(), y.base, HEIGHT - BOTTOM, TOP);
    let mut svg = opened(HEIGHT, x.label);
    for tick in across.ticks() {
        let at = across.place(tick);
        let _ =
            writeln!(svg, r#"<line class="grid" x1="{at:.1}" y1="{TOP}" x2="{at:.1}" y2="{:.1}"/>"#, HEIGHT - BOTTOM);
        text(&mut svg, (at, HEIGHT - BOTTOM + 16.0), "middle", &(x.tick)(tick));
    }
    for tick in up.ticks() {
        let at = up.place(tick);
        let _ =
            writeln!(svg, r#"<line class="grid" x1="{LEFT}" y1="{at:.1}" x2="{:.1}" y2="{at:.1}"/>"#, WIDTH - RIGHT);
        text(&mut svg, (LEFT - 6.0, at + 4.0), "end", &(y.tick)(tick));
    }
    text(&mut svg, ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6.0), "middle", x.label);
    text(&mut svg, (4.0, TOP - 4.0), "start", y.label);
    for (number, series) in series.iter().enumerate() {
        let colour = COLOURS[series.colour % COLOURS.len()];
        let finite = series.points.iter().filter(|point| point.0.is_finite() && point.1.is_finite());
        let path: Vec<String> = finite.map(|&(x, y)| format!("{:.1},{:.1}", across.place(x), up.place(y))).collect();
        let _ = writeln!(svg, r#"<polyline stroke="{colour}" points="{}"/>"#, path.join(" "));
        let row = TOP + 10.0 + 18.0 * number as f64;
        let _ = writeln!(
            svg,
            r#"<rect fill="{colour}" x="{}" y="{:.1}" width="10" height="10"/>"#,
            WIDTH - RIGHT + 14.0,
            row - 9.0
        );
        text(&mut svg, (WIDTH - RIGHT + 30.0, row), "start", &series.name);
    }
    svg + "</svg>\n"
}

/// Draws a bar for each name, with its value. Logarithmic: the rivals differ by a factor of a thousand.
pub(crate) fn bars(label: &str, bars: &[Bar], value: fn(f64) -> String) -> String {
    let height = TOP + 24.0 * bars.len() as f64 + BOTTOM;
    let lengths = Scale::new(bars.iter().map(|bar| bar.value), Some(10.0), 40.0, WIDTH - LEFT - RIGHT - 60.0);
    let mut svg = opened(height, label);
    for (number, bar) in bars.iter().enumerate() {
        let top = TOP + 24.0 * number as f64;
        let (colour, start, long) = (COLOURS[bar.colour % COLOURS.len()], LEFT + 60.0, lengths.place(bar.value));
        let _ = writeln!(svg, r#"<rect fill="{colour}" x="{start}" y="{top:.1}" width="{long:.1}" height="16"/>"#);
        text(&mut svg, (start - 6.0, top + 13.0), "end", &bar.name);
        text(&mut svg, (start + long + 6.0, top + 13.0), "start", &value(bar.value));
    }
    text(&mut svg, (WIDTH / 2.0, height - 10.0), "middle", label);
    svg + "</svg>\n"
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
    let mut svg = opened(height, "flamegraph").replace("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
    svg.push_str("<style>text { font: 11px monospace; } rect { stroke: #fff; stroke-width: 0.3; }</style>\n");
    let mut todo = vec![("all", &ground, 0.0, 0)];
    while let Some((name, flame, left, level)) = todo.pop() {
        let wide = WIDTH * flame.weight / ground.weight.max(1.0);
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
            left += WIDTH * flame_above.weight / ground.weight.max(1.0);
        }
    }
    svg + "</svg>\n"
}

fn opened(height: f64, label: &str) -> String {
    format!("<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">\n", escaped(label))
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
        assert_eq!((scale.place(0.0), scale.place(9.0)), (100.0, 0.0));
        assert_eq!(scale.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
    }

    #[test]
    fn an_empty_plot_is_valid() {
        let axis = || Axis { label: "x", base: Some(2.0), tick: |value| value.to_string() };
        let none = Series { name: "none".into(), colour: 0, points: vec![(f64::NAN, f64::NAN)] };
        assert!(lines(&axis(), &axis(), &[none]).ends_with("</svg>\n"));
        assert!(bars("none", &[], |value| value.to_string()).ends_with("</svg>\n"));
    }

    #[test]
    fn equal_stacks_share_a_flame() {
        let stack = |names: &[&str], weight: f64| (names.iter().map(ToString::to_string).collect(), weight);
        let svg = flames([stack(&["main", "scan"], 3.0), stack(&["main", "<write>"], 1.0)].into_iter());
        assert_eq!(svg.matches("<title>main, 100.0 %").count(), 1);
        assert!(svg.contains("<title>scan, 75.0 %") && svg.contains("<title>&lt;write&gt;, 25.0 %"), "{svg}");
    }

    #[test]
    fn names_are_escaped() {
        let bar = Bar { name: "<b>&\"".into(), colour: 0, value: 1.0 };
        assert!(bars("x", &[bar], |value| value.to_string()).contains("&lt;b&gt;&amp;&quot;"));
    }
}
