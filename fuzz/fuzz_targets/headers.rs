//! Headers, known and unknown: refused, or without a second copy of those that decide how a request is read.
#![no_main]

use http::{
    HeaderName, HeaderValue, Request, Uri,
    header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, TRANSFER_ENCODING, UPGRADE},
};
use libfuzzer_sys::fuzz_target;
use scopegate::request::Head;

const NAMES: &[&str] = &[
    "accept",
    "acting-as",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "impersonate-extra-scopes",
    "impersonate-group",
    "impersonate-uid",
    "impersonate-user",
    "te",
    "transfer-encoding",
    "upgrade",
    "x-remote-user",
];

fuzz_target!(|headers: Vec<(u8, &str, &[u8])>| {
    let mut request = Request::new(());
    *request.uri_mut() = Uri::from_static("/api/v1/namespaces/a/pods/b/exec");
    for (known, name, value) in headers {
        let name = NAMES.get(usize::from(known)).copied().unwrap_or(name);
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(value)) {
            request.headers_mut().append(name, value);
        }
    }
    let Ok(head) = Head::read(request.into_parts().0) else {
        return;
    };
    // Whoever stops speaking HTTP has said so once, in a way that nobody can miss, and sends no body.
    let connection: Vec<&[u8]> = head
        .headers()
        .get_all(CONNECTION)
        .iter()
        .map(|value| value.as_bytes())
        .collect();
    let announced = connection.join(&b","[..]).to_ascii_lowercase();
    let announced = announced
        .split(|byte| *byte == b',')
        .any(|word| word.trim_ascii() == b"upgrade");
    assert_eq!(
        head.upgrade().is_some(),
        announced && head.headers().contains_key(UPGRADE)
    );
    assert_eq!(announced, head.headers().contains_key(UPGRADE));
    assert!(head.upgrade().is_none() || !head.headers().contains_key(TRANSFER_ENCODING));
    for name in [AUTHORIZATION, CONTENT_TYPE, UPGRADE] {
        assert!(head.headers().get_all(&name).iter().count() <= 1, "{name}");
    }
    // A wish to be somebody else is read whole or not at all: nothing of it is left out of account.
    let said = |name: &str| head.headers().contains_key(name);
    let impersonates = head
        .headers()
        .keys()
        .any(|name| name.as_str().starts_with("impersonate-"));
    assert_eq!(head.wish().is_some(), said("acting-as") || impersonates);
    assert!(!(said("acting-as") && impersonates));
    if let Some(wish) = head.wish() {
        let name = if impersonates { "impersonate-user" } else { "acting-as" };
        let values: Vec<&[u8]> = head.headers().get_all(name).iter().map(HeaderValue::as_bytes).collect();
        assert_eq!(values, [wish.user.as_bytes()]);
        let groups: Vec<&[u8]> = head
            .headers()
            .get_all("impersonate-group")
            .iter()
            .map(HeaderValue::as_bytes)
            .collect();
        assert_eq!(groups, wish.groups.iter().map(String::as_bytes).collect::<Vec<_>>());
        assert!(
            wish.extra
                .iter()
                .all(|(key, values)| !values.is_empty() && key != "acting-as.scopegate.dev/actor")
        );
    }
});
