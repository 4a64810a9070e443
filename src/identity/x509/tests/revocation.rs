use rcgen::{CertificateRevocationListParams, KeyIdMethod, RevokedCertParams, SerialNumber};

use super::*;

#[test]
fn what_a_list_of_its_issuer_names_is_refused() {
    let root = Signer::root(|_| ());
    let leaf = root.sign("n", |leaf| serial(leaf, 7));
    let judged = |lists: &str| with_lists(&root.pem, Some(lists), &leaf, &[]);
    assert_eq!(judged(&root.list(&[8])), "ok");
    assert_eq!(judged(&root.list(&[8, 7])), "was revoked");
    assert_eq!(
        judged(&(root.list(&[]) + &root.list(&[7]))),
        "was revoked",
        "by any of several"
    );
    let other = Signer::root(|root| rename(root, "another"));
    assert_eq!(judged(&other.list(&[7])), "ok", "the issuer has no list");
    assert_eq!(
        judged(&root.list_until(Duration::days(-1), &[7])),
        "was revoked",
        "out of date"
    );
    assert_eq!(judged(&root.list_until(Duration::days(-1), &[8])), "ok", "out of date");
}

#[test]
fn intermediates_are_looked_up_and_have_lists_of_their_own() {
    let root = Signer::root(|_| ());
    let between = root.intermediate(|between| serial(between, 5));
    let leaf = between.sign("n", |leaf| serial(leaf, 7));
    let judged = |lists: &str| with_lists(&root.pem, Some(lists), &leaf, &[&between.pem]);
    assert_eq!(
        judged(&(root.list(&[7]) + &between.list(&[5]))),
        "ok",
        "numbers of the other issuer"
    );
    assert_eq!(judged(&root.list(&[5])), "was revoked");
    assert_eq!(judged(&between.list(&[7])), "was revoked");
    let impostor = root.intermediate(|_| ());
    assert_eq!(judged(&impostor.list(&[])), "this issuer has not signed");
}

/// While a CA is renewed under its name, each of its keys has its list.
#[test]
fn a_renewed_ca_has_a_list_for_each_key() {
    let (old, new) = (Signer::root(|_| ()), Signer::root(|_| ()));
    let roots = format!("{}{}", old.pem, new.pem);
    let [of_old, of_new] = [&old, &new].map(|ca| ca.sign("n", |leaf| serial(leaf, 7)));
    for (lists, expected) in [
        (old.list(&[7]) + &new.list(&[]), ["was revoked", "ok"]),
        (old.list(&[]) + &new.list(&[7]), ["ok", "was revoked"]),
        (old.list(&[7]), ["was revoked", "ok"]),
    ] {
        let judged = [&of_old, &of_new].map(|leaf| with_lists(&roots, Some(&lists), leaf, &[]));
        assert_eq!(judged, expected);
    }
    assert_eq!(
        with_lists(&new.pem, Some(&old.list(&[])), &of_new, &[]),
        "is not signed by the CA of that name",
        "the list of a key that is gone"
    );
}

#[test]
fn a_file_without_usable_lists_is_refused() {
    let root = Signer::root(|_| ());
    let leaf = root.sign("n", |_| ());
    let judged = |lists: &str| with_lists(&root.pem, Some(lists), &leaf, &[]);
    assert_eq!(judged(""), "no PEM block");
    assert_eq!(judged(&root.pem), "no PEM block");
    let broken = "-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n";
    assert_eq!(judged(&(root.list(&[]) + broken)), "cannot be parsed");
}

#[test]
fn what_is_out_of_date_is_known() {
    let root = Signer::root(|_| ());
    let lists = root.list_until(Duration::days(-1), &[1]) + &root.list(&[1, 2]);
    let ca = ClientCa::from_pem(root.pem.as_bytes(), OPTIONS).unwrap();
    let ca = ca.with_lists(lists.as_bytes()).unwrap();
    let found: Vec<_> = ca
        .lists()
        .map(|list| (list.revoked, list.is_outdated(UnixTime::now())))
        .collect();
    assert_eq!(found, [(1, true), (2, false)]);
}

fn serial(params: &mut CertificateParams, serial: u8) {
    params.serial_number = Some(SerialNumber::from_slice(&[serial]));
}

impl Signer {
    fn list(&self, revoked: &[u8]) -> String {
        self.list_until(Duration::days(1), revoked)
    }

    fn list_until(&self, remaining: Duration, revoked: &[u8]) -> String {
        let now = OffsetDateTime::now_utc();
        let taken_back = |serial: &u8| RevokedCertParams {
            serial_number: SerialNumber::from_slice(&[*serial]),
            revocation_time: now - Duration::days(2),
            reason_code: None,
            invalidity_date: None,
        };
        let params = CertificateRevocationListParams {
            this_update: now - Duration::days(2),
            next_update: now + remaining,
            crl_number: SerialNumber::from_slice(&[1]),
            issuing_distribution_point: None,
            revoked_certs: revoked.iter().map(taken_back).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer).unwrap().pem().unwrap()
    }
}
