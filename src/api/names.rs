//! Names that Kubernetes gives a meaning.

/// User name prefix of a node; the rest of the name is the node's.
pub const NODE_USER_PREFIX: &str = "system:node:";
/// Group that, together with [`NODE_USER_PREFIX`], makes a user a node.
pub const NODES_GROUP: &str = "system:nodes";
/// Group of everyone who presented a good credential.
pub const AUTHENTICATED_GROUP: &str = "system:authenticated";
/// Group of everyone who did not.
pub const UNAUTHENTICATED_GROUP: &str = "system:unauthenticated";
/// Group that kube-apiserver lets do anything, before any authorizer runs.
pub const MASTERS_GROUP: &str = "system:masters";
/// User that stands for no credential at all.
pub const ANONYMOUS_USER: &str = "system:anonymous";

/// Extra under which the credential that proved the user is named.
pub const CREDENTIAL_ID_EXTRA: &str = "authentication.kubernetes.io/credential-id";

/// Extra that names the node a token is bound to.
pub const NODE_NAME_EXTRA: &str = "authentication.kubernetes.io/node-name";

/// User name prefix and group of somebody who joins with a bootstrap token.
pub const BOOTSTRAP_USER_PREFIX: &str = "system:bootstrap:";
pub const BOOTSTRAPPERS_GROUP: &str = "system:bootstrappers";

/// WebSocket subprotocols that begin like this are bearer tokens.
pub const BEARER_SUBPROTOCOL: &str = "base64url.bearer.authorization.k8s.io.";

/// User name prefix of a service account; `<namespace>:<name>` follows.
pub const SERVICE_ACCOUNT_USER_PREFIX: &str = "system:serviceaccount:";
/// Group of all service accounts; that of a namespace has a colon and the namespace behind it.
pub const SERVICE_ACCOUNTS_GROUP: &str = "system:serviceaccounts";

/// User name prefix and group of a gardenlet.
pub const SEED_USER_PREFIX: &str = "gardener.cloud:system:seed:";
pub const SEEDS_GROUP: &str = "gardener.cloud:system:seeds";

/// Extra under which upstream reads who acts as the user. The gate says it, and nobody else may.
pub const ACTOR_EXTRA: &str = "acting-as.scopegate.dev/actor";

/// Content type of server-side apply.
pub const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// Where the leases are that nodes renew.
pub const NODE_LEASES: &str = "kube-node-lease";

/// Where a pod, or the template of one, carries its validated annotations, as JSON.
pub const VALIDATED_ANNOTATIONS: &str = "scopegate.dev/validated-annotations";

/// What begins with this domain, or one below it, is the gate's own to say.
pub const OWN_DOMAIN: &str = "scopegate.dev";

/// Extra under which upstream is told that the gate has looked at what a write makes of validated annotations.
pub const VALIDATED_EXTRA: &str = "scopegate.dev/validated";

/// Marks a pod that a kubelet has written of its own accord, whatever the value.
pub const MIRROR_POD_ANNOTATION: &str = "kubernetes.io/config.mirror";

/// Whether only the gate itself says so.
pub fn is_own(key: &str) -> bool {
    let domain = key.split('/').next().unwrap_or_default().to_ascii_lowercase();
    domain == OWN_DOMAIN || domain.strip_suffix(OWN_DOMAIN).is_some_and(|rest| rest.ends_with('.'))
}

/// Whether only the gate itself puts somebody into the group.
pub fn is_own_group(group: &str) -> bool {
    group.strip_prefix(OWN_DOMAIN).is_some_and(|rest| rest.starts_with(':'))
}

/// The group that a request has upstream if a rule of the gate's grants it, and only then. There is one for each rule: whoever may
/// change one thing must not be taken for somebody who may read another, when upstream asks for that on the way.
pub fn granted_group(rule: &str) -> String {
    format!("{OWN_DOMAIN}:{rule}")
}
