//! Which certificates are believed: those that Go's `crypto/x509` would believe with the same CA file.
//!
//! webpki builds and checks the path. It takes a trust anchor for a name and a key and no more; what Go also asks of a
//! root (that it is a CA, valid now, and meant for this), of an intermediate (that it may sign) and of extensions that
//! webpki does not look into is checked here.

use rustls::pki_types::{CertificateDer, TrustAnchor, UnixTime};
use webpki::{
    EndEntityCert, ExtendedKeyUsageValidator, KeyPurposeIdIter, KeyUsage, RequiredEkuNotFoundContext, VerifiedPath,
    anchor_from_trusted_cert,
};
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::{crl::Lists, strict::Certificate};
use crate::server::tls;

/// The trust anchors of a CA file.
#[derive(Debug)]
pub(super) struct Anchors {
    /// As webpki wants them; `roots` has the rest, in the same order.
    anchors: Vec<TrustAnchor<'static>>,
    roots: Vec<Root>,
    lists: Lists,
}

/// When everything of a path is valid, in seconds. The last second does not count: in all of it but its first instant the
/// time is past the end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Window {
    pub(super) from: u64,
    pub(super) until: u64,
}

#[derive(Debug)]
struct Root {
    window: Window,
    /// How many intermediates may follow.
    path_length: Option<u32>,
    name_constraints: bool,
    /// SubjectPublicKeyInfo, whole.
    key: Vec<u8>,
}

/// A CA file, or the lists that go with it, that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{subject}: {why}")]
    Anchor { subject: String, why: &'static str },
    #[error("revocation list of {issuer}: {why}")]
    List { issuer: String, why: String },
    #[error("a revocation list cannot be parsed")]
    ListParse,
    #[error("the file has no PEM block \"X509 CRL\"; leave clientCRLFile out where there is no list")]
    NoList,
    #[error("a certificate cannot be parsed")]
    Parse,
    #[error(transparent)]
    Pem(#[from] tls::Error),
}

/// Client authentication, or anything; no list at all means anything.
struct ClientAuth;

impl Anchors {
    pub(super) fn from_pem(pem: &[u8]) -> Result<Self, LoadError> {
        let mut all = Self {
            anchors: Vec::new(),
            roots: Vec::new(),
            lists: Lists::default(),
        };
        for der in tls::certificates(pem)? {
            let (_, certificate) = X509Certificate::from_der(&der).map_err(|_| LoadError::Parse)?;
            let refuse = |why| LoadError::Anchor {
                subject: certificate.subject().to_string(),
                why,
            };
            let constraints = certificate.basic_constraints().map_err(|_| LoadError::Parse)?;
            let constraints = constraints.map(|extension| extension.value);
            if !constraints.is_some_and(|constraints| constraints.ca) {
                return Err(refuse(
                    "is not a CA certificate; it could sign for anybody here, but not at kube-apiserver",
                ));
            }
            if !may_sign(&certificate) {
                return Err(refuse("may not sign certificates (key usage)"));
            }
            let strict =
                Certificate::read(&der).map_err(|_| refuse("is not a certificate kube-apiserver would read"))?;
            if strict.notes.unhandled {
                return Err(refuse("has a critical extension that is not understood"));
            }
            let usage = certificate.extended_key_usage().map_err(|_| LoadError::Parse)?;
            if usage.is_some_and(|usage| !usage.value.any && !usage.value.client_auth) {
                return Err(refuse("is not for client certificates (extended key usage)"));
            }
            let anchor = anchor_from_trusted_cert(&der).map_err(|_| refuse("cannot be used as a trust anchor"))?;
            all.anchors.push(anchor.to_owned());
            all.roots.push(Root {
                window: Window::of(&certificate),
                path_length: constraints.and_then(|constraints| constraints.path_len_constraint),
                name_constraints: strict.notes.name_constraints,
                key: strict.key.to_vec(),
            });
        }
        Ok(all)
    }

    pub(super) fn with_lists(mut self, pem: &[u8]) -> Result<Self, LoadError> {
        let names = self.anchors.iter().map(|anchor| anchor.subject.as_ref());
        let keys = self.roots.iter().map(|root| root.key.as_slice());
        let roots: Vec<_> = names.zip(keys).collect();
        self.lists = Lists::from_pem(pem, &roots)?;
        Ok(self)
    }

    pub(super) fn lists(&self) -> &Lists {
        &self.lists
    }

    /// Verifies a chain, and says for how long the answer stands.
    pub(super) fn verify(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<Window, webpki::Error> {
        let algorithms = rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms;
        let end_entity = EndEntityCert::try_from(leaf)?;
        let believed = |path: &VerifiedPath<'_>| self.believe(leaf, path, now).map(drop);
        let path = end_entity.verify_for_usage(
            algorithms.all,
            &self.anchors,
            intermediates,
            now,
            ClientAuth,
            None,
            Some(&believed),
        )?;
        self.believe(leaf, &path, now)
    }

    /// Whether Go would take a path that webpki takes, and when everything in it is valid, which includes now.
    fn believe(
        &self,
        leaf: &CertificateDer<'_>,
        path: &VerifiedPath<'_>,
        now: UnixTime,
    ) -> Result<Window, webpki::Error> {
        let intermediates: Vec<_> = path.intermediate_certificates().map(webpki::Cert::der).collect();
        let root = self.root(path, intermediates.len(), now)?;
        let mut window = root.window;
        let mut constrained = root.name_constraints;
        let mut issuer_key = root.key.as_slice();
        for der in intermediates.iter().rev().chain([leaf]) {
            let (_, parsed) = X509Certificate::from_der(der).map_err(|_| webpki::Error::BadDer)?;
            let strict = Certificate::read(der).map_err(|_| webpki::Error::BadDer)?;
            if der != leaf && !may_sign(&parsed) {
                return Err(webpki::Error::UnknownIssuer);
            }
            // Policy rules are seldom seen; Go follows them, webpki does not.
            if strict.notes.unhandled || strict.notes.policy_rules {
                return Err(webpki::Error::UnsupportedCriticalExtension);
            }
            if constrained && strict.notes.odd_names {
                return Err(webpki::Error::NameConstraintViolation);
            }
            self.lists.check(&strict, issuer_key)?;
            issuer_key = strict.key;
            constrained |= strict.notes.name_constraints;
            window = window.and(Window::of(&parsed));
        }
        if window.contains(now) {
            Ok(window)
        } else {
            Err(webpki::Error::UnknownIssuer)
        }
    }

    /// The root of a path. A renewed one has the name and key of the old: any of them that is good will do.
    fn root(&self, path: &VerifiedPath<'_>, length: usize, now: UnixTime) -> Result<&Root, webpki::Error> {
        let fits = |root: &Root| root.path_length.is_none_or(|most| length <= most as usize);
        let mut roots = self.anchors.iter().zip(&self.roots);
        let good = roots.find(|(anchor, root)| *anchor == path.anchor() && root.window.contains(now) && fits(root));
        good.map(|(_, root)| root).ok_or(webpki::Error::UnknownIssuer)
    }
}

impl Window {
    pub(super) fn contains(self, now: UnixTime) -> bool {
        (self.from..self.until).contains(&now.as_secs())
    }

    fn of(certificate: &X509Certificate<'_>) -> Self {
        // Dates before 1970 are as good as 1970.
        let seconds = |timestamp: i64| u64::try_from(timestamp).unwrap_or(0);
        let validity = certificate.validity();
        Self {
            from: seconds(validity.not_before.timestamp()),
            until: seconds(validity.not_after.timestamp()),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            from: self.from.max(other.from),
            until: self.until.min(other.until),
        }
    }
}

impl ExtendedKeyUsageValidator for ClientAuth {
    fn validate(&self, purposes: KeyPurposeIdIter<'_, '_>) -> Result<(), webpki::Error> {
        const ANY: &[usize] = &[2, 5, 29, 37, 0];
        const CLIENT: &[usize] = &[1, 3, 6, 1, 5, 5, 7, 3, 2];
        let (mut listed, mut allowed) = (false, false);
        for purpose in purposes {
            listed = true;
            allowed |= [ANY, CLIENT].contains(&purpose?.to_decoded_oid().as_slice());
        }
        if allowed || !listed {
            Ok(())
        } else {
            Err(webpki::Error::RequiredEkuNotFoundContext(RequiredEkuNotFoundContext {
                required: KeyUsage::client_auth(),
                present: Vec::new(),
            }))
        }
    }
}

/// A certificate without key usage may do anything.
fn may_sign(certificate: &X509Certificate<'_>) -> bool {
    match certificate.key_usage() {
        Ok(None) => true,
        Ok(Some(usage)) => usage.value.key_cert_sign(),
        Err(_) => false,
    }
}
