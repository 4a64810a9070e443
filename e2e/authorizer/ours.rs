//! The gate's answers: objects as its informers read them, in its graph, judged as requests are.

use scopegate::{
    authorizer::{Attributes, Authorizer, explain},
    decision::{Decision, Reason, Verdict},
    graph::{
        Asserts, Kind, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodCertificateRequest, ResourceSlice,
        ServiceAccount, Snapshot, Store, VolumeAttachment, Watched,
    },
    quarantine::Quarantine,
};
use serde_json::Value;

use super::{
    Answer,
    question::Question,
    story::{Step, Story, id},
};

/// One answer for each question of the story.
pub(super) fn answers(story: &Story) -> Vec<Answer> {
    let authorizer = story.release.authorizer();
    let mut store = Store::default();
    let mut graph = store.publish();
    let mut answers = Vec::new();
    for step in &story.steps {
        match step {
            Step::Apply(object) => store.apply(read(object).as_ref()),
            Step::Delete(object) => store.delete(read(object).key()),
            Step::Relist(kind, gone) => {
                let gone: Vec<_> = gone.iter().map(id).collect();
                store.retain(self::kind(kind), |key| {
                    !gone
                        .iter()
                        .any(|(_, namespace, name)| namespace == key.namespace && name == key.name)
                });
            }
            Step::Ask(question) => {
                if store.is_changed() {
                    graph = store.publish();
                }
                answers.push(answer(&authorizer, &graph, question));
            }
        }
    }
    answers
}

fn answer(authorizer: &Authorizer, graph: &Snapshot, question: &Question) -> Answer {
    let (caller, info) = (question.caller(), question.info());
    let decision = authorizer.decide(Attributes {
        caller: &caller,
        info: &info,
        impersonates: false,
        quarantine: Quarantine::nobody(),
        graph,
    });
    // What stands behind the evidence is what the client reads.
    let bare = Decision {
        reason: Reason::None,
        ..decision.clone()
    };
    let (whole, evidence) = (explain(&decision, &caller, &info), explain(&bare, &caller, &info));
    let reason = whole.strip_prefix(&evidence).unwrap();
    Answer {
        allowed: decision.verdict == Verdict::Allow,
        reason: reason.strip_prefix(": ").unwrap_or(reason).to_owned(),
    }
}

fn read(object: &Value) -> Box<dyn Asserts> {
    fn read<T: Watched>(object: &Value) -> Box<dyn Asserts> {
        Box::new(serde_json::from_str::<T>(&object.to_string()).unwrap())
    }
    match kind(object["kind"].as_str().unwrap()) {
        Kind::Node => read::<Node>(object),
        Kind::PersistentVolume => read::<PersistentVolume>(object),
        Kind::PersistentVolumeClaim => read::<PersistentVolumeClaim>(object),
        Kind::Pod => read::<Pod>(object),
        Kind::PodCertificateRequest => read::<PodCertificateRequest>(object),
        Kind::ResourceSlice => read::<ResourceSlice>(object),
        Kind::ServiceAccount => read::<ServiceAccount>(object),
        Kind::VolumeAttachment => read::<VolumeAttachment>(object),
        kind => panic!("nobody watches {kind:?}"),
    }
}

fn kind(text: &str) -> Kind {
    let found = Kind::ALL.iter().find(|kind| text.eq_ignore_ascii_case(kind.as_str()));
    *found.unwrap_or_else(|| panic!("there is no kind {text}"))
}
