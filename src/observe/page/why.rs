//! A question in a form, and its answer with the path drawn.

use super::{WHY, html::Html, input, option, page as frame, svg};
use crate::{
    authorizer::Authorizer,
    request::Query,
    why::{self, Answer, Explanation, Known, Question},
};

pub(super) fn page(query: &Query, authorizer: &Authorizer, known: &Known) -> Html {
    let question = Question::read(query);
    frame(
        "why",
        |_| {},
        |html| {
            html.raw("<h1>Why may a caller do something, or not?</h1>");
            form(html, &question);
            if question == Question::default() {
                return;
            }
            match question.parse() {
                Err(unclear) => {
                    html.raw("<p class=\"note\" role=\"alert\">This cannot be answered: ");
                    html.text(&unclear.to_string()).raw("</p>");
                }
                Ok(asked) => answer(html, &why::explain(&asked, authorizer, known)),
            }
        },
    )
}

pub(super) fn form(html: &mut Html, question: &Question) {
    html.raw("<form action=\"").raw(WHY);
    html.raw("\"><input type=\"hidden\" name=\"format\" value=\"html\">");
    input(html, "caller: a node, seed/…, or a user", "caller", &question.caller);
    html.raw("<label>verb<select name=\"verb\">");
    for verb in Question::verbs() {
        option(html, verb, verb, verb == question.verb);
    }
    html.raw("</select></label>");
    input(html, "resource, e.g. secrets", "resource", &question.resource);
    input(html, "namespace", "namespace", &question.namespace);
    input(html, "name", "name", &question.name);
    input(html, "field selector", "fieldSelector", &question.field_selector);
    input(html, "label selector", "labelSelector", &question.label_selector);
    html.raw("<button>ask</button></form>");
}

fn answer(html: &mut Html, explanation: &Explanation) {
    html.raw(match explanation.answer {
        Answer::Allow => "<p class=\"verdict allow\" role=\"status\">",
        Answer::Deny => "<p class=\"verdict deny\" role=\"status\">",
        Answer::Unknown => "<p class=\"verdict unknown\" role=\"status\">",
    });
    html.text(&explanation.verdict()).raw("</p>");
    let word = explanation.request.end.word();
    if let Some(path) = &explanation.path {
        html.raw("<figure>");
        svg::draw(html, path, "path");
        html.raw("<figcaption>What leads from the object to the ").raw(word);
        html.raw("; beside each arrow the field that says so.</figcaption></figure>");
    }
    let others = explanation.missing.as_ref().and_then(|missing| missing.others.first());
    if let Some(other) = others {
        html.raw("<figure>");
        svg::draw(html, other, "other");
        html.raw("<figcaption>It leads to another ").raw(word);
        html.raw(", and not to this one.</figcaption></figure>");
    }
    html.raw("<dl>");
    // The path is drawn, and stands in the reason too.
    for (heading, text) in explanation.lines().iter().filter(|(heading, _)| *heading != "path") {
        html.raw("<dt>").raw(heading).raw("</dt><dd>").text(text).raw("</dd>");
    }
    html.raw("<dt>reason</dt><dd>")
        .text(&explanation.reason)
        .raw("</dd></dl>");
}
