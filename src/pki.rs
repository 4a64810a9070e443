//! Certificates for development, tests and the demo. Never for production: keys lie in plain files, and whoever has a
//! CA key of these can be anybody.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use time::{Duration, OffsetDateTime};

/// A certificate authority that can still sign.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub certificate: String,
    pub key: String,
}

/// A certificate and its key, both PEM.
#[derive(Clone, Debug)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// What a certificate is for.
#[derive(Clone, Copy, Debug)]
pub enum Usage<'a> {
    Client,
    /// The DNS names and IP addresses it is good for.
    Server(&'a [&'a str]),
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Long enough for any development, short enough that nothing rests on it.
const VALID: Duration = Duration::days(365);

impl Authority {
    pub fn new(name: &str) -> Result<Self, Error> {
        let mut params = params(&[(DnType::CommonName, name)], VALID);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let pair = KeyPair::generate()?;
        let certificate = params.self_signed(&pair)?.pem();
        let key = pair.serialize_pem();
        Ok(Self {
            issuer: Issuer::new(params, pair),
            certificate,
            key,
        })
    }

    /// A certificate for a name (CN), in a group (O) if one is given.
    pub fn issue(&self, name: &str, group: Option<&str>, usage: Usage<'_>) -> Result<Pair, Error> {
        self.issue_for(VALID, name, group, usage)
    }

    /// The same, valid from an hour ago until `remaining` from now; negative for one that has expired.
    pub fn issue_for(
        &self,
        remaining: Duration,
        name: &str,
        group: Option<&str>,
        usage: Usage<'_>,
    ) -> Result<Pair, Error> {
        let mut subject: Vec<_> = group
            .into_iter()
            .map(|group| (DnType::OrganizationName, group))
            .collect();
        subject.push((DnType::CommonName, name));
        let mut params = params(&subject, remaining);
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = match usage {
            Usage::Client => vec![ExtendedKeyUsagePurpose::ClientAuth],
            Usage::Server(names) => {
                let named = CertificateParams::new(names.iter().map(ToString::to_string).collect::<Vec<_>>())?;
                params.subject_alt_names = named.subject_alt_names;
                vec![ExtendedKeyUsagePurpose::ServerAuth]
            }
        };
        let pair = KeyPair::generate()?;
        let certificate = params.signed_by(&pair, &self.issuer)?.pem();
        Ok(Pair {
            certificate,
            key: pair.serialize_pem(),
        })
    }
}

impl Pair {
    /// Writes `<name>.crt` and `<name>.key`.
    pub fn write(&self, dir: &Path, name: &str) -> Result<(), Error> {
        write(&dir.join(format!("{name}.crt")), &self.certificate, 0o644)?;
        write(&dir.join(format!("{name}.key")), &self.key, 0o600)
    }
}

/// Everything a gate, its upstream and two or more nodes need.
#[derive(Debug)]
pub struct Pki {
    /// Signs the certificates the gate and the upstream show.
    pub server_ca: Authority,
    /// Signs the certificates clients show.
    pub client_ca: Authority,
    /// Signs the one certificate upstream believes about other users.
    pub front_proxy_ca: Authority,
}

impl Pki {
    pub fn new() -> Result<Self, Error> {
        Ok(Self {
            server_ca: Authority::new("scopegate development server CA")?,
            client_ca: Authority::new("scopegate development client CA")?,
            front_proxy_ca: Authority::new("scopegate development front-proxy CA")?,
        })
    }

    pub fn node(&self, name: &str) -> Result<Pair, Error> {
        self.client_ca
            .issue(&format!("system:node:{name}"), Some("system:nodes"), Usage::Client)
    }

    /// Writes CA certificates and keys, a serving pair for `hosts`, a front-proxy pair, and a pair for each node.
    pub fn write(&self, dir: &Path, hosts: &[&str], nodes: &[&str]) -> Result<(), Error> {
        fs::create_dir_all(dir).map_err(|source| Error::Write {
            path: dir.to_owned(),
            source,
        })?;
        let authorities = [
            ("server-ca", &self.server_ca),
            ("client-ca", &self.client_ca),
            ("front-proxy-ca", &self.front_proxy_ca),
        ];
        for (name, authority) in authorities {
            let pair = Pair {
                certificate: authority.certificate.clone(),
                key: authority.key.clone(),
            };
            pair.write(dir, name)?;
        }
        let server = self.server_ca.issue("scopegate", None, Usage::Server(hosts))?;
        server.write(dir, "server")?;
        let front_proxy = self.front_proxy_ca.issue("front-proxy-client", None, Usage::Client)?;
        front_proxy.write(dir, "front-proxy-client")?;
        for node in nodes {
            self.node(node)?.write(dir, node)?;
        }
        Ok(())
    }
}

fn params(subject: &[(DnType, &str)], remaining: Duration) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    for (kind, value) in subject {
        params.distinguished_name.push(kind.clone(), *value);
    }
    let now = OffsetDateTime::now_utc();
    // Clocks differ; a certificate made this minute should be good everywhere.
    params.not_before = now - Duration::hours(1);
    params.not_after = now + remaining;
    params
}

fn write(path: &Path, content: &str, mode: u32) -> Result<(), Error> {
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| file.write_all(content.as_bytes()));
    written.map_err(|source| Error::Write {
        path: path.to_owned(),
        source,
    })
}
