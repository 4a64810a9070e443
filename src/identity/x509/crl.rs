//! Certificates that were taken back: the lists of `clientCRLFile`.
//!
//! A list counts for the certificates of the CA that signed it. webpki reads the lists; its own check takes the first with
//! the name of the issuer, which would be the wrong one while a CA is renewed under its old name, and verifies the
//! signature for every connection. Here the lists of the CAs in `clientCAFile` are verified once, when they are loaded.

use rustls::pki_types::{CertificateRevocationListDer, SubjectPublicKeyInfoDer, UnixTime, pem::PemObject as _};
use webpki::{CertRevocationList, OwnedCertRevocationList, RawPublicKeyEntity};
use x509_parser::prelude::{CertificateRevocationList, FromDer as _};

use super::{
    ca::LoadError,
    der::{BIT_STRING, Reader, SEQUENCE},
    strict::Certificate,
};
use crate::server::tls;

/// Of one list, what an operator wants to know.
#[derive(Clone, Debug)]
pub struct Summary {
    pub issuer: String,
    pub revoked: usize,
    /// Seconds since 1970.
    pub next_update: i64,
}

#[derive(Debug, Default)]
pub(super) struct Lists(Vec<List>);

#[derive(Debug)]
struct List {
    content: CertRevocationList<'static>,
    signed: Signed,
    /// Keys of CAs of the CA file that signed it. With none it is the list of an intermediate, whose key comes with each
    /// chain.
    keys: Vec<Vec<u8>>,
    summary: Summary,
}

#[derive(Debug)]
struct Signed {
    message: Vec<u8>,
    algorithm: Vec<u8>,
    signature: Vec<u8>,
}

impl Lists {
    /// Reads every list of a file; `roots` are the names and keys of the CA file.
    pub(super) fn from_pem(pem: &[u8], roots: &[(&[u8], &[u8])]) -> Result<Self, LoadError> {
        let mut lists = Vec::new();
        for der in CertificateRevocationListDer::pem_slice_iter(pem) {
            let der = der.map_err(|error| LoadError::Pem(tls::Error::Pem(error)))?;
            lists.push(List::load(&der, roots)?);
        }
        if lists.is_empty() {
            return Err(LoadError::NoList);
        }
        Ok(Self(lists))
    }

    pub(super) fn summaries(&self) -> impl Iterator<Item = &Summary> {
        self.0.iter().map(|list| &list.summary)
    }

    /// Refuses a certificate that a list of its issuer names, and any of an issuer whose list is not to be trusted. A
    /// certificate whose issuer has no list passes.
    pub(super) fn check(&self, certificate: &Certificate<'_>, issuer_key: &[u8]) -> Result<(), webpki::Error> {
        for list in &self.0 {
            if list.content.issuer() != certificate.issuer || !list.meant_for(issuer_key) {
                continue;
            }
            if list.keys.is_empty() && !list.signed.by(issuer_key) {
                return Err(webpki::Error::InvalidCrlSignatureForPublicKey);
            }
            if list.content.find_serial(certificate.serial)?.is_some() {
                return Err(webpki::Error::CertRevoked);
            }
        }
        Ok(())
    }
}

impl Summary {
    pub fn is_outdated(&self, now: UnixTime) -> bool {
        u64::try_from(self.next_update).unwrap_or(0) < now.as_secs()
    }
}

impl List {
    fn load(der: &[u8], roots: &[(&[u8], &[u8])]) -> Result<Self, LoadError> {
        let (_, parsed) = CertificateRevocationList::from_der(der).map_err(|_| LoadError::ListParse)?;
        let issuer = parsed.issuer().to_string();
        let refuse = |why: String| LoadError::List {
            issuer: issuer.clone(),
            why,
        };
        let content =
            OwnedCertRevocationList::from_der(der).map_err(|error| refuse(format!("cannot be used: {error}")))?;
        let content = CertRevocationList::from(content);
        let signed = Signed::read(der).ok_or(LoadError::ListParse)?;
        let namesakes = roots.iter().filter(|(subject, _)| *subject == content.issuer());
        let (signers, others): (Vec<_>, Vec<_>) = namesakes.partition(|(_, key)| signed.by(key));
        if signers.is_empty() && !others.is_empty() {
            return Err(refuse(
                "is not signed by the CA of that name in clientCAFile".to_owned(),
            ));
        }
        let summary = Summary {
            revoked: parsed.iter_revoked_certificates().count(),
            // webpki takes no list without one.
            next_update: parsed.next_update().map_or(0, |time| time.timestamp()),
            issuer,
        };
        Ok(Self {
            content,
            signed,
            keys: signers.into_iter().map(|(_, key)| key.to_vec()).collect(),
            summary,
        })
    }

    /// A list that is known to be of one key says nothing about what another of that name has signed.
    fn meant_for(&self, key: &[u8]) -> bool {
        self.keys.is_empty() || self.keys.iter().any(|known| known == key)
    }
}

impl Signed {
    fn read(der: &[u8]) -> Option<Self> {
        let mut list = Reader::new(der).read(SEQUENCE)?;
        let message = list.whole(SEQUENCE)?.to_vec();
        let algorithm = list.read(SEQUENCE)?.rest().to_vec();
        let signature = list.read(BIT_STRING)?.rest().strip_prefix(&[0])?.to_vec();
        Some(Self {
            message,
            algorithm,
            signature,
        })
    }

    fn by(&self, key: &[u8]) -> bool {
        let key = SubjectPublicKeyInfoDer::from(key);
        let Ok(key) = RawPublicKeyEntity::try_from(&key) else {
            return false;
        };
        let known = rustls::crypto::aws_lc_rs::default_provider().signature_verification_algorithms;
        let mut named = known
            .all
            .iter()
            .filter(|known| known.signature_alg_id().as_ref() == self.algorithm);
        named.any(|algorithm| key.verify_signature(*algorithm, &self.message, &self.signature).is_ok())
    }
}
