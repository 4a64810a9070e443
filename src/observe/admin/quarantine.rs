//! Who is in quarantine, over HTTP: GET lists, PUT holds somebody, DELETE lets go. Every change is an audit event.

use std::{collections::BTreeMap, fmt};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, header::USER_AGENT};
use http_body_util::Full;
use hyper::body::Incoming;
use jiff::{SignedDuration, Timestamp, Unit};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Access, Admin, Operator, answer, text, typed, whole};
use crate::{
    api::{clip, printable},
    graph::{Key, Kind},
    observe::audit::{Event, ResponseStatus, Stage, UserInfo},
    quarantine::{Change, Entry, List, Mode, Target},
    request::Query,
};

/// Who keeps the list.
pub trait Desk: Send + Sync {
    fn list(&self) -> List;

    /// Whether a restart forgets nobody.
    fn lasts(&self) -> bool;

    /// Puts a change in force. An error says that it is, but is not kept.
    fn change(&self, change: Change) -> BoxFuture<'_, Result<(), String>>;
}

/// Everybody who is held.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Quarantined {
    pub items: Vec<Entry>,
}

/// What came of a change.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Changed {
    pub text: String,
}

/// Whom to hold how. One of the first three says whom.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hold {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    pub mode: Option<Mode>,
    /// Seconds; nothing: until it is lifted.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    #[serde(default)]
    pub reason: String,
}

const MAX_TEXT: usize = 256;

impl Admin {
    pub(super) fn quarantined<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        answer(request, |_| {
            Ok(Quarantined {
                items: self.quarantine.list().entries().cloned().collect(),
            })
        })
    }

    /// Not for whoever happens to be on this machine.
    pub(super) async fn change_quarantine(&self, access: &Access, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let Access::Operator(operator) = access else {
            let message = "this needs the token in admin.tokenFile (scopegate quarantine takes it from there by --config or \
                           --token-file); where that is not set, an admin port with certificates\n";
            return text(StatusCode::UNAUTHORIZED, message);
        };
        match *request.method() {
            Method::PUT => self.hold(operator, request).await,
            _ => self.lift(operator, &request).await,
        }
    }

    async fn hold(&self, operator: &Operator, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let agent = agent(&request);
        let body = match whole(request).await {
            Ok(body) => body,
            Err(response) => return response,
        };
        let hold: Result<Hold, _> = serde_json::from_slice(&body);
        let entry = hold
            .map_err(|error| error.to_string())
            .and_then(|hold| hold.entry(operator));
        match entry {
            Ok(entry) => self.change(operator, agent, Change::Hold(entry)).await,
            Err(unclear) => text(StatusCode::BAD_REQUEST, unclear + "\n"),
        }
    }

    async fn lift<B>(&self, operator: &Operator, request: &Request<B>) -> Response<Full<Bytes>> {
        let query = Query::parse(request.uri().query().unwrap_or_default()).map_err(|malformed| malformed.to_string());
        let target = query.and_then(|query| {
            let read = Target::read(query.get("node"), query.get("serial"), query.get("publicKey"));
            read.map_err(|invalid| invalid.to_string())
        });
        match target {
            Err(unclear) => text(StatusCode::BAD_REQUEST, unclear + "\n"),
            Ok(target) if self.quarantine.list().get(&target).is_none() => {
                text(StatusCode::NOT_FOUND, format!("{target} is not in quarantine\n"))
            }
            Ok(target) => self.change(operator, agent(request), Change::Lift(target)).await,
        }
    }

    async fn change(&self, operator: &Operator, agent: String, change: Change) -> Response<Full<Bytes>> {
        let received = Timestamp::now();
        let changed = self.quarantine.change(change.clone()).await;
        let (code, told) = match &changed {
            Ok(()) => (StatusCode::OK, self.told(&change)),
            Err(error) => {
                let what = "in force at this gate, but not kept, and unknown to other replicas; it is tried again";
                (
                    StatusCode::INTERNAL_SERVER_ERROR,
                    format!("{}\n{what}: {error}", self.told(&change)),
                )
            }
        };
        self.audit
            .send(event(operator, agent, &change, received, code, changed.err()));
        let mut response = match serde_json::to_vec(&Changed { text: told.clone() }) {
            Ok(body) if code == StatusCode::OK => typed("application/json", body),
            _ => text(code, told + "\n"),
        };
        *response.status_mut() = code;
        response
    }

    fn told(&self, change: &Change) -> String {
        let entry = match change {
            Change::Lift(target) => return format!("{target} is no longer in quarantine"),
            Change::Hold(entry) => entry,
        };
        let mut told = entry.to_string();
        if let Target::Node(node) = &entry.target
            && !self.is_known(node)
        {
            told += &format!("\nnote: the gate knows of no Node {node:?} now; is that its name?");
        }
        if !self.quarantine.lasts() {
            told += "\nnote: a restart of the gate forgets it, and other replicas do not know; section quarantine of the \
                     configuration changes that";
        }
        told
    }

    fn is_known(&self, node: &str) -> bool {
        (self.known)().graph.facts(Key::cluster(Kind::Node, node)).is_some()
    }
}

impl Hold {
    fn entry(self, operator: &Operator) -> Result<Entry, String> {
        let target = Target::read(self.node.as_deref(), self.serial.as_deref(), self.public_key.as_deref());
        // Nobody wants to read nanoseconds.
        let since = Timestamp::now()
            .round(Unit::Second)
            .map_err(|error| error.to_string())?;
        let until = self
            .seconds
            .map(|seconds| since.checked_add(SignedDuration::from_secs(seconds.into())));
        if self.seconds == Some(0) {
            return Err("for should be longer than no time at all".to_owned());
        }
        Ok(Entry {
            target: target.map_err(|invalid| invalid.to_string())?,
            mode: self.mode.unwrap_or(Mode::Deny),
            reason: clip(&self.reason, MAX_TEXT),
            by: clip(&operator.name, MAX_TEXT),
            since,
            until: until.transpose().map_err(|error| error.to_string())?,
        })
    }
}

impl fmt::Display for Quarantined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.items {
            writeln!(f, "{}", printable(&entry.to_string()))?;
        }
        if self.items.is_empty() {
            writeln!(f, "nobody is in quarantine")?;
        }
        Ok(())
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text
            .lines()
            .try_for_each(|line| writeln!(f, "{}", printable(line)))
    }
}

fn agent<B>(request: &Request<B>) -> String {
    let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok());
    clip(agent.unwrap_or_default(), MAX_TEXT)
}

/// A change is no request of a client of upstream's; it is recorded like one, so that one log has it all.
fn event(
    operator: &Operator,
    user_agent: String,
    change: &Change,
    received: Timestamp,
    code: StatusCode,
    failure: Option<String>,
) -> Event {
    let (verb, told) = match change {
        Change::Hold(entry) => ("update", entry.to_string()),
        Change::Lift(target) => ("delete", format!("{target} is no longer in quarantine")),
    };
    Event {
        kind: "Event",
        api_version: "audit.k8s.io/v1",
        level: "Metadata",
        audit_id: Uuid::new_v4().to_string(),
        stage: Stage::ResponseComplete,
        request_uri: "/quarantine".to_owned(),
        verb: verb.to_owned(),
        user: UserInfo {
            username: operator.name.clone(),
            ..UserInfo::default()
        },
        source_ips: [operator.address.ip().to_string()],
        user_agent,
        object_ref: None,
        response_status: ResponseStatus {
            metadata: BTreeMap::new(),
            status: if failure.is_some() { "Failure" } else { "" },
            message: failure.map(|failure| clip(&failure, MAX_TEXT)).unwrap_or_default(),
            reason: "",
            code: code.as_u16(),
        },
        request_received_timestamp: received,
        stage_timestamp: Timestamp::now(),
        annotations: BTreeMap::from([("scopegate.dev/quarantine", told)]),
    }
}
