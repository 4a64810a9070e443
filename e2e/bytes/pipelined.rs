//! Several requests in one write, and such as hide another one: upstream sees as many as the gate accounts for.

use super::{
    Servers,
    case::{Case, ID},
    framing::{REVIEW, REVIEWS},
    wire,
};

/// What is written at once, each time; each request has an identifier of its own.
fn writes() -> Vec<Vec<String>> {
    let number = std::cell::Cell::new(0);
    let id = || {
        number.set(number.get() + 1);
        format!("{ID}-{}", number.get())
    };
    let get = |target: &str, more: &str| {
        format!(
            "GET {target} HTTP/1.1\r\nHost: localhost\r\nAudit-ID: {}\r\n{more}\r\n",
            id()
        )
    };
    let post = |framing: &str, body: &str| {
        let head = format!("POST {REVIEWS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
        format!("{head}Audit-ID: {}\r\n{framing}\r\n{body}", id())
    };
    let allowed = || get("/api/v1/nodes/by1", "");
    let refused = || get("/api/v1/namespaces/bytes/secrets/p2", "");
    let malformed = || get("/api/v1/pods?a;b", "");
    let last = || get("/version", "Connection: close\r\n");
    let hidden = || get("/api/v1/namespaces/bytes/secrets/p1", "");
    let chunked = format!("{:x}\r\n{REVIEW}\r\n0\r\n\r\n", REVIEW.len());
    let length = format!("Content-Length: {}\r\n", REVIEW.len());
    let te = "Transfer-Encoding: chunked\r\n";
    vec![
        vec![allowed(), allowed(), last()],
        vec![refused(), allowed(), last()],
        vec![allowed(), refused(), last()],
        vec![malformed(), allowed(), last()],
        vec![refused(), refused(), refused(), last()],
        vec![post(&length, REVIEW), allowed(), last()],
        vec![post(te, &chunked), refused(), allowed(), last()],
        // Whoever believes the length reads a request where the other one reads a body.
        vec![post(&format!("{length}{te}"), "0\r\n\r\n"), hidden(), last()],
        vec![post(&format!("{te}{length}"), "0\r\n\r\n"), hidden(), last()],
        vec![post(&format!("Content-Length: 0\r\n{te}"), &chunked), hidden(), last()],
        vec![
            post(&format!("Transfer-Encoding: x\r\n{length}"), REVIEW),
            hidden(),
            last(),
        ],
        vec![post("Content-Length: 0\r\n", REVIEW), hidden(), last()],
        vec![post("Content-Length: 5\r\n", REVIEW), hidden(), last()],
        vec![
            post("Content-Length: 0\r\nContent-Length: 70\r\n", REVIEW),
            hidden(),
            last(),
        ],
        // The body is the next request.
        vec![post("Content-Length: 900\r\n", &hidden()), "x".repeat(900), last()],
        vec![get("/version", "Content-Length: 60\r\n"), hidden(), last()],
        vec![
            get("/api/v1/namespaces/bytes/secrets/p2", "Content-Length: 60\r\n"),
            hidden(),
            last(),
        ],
        vec![get("/version", te), "0\r\n\r\n".to_owned(), hidden(), last()],
        vec![
            get("/version", te),
            "5\r\nhello\r\n0\r\nX: y\r\n\r\n".to_owned(),
            hidden(),
            last(),
        ],
        vec![post(te, "1\r\n{\r\n0;\n\n\r\n"), hidden(), last()],
        vec![
            post("Expect: 100-continue\r\nContent-Length: 0\r\n", ""),
            hidden(),
            last(),
        ],
        // Behind a wish to speak something else there is no HTTP.
        vec![
            get("/version", "Connection: upgrade\r\nUpgrade: websocket\r\n"),
            hidden(),
            last(),
        ],
        vec![
            get(
                "/api/v1/namespaces/bytes/pods/p1/exec?command=a",
                "Connection: upgrade\r\nUpgrade: websocket\r\n",
            ),
            hidden(),
            last(),
        ],
        vec![
            format!("OPTIONS * HTTP/1.1\r\nHost: localhost\r\nAudit-ID: {}\r\n\r\n", id()),
            hidden(),
            last(),
        ],
        vec![
            format!("HEAD {} HTTP/1.1\r\nHost: localhost\r\n\r\n", "/api/v1/nodes/by1"),
            hidden(),
            last(),
        ],
    ]
}

/// Says how many requests were written, and how many of them got through.
pub(super) async fn nothing_is_smuggled(servers: &Servers) -> [usize; 2] {
    let mut ids = Vec::new();
    for (number, write) in writes().into_iter().enumerate() {
        let id = format!("piped-{number:04}");
        let bytes = Case::of("pipelined", write.concat()).with(&id);
        let answers = wire::answers(&servers.open, servers.serving, &bytes).await;
        ids.push((id, answers, write));
    }
    let logs = servers.settled().await;
    let mut failures = logs.unaccounted();
    let (mut written, mut through) = (0, 0);
    for (id, answers, write) in ids {
        let (upstream, forwarded) = logs.counted(&id);
        (written, through) = (written + write.len(), through + upstream);
        if upstream != forwarded {
            failures.push(format!(
                "upstream saw {upstream}, the gate forwarded {forwarded}: {write:?}"
            ));
        }
        if upstream > answers.len() {
            failures.push(format!(
                "upstream saw {upstream}, the client got {answers:?}: {write:?}"
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(through > 20, "only {through} got through");
    [written, through]
}
