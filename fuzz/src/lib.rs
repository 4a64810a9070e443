//! A second reader of requests, to hold the gate's against: what Go and kube-apiserver do, step by step, without a
//! thought for speed or for how the gate does it. It forgives what they forgive and refuses next to nothing.

mod selectors;

use http::{Method, Request};
use scopegate::request::{Head, RequestInfo, Target};

use self::selectors::Term;

/// What a request is taken for.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct Reading {
    pub verb: String,
    /// Of what is no resource.
    pub path: String,
    pub group: String,
    pub version: String,
    pub namespace: String,
    pub resource: String,
    pub subresource: String,
    pub name: String,
    pub fields: Vec<Term>,
    pub labels: Vec<Term>,
}

/// Where Go gives up on a query.
const MAX_PIECES: usize = 10_000;

/// Refused, or the gate takes what it would forward for what kube-apiserver takes it for.
pub fn agree(method: &str, target: &str) {
    let Ok(method) = Method::from_bytes(method.as_bytes()) else {
        return;
    };
    let Ok(request) = Request::builder().method(method).uri(target.as_bytes()).body(()) else {
        return;
    };
    let Ok(head) = Head::read(request.into_parts().0) else {
        return;
    };
    let forwarded = head.uri().path_and_query().expect("a target").as_str();
    let other = go(head.method().as_str(), forwarded);
    assert_eq!(Some(gate(head.info())), other, "{} {forwarded}", head.method());
}

fn gate(info: &RequestInfo) -> Reading {
    let verb = info.verb.as_str().to_owned();
    match &info.target {
        Target::Path(path) => Reading {
            verb,
            path: path.clone(),
            ..Reading::default()
        },
        Target::Resource(request) => Reading {
            verb,
            path: String::new(),
            group: request.resource.group.clone(),
            version: request.version.clone(),
            namespace: request.namespace.clone(),
            resource: request.resource.resource.clone(),
            subresource: request.subresource.clone(),
            name: request.name.clone(),
            fields: (request.selectors.fields.iter())
                .map(|term| (term.field.clone(), term.operator.as_str(), vec![term.value.clone()]))
                .collect(),
            labels: (request.selectors.labels.iter())
                .map(|term| (term.key.clone(), term.operator.as_str(), term.values.clone()))
                .collect(),
        },
    }
}

/// kube-apiserver's reading, or nothing where it answers with an error of its own.
fn go(method: &str, target: &str) -> Option<Reading> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = unescape(path, false)?;
    let query = pairs(query);
    let mut reading = Reading {
        verb: method.to_ascii_lowercase(),
        ..Reading::default()
    };
    let mut parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let enough = match parts[0] {
        "api" => 3,
        "apis" => 4,
        _ => usize::MAX,
    };
    if parts.len() < enough {
        reading.path = path;
        return Some(reading);
    }
    if parts.remove(0) == "apis" {
        reading.group = parts.remove(0).to_owned();
    }
    reading.version = parts.remove(0).to_owned();
    let in_path = matches!(parts[0], "watch" | "proxy");
    reading.verb = match method {
        _ if in_path && parts.len() == 1 => return None,
        _ if in_path => parts.remove(0),
        "POST" => "create",
        "GET" | "HEAD" => "get",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "",
    }
    .to_owned();
    if parts[0] == "namespaces" && parts.len() > 1 {
        reading.namespace = parts[1].to_owned();
        if parts.len() > 2 && parts[2] != "status" && parts[2] != "finalize" {
            parts.drain(..2);
        }
    }
    reading.resource = parts[0].to_owned();
    reading.name = parts.get(1).copied().unwrap_or_default().to_owned();
    if reading.verb != "proxy" {
        reading.subresource = parts.get(2).copied().unwrap_or_default().to_owned();
    }
    if reading.name.is_empty() && reading.verb == "get" {
        list_or_watch(&mut reading, &query);
    }
    if reading.name.is_empty() && reading.verb == "delete" {
        reading.verb = "deletecollection".to_owned();
    }
    if !in_path && ["list", "watch", "deletecollection"].contains(&reading.verb.as_str()) {
        reading.fields = selectors::fields(first(&query, "fieldSelector").unwrap_or_default()).unwrap_or_default();
        reading.labels = selectors::labels(first(&query, "labelSelector").unwrap_or_default()).unwrap_or_default();
    }
    Some(reading)
}

fn list_or_watch(reading: &mut Reading, query: &[(String, String)]) {
    let number = |key| first(query, key).is_none_or(|value| value.parse::<i64>().is_ok());
    let fields = selectors::fields(first(query, "fieldSelector").unwrap_or_default());
    let labels = selectors::labels(first(query, "labelSelector").unwrap_or_default());
    let decodes = fields.is_some() && labels.is_some() && number("limit") && number("timeoutSeconds");
    let watch = first(query, "watch").is_some_and(|value| {
        // Folding takes the long s for an s. Lower-casing, which is left where an option does not decode, does not.
        let value = match decodes {
            true => value.replace('\u{17f}', "s"),
            false => value.to_owned(),
        };
        value != "0" && value.to_ascii_lowercase() != "false"
    });
    reading.verb = if watch { "watch" } else { "list" }.to_owned();
    if let (true, Some(fields)) = (decodes, fields) {
        let pinned = fields.iter().find(|term| term.0 == "metadata.name" && term.1 == "=");
        let name = pinned.map(|term| term.2[0].as_str()).unwrap_or_default();
        if name != "." && name != ".." && !name.contains('/') && !name.contains('%') {
            reading.name = name.to_owned();
        }
    }
}

fn first<'a>(query: &'a [(String, String)], key: &str) -> Option<&'a str> {
    let (_, value) = query.iter().find(|(other, _)| other == key)?;
    Some(value)
}

/// What Go keeps of a query: pieces that it does not like are left out without a word.
fn pairs(query: &str) -> Vec<(String, String)> {
    if query.matches('&').count() + 1 > MAX_PIECES {
        return Vec::new();
    }
    let kept = query
        .split('&')
        .filter(|piece| !piece.is_empty() && !piece.contains(';'));
    kept.filter_map(|piece| {
        let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
        Some((unescape(key, true)?, unescape(value, true)?))
    })
    .collect()
}

fn unescape(text: &str, plus_is_space: bool) -> Option<String> {
    let bytes = text.as_bytes();
    let mut plain = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                let hex = text
                    .get(at + 1..at + 3)
                    .filter(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
                plain.push(u8::from_str_radix(hex, 16).ok()?);
                at += 2;
            }
            b'+' if plus_is_space => plain.push(b' '),
            byte => plain.push(byte),
        }
        at += 1;
    }
    Some(String::from_utf8_lossy(&plain).into_owned())
}
