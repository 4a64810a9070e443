//! The certificates that are compared.

mod chains;
mod leaves;

use rcgen::{KeyPair, PKCS_ECDSA_P384_SHA384, PKCS_ED25519, PKCS_RSA_SHA256, RsaKeySize};
use time::Duration;

use crate::pki::{BASIC, CONSTRAINTS, Entity, Template, extension, tlv};

pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) leaf: Entity,
    /// What is sent behind the leaf.
    pub(super) behind: Vec<Vec<u8>>,
    pub(super) expected: Expected,
}

#[derive(Clone, Copy)]
pub(super) enum Expected {
    /// As the same user.
    Believed,
    Refused,
    /// By the gate, though kube-apiserver believes it; and why that is right.
    Stricter(&'static str),
}

/// What clientCAFile holds.
pub(super) struct Roots {
    main: Entity,
    /// A renewed CA: the old certificate, expired, and the new one with the same key and with another.
    renewed: [Entity; 3],
    rsa: Entity,
    p384: Entity,
    ed25519: Entity,
    /// May only have one level below it.
    short: Entity,
    /// May only sign for names in example.com.
    constrained: Entity,
    expired: Entity,
}

const POLICY: &str = "policy rules are not followed here, so nothing under them is believed";
const CA_KEY: &str = "the key of a CA has no business with a client";

impl Roots {
    pub(super) fn new() -> Self {
        let rsa = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap();
        let renewed = Template::ca("renewed");
        let over = |template: Template| template.valid(Duration::hours(-2), Duration::hours(-1));
        Self {
            main: Template::ca("main").self_signed(),
            renewed: [over(renewed.clone()), renewed, Template::ca("renewed")].map(Template::self_signed),
            rsa: Template::ca("rsa").key(rsa).self_signed(),
            p384: Template::ca("p384").key(of(&PKCS_ECDSA_P384_SHA384)).self_signed(),
            ed25519: Template::ca("ed25519").key(of(&PKCS_ED25519)).self_signed(),
            short: Template::new("short").with(basic(true, Some(0))).self_signed(),
            constrained: Template::ca("constrained")
                .with(constraint(true, 0xa0, 0x82, b"example.com"))
                .self_signed(),
            expired: over(Template::ca("expired")).self_signed(),
        }
    }

    pub(super) fn bundle(&self) -> String {
        let with = [&self.main, &self.rsa, &self.p384, &self.ed25519, &self.short];
        let with = with.into_iter().chain([&self.constrained, &self.expired]);
        with.chain(&self.renewed).map(Entity::pem).collect()
    }
}

pub(super) fn table(roots: &Roots) -> Vec<Variant> {
    [
        leaves::subjects(roots),
        leaves::leaves(roots),
        leaves::extensions(roots),
        chains::intermediates(roots),
        leaves::keys(roots),
        chains::chains(roots),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn variant(name: &'static str, expected: Expected, leaf: &Entity, behind: &[&Entity]) -> Variant {
    Variant {
        name,
        leaf: leaf.clone(),
        behind: behind.iter().map(|entity| entity.der.clone()).collect(),
        expected,
    }
}

fn basic(ca: bool, levels: Option<u8>) -> Vec<u8> {
    let ca: &[u8] = if ca { &[1, 1, 0xff] } else { &[] };
    let levels = levels.map_or(Vec::new(), |levels| vec![2, 1, levels]);
    extension(BASIC, true, &tlv(0x30, &[ca, &levels]))
}

/// A name constraint: which subtrees (permitted 0xa0, excluded 0xa1), of which form, on which base.
fn constraint(critical: bool, trees: u8, form: u8, base: &[u8]) -> Vec<u8> {
    let trees = tlv(trees, &[&tlv(0x30, &[&tlv(form, &[base])])]);
    extension(CONSTRAINTS, critical, &tlv(0x30, &[&trees]))
}

fn of(algorithm: &'static rcgen::SignatureAlgorithm) -> KeyPair {
    KeyPair::generate_for(algorithm).unwrap()
}
