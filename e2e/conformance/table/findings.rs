//! What generated requests have found wrong with the gate. They have no number.

use serde_json::json;

use super::{Row, write};
use crate::conformance::case::{Form, Who};

pub(super) fn rows() -> Vec<Row> {
    // NodeRestriction refuses a node without a name whatever it writes, also what no rule is about.
    let review = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}});
    let place = ("create", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    let nameless = write(
        0,
        place,
        Some((Form::Json, review)),
        403,
        "could not determine node from user",
    );
    vec![nameless.by(Who::Empty)]
}
