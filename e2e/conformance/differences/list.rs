//! All of them.

use super::{ANY, Difference, changes, creates_pod, difference, gated, has_type, is_anothers, says};
use crate::{
    conformance::{
        case::{Form, Who},
        compare::BROKEN_OFF,
        mutation::Change,
    },
    release,
};

/// What kube-apiserver says of a body that it cannot read.
const UNREADABLE: &[&str] = &[
    "the object provided is unrecognized",
    "cannot be handled as a",
    "error decoding patch",
    "json: cannot unmarshal",
    "unexpected end of JSON input",
    "does not match the expected",
    "no kind \"",
    "unable to decode",
    "invalid character",
];
/// What the gate says where something is not the node's own, which it knows without the body.
const OTHERS: &[&str] = &[
    "is not allowed to modify node \"",
    "can only update pod status for pods with spec.nodeName set to itself",
    "can only delete pods with spec.nodeName set to itself",
    "can only evict pods with spec.nodeName set to itself",
];
const SPOILED: &str = "is invalid: patch: Invalid value";
const UNKNOWN_FORMAT: &str = "the body of the request was in an unknown format";

/// The first that fits is it.
pub(in crate::conformance) const DIFFERENCES: &[Difference] = &[
    difference(
        "masters",
        &[(ANY, 403)],
        |case, answers| case.who == Who::Master && gated(answers, "pass only if callers.allowMasters names them"),
        "members of system:masters pass only if callers.allowMasters names them",
    ),
    difference(
        "parameter-twice",
        &[(ANY, 400)],
        |case, answers| case.query.len() > 1 && gated(answers, "is given more than once"),
        "kube-apiserver takes the first; other readers take the last",
    ),
    difference(
        "media-types",
        &[(415, 415)],
        |_, answers| says(answers, &[UNKNOWN_FORMAT, "415: Unsupported Media Type"]) && gated(answers, UNKNOWN_FORMAT),
        "the gate names the types that it takes",
    ),
    difference(
        "yaml",
        &[(ANY, 415)],
        |case, answers| has_type(case, "application/yaml") && gated(answers, UNKNOWN_FORMAT),
        "readers of YAML differ; kubelets send none",
    ),
    difference(
        "apply",
        &[(ANY, 415)],
        |case, answers| has_type(case, "application/apply-patch+yaml") && gated(answers, UNKNOWN_FORMAT),
        "what comes of it depends on who owns which field",
    ),
    difference(
        "key-twice",
        &[(ANY, 400)],
        |case, answers| {
            changes(case, |_, change| matches!(change, Change::Again(_)))
                && gated(answers, "stands twice in one object")
        },
        "kube-apiserver merges what it finds under the two; readers differ",
    ),
    difference(
        "delete-options",
        &[(ANY, 400)],
        |case, answers| case.verb == "delete" && gated(answers, "DeleteOptions of version"),
        "kube-apiserver passes over the version that they have",
    ),
    difference(
        "delete-kind",
        &[(500, 400)],
        |case, answers| {
            case.verb == "delete"
                && says(answers, &["no kind \""])
                && gated(answers, "cannot be handled as a DeleteOptions")
        },
        "what was sent is wrong, and not the server",
    ),
    difference(
        "mirror-annotation-first",
        &[(400, 422), (409, 422), (422, 422), (500, 422)],
        |case, answers| case.sub == "status" && gated(answers, "[kubernetes.io/config.mirror]: Forbidden: may not "),
        "the gate looks at the mirror annotation before the rest",
    ),
    difference(
        "panics",
        &[(BROKEN_OFF, 502)],
        |case, _| case.verb == "patch",
        "kube-apiserver panics and ends the connection, also that of the gate",
    ),
    difference(
        "claim-phase",
        &[(200, 403)],
        |case, answers| {
            let form = case.body.as_ref().map(|body| body.form);
            matches!(form, Some(Form::Protobuf)) && gated(answers, "and status.conditions: status.phase")
        },
        "kube-apiserver fills in the phase that a claim has at first; the gate takes it for a change",
    ),
    difference(
        "bytes-as-numbers",
        &[(ANY, 400)],
        |case, answers| {
            case.resource.starts_with("certificatesigningrequests") && gated(answers, "request is not a text")
        },
        "kube-apiserver also takes a list of numbers for bytes",
    ),
    difference(
        "unreadable",
        &[(400, 400)],
        |case, answers| case.body.is_some() && says(answers, UNREADABLE),
        "each reader has its own words",
    ),
    difference(
        "rule-first",
        &[(400, 403), (400, 404)],
        |case, answers| {
            let refused = ["is forbidden: ", "\" not found"]
                .iter()
                .any(|words| gated(answers, words));
            let out_of_place = says(answers, &["does not match the namespace sent on the request"]);
            case.body.is_some() && (says(answers, UNREADABLE) || out_of_place) && refused
        },
        "a rule refuses what else could not be read",
    ),
    difference(
        "spoiled",
        &[(422, 400), (422, 403), (422, 422), (422, 500)],
        |case, answers| {
            let said = |words: &[&str]| words.iter().any(|words| gated(answers, words));
            let alike = match answers.codes[1] {
                400 => true,
                403 => said(&["is forbidden: "]),
                500 => said(&["is no key of a list item"]),
                _ => said(&[SPOILED]),
            };
            case.verb == "patch" && says(answers, &[SPOILED]) && alike
        },
        "the gate does not repeat the whole object that a patch spoils",
    ),
    difference(
        "other-parts",
        &[(ANY, 400)],
        |case, answers| case.verb == "patch" && gated(answers, "may not change what kind of object it is made to"),
        "what is judged would mean nothing",
    ),
    difference(
        "whose-it-is",
        &[(400, 403), (404, 403), (409, 403), (422, 403), (500, 403)],
        |case, answers| is_anothers(case) && OTHERS.iter().any(|words| gated(answers, words)),
        "the path says whose it is, so the gate looks neither whether it is there nor at the rest",
    ),
    difference(
        "terminating",
        &[(200, 403)],
        |case, answers| {
            (case.resource, case.verb, case.sub.as_str()) == ("pods", "delete", "")
                && is_anothers(case)
                && gated(answers, "can only delete pods with spec.nodeName set to itself")
        },
        "a pod that is going already is still not the node's; kube-apiserver asks no admission about it",
    ),
    difference(
        "no-such-namespace",
        &[(404, 403)],
        |case, answers| {
            case.verb == "create"
                && case.path.contains("/namespaces/nosuch/")
                && says(answers, &["namespaces \"nosuch\" not found"])
                && gated(answers, "is forbidden: ")
        },
        "kube-apiserver's NamespaceLifecycle plugin comes before NodeRestriction",
    ),
    difference(
        "no-such-place",
        &[(404, 403), (404, 404)],
        |case, answers| {
            !case.path.contains("/namespaces/") && says(answers, &["the server could not find the requested resource"])
        },
        "rules come before Kubernetes' own list of places",
    ),
    difference(
        "options",
        &[(422, 400), (422, 403), (422, 404), (422, 422)],
        |_, answers| says(answers, &["Options.meta.k8s.io"]) && !gated(answers, "Options.meta.k8s.io"),
        "what may not be written, or read, is refused whatever the options are",
    ),
    difference(
        "patch-words",
        &[(500, 500)],
        |case, _| case.body.as_ref().is_some_and(|body| body.form == Form::Strategic),
        "kube-apiserver prints the lists that do not fit",
    ),
    difference(
        "patch-order",
        &[(400, 500), (500, 400)],
        |case, _| {
            let body = case.body.as_ref();
            body.is_some_and(|body| body.form == Form::Strategic && body.mutations.len() > 1)
        },
        "of several things that are wrong, kube-apiserver tells whichever it comes to first, in no order",
    ),
    difference(
        "service-account-plugin",
        &[(403, 403), (403, 404)],
        |case, answers| {
            creates_pod(case) && says(answers, &["a mirror pod may not ", "error looking up service account"])
        },
        "kube-apiserver's ServiceAccount plugin comes before NodeRestriction",
    ),
    difference(
        "claim-words",
        &[(403, 403)],
        |_, answers| {
            let words = "is not allowed to update fields other than";
            says(answers, &[words]) && gated(answers, words)
        },
        "kube-apiserver prints a diff of its internal type, the gate which fields differ",
    ),
    difference(
        "claim-unknown",
        &[(200, 403), (409, 403)],
        |case, answers| {
            changes(case, |place, _| place == "/unknown")
                && case.resource == "persistentvolumeclaims"
                && gated(
                    answers,
                    "is not allowed to update fields other than status.quantity and status.conditions: unknown",
                )
        },
        "kube-apiserver drops what it does not know; the gate does not know what there may be",
    ),
    difference(
        "precondition-later",
        &[(409, 403)],
        |case, answers| case.verb == "update" && says(answers, &["UID in precondition"]),
        "what a node may not write is refused whatever uid it expects",
    ),
    difference(
        "version-first",
        &[(409, 409)],
        |case, answers| {
            case.verb == "update" && says(answers, &["UID in precondition"]) && gated(answers, "has been modified")
        },
        "the gate compares the version that it has judged before the uid",
    ),
    difference(
        "eviction-uid-first",
        &[(400, 409)],
        |case, answers| {
            case.sub == "eviction" && says(answers, &["name in URL does not match name in Eviction object"])
        },
        "the pod that is judged is the one that is meant, or none",
    ),
    difference(
        "version-unreadable",
        &[(500, 409)],
        |_, answers| says(answers, &["strconv.ParseUint"]),
        "a resource version that is no number is not the object's",
    ),
    difference(
        "unknown-volume",
        &[(201, 403), (403, 403), (409, 403), (422, 403)],
        |case, answers| creates_pod(case) && gated(answers, "unknown volume type for volume"),
        "a kind of volume that the gate does not know may refer to anything",
    ),
    difference(
        "uid-first",
        &[(400, 422), (422, 422)],
        |case, answers| case.verb == "patch" && gated(answers, "metadata.uid: Invalid value"),
        "a pod is known by its uid before anything else is looked at",
    ),
    difference(
        "ephemeral-containers",
        &[(403, 200)],
        |case, _| {
            release::minor() < 33 && case.who == Who::N1 && case.resource == "secrets" && case.path.ends_with("/s9")
        },
        "before 1.33 kube-apiserver does not follow what is added to a pod",
    ),
    difference(
        "older-mirror-pods",
        &[(201, 403), (403, 403), (422, 403)],
        |case, answers| {
            let referred = [
                "can not create pods that reference ",
                "unknown source for projected volume",
            ];
            release::minor() < 34
                && creates_pod(case)
                && (answers.codes[0] != 403 || says(answers, &["can not create pods that reference "]))
                && referred.iter().any(|words| gated(answers, words))
        },
        "before 1.34 kube-apiserver looks at fewer of the things that a pod may refer to",
    ),
    difference(
        "older-extended-claims",
        &[(200, 403), (422, 403)],
        |case, answers| {
            release::minor() < 34
                && (case.resource, case.sub.as_str()) == ("pods", "status")
                && gated(answers, "cannot update extended resource claim status")
        },
        "before 1.34 kube-apiserver does not look at them",
    ),
];
