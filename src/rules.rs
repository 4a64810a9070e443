//! Every rule by its name, and whether it is enforced.
//!
//! Names are kept: configurations, alerts and reports go by them. What a rule says stands where it is applied, in `authorizer` and
//! `admission`; here is what an operator reads about it, and what becomes of a request that it is against.

use std::{fmt, str::FromStr};

/// What becomes of a request that a rule is against.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Mode {
    /// It is refused.
    Enforce,
    /// It is forwarded; the client is warned, and it is recorded.
    Warn,
    /// It is forwarded and recorded.
    Audit,
    /// Nobody looks.
    Off,
}

/// Where a rule comes from, which decides how it can be set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Origin {
    /// kube-apiserver has it too, and enforces it.
    Upstream,
    /// Only proposed there, or of the gate.
    Extended,
    /// Of what the gate itself is, or of what all others build on. It is always enforced; other keys of the configuration may say
    /// whom it spares.
    Fixed,
}

/// A rule against a request that was forwarded all the same.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    pub rule: Rule,
    pub mode: Mode,
    /// What the client would have read.
    pub message: String,
}

macro_rules! rules {
    ($($name:ident = $id:literal, $origin:ident, $text:literal;)*) => {
        /// A rule. Their order is the one they are listed in.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum Rule { $(#[doc = $text] $name,)* }

        impl Rule {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)* }
            }

            pub const fn origin(self) -> Origin {
                match self { $(Self::$name => Origin::$origin,)* }
            }

            /// What it says, in a sentence.
            pub fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

rules! {
    CallersBootstrap = "callers/bootstrap", Fixed, "Holders of a bootstrap token pass if callers.bootstrap is Forward";
    CallersImpersonation = "callers/impersonation", Fixed, "Nobody acts as somebody else, unless actingAs or upstream lets it";
    CallersIntersection = "callers/intersection", Fixed, "Who acts as somebody else does nothing that it could not do itself, unless actingAs.semantics is Subject";
    CallersMasters = "callers/masters", Fixed, "Members of system:masters pass only if callers.allowMasters names them";
    CallersOthers = "callers/others", Fixed, "Who is neither a node nor joining passes if callers.others is Forward";
    CallersQuarantine = "callers/quarantine", Fixed, "Who is in quarantine does nothing but what that leaves it (scopegate quarantine)";
    AnnotationsValidated = "annotations/validated", Fixed, "Who reaches the runtime of a pod holds the right to use its validated annotations, if validatedAnnotations.enabled";
    EveryoneDiscovery = "everyone/discovery", Fixed, "Whoever is known may read what the API consists of";
    EveryoneSelfReviews = "everyone/self-reviews", Fixed, "Whoever is known may ask who it is and what it may do, unless upstream sees the gate instead";

    NodeName = "node/name", Fixed, "A node has a name";
    NodePaths = "node/paths", Upstream, "A node reads no paths but those of discovery";
    NodeStatic = "node/static", Upstream, "Beyond the rules below, a node does what the role system:node lists, and nothing else";
    NodeConfigMaps = "node/configmaps", Upstream, "A node reads config maps that its pods refer to, one at a time";
    NodeCsiNodes = "node/csinodes", Upstream, "A node reads and writes its own CSINode";
    NodeLeases = "node/leases", Upstream, "A node reads and writes its own lease in kube-node-lease";
    NodeNodes = "node/nodes", Upstream, "A node reads its own Node, and writes Nodes only as restriction/nodes lets it";
    NodePersistentVolumeClaims = "node/persistentvolumeclaims", Upstream, "A node gets claims that its pods use";
    NodePersistentVolumeClaimStatus = "node/persistentvolumeclaims/status", Upstream, "A node updates the status of claims that its pods use";
    NodePersistentVolumes = "node/persistentvolumes", Upstream, "A node gets volumes that claims of its pods are bound to";
    NodePods = "node/pods", Upstream, "A node reads its own pods, and writes pods only as restriction/pods lets it";
    NodePodCertificateRequests = "node/podcertificaterequests", Upstream, "A node reads its own pod certificate requests, and creates some";
    NodeResourceClaims = "node/resourceclaims", Upstream, "A node gets resource claims that its pods use";
    NodeResourceSlices = "node/resourceslices", Upstream, "A node reads and writes its own resource slices";
    NodeSecrets = "node/secrets", Upstream, "A node reads secrets that its pods and their volumes refer to, one at a time";
    NodeServiceAccounts = "node/serviceaccounts", Upstream, "A node reads service accounts of its pods, and asks for tokens of theirs";
    NodeVolumeAttachments = "node/volumeattachments", Upstream, "A node gets its own volume attachments";

    RestrictionName = "restriction/name", Fixed, "A node without a name writes nothing";
    RestrictionCertificates = "restriction/certificates", Upstream, "A kubelet certificate is asked for in the node's own name";
    RestrictionCsiNodes = "restriction/csinodes", Upstream, "A node writes no CSINode but its own";
    RestrictionLeases = "restriction/leases", Upstream, "A node writes no lease but its own in kube-node-lease";
    RestrictionMirrorAnnotation = "restriction/mirror-annotation", Upstream, "A pod does not become a mirror pod, or cease to be one";
    RestrictionMirrorOwner = "restriction/mirror-owner", Upstream, "A mirror pod is owned by its node (podRestriction.mirrorPodOwner says in which form)";
    RestrictionMirrorPods = "restriction/mirror-pods", Upstream, "A node creates no pods but mirror pods that are bound to it";
    RestrictionMirrorReferences = "restriction/mirror-references", Upstream, "A mirror pod refers to no service account, secret, config map, claim or other object of the API";
    RestrictionNodes = "restriction/nodes", Upstream, "A node writes no Node but its own";
    RestrictionNodeConfigSource = "restriction/node-config-source", Upstream, "A node does not say where its configuration comes from";
    RestrictionNodeLabels = "restriction/node-labels", Upstream, "A node leaves labels alone that workloads are steered by";
    RestrictionNodeOwners = "restriction/node-owners", Upstream, "A node does not change the owners of its Node";
    RestrictionNodeTaints = "restriction/node-taints", Upstream, "A node does not change its taints";
    RestrictionPersistentVolumeClaims = "restriction/persistentvolumeclaims", Upstream, "Of a claim, a node writes what its status says about size and progress";
    RestrictionPodCertificates = "restriction/podcertificates", Upstream, "A pod certificate is asked for by the node that the pod runs on, as the pod is";
    RestrictionPodClaims = "restriction/pod-claims", Upstream, "A node does not change which resource claims a pod has";
    RestrictionPodLabels = "restriction/pod-labels", Upstream, "A node changes no labels of a pod when it writes its status";
    RestrictionPods = "restriction/pods", Upstream, "A node deletes, evicts and reports on pods that are bound to it";
    RestrictionResourceSlices = "restriction/resourceslices", Upstream, "A node creates and deletes resource slices of its own";
    RestrictionTokenAudiences = "restriction/token-audiences", Upstream, "A node asks for tokens for audiences that volumes of the pod are for";
    RestrictionTokens = "restriction/tokens", Upstream, "A node asks for tokens that are bound to a pod which runs on it";

    SeedBackupBuckets = "seed/backupbuckets", Upstream, "A seed writes backup buckets that are assigned to it";
    SeedBackupEntries = "seed/backupentries", Upstream, "A seed writes backup entries that are assigned to it";
    SeedBastions = "seed/bastions", Upstream, "A seed reads and writes bastions that are assigned to it";
    SeedBindings = "seed/bindings", Upstream, "A seed reads the bindings of credentials that its shoots use, one at a time";
    SeedCertificates = "seed/certificatesigningrequests", Upstream, "A seed reads certificate signing requests of its own name, and creates some";
    SeedCloudProfiles = "seed/cloudprofiles", Upstream, "A seed reads the cloud profiles that its shoots use, one at a time";
    SeedClusterRoleBindings = "seed/clusterrolebindings", Upstream, "A seed reads and writes the bindings by which its managed seeds begin";
    SeedConfigMaps = "seed/configmaps", Upstream, "A seed reads and writes config maps of its shoots, and reads those about the garden";
    SeedControllerDeployments = "seed/controllerdeployments", Upstream, "A seed reads the deployments of its controller installations, one at a time";
    SeedControllerInstallations = "seed/controllerinstallations", Upstream, "A seed reads and updates its controller installations";
    SeedControllerRegistrations = "seed/controllerregistrations", Upstream, "A seed reads all controller registrations";
    SeedEvents = "seed/events", Upstream, "A seed creates events";
    SeedExposureClasses = "seed/exposureclasses", Upstream, "A seed reads the exposure classes that its shoots use, one at a time";
    SeedGardenlets = "seed/gardenlets", Upstream, "A seed reads and writes its own Gardenlet";
    SeedInternalSecrets = "seed/internalsecrets", Upstream, "A seed reads and writes internal secrets of its shoots";
    SeedLeases = "seed/leases", Upstream, "A seed keeps its own lease; its extensions keep theirs in the namespace of the seed";
    SeedManagedSeeds = "seed/managedseeds", Upstream, "A seed updates the managed seeds that are made of its shoots";
    SeedNamespaces = "seed/namespaces", Upstream, "A seed reads the namespaces of its shoots and its own, one at a time";
    SeedProjects = "seed/projects", Upstream, "A seed reads the projects of its shoots, one at a time";
    SeedSecrets = "seed/secrets", Upstream, "A seed reads and writes secrets that it, its shoots and its backups use";
    SeedSeeds = "seed/seeds", Upstream, "A seed writes its own Seed, and as far as it made them those of its managed seeds";
    SeedServiceAccounts = "seed/serviceaccounts", Upstream, "A seed has the service accounts of its namespace, and those by which its managed seeds begin";
    SeedShoots = "seed/shoots", Upstream, "A seed updates the shoots that it runs";
    SeedShootStates = "seed/shootstates", Upstream, "A seed reads and writes the states of its shoots";
    SeedUnlisted = "seed/unlisted", Upstream, "Beyond the rules for seeds, upstream decides (callers.seeds.fallback)";
    SeedWorkloadIdentities = "seed/workloadidentities", Upstream, "A seed reads the workload identities that it and its shoots use, and asks for their tokens";

    SeedRestrictionBackups = "seed-restriction/backups", Upstream, "A backup bucket or entry is created for the seed that creates it, and a bucket is deleted by its seed";
    SeedRestrictionBastions = "seed-restriction/bastions", Upstream, "A bastion is created for the seed that creates it";
    SeedRestrictionBootstrap = "seed-restriction/bootstrap", Upstream, "What a gardenlet begins with is created by the parent of its seed, and only while it has not begun";
    SeedRestrictionCertificates = "seed-restriction/certificates", Upstream, "A gardenlet asks for certificates of its own name";
    SeedRestrictionConfigMaps = "seed-restriction/configmaps", Upstream, "A config map is created for a shoot of the seed";
    SeedRestrictionGardenlets = "seed-restriction/gardenlets", Upstream, "A Gardenlet is created under the name of its seed";
    SeedRestrictionLeases = "seed-restriction/leases", Upstream, "A lease is created for the seed, or by an extension in the namespace of its seed";
    SeedRestrictionSecrets = "seed-restriction/secrets", Upstream, "A secret is created for something that is the seed's";
    SeedRestrictionSeeds = "seed-restriction/seeds", Upstream, "A seed writes no Seed but its own, and deletes those of its managed seeds when these are deleted";
    SeedRestrictionShootStates = "seed-restriction/shootstates", Upstream, "The state of a shoot is created by the seed that runs it";

    PodsMirrorAnnotations = "pods/mirror-annotations", Extended, "A mirror pod has no annotations but those of kubelets and static pods, and podRestriction.allowedAnnotations";
    PodsMirrorFinalizers = "pods/mirror-finalizers", Extended, "A mirror pod has no finalizers but podRestriction.allowedFinalizers";
    PodsMirrorLabels = "pods/mirror-labels", Extended, "A mirror pod has no labels but unrestricted.node.kubernetes.io/* and podRestriction.allowedLabels";
    PodsMirrorNamespace = "pods/mirror-namespace", Extended, "A mirror pod is in one of podRestriction.mirrorPodNamespaces, if any are given";
    PodsStatusAnnotations = "pods/status-annotations", Extended, "With a pod's status, a node changes no annotations but those that a mirror pod may have";
    PodsStatusFinalizers = "pods/status-finalizers", Extended, "With a pod's status, a node changes no finalizers but podRestriction.allowedFinalizers";
    PodsStatusLabels = "pods/status-labels", Extended, "With a pod's status, a node changes no labels but those that a mirror pod may have";

    EventsObject = "events/object", Extended, "A node writes events about itself and about pods that are bound to it";
    EventsSource = "events/source", Extended, "A node writes events that say they come from it";
    NodeCertificateSigningRequests = "node/certificatesigningrequests", Extended, "A node reads certificate signing requests of its own, by name";
    NodeEndpoints = "node/endpoints", Extended, "A node gets endpoints that its pods and their volumes refer to";
    NodeServices = "node/services", Extended, "A node reads services in namespaces that it has pods in. Not to be enforced on kubelets, which list all services before they run pods";
    NodesAddresses = "nodes/addresses", Extended, "A node claims IP addresses that are no other node's, nor loopback, link-local and the like, and its own name (nodeAddresses.allow adds to that)";
}

/// The mode of every rule: two bits for each.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Modes {
    low: u128,
    high: u128,
}

const _: () = assert!(Rule::ALL.len() <= 128, "there are more rules than bits");

impl Mode {
    pub const ALL: &[Self] = &[Self::Enforce, Self::Warn, Self::Audit, Self::Off];

    /// As it is written in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "Enforce",
            Self::Warn => "Warn",
            Self::Audit => "Audit",
            Self::Off => "Off",
        }
    }
}

impl Rule {
    /// The mode it has unless the configuration says otherwise.
    pub const fn default_mode(self) -> Mode {
        match (self, self.origin()) {
            // Every kubelet lists all services, since pods find them in their environment, and runs no pod before it has.
            (Self::NodeServices, _) => Mode::Off,
            (_, Origin::Upstream | Origin::Fixed) => Mode::Enforce,
            (_, Origin::Extended) => Mode::Audit,
        }
    }

    /// Whether it says what seeds may do, and leaves the rest to whoever else knows about it.
    pub fn is_about_seeds(self) -> bool {
        self.id().starts_with("seed/")
    }

    /// Whether it is one of those that feature gate `NodeRestrictionPods` turns on.
    pub fn is_about_pods(self) -> bool {
        self.id().starts_with("pods/")
    }
}

impl Modes {
    /// Those that rules have by themselves.
    pub const DEFAULT: Self = Self::new(None);
    /// Those of kube-apiserver: nobody looks at what it does not look at.
    pub const UPSTREAM: Self = Self::new(Some(Mode::Off));

    const fn new(extended: Option<Mode>) -> Self {
        let mut modes = Self { low: 0, high: 0 };
        let mut rules = Rule::ALL;
        while let [rule, rest @ ..] = rules {
            let mode = match (rule.origin(), extended) {
                (Origin::Extended, Some(mode)) => mode,
                _ => rule.default_mode(),
            };
            modes.set(*rule, mode);
            rules = rest;
        }
        modes
    }

    pub const fn of(&self, rule: Rule) -> Mode {
        let bit = 1 << rule as u32;
        match (self.high & bit, self.low & bit) {
            (0, 0) => Mode::Enforce,
            (0, _) => Mode::Warn,
            (_, 0) => Mode::Audit,
            (_, _) => Mode::Off,
        }
    }

    /// What was not settled by a rule stands.
    pub fn of_any(&self, rule: Option<Rule>) -> Mode {
        rule.map_or(Mode::Enforce, |rule| self.of(rule))
    }

    pub const fn set(&mut self, rule: Rule, mode: Mode) {
        let bit = 1 << rule as u32;
        let (high, low) = match mode {
            Mode::Enforce => (false, false),
            Mode::Warn => (false, true),
            Mode::Audit => (true, false),
            Mode::Off => (true, true),
        };
        self.high = if high { self.high | bit } else { self.high & !bit };
        self.low = if low { self.low | bit } else { self.low & !bit };
    }

    /// Those that are enforced, and nothing else.
    pub const fn enforced(&self) -> Self {
        let others = self.high | self.low;
        Self {
            low: others,
            high: others,
        }
    }

    /// This rule as it is, and nothing else.
    pub const fn only(&self, rule: Rule) -> Self {
        let others = !(1 << rule as u32);
        Self {
            low: self.low | others,
            high: self.high | others,
        }
    }

    /// Whether no rule is enforced that need not be.
    pub fn is_dry(&self) -> bool {
        let enforced = |rule: &Rule| rule.origin() != Origin::Fixed && self.of(*rule) == Mode::Enforce;
        !Rule::ALL.iter().any(enforced)
    }

    /// What is warned of or recorded is refused too.
    pub fn enforce(&mut self) {
        for rule in Rule::ALL {
            if matches!(self.of(*rule), Mode::Warn | Mode::Audit) {
                self.set(*rule, Mode::Enforce);
            }
        }
    }

    /// Nothing is refused any more that a rule could be told to let pass.
    pub fn dry_run(&mut self) {
        for rule in Rule::ALL {
            if rule.origin() != Origin::Fixed && self.of(*rule) == Mode::Enforce {
                self.set(*rule, Mode::Audit);
            }
        }
    }
}

impl Default for Modes {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Rule {
    type Err = ();

    fn from_str(id: &str) -> Result<Self, ()> {
        Self::ALL.iter().find(|rule| rule.id() == id).copied().ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_rule_has_a_name_and_a_place_of_its_own() {
        let ids: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        for (place, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(*rule as usize, place);
            assert_eq!(rule.id().parse(), Ok(*rule));
            assert!(!rule.text().ends_with('.'), "{rule}");
        }
    }

    #[test]
    fn some_of_them() {
        let mut modes = Modes::default();
        modes.set(Rule::NodeSecrets, Mode::Warn);
        for rule in Rule::ALL {
            let expected = match modes.of(*rule) {
                Mode::Enforce => Mode::Enforce,
                _ => Mode::Off,
            };
            assert_eq!(modes.enforced().of(*rule), expected, "{rule}");
            for other in Rule::ALL {
                let expected = if other == rule { modes.of(*rule) } else { Mode::Off };
                assert_eq!(modes.only(*rule).of(*other), expected, "{rule} and {other}");
            }
        }
    }

    #[test]
    fn a_dry_run_enforces_only_what_is_fixed() {
        let mut modes = Modes::default();
        modes.set(Rule::NodeSecrets, Mode::Warn);
        modes.dry_run();
        for rule in Rule::ALL {
            let fixed = rule.origin() == Origin::Fixed;
            assert_eq!(modes.of(*rule) == Mode::Enforce, fixed, "{rule}");
        }
        assert_eq!(modes.of(Rule::NodeSecrets), Mode::Warn);
        assert_eq!(modes.of(Rule::NodeServices), Mode::Off);
        assert_eq!(modes.of(Rule::NodePods), Mode::Audit);
    }

    #[test]
    fn whatever_is_recorded_can_be_enforced() {
        let mut modes = Modes::default();
        modes.dry_run();
        modes.set(Rule::NodeSecrets, Mode::Warn);
        modes.enforce();
        for rule in Rule::ALL {
            let expected = if *rule == Rule::NodeServices {
                Mode::Off
            } else {
                Mode::Enforce
            };
            assert_eq!(modes.of(*rule), expected, "{rule}");
        }
    }
}
