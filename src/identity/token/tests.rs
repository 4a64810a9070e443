use std::{
    net::Ipv4Addr,
    sync::atomic::{AtomicUsize, Ordering},
};

use test_case::test_case;
use tokio::sync::Notify;

use super::*;
use crate::caller::Kind;

const CLIENT: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
const TTL: Duration = Duration::from_secs(10);

/// Whoever upstream names with a plain yes is the caller; nothing else is.
#[test_case(200, json!({"authenticated": true, "user": {"username": "u"}}) => "u"; "yes")]
#[test_case(201, json!({"authenticated": true, "user": {"username": "u"}}) => "u"; "created")]
#[test_case(200, json!({"authenticated": false, "user": {"username": "u"}}) => "401"; "no")]
#[test_case(200, json!({"user": {"username": "u"}}) => "401"; "no word of it")]
#[test_case(200, json!({"authenticated": true}) => "401"; "yes, but nobody")]
#[test_case(200, json!({"authenticated": true, "user": {"username": ""}}) => "401"; "yes, but no name")]
#[test_case(200, json!({"authenticated": false, "error": "expired"}) => "401"; "no, with a reason")]
#[test_case(200, json!("yes") => "503"; "nonsense")]
#[test_case(403, json!({}) => "503"; "the gate may not ask")]
#[test_case(500, json!({}) => "503"; "upstream is in trouble")]
#[tokio::test]
async fn reviews(code: u16, status: Value) -> String {
    let tokens = Tokens::new(answering(code, status), TTL);
    said(&tokens, "t").await
}

#[tokio::test]
async fn the_whole_user_is_taken_over() {
    let user = json!({
        "username": "system:serviceaccount:ns:sa",
        "uid": "u-1",
        "groups": ["system:serviceaccounts"],
        "extra": {"authentication.kubernetes.io/pod-name": ["p"]},
    });
    let tokens = Tokens::new(answering(201, json!({"authenticated": true, "user": user})), TTL);
    let caller = tokens.identify(&Token::new("t"), CLIENT).await.unwrap();
    assert_eq!(caller.user.uid.as_deref(), Some("u-1"));
    assert_eq!(caller.user.groups, ["system:serviceaccounts", "system:authenticated"]);
    assert_eq!(caller.user.extra[0].1, ["p"]);
    assert_eq!(caller.kind, Kind::Other);
}

#[tokio::test]
async fn a_node_may_come_with_a_token_and_a_bootstrapper_keeps_it() {
    let yes = |name: &str, group: &str| json!({"authenticated": true, "user": {"username": name, "groups": [group]}});
    let kind = async |status| {
        let tokens = Tokens::new(answering(201, status), TTL);
        tokens.identify(&Token::new("t"), CLIENT).await.unwrap().kind
    };
    assert_eq!(
        kind(yes("system:node:n1", "system:nodes")).await,
        Kind::Node("n1".into())
    );
    assert_eq!(
        kind(yes("system:bootstrap:abcdef", "system:bootstrappers")).await,
        Kind::Bootstrap(Token::new("t"))
    );
    assert_eq!(kind(yes("admin", "system:bootstrappers")).await, Kind::Other);
}

/// However many ask at once, and again soon after, upstream is asked once; yes and no alike.
#[test_case(true; "yes")]
#[test_case(false; "no")]
#[tokio::test]
async fn one_question_is_asked_once(authenticated: bool) {
    let (asked, ask) = counting(json!({"authenticated": authenticated, "user": {"username": "u"}}));
    let tokens = Tokens::new(ask, TTL);
    let (token, all) = (Token::new("t"), futures_util::future::join_all);
    let answers = all((0..1000).map(|_| tokens.identify(&token, CLIENT))).await;
    assert!(answers.iter().all(|answer| answer.is_ok() == authenticated));
    said(&tokens, "t").await;
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    said(&tokens, "another").await;
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

/// What could not be found out is asked again.
#[tokio::test]
async fn trouble_is_not_remembered() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let ask: Ask = Arc::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { Err("connection refused".to_owned()) })
    });
    let tokens = Tokens::new(ask, TTL);
    assert_eq!(said(&tokens, "t").await, "503");
    assert_eq!(said(&tokens, "t").await, "503");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

/// Somebody who makes up tokens gets no more than his share, and others still get theirs.
#[tokio::test]
async fn made_up_tokens_do_not_keep_others_out() {
    let open = Arc::new(Notify::new());
    let gate = Arc::clone(&open);
    let ask: Ask = Arc::new(move |_| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            gate.notified().await;
            Ok((StatusCode::CREATED, json!({"status": {"authenticated": false}})))
        })
    });
    let tokens = Tokens::new(ask, TTL);
    let begin = |token: String, client: [u8; 4]| {
        let tokens = tokens.clone();
        tokio::spawn(async move {
            tokens
                .identify(&Token::new(&token), Some(client.into()))
                .await
                .unwrap_err()
                .code
        })
    };
    let waiting: Vec<_> = (0..MAX_ASKING_FOR_ONE)
        .map(|n| begin(format!("made-up-{n}"), [10, 0, 0, 1]))
        .collect();
    tokio::task::yield_now().await;
    let refused = begin("made-up-more".to_owned(), [10, 0, 0, 1]).await.unwrap();
    assert_eq!(refused, StatusCode::TOO_MANY_REQUESTS);
    let other = begin("real".to_owned(), [10, 0, 0, 2]);
    tokio::task::yield_now().await;
    assert!(!other.is_finished(), "refused too");
    open.notify_waiters();
    for answer in waiting.into_iter().chain([other]) {
        assert_eq!(answer.await.unwrap(), StatusCode::UNAUTHORIZED);
    }
    assert_eq!(tokens.asking.available_permits(), MAX_ASKING, "places come back");
}

/// Whoever asks and goes away at once does not make the gate ask again.
#[tokio::test]
async fn a_question_is_finished_even_if_nobody_waits_for_it() {
    let (asked, ask) = counting(json!({"authenticated": true, "user": {"username": "u"}}));
    let slow: Ask = Arc::new(move |review| {
        let answer = ask(review);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            answer.await
        })
    });
    let tokens = Tokens::new(slow, TTL);
    for _ in 0..300 {
        let token = Token::new("t");
        let mut asking = std::pin::pin!(tokens.identify(&token, CLIENT));
        assert!(futures_util::poll!(asking.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    assert_eq!(said(&tokens, "t").await, "u");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

async fn said(tokens: &Tokens, token: &str) -> String {
    match tokens.identify(&Token::new(token), CLIENT).await {
        Ok(caller) => caller.user.name.clone(),
        Err(rejection) => rejection.code.as_u16().to_string(),
    }
}

fn answering(code: u16, status: Value) -> Ask {
    Arc::new(move |_| {
        let review = json!({"status": status});
        let code = StatusCode::from_u16(code).unwrap();
        Box::pin(async move { Ok((code, review)) })
    })
}

fn counting(status: Value) -> (Arc<AtomicUsize>, Ask) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let ask: Ask = Arc::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        let review = json!({"status": status});
        Box::pin(async move { Ok((StatusCode::CREATED, review)) })
    });
    (asked, ask)
}
