//! Who is in quarantine, over HTTP: GET lists, PUT holds somebody, DELETE lets go. Every attempt to change it is an audit event.

use std::fmt;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use jiff::{RoundMode, SignedDuration, Timestamp, TimestampRound, Unit};
use serde::{Deserialize, Serialize};
use tracing::warn;

use super::{Access, Admin, Operator, answer, record::Record, text, typed, whole};
use crate::{
    api::{clip, printable},
    caller::Caller,
    graph::{Key, Kind},
    quarantine::{Change, Entry, List, Mode, Target},
    request::Query,
};

/// Who keeps the list.
pub trait Desk: Send + Sync {
    /// Who is held; nothing as long as nobody knows.
    fn list(&self) -> Option<List>;

    /// Why the list may not be what is kept, if so.
    fn doubt(&self) -> Option<String>;

    /// Whether somebody is held in any way.
    fn holds(&self, caller: &Caller) -> bool;

    /// Whether a restart forgets nobody.
    fn lasts(&self) -> bool;

    /// Puts a change in force. An error says that it is, but is not kept.
    fn change(&self, change: Change) -> BoxFuture<'_, Result<(), String>>;
}

/// Everybody who is held.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Quarantined {
    pub items: Vec<Entry>,
    /// Why this may not be what is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
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

/// What an operator wants.
enum Wish {
    Hold(Entry),
    Lift(Target),
}

/// What comes of a wish: a code, and what the operator reads.
type Outcome = (StatusCode, String);

const NOT_KNOWN: &str = "who is in quarantine could not be read yet";
const NO_OPERATOR: &str = "this needs the token in admin.tokenFile (scopegate quarantine takes it from there by --config or \
                           --token-file); where that is not set, an admin port with certificates";
const MAX_TEXT: usize = 256;

impl Admin {
    pub(super) fn quarantined<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        match self.quarantine.list() {
            None => text(StatusCode::SERVICE_UNAVAILABLE, format!("{NOT_KNOWN}\n")),
            Some(list) => answer(request, |_| {
                Ok(Quarantined {
                    items: list.entries().cloned().collect(),
                    doubt: self.quarantine.doubt(),
                })
            }),
        }
    }

    pub(super) async fn change_quarantine(&self, access: Access, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let record = Record::of(&access, &request);
        let wish = match &access {
            Access::Operator(operator) => wish(operator, request).await,
            // Not whoever happens to be on this machine.
            Access::Local | Access::Probe => Err((StatusCode::UNAUTHORIZED, NO_OPERATOR.to_owned())),
        };
        let operator = match access {
            Access::Operator(operator) => Some(operator),
            Access::Local | Access::Probe => None,
        };
        // Carried out and recorded to the end, also if the client hangs up.
        let admin = self.clone();
        let done = tokio::spawn(async move {
            // Asked again: a body can take its time, and meanwhile whoever sends it may be held itself.
            let held = operator
                .and_then(|operator| operator.caller)
                .is_some_and(|caller| admin.quarantine.holds(&caller));
            let (code, told) = match wish {
                Ok(_) if held => (
                    StatusCode::UNAUTHORIZED,
                    "whoever is in quarantine is no operator".to_owned(),
                ),
                Ok(Wish::Hold(entry)) => admin.hold(entry).await,
                Ok(Wish::Lift(target)) => admin.lift(&target, &record).await,
                Err(refused) => refused,
            };
            admin.audit.send(record.event(code, "scopegate.dev/quarantine", &told));
            (code, told)
        });
        match done.await {
            Ok((StatusCode::OK, told)) => match serde_json::to_vec(&Changed { text: told }) {
                Ok(body) => typed("application/json", body),
                Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
            },
            Ok((code, told)) => text(code, told + "\n"),
            Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        }
    }

    async fn hold(&self, entry: Entry) -> Outcome {
        // As long as nobody knows who is held nobody passes, and what is said might take the place of something else.
        let Some(list) = self.quarantine.list() else {
            return (
                StatusCode::SERVICE_UNAVAILABLE,
                format!("{NOT_KNOWN}; nobody passes before that"),
            );
        };
        let before = list.get(&entry.target).cloned();
        let kept = self.quarantine.change(Change::Hold(entry.clone())).await;
        let mut told = entry.to_string();
        if let Some(before) = before {
            told += &format!("\nnote: this takes the place of another: {before}");
        }
        if let Target::Node(node) = &entry.target
            && !self.is_known(node)
        {
            told += &format!("\nnote: the gate knows of no Node {node:?} now; is that its name?");
        }
        if !self.quarantine.lasts() {
            told += "\nnote: a restart of the gate forgets it, and other replicas do not know; section quarantine of the \
                     configuration changes that";
        }
        outcome(kept, told)
    }

    async fn lift(&self, target: &Target, record: &Record) -> Outcome {
        let Some(list) = self.quarantine.list() else {
            return (StatusCode::SERVICE_UNAVAILABLE, NOT_KNOWN.to_owned());
        };
        let Some(entry) = list.get(target) else {
            return (StatusCode::NOT_FOUND, format!("{target} is not in quarantine"));
        };
        warn!(%target, by = record.user(), "an operator lifts a quarantine");
        let kept = self.quarantine.change(Change::Lift(entry.clone())).await;
        match self.quarantine.list().as_ref().and_then(|list| list.get(target)) {
            Some(now) => {
                let told = format!(
                    "{now}\nit was held anew meanwhile, and is not let go; if that is what you want, say it again"
                );
                (StatusCode::CONFLICT, told)
            }
            None => outcome(kept, format!("{target} is no longer in quarantine")),
        }
    }

    fn is_known(&self, node: &str) -> bool {
        (self.known)()
            .nodes
            .graph
            .facts(Key::cluster(Kind::Node, node))
            .is_some()
    }
}

fn outcome(kept: Result<(), String>, told: String) -> Outcome {
    match kept {
        Ok(()) => (StatusCode::OK, told),
        Err(error) => {
            let what = "in force at this gate, but not kept, and unknown to other replicas; it is tried again";
            (StatusCode::INTERNAL_SERVER_ERROR, format!("{told}\n{what}: {error}"))
        }
    }
}

async fn wish(operator: &Operator, request: Request<Incoming>) -> Result<Wish, Outcome> {
    let unclear = |why: String| (StatusCode::BAD_REQUEST, why);
    if request.method() == Method::DELETE {
        let query = Query::parse(request.uri().query().unwrap_or_default());
        let query = query.map_err(|malformed| unclear(malformed.to_string()))?;
        let target = Target::read(query.get("node"), query.get("serial"), query.get("publicKey"));
        return target.map(Wish::Lift).map_err(|invalid| unclear(invalid.to_string()));
    }
    let Ok(body) = whole(request).await else {
        return Err(unclear("the body could not be read".to_owned()));
    };
    let hold: Hold = serde_json::from_slice(&body).map_err(|error| unclear(error.to_string()))?;
    hold.entry(operator).map(Wish::Hold).map_err(unclear)
}

impl Hold {
    fn entry(self, operator: &Operator) -> Result<Entry, String> {
        let target = Target::read(self.node.as_deref(), self.serial.as_deref(), self.public_key.as_deref());
        // Nobody wants to read nanoseconds.
        let seconds = TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Trunc);
        let since = Timestamp::now().round(seconds).map_err(|error| error.to_string())?;
        if self.seconds == Some(0) {
            return Err("for should be longer than no time at all".to_owned());
        }
        let until = self
            .seconds
            .map(|seconds| since.checked_add(SignedDuration::from_secs(seconds.into())));
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
        match &self.doubt {
            Some(doubt) => writeln!(f, "note: this may not be what is kept: {}", printable(doubt)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text
            .lines()
            .try_for_each(|line| writeln!(f, "{}", printable(line)))
    }
}
