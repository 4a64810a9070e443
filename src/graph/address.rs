//! Under which addresses nodes can be reached, and whose an address is.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use foldhash::quality::RandomState;
use rpds::{HashTrieMapSync, RedBlackTreeSetSync};

use super::names::MAX_NAME;

/// The nodes of every address, which is in its canonical form. A clone costs nothing, and neither sees what the other
/// changes. What a change or a question costs does not depend on how many nodes there are.
#[derive(Clone, Debug)]
pub(super) struct Addresses(HashTrieMapSync<Box<str>, RedBlackTreeSetSync<Box<str>>, RandomState>);

/// More than a node has in earnest, also where a cloud lists all its interfaces. It may write them itself, keep others from having
/// them, and everybody waits while the graph takes them in.
const MAX_ADDRESSES: usize = 64;

/// An address as it is compared: IP addresses as they are usually written, those of IPv4 never as IPv6, and without the zone,
/// which says only how to get there; names in lower case and without dots at the end.
pub fn canonical(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches('.');
    if let Some(address) = parse(text) {
        let written = plain(address).to_string();
        return if written == text {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(written)
        };
    }
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    Cow::Borrowed(text)
}

/// An IPv4 address that is written as one of IPv6 is the same address, however that is done (RFC 4291, 6052, 7915).
pub fn plain(address: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = address else { return address };
    let [a, b, c, d, e, f, high, low] = six.segments();
    let is_four = match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0, 0, 0, 0, 0xffff, 0] | [0x64, 0xff9b, 0, 0, 0, 0] => true,
        [0, 0, 0, 0, 0, 0] => six != Ipv6Addr::LOCALHOST && six != Ipv6Addr::UNSPECIFIED,
        _ => false,
    };
    if is_four { four(high, low).into() } else { address }
}

/// The IPv4 address that packets for an address of IPv6 are brought to: 6to4 and Teredo (RFC 3056, 4380). Many share it.
pub fn carrier(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(six) = address else { return None };
    match six.segments() {
        [0x2002, high, low, ..] => Some(four(high, low)),
        [0x2001, 0, .., high, low] => Some(four(!high, !low)),
        _ => None,
    }
}

fn four(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

/// The addresses of one node as they are compared, each once and in order. What can be no address is left out.
pub(super) fn all<'a>(addresses: impl Iterator<Item = &'a str>) -> Vec<String> {
    let written = addresses.filter(|address| address.len() <= MAX_NAME).map(canonical);
    let can_be = written.filter(|address| !address.is_empty()).take(MAX_ADDRESSES);
    let mut all: Vec<String> = can_be.map(Cow::into_owned).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn parse(text: &str) -> Option<IpAddr> {
    match text.split_once('%') {
        Some((address, _)) => address.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => text.parse().ok(),
    }
}

impl Addresses {
    pub(super) fn new(hasher: RandomState) -> Self {
        Self(HashTrieMapSync::new_with_hasher_and_ptr_kind(hasher))
    }

    /// The nodes that have the address, but for the one that is excepted.
    pub(super) fn nodes<'a>(&'a self, address: &str, except: &str) -> impl Iterator<Item = &'a str> {
        let nodes = self.0.get(canonical(address).as_ref()).into_iter();
        let nodes = nodes.flat_map(RedBlackTreeSetSync::iter).map(AsRef::as_ref);
        nodes.filter(move |node| *node != except)
    }

    /// The node has these addresses now, in place of those it had.
    pub(super) fn replace(&mut self, node: &str, was: &[String], is: &[String]) {
        for address in was.iter().filter(|address| is.binary_search(address).is_err()) {
            let Some(nodes) = self.0.get_mut(address.as_str()) else {
                continue;
            };
            nodes.remove_mut(node);
            if nodes.is_empty() {
                self.0.remove_mut(address.as_str());
            }
        }
        for address in is.iter().filter(|address| was.binary_search(address).is_err()) {
            match self.0.get_mut(address.as_str()) {
                Some(nodes) => nodes.insert_mut(node.into()),
                None => {
                    let nodes = [node.into()].into_iter().collect();
                    self.0.insert_mut(address.as_str().into(), nodes);
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("10.0.0.1", "10.0.0.1"; "v4")]
    #[test_case("::ffff:10.0.0.1", "10.0.0.1"; "v4 as v6")]
    #[test_case("::FFFF:a00:1", "10.0.0.1"; "v4 as v6, in hex")]
    #[test_case("0:0:0:0:0:ffff:10.0.0.1", "10.0.0.1"; "v4 as v6, uncompressed")]
    #[test_case("::ffff:127.0.0.1%eth0", "127.0.0.1"; "v4 as v6 with a zone")]
    #[test_case("::10.0.0.1", "10.0.0.1"; "v4 behind zeros")]
    #[test_case("::ffff:0:10.0.0.1", "10.0.0.1"; "v4 translated without state")]
    #[test_case("64:ff9b::a00:1", "10.0.0.1"; "v4 behind NAT64")]
    #[test_case("64:ff9b:1::a00:1", "64:ff9b:1::a00:1"; "v4 somewhere in NAT64 of one's own")]
    #[test_case("2002:a00:1::1", "2002:a00:1::1"; "6to4 is a network")]
    #[test_case("::", "::"; "unspecified")]
    #[test_case("2001:DB8:0:0::0001", "2001:db8::1"; "v6")]
    #[test_case("fe80::1%eth0", "fe80::1"; "zone")]
    #[test_case("::1", "::1"; "loopback")]
    #[test_case("10.0.0.1.", "10.0.0.1"; "v4 with a dot")]
    #[test_case("010.0.0.1", "010.0.0.1"; "not v4 to Kubernetes")]
    #[test_case("10.0.0.1%eth0", "10.0.0.1%eth0"; "v4 has no zones")]
    #[test_case("Node-A.Example.COM.", "node-a.example.com"; "name")]
    #[test_case("node-a..", "node-a"; "many dots")]
    #[test_case("node-a", "node-a"; "short name")]
    #[test_case("Ä", "Ä"; "only letters of names have a case")]
    #[test_case("", ""; "nothing")]
    fn addresses_have_one_form(text: &str, expected: &str) {
        let found = canonical(text);
        assert_eq!(found, expected);
        assert_eq!(canonical(&found), expected, "again");
        assert_eq!(
            matches!(found, Cow::Borrowed(_)),
            expected == text.trim_end_matches('.')
        );
    }

    #[test_case("2002:a00:1::1" => Some(Ipv4Addr::new(10, 0, 0, 1)); "6to4")]
    #[test_case("2001:0:1:2:3:4:f5ff:fffe" => Some(Ipv4Addr::new(10, 0, 0, 1)); "Teredo")]
    #[test_case("2001:db8::1" => None; "v6")]
    #[test_case("10.0.0.1" => None; "v4")]
    fn carriers(text: &str) -> Option<Ipv4Addr> {
        carrier(text.parse().unwrap())
    }

    #[test]
    fn a_node_has_each_address_once_and_not_too_many() {
        let long = "x".repeat(MAX_NAME + 1);
        let some = ["b", "10.0.0.1", "", ".", "B.", "::ffff:a00:1", &long];
        assert_eq!(all(some.into_iter()), ["10.0.0.1", "b"]);
        let many: Vec<String> = (0..1000).map(|number| format!("n{number:04}")).collect();
        assert_eq!(all(many.iter().map(String::as_str)), many[..MAX_ADDRESSES]);
    }
}
