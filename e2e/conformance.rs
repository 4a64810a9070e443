mod case;
mod compare;
mod differences;
mod encode;
mod fixture;
mod generate;
mod mutation;
mod rules;
mod shrink;
mod table;
mod tally;
mod world;

use std::sync::Mutex;

use futures_util::{StreamExt as _, stream};

pub(crate) use self::compare::BROKEN_OFF;
use self::{
    case::Case,
    compare::{Answers, Verdict, ask},
    generate::Generator,
    tally::Tally,
    world::World,
};
use crate::{random::seed, report};

/// Requests on the same objects. What they store changes what later ones meet.
const ROUND: usize = 100;
/// Rounds at a time.
const LANES: usize = 4;
/// So many requests are sure to meet every rule.
const ENOUGH: usize = 20_000;

/// How many there are to be: `SCOPEGATE_REQUESTS=100000 make e2e-deep`.
fn requests() -> usize {
    std::env::var("SCOPEGATE_REQUESTS").map_or(3000, |count| count.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn generated_requests_are_answered_alike() {
    let Some(world) = World::start().await else { return };
    let (seed, requests) = (seed(), requests());
    let tally = Mutex::new(Tally::new(seed));
    stream::iter(0..requests.div_ceil(ROUND))
        .for_each_concurrent(LANES, |round| {
            let (world, tally) = (&world, &tally);
            async move { run(world, tally, seed, round).await }
        })
        .await;
    let tally = tally.into_inner().unwrap();
    println!("{}", tally.table());
    report::note("conformance", &tally.figures());
    for (what, told) in &tally.unknown {
        println!("no rule accounts for the refusal of {what}: {told}");
    }
    let missed = tally.missed();
    println!("never met: {missed:?}");
    let different: Vec<&str> = tally.different.values().map(String::as_str).collect();
    assert!(different.is_empty(), "seed {seed}:\n{}", different.join("\n"));
    assert!(tally.unknown.is_empty(), "refusals that no rule accounts for");
    assert!(
        requests < ENOUGH || missed.is_empty(),
        "rules that were never met: {missed:?}"
    );
}

/// The same requests whenever seed and round are the same.
async fn run(world: &World, tally: &Mutex<Tally>, seed: u64, number: usize) {
    let mut generator = Generator::new(seed, number as u64, world.encoder.is_there());
    let cases: Vec<Case> = (0..ROUND).map(|_| generator.case()).collect();
    let mut round = world.round(format!("r{number}")).await;
    let mut before = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        if tally.lock().unwrap().is_full() {
            break;
        }
        let answers = ask(&round, case).await;
        let verdict = answers.verdict(case);
        tally.lock().unwrap().count(case, &answers, &verdict);
        let different = matches!(verdict, Verdict::Different);
        if different {
            differs(world, tally, &before, case, &answers, (number, at)).await;
        }
        if different || answers.parted(case) {
            // From now on the two sides have different objects.
            round.end().await;
            round = world.round(format!("r{number}x{at}")).await;
            before.clear();
        } else if case.stored && answers.codes[0] < 300 {
            before.push(case.clone());
        }
    }
    round.end().await;
}

async fn differs(
    world: &World,
    tally: &Mutex<Tally>,
    before: &[Case],
    case: &Case,
    answers: &Answers,
    (round, at): (usize, usize),
) {
    let key = key(case, answers);
    if tally.lock().unwrap().different.contains_key(&key) {
        return;
    }
    let found = shrink::shrink(world, before, case).await;
    let mut tally = tally.lock().unwrap();
    match found {
        Some(found) => {
            let before: String = found.before.iter().map(|case| format!("\n  after {case}")).collect();
            let told = format!(
                "round {round}, request {at}: {}{before}\n{}",
                found.case,
                found.answers.told()
            );
            eprintln!("a difference: {told}");
            tally.different.insert(key, told);
        }
        None => {
            let told = format!("round {round}, request {at}: {case}\n{}", answers.told());
            eprintln!("differed once, but not again: {told}");
            if answers.let_through(case) {
                // Once is enough.
                tally.different.insert(key, told);
            } else {
                tally.passing += 1;
            }
        }
    }
}

/// What makes two differences the same one.
fn key(case: &Case, answers: &Answers) -> String {
    let message: String = answers
        .message()
        .chars()
        .filter(|char| !char.is_ascii_digit())
        .collect();
    let short: String = message.chars().take(60).collect();
    format!(
        "{} {} {} {:?} {short}",
        case.verb, case.resource, case.sub, answers.codes
    )
}
