//! An object with its neighbours, and the parts of long lists.

use super::{
    super::html::{Href, Html},
    Asked,
};
use crate::graph::{Key, Kind, Listed, Vertex};

const RULE: &str = "-------------------------------------------------------------------------------";

/// The line between objects.
pub(super) fn rule(html: &mut Html) {
    html.raw("<div class=\"r\" aria-hidden=\"true\">")
        .raw(RULE)
        .raw("</div>");
}

pub(super) fn block(html: &mut Html, vertex: &Vertex<'_>, end: Kind, is_alone: bool, asked: &Asked<'_>) {
    html.raw("<section>");
    rule(html);
    html.raw("<div class=\"l\" aria-hidden=\"true\">|</div><h2 class=\"l\">");
    html.raw("<span aria-hidden=\"true\">| </span># ");
    reference(html, vertex.key, asked);
    html.raw("</h2>");
    let Vertex {
        key,
        incoming,
        outgoing,
    } = vertex;
    let lists = [
        ("&lt;-", "in", incoming, "those that lead to it"),
        ("-&gt;", "out", outgoing, "those it leads to"),
    ];
    for (sign, part, list, label) in lists.into_iter().filter(|(_, _, list, _)| list.total > 0) {
        html.raw("<h3 class=\"l\"><span aria-hidden=\"true\">|   </span>")
            .raw(sign);
        html.raw(" (")
            .number(list.total)
            .raw(")</h3><ul aria-label=\"")
            .raw(label)
            .raw("\">");
        for neighbour in &list.items {
            line(html);
            reference(html, *neighbour, asked);
            html.raw("</li>");
        }
        html.raw("</ul>");
        let alone = asked.href(key.kind.title(), key.namespace, key.name);
        if is_alone {
            pages(html, list, "of these", part, &alone);
        } else if list.total > list.items.len() {
            html.raw("<div class=\"l\"><span aria-hidden=\"true\">|     </span>… and ");
            let more = list.total - list.items.len();
            html.link(&alone, &format!("{more} more")).raw("</div>");
        }
    }
    let lost = match (key.kind == end, end) {
        (true, _) => (incoming.total == 0).then_some("nothing leads to it"),
        (false, Kind::Node) => (outgoing.total == 0).then_some("leads to no node"),
        (false, _) => (outgoing.total == 0).then_some("leads to no seed"),
    };
    if let Some(lost) = lost {
        html.raw("<div class=\"l\"><span aria-hidden=\"true\">|   </span>")
            .raw(lost)
            .raw("</div>");
    }
    html.raw("<div class=\"l\" aria-hidden=\"true\">|</div></section>\n");
}

fn line(html: &mut Html) {
    html.raw("<li class=\"l\"><span aria-hidden=\"true\">|     </span>");
}

/// Three links: to all of the kind, to those in the namespace, to this one.
fn reference(html: &mut Html, key: Key<'_>, asked: &Asked<'_>) {
    let Key { kind, namespace, name } = key;
    html.link(&asked.href(kind.title(), "", ""), kind.title()).raw(":");
    if !namespace.is_empty() {
        html.link(&asked.href(kind.title(), namespace, ""), namespace).raw("/");
    }
    html.link(&asked.href(kind.title(), namespace, name), name);
}

/// Which part of a list this is, and links to those beside it.
pub(super) fn pages<T>(html: &mut Html, list: &Listed<T>, what: &'static str, parameter: &'static str, whole: &Href) {
    let (at, parts) = (list.part.at, list.parts());
    let is_list_of_objects = parameter == "page";
    if list.total == 0 {
        html.raw("<p class=\"note\">No object matches.</p>");
        return;
    }
    if parts == 1 && !is_list_of_objects {
        return;
    }
    html.raw("<p class=\"pages\"><span>");
    if parts > 1 {
        html.count(list.before() + 1)
            .raw(" to ")
            .count(list.before() + list.items.len());
        html.raw(" of ");
    }
    html.count(list.total).raw(" ").raw(what).raw("</span>");
    let to = |at: usize| whole.clone().with(parameter, &(at + 1).to_string());
    if at > 0 {
        html.link(&to(0), "first").link(&to(at - 1), "previous");
    }
    if at + 1 < parts {
        html.link(&to(at + 1), "next").link(&to(parts - 1), "last");
    }
    html.raw("</p>");
}
