//! Whose certificate a signing request is for, as Go reads it; what Go could read in another way is refused.

mod seed;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use x509_parser::{
    asn1_rs::{Class, Tag},
    certification_request::X509CertificationRequest,
    oid_registry::{OID_X509_COMMON_NAME, Oid},
    prelude::FromDer as _,
    x509::AttributeTypeAndValue,
};

pub use self::seed::{NoSeed, seed};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "\n-----END ";
const TYPE: &str = "CERTIFICATE REQUEST-----";

/// The subject's common name; empty if it has none. The error is for the client.
pub fn common_name(pem: &[u8]) -> Result<String, String> {
    read(pem, |request| {
        let mut name = "";
        // Of several, the last counts.
        for value in values(request, OID_X509_COMMON_NAME) {
            name = value.ok_or("the common name is not a plain string")?;
        }
        Ok(name.to_owned())
    })
}

fn read<T>(pem: &[u8], found: impl FnOnce(&X509CertificationRequest<'_>) -> Result<T, String>) -> Result<T, String> {
    let der = first_block(pem).ok_or("PEM block type must be CERTIFICATE REQUEST")?;
    let (rest, request) = X509CertificationRequest::from_der(&der).map_err(|error| error.to_string())?;
    if !rest.is_empty() {
        return Err("asn1: syntax error: trailing data".to_owned());
    }
    found(&request)
}

/// What the subject has of an attribute, in order; nothing in place of a value that not every reader reads alike.
fn values<'a>(request: &'a X509CertificationRequest<'_>, oid: Oid<'static>) -> impl Iterator<Item = Option<&'a str>> {
    let attributes = request.certification_request_info.subject.iter_attributes();
    attributes
        .filter(move |attribute| *attribute.attr_type() == oid)
        .map(plain)
}

/// What is in the first block. It ends at the first END, and begins at the last BEGIN before that. Where Go would go on to
/// another block, or read headers, it is refused.
fn first_block(pem: &[u8]) -> Option<Vec<u8>> {
    let pem = str::from_utf8(pem).ok()?;
    let (before, after) = pem.split_once(END)?;
    let begin = before.rfind(BEGIN)?;
    let (text, block) = before.split_at_checked(begin)?;
    if !text.is_empty() && !text.ends_with('\n') {
        return None;
    }
    let (line, block) = block.strip_prefix(BEGIN)?.split_once('\n')?;
    let (last, _) = after.split_once('\n').unwrap_or((after, ""));
    let is_ours = |line: &str| line.trim_end_matches([' ', '\t', '\r']) == TYPE;
    if !is_ours(line) || !is_ours(last) {
        return None;
    }
    let mut base64 = block.to_owned();
    base64.retain(|c| !matches!(c, ' ' | '\t' | '\r' | '\n'));
    STANDARD.decode(base64).ok()
}

/// A value in which every reader finds the same characters.
fn plain<'a>(attribute: &'a AttributeTypeAndValue<'_>) -> Option<&'a str> {
    let header = &attribute.attr_value().header;
    let is_text = matches!(header.tag(), Tag::Utf8String | Tag::PrintableString | Tag::Ia5String);
    if header.class() != Class::Universal || header.constructed() || !is_text {
        return None;
    }
    attribute.as_str().ok()
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, DnValue, KeyPair};
    use test_case::test_case;

    use super::*;

    fn request(names: Vec<DnValue>) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name = Default::default();
        for name in names {
            params.distinguished_name.push(DnType::CommonName, name);
        }
        let key = KeyPair::generate().unwrap();
        params.serialize_request(&key).unwrap().pem().unwrap()
    }

    fn utf8(name: &str) -> Vec<DnValue> {
        vec![DnValue::Utf8String(name.to_owned())]
    }

    #[test_case(|pem| pem => Ok("n".to_owned()); "as it is")]
    #[test_case(|pem| format!("a text\n\n{pem}more") => Ok("n".to_owned()); "text around")]
    #[test_case(|pem| format!("-----BEGIN X-----\n{pem}") => Ok("n".to_owned()); "begun before")]
    #[test_case(|pem| pem.replace('\n', " \r\n") => Ok("n".to_owned()); "other ends of lines")]
    #[test_case(|pem| pem.trim_end().to_owned() => Ok("n".to_owned()); "no last end of line")]
    #[test_case(|pem| format!(" {pem}") => matches Err(_); "not at the beginning of a line")]
    #[test_case(|pem| pem.replace("BEGIN CERT", "BEGIN NEW CERT") => matches Err(_); "other type at the beginning")]
    #[test_case(|pem| pem.replace("END CERT", "END NEW CERT") => matches Err(_); "other type at the end")]
    #[test_case(|pem| pem.replace("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST") => matches Err(_); "other type")]
    #[test_case(|pem| format!("-----BEGIN X-----\n-----END X-----\n{pem}") => matches Err(_); "second block")]
    #[test_case(|pem| pem.replacen("-----\n", "-----\nA: b\n\n", 1) => matches Err(_); "headers")]
    #[test_case(|pem| pem.replacen("-----\n", "-----\n=", 1) => matches Err(_); "no base64")]
    #[test_case(|pem| pem.replace("\n-----END", "-----END") => matches Err(_); "no line of its own")]
    #[test_case(|_| String::new() => matches Err(_); "nothing")]
    fn pem(edit: fn(String) -> String) -> Result<String, String> {
        common_name(edit(request(utf8("n"))).as_bytes())
    }

    #[test]
    fn every_byte_belongs_to_the_request() {
        let mut der = first_block(request(utf8("n")).as_bytes()).unwrap();
        der.push(0);
        let pem = format!("{BEGIN}{TYPE}\n{}{END}{TYPE}\n", STANDARD.encode(der));
        assert!(common_name(pem.as_bytes()).is_err());
    }

    #[test_case(Vec::new() => Ok(String::new()); "none")]
    #[test_case(utf8("n") => Ok("n".to_owned()); "text")]
    #[test_case(vec![DnValue::PrintableString("n".try_into().unwrap())] => Ok("n".to_owned()); "printable text")]
    #[test_case(vec![DnValue::TeletexString("n".try_into().unwrap())] => matches Err(_); "teletex")]
    #[test_case(vec![DnValue::BmpString("n".try_into().unwrap())] => matches Err(_); "two bytes a character")]
    fn names(names: Vec<DnValue>) -> Result<String, String> {
        common_name(request(names).as_bytes())
    }
}
