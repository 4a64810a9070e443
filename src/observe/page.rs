//! The pages of the admin port: the graph, why something is allowed or refused, and who was refused of late.
//!
//! Plain HTML, made here, without scripts and without anything from elsewhere. What it shows was named by whoever can create an
//! object or send a request, so all of it goes through `html`, and browsers are told to run nothing.

mod graph;
mod html;
mod refusals;
mod svg;
mod why;

use std::sync::{Arc, LazyLock};

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use tokio::{sync::Semaphore, task::spawn_blocking};

use self::html::{Href, Html};
use super::refusals::Refusals;
use crate::{authorizer::Authorizer, graph::Snapshot, request::Query, why::Known};

/// What the pages are made from.
#[derive(Clone)]
pub struct Pages {
    /// The first is shown unless another is asked for.
    graphs: Vec<Graph>,
    refusals: Arc<Refusals>,
    turns: Arc<Semaphore>,
}

/// A graph with a name.
#[derive(Clone)]
pub struct Graph {
    pub name: &'static str,
    pub look: Arc<dyn Fn() -> Seen + Send + Sync>,
}

/// A graph as it is now.
#[derive(Clone, Debug)]
pub struct Seen {
    pub graph: Arc<Snapshot>,
    /// Why requests are not decided from it now, if they are not.
    pub doubt: Option<String>,
}

pub const GRAPH: &str = "/debug/resource-dependency-graph";
pub const REFUSALS: &str = "/debug/refusals";
pub const WHY: &str = "/debug/why";

/// Pages that are made at a time: looking must not take the cores from those who are looked at.
const AT_A_TIME: usize = 2;

/// Scripts, frames and anything from elsewhere are not for these pages. The icon is an empty one, so that none is asked for.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = STANDARD.encode(digest(&SHA256, STYLE.as_bytes()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; img-src data:; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
});

const STYLE: &str = include_str!("page/style.css");

impl Pages {
    pub fn new(graphs: Vec<Graph>, refusals: Arc<Refusals>) -> Self {
        let turns = Arc::new(Semaphore::new(AT_A_TIME));
        Self {
            graphs,
            refusals,
            turns,
        }
    }

    pub async fn graph(&self, query: Query) -> Response<Full<Bytes>> {
        let graphs = self.graphs.clone();
        self.take_turns(move || graph::page(&graphs, &query)).await
    }

    pub(super) async fn why(&self, query: Query, authorizer: Arc<Authorizer>, known: Known) -> Response<Full<Bytes>> {
        self.take_turns(move || why::page(&query, &authorizer, &known)).await
    }

    pub(super) fn refusals(&self, query: &Query) -> Response<Full<Bytes>> {
        respond(refusals::page(&self.refusals.recent(), query))
    }

    /// Where it keeps nobody waiting. The turn is over when the page is made, also if nobody is there any more to read it.
    async fn take_turns(&self, make: impl FnOnce() -> Html + Send + 'static) -> Response<Full<Bytes>> {
        let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else {
            let message = "as many pages as may be made at a time are being made; try again in a moment\n";
            let mut response = super::admin::text(StatusCode::TOO_MANY_REQUESTS, message);
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return response;
        };
        let made = spawn_blocking(move || {
            let _turn = turn;
            make()
        });
        match made.await {
            Ok(html) => respond(html),
            Err(_) => super::admin::text(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made\n"),
        }
    }
}

/// What stands around every page.
fn page(title: &'static str, head: impl FnOnce(&mut Html), body: impl FnOnce(&mut Html)) -> Html {
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>scopegate: ")
        .raw(title)
        .raw("</title><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")
        .raw("<link rel=\"icon\" href=\"data:,\"><style>")
        .raw(STYLE)
        .raw("</style>");
    head(&mut html);
    html.raw("</head><body><nav><strong>scopegate</strong>");
    for (name, href) in [
        ("graph", Href::to(GRAPH)),
        ("why", Href::to(WHY).with("format", "html")),
        ("refusals", Href::to(REFUSALS)),
    ] {
        if name == title {
            html.raw("<span aria-current=\"page\">").raw(name).raw("</span>");
        } else {
            html.link(&href, name);
        }
    }
    html.raw("</nav><main>\n");
    body(&mut html);
    html.raw("</main></body></html>\n");
    html
}

fn respond(html: Html) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(html.into_string().into()));
    let fixed: [(HeaderName, &'static str); 4] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let fixed = fixed.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(fixed);
    let policy = HeaderValue::clone(&POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// A field of a form.
fn input(html: &mut Html, label: &'static str, name: &'static str, value: &str) {
    html.raw("<label>").raw(label).raw("<input name=\"").raw(name);
    html.raw("\" autocapitalize=\"none\" autocomplete=\"off\" spellcheck=\"false\" value=");
    html.value(value).raw("></label>");
}

fn option(html: &mut Html, value: &str, text: &str, is_active: bool) {
    html.raw("<option value=").value(value);
    html.raw(if is_active { " selected>" } else { ">" });
    html.text(text).raw("</option>");
}

#[cfg(test)]
mod tests;
