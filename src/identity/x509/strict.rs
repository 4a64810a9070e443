//! What Go's parser takes for a certificate.
//!
//! Follows `parseCertificate` of Go 1.26's `crypto/x509/parser.go`. webpki does not look into names, into extensions it
//! has no use for, nor at how numbers are written; what kube-apiserver would not even parse must not be believed here.

mod extensions;

use super::der::{OID, Reader, SEQUENCE, SET};

/// The parts of a certificate that matter besides what webpki checks. Nothing was verified.
#[derive(Debug)]
pub(super) struct Certificate<'a> {
    pub(super) serial: &'a [u8],
    /// Names without their outer header, as webpki has them.
    pub(super) issuer: &'a [u8],
    pub(super) subject: &'a [u8],
    /// SubjectPublicKeyInfo, whole.
    pub(super) key: &'a [u8],
    pub(super) notes: Notes,
}

/// What the extensions ask of whoever believes the certificate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    /// Something critical that Go does not handle.
    pub(super) unhandled: bool,
    /// Rules about certificate policies, by which Go may refuse a chain.
    pub(super) policy_rules: bool,
    pub(super) name_constraints: bool,
    /// A subject alternative name whose constraints webpki and Go do not judge alike.
    pub(super) odd_names: bool,
}

/// A part of a certificate that Go would not parse.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("kube-apiserver would not accept its {0}")]
pub struct Malformed(pub &'static str);

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const ELLIPTIC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];

impl<'a> Certificate<'a> {
    pub(super) fn read(der: &'a [u8]) -> Result<Self, Malformed> {
        let mut input = Reader::new(der);
        let outer = input.read(SEQUENCE).filter(|_| input.is_empty());
        let mut outer = outer.ok_or(Malformed("outer form"))?;
        let mut body = outer.read(SEQUENCE).ok_or(Malformed("outer form"))?;
        version(&mut body).ok_or(Malformed("version"))?;
        let positive = |serial: &&[u8]| serial.first().is_some_and(|byte| byte & 0x80 == 0);
        let serial = body.integer().filter(positive).ok_or(Malformed("serial number"))?;
        let mut algorithm = body.read(SEQUENCE).ok_or(Malformed("signature algorithm"))?;
        algorithm.oid().ok_or(Malformed("signature algorithm"))?;
        let issuer = body.read(SEQUENCE).filter(|issuer| name(*issuer).is_some());
        let issuer = issuer.ok_or(Malformed("issuer"))?.rest();
        body.read(SEQUENCE).ok_or(Malformed("validity"))?;
        let subject = body.read(SEQUENCE).filter(|subject| name(*subject).is_some());
        let subject = subject.ok_or(Malformed("subject"))?.rest();
        let key = body.whole(SEQUENCE).filter(|key| known_key(key).is_some());
        let key = key.ok_or(Malformed("public key"))?;
        let notes = extensions::read(body)?;
        Ok(Self {
            serial,
            issuer,
            subject,
            key,
            notes,
        })
    }
}

/// Version 3 is the only one that webpki reads, too.
fn version(body: &mut Reader<'_>) -> Option<()> {
    let version = body.read(0xa0)?.integer()?;
    (version == [2]).then_some(())
}

fn name(mut name: Reader<'_>) -> Option<()> {
    while !name.is_empty() {
        let mut set = name.read(SET)?;
        while !set.is_empty() {
            let mut attribute = set.read(SEQUENCE)?;
            attribute.oid()?;
            let (tag, value) = attribute.any()?;
            string(tag, value)?;
        }
    }
    Some(())
}

/// A string of a type Go reads, in the alphabet it reads it in.
fn string(tag: u8, value: &[u8]) -> Option<()> {
    let numeric = |byte: &u8| byte.is_ascii_digit() || *byte == b' ';
    let fits = match tag {
        0x0c => std::str::from_utf8(value).is_ok(),
        0x12 => value.iter().all(numeric),
        0x13 => value.iter().all(|byte| super::printable(char::from(*byte))),
        // TeletexString: every byte is a character.
        0x14 => true,
        0x16 => value.is_ascii(),
        0x1e => value.len().is_multiple_of(2) && value.chunks_exact(2).all(basic),
        _ => false,
    };
    fits.then_some(())
}

/// A character of BMPString: neither half of a pair nor set aside for no use.
fn basic(unit: &[u8]) -> bool {
    let point = unit.iter().fold(0, |point, byte| point << 8 | u32::from(*byte));
    !matches!(point, 0xd800..=0xdfff | 0xfdd0..=0xfdef | 0xfffe | 0xffff)
}

/// A key that Go knows, written as it wants it. rustls knows more algorithms, compressed points and larger exponents.
fn known_key(key: &[u8]) -> Option<()> {
    let mut info = Reader::new(key).read(SEQUENCE)?;
    let algorithm = info.read(SEQUENCE)?.read(OID)?.rest();
    let bits = info.bit_string()?;
    let known = match algorithm {
        RSA => {
            let mut numbers = Reader::new(bits).read(SEQUENCE)?;
            let positive = |number: &[u8]| number.first().is_some_and(|byte| byte & 0x80 == 0);
            let (modulus, exponent) = (numbers.integer()?, numbers.integer()?);
            positive(modulus) && positive(exponent) && exponent.len() <= 4
        }
        ELLIPTIC => bits.first() == Some(&4),
        _ => algorithm == ED25519,
    };
    known.then_some(())
}

#[cfg(test)]
mod tests;
