//! A query as it stands in a target, behind paths where it counts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scopegate_fuzz::agree;

fuzz_target!(|query: &str| {
    agree("GET", &format!("/api/v1/pods?{query}"));
    agree("DELETE", &format!("/apis/apps/v1/namespaces/x/deployments?{query}"));
    agree("GET", &format!("/api/v1/watch/nodes?{query}"));
    agree(
        "GET",
        &format!("/api/v1/nodes?fieldSelector=metadata.name%3Dn1&{query}"),
    );
});
