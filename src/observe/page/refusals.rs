//! Who was refused what of late.

use jiff::fmt::temporal::DateTimePrinter;

use super::{
    REFUSALS, WHY,
    html::{Href, Html},
    page as frame,
};
use crate::{
    api::names::{NODE_USER_PREFIX, SEED_USER_PREFIX, SERVICE_ACCOUNT_USER_PREFIX},
    observe::refusals::{Refusal, Refusals, Refused},
    request::Query,
    why::Question,
};

/// How often a page that is left open asks again, in seconds, at the most and at the least.
const OFTEN: u32 = 2;
const SELDOM: u32 = 3600;

const TIME: DateTimePrinter = DateTimePrinter::new().precision(Some(0));

pub(super) fn page(recent: &[Refused], query: &Query) -> Html {
    let seconds = query.get("refresh").and_then(|seconds| seconds.parse::<u32>().ok());
    let seconds = seconds.map(|seconds| seconds.clamp(OFTEN, SELDOM) as usize);
    frame(
        "refusals",
        |html| {
            if let Some(seconds) = seconds {
                html.raw("<meta http-equiv=\"refresh\" content=\"")
                    .number(seconds)
                    .raw("\">");
            }
        },
        |html| {
            html.raw("<h1>Refused of late</h1><p>At most ").number(Refusals::MOST);
            html.raw(", the latest first, repeats counted; the audit log has all of them. ");
            match seconds {
                None => html.link(&Href::to(REFUSALS).with("refresh", "5"), "Keep it up to date"),
                Some(seconds) => {
                    html.raw("Asked for anew every ").number(seconds).raw(" seconds; ");
                    html.link(&Href::to(REFUSALS), "stop")
                }
            };
            html.raw(".</p>");
            if recent.is_empty() {
                html.raw("<p class=\"note\">Nobody was refused anything since the gate has started.</p>");
                return;
            }
            table(html, recent);
        },
    )
}

fn table(html: &mut Html, recent: &[Refused]) {
    html.raw(
        "<table><thead><tr><th>time</th><th>times</th><th>caller</th><th>request</th><th>rule</th><th>reason</th>",
    );
    html.raw("</tr></thead><tbody>\n");
    for Refused { refusal, times, last } in recent {
        html.raw("<tr><td data-h=\"time\">")
            .text(&TIME.timestamp_to_string(last));
        html.raw("</td><td data-h=\"times\">").count(*times as usize);
        html.raw("</td><td data-h=\"caller\">").text(&caller(refusal));
        html.raw("</td><td data-h=\"request\">");
        let request = format!("{} {}", refusal.verb, refusal.object);
        match question(refusal) {
            Some(href) => html.link(&href, &request),
            None => html.text(&request),
        };
        html.raw("</td><td data-h=\"rule\">").text(&refusal.rule);
        html.raw("</td><td data-h=\"reason\">")
            .number(refusal.code.into())
            .raw(" ");
        html.text(&refusal.reason).raw("</td></tr>\n");
    }
    html.raw("</tbody></table>");
}

fn caller(refusal: &Refusal) -> String {
    let caller = match refusal.caller.as_str() {
        "" => format!("somebody at {}", refusal.address),
        caller => caller.to_owned(),
    };
    match refusal.acting_as.as_str() {
        "" => caller,
        subject => format!("{caller} as {subject}"),
    }
}

/// Where the same is asked, if it is about an object and somebody who can be asked about.
fn question(refusal: &Refusal) -> Option<Href> {
    let subject = match refusal.acting_as.as_str() {
        "" => &refusal.caller,
        subject => subject,
    };
    // Whoever has no such prefix could be taken for a node of that name.
    let is_user = [NODE_USER_PREFIX, SEED_USER_PREFIX, SERVICE_ACCOUNT_USER_PREFIX]
        .iter()
        .any(|prefix| subject.starts_with(prefix));
    let is_known = is_user && Question::is_caller(subject);
    let caller = subject.strip_prefix(NODE_USER_PREFIX).unwrap_or(subject);
    let is_verb = Question::verbs().any(|verb| verb == refusal.verb);
    (is_known && is_verb && !refusal.resource.is_empty()).then(|| {
        Href::to(WHY)
            .with("format", "html")
            .with("caller", caller)
            .with("verb", &refusal.verb)
            .with("resource", &refusal.resource)
            .with("namespace", &refusal.namespace)
            .with("name", &refusal.name)
            .with("fieldSelector", &refusal.field_selector)
            .with("labelSelector", &refusal.label_selector)
    })
}
