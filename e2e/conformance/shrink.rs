//! Makes a case that differs as small as can be.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{
    case::{Case, Form},
    compare::{Answers, Verdict, ask},
    world::World,
};

/// What is left of a difference.
pub(super) struct Found {
    pub(super) case: Case,
    /// What had to come before it.
    pub(super) before: Vec<Case>,
    pub(super) answers: Answers,
}

/// Replays a case on fresh objects and takes away whatever is not needed. Nothing if it does not differ there.
pub(super) async fn shrink(world: &World, before: &[Case], case: &Case) -> Option<Found> {
    let mut found = match replay(world, &[], case).await {
        Some(found) => found,
        None if before.is_empty() => return None,
        None => replay(world, before, case).await?,
    };
    while let Some(smaller) = smaller(world, &found).await {
        found = smaller;
    }
    Some(found)
}

async fn replay(world: &World, before: &[Case], case: &Case) -> Option<Found> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let round = world.round(format!("again{number}")).await;
    for earlier in before {
        ask(&round, earlier).await;
    }
    let answers = ask(&round, case).await;
    let different = matches!(answers.verdict(case), Verdict::Different);
    round.end().await;
    different.then(|| Found {
        case: case.clone(),
        before: before.to_vec(),
        answers,
    })
}

async fn smaller(world: &World, found: &Found) -> Option<Found> {
    for at in 0..found.before.len() {
        let mut before = found.before.clone();
        before.remove(at);
        if let Some(smaller) = replay(world, &before, &found.case).await {
            return Some(smaller);
        }
    }
    for case in candidates(&found.case) {
        if let Some(smaller) = replay(world, &found.before, &case).await {
            return Some(smaller);
        }
    }
    None
}

/// With one thing less.
fn candidates(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut without = |change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        all.push(smaller);
    };
    if let Some(body) = &case.body {
        for at in 0..body.mutations.len() {
            without(&|case| _ = case.body.as_mut().unwrap().mutations.remove(at));
        }
        if body.form == Form::Protobuf {
            without(&|case| case.body.as_mut().unwrap().form = Form::Json);
        }
    }
    for at in 0..case.query.len() {
        without(&|case| _ = case.query.remove(at));
    }
    for at in 0..case.headers.len() {
        without(&|case| _ = case.headers.remove(at));
    }
    if case.stored {
        without(&|case| case.stored = false);
    }
    all
}
