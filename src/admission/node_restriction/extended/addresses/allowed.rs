//! Which addresses an operator lets nodes claim besides.

use std::{fmt, net::IpAddr, str::FromStr};

use super::form::Form;
use crate::{api::dns, graph::address::plain};

/// What nodes may claim: a part of the address space, e.g. `10.0.0.0/8`, or a name, whatever it is and whoever else has it; or names
/// below a domain, e.g. `*.compute.internal`, that are no other node's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AllowedAddress {
    Network {
        address: IpAddr,
        bits: u8,
    },
    Name(String),
    /// With the dot before it.
    Below(String),
}

impl AllowedAddress {
    /// Whether it is allowed without any more questions.
    pub(super) fn is(&self, form: Form<'_>) -> bool {
        match (self, form) {
            (Self::Network { address, bits }, Form::Ip(ip)) => contains(*address, *bits, plain(ip)),
            (Self::Name(allowed), Form::Name(name)) => allowed == name,
            _ => false,
        }
    }

    pub(super) fn has_below(&self, name: &str) -> bool {
        matches!(self, Self::Below(domain) if name.ends_with(domain))
    }
}

fn contains(network: IpAddr, bits: u8, address: IpAddr) -> bool {
    let bits = u32::from(bits);
    match (network, address) {
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

impl FromStr for AllowedAddress {
    type Err = String;

    /// An address alone means that one only.
    fn from_str(text: &str) -> Result<Self, String> {
        let (address, bits) = text
            .split_once('/')
            .map_or((text, None), |(address, bits)| (address, Some(bits)));
        let Ok(address) = address.parse::<IpAddr>() else {
            return name(text);
        };
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            None => most,
            Some(bits) => bits
                .parse()
                .ok()
                .filter(|bits| *bits <= most)
                .ok_or_else(|| format!("{text:?} has no prefix length of 0 to {most}"))?,
        };
        Ok(Self::Network { address, bits })
    }
}

fn name(text: &str) -> Result<AllowedAddress, String> {
    let (name, below) = text.strip_prefix("*.").map_or((text, false), |name| (name, true));
    match Form::of(name) {
        Some(Form::Name(name)) if below => Ok(AllowedAddress::Below(format!(".{name}"))),
        Some(Form::Name(name)) => Ok(AllowedAddress::Name(name.to_owned())),
        _ if dns::is_name(name) => Err(format!("{text:?} could be taken for an IP address")),
        _ => Err(format!("{text:?} is not like 10.0.0.0/8 or *.compute.internal")),
    }
}

impl fmt::Display for AllowedAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network { address, bits } => write!(f, "{address}/{bits}"),
            Self::Name(name) => f.write_str(name),
            Self::Below(domain) => write!(f, "*{domain}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("10.0.0.0/8", "10.9.9.9" => true; "within")]
    #[test_case("10.0.0.0/8", "11.0.0.1" => false; "outside")]
    #[test_case("10.0.0.1", "10.0.0.1" => true; "one")]
    #[test_case("10.0.0.1", "10.0.0.2" => false; "another")]
    #[test_case("0.0.0.0/0", "127.0.0.1" => true; "all")]
    #[test_case("0.0.0.0/0", "::1" => false; "not of the other family")]
    #[test_case("0.0.0.0/0", "localhost" => false; "no names")]
    #[test_case("fe80::/10", "fe80::1" => true; "of IPv6")]
    #[test_case("::/0", "2001:db8::1" => true; "all of IPv6")]
    #[test_case("127.0.0.0/8", "::ffff:127.0.0.1" => true; "mapped")]
    #[test_case("gateway.example.com", "gateway.example.com" => true; "a name")]
    #[test_case("gateway.example.com", "a.gateway.example.com" => false; "below a name")]
    #[test_case("*.example.com", "a.example.com" => false; "a domain leaves questions")]
    fn allowed(allowed: &str, address: &str) -> bool {
        allowed
            .parse::<AllowedAddress>()
            .unwrap()
            .is(Form::of(address).unwrap())
    }

    #[test_case("*.compute.internal", "ip-10-0-0-1.eu-west-1.compute.internal" => true; "below")]
    #[test_case("*.compute.internal", "compute.internal" => false; "the domain itself")]
    #[test_case("*.compute.internal", "a-compute.internal" => false; "another domain")]
    #[test_case("*.compute.internal", "compute.internal.nip.io" => false; "at the beginning")]
    #[test_case("compute.internal", "a.compute.internal" => false; "no domain")]
    fn below(allowed: &str, name: &str) -> bool {
        allowed.parse::<AllowedAddress>().unwrap().has_below(name)
    }

    #[test_case("10.0.0.0/33"; "too long")]
    #[test_case("10.0.0/8"; "no address")]
    #[test_case("10.0.0.0/"; "no length")]
    #[test_case("10.0.1"; "a number")]
    #[test_case("*.1"; "numbers")]
    #[test_case("*"; "everything")]
    #[test_case("*."; "everything, with a dot")]
    #[test_case("*.*.internal"; "two stars")]
    #[test_case("a.*.internal"; "a star within")]
    #[test_case(".internal"; "no star")]
    #[test_case("Compute.Internal"; "capitals")]
    #[test_case("bücher.example"; "other letters")]
    fn nothing_that_could_be_allowed(text: &str) {
        assert!(text.parse::<AllowedAddress>().is_err());
    }

    #[test_case("10.0.0.0/8")]
    #[test_case("*.compute.internal")]
    #[test_case("gateway.example.com")]
    fn written_back(text: &str) {
        assert_eq!(text.parse::<AllowedAddress>().unwrap().to_string(), text);
    }
}
