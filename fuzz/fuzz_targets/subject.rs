//! The subject of a certificate: nobody, or somebody with a name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use scopegate::identity::x509::{Options, subject};
use x509_parser::{prelude::FromDer as _, x509::X509Name};

fuzz_target!(|der: &[u8]| {
    let Ok((_, name)) = X509Name::from_der(der) else { return };
    if let Ok(user) = subject(&name, Options { uid: true }) {
        assert!(!user.name.is_empty());
        assert!(user.uid.is_none_or(|uid| !uid.is_empty()));
    }
});
