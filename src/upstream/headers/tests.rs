use test_case::test_case;

use super::*;

#[test]
fn a_front_proxy_is_told_everything_about_the_user() {
    let headers = send(&[], &node(), Identity::FrontProxy { uid: true });
    assert_eq!(
        headers,
        [
            "x-remote-extra-authentication.kubernetes.io%2fcredential-id: X509SHA256=ab",
            "x-remote-group: system:nodes",
            "x-remote-group: system:authenticated",
            "x-remote-uid: u-1",
            "x-remote-user: system:node:n1",
        ]
    );
    let without = send(&[], &node(), Identity::FrontProxy { uid: false });
    assert!(
        !without.iter().any(|line| line.starts_with("x-remote-uid")),
        "{without:?}"
    );
}

#[test]
fn impersonation_tells_user_and_every_group() {
    let headers = send(&[], &node(), Identity::Impersonate);
    assert_eq!(
        headers,
        [
            "impersonate-extra-authentication.kubernetes.io%2fcredential-id: X509SHA256=ab",
            "impersonate-group: system:nodes",
            "impersonate-group: system:authenticated",
            "impersonate-uid: u-1",
            "impersonate-user: system:node:n1",
        ]
    );
}

/// Into a group of the gate's own nobody comes by itself, whatever its certificate or token says.
#[test]
fn the_gate_alone_puts_somebody_into_its_groups() {
    let claims = User {
        groups: vec![
            "a".to_owned(),
            names::granted_group("seed/shoots"),
            "scopegate.devil:b".to_owned(),
        ],
        ..User::default()
    };
    let user = User {
        name: "u".to_owned(),
        ..claims
    };
    for (identity, name) in [
        (Identity::FrontProxy { uid: true }, "x-remote-group"),
        (Identity::Impersonate, "impersonate-group"),
    ] {
        let mut headers = told(&user, identity).unwrap();
        let groups = |headers: &HeaderMap| -> Vec<String> {
            let groups = headers.get_all(name).iter();
            groups.map(|group| group.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(groups(&headers), ["a", "scopegate.devil:b"]);
        grant(&names::granted_group("seed/shoots"), &user, identity, &mut headers).unwrap();
        assert_eq!(
            groups(&headers),
            ["a", "scopegate.devil:b", "scopegate.dev:seed/shoots"]
        );
    }
    let mut headers = HeaderMap::new();
    grant("g", &user, Identity::Own, &mut headers).unwrap();
    assert!(headers.is_empty());
}

/// Upstream adds the groups of a service account only where none is said.
#[test]
fn beside_the_group_of_the_gate_all_others_are_said() {
    let account = User {
        name: "system:serviceaccount:seed-a:extension-x".to_owned(),
        groups: [
            "system:serviceaccounts",
            "system:serviceaccounts:seed-a",
            "system:authenticated",
        ]
        .map(str::to_owned)
        .to_vec(),
        ..User::default()
    };
    let mut headers = told(&account, Identity::Impersonate).unwrap();
    assert_eq!(headers.get_all("impersonate-group").iter().count(), 0);
    grant("g", &account, Identity::Impersonate, &mut headers).unwrap();
    assert_eq!(headers.get_all("impersonate-group").iter().count(), 4);
}

/// Who acts is told by the gate, whatever the user itself claims under the same key.
#[test]
fn the_actor_is_told() {
    let claims = User {
        extra: vec![(names::ACTOR_EXTRA.to_owned(), vec!["somebody".to_owned()])],
        ..node()
    };
    let rc = User {
        name: "rc-manager".to_owned(),
        ..User::default()
    };
    for (identity, name) in [
        (
            Identity::FrontProxy { uid: true },
            "x-remote-extra-acting-as.scopegate.dev%2factor",
        ),
        (
            Identity::Impersonate,
            "impersonate-extra-acting-as.scopegate.dev%2factor",
        ),
    ] {
        let mut headers = told(&claims, identity).unwrap();
        assert_eq!(headers.get(name), None);
        actor(&rc, identity, &mut headers).unwrap();
        assert_eq!(headers.get_all(name).iter().collect::<Vec<_>>(), ["rc-manager"]);
    }
    let mut headers = HeaderMap::new();
    actor(&rc, Identity::Own, &mut headers).unwrap();
    assert!(headers.is_empty());
}

/// Upstream knows these groups by the name; said, each of them would take a right of its own.
#[test_case(&["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"] => 0; "that follow from its name")]
#[test_case(&["system:serviceaccounts", "system:serviceaccounts:ns"] => 2; "fewer")]
#[test_case(&["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated", "a"] => 4; "more")]
#[test_case(&["system:serviceaccounts", "system:serviceaccounts:other", "system:authenticated"] => 3; "of another namespace")]
#[test_case(&["system:serviceaccounts", "system:authenticated", "system:authenticated"] => 3; "one twice")]
fn groups_of_service_accounts(groups: &[&str]) -> usize {
    let user = User {
        name: "system:serviceaccount:ns:a".to_owned(),
        groups: groups.iter().map(ToString::to_string).collect(),
        ..User::default()
    };
    let front_proxy = send(&[], &user, Identity::FrontProxy { uid: true });
    let count = |lines: &[String], prefix| lines.iter().filter(|line| line.starts_with(prefix)).count();
    assert_eq!(count(&front_proxy, "x-remote-group"), groups.len());
    count(&send(&[], &user, Identity::Impersonate), "impersonate-group")
}

/// Header names have no case, keys of extras do.
#[test]
fn capitals_in_the_key_of_an_extra_survive() {
    let user = User {
        extra: vec![("Scopes".into(), vec!["a".into()])],
        ..node()
    };
    let headers = send(&[], &user, Identity::Impersonate);
    assert_eq!(headers[0], "impersonate-extra-%53copes: a");
}

#[test]
fn the_gates_own_identity_adds_nothing() {
    assert_eq!(send(&[], &node(), Identity::Own), [] as [&str; 0]);
}

#[test_case("authorization", "Bearer abc")]
#[test_case("cookie", "a=b")]
#[test_case("x-remote-user", "admin")]
#[test_case("X-Remote-Group", "system:masters")]
#[test_case("x-remote-extra-scopes", "all")]
#[test_case("x-remote-anything", "x")]
#[test_case("impersonate-user", "admin")]
#[test_case("impersonate-uid", "0")]
#[test_case("impersonate-unheard-of", "x")]
#[test_case("x-custom-user-header", "admin"; "a name only upstream's operator knows")]
#[test_case("x-forwarded-for", "10.0.0.1")]
#[test_case("x-forwarded-uri", "/api/v1/secrets")]
#[test_case("x-original-url", "/api/v1/secrets")]
#[test_case("x-http-method-override", "DELETE")]
#[test_case("forwarded", "for=1")]
#[test_case("upgrade", "websocket")]
#[test_case("sec-websocket-protocol", "base64url.bearer.authorization.k8s.io.abc")]
#[test_case("transfer-encoding", "chunked")]
#[test_case("te", "trailers")]
fn what_a_client_says_beyond_the_list_is_not_passed_on(name: &str, value: &str) {
    assert_eq!(send(&[(name, value)], &node(), Identity::Own), [] as [&str; 0]);
}

#[test]
fn what_concerns_the_answer_is_passed_on() {
    let sent = [
        ("accept", "application/vnd.kubernetes.protobuf,application/json"),
        ("accept-encoding", "gzip"),
        ("content-type", "application/json"),
        ("user-agent", "kubelet/v1.36.0"),
    ];
    let lines: Vec<String> = sent.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(send(&sent, &node(), Identity::Own), lines);
}

#[test_case("x-remote-user"; "plain")]
#[test_case("close, X-Remote-User ,x-remote-group,  Impersonate-User"; "list")]
#[test_case("X-REMOTE-EXTRA-AUTHENTICATION.KUBERNETES.IO%2FCREDENTIAL-ID"; "extra")]
fn a_client_cannot_name_the_identity_hop_by_hop(connection: &str) {
    for identity in [Identity::FrontProxy { uid: true }, Identity::Impersonate] {
        let plain = send(&[], &node(), identity);
        assert_eq!(send(&[("connection", connection)], &node(), identity), plain);
    }
}

#[test]
fn a_clients_hop_by_hop_list_is_honoured_for_its_own_headers() {
    let sent = [("connection", "User-Agent"), ("user-agent", "x")];
    assert_eq!(send(&sent, &node(), Identity::Own), [] as [&str; 0]);
}

#[test_case("system:node:n1\r\nX-Remote-Group: system:masters"; "line break")]
#[test_case("system:node:n1 "; "white space that readers trim")]
#[test_case("\tsystem:node:n1"; "tab")]
#[test_case(""; "nothing")]
fn a_user_that_cannot_be_told_exactly_is_not_told_at_all(name: &str) {
    let named = User {
        name: name.to_owned(),
        ..node()
    };
    let in_group = User {
        groups: vec![name.to_owned()],
        ..node()
    };
    for user in [named, in_group] {
        assert!(request(&HeaderMap::new(), None, &user, Identity::Impersonate).is_err());
    }
}

#[test]
fn hop_by_hop_headers_of_upstream_stay_there() {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("connection", "close, x-hop"),
        ("x-hop", "1"),
        ("keep-alive", "1"),
        ("warning", "299 - x"),
    ] {
        headers.insert(name, value.parse().unwrap());
    }
    response(&mut headers);
    assert_eq!(lines(&headers), ["warning: 299 - x"]);
}

/// A WebSocket handshake goes on without the token that may be in it; SPDY's has its own header.
#[test]
fn an_upgrade_is_passed_on_without_credentials() {
    let offered =
        "v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.YWJj,BASE64url.bearer.authorization.k8s.io.YWJj";
    let sent = headers(&[
        ("connection", "Upgrade, Sec-WebSocket-Key, X-Remote-User"),
        ("upgrade", "websocket"),
        ("authorization", "Bearer abc"),
        ("sec-websocket-key", "a"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-protocol", offered),
        (
            "sec-websocket-protocol",
            " base64url.bearer.authorization.k8s.io.ZGVm , v4.channel.k8s.io",
        ),
        ("x-stream-protocol-version", "v4.channel.k8s.io"),
    ]);
    let websocket = of_client(&sent, Some(Upgrade::WebSocket));
    assert_eq!(
        lines(&websocket),
        [
            "connection: Upgrade",
            "sec-websocket-protocol: v5.channel.k8s.io, v4.channel.k8s.io",
            "sec-websocket-version: 13",
            "upgrade: websocket",
            "x-stream-protocol-version: v4.channel.k8s.io",
        ]
    );
    assert_eq!(lines(&of_client(&sent, None)), [] as [&str; 0]);
}

#[test]
fn a_token_is_passed_on_only_for_who_goes_with_it() {
    let sent = headers(&[("authorization", "Bearer client"), ("x-remote-user", "admin")]);
    let with = with_token(&sent, None, &Token::new("abcdef.0123456789abcdef")).unwrap();
    assert_eq!(lines(&with), ["authorization: Bearer abcdef.0123456789abcdef"]);
    assert!(with["authorization"].is_sensitive());
}

fn send(client: &[(&str, &str)], user: &User, identity: Identity) -> Vec<String> {
    lines(&request(&headers(client), None, user, identity).unwrap())
}

fn headers(all: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in all {
        headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    headers
}

fn lines(headers: &HeaderMap) -> Vec<String> {
    let mut names: Vec<_> = headers.keys().collect();
    names.sort_by_key(|name| name.as_str());
    let values = names
        .into_iter()
        .flat_map(|name| headers.get_all(name).iter().map(move |value| (name, value)));
    values
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect()
}

fn node() -> User {
    User {
        name: "system:node:n1".into(),
        uid: Some("u-1".into()),
        groups: vec!["system:nodes".into(), "system:authenticated".into()],
        extra: vec![(
            "authentication.kubernetes.io/credential-id".into(),
            vec!["X509SHA256=ab".into()],
        )],
    }
}
