//! Upstreams that do exactly what a test wants, byte for byte or frame for frame.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use scopegate::{demo::site::Site, pki::Usage, server::tls};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// A TLS server with a certificate that the gate of a site believes.
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    /// Connections made so far.
    pub(crate) connections: Arc<Mutex<usize>>,
}

impl Scripted {
    /// Speaks these protocols, and hands every connection to the script. The gate's probes arrive too.
    pub(crate) async fn start<F>(
        site: &Site,
        protocols: &[&[u8]],
        script: impl Fn(TlsStream<TcpStream>) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let pair = site
            .pki
            .server_ca
            .issue("scripted", None, Usage::Server(&["127.0.0.1"]))
            .unwrap();
        let ca = site.pki.front_proxy_ca.certificate.as_bytes();
        let mut config = tls::server_config(pair.certificate.as_bytes(), pair.key.as_bytes(), ca).unwrap();
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(Mutex::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                if let Ok(stream) = acceptor.accept(stream).await {
                    *count.lock().unwrap() += 1;
                    tokio::spawn(script(stream));
                }
            }
        });
        Self { address, connections }
    }
}

/// Reads a request head; nothing if the connection ends before.
pub(crate) async fn head(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Option<String> {
    use tokio::io::AsyncReadExt as _;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}
