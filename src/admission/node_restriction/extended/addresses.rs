//! The addresses that a node says it has. The API server connects to them when it wants to talk to a kubelet.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use super::{Extended, Known, No, Write, read};
use crate::{
    api::{clip, quote},
    graph::address,
    json::Json,
    patch::Patch,
    rejection::Rejection,
    rules::{Mode, Rule},
};

/// A part of the address space, e.g. `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

const ADDRESSES: &[&str] = &["status", "addresses"];
const MAX_SHOWN: usize = 253;

impl Extended {
    /// Whether a node may say that it has these addresses. Those it has said before are not looked at.
    pub(in super::super) fn addresses<'a>(
        &self,
        write: &Write<'a>,
        old: Option<&Json<'_>>,
        new: &Json<'_>,
        known: &Known<'a>,
    ) -> Result<(), No> {
        if write.mode(Rule::NodesAddresses) == Mode::Off {
            return Ok(());
        }
        let had = old.map_or(Ok(Vec::new()), claimed)?;
        for claimed in claimed(new)? {
            if had.contains(&claimed) || self.is_allowed(claimed) {
                continue;
            }
            let found = match what_is_wrong(write, claimed, known) {
                Ok(found) => found,
                // Where nobody would be refused, nobody is held up.
                Err(rejection) if write.mode(Rule::NodesAddresses) == Mode::Enforce => return Err(rejection.into()),
                Err(_) => None,
            };
            if let Some(what) = found {
                let (node, claimed) = (quote(write.node), quote(&clip(claimed, MAX_SHOWN)));
                let why = format_args!("node {node} is not allowed to claim address {claimed}, which is {what}");
                write.refuse(Rule::NodesAddresses, why)?;
            }
        }
        Ok(())
    }

    /// Whether a patch of a node may change them.
    pub(in super::super) fn guards_addresses(&self, write: &Write<'_>, patch: &Patch<'_>) -> bool {
        write.mode(Rule::NodesAddresses) != Mode::Off
            && write.request.subresource == "status"
            && patch.touches(ADDRESSES)
    }

    fn is_allowed(&self, claimed: &str) -> bool {
        let Some(address) = ip(claimed) else { return false };
        self.addresses.iter().any(|network| network.contains(address))
    }
}

/// The texts, of whatever type they say they are: a host name that is an IP address is one.
fn claimed<'j>(node: &'j Json<'_>) -> Result<Vec<&'j str>, Rejection> {
    let status = read::field(node, "status")?.unwrap_or(&Json::Null);
    let addresses = read::list(status, "addresses")?.iter();
    addresses.map(|address| read::text(address, "address")).collect()
}

fn what_is_wrong<'a>(write: &Write<'a>, claimed: &str, known: &Known<'a>) -> Result<Option<String>, Rejection> {
    let text = address::canonical(claimed);
    let own_kind = match ip(&text) {
        Some(ip) => special(ip),
        None => unusable(&text),
    };
    if let Some(what) = own_kind {
        return Ok(Some(what.to_owned()));
    }
    let other = known.node_with_address(&text, write.node)?;
    Ok(other.map(|other| format!("that of node {}", quote(other))))
}

/// What an address is that is no node's.
fn special(ip: IpAddr) -> Option<&'static str> {
    let (loopback, unspecified, multicast) = (ip.is_loopback(), ip.is_unspecified(), ip.is_multicast());
    let link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local() || ip == Ipv4Addr::BROADCAST,
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    // All of 0.0.0.0/8 means this host.
    let this_host = matches!(ip, IpAddr::V4(ip) if ip.octets()[0] == 0);
    match () {
        () if loopback || unspecified || this_host => Some("a loopback address"),
        () if link_local => Some("a link-local address"),
        () if multicast => Some("a multicast address"),
        () => None,
    }
}

/// What a name is that means this host, or that one resolver takes for a name and another for an address, such as `127.1`.
fn unusable(name: &str) -> Option<&'static str> {
    let last = name.rsplit('.').next().unwrap_or_default();
    if last == "localhost" {
        return Some("a name of this host");
    }
    let number = last.strip_prefix("0x").unwrap_or(last);
    let numeric = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    let numeric = numeric && (last.starts_with("0x") || number.bytes().all(|byte| byte.is_ascii_digit()));
    let odd = name.is_empty() || name.contains([':', '%', '/', '@']) || name.chars().any(char::is_whitespace);
    (numeric || odd).then_some("neither an IP address nor a name")
}

/// An address, whatever form it is written in. What stands behind a percent sign says on which link it is.
fn ip(text: &str) -> Option<IpAddr> {
    let text = text.split('%').next().unwrap_or_default();
    let ip: IpAddr = text.trim_matches(['[', ']']).parse().ok()?;
    Some(plain(ip))
}

/// An IPv4 address that is written as one of IPv6 is the same address; so are those that gateways translate.
fn plain(ip: IpAddr) -> IpAddr {
    let IpAddr::V6(six) = ip else { return ip };
    let [a, b, c, d, e, f, high, low] = six.segments();
    let embedded = match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => true,
        [0, 0, 0, 0, 0, 0] => six != Ipv6Addr::LOCALHOST && six != Ipv6Addr::UNSPECIFIED,
        _ => false,
    };
    if !embedded {
        return ip;
    }
    let ([high, upper], [lower, last]) = (high.to_be_bytes(), low.to_be_bytes());
    Ipv4Addr::new(high, upper, lower, last).into()
}

impl Network {
    fn contains(self, address: IpAddr) -> bool {
        let bits = u32::from(self.bits);
        match (self.address, address) {
            (IpAddr::V4(net), IpAddr::V4(one)) => {
                let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
                u32::from(net) & mask == u32::from(one) & mask
            }
            (IpAddr::V6(net), IpAddr::V6(one)) => {
                let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
                u128::from(net) & mask == u128::from(one) & mask
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    /// An address alone means that one only.
    fn from_str(text: &str) -> Result<Self, String> {
        let (address, bits) = text
            .split_once('/')
            .map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address
            .parse()
            .map_err(|_| format!("{text:?} is not like 10.0.0.0/8"))?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) => bits
                .parse()
                .ok()
                .filter(|bits| *bits <= most)
                .ok_or_else(|| format!("{text:?} has no prefix length of 0 to {most}"))?,
        };
        Ok(Self { address, bits })
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("10.0.0.1" => None; "a node's")]
    #[test_case("2001:db8::1" => None; "a node's of IPv6")]
    #[test_case("127.0.0.1" => Some("a loopback address"); "loopback")]
    #[test_case("127.255.0.9" => Some("a loopback address"); "all of it")]
    #[test_case("::1" => Some("a loopback address"); "of IPv6")]
    #[test_case("::ffff:127.0.0.1" => Some("a loopback address"); "mapped")]
    #[test_case("::127.0.0.1" => Some("a loopback address"); "compatible")]
    #[test_case("64:ff9b::7f00:1" => Some("a loopback address"); "translated")]
    #[test_case("0.0.0.0" => Some("a loopback address"); "any")]
    #[test_case("::" => Some("a loopback address"); "any of IPv6")]
    #[test_case("0.1.2.3" => Some("a loopback address"); "this host")]
    #[test_case("169.254.169.254" => Some("a link-local address"); "metadata service")]
    #[test_case("fe80::1%eth0" => Some("a link-local address"); "with its link")]
    #[test_case("[fe80::1]" => Some("a link-local address"); "in brackets")]
    #[test_case("224.0.0.1" => Some("a multicast address"); "multicast")]
    #[test_case("255.255.255.255" => Some("a link-local address"); "broadcast")]
    fn addresses(text: &str) -> Option<&'static str> {
        special(ip(text).unwrap())
    }

    #[test_case("node-a" => false; "a name")]
    #[test_case("ip-10-0-0-1.ec2.internal" => false; "of a cloud")]
    #[test_case("node1" => false; "ends with a number")]
    #[test_case("localhost" => true; "this host")]
    #[test_case("x.localhost" => true; "below it")]
    #[test_case("127.1" => true; "short")]
    #[test_case("2130706433" => true; "a number")]
    #[test_case("0x7f000001" => true; "in hex")]
    #[test_case("127.0.0.0x1" => true; "partly")]
    #[test_case("" => true; "nothing")]
    #[test_case("10.0.0.1:80" => true; "a port")]
    fn names(name: &str) -> bool {
        unusable(name).is_some()
    }

    #[test_case("10.0.0.0/8", "10.9.9.9" => true; "within")]
    #[test_case("10.0.0.0/8", "11.0.0.1" => false; "outside")]
    #[test_case("10.0.0.1", "10.0.0.1" => true; "one")]
    #[test_case("10.0.0.1", "10.0.0.2" => false; "another")]
    #[test_case("0.0.0.0/0", "127.0.0.1" => true; "all")]
    #[test_case("0.0.0.0/0", "::1" => false; "not of the other family")]
    #[test_case("fe80::/10", "fe80::1%eth0" => true; "of IPv6")]
    #[test_case("::/0", "2001:db8::1" => true; "all of IPv6")]
    #[test_case("127.0.0.0/8", "::ffff:127.0.0.1" => true; "mapped")]
    fn networks(network: &str, address: &str) -> bool {
        network.parse::<Network>().unwrap().contains(ip(address).unwrap())
    }

    #[test_case("10.0.0.0/33"; "too long")]
    #[test_case("10.0.0/8"; "no address")]
    #[test_case("10.0.0.0/"; "no length")]
    #[test_case("node-a"; "a name")]
    fn no_networks(text: &str) {
        assert!(text.parse::<Network>().is_err());
    }
}
