use std::path::Path;

use jiff::SignedDuration;

use super::*;
use crate::{
    pipeline::tests::nowhere,
    quarantine::{Entry, Target},
    ready::Ready,
};

fn ward(place: &Place) -> Ward {
    Ward::new(place.open(&nowhere()), Metrics::default())
}

fn at(path: &Path) -> Ward {
    ward(&Place::File(path.to_owned()))
}

fn hold(node: &str) -> Change {
    Change::Hold(Entry {
        target: Target::Node(node.to_owned()),
        mode: Mode::Deny,
        reason: String::new(),
        by: "test".to_owned(),
        since: Timestamp::now(),
        until: None,
    })
}

/// What is held there now is let go.
fn lift(ward: &Ward, node: &str) -> Change {
    let list = ward.list();
    Change::Lift(list.get(&Target::Node(node.to_owned())).unwrap().clone())
}

fn held(ward: &Ward) -> Vec<String> {
    ward.list().entries().map(|entry| entry.target.to_string()).collect()
}

#[tokio::test]
async fn a_restart_forgets_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("quarantine.json");
    let first = at(&path);
    first.sync().await.unwrap();
    assert!(!path.exists(), "nothing is written before there is something");
    first.change(hold("n1")).await.unwrap();
    first.change(hold("n2")).await.unwrap();
    first.change(lift(&first, "n1")).await.unwrap();
    let second = at(&path);
    second.sync().await.unwrap();
    assert_eq!(held(&second), ["node n2"]);
    assert!(!second.current().is_empty());
}

/// Replicas share a file: what one is told the others have at their next look, and none undoes what another has written.
#[tokio::test]
async fn replicas_agree() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("quarantine.json");
    let (one, other) = (at(&path), at(&path));
    let all = (0..20).map(|number| {
        let ward = if number % 2 == 0 { &one } else { &other };
        ward.change(hold(&format!("n{number}")))
    });
    assert!(futures_util::future::join_all(all).await.iter().all(Result::is_ok));
    one.sync().await.unwrap();
    other.sync().await.unwrap();
    assert_eq!(held(&one).len(), 20);
    assert_eq!(held(&one), held(&other));
    other.change(lift(&other, "n0")).await.unwrap();
    one.sync().await.unwrap();
    assert_eq!(held(&one).len(), 20, "it may have been read half");
    one.sync().await.unwrap();
    assert_eq!(held(&one).len(), 19);
}

/// What cannot be kept is in force all the same, and is kept as soon as it can be.
#[tokio::test]
async fn what_is_not_kept_is_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("share");
    let path = folder.join("quarantine.json");
    std::fs::create_dir(&folder).unwrap();
    let ward = at(&path);
    ward.sync().await.unwrap();
    std::fs::remove_dir(&folder).unwrap();
    let error = ward.change(hold("n1")).await.unwrap_err();
    assert!(error.to_string().contains("cannot read"), "{error}");
    assert_eq!(ward.metrics.kept.get(), 0);
    assert!(ward.doubt().is_some());
    ward.sync().await.unwrap_err();
    assert_eq!(held(&ward), ["node n1"], "a look at the store does not undo it");
    std::fs::create_dir(&folder).unwrap();
    ward.sync().await.unwrap();
    assert_eq!((ward.metrics.kept.get(), ward.doubt()), (1, None));
    let other = at(&path);
    other.sync().await.unwrap();
    assert_eq!(held(&other), ["node n1"]);
}

/// A disk that is not there is not one on which nobody is held.
#[tokio::test]
async fn a_store_that_is_lost_lets_nobody_go() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("share");
    let path = folder.join("quarantine.json");
    assert!(at(&path).sync().await.is_err(), "there is no folder to begin with");
    std::fs::create_dir(&folder).unwrap();
    let ward = at(&path);
    ward.change(hold("n1")).await.unwrap();
    for lost in [Lost::Emptied, Lost::Removed, Lost::Unmounted] {
        match lost {
            Lost::Emptied => std::fs::write(&path, "").unwrap(),
            Lost::Removed => std::fs::remove_file(&path).unwrap(),
            Lost::Unmounted => std::fs::rename(&folder, dir.path().join("away")).unwrap(),
        }
        for _ in 0..3 {
            assert!(ward.sync().await.is_err(), "{lost:?}");
            assert_eq!(held(&ward), ["node n1"], "{lost:?}");
            assert_eq!(ward.metrics.kept.get(), 0, "{lost:?}");
        }
        if lost == Lost::Removed {
            // The next change writes all that is known.
            ward.change(hold("n2")).await.unwrap();
            let other = at(&path);
            other.sync().await.unwrap();
            assert_eq!(held(&other), ["node n1", "node n2"]);
            ward.change(lift(&ward, "n2")).await.unwrap();
        }
    }
}

#[derive(Debug, PartialEq)]
enum Lost {
    Emptied,
    Removed,
    Unmounted,
}

/// A lift that could not be written, and is written at last, is of what was held then, and not of what is held now.
#[tokio::test]
async fn a_late_lift_undoes_nothing_new() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("share");
    let path = folder.join("quarantine.json");
    std::fs::create_dir(&folder).unwrap();
    let (one, other) = (at(&path), at(&path));
    one.change(hold("n1")).await.unwrap();
    other.sync().await.unwrap();
    std::fs::rename(&folder, dir.path().join("away")).unwrap();
    other.change(lift(&other, "n1")).await.unwrap_err();
    assert_eq!(held(&other), [] as [&str; 0]);
    std::fs::rename(dir.path().join("away"), &folder).unwrap();
    let Change::Hold(mut again) = hold("n1") else { panic!() };
    again.reason = "second incident".to_owned();
    one.change(Change::Hold(again)).await.unwrap();
    other.sync().await.unwrap();
    assert_eq!(
        (held(&one), held(&other)),
        (vec!["node n1".to_owned()], vec!["node n1".to_owned()])
    );
}

/// Whoever adds somebody while somebody else is writing by hand does not make what is half written whole.
#[tokio::test]
async fn what_is_half_written_lets_nobody_go() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("quarantine.json");
    let ward = at(&path);
    for node in ["n1", "n2"] {
        ward.change(hold(node)).await.unwrap();
    }
    let whole = std::fs::read_to_string(&path).unwrap();
    let half = "{apiVersion: scopegate.dev/v1alpha1, kind: QuarantineList, items: [{node: n1, mode: Deny}]}";
    std::fs::write(&path, half).unwrap();
    let done = tokio::join!(ward.change(hold("n3")), async {
        sleep(MOMENT / 2).await;
        std::fs::write(&path, &whole).unwrap();
    });
    done.0.unwrap();
    assert_eq!(held(&ward), ["node n1", "node n2", "node n3"]);
    let other = at(&path);
    other.sync().await.unwrap();
    assert_eq!(held(&other), ["node n1", "node n2", "node n3"]);
}

/// Where a link leads is written, and the link stays.
#[tokio::test]
async fn a_link_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real.json"), dir.path().join("link.json"));
    std::fs::write(
        &real,
        "{apiVersion: scopegate.dev/v1alpha1, kind: QuarantineList, items: []}",
    )
    .unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    at(&link).change(hold("n1")).await.unwrap();
    assert!(link.is_symlink());
    let other = at(&real);
    other.sync().await.unwrap();
    assert_eq!(held(&other), ["node n1"]);
}

/// A list that cannot be read any more is not an empty list.
#[tokio::test]
async fn what_was_known_stays_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("quarantine.json");
    let ward = at(&path);
    ward.change(hold("n1")).await.unwrap();
    std::fs::write(&path, "{ not a list").unwrap();
    assert!(ward.sync().await.is_err());
    assert_eq!(held(&ward), ["node n1"]);
    // Nor is it written over: what it says of others would be lost.
    assert!(ward.change(hold("n2")).await.is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{ not a list");
    assert_eq!(held(&ward), ["node n1", "node n2"]);
}

#[tokio::test]
async fn nobody_passes_before_the_list_is_known() {
    let place = Place::ConfigMap {
        namespace: "ns".to_owned(),
        name: "quarantine".to_owned(),
    };
    let unreachable = ward(&place);
    assert!(unreachable.sync().await.is_err());
    assert_eq!(unreachable.load().unwrap_err().code, 503);
    unreachable.change(hold("n1")).await.unwrap_err();
    assert_eq!(held(&unreachable), ["node n1"]);
    assert_eq!(unreachable.load().unwrap_err().code, 503, "others may be held, too");
    let ready = Ready::default();
    let nowhere = ward(&Place::Nowhere);
    tokio::select! {
        () = nowhere.keep(ready.task("quarantine")) => {}
        () = async { while !ready.is_ready() { tokio::task::yield_now().await } } => {}
    }
    assert!(nowhere.load().is_ok());
}

#[tokio::test]
async fn a_time_is_over_when_it_is_over() {
    let ward = ward(&Place::Nowhere);
    let Change::Hold(mut entry) = hold("n1") else { panic!() };
    entry.until = Some(Timestamp::now() + SignedDuration::from_millis(50));
    ward.change(Change::Hold(entry)).await.unwrap();
    assert_eq!(held(&ward), ["node n1"]);
    let mut published = ward.published();
    sleep(Duration::from_millis(60)).await;
    ward.sync().await.unwrap();
    assert!(published.has_changed().unwrap());
    published.mark_unchanged();
    assert!(ward.current().is_empty());
}
