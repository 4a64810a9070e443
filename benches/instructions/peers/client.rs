//! A kubelet with one connection, which sends one request after the other.

use std::{net::SocketAddr, sync::Arc};

use anyhow::{Context as _, Result, bail, ensure};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    body::Incoming,
    client::conn::{http1, http2},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::{
    ClientConfig,
    pki_types::{PrivateKeyDer, ServerName, pem::PemObject as _},
};
use scopegate::server::tls;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::{HEADERS, Site};

/// Which version.
#[derive(Clone, Copy)]
pub(crate) enum Http {
    One,
    Two,
}

pub(crate) struct Client {
    connection: Connection,
    address: SocketAddr,
}

/// An answer that goes on.
pub(crate) struct Watch(Incoming);

enum Connection {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Client {
    pub(crate) async fn connect(site: &Site, address: SocketAddr, http: Http) -> Result<Self> {
        let key = PrivateKeyDer::from_pem_slice(&site.read("n1.key")?)?;
        let mut config = ClientConfig::builder()
            .with_root_certificates(tls::anchors(&site.read("server-ca.crt")?)?)
            .with_client_auth_cert(tls::certificates(&site.read("n1.crt")?)?, key)?;
        config.alpn_protocols = vec![match http {
            Http::One => b"http/1.1".to_vec(),
            Http::Two => b"h2".to_vec(),
        }];
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        let stream = TokioIo::new(stream);
        let connection = match http {
            Http::One => {
                let (sender, connection) = http1::handshake(stream).await?;
                tokio::spawn(connection);
                Connection::One(sender)
            }
            Http::Two => {
                let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
                tokio::spawn(connection);
                Connection::Two(sender)
            }
        };
        Ok(Self { connection, address })
    }

    /// Sends a request and reads all of the answer.
    pub(crate) async fn send(
        &mut self,
        method: &Method,
        target: &str,
        (content_type, body): (&'static str, &[u8]),
    ) -> Result<StatusCode> {
        let response = self.begin(method, target, (content_type, body)).await?;
        let code = response.status();
        response.into_body().collect().await?;
        Ok(code)
    }

    pub(crate) async fn open(&mut self, target: &str) -> Result<Watch> {
        let response = self.begin(&Method::GET, target, ("", &[])).await?;
        ensure!(
            response.status() == StatusCode::OK,
            "a watch is answered {}",
            response.status()
        );
        Ok(Watch(response.into_body()))
    }

    async fn begin(
        &mut self,
        method: &Method,
        target: &str,
        (content_type, body): (&'static str, &[u8]),
    ) -> Result<Response<Incoming>> {
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(body)));
        *request.method_mut() = method.clone();
        let headers = request.headers_mut();
        for (name, value) in HEADERS {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if !body.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        let response = match &mut self.connection {
            Connection::One(sender) => {
                headers.insert(header::HOST, HeaderValue::from_str(&self.address.to_string())?);
                *request.uri_mut() = target.parse()?;
                sender.ready().await?;
                sender.send_request(request).await?
            }
            Connection::Two(sender) => {
                *request.uri_mut() = format!("https://{}{target}", self.address).parse()?;
                sender.ready().await?;
                sender.send_request(request).await?
            }
        };
        Ok(response)
    }
}

impl Watch {
    /// Reads until an event has come.
    pub(crate) async fn event(&mut self) -> Result<()> {
        loop {
            let frame = self.0.frame().await.context("the watch has ended")??;
            match frame.into_data() {
                Ok(data) if data.ends_with(b"\n") => return Ok(()),
                Ok(_) => {}
                Err(_) => bail!("the watch has trailers"),
            }
        }
    }
}
