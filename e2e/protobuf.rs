//! The gate and kube-apiserver read protobuf bodies alike: what the gate does not refuse it takes for what they take it for.
//!
//! `e2e/oracle/protobuf` writes and reads bodies with kube-apiserver's own code, and knows the struct tags of the Go types. The
//! objects are made of these tags, so every field of every kind is among them, also those that the gate passes over.

mod alike;
mod mutate;
mod objects;
mod theirs;

use scopegate::protobuf::{
    BINDING, CERTIFICATE_SIGNING_REQUEST, CLUSTER_ROLE_BINDING, CONFIG_MAP, CORE_EVENT, CRON_JOB, CSI_NODE, DAEMON_SET,
    DELETE_OPTIONS, DEPLOYMENT, EVENT, EVICTION, Envelope, JOB, Kind, LEASE, Message, NODE, PERSISTENT_VOLUME_CLAIM,
    POD, POD_CERTIFICATE_REQUEST, POD_TEMPLATE, REPLICA_SET, REPLICATION_CONTROLLER, RESOURCE_SLICE, SECRET,
    SERVICE_ACCOUNT, STATEFUL_SET, TOKEN_REQUEST, text_field,
};
use serde_json::Value;

use self::theirs::{Oracle, Type};
use crate::{
    oracle,
    random::{self, Random},
    report,
};

/// Everything that the gate looks into: what nodes and seeds send, and what carries the template of a pod.
static KINDS: &[(&str, &str, &Message)] = &[
    ("v1", "Pod", &POD),
    ("v1", "Event", &CORE_EVENT),
    ("events.k8s.io/v1", "Event", &EVENT),
    ("v1", "Node", &NODE),
    ("v1", "PersistentVolumeClaim", &PERSISTENT_VOLUME_CLAIM),
    ("coordination.k8s.io/v1", "Lease", &LEASE),
    ("storage.k8s.io/v1", "CSINode", &CSI_NODE),
    ("resource.k8s.io/v1", "ResourceSlice", &RESOURCE_SLICE),
    ("resource.k8s.io/v1beta2", "ResourceSlice", &RESOURCE_SLICE),
    ("resource.k8s.io/v1beta1", "ResourceSlice", &RESOURCE_SLICE),
    (
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        &CERTIFICATE_SIGNING_REQUEST,
    ),
    (
        "certificates.k8s.io/v1beta1",
        "PodCertificateRequest",
        &POD_CERTIFICATE_REQUEST,
    ),
    ("authentication.k8s.io/v1", "TokenRequest", &TOKEN_REQUEST),
    ("policy/v1", "Eviction", &EVICTION),
    ("policy/v1beta1", "Eviction", &EVICTION),
    ("v1", "DeleteOptions", &DELETE_OPTIONS),
    ("v1", "Binding", &BINDING),
    ("v1", "PodTemplate", &POD_TEMPLATE),
    ("v1", "ReplicationController", &REPLICATION_CONTROLLER),
    ("apps/v1", "ReplicaSet", &REPLICA_SET),
    ("apps/v1", "Deployment", &DEPLOYMENT),
    ("apps/v1", "StatefulSet", &STATEFUL_SET),
    ("apps/v1", "DaemonSet", &DAEMON_SET),
    ("batch/v1", "Job", &JOB),
    ("batch/v1", "CronJob", &CRON_JOB),
    ("v1", "ConfigMap", &CONFIG_MAP),
    ("v1", "Secret", &SECRET),
    ("v1", "ServiceAccount", &SERVICE_ACCOUNT),
    (
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        &CLUSTER_ROLE_BINDING,
    ),
];

const OBJECTS_EACH: usize = 100;
const MUTATIONS_EACH: usize = 15;

#[test]
fn tables_are_what_the_go_types_say() {
    let Some(program) = oracle::path("protobuf") else {
        return;
    };
    let mut oracle = Oracle::start(&program);
    for (api_version, kind, message) in KINDS {
        compare_tables(message, &oracle.root(api_version, kind), kind);
    }
}

fn compare_tables(message: &Message, theirs: &Type, path: &str) {
    for field in message.fields {
        let path = format!("{path}.{}", field.name);
        let their = theirs
            .field(field.number)
            .unwrap_or_else(|| panic!("{path}: there is no {}", field.number));
        assert_eq!(field.name, their.name, "{path}");
        let (kind, inner) = match field.kind {
            Kind::Text => ("text", None),
            Kind::Texts => ("texts", None),
            Kind::Bytes => ("bytes", None),
            Kind::Bool => ("bool", None),
            Kind::Int32 => ("int32", None),
            Kind::Int64 => ("int64", None),
            Kind::Time => ("time", None),
            Kind::Message(inner) => ("message", Some(inner)),
            Kind::Messages(inner) => ("messages", Some(inner)),
            Kind::Inline(inner) => ("inline", Some(inner)),
            Kind::TextMap => ("textMap", None),
            Kind::BytesMap => ("bytesMap", None),
            Kind::QuantityMap => ("quantityMap", None),
            Kind::Ignored => continue,
        };
        assert_eq!(kind, their.kind, "{path}");
        if let Some(inner) = inner {
            compare_tables(inner, &theirs.of(their), &path);
        }
    }
    if message.closed {
        for their in theirs.fields() {
            let ours = message.fields.iter().find(|field| field.number == their.number);
            assert!(ours.is_some(), "{path}: nobody knows {}, {}", their.number, their.name);
        }
    }
}

#[test]
fn bodies_are_read_alike() {
    let Some(program) = oracle::path("protobuf") else {
        return;
    };
    let mut oracle = Oracle::start(&program);
    let mut random = Random::new(random::seed());
    let mut compared = 0;
    for (api_version, kind, message) in KINDS {
        let root = oracle.root(api_version, kind);
        let objects: Vec<Value> = (0..OBJECTS_EACH)
            .map(|_| objects::object(&mut random, &root, api_version, kind))
            .collect();
        let bodies = oracle.encode(&objects);
        for (body, theirs) in bodies.iter().zip(oracle.decode(&bodies)) {
            let ours = read(body, message).unwrap();
            let theirs = theirs.unwrap();
            alike::check(message, &root, &ours, &theirs).unwrap_or_else(|why| panic!("{kind} {theirs}: {why}"));
        }

        let mutated: Vec<Vec<u8>> = bodies
            .iter()
            .flat_map(|body| [body; MUTATIONS_EACH])
            .map(|body| mutate::body(&mut random, &root, body))
            .collect();
        let (mut both, mut only_theirs) = (0, 0);
        for (body, theirs) in mutated.iter().zip(oracle.decode(&mutated)) {
            // What upstream refuses the gate may take for anything.
            let Ok(theirs) = theirs else { continue };
            let Ok(ours) = read(body, message) else {
                only_theirs += 1;
                continue;
            };
            both += 1;
            alike::check(message, &root, &ours, &theirs).unwrap_or_else(|why| panic!("{kind} {body:02x?}: {why}"));
        }
        println!(
            "{api_version} {kind}: {both} read alike, {only_theirs} refused by the gate alone, of {}",
            mutated.len()
        );
        assert!(both > mutated.len() / 4, "too little was compared");
        compared += bodies.len() + both;
    }
    let what = "protobuf bodies, as the gate and kube-apiserver's own code read them";
    report::compared("protobuf", what, compared);
}

#[test]
fn what_is_appended_is_merged() {
    let Some(program) = oracle::path("protobuf") else {
        return;
    };
    let mut oracle = Oracle::start(&program);
    let mut random = Random::new(random::seed());
    for (api_version, kind, _) in KINDS.iter().filter(|(_, kind, _)| *kind != "DeleteOptions") {
        let root = oracle.root(api_version, kind);
        let objects: Vec<Value> = (0..10)
            .map(|_| objects::object(&mut random, &root, api_version, kind))
            .collect();
        let bodies = oracle.encode(&objects);
        let pin = text_field(&[1, 6], "25");
        let pinned: Vec<_> = bodies
            .iter()
            .map(|body| Envelope::read(body).unwrap().append(&pin))
            .collect();
        for (before, after) in oracle.decode(&bodies).into_iter().zip(oracle.decode(&pinned)) {
            let mut expected = before.unwrap();
            expected["metadata"]["resourceVersion"] = "25".into();
            assert_eq!(after.unwrap(), expected);
        }
    }
}

/// As the rules see it.
fn read(body: &[u8], message: &Message) -> Result<Value, String> {
    let envelope = Envelope::read(body).map_err(|error| error.to_string())?;
    let json = envelope.object(message).map_err(|error| error.to_string())?;
    let mut object: Value = serde_json::from_slice(&json.to_vec()).unwrap();
    object["apiVersion"] = envelope.api_version.into();
    object["kind"] = envelope.kind.into();
    Ok(object)
}
