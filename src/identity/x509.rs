//! A client certificate chain → the user it names.
//!
//! Follows `k8s.io/apiserver/pkg/authentication/request/x509/x509.go` (1.36): CN is the user, every O a group, and
//! an attribute of the subject may carry the UID.

mod ca;
mod crl;
mod der;
mod strict;

use std::sync::Arc;

use aws_lc_rs::digest;
use rustls::pki_types::{CertificateDer, UnixTime};
use x509_parser::{
    asn1_rs::{Class, Tag},
    der_parser::{Oid, oid},
    oid_registry::{OID_X509_COMMON_NAME, OID_X509_ORGANIZATION_NAME},
    prelude::{FromDer, X509Certificate},
    x509::{AttributeTypeAndValue, X509Name},
};

pub use self::{ca::LoadError, crl::Summary, strict::Malformed};
use self::{
    ca::{Anchors, Window},
    strict::Certificate as Strict,
};
use crate::{
    api::{hex, names},
    caller::{Caller, Certificate, User},
};

/// The CAs whose certificates are believed.
#[derive(Debug)]
pub struct ClientCa {
    anchors: Anchors,
    options: Options,
}

/// What differs between Kubernetes releases.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// `AllowParsingUserUIDFromCertAuth`: whether the subject may carry a UID.
    pub uid: bool,
}

/// A chain that was verified, and for how long that stands.
#[derive(Debug)]
pub struct Verified {
    pub caller: Caller,
    window: Window,
}

/// Why a certificate does not identify anybody. For the log; clients only read "Unauthorized".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("client certificate has no common name")]
    NoName,
    #[error("client sent a certificate that cannot be used: {0}")]
    Malformed(#[from] Malformed),
    #[error("client certificate cannot be parsed: {0}")]
    Parse(String),
    #[error("client certificate has {0} in its subject")]
    Subject(&'static str),
    #[error("client certificate is not trusted: {}", explain(.0))]
    Untrusted(#[source] webpki::Error),
    #[error("client sent a certificate of more than {MAX_CERTIFICATE} bytes")]
    TooLong,
    #[error("client sent {0} certificates, more than any chain needs")]
    TooMany(usize),
}

/// Of one certificate; those of Kubernetes have one or two thousand bytes.
const MAX_CERTIFICATE: usize = 16 * 1024;
/// Attribute of the subject that carries the user's UID.
const UID: Oid<'static> = oid!(1.3.6.1.4.1.57683.2);
/// More than this is no mistake.
const MAX_SENT: usize = 16;
/// Two levels of intermediates, and a root that need not be sent. With every one more, a client could make the search for
/// a path several times longer.
const MAX_INTERMEDIATES: usize = 3;

impl ClientCa {
    pub fn from_pem(pem: &[u8], options: Options) -> Result<Self, LoadError> {
        let anchors = Anchors::from_pem(pem)?;
        Ok(Self { anchors, options })
    }

    /// The same CAs, with the lists of what they have taken back.
    pub fn with_lists(self, pem: &[u8]) -> Result<Self, LoadError> {
        let anchors = self.anchors.with_lists(pem)?;
        Ok(Self { anchors, ..self })
    }

    /// The lists in use.
    pub fn lists(&self) -> impl Iterator<Item = &Summary> {
        self.anchors.lists().summaries()
    }

    pub fn verify(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<Verified, Error> {
        let intermediates = related(leaf, intermediates)?;
        let window = self
            .anchors
            .verify(leaf, &intermediates, now)
            .map_err(Error::Untrusted)?;
        let parsed = parse(leaf)?;
        let caller = Caller {
            certificate: Some(Arc::new(certificate(&parsed))),
            ..user(leaf, &parsed, self.options)?.authenticated().into()
        };
        Ok(Verified { caller, window })
    }
}

impl Verified {
    /// Whether verifying again at this time, with the same CAs, could only give the same answer.
    pub fn holds(&self, now: UnixTime) -> bool {
        self.window.contains(now)
    }
}

/// The certificates that can be in a path from the leaf, by their names. What has nothing to do with it is left out, but has
/// to be something Go would parse: kube-apiserver parses all it is sent.
fn related<'a>(leaf: &CertificateDer<'_>, sent: &'a [CertificateDer<'_>]) -> Result<Vec<CertificateDer<'a>>, Error> {
    // Before anything looks into them: nobody knows yet whose they are.
    if std::iter::once(leaf).chain(sent).any(|der| der.len() > MAX_CERTIFICATE) {
        return Err(Error::TooLong);
    }
    if sent.len() > MAX_SENT {
        return Err(Error::TooMany(sent.len() + 1));
    }
    let mut rest = sent
        .iter()
        .map(|der| Ok((der.as_ref(), Strict::read(der)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let mut wanted = vec![Strict::read(leaf)?.issuer];
    let mut related: Vec<CertificateDer<'a>> = Vec::new();
    while let Some(issuer) = wanted.pop() {
        for (der, certificate) in rest.extract_if(.., |(_, certificate)| certificate.subject == issuer) {
            if related.iter().all(|known| known.as_ref() != der) {
                related.push(CertificateDer::from(der));
                wanted.push(certificate.issuer);
            }
        }
    }
    if related.len() > MAX_INTERMEDIATES {
        return Err(Error::TooMany(sent.len() + 1));
    }
    Ok(related)
}

fn parse<'a>(certificate: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, Error> {
    match X509Certificate::from_der(certificate) {
        Ok((_, parsed)) => Ok(parsed),
        Err(error) => Err(Error::Parse(error.to_string())),
    }
}

/// What tells the certificate from others.
pub fn certificate(parsed: &X509Certificate<'_>) -> Certificate {
    let mut public_key = [0; 32];
    let digest = digest::digest(&digest::SHA256, parsed.public_key().raw);
    // Both have 32 bytes.
    public_key
        .iter_mut()
        .zip(digest.as_ref())
        .for_each(|(to, from)| *to = *from);
    Certificate::new(parsed.raw_serial(), public_key)
}

fn user(leaf: &CertificateDer<'_>, parsed: &X509Certificate<'_>, options: Options) -> Result<User, Error> {
    let credential = format!("X509SHA256={}", hex(digest::digest(&digest::SHA256, leaf).as_ref()));
    let extra = vec![(names::CREDENTIAL_ID_EXTRA.to_owned(), vec![credential])];
    Ok(User {
        extra,
        ..subject(parsed.subject(), options)?
    })
}

/// The user a distinguished name stands for. What kube-apiserver would skip or read in a way of its own (odd string
/// types) is an error instead: it would be another user there.
pub fn subject(subject: &X509Name<'_>, options: Options) -> Result<User, Error> {
    let mut user = User::default();
    for attribute in subject.iter_attributes() {
        let value = || plain(attribute).ok_or(Error::Subject("a name that is not a plain string"));
        let oid = attribute.attr_type();
        if *oid == OID_X509_COMMON_NAME {
            // Of several, the last counts.
            user.name = value()?.to_owned();
        } else if *oid == OID_X509_ORGANIZATION_NAME {
            match value()? {
                "" => return Err(Error::Subject("an empty group")),
                group => user.groups.push(group.to_owned()),
            }
        } else if *oid == UID && options.uid {
            let uid = plain(attribute).ok_or(Error::Subject("a UID that is not a plain string"))?;
            if uid.is_empty() {
                return Err(Error::Subject("an empty UID"));
            }
            if user.uid.replace(uid.to_owned()).is_some() {
                return Err(Error::Subject("more than one UID"));
            }
        }
    }
    if user.name.is_empty() {
        Err(Error::NoName)
    } else {
        Ok(user)
    }
}

/// A value in which every reader finds the same characters, in a certificate and in a header: of the common string types
/// in their proper form, without control characters or white space around it.
fn plain<'a>(attribute: &'a AttributeTypeAndValue<'_>) -> Option<&'a str> {
    let header = &attribute.attr_value().header;
    if header.class() != Class::Universal || header.constructed() {
        return None;
    }
    let value = attribute.as_str().ok()?;
    let proper = match header.tag() {
        Tag::Utf8String => true,
        Tag::PrintableString => value.chars().all(printable),
        Tag::Ia5String => value.is_ascii(),
        Tag::NumericString => value.chars().all(|c| c.is_ascii_digit() || c == ' '),
        _ => false,
    };
    let exact = value.trim() == value && !value.contains(char::is_control);
    (proper && exact).then_some(value)
}

/// The alphabet of PrintableString, with the two characters that Go takes too.
fn printable(c: char) -> bool {
    c.is_ascii_alphanumeric() || " '()+,-./:=?*&".contains(c)
}

fn explain(error: &webpki::Error) -> String {
    match error {
        webpki::Error::CertRevoked => "it, or a CA between it and clientCAFile, was revoked".to_owned(),
        webpki::Error::InvalidCrlSignatureForPublicKey => {
            "clientCRLFile has a list in the name of its issuer that this issuer has not signed".to_owned()
        }
        webpki::Error::CertExpired { .. } => "it has expired".to_owned(),
        webpki::Error::CertNotValidYet { .. } => "it is not valid yet".to_owned(),
        webpki::Error::RequiredEkuNotFoundContext(_) => "it is not for client authentication".to_owned(),
        webpki::Error::UnsupportedCriticalExtension => {
            "it, or a CA between it and clientCAFile, has an extension that is not understood".to_owned()
        }
        webpki::Error::UnknownIssuer => "no valid CA of clientCAFile has signed it".to_owned(),
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests;
