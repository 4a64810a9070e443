//! Bodies in YAML, which people write by hand, made JSON: what is judged is what is sent, and only one reader reads YAML.

use http::header::CONTENT_TYPE;
use serde_json::Value;

use super::{Payload, sent::YAML};
use crate::{api::names::APPLY_PATCH as APPLY, json::MAX_VALUES, rejection::Rejection, request::Head};

/// More than anybody writes by hand.
const MAX_ALIASES: usize = 256;
const MAX_MERGED: usize = 32;
/// No object that carries pods has half of that.
const MAX_DEPTH: usize = 32;
/// Whatever is larger was not written by hand, and costs more to read than JSON.
const MAX_BYTES: usize = 256 * 1024;
const JSON: &str = "application/json";

/// Makes a body JSON that says it is YAML.
pub(super) fn to_json(head: &Head, payload: &mut Payload) -> Result<(), Rejection> {
    let Payload::Whole(body) = payload else { return Ok(()) };
    let content_type = head.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    let becomes = if media_type.eq_ignore_ascii_case(YAML) {
        JSON
    } else if media_type == APPLY {
        // To the API server it stays YAML, which JSON is too.
        APPLY
    } else {
        return Ok(());
    };
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
    let json = if is_json { body.clone() } else { converted(body)?.into() };
    *payload = Payload::Made(json, becomes);
    Ok(())
}

fn converted(body: &[u8]) -> Result<Vec<u8>, Rejection> {
    let unread = |why: String| Rejection::bad_request(format!("error decoding YAML: {why}"));
    if body.len() > MAX_BYTES {
        let why = format!("YAML is taken up to {MAX_BYTES} bytes; larger objects are sent as JSON");
        return Err(Rejection::entity_too_large(why));
    }
    let text = std::str::from_utf8(body).map_err(|_| unread("it is not UTF-8".to_owned()))?;
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_documents: 1,
            max_nodes: MAX_VALUES,
            max_aliases: MAX_ALIASES,
            // Each is gone through again for every one that is merged into another.
            max_merge_keys: MAX_MERGED,
            // Readers go down it one call within another, and there is only so much stack.
            max_depth: MAX_DEPTH,
            enforce_alias_anchor_ratio: false,
        },
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::Error,
        // 0644 is what people write, and what the API server reads.
        legacy_octal_numbers: true,
    };
    let value: Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| unread(error.to_string()))?;
    serde_json::to_vec(&value).map_err(|error| unread(error.to_string()))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::Request;
    use test_case::test_case;

    use super::*;

    fn told(content_type: &str, body: &str) -> String {
        let request = Request::post("/api/v1/namespaces/ns/pods").header(CONTENT_TYPE, content_type);
        let head = Head::read(request.body(()).unwrap().into_parts().0).unwrap();
        let mut payload = Payload::Whole(Bytes::copy_from_slice(body.as_bytes()));
        match (to_json(&head, &mut payload), payload) {
            (Ok(()), Payload::Made(body, becomes)) => {
                format!("{becomes} {}", String::from_utf8(body.to_vec()).unwrap())
            }
            (Ok(()), Payload::Whole(body)) => format!("- {}", String::from_utf8(body.to_vec()).unwrap()),
            (Ok(()), Payload::Stream(_)) => panic!("a body went away"),
            (Err(rejection), _) => rejection.code.as_str().to_owned(),
        }
    }

    #[test_case(YAML, "a: 1\nb: [x, 'y']\n" => "application/json {\"a\":1,\"b\":[\"x\",\"y\"]}"; "yaml")]
    #[test_case("application/YAML; charset=utf-8", "a: b" => "application/json {\"a\":\"b\"}"; "in another case")]
    #[test_case(YAML, "{\"a\": 1}" => "application/json {\"a\": 1}"; "JSON already")]
    #[test_case(APPLY, "a: b" => "application/apply-patch+yaml {\"a\":\"b\"}"; "applied")]
    #[test_case(JSON, "a: b" => "- a: b"; "not yaml")]
    #[test_case(YAML, "a: 1\na: 2" => "400"; "a key twice")]
    #[test_case(YAML, "a: 1\n---\nb: 2" => "400"; "two documents")]
    #[test_case(YAML, "a: &x 1\nb: *x" => "application/json {\"a\":1,\"b\":1}"; "an alias")]
    #[test_case(YAML, "a: 0644" => "application/json {\"a\":420}"; "octal")]
    #[test_case(YAML, "a: 0o644" => "application/json {\"a\":420}"; "octal of today")]
    #[test_case(YAML, "a: [" => "400"; "broken")]
    fn bodies(content_type: &str, body: &str) -> String {
        told(content_type, body)
    }

    #[test]
    fn what_grows_is_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..9 {
            let alias = format!("*a{}", n - 1);
            bomb += &format!("a{n}: &a{n} [{}]\n", [alias.as_str(); 10].join(", "));
        }
        assert_eq!(told(YAML, &bomb), "400");
        let many = format!("a: &x y\nb: [{}]", ["*x"; 300].join(", "));
        assert_eq!(told(YAML, &many), "400");
    }

    /// As deep as it may be, on a stack as large as those that requests are handled on.
    #[test]
    fn what_is_deep_ends_no_thread() {
        let ladder = |depth: usize| {
            let lines = (0..depth).map(|level| format!("{}a:\n", " ".repeat(level)));
            lines.collect::<String>()
        };
        let flow = |depth: usize| format!("{}1{}", "!!map {a: ".repeat(depth), "}".repeat(depth));
        let deep = move || {
            assert!(told(YAML, &ladder(MAX_DEPTH - 2)).starts_with("application/json "));
            for depth in [MAX_DEPTH, 64, 200, 400] {
                assert_eq!(told(YAML, &ladder(depth + 1)), "400");
                assert_eq!(told(YAML, &flow(depth + 1)), "400");
            }
        };
        let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(deep);
        thread.unwrap().join().unwrap();
    }

    #[test]
    fn merged_keys_are_few() {
        let mut bomb = "k0: &a0 {a: x}\n".to_owned();
        for n in 1..14 {
            bomb += &format!("k{n}: &a{n} {{<<: [*a{}, *a{}], b{n}: 1}}\n", n - 1, n - 1);
        }
        assert_eq!(told(YAML, &bomb), "400");
        let merged = told(YAML, "a: &x {b: 1}\nc: {<<: *x, d: 2}");
        assert_eq!(merged, "application/json {\"a\":{\"b\":1},\"c\":{\"b\":1,\"d\":2}}");
        let aliases = format!("a: &x y\nb: [{}]", ["*x"; 110].join(", "));
        assert!(told(YAML, &aliases).starts_with("application/json "));
        assert_eq!(told(YAML, &"# x\n".repeat(100_000)), "413");
    }
}
