//! What to do about an error of a watch.

use std::{error::Error, io};

use kube::runtime::watcher;

use super::super::{
    kinds::Collection,
    line::{Garbled, SILENT},
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Remedy {
    /// Nothing is missed: the watch goes on where it was.
    Resume,
    /// Something may be missed: everything is listed again.
    Relist,
}

impl Remedy {
    /// Only what surely has lost nothing is resumed. kube would go on behind an event that it cannot read, and one lost
    /// deletion would be a right that nobody has any more.
    pub(super) fn of(error: &watcher::Error) -> Self {
        let resume = match error {
            watcher::Error::WatchStartFailed(error) => is_passing(error),
            watcher::Error::WatchFailed(kube::Error::ReadEvents(error)) => {
                error.kind() != io::ErrorKind::InvalidData && !is_garbled(error)
            }
            _ => false,
        };
        if resume { Self::Resume } else { Self::Relist }
    }
}

/// Whether nothing is wrong but that nothing was heard.
pub(super) fn is_silence(error: &watcher::Error) -> bool {
    matches!(error, watcher::Error::WatchStartFailed(kube::Error::Api(status)) if status.message == SILENT)
}

/// Whether upstream does not stream lists, or not in a way that kube can read: those that do not know how call the request
/// wrong, those that cannot say so in place of the first event.
pub(super) fn is_refusal(error: &watcher::Error) -> bool {
    match error {
        watcher::Error::WatchStartFailed(kube::Error::Api(status)) => {
            (400..500).contains(&status.code) && ![401, 403, 404, 410, 429].contains(&status.code)
        }
        watcher::Error::WatchError(status) => status.code != 410,
        watcher::Error::WatchFailed(kube::Error::ReadEvents(error)) => is_garbled(error),
        _ => false,
    }
}

pub(super) fn explain_watch(collection: &Collection, error: &watcher::Error) -> String {
    match error {
        watcher::Error::InitialListFailed(error) => explain("list", collection, error),
        watcher::Error::WatchStartFailed(error) => explain("watch", collection, error),
        error => chain(error),
    }
}

/// Says what to do where it is known.
pub(super) fn explain(verb: &str, collection: &Collection, error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if status.code == 403 => format!(
            "the gate may not {verb} {}: {}; apply config/kubernetes/{}",
            collection.resource,
            status.message,
            collection.manifest()
        ),
        error => format!("cannot {verb} {}: {}", collection.resource, chain(error)),
    }
}

/// Whether the same request may work next time.
fn is_passing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code >= 500 || [401, 429].contains(&status.code),
        kube::Error::HyperError(_) | kube::Error::Service(_) => true,
        _ => false,
    }
}

fn is_garbled(error: &io::Error) -> bool {
    causes(error).any(<dyn Error>::is::<Garbled>)
}

/// An error with all that is behind it, each once.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error).map(ToString::to_string) {
        if !text.contains(&cause) {
            let between = if text.is_empty() { "" } else { ": " };
            text.extend([between, &cause]);
        }
    }
    text
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    // No chain is as long, unless it goes in a circle.
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source()).take(16)
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use test_case::test_case;

    use super::*;

    fn start(code: u16) -> watcher::Error {
        watcher::Error::WatchStartFailed(api(code))
    }

    fn api(code: u16) -> kube::Error {
        kube::Error::Api(Status::failure("no", "No").with_code(code).boxed())
    }

    fn read(error: io::Error) -> watcher::Error {
        watcher::Error::WatchFailed(kube::Error::ReadEvents(error))
    }

    fn unreadable() -> watcher::Error {
        let error = serde_json::from_str::<u8>("x").unwrap_err();
        watcher::Error::WatchFailed(kube::Error::SerdeError(error))
    }

    #[test_case(&start(500) => Remedy::Resume; "upstream fails")]
    #[test_case(&start(429) => Remedy::Resume; "upstream is busy")]
    #[test_case(&start(401) => Remedy::Resume; "credentials change")]
    #[test_case(&watcher::Error::WatchStartFailed(kube::Error::Service("gone".into())) => Remedy::Resume; "upstream is away")]
    #[test_case(&read(io::Error::other("reset")) => Remedy::Resume; "the connection is cut")]
    #[test_case(&start(410) => Remedy::Relist; "too old")]
    #[test_case(&start(403) => Remedy::Relist; "forbidden")]
    #[test_case(&start(404) => Remedy::Relist; "not served any more")]
    #[test_case(&watcher::Error::InitialListFailed(api(500)) => Remedy::Relist; "no list")]
    #[test_case(&watcher::Error::WatchError(Status::failure("x", "Expired").with_code(410).boxed()) => Remedy::Relist; "expired")]
    #[test_case(&watcher::Error::WatchError(Status::failure("x", "x").with_code(500).boxed()) => Remedy::Relist; "an error among the events")]
    #[test_case(&watcher::Error::NoResourceVersion => Remedy::Relist; "an event without a version")]
    #[test_case(&unreadable() => Remedy::Relist; "an event that cannot be read")]
    #[test_case(&read(io::Error::new(io::ErrorKind::InvalidData, "no UTF-8")) => Remedy::Relist; "an event that is no text")]
    #[test_case(&read(io::Error::other(kube::Error::Service(Garbled::BrokenOff.into()))) => Remedy::Relist; "an event that breaks off")]
    fn errors_have_remedies(error: &watcher::Error) -> Remedy {
        Remedy::of(error)
    }

    #[test_case(&start(422) => true; "the request is called wrong")]
    #[test_case(&start(403) => false; "forbidden")]
    #[test_case(&start(503) => false; "away")]
    #[test_case(&watcher::Error::WatchError(Status::failure("x", "x").with_code(500).boxed()) => true; "storage without progress")]
    fn refusals_of_streaming_lists(error: &watcher::Error) -> bool {
        is_refusal(error)
    }
}
