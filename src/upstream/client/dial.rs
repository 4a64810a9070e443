//! New connections to one API server: TCP, TLS, and what was agreed to be spoken on them.

use std::{sync::Arc, time::Duration};

use http::Uri;
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use rustls::{ClientConfig, pki_types::ServerName};
use tokio::time::timeout;
use tokio_rustls::{TlsConnector, client::TlsStream};
use tower::{BoxError, ServiceExt as _};

use crate::{server::Ahead, upstream::Error};

#[derive(Clone)]
pub(super) struct Dialer {
    server: Uri,
    name: ServerName<'static>,
    tcp: HttpConnector,
    http2: TlsConnector,
    http1: TlsConnector,
}

/// What is to be spoken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Speak {
    Http1,
    /// HTTP/2 if the server has it, else HTTP/1.1.
    Http2,
}

/// An open connection.
pub(super) enum Dialed {
    Http1(TokioIo<TlsStream<Ahead>>),
    Http2(TokioIo<TlsStream<Ahead>>),
}

/// Until TLS is established.
const CONNECT: Duration = Duration::from_secs(5);
/// A connection on which nothing moves is asked for a sign of life after this long, on the level of TCP.
const KEEPALIVE: Duration = Duration::from_secs(30);

impl Dialer {
    /// `name` is what the server's certificate has to say, if not the host of its URL.
    pub(super) fn new(server: &Uri, name: Option<&str>, tls: &ClientConfig) -> Result<Self, Error> {
        let host = server.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(name.unwrap_or(host).to_owned());
        let name = name.map_err(|_| Error::Url(server.to_string()))?;
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        tcp.set_keepalive(Some(KEEPALIVE));
        tcp.set_keepalive_interval(Some(KEEPALIVE / 6));
        tcp.set_keepalive_retries(Some(3));
        // That is not asked while it has not acknowledged what was sent: a server that is gone has to be noticed then, too.
        #[cfg(target_os = "linux")]
        tcp.set_tcp_user_timeout(Some(KEEPALIVE));
        let speaking = |protocols: &[&[u8]]| {
            let mut tls = tls.clone();
            tls.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
            TlsConnector::from(Arc::new(tls))
        };
        Ok(Self {
            server: server.clone(),
            name,
            tcp,
            http2: speaking(&[b"h2", b"http/1.1"]),
            http1: speaking(&[b"http/1.1"]),
        })
    }

    pub(super) async fn dial(&self, speak: Speak) -> Result<Dialed, BoxError> {
        let tls = match speak {
            Speak::Http1 => &self.http1,
            Speak::Http2 => &self.http2,
        };
        let connect = async {
            let tcp = self.tcp.clone().oneshot(self.server.clone()).await?;
            let stream = tls.connect(self.name.clone(), Ahead::new(tcp.into_inner())).await?;
            Ok::<_, BoxError>(stream)
        };
        let late = |_| format!("no TLS connection to {} within {CONNECT:?}", self.server);
        let stream = timeout(CONNECT, connect).await.map_err(late)??;
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let stream = TokioIo::new(stream);
        Ok(if http2 {
            Dialed::Http2(stream)
        } else {
            Dialed::Http1(stream)
        })
    }
}

impl Dialed {
    /// Where only one of them can have been agreed on.
    pub(super) fn into_io(self) -> TokioIo<TlsStream<Ahead>> {
        match self {
            Self::Http1(io) | Self::Http2(io) => io,
        }
    }
}
