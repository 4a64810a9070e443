//! How much of a listener one client, and all of them together, may take.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections open at a time; more wait in the kernel's queue.
    pub connections: usize,
    /// Connections of one address open at a time; more are closed at once. Nodes behind one address share it.
    pub connections_per_client: usize,
    /// Requests at a time on an HTTP/2 connection. Clients that want more open a second connection.
    pub streams: u32,
    /// Of a request head. kube-apiserver takes up to 1 MiB; no Kubernetes client needs a tenth of the default.
    pub header_bytes: u32,
    /// One deadline over the whole handshake: a client that trickles bytes gets no more.
    pub handshake: Duration,
    /// From the first byte of a request head to its last, until the first request of a connection, and between requests
    /// on an HTTP/1.1 connection. A client that has nothing to ask holds no place.
    pub headers: Duration,
    /// How long an HTTP/2 connection may have no request under way.
    pub idle: Duration,
    /// How long a client may take nothing of what there is for it.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            connections_per_client: 1_000,
            streams: 250,
            header_bytes: 64 * 1024,
            handshake: Duration::from_secs(10),
            headers: Duration::from_secs(30),
            idle: Duration::from_secs(180),
            stall: Duration::from_secs(300),
        }
    }
}

/// How much of something every client has now, by address.
#[derive(Clone, Debug, Default)]
pub struct PerClient(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One of it; dropping it ends the count.
#[derive(Debug)]
pub struct Counted {
    clients: PerClient,
    address: IpAddr,
}

impl PerClient {
    /// Counts one more, unless the client has as many as it may have.
    pub fn count(&self, address: IpAddr, limit: usize) -> Option<Counted> {
        let address = one_client(address);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = counts.entry(address).or_default();
        if *open >= limit {
            return None;
        }
        *open += 1;
        let clients = self.clone();
        Some(Counted { clients, address })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.clients.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(&self.address) {
            Some(open) if *open > 1 => *open -= 1,
            _ => drop(counts.remove(&self.address)),
        }
    }
}

/// Whoever has an IPv6 address has the 2⁶⁴ of its network.
fn one_client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_counted_apart_and_places_come_back() {
        let clients = PerClient::default();
        let count = |address: &str| clients.count(address.parse().unwrap(), 2);
        let _first = count("10.0.0.1").unwrap();
        let second = count("::ffff:10.0.0.1").unwrap();
        assert!(count("10.0.0.1").is_none());
        let other = count("10.0.0.2").unwrap();
        drop(second);
        assert!(count("10.0.0.1").is_some());
        drop(other);
        assert_eq!(clients.0.lock().unwrap().len(), 1, "nothing is kept of who is gone");
    }

    #[test]
    fn an_ipv6_network_is_one_client() {
        let clients = PerClient::default();
        let _first = clients.count("2001:db8::1".parse().unwrap(), 1).unwrap();
        assert!(clients.count("2001:db8::2".parse().unwrap(), 1).is_none());
        assert!(clients.count("2001:db8:0:1::1".parse().unwrap(), 1).is_some());
    }
}
