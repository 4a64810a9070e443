mod revocation;

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use test_case::test_case;
use time::{Duration, OffsetDateTime};

use super::*;
use crate::{
    identity::{Authenticator, Presented},
    pki::{Authority, Pair, Usage},
    server::tls,
};

const OPTIONS: Options = Options { uid: true };

#[test]
fn common_name_is_the_user_and_organization_a_group() {
    let ca = Authority::new("ca").unwrap();
    let pair = ca.issue("system:node:n1", Some("system:nodes"), Usage::Client).unwrap();
    let user = verify(&ca, &pair).unwrap().caller.user;
    assert_eq!(user.name, "system:node:n1");
    assert_eq!(user.groups, ["system:nodes", "system:authenticated"]);
    assert_eq!(user.uid, None);
    let [(key, values)] = user.extra.as_slice() else {
        panic!("{:?}", user.extra);
    };
    assert_eq!(key, "authentication.kubernetes.io/credential-id");
    assert_eq!(values[0].len(), "X509SHA256=".len() + 64);
}

#[test]
fn groups_keep_their_order_and_duplicates() {
    let attributes = [
        (O, UTF8, b"b" as &[u8]),
        (CN, UTF8, b"n"),
        (O, UTF8, b"a"),
        (O, UTF8, b"b"),
    ];
    assert_eq!(read(&attributes, OPTIONS).unwrap().groups, ["b", "a", "b"]);
}

#[test]
fn of_several_common_names_the_last_counts() {
    let user = read(&[(CN, UTF8, b"system:node:n2"), (CN, UTF8, b"system:node:n1")], OPTIONS).unwrap();
    assert_eq!(user.name, "system:node:n1");
}

#[test_case(&[] => "client certificate has no common name"; "no name")]
#[test_case(&[(CN, UTF8, b"")] => "client certificate has no common name"; "empty name")]
#[test_case(&[(CN, BMP, b"\0n")] => "client certificate has a name that is not a plain string in its subject"; "odd string type")]
#[test_case(&[(CN, UTF8, b"n"), (O, BMP, b"\0o")] => "client certificate has a name that is not a plain string in its subject"; "group of odd string type")]
#[test_case(&[(CN, UTF8, b"n\r\nX-Remote-Group: system:masters")] => "client certificate has a name that is not a plain string in its subject"; "line break")]
#[test_case(&[(CN, UTF8, b"n ")] => "client certificate has a name that is not a plain string in its subject"; "white space that header readers trim")]
#[test_case(&[(CN, 0x8c, b"n")] => "client certificate has a name that is not a plain string in its subject"; "string type of another class")]
#[test_case(&[(CN, PRINTABLE, b"n_1")] => "client certificate has a name that is not a plain string in its subject"; "not in the alphabet")]
#[test_case(&[(CN, IA5, b"n\xe9")] => "client certificate has a name that is not a plain string in its subject"; "not ASCII")]
#[test_case(&[(CN, UTF8, b"n"), (O, UTF8, b"")] => "client certificate has an empty group in its subject"; "empty group")]
#[test_case(&[(CN, UTF8, b"n"), (UID, UTF8, b"")] => "client certificate has an empty UID in its subject"; "empty uid")]
#[test_case(&[(CN, UTF8, b"n"), (UID, UTF8, b"1"), (UID, UTF8, b"2")] => "client certificate has more than one UID in its subject"; "two uids")]
fn refused_subjects(attributes: &[Attribute<'_>]) -> String {
    read(attributes, OPTIONS).unwrap_err().to_string()
}

#[test]
fn a_uid_is_read_where_the_release_reads_one() {
    let attributes = [(CN, UTF8, b"n" as &[u8]), (UID, UTF8, b"u-1")];
    assert_eq!(read(&attributes, OPTIONS).unwrap().uid.as_deref(), Some("u-1"));
    assert_eq!(read(&attributes, Options { uid: false }).unwrap().uid, None);
}

#[test]
fn only_client_certificates_of_the_ca_that_are_valid_now_are_trusted() {
    let (ca, other) = (Authority::new("ca").unwrap(), Authority::new("ca").unwrap());
    let good = ca.issue("n", None, Usage::Client).unwrap();
    assert!(verify(&ca, &good).is_ok());
    assert!(verify(&other, &good).is_err(), "another CA of the same name");
    let server = ca.issue("n", None, Usage::Server(&["n"])).unwrap();
    assert!(verify(&ca, &server).is_err(), "a serving certificate");
    let expired = ca.issue_for(Duration::minutes(-1), "n", None, Usage::Client).unwrap();
    assert!(verify(&ca, &expired).is_err(), "expired");
}

/// Reading takes time, and anybody can send a certificate.
#[test]
fn a_huge_certificate_is_not_read() {
    let ca = Authority::new("ca").unwrap();
    let huge = CertificateDer::from(vec![0x30; MAX_CERTIFICATE + 1]);
    let pair = ca.issue("n", None, Usage::Client).unwrap();
    let leaf = tls::certificates(pair.certificate.as_bytes()).unwrap().remove(0);
    let now = UnixTime::now();
    assert!(matches!(client_ca(&ca).verify(&huge, &[], now), Err(Error::TooLong)));
    assert!(matches!(
        client_ca(&ca).verify(&leaf, &[huge], now),
        Err(Error::TooLong)
    ));
    assert!(client_ca(&ca).verify(&leaf, &[], now).is_ok());
}

#[test]
fn a_chain_that_was_trusted_is_verified_again_when_it_expires_or_the_ca_changes() {
    let (ca, other) = (Authority::new("ca").unwrap(), Authority::new("other").unwrap());
    let identity = Authenticator {
        client_ca: Arc::new(arc_swap::ArcSwap::from_pointee(client_ca(&ca))),
        tokens: None,
    };
    let pair = ca.issue_for(Duration::hours(1), "n", None, Usage::Client).unwrap();
    let presented = Presented::new(tls::certificates(pair.certificate.as_bytes()).unwrap());
    let now = UnixTime::now();
    let later = UnixTime::since_unix_epoch(std::time::Duration::from_secs(now.as_secs() + 3700));
    assert!(identity.by_certificate(&presented, now).is_ok());
    assert!(identity.by_certificate(&presented, now).is_ok(), "from memory");
    assert!(
        identity.by_certificate(&presented, later).is_err(),
        "expired on a live connection"
    );
    assert!(
        identity.by_certificate(&presented, now).is_err(),
        "what was refused stays refused on its connection"
    );
    let presented = Presented::new(tls::certificates(pair.certificate.as_bytes()).unwrap());
    assert!(identity.by_certificate(&presented, now).is_ok());
    identity.client_ca.store(Arc::new(client_ca(&other)));
    assert!(
        identity.by_certificate(&presented, now).is_err(),
        "the CA was taken away"
    );
}

#[test]
fn nothing_presented_is_nobody() {
    let ca = Authority::new("ca").unwrap();
    let identity = Authenticator {
        client_ca: Arc::new(arc_swap::ArcSwap::from_pointee(client_ca(&ca))),
        tokens: None,
    };
    let rejection = identity
        .by_certificate(&Presented::new(Vec::new()), UnixTime::now())
        .unwrap_err();
    assert_eq!(rejection.code, 401);
}

#[test]
fn a_client_cannot_make_the_gate_search_a_heap_of_certificates() {
    let ca = Authority::new("ca").unwrap();
    let pair = ca.issue("n", None, Usage::Client).unwrap();
    let leaf = tls::certificates(pair.certificate.as_bytes()).unwrap().remove(0);
    let heap = vec![leaf.clone(); 100];
    let error = client_ca(&ca).verify(&leaf, &heap, UnixTime::now()).unwrap_err();
    assert!(matches!(error, Error::TooMany(101)));
}

/// What a client sends besides does not spoil a good chain, nor does it make the search longer.
#[test]
fn unrelated_certificates_are_left_out() {
    let root = Signer::root(|_| ());
    let between = root.intermediate(|_| ());
    let leaf = between.sign("n", |_| ());
    let others: Vec<Signer> = (0..5)
        .map(|_| Signer::root(|params| rename(params, "another")))
        .collect();
    let mut sent: Vec<&str> = others.iter().map(|other| other.pem.as_str()).collect();
    sent.push(&between.pem);
    assert_eq!(outcome(&root.pem, &leaf, &sent), "ok");
    assert_eq!(
        outcome(&root.pem, &leaf, &[between.pem.as_str(); 5]),
        "ok",
        "the same again and again"
    );
    let namesakes: Vec<Signer> = (0..3).map(|_| root.intermediate(|_| ())).collect();
    let mut sent: Vec<&str> = namesakes.iter().map(|other| other.pem.as_str()).collect();
    sent.push(&between.pem);
    assert_eq!(outcome(&root.pem, &leaf, &sent), "more than any chain needs");
}

fn rename(params: &mut CertificateParams, name: &str) {
    params.distinguished_name.push(DnType::CommonName, name);
}

fn verify(ca: &Authority, pair: &Pair) -> Result<Verified, Error> {
    let certificates = tls::certificates(pair.certificate.as_bytes()).unwrap();
    client_ca(ca).verify(&certificates[0], &[], UnixTime::now())
}

fn client_ca(ca: &Authority) -> ClientCa {
    ClientCa::from_pem(ca.certificate.as_bytes(), OPTIONS).unwrap()
}

/// A root is asked for what Go asks of one.
#[test_case(|_| () => "ok"; "plain")]
#[test_case(|root| root.is_ca = IsCa::ExplicitNoCa => "is not a CA certificate"; "no CA")]
#[test_case(|root| root.is_ca = IsCa::NoCa => "is not a CA certificate"; "silent about being one")]
#[test_case(|root| root.key_usages = vec![KeyUsagePurpose::DigitalSignature] => "may not sign certificates"; "key usage")]
#[test_case(|root| root.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth] => "is not for client certificates"; "extended key usage")]
#[test_case(|root| root.extended_key_usages = vec![ExtendedKeyUsagePurpose::Any] => "ok"; "any extended key usage")]
#[test_case(|root| root.custom_extensions = vec![critical()] => "critical extension"; "unknown critical extension")]
#[test_case(|root| root.not_after = OffsetDateTime::now_utc() - Duration::days(1) => "no valid CA"; "expired")]
#[test_case(|root| root.not_before = OffsetDateTime::now_utc() + Duration::days(1) => "no valid CA"; "not valid yet")]
fn roots(change: fn(&mut CertificateParams)) -> &'static str {
    let root = Signer::root(change);
    let leaf = root.sign("n", |_| ());
    outcome(&root.pem, &leaf, &[])
}

/// So is what stands between.
#[test_case(|_| (), |_| () => "ok"; "plain")]
#[test_case(|root| root.is_ca = IsCa::Ca(BasicConstraints::Constrained(0)), |_| () => "no valid CA"; "more than the root allows")]
#[test_case(|_| (), |between| between.is_ca = IsCa::NoCa => "other"; "no CA")]
#[test_case(|_| (), |between| between.key_usages = vec![KeyUsagePurpose::DigitalSignature] => "no valid CA"; "key usage")]
#[test_case(|_| (), |between| between.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth] => "not for client authentication"; "extended key usage")]
#[test_case(|_| (), |between| between.not_after = OffsetDateTime::now_utc() - Duration::days(1) => "expired"; "expired")]
fn intermediates(change_root: fn(&mut CertificateParams), change: fn(&mut CertificateParams)) -> &'static str {
    let root = Signer::root(change_root);
    let between = root.intermediate(change);
    let leaf = between.sign("n", |_| ());
    outcome(&root.pem, &leaf, &[&between.pem])
}

#[test_case(|_| () => "ok"; "plain")]
#[test_case(|leaf| leaf.extended_key_usages.clear() => "ok"; "for anything")]
#[test_case(|leaf| leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::Any] => "ok"; "for any named use")]
#[test_case(|leaf| leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth] => "not for client authentication"; "for serving")]
#[test_case(|leaf| leaf.not_before = OffsetDateTime::now_utc() + Duration::days(1) => "not valid yet"; "not valid yet")]
fn leaves(change: fn(&mut CertificateParams)) -> &'static str {
    let root = Signer::root(|_| ());
    let leaf = root.sign("n", change);
    outcome(&root.pem, &leaf, &[])
}

fn critical() -> CustomExtension {
    let mut extension = CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![0x05, 0x00]);
    extension.set_criticality(true);
    extension
}

/// A CA whose certificate can be made wrong in every way.
struct Signer {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Signer {
    fn root(change: fn(&mut CertificateParams)) -> Self {
        let (params, key) = Self::params("root", change);
        let pem = params.self_signed(&key).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { pem, issuer }
    }

    fn intermediate(&self, change: fn(&mut CertificateParams)) -> Self {
        let (params, key) = Self::params("intermediate", change);
        let pem = params.signed_by(&key, &self.issuer).unwrap().pem();
        let issuer = Issuer::new(params, key);
        Self { pem, issuer }
    }

    fn params(name: &str, change: fn(&mut CertificateParams)) -> (CertificateParams, KeyPair) {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        (params, KeyPair::generate().unwrap())
    }

    fn sign(&self, name: &str, change: fn(&mut CertificateParams)) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        change(&mut params);
        params
            .signed_by(&KeyPair::generate().unwrap(), &self.issuer)
            .unwrap()
            .pem()
    }
}

/// `ok`, or which of the known explanations loading or verifying ended with.
fn outcome(root: &str, leaf: &str, intermediates: &[&str]) -> &'static str {
    with_lists(root, None, leaf, intermediates)
}

fn with_lists(root: &str, lists: Option<&str>, leaf: &str, intermediates: &[&str]) -> &'static str {
    let der = |pem: &str| tls::certificates(pem.as_bytes()).unwrap().remove(0);
    let intermediates: Vec<_> = intermediates.iter().map(|pem| der(pem)).collect();
    let ca = ClientCa::from_pem(root.as_bytes(), OPTIONS);
    let ca = ca.and_then(|ca| match lists {
        Some(lists) => ca.with_lists(lists.as_bytes()),
        None => Ok(ca),
    });
    let error = match ca {
        Err(error) => error.to_string(),
        Ok(ca) => match ca.verify(&der(leaf), &intermediates, UnixTime::now()) {
            Err(error) => error.to_string(),
            Ok(_) => return "ok",
        },
    };
    let known = [
        "is not a CA certificate",
        "may not sign certificates",
        "is not for client certificates",
        "critical extension",
        "no valid CA",
        "expired",
        "not valid yet",
        "not for client authentication",
        "more than any chain needs",
        "was revoked",
        "this issuer has not signed",
        "is not signed by the CA of that name",
        "cannot be parsed",
        "no PEM block",
    ];
    known.into_iter().find(|text| error.contains(text)).unwrap_or("other")
}

/// Object identifier, string type and value, as DER has them.
type Attribute<'a> = (&'a [u8], u8, &'a [u8]);

const CN: &[u8] = &[0x55, 0x04, 0x03];
const O: &[u8] = &[0x55, 0x04, 0x0a];
const UID: &[u8] = &[0x2b, 0x06, 0x01, 0x04, 0x01, 0x83, 0xc2, 0x53, 0x02];
const UTF8: u8 = 0x0c;
const PRINTABLE: u8 = 0x13;
const IA5: u8 = 0x16;
const BMP: u8 = 0x1e;

/// The user of a distinguished name of exactly these attributes.
fn read(attributes: &[Attribute<'_>], options: Options) -> Result<User, Error> {
    let tlv = |tag: u8, value: &[u8]| [&[tag, u8::try_from(value.len()).unwrap()], value].concat();
    let rdn = |(oid, kind, value): &Attribute<'_>| {
        let pair = [tlv(0x06, oid), tlv(*kind, value)].concat();
        tlv(0x31, &tlv(0x30, &pair))
    };
    let rdns: Vec<u8> = attributes.iter().flat_map(rdn).collect();
    let der = tlv(0x30, &rdns);
    let (_, name) = X509Name::from_der(&der).unwrap();
    subject(&name, options)
}
