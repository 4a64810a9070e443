//! Bodies in YAML, which people write by hand, made JSON: what is judged is what is sent, and only one reader reads YAML.

use http::header::CONTENT_TYPE;
use serde_json::Value;

use super::{Payload, sent::YAML};
use crate::{json::MAX_VALUES, rejection::Rejection, request::Head};

/// More than anybody writes by hand.
const MAX_ALIASES: usize = 256;
/// What the API server takes of any body.
const MAX_BYTES: usize = 3 * 1024 * 1024;
const JSON: &str = "application/json";
const APPLY: &str = "application/apply-patch+yaml";

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
    let text = std::str::from_utf8(body).map_err(|_| unread("it is not UTF-8".to_owned()))?;
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_documents: 1,
            max_nodes: MAX_VALUES,
            max_aliases: MAX_ALIASES,
            max_total_scalar_bytes: MAX_BYTES,
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
}
