//! Whether the certificate files can be used, and for how long.

use std::path::Path;

use jiff::Timestamp;
use rustls::pki_types::UnixTime;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::Report;
use crate::{
    config::{Config, Identity, TlsFiles},
    identity::x509::{ClientCa, Options, Summary},
    server::tls,
};

/// With less than this left an operator should know.
const SOON_DAYS: i64 = 30;

pub(super) fn check(config: &Config, report: &mut Report) {
    let options = Options {
        uid: config.features.certificate_uid,
    };
    listener("serving", &config.serving.tls, options, report);
    if let Some(tls) = &config.admin.tls {
        listener("admin", tls, options, report);
    }
    if let Identity::FrontProxy { certificate, .. } = &config.upstream.identity {
        expiry("upstream.identity.certFile", certificate, report);
    }
}

/// Does with the files what `serve` does with them.
fn listener(name: &str, files: &TlsFiles, options: Options, report: &mut Report) {
    let usable = read(&files.certificate).and_then(|certificate| {
        let (key, client_ca) = (read(&files.key)?, read(&files.client_ca)?);
        tls::server_config(&certificate, &key, &client_ca).map_err(|error| error.to_string())?;
        let ca = ClientCa::from_pem(&client_ca, options).map_err(|error| format!("clientCAFile: {error}"))?;
        match &files.client_crl {
            None => Ok(ca),
            Some(lists) => {
                let with_lists = ca.with_lists(&read(lists)?);
                with_lists.map_err(|error| format!("clientCRLFile: {error}"))
            }
        }
    });
    match usable {
        Ok(ca) => ca.lists().for_each(|list| revocations(name, list, report)),
        Err(error) => report.fail(format!("{name}: {error}")),
    }
    expiry(&format!("{name}.certFile"), &files.certificate, report);
    expiry(&format!("{name}.clientCAFile"), &files.client_ca, report);
}

/// Says of a list whose it is and whether there should be a newer one.
fn revocations(name: &str, list: &Summary, report: &mut Report) {
    let about = format!("{name}.clientCRLFile: {}, {} revoked", list.issuer, list.revoked);
    if list.is_outdated(UnixTime::now()) {
        report.warn(format!("{about}; out of date, and used until there is a newer one"));
    } else {
        report.ok(about);
    }
}

/// Says of every certificate in a file whose it is and how long it is good.
fn expiry(key: &str, path: &Path, report: &mut Report) {
    let certificates = read(path).and_then(|pem| tls::certificates(&pem).map_err(|error| error.to_string()));
    let certificates = match certificates {
        Ok(certificates) => certificates,
        Err(error) => return report.fail(format!("{key}: {error}")),
    };
    // Of several CAs an expired one is a leftover; alone it is the end.
    let several = certificates.len() > 1;
    for der in certificates {
        let Ok((_, certificate)) = X509Certificate::from_der(&der) else {
            report.fail(format!("{key}: a certificate in {} cannot be parsed", path.display()));
            continue;
        };
        let now = Timestamp::now().as_second();
        let validity = certificate.validity();
        let days = (validity.not_after.timestamp() - now) / 86_400;
        let subject = certificate.subject();
        if validity.not_before.timestamp() > now {
            report.fail(format!("{key}: {subject} is not valid before {}", validity.not_before));
        } else if validity.not_after.timestamp() < now && several {
            report.warn(format!("{key}: {subject} expired on {}", validity.not_after));
        } else if validity.not_after.timestamp() < now {
            report.fail(format!("{key}: {subject} expired on {}", validity.not_after));
        } else if days < SOON_DAYS {
            report.warn(format!("{key}: {subject} expires in {days} days"));
        } else {
            report.ok(format!("{key}: {subject}, good for {days} days"));
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
