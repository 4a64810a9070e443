//! Whether upstream itself keeps gardenlets within bounds.
//!
//! What the rules for seeds do not allow, upstream decides by what it grants the gardenlet, unless the configuration says otherwise.
//! A garden that has not scoped its gardenlets yet grants their group everything; left to that, a refusal of the gate would mean
//! nothing. So upstream is asked, and while it grants too much, or does not say, nothing is left to it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use tokio::time::sleep;
use tracing::{error, info, warn};

use super::reviews::Reviews;
use crate::{
    api::{garden, names},
    caller::User,
    rejection::Rejection,
    review::{ResourceAction, Review},
};

/// What upstream was last heard to grant every gardenlet.
#[derive(Debug)]
pub struct Gardenlets {
    bounds: AtomicU8,
    asks: Vec<Review>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
enum Bounds {
    Unknown,
    Kept,
    /// Upstream lets any gardenlet do what only some should.
    Broken,
}

const EVERY: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(2);
/// What no upstream that scopes gardenlets lets all of them do: verb, group and resource.
pub const BROAD: &[(&str, &str, &str)] = &[
    ("get", "", "secrets"),
    ("list", "", "secrets"),
    ("delete", "", "secrets"),
    ("patch", garden::CORE, "shoots"),
    ("patch", garden::SEED_MANAGEMENT, "managedseeds"),
    ("create", "rbac.authorization.k8s.io", "clusterrolebindings"),
];
/// No gardenlet is called that.
const PROBE: &str = "scopegate-probe";

impl Default for Gardenlets {
    fn default() -> Self {
        let user = Arc::new(User {
            name: format!("{}{PROBE}", names::SEED_USER_PREFIX),
            groups: vec![names::SEEDS_GROUP.to_owned(), names::AUTHENTICATED_GROUP.to_owned()],
            ..User::default()
        });
        let any = |verb: &str, group: &str, resource: &str| {
            let action = ResourceAction {
                verb: verb.to_owned(),
                group: group.to_owned(),
                version: "*".to_owned(),
                resource: resource.to_owned(),
                ..ResourceAction::default()
            };
            Review::new(&user, action)
        };
        Self {
            bounds: AtomicU8::new(Bounds::Unknown as u8),
            asks: BROAD
                .iter()
                .map(|(verb, group, resource)| any(verb, group, resource))
                .collect(),
        }
    }
}

impl Gardenlets {
    /// Whether something may be left to upstream.
    pub(super) fn may_be_left(&self) -> Result<(), Rejection> {
        match self.bounds.load(Ordering::Relaxed) {
            bounds if bounds == Bounds::Kept as u8 => Ok(()),
            bounds if bounds == Bounds::Broken as u8 => Err(Rejection::not_known(format!(
                "upstream grants group {} everything, so nothing is left to it; drop that binding",
                names::SEEDS_GROUP
            ))),
            _ => Err(Rejection::not_known(
                "upstream has not said yet what it grants gardenlets",
            )),
        }
    }

    /// Asks again and again, for ever.
    pub async fn watch(&self, reviews: &Reviews) {
        loop {
            let bounds = match self.ask(reviews).await {
                Ok(bounds) => bounds,
                Err(why) => {
                    warn!(
                        why,
                        "upstream does not say what it grants gardenlets; nothing is left to it"
                    );
                    Bounds::Unknown
                }
            };
            let before = self.bounds.swap(bounds as u8, Ordering::Relaxed);
            match bounds {
                _ if before == bounds as u8 => {}
                Bounds::Broken => error!(
                    group = names::SEEDS_GROUP,
                    "upstream lets every gardenlet do what only some should; until that binding is dropped, what the rules for \
                     seeds do not allow is answered 503 (scopegate check tells which)"
                ),
                Bounds::Kept => info!("upstream keeps gardenlets within bounds"),
                Bounds::Unknown => {}
            }
            sleep(if bounds == Bounds::Unknown { SOON } else { EVERY }).await;
        }
    }

    async fn ask(&self, reviews: &Reviews) -> Result<Bounds, String> {
        for review in &self.asks {
            let allowed = reviews.allows(review, PROBE).await;
            if allowed.map_err(|unanswered| unanswered.to_string())? {
                return Ok(Bounds::Broken);
            }
        }
        Ok(Bounds::Kept)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use http::StatusCode;
    use serde_json::{Value, json};
    use test_case::test_case;

    use super::*;
    use crate::pipeline::reviews::{Metrics, Remember};

    /// An upstream that grants gardenlets these resources, or does not answer.
    fn upstream(granted: Option<&'static [&'static str]>, asked: Arc<Mutex<Vec<Value>>>) -> Reviews {
        let ask = move |review: Value| {
            let resource = review["spec"]["resourceAttributes"]["resource"]
                .as_str()
                .unwrap()
                .to_owned();
            asked.lock().unwrap().push(review);
            let answer = granted.map(|granted| {
                let allowed = granted.contains(&resource.as_str());
                (StatusCode::CREATED, json!({"status": {"allowed": allowed}}))
            });
            let answer = answer.ok_or_else(|| "no".to_owned());
            Box::pin(async move { answer }) as _
        };
        let remember = Remember {
            allowed: Duration::ZERO,
            denied: Duration::ZERO,
        };
        Reviews::new(Arc::new(ask), remember, Metrics::default())
    }

    #[test_case(Some(&[]) => true; "what only some may do")]
    #[test_case(Some(&["secrets"]) => false; "all secrets")]
    #[test_case(Some(&["shoots"]) => false; "all shoots")]
    #[test_case(None => false; "nobody knows what")]
    fn something_is_left_to_an_upstream_that_grants(granted: Option<&'static [&'static str]>) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        runtime.unwrap().block_on(async {
            let (gardenlets, asked) = (Gardenlets::default(), Arc::default());
            assert!(gardenlets.may_be_left().is_err(), "before it was asked");
            let reviews = upstream(granted, Arc::clone(&asked));
            let _ = tokio::time::timeout(Duration::from_millis(1), gardenlets.watch(&reviews)).await;
            let asked = asked.lock().unwrap();
            let spec = &asked.first().unwrap()["spec"];
            assert_eq!(spec["groups"][0], "gardener.cloud:system:seeds");
            assert!(
                spec["user"]
                    .as_str()
                    .unwrap()
                    .starts_with("gardener.cloud:system:seed:")
            );
            gardenlets.may_be_left().is_ok()
        })
    }
}
