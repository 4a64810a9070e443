//! The API servers of one cluster, and which of them answer.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::Uri;

use crate::upstream::Error;

/// At least one, and no more than [`Servers::MOST`].
#[derive(Debug)]
pub struct Servers(Vec<Arc<Server>>);

/// An API server.
#[derive(Debug)]
pub struct Server {
    url: Uri,
    healthy: AtomicBool,
}

/// Requests with the same affinity go to the same server for as long as it is healthy, on connections of their own. A caller that writes at one server
/// and reads at another could see the world from before its own write.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Affinity(u64);

/// Servers in the order in which they should be tried.
#[derive(Debug)]
pub(super) struct Order<'a> {
    servers: &'a Servers,
    affinity: Affinity,
    tried: u32,
}

impl Servers {
    pub const MOST: usize = 16;

    pub fn new(urls: Vec<Uri>) -> Result<Self, Error> {
        let usable = |url: &Uri| url.scheme_str() == Some("https") && url.host().is_some();
        if let Some(url) = urls.iter().find(|url| !usable(url)) {
            return Err(Error::Url(url.to_string()));
        }
        let servers = urls.into_iter().take(Self::MOST).map(|url| {
            let healthy = AtomicBool::new(true);
            Arc::new(Server { url, healthy })
        });
        Ok(Self(servers.collect()))
    }

    pub(super) fn one(server: &Arc<Server>) -> Self {
        Self(vec![Arc::clone(server)])
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.0.iter()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Arc<Server>> {
        self.0.get(at)
    }

    pub(super) fn order(&self, affinity: Affinity) -> Order<'_> {
        Order {
            servers: self,
            affinity,
            tried: 0,
        }
    }
}

impl Server {
    pub fn url(&self) -> &Uri {
        &self.url
    }

    /// Notes whether it answers; tells whether that is news.
    pub fn is(&self, healthy: bool) -> bool {
        self.healthy.swap(healthy, Ordering::Relaxed) != healthy
    }
}

impl Affinity {
    pub fn of(caller: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        caller.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// How much it is drawn to a server. Every server gets its share of the callers, and when one goes, only those that
    /// were with it move (rendezvous hashing).
    fn towards(self, at: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.0, at).hash(&mut hasher);
        hasher.finish()
    }
}

impl Iterator for Order<'_> {
    type Item = usize;

    /// Healthy ones first. If none is, they are tried all the same: the checks may be behind.
    fn next(&mut self) -> Option<usize> {
        if self.servers.0.len() == 1 {
            // There is nothing to weigh.
            return (std::mem::replace(&mut self.tried, 1) == 0).then_some(0);
        }
        let servers = self.servers.0.iter().enumerate();
        let left = servers.filter(|(at, _)| self.tried & (1 << at) == 0);
        let rank = |(at, server): &(usize, &Arc<Server>)| {
            let healthy = server.healthy.load(Ordering::Relaxed);
            (healthy, self.affinity.towards(*at))
        };
        let (at, _) = left.max_by_key(rank)?;
        self.tried |= 1 << at;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_stay_where_they_are_and_spread_out() {
        let servers = servers(3);
        let first = |caller: &str| servers.order(Affinity::of(caller)).next().unwrap();
        let mut share = [0; 3];
        for node in 0..300 {
            let name = format!("system:node:n{node}");
            assert_eq!(first(&name), first(&name));
            share[first(&name)] += 1;
        }
        assert!(share.iter().all(|share| *share > 60), "{share:?}");
    }

    #[test]
    fn a_server_that_fails_is_tried_last_and_only_its_callers_move() {
        let servers = servers(3);
        let order = |caller: &str| servers.order(Affinity::of(caller)).collect::<Vec<_>>();
        let before: Vec<_> = (0..100).map(|node| order(&format!("n{node}"))).collect();
        assert!(servers.0[1].is(false));
        for (node, before) in before.iter().enumerate() {
            let after = order(&format!("n{node}"));
            assert_eq!(after[2], 1);
            let others: Vec<_> = before.iter().copied().filter(|at| *at != 1).collect();
            assert_eq!(after[..2], others);
        }
        assert!(servers.0[1].is(true), "news");
        assert!(!servers.0[1].is(true), "no news");
        assert_eq!(order("n0"), before[0]);
    }

    #[test]
    fn only_https_will_do() {
        let servers = |url: &'static str| Servers::new(vec![Uri::from_static(url)]);
        assert!(servers("http://a:1").is_err());
        assert!(servers("/readyz").is_err());
        assert!(servers("https://a").is_ok());
    }

    fn servers(count: usize) -> Servers {
        let urls = (0..count).map(|at| format!("https://s{at}:6443").parse().unwrap());
        Servers::new(urls.collect()).unwrap()
    }
}
