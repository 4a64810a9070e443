//! JSON: what is read can be written, and means the same to another reader.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scopegate::json::Json;

fuzz_target!(|input: &[u8]| {
    let Ok(value) = Json::parse(input) else {
        return;
    };
    let written = value.to_vec();
    let again = Json::parse(&written).expect("it was written");
    let theirs: serde_json::Value = serde_json::from_slice(input).expect("it was read");
    let written: serde_json::Value = serde_json::from_slice(&written).expect("it was written");
    // A fraction may come out a little different each time.
    if whole(&value) {
        assert_eq!(again, value);
        assert_eq!(written, theirs);
    }
});

fn whole(value: &Json<'_>) -> bool {
    match value {
        Json::Number(number) => !number.is_f64(),
        Json::Array(items) => items.iter().all(whole),
        Json::Object(object) => object.iter().all(|(_, value)| whole(value)),
        _ => true,
    }
}
