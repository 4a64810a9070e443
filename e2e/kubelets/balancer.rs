//! A TCP balancer: kubelets know its address only, and not which gate is behind it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

pub(super) struct Balancer {
    pub(super) address: SocketAddr,
    behind: Arc<Mutex<SocketAddr>>,
    accepting: JoinHandle<()>,
}

impl Balancer {
    pub(super) async fn before(gate: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let behind = Arc::new(Mutex::new(gate));
        let current = Arc::clone(&behind);
        let accepting = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(carry(client, *current.lock().unwrap()));
            }
        });
        Self {
            address,
            behind,
            accepting,
        }
    }

    /// New connections go there from now on. Those that are open stay where they are.
    pub(super) fn switch(&self, gate: SocketAddr) {
        *self.behind.lock().unwrap() = gate;
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Until one side ends it; at once if nobody listens there.
async fn carry(mut client: TcpStream, gate: SocketAddr) {
    if let Ok(mut gate) = TcpStream::connect(gate).await {
        let _ = tokio::io::copy_bidirectional(&mut client, &mut gate).await;
    }
}
