//! Requests that mean two things at once.

use http::Request;
use scopegate::protobuf::{Envelope, text_field};
use serde_json::{Value, json};

use super::{Attack, NODE, PODS, mirror};
use crate::restriction::{
    JSON, MERGE_PATCH,
    encode::{PROTOBUF, encode, encode_one},
};

impl Attack<'_> {
    /// Of a field that stands twice in protobuf, kube-apiserver merges the two.
    pub(super) async fn field_twice(&self) {
        let secret = json!({"volumes": [{"name": "v", "secret": {"secretName": "s1"}}]});
        let pods = [mirror(&secret), mirror(&json!({}))].map(|pod| self.sides.gated.here_json(&pod));
        let Some(encoded) = encode(&pods) else { return };
        let [(head, first), (_, second)] = [&encoded[0], &encoded[1]].map(|body| parts(body));
        for raw in [[first, second].concat(), [second, first].concat()] {
            let mut body = head.to_vec();
            body.push(0x12);
            varint(raw.len(), &mut body);
            body.extend_from_slice(&raw);
            self.refused(&[400, 403], "POST", PODS, PROTOBUF, &body).await;
        }
    }

    /// A source of a volume that is known to none of today's readers could refer to anything. kube-apiserver of today passes over
    /// such a field, that of tomorrow does not.
    pub(super) async fn field_of_the_future(&self) {
        let pod = self.sides.gated.here_json(&mirror(&json!({})));
        let Some(body) = encode_one(&pod) else { return };
        let pod = Envelope::read(&body).unwrap();
        let (volume, projection) = ([2, 1, 2, 999], [2, 1, 2, 26, 1, 999]);
        for field in [&volume[..], &projection] {
            let body = pod.append(&text_field(field, "x"));
            self.refused(&[403], "POST", PODS, PROTOBUF, &body).await;
        }
    }

    /// Headers that only one of two readers believes.
    pub(super) async fn headers(&self) {
        let taints = json!({"spec": {"taints": []}}).to_string();
        let other = json!({"metadata": {"name": "at2"}}).to_string();
        let patch = || Request::patch(NODE).header("content-type", MERGE_PATCH);
        let post = || Request::post("/api/v1/nodes").header("content-type", JSON);
        for (request, body) in [
            (patch().header("content-type", JSON), &taints),
            (patch().header("content-encoding", "gzip"), &taints),
            (post().header("content-type", PROTOBUF), &other),
            (post().header("content-encoding", "gzip"), &other),
            (
                Request::post("/api/v1/nodes").header("content-type", "application/json, application/yaml"),
                &other,
            ),
        ] {
            self.sides.between.take();
            let answer = self.sides.gated.node.send(request, body).await.unwrap();
            let writes = self.sides.between.take_writes();
            assert!(matches!(answer.code.as_u16(), 400 | 403 | 415), "{}", answer.body);
            assert!(writes.is_empty(), "{writes:?}");
        }
    }

    /// kube-apiserver asks no admission plugin about a pod that is being deleted already; the gate does not let others' pods be touched.
    pub(super) async fn terminating(&self) {
        let target = format!("{PODS}/p2");
        let going = self.sides.gated.admin.send(Request::delete(&target), "").await.unwrap();
        assert!(
            going.json()["metadata"]["deletionTimestamp"].is_string(),
            "{}",
            going.body
        );
        self.refused(&[403], "DELETE", &target, "", b"").await;
        let now: Value = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
        self.refused(&[403], "DELETE", &target, JSON, now.to_string().as_bytes())
            .await;
    }
}

/// All that comes before the object in an encoded body, and the object.
fn parts(body: &[u8]) -> (&[u8], &[u8]) {
    let types = 6 + usize::from(body[5]);
    assert_eq!((body[4], body[types]), (0x0a, 0x12));
    let (mut length, mut at) = (0, types + 1);
    for shift in (0..).step_by(7) {
        let byte = usize::from(body[at]);
        length |= (byte & 0x7f) << shift;
        at += 1;
        if byte < 0x80 {
            break;
        }
    }
    (&body[..types], &body[at..at + length])
}

fn varint(mut value: usize, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
        value >>= 7;
    }
    to.push(u8::try_from(value).unwrap());
}
