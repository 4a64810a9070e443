//! Certificates made byte by byte, so that they can be wrong in every way.

use std::sync::Arc;

use rcgen::{
    KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ECDSA_P521_SHA512, PKCS_ED25519, PublicKeyData as _,
    SignatureAlgorithm, SigningKey as _,
};
use rustls::{
    crypto::aws_lc_rs::sign::any_supported_type,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    sign::{CertifiedKey, SingleCertAndKey},
};
use time::{Duration, OffsetDateTime};
use tokio_rustls::rustls;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// What a certificate is to say.
#[derive(Clone)]
pub(crate) struct Template {
    /// The number written; none for the first version, which has no place for it.
    pub(crate) version: Option<u8>,
    pub(crate) serial: Vec<u8>,
    /// From and until when it is valid, from now.
    pub(crate) valid: (Duration, Duration),
    /// Relative distinguished names, encoded.
    pub(crate) subject: Vec<Vec<u8>>,
    pub(crate) extensions: Vec<Vec<u8>>,
    pub(crate) key: Arc<KeyPair>,
    /// The key as it is written, where that is not as usual.
    pub(crate) public_key: Option<Vec<u8>>,
    /// The algorithm named, where it is not that of the issuer's key.
    pub(crate) signature: Option<Vec<u8>>,
}

/// A certificate and its key.
#[derive(Clone)]
pub(crate) struct Entity {
    pub(crate) der: Vec<u8>,
    name: Vec<u8>,
    key: Arc<KeyPair>,
}

pub(crate) const CN: &[u8] = &[0x55, 4, 3];
pub(crate) const LOCALITY: &[u8] = &[0x55, 4, 7];
pub(crate) const O: &[u8] = &[0x55, 4, 10];
pub(crate) const UID: &[u8] = &[0x2b, 6, 1, 4, 1, 0x83, 0xc2, 0x53, 2];
pub(crate) const UTF8: u8 = 0x0c;

pub(crate) const KEY_USAGE: &[u8] = &[0x55, 0x1d, 15];
pub(crate) const NAMES: &[u8] = &[0x55, 0x1d, 17];
pub(crate) const BASIC: &[u8] = &[0x55, 0x1d, 19];
pub(crate) const CONSTRAINTS: &[u8] = &[0x55, 0x1d, 30];
pub(crate) const POLICIES: &[u8] = &[0x55, 0x1d, 32];
pub(crate) const AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 35];
pub(crate) const POLICY_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 36];
pub(crate) const PURPOSES: &[u8] = &[0x55, 0x1d, 37];

const EC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];

pub(crate) const ANY: &[u8] = &[0x55, 0x1d, 37, 0];
pub(crate) const SERVER: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 1];
pub(crate) const CLIENT: &[u8] = &[0x2b, 6, 1, 5, 5, 7, 3, 2];

impl Template {
    /// A client certificate with nothing wrong about it.
    pub(crate) fn client(name: &str) -> Self {
        Self::new(name).with(purposes(&[CLIENT]))
    }

    pub(crate) fn ca(name: &str) -> Self {
        Self::new(name).with(extension(BASIC, true, &tlv(0x30, &[&[1, 1, 0xff]])))
    }

    /// Without extensions.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            version: Some(2),
            serial: rand_serial(),
            valid: (Duration::hours(-1), Duration::hours(1)),
            subject: vec![rdn(CN, UTF8, name.as_bytes())],
            extensions: Vec::new(),
            key: Arc::new(KeyPair::generate().unwrap()),
            public_key: None,
            signature: None,
        }
    }

    pub(crate) fn with(mut self, extension: Vec<u8>) -> Self {
        self.extensions.push(extension);
        self
    }

    pub(crate) fn subject(mut self, subject: &[Vec<u8>]) -> Self {
        self.subject = subject.to_vec();
        self
    }

    pub(crate) fn valid(mut self, from: Duration, until: Duration) -> Self {
        self.valid = (from, until);
        self
    }

    pub(crate) fn key(mut self, key: KeyPair) -> Self {
        self.key = Arc::new(key);
        self
    }

    /// Writes the point of the key, which is on P-256, as one coordinate and a sign.
    pub(crate) fn compressed(mut self) -> Self {
        let point = self.key.public_key_raw();
        let sign = 2 | point.last().unwrap() & 1;
        let curve = tlv(0x30, &[&tlv(6, &[EC_KEY]), &tlv(6, &[P256])]);
        self.public_key = Some(tlv(0x30, &[&curve, &tlv(3, &[&[0, sign], &point[1..33]])]));
        self
    }

    pub(crate) fn self_signed(self) -> Entity {
        let (name, key) = (self.name(), Arc::clone(&self.key));
        self.signed(&name, &key)
    }

    fn name(&self) -> Vec<u8> {
        tlv(0x30, &[&self.subject.concat()])
    }

    fn signed(self, issuer: &[u8], by: &KeyPair) -> Entity {
        let algorithm = self.signature.clone().unwrap_or_else(|| algorithm(by.algorithm()));
        let version = self
            .version
            .map_or(Vec::new(), |version| tlv(0xa0, &[&[2, 1, version]]));
        let validity = tlv(0x30, &[&moment(self.valid.0), &moment(self.valid.1)]);
        let extensions = match self.extensions.concat() {
            none if none.is_empty() => none,
            some => tlv(0xa3, &[&tlv(0x30, &[&some])]),
        };
        let name = self.name();
        let key = self.public_key.unwrap_or_else(|| self.key.subject_public_key_info());
        let body = tlv(
            0x30,
            &[
                &version,
                &tlv(2, &[&self.serial]),
                &algorithm,
                issuer,
                &validity,
                &name,
                &key,
                &extensions,
            ],
        );
        let signature = by.sign(&body).unwrap();
        Entity {
            der: tlv(0x30, &[&body, &algorithm, &tlv(3, &[&[0], &signature])]),
            name,
            key: self.key,
        }
    }
}

impl Entity {
    /// One that was made elsewhere.
    pub(crate) fn from_pem(certificate: &str, key: &str) -> Self {
        let der = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap().to_vec();
        let (_, parsed) = X509Certificate::from_der(&der).unwrap();
        let name = parsed.subject().as_raw().to_vec();
        let key = Arc::new(KeyPair::from_pem(key).unwrap());
        Self { der, name, key }
    }

    pub(crate) fn sign(&self, template: Template) -> Self {
        template.signed(&self.name, &self.key)
    }

    pub(crate) fn pem(&self) -> String {
        pem("CERTIFICATE", &self.der)
    }

    pub(crate) fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    /// A certificate revocation list that names these serial numbers.
    pub(crate) fn list(&self, revoked: &[&[u8]]) -> String {
        let entry = |serial: &&[u8]| tlv(0x30, &[&tlv(2, &[serial]), &moment(Duration::hours(-1))]);
        let entries = match revoked.iter().map(entry).collect::<Vec<_>>().concat() {
            none if none.is_empty() => none,
            some => tlv(0x30, &[&some]),
        };
        let algorithm = algorithm(self.key.algorithm());
        let number = tlv(0xa0, &[&tlv(0x30, &[&extension(&[0x55, 0x1d, 20], false, &[2, 1, 1])])]);
        let times = [moment(Duration::hours(-1)), moment(Duration::hours(1))].concat();
        let body = tlv(0x30, &[&[2, 1, 1], &algorithm, &self.name, &times, &entries, &number]);
        let signature = self.key.sign(&body).unwrap();
        pem(
            "X509 CRL",
            &tlv(0x30, &[&body, &algorithm, &tlv(3, &[&[0], &signature])]),
        )
    }

    /// Shows this certificate and others behind it. Nothing is checked: that is for the other side.
    pub(crate) fn shown(&self, behind: &[Vec<u8>]) -> Arc<SingleCertAndKey> {
        let key = PrivateKeyDer::try_from(self.key.serialize_der()).unwrap();
        let chain = [&self.der]
            .into_iter()
            .chain(behind)
            .map(|der| CertificateDer::from(der.clone()));
        let certified = CertifiedKey::new(chain.collect(), any_supported_type(&key).unwrap());
        Arc::new(SingleCertAndKey::from(certified))
    }
}

pub(crate) fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let mut length: Vec<u8> = value
        .len()
        .to_be_bytes()
        .into_iter()
        .skip_while(|byte| *byte == 0)
        .collect();
    if value.len() >= 0x80 {
        length.insert(0, 0x80 | u8::try_from(length.len()).unwrap());
    } else {
        length = vec![u8::try_from(value.len()).unwrap()];
    }
    [vec![tag], length, value].concat()
}

pub(crate) fn rdn(oid: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
    tlv(0x31, &[&attribute(oid, tag, value)])
}

pub(crate) fn attribute(oid: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&tlv(6, &[oid]), &tlv(tag, &[value])])
}

pub(crate) fn extension(oid: &[u8], critical: bool, value: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if critical { &[1, 1, 0xff] } else { &[] };
    tlv(0x30, &[&tlv(6, &[oid]), critical, &tlv(4, &[value])])
}

pub(crate) fn purposes(oids: &[&[u8]]) -> Vec<u8> {
    let oids: Vec<u8> = oids.iter().flat_map(|oid| tlv(6, &[oid])).collect();
    extension(PURPOSES, false, &tlv(0x30, &[&oids]))
}

fn algorithm(of: &SignatureAlgorithm) -> Vec<u8> {
    let ecdsa = |last: u8| tlv(6, &[&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, last]]);
    let content = match of {
        of if of == &PKCS_ECDSA_P256_SHA256 => ecdsa(2),
        of if of == &PKCS_ECDSA_P384_SHA384 => ecdsa(3),
        of if of == &PKCS_ECDSA_P521_SHA512 => ecdsa(4),
        of if of == &PKCS_ED25519 => tlv(6, &[&[0x2b, 0x65, 0x70]]),
        _ => [tlv(6, &[&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11]]), vec![5, 0]].concat(),
    };
    tlv(0x30, &[&content])
}

fn moment(from_now: Duration) -> Vec<u8> {
    let t = OffsetDateTime::now_utc() + from_now;
    let (year, month) = (t.year() % 100, u8::from(t.month()));
    let text = format!(
        "{year:02}{month:02}{:02}{:02}{:02}{:02}Z",
        t.day(),
        t.hour(),
        t.minute(),
        t.second()
    );
    tlv(0x17, &[text.as_bytes()])
}

fn rand_serial() -> Vec<u8> {
    let mut serial = uuid::Uuid::new_v4().as_bytes().to_vec();
    serial.insert(0, 1);
    serial
}

fn pem(what: &str, der: &[u8]) -> String {
    let encoded = encode(der);
    let lines: Vec<&str> = encoded
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    format!("-----BEGIN {what}-----\n{}\n-----END {what}-----\n", lines.join("\n"))
}

fn encode(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0, |group, at| group << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let letter = ALPHABET[(group >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}
