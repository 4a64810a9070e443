//! Feature gates by their upstream names, with the default each has in the Kubernetes release upstream runs.

use std::{fmt, str::FromStr};

/// A supported release, e.g. `1.36`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct KubernetesVersion {
    minor: u32,
}

/// Which gates are on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Features {
    /// `AllowParsingUserUIDFromCertAuth`: a client certificate may carry a UID.
    pub certificate_uid: bool,
    /// `RemoteRequestHeaderUID`: upstream reads a UID from its front proxy.
    pub front_proxy_uid: bool,
}

/// A gate: its name, the first release in which it is on, and where its value goes.
struct Gate {
    name: &'static str,
    on_since: u32,
    field: fn(&mut Features) -> &mut bool,
}

const GATES: &[Gate] = &[
    Gate {
        name: "AllowParsingUserUIDFromCertAuth",
        on_since: 33,
        field: |features| &mut features.certificate_uid,
    },
    Gate {
        name: "RemoteRequestHeaderUID",
        on_since: 33,
        field: |features| &mut features.front_proxy_uid,
    },
];

impl KubernetesVersion {
    pub const OLDEST: Self = Self { minor: 32 };
    pub const NEWEST: Self = Self { minor: 36 };
}

impl Features {
    /// The defaults of a release.
    pub fn of(version: KubernetesVersion) -> Self {
        let mut features = Self {
            certificate_uid: false,
            front_proxy_uid: false,
        };
        for gate in GATES {
            *(gate.field)(&mut features) = version.minor >= gate.on_since;
        }
        features
    }

    /// Sets a gate by name; false if there is none of that name.
    pub(super) fn set(&mut self, name: &str, on: bool) -> bool {
        let gate = GATES.iter().find(|gate| gate.name == name);
        gate.map(|gate| *(gate.field)(self) = on).is_some()
    }

    pub(super) fn names() -> Vec<&'static str> {
        GATES.iter().map(|gate| gate.name).collect()
    }
}

impl FromStr for KubernetesVersion {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let minor = text.strip_prefix("1.").and_then(|minor| minor.parse().ok()).ok_or(())?;
        let version = Self { minor };
        (Self::OLDEST..=Self::NEWEST)
            .contains(&version)
            .then_some(version)
            .ok_or(())
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}
