//! Headers, known and unknown: refused, or without a second copy of those that decide how a request is read.
#![no_main]

use http::{
    HeaderName, HeaderValue, Request,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use libfuzzer_sys::fuzz_target;
use scopegate::request::Head;

const NAMES: &[&str] = &[
    "accept",
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
    for (known, name, value) in headers {
        let name = NAMES.get(usize::from(known)).copied().unwrap_or(name);
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_bytes(value)) {
            request.headers_mut().append(name, value);
        }
    }
    let Ok(head) = Head::read(request.into_parts().0) else {
        return;
    };
    for name in [AUTHORIZATION, CONTENT_TYPE] {
        assert!(head.headers().get_all(&name).iter().count() <= 1, "{name}");
    }
    let wished = head
        .headers()
        .keys()
        .any(|name| name.as_str().starts_with("impersonate-"));
    assert!(!wished || head.headers().contains_key("impersonate-user"));
});
