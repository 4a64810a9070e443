//! What a text is as an address, by itself.

use std::net::{IpAddr, Ipv4Addr};

use crate::{
    api::dns,
    graph::address::{carrier, plain},
};

/// An address that can be read in one way only. Go maps names before it asks for them: `127。0。0。1` and `ⓛocalhost` are this host
/// there. Others take `127.1` for an address, or what stands in brackets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form<'a> {
    Ip(IpAddr),
    Name(&'a str),
}

/// Names that files of hosts have for this host.
const THIS_HOST: &[&str] = &[
    "ip6-localhost",
    "ip6-loopback",
    "localhost",
    "localhost4",
    "localhost6",
    "loopback",
];
const THIS_DOMAIN: &[&str] = &["", "localdomain", "localdomain4", "localdomain6"];

impl<'a> Form<'a> {
    /// Nothing if it is no address, or not in the form that everybody reads alike.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        match text.parse() {
            Ok(ip) => Some(Self::Ip(ip)),
            Err(_) => (dns::is_name(text) && !is_number(text)).then_some(Self::Name(text)),
        }
    }

    /// What an address is that no node has.
    pub(super) fn is_nobodys(self) -> Option<&'static str> {
        match self {
            Self::Ip(ip) => {
                let carrier = carrier(ip).map(IpAddr::from);
                [plain(ip)].into_iter().chain(carrier).find_map(special)
            }
            Self::Name(name) => is_this_host(name).then_some("a name of this host"),
        }
    }
}

fn special(ip: IpAddr) -> Option<&'static str> {
    // All of 0.0.0.0/8 means this host.
    let this_host = ip.is_unspecified() || matches!(ip, IpAddr::V4(ip) if ip.octets()[0] == 0);
    let link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    // Where in them an address of IPv4 stands is only known to whoever has set up the gateway (RFC 8215).
    let translated = matches!(ip, IpAddr::V6(ip) if ip.segments().starts_with(&[0x64, 0xff9b, 1]));
    match () {
        () if ip.is_loopback() => Some("a loopback address"),
        () if this_host => Some("an unspecified address"),
        () if link_local => Some("a link-local address"),
        () if ip.is_multicast() => Some("a multicast address"),
        () if ip == Ipv4Addr::BROADCAST => Some("a broadcast address"),
        () if translated => Some("an address that gateways translate"),
        () => None,
    }
}

/// A machine may well have a name in `localdomain`.
fn is_this_host(name: &str) -> bool {
    let (host, domain) = name.split_once('.').unwrap_or((name, ""));
    name.rsplit('.').next() == Some("localhost") || THIS_HOST.contains(&host) && THIS_DOMAIN.contains(&domain)
}

/// Whether a name could be an address of IPv4 in one of its other forms, such as `127.1`.
fn is_number(name: &str) -> bool {
    name.split('.').all(|part| match part.strip_prefix("0x") {
        Some(hex) => hex.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => part.bytes().all(|byte| byte.is_ascii_digit()),
    })
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("10.0.0.1" => None; "a node's")]
    #[test_case("2001:db8::1" => None; "a node's of IPv6")]
    #[test_case("2002:a00:1::1" => None; "6to4")]
    #[test_case("127.0.0.1" => Some("a loopback address"); "loopback")]
    #[test_case("127.255.0.9" => Some("a loopback address"); "all of it")]
    #[test_case("::1" => Some("a loopback address"); "of IPv6")]
    #[test_case("::ffff:127.0.0.1" => Some("a loopback address"); "mapped")]
    #[test_case("::ffff:0:127.0.0.1" => Some("a loopback address"); "translated without state")]
    #[test_case("::127.0.0.1" => Some("a loopback address"); "compatible")]
    #[test_case("64:ff9b::7f00:1" => Some("a loopback address"); "translated")]
    #[test_case("64:ff9b:1::7f00:1" => Some("an address that gateways translate"); "translated by a gateway of one's own")]
    #[test_case("2002:7f00:1::1" => Some("a loopback address"); "6to4 to loopback")]
    #[test_case("2002:a9fe:a9fe::" => Some("a link-local address"); "6to4 to the metadata service")]
    #[test_case("2001:0:1:2:3:4:80ff:fffe" => Some("a loopback address"); "Teredo to loopback")]
    #[test_case("0.0.0.0" => Some("an unspecified address"); "any")]
    #[test_case("::" => Some("an unspecified address"); "any of IPv6")]
    #[test_case("::ffff:0.0.0.0" => Some("an unspecified address"); "any, mapped")]
    #[test_case("0.1.2.3" => Some("an unspecified address"); "this host")]
    #[test_case("169.254.169.254" => Some("a link-local address"); "metadata service")]
    #[test_case("fe80::1" => Some("a link-local address"); "link-local of IPv6")]
    #[test_case("224.0.0.1" => Some("a multicast address"); "multicast")]
    #[test_case("ff02::1" => Some("a multicast address"); "multicast of IPv6")]
    #[test_case("255.255.255.255" => Some("a broadcast address"); "broadcast")]
    #[test_case("node-a" => None; "a name")]
    #[test_case("ip-10-0-0-1.ec2.internal" => None; "a name in a cloud")]
    #[test_case("node-a.localdomain" => None; "a name in localdomain")]
    #[test_case("worker.1" => None; "a name that ends with a number")]
    #[test_case("localhost" => Some("a name of this host"); "localhost")]
    #[test_case("x.localhost" => Some("a name of this host"); "below it")]
    #[test_case("localhost.localdomain" => Some("a name of this host"); "with a domain")]
    #[test_case("localhost6.localdomain6" => Some("a name of this host"); "of IPv6, with a domain")]
    #[test_case("ip6-localhost" => Some("a name of this host"); "localhost of IPv6")]
    #[test_case("ip6-loopback" => Some("a name of this host"); "loopback of IPv6")]
    fn what_nobody_has(text: &str) -> Option<&'static str> {
        Form::of(text).unwrap().is_nobodys()
    }

    #[test_case(""; "nothing")]
    #[test_case("127。0。0。1"; "other dots")]
    #[test_case("ⓛocalhost"; "other letters")]
    #[test_case("127.0.0.1\u{ad}"; "what cannot be seen")]
    #[test_case("１27.0.0.1"; "other digits")]
    #[test_case("[10.0.0.2]"; "in brackets")]
    #[test_case("[fe80::1]"; "of IPv6 in brackets")]
    #[test_case("fe80::1%eth0"; "with its link")]
    #[test_case("10.0.0.1%eth0"; "of IPv4 with a link")]
    #[test_case("127.1"; "short")]
    #[test_case("2130706433"; "a number")]
    #[test_case("0x7f000001"; "in hex")]
    #[test_case("127.0.0.0x1"; "partly")]
    #[test_case("0177.0.0.1"; "in octal")]
    #[test_case("10.0.0.1."; "a dot behind")]
    #[test_case("node-a."; "a dot behind a name")]
    #[test_case("Node-A"; "capitals")]
    #[test_case("node_a"; "no letter of names")]
    #[test_case("10.0.0.1:80"; "a port")]
    #[test_case(" 10.0.0.1"; "a blank")]
    #[test_case("node-a\0"; "an end before the end")]
    fn no_address(text: &str) {
        assert_eq!(Form::of(text), None);
    }
}
