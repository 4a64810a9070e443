//! Sends a case to both sides and tells whether they answered alike.

use std::time::Duration;

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::{
    case::{Base, Case},
    differences,
    world::{Round, Side},
};
use crate::gate::{Answer, Client};

/// Both answers, as far as they can be compared.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    pub(super) codes: [u16; 2],
    pub(super) said: [Value; 2],
    /// What is stored afterwards, where something was to be.
    stored: Option<[Value; 2]>,
    /// They differed at first.
    pub(super) again: bool,
}

pub(super) enum Verdict {
    Alike,
    /// Meant to be so: the number of the difference.
    Meant(usize),
    Different,
}

/// Stands for an answer that did not come.
pub(crate) const BROKEN_OFF: u16 = 599;
/// How long informers may be behind when somebody is asked again.
const PAUSE: Duration = Duration::from_millis(400);

impl Answers {
    /// Of the guarded one.
    pub(super) fn message(&self) -> &str {
        Self::message_of(&self.said[0])
    }

    pub(super) fn gated_message(&self) -> &str {
        Self::message_of(&self.said[1])
    }

    /// What is not JSON is taken as it is.
    fn message_of(said: &Value) -> &str {
        said["message"].as_str().or(said.as_str()).unwrap_or_default()
    }

    pub(super) fn verdict(&self, case: &Case) -> Verdict {
        if self.codes[0] == self.codes[1] && self.said[0] == self.said[1] {
            return match &self.stored {
                Some([guarded, gated]) if guarded != gated => Verdict::Different,
                _ => Verdict::Alike,
            };
        }
        match differences::find(case, self) {
            Some(number) => Verdict::Meant(number),
            None => Verdict::Different,
        }
    }

    /// Whether an answer is a refusal in another form than the other one, for which the request has asked.
    fn differ_in_form(&self, case: &Case) -> bool {
        let [guarded, gated] = self.codes;
        let yaml = case.headers.contains(&("accept", "application/yaml"));
        gated >= 400 && (guarded == 406 || yaml && guarded == gated)
    }

    /// Whether the gate has let pass what kube-apiserver refuses to be written.
    pub(super) fn let_through(&self, case: &Case) -> bool {
        case.is_write() && self.codes[0] >= 400 && self.codes[1] < 400
    }

    /// Whether only one of them may have stored something.
    pub(super) fn parted(&self, case: &Case) -> bool {
        let good = |code: u16| (200..300).contains(&code);
        (case.stored || case.verb == "delete") && good(self.codes[0]) != good(self.codes[1])
    }

    pub(super) fn told(&self) -> String {
        let mut text = format!(
            "  guarded {} {}\n  gated   {} {}",
            self.codes[0], self.said[0], self.codes[1], self.said[1]
        );
        if let Some([guarded, gated]) = &self.stored
            && guarded != gated
        {
            text += &format!("\n  stored  {guarded}\n  gated   {gated}");
        }
        text
    }
}

/// Asks, and asks again after a pause where the answers differ and nothing was changed by that: either side may be behind. It is no
/// excuse for what the gate has let pass.
pub(super) async fn ask(round: &Round<'_>, case: &Case) -> Answers {
    let answers = once(round, case).await;
    let different = matches!(answers.verdict(case), Verdict::Different);
    if case.stored || answers.let_through(case) || !different {
        return answers;
    }
    if answers.differ_in_form(case) {
        // What is refused need not be written in a form that nobody knows, or in YAML. What is said has to be the same.
        let plain = Case {
            headers: Vec::new(),
            ..case.clone()
        };
        return once(round, &plain).await;
    }
    tokio::time::sleep(PAUSE).await;
    Answers {
        again: true,
        ..once(round, case).await
    }
}

async fn once(round: &Round<'_>, case: &Case) -> Answers {
    let clients = round.clients(case.who).await;
    let target = round.named(&case.target());
    let [guarded, gated] = &round.sides;
    // Those that are no nodes are asked about the same cluster twice.
    let gated = if case.who.is_node() { gated } else { guarded };
    let answers = tokio::join!(
        send(round, guarded, &clients[0], case, &target),
        send(round, gated, &clients[1], case, &target)
    );
    let answers = [
        answers.0.unwrap_or_else(|_| broken_off()),
        answers.1.unwrap_or_else(|error| panic!("{case}: {error}")),
    ];
    let said = [
        guarded.summary(&answers[0], &round.name),
        gated.summary(&answers[1], &round.name),
    ];
    let codes = [answers[0].code.as_u16(), answers[1].code.as_u16()];
    let mut both = Answers {
        codes,
        said,
        stored: None,
        again: false,
    };
    if case.stored && codes.iter().all(|code| (200..300).contains(code)) {
        both.stored = Some(after(round, case, &answers).await);
    }
    both
}

/// kube-apiserver panics over some patches, and ends the connection.
fn broken_off() -> Answer {
    Answer {
        code: StatusCode::from_u16(BROKEN_OFF).unwrap(),
        headers: HeaderMap::new(),
        body: String::new(),
    }
}

async fn send(round: &Round<'_>, side: &Side, client: &Client, case: &Case, target: &str) -> Result<Answer, String> {
    let (form, bytes) = match &case.body {
        None => (None, Vec::new()),
        Some(body) => {
            let stored = match &body.base {
                Base::Stored(path) => Some(stored(round, side, path).await),
                Base::Value(_) => None,
            };
            let document = body.document(stored.as_ref()).to_string();
            let document = serde_json::from_str(&side.here(&round.named(&document))).unwrap();
            let (form, bytes) = body.bytes(&document, &round.world.encoder);
            (Some(form), bytes)
        }
    };
    let response = client.open(case.request(target, form), &bytes).await?;
    if case.is_watch() && response.status() == 200 {
        // It would not end.
        let (head, _) = response.into_parts();
        return Ok(Answer {
            code: head.status,
            headers: head.headers,
            body: String::new(),
        });
    }
    Ok(Answer::read(response).await)
}

/// The object to change. Its managed fields are left to the server.
async fn stored(round: &Round<'_>, side: &Side, path: &str) -> Value {
    let mut object = side.admin.get(&round.named(path)).await.json();
    if object["kind"] == "Status" {
        return json!({});
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}

/// Reads what was written, and waits until whoever decides knows of it.
async fn after(round: &Round<'_>, case: &Case, answers: &[Answer; 2]) -> [Value; 2] {
    let path = |answer: &Answer| {
        let mut path = round.named(&case.path);
        if case.verb == "create" && case.sub.is_empty() {
            let name = answer.json()["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            path = format!("{}/{name}", path.trim_end_matches('/'));
        } else if !case.sub.is_empty() {
            path.truncate(path.rfind('/').unwrap());
        }
        path
    };
    let paths = [path(&answers[0]), path(&answers[1])];
    let [guarded, gated] = &round.sides;
    let read = tokio::join!(guarded.admin.get(&paths[0]), gated.admin.get(&paths[1]));
    let code = if read.0.code == 404 { 403 } else { 200 };
    match (case.resource, case.verb) {
        ("pods" | "resourceslices.resource.k8s.io", "create" | "delete") => round.until(case.who, &paths, code).await,
        ("resourceslices.resource.k8s.io", "deletecollection") => {
            let number = if case.who.node() == "n2" { 2 } else { 1 };
            for name in ["sl", "sx"] {
                let slice = format!("{}/{}-{name}{number}", paths[0], round.name);
                // Options of a delete can leave it there, and it may be another node's.
                if guarded.admin.get(&slice).await.code == 404 {
                    round.until(case.who, &[slice.clone(), slice], 403).await;
                }
            }
        }
        _ => {}
    }
    [
        guarded.summary(&read.0, &round.name),
        gated.summary(&read.1, &round.name),
    ]
}
