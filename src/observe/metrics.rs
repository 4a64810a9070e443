//! The registry behind `/metrics`. Each part counts for itself and is registered in `app`.

use prometheus_client::{encoding::text::encode, metrics::info::Info, registry::Registry};

/// The part of a registry whose metrics are all named `scopegate_…`, with the build already in it.
pub fn own(registry: &mut Registry) -> &mut Registry {
    let own = registry.sub_registry_with_prefix("scopegate");
    let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
    own.register("build", "The running build", build);
    own
}

/// In the OpenMetrics text format, with its content type.
pub fn text(registry: &Registry) -> (&'static str, String) {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = encode(&mut text, registry);
    ("application/openmetrics-text; version=1.0.0; charset=utf-8", text)
}
