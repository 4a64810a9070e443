use aws_lc_rs::{
    rand::SystemRandom,
    signature::{ECDSA_P521_SHA384_ASN1_SIGNING, EcdsaKeyPair},
};
use rcgen::{
    CertificateParams, CustomExtension, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384,
    PKCS_ECDSA_P521_SHA512, PKCS_ED25519, PKCS_RSA_SHA256, RsaKeySize,
};
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, ServerConnection, SupportedProtocolVersion,
    client::ResolvesClientCert,
    crypto::aws_lc_rs::sign::any_supported_type,
    sign::{CertifiedKey, Signer, SigningKey, SingleCertAndKey},
    version::{TLS12, TLS13},
};
use test_case::test_case;

use super::*;

/// Whatever a certificate says, the handshake does not fail over it, in both versions of TLS.
#[test_case(&PKCS_ECDSA_P256_SHA256, |_| (); "P-256")]
#[test_case(&PKCS_ECDSA_P384_SHA384, |_| (); "P-384")]
#[test_case(&PKCS_ED25519, |_| (); "Ed25519")]
#[test_case(&PKCS_ECDSA_P256_SHA256, |params| params.custom_extensions.push(unknown()); "unknown critical extension")]
#[test_case(&PKCS_ECDSA_P256_SHA256, |params| params.custom_extensions = vec![unknown(), unknown()]; "twice the same extension")]
#[test_case(&PKCS_ECDSA_P256_SHA256, |params| params.custom_extensions.push(
    CustomExtension::from_oid_content(&[2, 5, 29, 37], b"nonsense".to_vec())); "malformed extension")]
fn no_certificate_breaks_the_handshake(
    algorithm: &'static rcgen::SignatureAlgorithm,
    change: fn(&mut CertificateParams),
) {
    let (certificate, key) = client(algorithm, change);
    for version in [&TLS12, &TLS13] {
        let shown = handshake(version, certificate.clone(), signing(&key)).unwrap();
        assert_eq!(shown.as_deref(), Some([certificate.clone()].as_slice()), "{version:?}");
    }
}

/// Who does not hold the key does not get in: neither with another key nor with a signature that was tampered with.
#[test]
fn a_certificate_is_worth_nothing_without_its_key() {
    for algorithm in [&PKCS_ECDSA_P256_SHA256, &PKCS_ECDSA_P384_SHA384, &PKCS_ED25519] {
        let (certificate, key) = client(algorithm, |_| ());
        let other = KeyPair::generate_for(algorithm).unwrap();
        for version in [&TLS12, &TLS13] {
            let error = handshake(version, certificate.clone(), signing(&other)).unwrap_err();
            assert!(error.contains("BadSignature"), "another key: {error}");
            let forged = Arc::new(Forger(signing(&key)));
            let error = handshake(version, certificate.clone(), forged).unwrap_err();
            assert!(error.contains("BadSignature"), "forged: {error}");
        }
    }
}

/// TLS 1.3 ties the curve to the scheme and knows no PKCS#1 v1.5; in TLS 1.2 both are good.
#[test]
fn tls_1_3_keeps_to_its_schemes() {
    let (certificate, key) = client(&PKCS_ECDSA_P521_SHA512, |_| ());
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P521_SHA384_ASN1_SIGNING, &key.serialize_der()).unwrap();
    let key = Arc::new(Crossed(Arc::new(key)));
    assert!(handshake(&TLS12, certificate.clone(), key.clone()).is_ok());
    assert!(handshake(&TLS13, certificate, key).is_err());

    let key = KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048).unwrap();
    let certificate = CertificateParams::default().self_signed(&key).unwrap().der().clone();
    for scheme in [SignatureScheme::RSA_PKCS1_SHA256, SignatureScheme::RSA_PSS_SHA256] {
        let key = Arc::new(Only(signing(&key), scheme));
        assert!(handshake(&TLS12, certificate.clone(), key.clone()).is_ok());
        let pss = scheme == SignatureScheme::RSA_PSS_SHA256;
        assert_eq!(handshake(&TLS13, certificate.clone(), key).is_ok(), pss);
    }
}

#[test]
fn a_certificate_without_a_key_proves_nothing() {
    let (certificate, key) = client(&PKCS_ECDSA_P256_SHA256, |_| ());
    for garbage in [b"" as &[u8], b"\x30\x00", &certificate[..100], b"\x30\x82\xff\xff"] {
        for version in [&TLS12, &TLS13] {
            let garbage = CertificateDer::from(garbage.to_vec());
            assert!(handshake(version, garbage, signing(&key)).is_err());
        }
    }
}

/// However many others have come in between, and with the certificate that was shown first.
#[test]
fn every_client_can_resume() {
    let (server, pem) = server();
    let server = Arc::new(server);
    let (certificate, key) = client(&PKCS_ECDSA_P256_SHA256, |_| ());
    for version in [&TLS12, &TLS13] {
        let one = || configured(version, certificate.clone(), signing(&key), &pem);
        let clients: Vec<_> = (0..300).map(|_| one()).collect();
        for kind in [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Resumed] {
            for client in &clients {
                let server = meet(client, &server).unwrap();
                assert_eq!(server.handshake_kind(), Some(kind), "{version:?}");
                assert_eq!(shown(&server).as_deref(), Some([certificate.clone()].as_slice()));
            }
        }
    }
}

/// A ticket is good for the configuration that has made it, and for no other with the same files.
#[test]
fn a_new_configuration_resumes_nothing() {
    let key = KeyPair::generate().unwrap();
    let pem = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let pem = pem.self_signed(&key).unwrap().pem();
    let server = || Arc::new(server_config(pem.as_bytes(), key.serialize_pem().as_bytes(), pem.as_bytes()).unwrap());
    let (certificate, key) = client(&PKCS_ECDSA_P256_SHA256, |_| ());
    for version in [&TLS12, &TLS13] {
        let client = configured(version, certificate.clone(), signing(&key), &pem);
        for _ in 0..2 {
            let server = meet(&client, &server()).unwrap();
            assert_eq!(server.handshake_kind(), Some(HandshakeKind::Full), "{version:?}");
        }
    }
}

fn unknown() -> CustomExtension {
    let mut extension = CustomExtension::from_oid_content(&[1, 2, 3, 4], vec![0x05, 0x00]);
    extension.set_criticality(true);
    extension
}

fn client(
    algorithm: &'static rcgen::SignatureAlgorithm,
    change: fn(&mut CertificateParams),
) -> (CertificateDer<'static>, KeyPair) {
    let key = KeyPair::generate_for(algorithm).unwrap();
    let mut params = CertificateParams::default();
    change(&mut params);
    let certificate = params.self_signed(&key).unwrap().der().clone();
    (certificate, key)
}

fn signing(key: &KeyPair) -> Arc<dyn SigningKey> {
    any_supported_type(&PrivateKeyDer::try_from(key.serialize_der()).unwrap()).unwrap()
}

/// A whole handshake in memory: what the server takes the client's certificates for, or its error.
fn handshake(
    version: &'static SupportedProtocolVersion,
    certificate: CertificateDer<'static>,
    key: Arc<dyn SigningKey>,
) -> Result<Option<Vec<CertificateDer<'static>>>, String> {
    let (server, pem) = server();
    let client = configured(version, certificate, key, &pem);
    let server = meet(&client, &Arc::new(server))?;
    Ok(shown(&server))
}

/// It vouches for itself, to both sides.
fn server() -> (ServerConfig, String) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let pem = certificate.self_signed(&key).unwrap().pem();
    let config = server_config(pem.as_bytes(), key.serialize_pem().as_bytes(), pem.as_bytes()).unwrap();
    (config, pem)
}

fn configured(
    version: &'static SupportedProtocolVersion,
    certificate: CertificateDer<'static>,
    key: Arc<dyn SigningKey>,
    trusted: &str,
) -> Arc<ClientConfig> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let shows: Arc<dyn ResolvesClientCert> =
        Arc::new(SingleCertAndKey::from(CertifiedKey::new(vec![certificate], key)));
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(anchors(trusted.as_bytes()).unwrap())
        .with_client_cert_resolver(shows);
    Arc::new(config)
}

/// The server's end after the handshake and what follows it.
fn meet(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Result<ServerConnection, String> {
    let mut server = ServerConnection::new(Arc::clone(server)).unwrap();
    let mut client = ClientConnection::new(Arc::clone(client), "localhost".try_into().unwrap()).unwrap();
    for _ in 0..10 {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        server.read_tls(&mut bytes.as_slice()).unwrap();
        server
            .process_new_packets()
            .map_err(|error| error.to_string() + &format!(" {error:?}"))?;
        let mut bytes = Vec::new();
        server.write_tls(&mut bytes).unwrap();
        client.read_tls(&mut bytes.as_slice()).unwrap();
        client.process_new_packets().map_err(|error| error.to_string())?;
    }
    assert!(!server.is_handshaking());
    Ok(server)
}

/// What the server takes the client's certificates for.
fn shown(server: &ServerConnection) -> Option<Vec<CertificateDer<'static>>> {
    let certificates = server.peer_certificates()?;
    Some(certificates.iter().map(|c| c.clone().into_owned()).collect())
}

/// Signs, and then changes a bit.
#[derive(Debug)]
struct Forger(Arc<dyn SigningKey>);

/// Signs in one way only, whatever was offered.
#[derive(Debug)]
struct Only(Arc<dyn SigningKey>, SignatureScheme);

/// Signs with SHA-384, but on another curve than the scheme has.
#[derive(Clone, Debug)]
struct Crossed(Arc<EcdsaKeyPair>);

#[derive(Debug)]
struct Forgery(Box<dyn Signer>);

impl SigningKey for Forger {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(Forgery(self.0.choose_scheme(offered)?)))
    }

    fn algorithm(&self) -> rustls::SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl Signer for Forgery {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        let mut signature = self.0.sign(message)?;
        *signature.last_mut().unwrap() ^= 1;
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme()
    }
}

impl SigningKey for Only {
    fn choose_scheme(&self, _offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        self.0.choose_scheme(&[self.1])
    }

    fn algorithm(&self) -> rustls::SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl SigningKey for Crossed {
    fn choose_scheme(&self, _offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(self.clone()))
    }

    fn algorithm(&self) -> rustls::SignatureAlgorithm {
        rustls::SignatureAlgorithm::ECDSA
    }
}

impl Signer for Crossed {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        Ok(self.0.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ECDSA_NISTP384_SHA384
    }
}
