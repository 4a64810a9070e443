//! Method, path and query as a client sends them: refused, or with one reading that reading again does not change.
#![no_main]

use http::{Method, Uri};
use libfuzzer_sys::fuzz_target;
use scopegate::request::{Query, RequestInfo, Target};

fuzz_target!(|input: (&str, &str)| {
    let (method, target) = input;
    let (Ok(method), Ok(uri)) = (Method::from_bytes(method.as_bytes()), target.parse::<Uri>()) else {
        return;
    };
    let Ok(query) = Query::parse(uri.query().unwrap_or_default()) else {
        return;
    };
    let Ok(info) = RequestInfo::read(&method, uri.path(), &query) else {
        return;
    };
    if let Target::Path(path) = &info.target {
        assert!(
            !path.split('/').any(|segment| segment == "." || segment == ".."),
            "{path:?}"
        );
        assert!(!path.contains("//"), "{path:?}");
        if path.bytes().all(|byte| byte.is_ascii_graphic()) {
            assert_eq!(RequestInfo::read(&method, path, &query).as_ref(), Ok(&info));
        }
    }
});
