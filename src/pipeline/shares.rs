//! How much each caller has under way, and how much it may have.
//!
//! kube-apiserver works on so many requests at a time and no more; a node that keeps hundreds of them waiting on a body that
//! does not come, or does not read the answers, would keep all others out.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use moka::sync::Cache;

use crate::{caller::Caller, rejection::Rejection};

/// Per caller, over all its connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Requests that end by themselves.
    pub requests: usize,
    /// Watches, logs and sessions.
    pub streams: usize,
}

/// What every caller has.
#[derive(Debug)]
pub struct Shares {
    limits: Limits,
    callers: Cache<String, Arc<Share>>,
}

/// A large body of a caller, until it is dropped.
#[derive(Debug)]
pub(super) struct TakenLarge(Arc<Share>);

/// One request of a caller, until it is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    share: Arc<Share>,
    long_running: bool,
}

#[derive(Debug, Default)]
struct Share {
    requests: AtomicUsize,
    streams: AtomicUsize,
    large: AtomicUsize,
}

/// Bodies of one caller that are larger than what nodes write all day, and are kept at a time.
const LARGE: usize = 2;
/// Callers that are remembered; they are known users, not names that a client makes up.
const MAX_CALLERS: u64 = 100_000;

impl Shares {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            callers: Cache::new(MAX_CALLERS),
        }
    }

    /// Takes note of one more large body that is kept, or 429: hundreds of them would be all the memory there is.
    pub(super) fn take_large(&self, caller: &Caller) -> Result<TakenLarge, Rejection> {
        let taken = TakenLarge(self.share(caller));
        if taken.0.large.fetch_add(1, Ordering::Relaxed) < LARGE {
            Ok(taken)
        } else {
            Err(Rejection::too_many_requests(
                "the caller has large bodies under way already",
            ))
        }
    }

    fn share(&self, caller: &Caller) -> Arc<Share> {
        let name = caller.asker().name.as_str();
        match self.callers.get(name) {
            Some(share) => share,
            None => self.callers.get_with(name.to_owned(), Arc::default),
        }
    }

    /// Takes note of one more, or 429.
    pub(super) fn take(&self, caller: &Caller, long_running: bool) -> Result<Taken, Rejection> {
        let share = self.share(caller);
        let limit = if long_running {
            self.limits.streams
        } else {
            self.limits.requests
        };
        let taken = Taken { share, long_running };
        if taken.count().fetch_add(1, Ordering::Relaxed) < limit {
            Ok(taken)
        } else {
            let what = if long_running { "streams" } else { "requests" };
            Err(Rejection::too_many_requests(format!(
                "the caller has {limit} {what} under way already"
            )))
        }
    }
}

impl Taken {
    fn count(&self) -> &AtomicUsize {
        if self.long_running {
            &self.share.streams
        } else {
            &self.share.requests
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.count().fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for TakenLarge {
    fn drop(&mut self) {
        self.0.large.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::User;

    #[test]
    fn a_caller_has_its_share_and_gets_it_back() {
        let shares = Shares::new(Limits {
            requests: 2,
            streams: 1,
        });
        let take = |name: &str, long_running| shares.take(&caller(name), long_running);
        let _first = take("a", false).unwrap();
        let second = take("a", false).unwrap();
        assert_eq!(take("a", false).unwrap_err().code, 429);
        assert_eq!(take("a", false).unwrap_err().code, 429, "a refusal takes nothing");
        let _watch = take("a", true).expect("streams are counted apart");
        assert!(take("a", true).is_err());
        let _other = take("b", false).expect("others are not concerned");
        drop(second);
        assert!(take("a", false).is_ok());
    }

    #[test]
    fn large_bodies_are_few() {
        let shares = Shares::new(Limits {
            requests: 2,
            streams: 1,
        });
        let mut kept: Vec<_> = (0..LARGE).map(|_| shares.take_large(&caller("a")).unwrap()).collect();
        assert_eq!(shares.take_large(&caller("a")).unwrap_err().code, 429);
        assert_eq!(
            shares.take_large(&caller("a")).unwrap_err().code,
            429,
            "a refusal takes nothing"
        );
        assert!(shares.take_large(&caller("b")).is_ok(), "others are not concerned");
        kept.pop();
        assert!(shares.take_large(&caller("a")).is_ok());
    }

    fn caller(name: &str) -> Caller {
        Caller::from(User {
            name: name.to_owned(),
            ..User::default()
        })
    }
}
