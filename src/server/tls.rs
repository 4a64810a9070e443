//! TLS for listeners.
//!
//! Like kube-apiserver, a listener asks for a client certificate but never fails the handshake over one:
//! whether it is trusted is decided for every request, with the clock and CA of that moment. What the handshake does
//! settle is that the client holds the key: its signature is verified with the key of the certificate, whatever else the
//! certificate says.
//!
//! Sessions are resumed by tickets that only this configuration can read. They hold the certificate that the client has shown, and
//! nothing that was decided about it: a request on a resumed session is judged as any other. Nothing is kept here for who may come
//! back, so that it does not matter how many there are.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, PeerMisbehaved, RootCertStore, ServerConfig,
    SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, aws_lc_rs::Ticketer, verify_tls13_signature_with_raw_key},
    pki_types::{
        CertificateDer, PrivateKeyDer, SubjectPublicKeyInfoDer, UnixTime,
        pem::{self, PemObject},
    },
    server::danger::{ClientCertVerified, ClientCertVerifier},
};
use webpki::RawPublicKeyEntity;
use x509_parser::asn1_rs::{Any, FromDer as _, Tag};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the CA file has no certificate that can be used as a trust anchor")]
    Anchor,
    #[error("the certificate file has no PEM block \"CERTIFICATE\"")]
    NoCertificate,
    #[error("cannot read PEM: {0}")]
    Pem(#[source] pem::Error),
    #[error("the private key cannot be used with the certificate: {0}")]
    Pair(#[source] rustls::Error),
    #[error("the key file has no usable private key: {0}; PKCS#8, PKCS#1 and SEC1 PEM are understood")]
    Key(#[source] pem::Error),
    #[error("cannot make keys for session tickets: {0}")]
    Tickets(#[source] rustls::Error),
}

/// For each handshake. A client keeps the newest, and gets another when it uses it.
const TICKETS: usize = 1;

const TLS12_SCHEMES: &[SignatureScheme] = &[
    SignatureScheme::ECDSA_NISTP256_SHA256,
    SignatureScheme::ECDSA_NISTP384_SHA384,
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED25519,
    SignatureScheme::RSA_PKCS1_SHA256,
    SignatureScheme::RSA_PKCS1_SHA384,
    SignatureScheme::RSA_PKCS1_SHA512,
    SignatureScheme::RSA_PSS_SHA256,
    SignatureScheme::RSA_PSS_SHA384,
    SignatureScheme::RSA_PSS_SHA512,
];

/// Configuration of a listener that shows `certificate` and asks clients for one of `client_ca`.
pub fn server_config(certificate: &[u8], key: &[u8], client_ca: &[u8]) -> Result<ServerConfig, Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = PrivateKeyDer::from_pem_slice(key).map_err(Error::Key)?;
    let asks = AskForCertificate {
        hints: anchors(client_ca)?.subjects(),
        algorithms: provider.signature_verification_algorithms,
    };
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::Pair)?
        .with_client_cert_verifier(Arc::new(asks))
        .with_single_cert(certificates(certificate)?, key)
        .map_err(Error::Pair)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    // Its keys are made here and changed every few hours. New files make a new configuration, whose clients begin anew.
    config.ticketer = Ticketer::new().map_err(Error::Tickets)?;
    config.send_tls13_tickets = TICKETS;
    Ok(config)
}

/// All certificates of a PEM file; at least one.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<Vec<_>, _>>()
        .map_err(Error::Pem)?;
    if certificates.is_empty() {
        Err(Error::NoCertificate)
    } else {
        Ok(certificates)
    }
}

/// All trust anchors of a PEM file; at least one, and every one must be usable.
pub fn anchors(pem: &[u8]) -> Result<RootCertStore, Error> {
    let mut anchors = RootCertStore::empty();
    for certificate in certificates(pem)? {
        anchors.add(certificate).map_err(|_| Error::Anchor)?;
    }
    Ok(anchors)
}

/// Takes any certificate, but makes the client prove that it holds the key.
#[derive(Debug)]
struct AskForCertificate {
    hints: Vec<DistinguishedName>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for AskForCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.hints
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        // Here a scheme does not fix the curve: of the algorithms it may stand for, that of the key is taken. Schemes that
        // came with TLS 1.3 stand for none.
        let scheme = TLS12_SCHEMES.iter().find(|scheme| **scheme == signature.scheme);
        let mapped = scheme.and_then(|scheme| self.algorithms.mapping.iter().find(|(known, _)| known == scheme));
        let (_, candidates) = mapped.ok_or(PeerMisbehaved::SignedHandshakeWithUnadvertisedSigScheme)?;
        let key = public_key(certificate)?;
        let key = RawPublicKeyEntity::try_from(&key).map_err(|_| CertificateError::BadEncoding)?;
        let verifies = |algorithm| key.verify_signature(algorithm, message, signature.signature()).is_ok();
        if candidates.iter().any(|algorithm| verifies(*algorithm)) {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(CertificateError::BadSignature.into())
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature_with_raw_key(message, &public_key(certificate)?, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// The key of a certificate, from which nothing else is read: a certificate that cannot be believed, or not even be parsed
/// to its end, is for the requests to refuse.
fn public_key<'a>(certificate: &'a CertificateDer<'_>) -> Result<SubjectPublicKeyInfoDer<'a>, CertificateError> {
    let find = || {
        let (_, certificate) = Any::from_der(certificate).ok()?;
        let (_, body) = Any::from_der(certificate.data).ok()?;
        let mut rest = body.data;
        // The version may be left out. Serial number, algorithm, issuer, validity and subject may not.
        let (after, version) = Any::from_der(rest).ok()?;
        if version.tag() == Tag(0) {
            rest = after;
        }
        for _ in 0..5 {
            (rest, _) = Any::from_der(rest).ok()?;
        }
        let (after, _) = Any::from_der(rest).ok()?;
        rest.get(..rest.len() - after.len())
    };
    let key = find().ok_or(CertificateError::BadEncoding)?;
    Ok(SubjectPublicKeyInfoDer::from(key))
}

/// Makes the one crypto provider of this program the default of every library in it.
pub fn install_crypto() {
    // Fails only when it was done before, which is as good.
    let _ = CryptoProvider::install_default(rustls::crypto::aws_lc_rs::default_provider());
}

#[cfg(test)]
mod tests;
