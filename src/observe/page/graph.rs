//! The graph: what there is, and what stands beside it.
//!
//! It looks and filters as Gardener's debug handler does. Beyond that it has parts, since there may be half a million objects,
//! and one of them may have ten thousand neighbours.

mod block;

use self::block::{block, pages, rule};
use super::{
    GRAPH, Graph, Seen,
    html::{Href, Html},
    input, option, why,
};
use crate::{
    graph::{Filter, Key, Kind, Part, Snapshot},
    request::Query,
    why::Question,
};

/// More than this are not shown without a filter.
const MANY: usize = 2000;
/// Objects on a page.
const OBJECTS: usize = 100;
/// Neighbours in a list, where there are other objects on the page.
const NEIGHBOURS: usize = 20;
/// The same where there are none.
const ALONE: usize = 500;

/// What is asked for, as it stands in the query.
struct Asked<'a> {
    /// Which graph, where it is not the first.
    graph: &'static str,
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
    /// Which page, and which parts of the lists of neighbours of an object that is alone on it; from 0.
    page: usize,
    incoming: usize,
    outgoing: usize,
}

pub(super) fn page(graphs: &[Graph], query: &Query) -> Html {
    let wanted = query.get("graph").unwrap_or_default();
    let graph = graphs.iter().find(|graph| graph.name == wanted).or(graphs.first());
    super::page(
        "graph",
        |_| {},
        |html| match graph {
            None => drop(html.raw("<p>No graph is kept.</p>")),
            Some(graph) => {
                let is_first = graphs.first().is_some_and(|first| first.name == graph.name);
                let name = if is_first { "" } else { graph.name };
                choice(html, graphs, graph);
                show(html, &(graph.look)(), &Asked::read(query, name));
            }
        },
    )
}

/// Links to the other graphs.
fn choice(html: &mut Html, graphs: &[Graph], shown: &Graph) {
    html.raw("<h1>Who refers to whom");
    if graphs.len() > 1 {
        html.raw(": ").raw(shown.name);
    }
    html.raw("</h1>");
    for graph in graphs.iter().filter(|graph| graph.name != shown.name) {
        html.raw("<p>There is another graph: ");
        html.link(&Href::to(GRAPH).with("graph", graph.name), graph.name)
            .raw("</p>");
    }
}

fn show(html: &mut Html, seen: &Seen, asked: &Asked<'_>) {
    let end = seen.graph.anchor().kind();
    let is_default = asked.is_anything() && seen.graph.sizes().vertices > MANY;
    let kind = if is_default { end.title() } else { asked.kind };
    overview(html, seen, kind, asked);
    if is_default {
        html.raw("<p class=\"note\">There are more than ").count(MANY);
        html.raw(" objects and no filter, so only those of kind ")
            .raw(end.title());
        html.raw(" are shown.</p>");
    }
    let known = Kind::ALL.iter().copied().find(|known| known.title() == kind);
    if known.is_none() && !kind.is_empty() {
        html.raw("<p class=\"note\">No object matches: no kind has this name.</p>");
        return;
    }
    list(html, &seen.graph, known, asked);
}

/// The filter, and how much there is.
fn overview(html: &mut Html, seen: &Seen, kind: &str, asked: &Asked<'_>) {
    let (kinds, sizes) = (seen.graph.kinds(), seen.graph.sizes());
    form(html, &kinds, kind, asked);
    html.raw("<p>")
        .count(sizes.vertices)
        .raw(" objects, ")
        .count(sizes.edges);
    html.raw(" edges, in state ").number(seen.graph.generation() as usize);
    html.raw(". Under each object: &lt;- what leads to it, -&gt; where it leads.</p>");
    if let Some(doubt) = &seen.doubt {
        html.raw("<p class=\"note\">Not to be relied on now: ");
        html.text(doubt).raw("</p>");
    }
    html.raw("<ul class=\"kinds\">");
    for (kind, count) in &kinds {
        html.raw("<li>").link(&asked.href(kind.title(), "", ""), kind.title());
        html.raw(" ").count(*count).raw("</li>");
    }
    html.raw("</ul>");
}

/// The objects that match, and a form to ask about them.
fn list(html: &mut Html, graph: &Snapshot, kind: Option<Kind>, asked: &Asked<'_>) {
    let filter = Filter {
        kind,
        namespace: asked.namespace,
        name: asked.name,
    };
    let part = |size, at| Part { size, at };
    let found = graph.find(filter, part(OBJECTS, asked.page));
    let is_alone = found.total == 1;
    let (incoming, outgoing) = if is_alone {
        (part(ALONE, asked.incoming), part(ALONE, asked.outgoing))
    } else {
        (part(NEIGHBOURS, 0), part(NEIGHBOURS, 0))
    };
    let alone = found.items.first().filter(|_| is_alone);
    html.raw("<details><summary>why may a caller do something, or not?</summary>");
    why::form(html, &alone.map(|found| question(found.key)).unwrap_or_default());
    html.raw("</details>");
    let whole = asked.href(asked.kind, asked.namespace, asked.name);
    pages(html, &found, "objects", "page", &whole);
    let vertices = graph.around(&found.items, incoming, outgoing);
    for vertex in &vertices {
        block(html, vertex, graph.anchor().kind(), is_alone, asked);
    }
    if !vertices.is_empty() {
        rule(html);
    }
    if found.parts() > 1 {
        pages(html, &found, "objects", "page", &whole);
    }
}

/// Whoever looks at one object most likely wants to know about it.
fn question(key: Key<'_>) -> Question {
    Question {
        resource: key.kind.as_str().to_owned(),
        namespace: key.namespace.to_owned(),
        name: key.name.to_owned(),
        ..Question::default()
    }
}

fn form(html: &mut Html, kinds: &[(Kind, usize)], active: &str, asked: &Asked<'_>) {
    html.raw("<form action=\"")
        .raw(GRAPH)
        .raw("\"><label>kind<select name=\"kind\">");
    option(html, "", "all", active.is_empty());
    for (kind, _) in kinds {
        option(html, kind.title(), kind.title(), kind.title() == active);
    }
    if !active.is_empty() && kinds.iter().all(|(kind, _)| kind.title() != active) {
        option(html, active, active, true);
    }
    html.raw("</select></label>");
    input(html, "namespace", "namespace", asked.namespace);
    input(html, "name", "name", asked.name);
    if !asked.graph.is_empty() {
        html.raw("<input type=\"hidden\" name=\"graph\" value=")
            .value(asked.graph)
            .raw(">");
    }
    html.raw("<button>filter</button></form>");
}

impl<'a> Asked<'a> {
    fn read(query: &'a Query, graph: &'static str) -> Self {
        let get = |key| query.get(key).unwrap_or_default();
        // What is no number is the first.
        let part = |key| get(key).parse::<usize>().unwrap_or(1).saturating_sub(1);
        Self {
            graph,
            kind: get("kind"),
            namespace: get("namespace"),
            name: get("name"),
            page: part("page"),
            incoming: part("in"),
            outgoing: part("out"),
        }
    }

    fn is_anything(&self) -> bool {
        [self.kind, self.namespace, self.name]
            .iter()
            .all(|text| text.is_empty())
    }

    /// To another filter of the same graph.
    fn href(&self, kind: &str, namespace: &str, name: &str) -> Href {
        let href = Href::to(GRAPH).with("kind", kind);
        let href = href.with("namespace", namespace).with("name", name);
        href.with("graph", self.graph)
    }
}
