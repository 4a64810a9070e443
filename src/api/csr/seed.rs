//! Requests for the certificate of a seed, which is what its gardenlet goes by.
//!
//! Follows `pkg/utils/gardener/csr.go` of Gardener, and is stricter: a seed has a name, its certificate names nothing else in any
//! form, and only one signer makes such certificates.

use std::{collections::BTreeSet, fmt};

use x509_parser::{
    certification_request::X509CertificationRequest,
    cri_attributes::ParsedCriAttribute,
    oid_registry::{
        OID_PKCS9_EXTENSION_REQUEST, OID_X509_COMMON_NAME, OID_X509_EXT_SUBJECT_ALT_NAME, OID_X509_ORGANIZATION_NAME,
    },
};

use super::{read, values};
use crate::api::names::{SEED_USER_PREFIX, SEEDS_GROUP};

/// Why a request is not for the certificate of a seed, for the client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NoSeed {
    /// It is no request at all.
    Unreadable(String),
    Organization,
    CommonName,
    /// It is to stand for something else beside.
    OtherNames,
    Usages,
    Signer,
}

const SIGNER: &str = "kubernetes.io/kube-apiserver-client";
const USAGES: [&str; 3] = ["client auth", "digital signature", "key encipherment"];

/// The seed that a request is for the certificate of. What Gardener looks at comes first, in its order, so that the error is its own.
pub fn seed<'a>(pem: &[u8], usages: impl IntoIterator<Item = &'a str>, signer: &str) -> Result<String, NoSeed> {
    let name = read(pem, |request| Ok(subject(request))).map_err(NoSeed::Unreadable)??;
    let usages: BTreeSet<&str> = usages.into_iter().collect();
    if !usages.into_iter().eq(USAGES) {
        return Err(NoSeed::Usages);
    }
    if name.is_empty() {
        return Err(NoSeed::CommonName);
    }
    if signer != SIGNER {
        return Err(NoSeed::Signer);
    }
    Ok(name)
}

fn subject(request: &X509CertificationRequest<'_>) -> Result<String, NoSeed> {
    if !values(request, OID_X509_ORGANIZATION_NAME).eq([Some(SEEDS_GROUP)]) {
        return Err(NoSeed::Organization);
    }
    let name = values(request, OID_X509_COMMON_NAME).last().flatten();
    let name = name.and_then(|name| name.strip_prefix(SEED_USER_PREFIX));
    let name = name.ok_or(NoSeed::CommonName)?;
    if has_other_names(request) {
        return Err(NoSeed::OtherNames);
    }
    Ok(name.to_owned())
}

fn has_other_names(request: &X509CertificationRequest<'_>) -> bool {
    let mut attributes = request.certification_request_info.iter_attributes();
    attributes.any(|attribute| match attribute.parsed_attribute() {
        ParsedCriAttribute::ExtensionRequest(requested) => {
            let mut extensions = requested.extensions.iter();
            extensions.any(|extension| extension.oid == OID_X509_EXT_SUBJECT_ALT_NAME)
        }
        // What cannot be read may name anything.
        _ => attribute.oid == OID_PKCS9_EXTENSION_REQUEST,
    })
}

impl fmt::Display for NoSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => f.write_str(why),
            Self::Organization => write!(f, "subject's organization is not set to [{SEEDS_GROUP}]"),
            Self::CommonName => write!(f, "subject's common name does not start with \"{SEED_USER_PREFIX}\""),
            Self::OtherNames => f.write_str("DNSNames, EmailAddresses and IPAddresses fields must be empty"),
            Self::Usages => f.write_str("key usages are not set to [key encipherment digital signature client auth]"),
            Self::Signer => write!(f, "signer name is not set to {SIGNER}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};
    use test_case::test_case;

    use super::*;

    fn request(edit: fn(&mut CertificateParams)) -> String {
        let mut params = CertificateParams::default();
        params.distinguished_name = Default::default();
        let name = &mut params.distinguished_name;
        name.push(DnType::OrganizationName, "gardener.cloud:system:seeds");
        name.push(DnType::CommonName, "gardener.cloud:system:seed:a");
        edit(&mut params);
        let key = KeyPair::generate().unwrap();
        params.serialize_request(&key).unwrap().pem().unwrap()
    }

    #[test_case(|_| () => Ok("a".to_owned()); "as a gardenlet makes it")]
    #[test_case(|params| params.distinguished_name.push(DnType::OrganizationName, "system:masters") => Err(NoSeed::Organization); "another group")]
    #[test_case(|params| { params.distinguished_name.remove(DnType::OrganizationName); } => Err(NoSeed::Organization); "no group")]
    #[test_case(|params| params.distinguished_name.push(DnType::CommonName, "a") => Err(NoSeed::CommonName); "no prefix")]
    #[test_case(|params| { params.distinguished_name.remove(DnType::CommonName); } => Err(NoSeed::CommonName); "no common name")]
    #[test_case(|params| params.distinguished_name.push(DnType::CommonName, "gardener.cloud:system:seed:") => Err(NoSeed::CommonName); "no name")]
    #[test_case(|params| params.subject_alt_names = vec![SanType::DnsName("a".try_into().unwrap())] => Err(NoSeed::OtherNames); "a host")]
    #[test_case(|params| params.subject_alt_names = vec![SanType::Rfc822Name("a@b".try_into().unwrap())] => Err(NoSeed::OtherNames); "a mail address")]
    #[test_case(|params| params.subject_alt_names = vec![SanType::IpAddress([10, 0, 0, 1].into())] => Err(NoSeed::OtherNames); "an address")]
    #[test_case(|params| params.subject_alt_names = vec![SanType::URI("spiffe://a".try_into().unwrap())] => Err(NoSeed::OtherNames); "a URI")]
    fn subjects(edit: fn(&mut CertificateParams)) -> Result<String, NoSeed> {
        seed(request(edit).as_bytes(), USAGES, SIGNER)
    }

    #[test]
    fn two_groups_are_not_one() {
        let mut params = CertificateParams::default();
        params.distinguished_name = Default::default();
        let name = &mut params.distinguished_name;
        // rcgen keeps one value of a type, so the other one has a type that is written like it.
        name.push(DnType::OrganizationName, SEEDS_GROUP);
        name.push(DnType::CustomDnType(vec![2, 5, 4, 10]), "system:masters");
        name.push(DnType::CommonName, "gardener.cloud:system:seed:a");
        let pem = params
            .serialize_request(&KeyPair::generate().unwrap())
            .unwrap()
            .pem()
            .unwrap();
        assert_eq!(seed(pem.as_bytes(), USAGES, SIGNER), Err(NoSeed::Organization));
    }

    #[test_case(&["client auth", "digital signature", "key encipherment"] => Ok("a".to_owned()); "sorted")]
    #[test_case(&["key encipherment", "digital signature", "client auth", "client auth"] => Ok("a".to_owned()); "as a set")]
    #[test_case(&["key encipherment", "digital signature"] => Err(NoSeed::Usages); "one missing")]
    #[test_case(&["key encipherment", "digital signature", "client auth", "server auth"] => Err(NoSeed::Usages); "one more")]
    #[test_case(&[] => Err(NoSeed::Usages); "none")]
    fn usages(usages: &[&str]) -> Result<String, NoSeed> {
        seed(request(|_| ()).as_bytes(), usages.iter().copied(), SIGNER)
    }

    #[test_case("kubernetes.io/kube-apiserver-client-kubelet"; "of kubelets")]
    #[test_case(""; "none")]
    fn other_signers(signer: &str) {
        let found = seed(request(|_| ()).as_bytes(), USAGES, signer);
        assert_eq!(found, Err(NoSeed::Signer));
    }

    #[test]
    fn what_is_no_request_says_so() {
        let found = seed(b"no", USAGES, SIGNER).unwrap_err();
        assert_eq!(found.to_string(), "PEM block type must be CERTIFICATE REQUEST");
    }
}
