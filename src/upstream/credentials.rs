//! Where the API servers are and what the gate shows them, from files.

use std::path::{Path, PathBuf};

use http::Uri;
use kube::config::{AuthInfo, Cluster, KubeConfigOptions, Kubeconfig};

use super::{Client, Clients, Error, Servers};

/// What is needed to reach upstream.
#[derive(Clone, Debug)]
pub struct Files {
    /// Absent: the service account of the pod.
    pub kubeconfig: Option<PathBuf>,
    /// Instead of the server that the credentials name.
    pub servers: Vec<Uri>,
    /// Certificate and key that upstream believes about anybody.
    pub front_proxy: Option<(PathBuf, PathBuf)>,
}

impl Files {
    /// Every file that counts; a change in one of them calls for new clients. The token of a service account is left out:
    /// it is read again as it is renewed.
    pub fn list(&self) -> Result<Vec<PathBuf>, Error> {
        let mut files = Vec::new();
        if let Some(path) = &self.kubeconfig {
            files.push(path.clone());
            let (cluster, user) = current(&read(path)?);
            let ca = cluster.and_then(|cluster| cluster.certificate_authority);
            let pair = user.map(|user| [user.client_certificate, user.client_key]);
            // Made absolute by the reader, like everything in a kubeconfig.
            files.extend(
                ca.into_iter()
                    .chain(pair.into_iter().flatten().flatten())
                    .map(PathBuf::from),
            );
        }
        if let Some((certificate, key)) = &self.front_proxy {
            files.extend([certificate.clone(), key.clone()]);
        }
        Ok(files)
    }

    /// No connection is made yet.
    pub async fn clients(&self) -> Result<Clients, Error> {
        let credentials = credentials(self.kubeconfig.as_deref()).await?;
        let servers = match self.servers.as_slice() {
            [] => vec![credentials.cluster_url.clone()],
            servers => servers.to_vec(),
        };
        let servers = std::sync::Arc::new(Servers::new(servers)?);
        let client = |auth_info| {
            let mut config = credentials.clone();
            config.auth_info = auth_info;
            Client::to(std::sync::Arc::clone(&servers), &config)
        };
        let own = client(credentials.auth_info.clone())?;
        Ok(Clients {
            // Apart from the gate's own questions even if the credentials are the same: anybody can cause those.
            told: match &self.front_proxy {
                None => client(credentials.auth_info.clone())?,
                Some((certificate, key)) => client(AuthInfo {
                    client_certificate: Some(certificate.display().to_string()),
                    client_key: Some(key.display().to_string()),
                    ..AuthInfo::default()
                })?,
            },
            own,
            bare: client(AuthInfo::default())?,
        })
    }
}

/// The gate's own credentials: of a kubeconfig, else of the service account of the pod it runs in.
pub async fn credentials(kubeconfig: Option<&Path>) -> Result<kube::Config, Error> {
    let mut config = match kubeconfig {
        None => kube::Config::incluster().map_err(Error::InCluster)?,
        Some(path) => {
            let file = read(path)?;
            if current(&file).0.is_some_and(|cluster| cluster.proxy_url.is_some()) {
                return Err(Error::Proxy);
            }
            kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default())
                .await
                .map_err(|source| Error::kubeconfig(path, source))?
        }
    };
    if config.accept_invalid_certs {
        return Err(Error::Insecure);
    }
    // Taken from the environment, where it is meant for other programs.
    config.proxy_url = None;
    Ok(config)
}

/// The cluster and the user of the current context.
fn current(file: &Kubeconfig) -> (Option<Cluster>, Option<AuthInfo>) {
    let named = file
        .contexts
        .iter()
        .find(|named| Some(&named.name) == file.current_context.as_ref());
    let Some(context) = named.and_then(|named| named.context.as_ref()) else {
        return (None, None);
    };
    let cluster = file.clusters.iter().find(|named| named.name == context.cluster);
    let user = file
        .auth_infos
        .iter()
        .find(|named| Some(&named.name) == context.user.as_ref());
    (
        cluster.and_then(|named| named.cluster.clone()),
        user.and_then(|named| named.auth_info.clone()),
    )
}

fn read(path: &Path) -> Result<Kubeconfig, Error> {
    Kubeconfig::read_from(path).map_err(|source| Error::kubeconfig(path, source))
}
