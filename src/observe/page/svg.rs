//! A path, drawn from the top down, so that it fits on a phone: a box for each object, an arrow to the one it is there for.

use super::html::Html;
use crate::{api::printable, graph::Kind, why::Trail};

/// In the units of the drawing, as are all lengths here.
const WIDTH: usize = 340;
const LINE: usize = 17;
const PADDING: usize = 8;
/// Characters on a line in a box, and beside an arrow.
const IN_BOX: usize = 42;
const BESIDE: usize = 38;
/// Where the arrows are.
const ARROW: usize = 24;

/// A box, with what stands beside the arrow that leads up from it.
struct Stop {
    field: Vec<String>,
    kind: String,
    name: Vec<String>,
}

/// Draws a path. The identifier tells its texts from those of another drawing on the page.
pub(super) fn draw(html: &mut Html, trail: &Trail, id: &'static str) {
    let stops = stops(trail);
    let height: usize = stops.iter().map(|stop| stop.gap() + stop.height()).sum();
    html.raw("<svg role=\"img\" aria-labelledby=\"")
        .raw(id)
        .raw("-t ")
        .raw(id);
    html.raw("-d\" width=\"")
        .number(WIDTH)
        .raw("\" height=\"")
        .number(height + 4);
    html.raw("\" viewBox=\"0 0 ")
        .number(WIDTH)
        .raw(" ")
        .number(height + 4)
        .raw("\">");
    html.raw("<title id=\"")
        .raw(id)
        .raw("-t\">A path of the graph</title><desc id=\"")
        .raw(id);
    html.raw("-d\">").text(&trail.text).raw("</desc>");
    let (mut y, last) = (2, stops.len().saturating_sub(1));
    for (at, stop) in stops.iter().enumerate() {
        if at > 0 {
            arrow(html, y, y + stop.gap());
        }
        for (line, text) in stop.field.iter().enumerate() {
            write(html, "f", ARROW + 16, y + PADDING + (line + 1) * LINE - 4, text);
        }
        y += stop.gap();
        html.raw(if at == 0 || at == last {
            "<g class=\"end\">"
        } else {
            "<g>"
        });
        html.raw("<rect x=\"2\" y=\"")
            .number(y)
            .raw("\" width=\"")
            .number(WIDTH - 4);
        html.raw("\" height=\"").number(stop.height()).raw("\" rx=\"4\"/>");
        write(html, "k", 12, y + PADDING + LINE - 4, &stop.kind);
        for (line, text) in stop.name.iter().enumerate() {
            write(html, "n", 12, y + PADDING + (line + 2) * LINE - 4, text);
        }
        html.raw("</g>");
        y += stop.height();
    }
    html.raw("</svg>");
}

/// From the lower box to the upper one.
fn arrow(html: &mut Html, top: usize, bottom: usize) {
    html.raw("<path d=\"M").number(ARROW).raw(" ").number(bottom);
    html.raw("V").number(top + 2).raw("m-5 8l5 -8l5 8\"/>");
}

fn write(html: &mut Html, class: &'static str, x: usize, y: usize, text: &str) {
    html.raw("<text class=\"").raw(class).raw("\" x=\"").number(x);
    html.raw("\" y=\"").number(y).raw("\">").text(text).raw("</text>");
}

fn stops(trail: &Trail) -> Vec<Stop> {
    let first = Stop {
        field: Vec::new(),
        kind: trail.end.anchor().kind().title().to_owned(),
        name: wrap(trail.end.name(), IN_BOX),
    };
    let steps = trail.steps.iter().map(|step| Stop {
        field: wrap(&step.field, BESIDE),
        kind: title(&step.kind),
        name: match step.namespace.as_str() {
            "" => wrap(&step.name, IN_BOX),
            namespace => wrap(&format!("{namespace}/{}", step.name), IN_BOX),
        },
    });
    std::iter::once(first).chain(steps).collect()
}

fn title(kind: &str) -> String {
    let known = Kind::ALL.iter().find(|known| known.as_str() == kind);
    known.map_or(kind, |known| known.title()).to_owned()
}

/// SVG does not wrap by itself.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let chars: Vec<char> = printable(text).chars().collect();
    chars.chunks(width).map(|line| line.iter().collect()).collect()
}

impl Stop {
    fn height(&self) -> usize {
        2 * PADDING + (1 + self.name.len()) * LINE
    }

    fn gap(&self) -> usize {
        match self.field.len() {
            0 => 0,
            lines => 2 * PADDING + lines * LINE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::{End, Step};

    #[test]
    fn a_path_is_drawn_with_all_its_words_and_no_others() {
        let trail = Trail {
            end: End::Seed("<script>".to_owned()),
            steps: vec![Step {
                kind: "pod".to_owned(),
                namespace: "default".to_owned(),
                name: "w".repeat(60),
                field: "spec.nodeName".to_owned(),
            }],
            text: "a & b".to_owned(),
        };
        let mut html = Html::default();
        draw(&mut html, &trail, "p");
        let svg = html.into_string();
        for part in [
            "&lt;script&gt;",
            ">Seed<",
            ">Pod<",
            ">spec.nodeName<",
            "<desc id=\"p-d\">a &amp; b</desc>",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert!(!svg.contains("<script") && svg.matches("<rect").count() == 2 && svg.matches("<path").count() == 1);
        assert_eq!(
            svg.matches("class=\"n\"").count(),
            3,
            "long names go on in the next line: {svg}"
        );
    }
}
