//! Line charts as SVG: without fonts, scripts or styles from elsewhere, and readable on a light page as well as on a dark one.

use std::{
    fmt::{self, Display, Formatter},
    fs,
    path::Path,
};

/// One picture.
pub(crate) struct Plot {
    title: String,
    across: String,
    up: String,
    pub(crate) series: Vec<Series>,
}

/// A line with its name in the legend.
pub(crate) struct Series {
    name: String,
    points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
/// Of the picture around the axes; on the right is the legend.
const LEFT: f64 = 70.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;
/// Dark enough for white, light enough for black. Lines of the same colour differ in their strokes.
const COLOURS: [&str; 6] = ["#2f81f7", "#d9730d", "#2da44e", "#2f81f7", "#d9730d", "#2da44e"];
const STROKES: [&str; 6] = ["", "", "", "6 4", "6 4", "6 4"];

impl Series {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            points: Vec::new(),
        }
    }

    pub(crate) fn point(&mut self, across: f64, up: f64) {
        self.points.push((across, up));
    }
}

impl Plot {
    pub(crate) fn new(title: &str, across: &str, up: &str) -> Self {
        Self {
            title: title.to_owned(),
            across: across.to_owned(),
            up: up.to_owned(),
            series: Vec::new(),
        }
    }

    pub(crate) fn write(&self, path: &Path) {
        fs::write(path, self.to_string()).unwrap();
        eprintln!("{} is written", path.display());
    }

    /// Every place on the axis where there is a point, in order.
    fn places(&self) -> Vec<f64> {
        let all = self.series.iter().flat_map(|series| &series.points);
        let mut places: Vec<f64> = all.map(|(across, _)| *across).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// A round number above everything, and how far its lines are apart.
    fn scale(&self) -> (f64, f64) {
        let all = self.series.iter().flat_map(|series| &series.points);
        let most = all.map(|(_, up)| *up).fold(f64::MIN_POSITIVE, f64::max);
        let power = 10_f64.powf((most / 5.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps
            .into_iter()
            .find(|step| step * 5.0 >= most)
            .unwrap_or(power * 10.0);
        ((most / step).ceil() * step, step)
    }
}

/// Places stand at equal distances: sizes are multiples of each other, so that this is a logarithmic axis.
impl Display for Plot {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (places, (most, step)) = (self.places(), self.scale());
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let across = |value: f64| {
            let at = places.iter().position(|place| *place == value).unwrap_or_default();
            LEFT + (right - LEFT) * (at as f64 + 0.5) / places.len() as f64
        };
        let up = |value: f64| bottom - (bottom - TOP) * value / most;
        writeln!(
            f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             role=\"img\" font-family=\"sans-serif\" font-size=\"13\">"
        )?;
        writeln!(f, "<title>{}</title>", escaped(&self.title))?;
        // Text and lines of the axes are grey enough for both kinds of page; where there is a choice, they follow it.
        writeln!(
            f,
            "<style>text{{fill:#57606a}}.axis{{stroke:#8c959f}}.grid{{stroke:#8c959f;stroke-opacity:.3}}\
             @media(prefers-color-scheme:dark){{text{{fill:#b1bac4}}}}</style>"
        )?;
        text(f, (LEFT, 22.0), "start", &self.title)?;
        for line in 0..=(most / step).round() as u32 {
            let value = f64::from(line) * step;
            let y = up(value);
            writeln!(f, "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>")?;
            text(f, (LEFT - 8.0, y + 4.0), "end", &number(value))?;
        }
        writeln!(
            f,
            "<path class=\"axis\" fill=\"none\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>"
        )?;
        for place in &places {
            text(f, (across(*place), bottom + 18.0), "middle", &number(*place))?;
        }
        text(f, ((LEFT + right) / 2.0, HEIGHT - 10.0), "middle", &self.across)?;
        let (x, y) = (18.0, (TOP + bottom) / 2.0);
        let up_side = escaped(&self.up);
        writeln!(
            f,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" transform=\"rotate(-90 {x} {y})\">{up_side}</text>"
        )?;
        for (at, series) in self.series.iter().enumerate() {
            let (colour, stroke) = (COLOURS[at % COLOURS.len()], STROKES[at % STROKES.len()]);
            let points: Vec<String> = series
                .points
                .iter()
                .map(|(x, y)| format!("{:.1},{:.1}", across(*x), up(*y)))
                .collect();
            let style = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{stroke}\"");
            writeln!(f, "<polyline {style} points=\"{}\"/>", points.join(" "))?;
            for point in &points {
                let (x, y) = point.split_once(',').unwrap();
                writeln!(f, "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"{colour}\"/>")?;
            }
            let (x, y) = (right + 16.0, TOP + 10.0 + 22.0 * at as f64);
            writeln!(f, "<path {style} d=\"M{x} {}h24\"/>", y - 4.0)?;
            text(f, (x + 32.0, y), "start", &series.name)?;
        }
        writeln!(f, "</svg>")
    }
}

fn text(f: &mut Formatter<'_>, (x, y): (f64, f64), anchor: &str, text: &str) -> fmt::Result {
    let text = escaped(text);
    writeln!(
        f,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Thousands stand apart from the rest.
fn number(value: f64) -> String {
    if value < 10.0 && value.fract() != 0.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut written = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            written.push(',');
        }
        written.push(digit);
    }
    written
}
