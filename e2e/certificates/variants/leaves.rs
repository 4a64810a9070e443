//! Leaves under a good root.

use rcgen::{KeyPair, PKCS_ECDSA_P384_SHA384, PKCS_ECDSA_P521_SHA512, PKCS_ED25519, PKCS_RSA_SHA256, RsaKeySize};
use time::Duration;

use super::{
    CA_KEY,
    Expected::{Believed, Refused, Stricter},
    POLICY, Roots, Variant, basic, of, variant,
};
use crate::{
    pki::{
        ANY, AUTHORITY_KEY, CLIENT, CN, CONSTRAINTS, Entity, KEY_USAGE, LOCALITY, NAMES, O, POLICIES,
        POLICY_CONSTRAINTS, SERVER, Template, UID, UTF8, attribute, extension, purposes, rdn, tlv,
    },
    release,
};

const HEADER: &str = "it cannot be told upstream in a header in one way only";
const READERS: &str = "readers do not agree on strings of this type";

#[rustfmt::skip]
pub(super) fn subjects(roots: &Roots) -> Vec<Variant> {
    let cn = |tag, value: &[u8]| rdn(CN, tag, value);
    let user = || cn(UTF8, b"user");
    let o = |value: &str| rdn(O, UTF8, value.as_bytes());
    let row = |name, expected, subject: &[Vec<u8>]| {
        let leaf = roots.main.sign(Template::client("").subject(subject));
        variant(name, expected, &leaf, &[])
    };
    // Before 1.33 nobody looks at them.
    let no_uid = if release::minor() < 33 { Believed } else { Refused };
    let both = tlv(0x31, &[&attribute(CN, UTF8, b"user"), &attribute(O, UTF8, b"group")]);
    vec![
        row("a node", Believed, &[o("system:nodes"), cn(UTF8, b"system:node:node-a")]),
        row("a user", Believed, &[user()]),
        row("a master", Believed, &[o("system:masters"), cn(UTF8, b"master")]),
        row("two common names", Believed, &[cn(UTF8, b"first"), cn(UTF8, b"second")]),
        // Alone these would be anonymous; where there is a front proxy CA they have failed to be one, which is 401.
        row("empty common name", Refused, &[cn(UTF8, b"")]),
        row("no common name", Refused, &[o("group")]),
        row("several groups in order", Believed, &[o("b"), user(), o("a"), o("c")]),
        row("the same group twice", Believed, &[o("b"), o("a"), o("b"), user()]),
        row("name and group in one set", Believed, &[both]),
        row("empty group", Stricter(HEADER), &[o(""), user()]),
        row("system:unauthenticated", Believed, &[o("system:unauthenticated"), user()]),
        row("system:authenticated", Believed, &[o("system:authenticated"), user()]),
        row("system:anonymous", Believed, &[cn(UTF8, b"system:anonymous")]),
        row("a UID", Believed, &[user(), rdn(UID, UTF8, b"u-1")]),
        row("two UIDs", no_uid, &[user(), rdn(UID, UTF8, b"u-1"), rdn(UID, UTF8, b"u-1")]),
        row("empty UID", no_uid, &[user(), rdn(UID, UTF8, b"")]),
        row("UID that is a number", Refused, &[user(), rdn(UID, 2, &[7])]),
        row("other attributes", Believed, &[rdn(LOCALITY, UTF8, b"here"), rdn(&[0x2a, 3], UTF8, b"x"), user()]),
        row("letters beyond ASCII", Believed, &[cn(UTF8, "Übel".as_bytes()), o("gruppe-ü")]),
        row("PrintableString", Believed, &[cn(0x13, b"user")]),
        row("IA5String", Believed, &[cn(0x16, b"user@here")]),
        row("BMPString", Stricter(READERS), &[cn(0x1e, &[0, b'u'])]),
        row("TeletexString", Stricter(READERS), &[cn(0x14, b"us\xe9r")]),
        row("NumericString", Believed, &[cn(0x12, b"12 3")]),
        row("control characters", Stricter(HEADER), &[cn(UTF8, b"us\x01er")]),
        row("line break", Stricter(HEADER), &[cn(UTF8, b"user\r\nX-Remote-Group: system:masters")]),
        row("spaces around", Stricter(HEADER), &[cn(UTF8, b" user ")]),
        row("VisibleString elsewhere", Refused, &[user(), rdn(LOCALITY, 0x1a, b"here")]),
        row("bad PrintableString elsewhere", Refused, &[user(), rdn(LOCALITY, 0x13, b"he_re")]),
        row("bad UTF-8 elsewhere", Refused, &[user(), rdn(LOCALITY, UTF8, &[0xff])]),
        row("needless byte in an identifier", Refused, &[user(), rdn(&[0x55, 0x80, 4], UTF8, b"x")]),
    ]
}

#[rustfmt::skip]
pub(super) fn leaves(roots: &Roots) -> Vec<Variant> {
    let row = |name, expected, template: Template| variant(name, expected, &roots.main.sign(template), &[]);
    let user = || Template::client("user");
    let bare = || Template::new("user");
    let numbered = |serial: &[u8]| Template {
        serial: serial.to_vec(),
        ..user()
    };
    let first = Template {
        version: None,
        ..bare()
    };
    // Both refuse it for the algorithm, before they look at the signature, which is none of SHA-1.
    let sha1 = Template {
        signature: Some(tlv(0x30, &[&tlv(6, &[&[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 1]])])),
        ..user()
    };
    let (hour, minute) = (Duration::HOUR, Duration::MINUTE);
    vec![
        row("expired", Refused, user().valid(-hour, -minute)),
        row("not yet valid", Refused, user().valid(hour, 2 * hour)),
        row("never valid", Refused, user().valid(hour, -hour)),
        row("no extended key usage", Believed, bare()),
        row("for servers", Refused, bare().with(purposes(&[SERVER]))),
        row("for anything", Believed, bare().with(purposes(&[ANY]))),
        row("for clients and servers", Believed, bare().with(purposes(&[SERVER, CLIENT]))),
        row("for something unknown", Refused, bare().with(purposes(&[&[0x2a, 3, 4]]))),
        row("for nothing", Stricter("an empty list is no list that RFC 5280 knows"), bare().with(purposes(&[]))),
        row("serial number zero", Believed, numbered(&[0])),
        row("negative serial number", Refused, numbered(&[0x80])),
        row("serial number with a needless zero", Refused, numbered(&[0, 1])),
        row("version 1", Stricter("webpki reads version 3 only"), first),
        row("SHA-1 by name", Refused, sha1),
        row("a CA", Stricter(CA_KEY), Template::ca("user")),
        row("may say that it is no CA", Believed, user().with(basic(false, None))),
    ]
}

#[rustfmt::skip]
pub(super) fn extensions(roots: &Roots) -> Vec<Variant> {
    let row = |name, expected, oid: &[u8], critical, value: &[u8]| {
        let leaf = roots
            .main
            .sign(Template::client("user").with(extension(oid, critical, value)));
        variant(name, expected, &leaf, &[])
    };
    let twice = extension(&[0x2a, 3, 4], false, &[]);
    let twice = roots
        .main
        .sign(Template::client("user").with(twice.clone()).with(twice));
    let dns = tlv(0x30, &[&tlv(0x82, &[b"node.example.com"])]);
    let registered = tlv(0x30, &[&tlv(0x88, &[&[0x2a, 3]])]);
    let policy = tlv(0x30, &[&tlv(0x30, &[&tlv(6, &[&[0x2a, 3]])])]);
    let policies = "webpki handles no critical policies";
    vec![
        row("unknown critical extension", Refused, &[0x2a, 3, 4], true, &[]),
        row("unknown extension", Believed, &[0x2a, 3, 4], false, b"anything"),
        variant("unknown extension twice", Refused, &twice, &[]),
        row("critical DNS name", Believed, NAMES, true, &dns),
        row("critical name of no known form", Refused, NAMES, true, &registered),
        row("name of no known form", Believed, NAMES, false, &registered),
        row("critical names, none there", Refused, NAMES, true, &[0x30, 0]),
        row("DNS name that is not ASCII", Refused, NAMES, false, &tlv(0x30, &[&tlv(0x82, &[&[0xff]])])),
        row("address of three bytes", Refused, NAMES, false, &tlv(0x30, &[&tlv(0x87, &[&[1, 2, 3]])])),
        row("URI", Believed, NAMES, false, &tlv(0x30, &[&tlv(0x86, &[b"spiffe://c.local/ns/a"])])),
        row("bad URI", Refused, NAMES, false, &tlv(0x30, &[&tlv(0x86, &[b"http://a%zz/"])])),
        row("names of another type", Refused, NAMES, false, &[4, 0]),
        row("policies", Believed, POLICIES, false, &policy),
        row("critical policies", Stricter(policies), POLICIES, true, &policy),
        row("policy asked for, none there", Refused, POLICY_CONSTRAINTS, true, &[0x30, 3, 0x80, 1, 0]),
        row("the same, not critical", Refused, POLICY_CONSTRAINTS, false, &[0x30, 3, 0x80, 1, 0]),
        row("no policy asked for", Stricter(POLICY), POLICY_CONSTRAINTS, false, &[0x30, 0]),
        row("malformed authority key", Refused, AUTHORITY_KEY, false, &[4, 0]),
        row("critical authority key", Refused, AUTHORITY_KEY, true, &[0x30, 0]),
        row("key usage with bits behind the last", Refused, KEY_USAGE, true, &[3, 2, 5, 0xff]),
        row("constraints nobody is under", Refused, CONSTRAINTS, true, &[0x30, 0]),
    ]
}

#[rustfmt::skip]
pub(super) fn keys(roots: &Roots) -> Vec<Variant> {
    let rsa = || KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap();
    let keyed = |name, key: KeyPair| {
        let leaf = roots.main.sign(Template::client("user").key(key));
        variant(name, Believed, &leaf, &[])
    };
    let of_root = |name, root: &Entity| variant(name, Believed, &root.sign(Template::client("user")), &[]);
    vec![
        variant("compressed key", Refused, &roots.main.sign(Template::client("user").compressed()), &[]),
        keyed("RSA", rsa()),
        keyed("P-384", of(&PKCS_ECDSA_P384_SHA384)),
        keyed("P-521", of(&PKCS_ECDSA_P521_SHA512)),
        keyed("Ed25519", of(&PKCS_ED25519)),
        of_root("of an RSA CA", &roots.rsa),
        of_root("of a P-384 CA", &roots.p384),
        of_root("of an Ed25519 CA", &roots.ed25519),
    ]
}
