//! A method and a path, of which nothing is known.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scopegate_fuzz::agree;

fuzz_target!(|input: (&str, &str)| {
    let (method, path) = input;
    for method in [method, "GET", "DELETE"] {
        agree(method, path);
        agree(method, &format!("/api/{path}"));
        agree(method, &format!("/apis/{path}"));
    }
});
