use test_case::test_case;

use super::*;

#[test_case("/api/v1/pods?limit=500" => Asked::Other; "list")]
#[test_case("/api/v1/pods" => Asked::Other; "no query")]
#[test_case("/api/v1/pods?watch=false&resourceVersion=7" => Asked::Other; "no watch")]
#[test_case("/api/v1/pods?watch=true&resourceVersion=0&sendInitialEvents=true" => Asked::Everything; "streaming list")]
#[test_case("/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7" => Asked::Since(7); "resumed")]
#[test_case("/api/v1/pods?watch=true&resourceVersion=0" => Asked::Watch; "from any version")]
#[test_case("/api/v1/pods?watch=1&resourceVersion=opaque" => Asked::Watch; "from a version that is no number")]
fn requests_are_told_apart(target: &str) -> Asked {
    Asked::of(&target.parse().unwrap())
}

#[test]
fn a_streaming_list_asks_for_what_is_true_now() {
    let mut request = Request::new(());
    *request.uri_mut() = "/a?watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=0"
        .parse()
        .unwrap();
    let request = consistent(request).unwrap();
    assert_eq!(request.uri(), "/a?watch=true&resourceVersionMatch=NotOlderThan");
}
