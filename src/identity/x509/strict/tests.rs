use rcgen::{CertificateParams, CustomExtension, DistinguishedName, DnType, DnValue, KeyPair, SerialNumber};
use test_case::test_case;

use super::*;

/// What kube-apiserver would break off the handshake over.
#[test_case(|_| () => None; "plain")]
#[test_case(|cert| cert.serial_number = Some(SerialNumber::from_slice(&[0])) => None; "serial number zero")]
#[test_case(|cert| add(cert, &[1, 2, 3], false, &[]) => None; "unknown extension")]
#[test_case(|cert| { add(cert, &[1, 2, 3], false, &[]); add(cert, &[1, 2, 3], false, &[]) } => Some("extensions"); "unknown extension twice")]
#[test_case(|cert| add(cert, &[2, 5, 29, 14], true, &[4, 1, 1]) => Some("subject key identifier"); "critical key identifier")]
#[test_case(|cert| add(cert, &[2, 5, 29, 15], true, &[3, 2, 5, 0xff]) => Some("key usage"); "set bits behind the last")]
#[test_case(|cert| add(cert, &[2, 5, 29, 17], false, &[0x30, 3, 0x82, 1, 0xff]) => Some("alternative names"); "DNS name that is not ASCII")]
#[test_case(|cert| add(cert, &[2, 5, 29, 17], false, &[0x30, 5, 0x87, 3, 1, 2, 3]) => Some("alternative names"); "address of three bytes")]
#[test_case(|cert| uri(cert, "spiffe://cluster.local/ns/a/sa/b") => None; "URI")]
#[test_case(|cert| uri(cert, "http://[::1") => Some("alternative names"); "URI that cannot be parsed")]
#[test_case(|cert| uri(cert, "http://a%zz/") => Some("alternative names"); "URI with a bad escape")]
#[test_case(|cert| add(cert, &[2, 5, 29, 19], true, &[0x30, 3, 1, 1, 1]) => Some("basic constraints"); "true that is not all ones")]
#[test_case(|cert| add(cert, &[2, 5, 29, 30], true, &[0x30, 0]) => Some("name constraints"); "no name constraint")]
#[test_case(|cert| add(cert, &[2, 5, 29, 30], true, &[0x30, 14, 0xa0, 12, 0x30, 10, 0x87, 8, 10, 0, 0, 0, 255, 0, 255, 0]) => Some("name constraints"); "mask with a gap")]
#[test_case(|cert| add(cert, &[2, 5, 29, 30], true, &[0x30, 14, 0xa0, 12, 0x30, 10, 0x87, 8, 10, 0, 0, 0, 255, 254, 0, 0]) => None; "mask")]
#[test_case(|cert| add(cert, &[2, 5, 29, 31], false, &[0x30, 2, 4, 0]) => Some("CRL distribution points"); "no distribution point")]
#[test_case(|cert| add(cert, &[2, 5, 29, 32], false, &[0x30, 10, 0x30, 3, 6, 1, 0x2a, 0x30, 3, 6, 1, 0x2a]) => Some("policies"); "policy twice")]
#[test_case(|cert| add(cert, &[2, 5, 29, 35], true, &[0x30, 0]) => Some("authority key identifier"); "critical authority key")]
#[test_case(|cert| add(cert, &[2, 5, 29, 35], false, &[4, 0]) => Some("authority key identifier"); "authority key of another type")]
#[test_case(|cert| add(cert, &[2, 5, 29, 37], false, &[0x30, 4, 6, 2, 0x80, 1]) => Some("extended key usage"); "purpose with a needless byte")]
#[test_case(|cert| add(cert, &[1, 3, 6, 1, 5, 5, 7, 1, 1], true, &[0x30, 0]) => Some("authority information access"); "critical information access")]
fn malformed(change: fn(&mut CertificateParams)) -> Option<&'static str> {
    Certificate::read(&made(change)).err().map(|Malformed(what)| what)
}

/// Unhandled, policy rules, name constraints, odd names.
#[test_case(|_| () => [false; 4]; "plain")]
#[test_case(|cert| add(cert, &[1, 2, 3], true, &[]) => [true, false, false, false]; "critical and unknown")]
#[test_case(|cert| add(cert, &[2, 5, 29, 17], true, &[0x30, 3, 0x82, 1, b'a']) => [false; 4]; "critical name")]
#[test_case(|cert| add(cert, &[2, 5, 29, 17], true, &[0x30, 3, 0x88, 1, 0x2a]) => [true, false, false, true]; "critical name of no known form")]
#[test_case(|cert| add(cert, &[2, 5, 29, 17], false, &[0x30, 3, 0x88, 1, 0x2a]) => [false, false, false, true]; "name of no known form")]
#[test_case(|cert| add(cert, &[2, 5, 29, 17], false, &[0x30, 5, 0x81, 3, b'a', b'@', b'b']) => [false, false, false, true]; "mailbox")]
#[test_case(|cert| add(cert, &[2, 5, 29, 30], true, &[0x30, 7, 0xa0, 5, 0x30, 3, 0x82, 1, b'a']) => [false, false, true, false]; "name constraint")]
#[test_case(|cert| add(cert, &[2, 5, 29, 30], true, &[0x30, 8, 0xa0, 6, 0x30, 4, 0xa4, 2, 0x30, 0]) => [true, false, true, false]; "name constraint of no known form")]
#[test_case(|cert| add(cert, &[2, 5, 29, 36], false, &[0x30, 3, 0x80, 1, 0]) => [false, true, false, false]; "policy constraints")]
fn noted(change: fn(&mut CertificateParams)) -> [bool; 4] {
    let der = made(change);
    let notes = Certificate::read(&der).unwrap().notes;
    [
        notes.unhandled,
        notes.policy_rules,
        notes.name_constraints,
        notes.odd_names,
    ]
}

/// Every attribute of a name counts, not only those that make the user.
#[test_case(0x0c, "é".as_bytes() => true; "UTF-8")]
#[test_case(0x0c, &[0xff] => false; "not UTF-8")]
#[test_case(0x12, b"1 2" => true; "numeric")]
#[test_case(0x12, b"a" => false; "not numeric")]
#[test_case(0x13, b"a*&" => true; "printable")]
#[test_case(0x13, b"a_b" => false; "not printable")]
#[test_case(0x14, &[0xff] => true; "teletex")]
#[test_case(0x16, &[0xff] => false; "not ASCII")]
#[test_case(0x1a, b"visible" => false; "a type Go does not read")]
#[test_case(0x1e, &[0, 0x61] => true; "two bytes")]
#[test_case(0x1e, &[0] => false; "half a character")]
#[test_case(0x1e, &[0xd8, 0] => false; "half a pair")]
#[test_case(0x2c, &[0x0c, 0] => false; "in parts")]
fn strings(tag: u8, value: &[u8]) -> bool {
    string(tag, value).is_some()
}

#[test]
fn numbers_names_and_ends_count() {
    let der = made(|cert| cert.serial_number = Some(SerialNumber::from_slice(&[0x11; 8])));
    let at = der.windows(8).position(|part| part == [0x11; 8]).unwrap();
    let patched = |place: usize, byte: u8| {
        let mut der = der.clone();
        der[place] = byte;
        Certificate::read(&der).err().map(|Malformed(what)| what)
    };
    assert_eq!(patched(at, 0x80), Some("serial number"), "negative");
    assert_eq!(patched(at, 0x00), Some("serial number"), "needless zero");
    assert_eq!(patched(at - 3, 0x01), Some("version"), "version 2");
    let name = der.windows(8).position(|part| part == b"the name").unwrap();
    assert_eq!(patched(name - 2, 0x1a), Some("issuer"), "string type");
    let point = der.windows(4).position(|part| part == [3, 0x42, 0, 4]).unwrap();
    assert_eq!(patched(point + 3, 0x02), Some("public key"), "compressed");
    let longer = [der.as_slice(), &[0]].concat();
    assert_eq!(Certificate::read(&longer).unwrap_err(), Malformed("outer form"));
    for end in 0..der.len() {
        assert!(Certificate::read(&der[..end]).is_err(), "cut off at {end}");
    }
}

fn made(change: fn(&mut CertificateParams)) -> Vec<u8> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::LocalityName, DnValue::Utf8String("the name".to_owned()));
    change(&mut params);
    params
        .self_signed(&KeyPair::generate().unwrap())
        .unwrap()
        .der()
        .to_vec()
}

fn add(params: &mut CertificateParams, oid: &[u64], critical: bool, value: &[u8]) {
    let mut extension = CustomExtension::from_oid_content(oid, value.to_vec());
    extension.set_criticality(critical);
    params.custom_extensions.push(extension);
}

fn uri(params: &mut CertificateParams, uri: &str) {
    let length = u8::try_from(uri.len()).unwrap();
    let names = [&[0x30, length + 2, 0x86, length], uri.as_bytes()].concat();
    add(params, &[2, 5, 29, 17], false, &names);
}
