//! What a request can come to beside its verb.

use http::header::CONTENT_TYPE;

use super::{Head, Target};
use crate::api::{Verb, names::APPLY_PATCH};

/// Kinds of which a PUT makes one where there is none (1.36).
const MADE_BY_PUT: &[(&str, &str)] = &[
    ("", "endpoints"),
    ("", "events"),
    ("", "limitranges"),
    ("", "services"),
    ("coordination.k8s.io", "leasecandidates"),
    ("coordination.k8s.io", "leases"),
    ("events.k8s.io", "events"),
    ("node.k8s.io", "runtimeclasses"),
    ("rbac.authorization.k8s.io", "clusterrolebindings"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
    ("rbac.authorization.k8s.io", "roles"),
];

impl Head {
    /// Whether it can create something though its verb is another: a session by GET, an object that is applied, and for some kinds
    /// one that is replaced. Upstream asks for that right itself, of the one in whose name it is done.
    pub fn may_create(&self) -> bool {
        let Target::Resource(request) = &self.info.target else {
            return false;
        };
        let is_object = request.subresource.is_empty();
        match self.info.verb {
            Verb::Create => true,
            Verb::Patch => {
                let content_type = self.headers.get(CONTENT_TYPE).map_or(&[][..], |value| value.as_bytes());
                let media_type = content_type.split(|byte| *byte == b';').next().unwrap_or_default();
                is_object && media_type.trim_ascii().eq_ignore_ascii_case(APPLY_PATCH.as_bytes())
            }
            Verb::Update => {
                let mut kinds = MADE_BY_PUT.iter();
                is_object && kinds.any(|(group, resource)| request.resource.is(group, resource))
            }
            _ => self.info.is_connection(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use test_case::test_case;

    use super::*;

    #[test_case("POST", "/api/v1/namespaces/ns/pods", "" => true; "create")]
    #[test_case("GET", "/api/v1/namespaces/ns/pods/p", "" => false; "get")]
    #[test_case("GET", "/api/v1/namespaces/ns/pods/p/exec", "" => true; "exec by GET")]
    #[test_case("GET", "/api/v1/nodes/n/proxy/x", "" => true; "proxy")]
    #[test_case("PATCH", "/api/v1/namespaces/ns/pods/p", "application/apply-patch+yaml" => true; "apply")]
    #[test_case("PATCH", "/api/v1/namespaces/ns/pods/p", "application/Apply-Patch+yaml; a=b" => true; "apply in other letters")]
    #[test_case("PATCH", "/api/v1/namespaces/ns/pods/p/status", "application/apply-patch+yaml" => false; "apply of a part")]
    #[test_case("PATCH", "/api/v1/namespaces/ns/pods/p", "application/merge-patch+json" => false; "patch")]
    #[test_case("PUT", "/api/v1/namespaces/ns/pods/p", "" => false; "replace")]
    #[test_case("PUT", "/api/v1/namespaces/ns/services/s", "" => true; "replace or make")]
    #[test_case("PUT", "/api/v1/namespaces/ns/services/s/status", "" => false; "replace a part")]
    #[test_case("DELETE", "/api/v1/namespaces/ns/services/s", "" => false; "delete")]
    #[test_case("GET", "/metrics", "" => false; "path")]
    fn requests(method: &str, uri: &str, content_type: &str) -> bool {
        let mut request = Request::builder().method(method).uri(uri);
        if !content_type.is_empty() {
            request = request.header(CONTENT_TYPE, content_type);
        }
        Head::read(request.body(()).unwrap().into_parts().0)
            .unwrap()
            .may_create()
    }
}
