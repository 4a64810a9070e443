//! Selectors and a number, escaped so that nothing of them is lost on the way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scopegate_fuzz::agree;

fuzz_target!(|input: (&str, &str, &str)| {
    let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    let (fields, labels, limit) = (escape(input.0), escape(input.1), escape(input.2));
    agree("GET", &format!("/api/v1/pods?fieldSelector={fields}"));
    agree(
        "GET",
        &format!("/api/v1/pods?labelSelector={labels}&fieldSelector=metadata.name%3Dp"),
    );
    agree(
        "GET",
        &format!("/api/v1/pods?limit={limit}&fieldSelector=metadata.name%3D{fields}"),
    );
    agree(
        "DELETE",
        &format!("/api/v1/pods?fieldSelector={fields}&labelSelector={labels}"),
    );
});
