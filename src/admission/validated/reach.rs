//! Who reaches a pod that runs: through the API server, or through the kubelet behind it.

use super::{Asked, ValidatedAnnotations};
use crate::{
    admission::{Edit, Known, No},
    api::{GroupResource, Verb, quote},
    json::Json,
    rejection::Rejection,
    request::{Head, ResourceRequest, Selectors},
};

/// What a kubelet does to a pod, as the first segment of a path says, and behind it the pod's namespace and name. kubelets compare
/// it as it stands; another spelling is nothing to them, and is no reason to look away.
const OF_A_POD: &[&str] = &["attach", "checkpoint", "exec", "portforward", "run"];
/// The same for containers by an identifier of the runtime's, which says nothing of the pod.
const OF_A_CONTAINER: &str = "cri";

/// What a path of a kubelet leads to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Kubelet {
    Nothing,
    Pod {
        namespace: String,
        name: String,
    },
    /// Some pod, of which nothing more can be told.
    SomePod,
}

impl ValidatedAnnotations {
    /// A pod by its own name.
    pub(super) fn reach(&self, asked: &Asked<'_>, known: &Known<'_>) -> Result<Edit, No> {
        let verb = &asked.head.info().verb;
        // A session by GET, as WebSocket has it, is not less than one by POST.
        let creates = matches!(asked.request.subresource.as_str(), "attach" | "exec" | "portforward");
        asked.may_at_all(known, creates && *verb != Verb::Create)?;
        let Some(pod) = known.stored()? else {
            return Err(Rejection::not_found(&asked.request.resource, &asked.request.name).into());
        };
        self.may_use_pod(asked, pod, known)
    }

    /// A pod through its kubelet.
    pub(super) fn kubelet(&self, asked: &Asked<'_>, known: &Known<'_>) -> Result<Edit, No> {
        let (namespace, name) = match Kubelet::of(asked.head) {
            Kubelet::Nothing => return Ok(Edit::default()),
            Kubelet::Pod { namespace, name } => (namespace, name),
            Kubelet::SomePod => return Err(asked.refuse("it cannot be told which pod this path leads to").into()),
        };
        asked.may_at_all(known, asked.head.info().verb != Verb::Create)?;
        let pod = ResourceRequest {
            resource: GroupResource {
                group: String::new(),
                resource: "pods".to_owned(),
            },
            version: "v1".to_owned(),
            namespace,
            name,
            subresource: String::new(),
            selectors: Selectors::default(),
        };
        let Some(stored) = known.read(&pod)? else {
            // The kubelet may run what the API server does not know, or no longer.
            let (namespace, name) = (quote(&pod.namespace), quote(&pod.name));
            let why =
                format!("there is no pod {name} in the namespace {namespace} that could tell what it may be used with");
            return Err(asked.refuse(why).into());
        };
        self.may_use_pod(asked, stored, known)
    }

    fn may_use_pod(&self, asked: &Asked<'_>, pod: &[u8], known: &Known<'_>) -> Result<Edit, No> {
        let pod = Json::parse(pod).map_err(super::unread)?;
        let Some(place) = self.pods() else {
            return Err(Rejection::internal("there is no place for pods").into());
        };
        asked.may_use(&asked.stored_uses(place, &pod)?, known)?;
        Ok(Edit::default())
    }
}

impl Kubelet {
    /// By what stands behind `nodes/<name>/proxy`.
    pub(super) fn of(head: &Head) -> Self {
        let path = head.proxied();
        let mut path = path.iter().map(String::as_str);
        let first = path.next().unwrap_or_default().to_ascii_lowercase();
        if first == OF_A_CONTAINER {
            return Self::SomePod;
        }
        if !OF_A_POD.contains(&first.as_str()) {
            return Self::Nothing;
        }
        match (path.next(), path.next()) {
            (Some(namespace), Some(name)) => Self::Pod {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
            _ => Self::SomePod,
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use test_case::test_case;

    use super::*;

    fn pod(namespace: &str, name: &str) -> Kubelet {
        Kubelet::Pod {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    #[test_case("" => Kubelet::Nothing; "nothing")]
    #[test_case("/metrics" => Kubelet::Nothing; "metrics")]
    #[test_case("/pods" => Kubelet::Nothing; "pods")]
    #[test_case("/containerLogs/ns/p/c" => Kubelet::Nothing; "logs")]
    #[test_case("/exec/ns/p/c?command=id" => pod("ns", "p"); "exec")]
    #[test_case("/exec/ns/p/some-uid/c" => pod("ns", "p"); "exec with a uid")]
    #[test_case("/%65xec/ns/p/c" => pod("ns", "p"); "escaped")]
    #[test_case("/EXEC/ns/p/c" => pod("ns", "p"); "another case")]
    #[test_case("/run/ns/p/c" => pod("ns", "p"); "run")]
    #[test_case("/attach/ns/p/c" => pod("ns", "p"); "attach")]
    #[test_case("/portForward/ns/p" => pod("ns", "p"); "port-forward")]
    #[test_case("/checkpoint/ns/p/c" => pod("ns", "p"); "checkpoint")]
    #[test_case("/exec/ns" => Kubelet::SomePod; "no pod")]
    #[test_case("/exec" => Kubelet::SomePod; "nothing behind it")]
    #[test_case("/cri/exec/token" => Kubelet::SomePod; "by a token of the runtime")]
    fn paths(rest: &str) -> Kubelet {
        let request = Request::get(format!("/api/v1/nodes/n1/proxy{rest}")).body(()).unwrap();
        Kubelet::of(&Head::read(request.into_parts().0).unwrap())
    }
}
