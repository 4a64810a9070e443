//! Who reaches a pod that runs: through the API server, or through the kubelet behind it.

use super::{Asked, ValidatedAnnotations};
use crate::{
    admission::{Edit, Known, No, tie::unread},
    api::{Verb, quote},
    json::Json,
    rejection::Rejection,
    request::{Head, ResourceRequest},
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
        container: Option<String>,
    },
    /// Some pod, of which nothing more can be told.
    SomePod,
}

impl ValidatedAnnotations {
    /// A pod by its own name.
    pub(super) fn reach(&self, asked: &Asked<'_>, known: &Known<'_>) -> Result<Edit, No> {
        let (verb, request) = (&asked.head.info().verb, asked.request);
        // A session by GET, as WebSocket has it, is not less than one by POST.
        let is_session = matches!(request.subresource.as_str(), "attach" | "exec" | "portforward");
        asked.may_at_all(known, is_session && *verb != Verb::Create)?;
        let name = match request.subresource.as_str() {
            "proxy" => name_of(&request.name).ok_or_else(|| Rejection::bad_request("invalid pod request"))?,
            _ => &request.name,
        };
        let Some(pod) = known.read(&pod(&request.namespace, name))? else {
            return Err(Rejection::not_found(&request.resource, name).into());
        };
        let pod = Json::parse(pod).map_err(unread)?;
        self.may_use_pod(asked, &pod, known)?;
        let container = asked.head.query("container");
        // The kubelet finds a container by its name and that of its pod, also one that is still there of a pod of that name before.
        if matches!(request.subresource.as_str(), "attach" | "exec") && !runs(&pod, container.as_deref()) {
            let why = "the container does not run, as far as the API server knows";
            return Err(Rejection::bad_request(format!("pod {}: {why}", quote(name))).into());
        }
        Ok(Edit::default())
    }

    /// A pod through its kubelet. Whoever may ask one kubelet hears nothing of the pods of others.
    pub(super) fn kubelet(&self, asked: &Asked<'_>, known: &Known<'_>) -> Result<Edit, No> {
        let untold = || No::from(asked.refuse("it cannot be told which pod that runs on this node this path leads to"));
        let (namespace, name, container) = match Kubelet::of(asked.head) {
            Kubelet::Nothing => return Ok(Edit::default()),
            Kubelet::Pod {
                namespace,
                name,
                container,
            } => (namespace, name, container),
            Kubelet::SomePod => return Err(untold()),
        };
        asked.may_at_all(known, asked.head.info().verb != Verb::Create)?;
        // It may run what the API server does not know, or no longer.
        let stored = known.read(&pod(&namespace, &name))?.ok_or_else(untold)?;
        let stored = Json::parse(stored).map_err(unread)?;
        let node = stored.at(&["spec", "nodeName"]).and_then(Json::as_str);
        let is_there = node.is_some() && node == name_of(&asked.request.name);
        if !is_there || container.is_some_and(|container| !runs(&stored, Some(&container))) {
            return Err(untold());
        }
        self.may_use_pod(asked, &stored, known)?;
        Ok(Edit::default())
    }

    fn may_use_pod(&self, asked: &Asked<'_>, pod: &Json<'_>, known: &Known<'_>) -> Result<(), No> {
        let Some(place) = self.pods() else {
            return Err(Rejection::internal("there is no place for pods").into());
        };
        asked.may_use(&place.uses(pod), known)
    }
}

fn pod(namespace: &str, name: &str) -> ResourceRequest {
    ResourceRequest::object(("", "v1", "pods"), namespace, name)
}

/// What is behind a proxy is named with a port, and a scheme before it, if it likes; nothing if it is no such name.
fn name_of(target: &str) -> Option<&str> {
    let parts: Vec<&str> = target.split(':').collect();
    match parts.as_slice() {
        [name] | [name, _] | ["" | "http" | "https", name, _] if !name.is_empty() => Some(name),
        _ => None,
    }
}

/// Whether the container of that name, or the only one there is, runs. Without a name the API server takes no other.
fn runs(pod: &Json<'_>, container: Option<&str>) -> bool {
    let only = || match pod.at(&["spec", "containers"])?.as_array()? {
        [only] => only.get("name")?.as_str(),
        _ => None,
    };
    let Some(container) = container.filter(|name| !name.is_empty()).or_else(only) else {
        return true;
    };
    let lists = [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ];
    let statuses = lists.iter().filter_map(|list| pod.at(&["status", list])?.as_array());
    let mut running = statuses
        .flatten()
        .filter(|status| status.at(&["state", "running"]).is_some_and(|state| !state.is_null()));
    running.any(|status| status.get("name").and_then(Json::as_str) == Some(container))
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
                // Behind a uid, if one is given, at which the kubelet does not look.
                container: path.next_back().filter(|_| first != "portforward").map(str::to_owned),
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

    fn pod(namespace: &str, name: &str, container: &str) -> Kubelet {
        Kubelet::Pod {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            container: (!container.is_empty()).then(|| container.to_owned()),
        }
    }

    #[test_case("p" => Some("p"); "a name")]
    #[test_case("p:80" => Some("p"); "with a port")]
    #[test_case("p:" => Some("p"); "with an empty port")]
    #[test_case("https:p:443" => Some("p"); "with a scheme")]
    #[test_case(":p:443" => Some("p"); "with an empty scheme")]
    #[test_case("ftp:p:21" => None; "another scheme")]
    #[test_case("a:b:c:d" => None; "too much")]
    #[test_case(":80" => None; "no name")]
    fn names(target: &str) -> Option<&str> {
        name_of(target)
    }

    #[test_case("" => Kubelet::Nothing; "nothing")]
    #[test_case("/metrics" => Kubelet::Nothing; "metrics")]
    #[test_case("/pods" => Kubelet::Nothing; "pods")]
    #[test_case("/containerLogs/ns/p/c" => Kubelet::Nothing; "logs")]
    #[test_case("/exec/ns/p/c?command=id" => pod("ns", "p", "c"); "exec")]
    #[test_case("/exec/ns/p/some-uid/c" => pod("ns", "p", "c"); "exec with a uid")]
    #[test_case("/%65xec/ns/p/c" => pod("ns", "p", "c"); "escaped")]
    #[test_case("/EXEC/ns/p/c" => pod("ns", "p", "c"); "another case")]
    #[test_case("/run/ns/p/c" => pod("ns", "p", "c"); "run")]
    #[test_case("/attach/ns/p/c" => pod("ns", "p", "c"); "attach")]
    #[test_case("/portForward/ns/p" => pod("ns", "p", ""); "port-forward")]
    #[test_case("/checkpoint/ns/p/c" => pod("ns", "p", "c"); "checkpoint")]
    #[test_case("/exec/ns" => Kubelet::SomePod; "no pod")]
    #[test_case("/exec" => Kubelet::SomePod; "nothing behind it")]
    #[test_case("/cri/exec/token" => Kubelet::SomePod; "by a token of the runtime")]
    fn paths(rest: &str) -> Kubelet {
        let request = Request::get(format!("/api/v1/nodes/n1/proxy{rest}")).body(()).unwrap();
        Kubelet::of(&Head::read(request.into_parts().0).unwrap())
    }
}
