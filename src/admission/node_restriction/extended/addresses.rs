//! The addresses that a node says it has. The API server connects to them when it wants to talk to a kubelet, so none may be another
//! node's, or lead back to the API server itself or to what listens beside it.
//!
//! Kubelets send what they know for sure: IP addresses as literals, and one Hostname, which is the node's name. The rest of what a
//! Node shows comes from the cloud's controllers, which are no nodes and are not judged here. So a literal is asked for where the
//! type is an IP address, and a name has to be the node's own: whose DNS answers for another cannot be told, and some answer with
//! whatever address stands in the name.

mod allowed;
mod form;

pub use self::allowed::AllowedAddress;
use self::form::Form;
use super::{Extended, Known, No, Write, read};
use crate::{
    api::{clip, quote},
    graph::address::{carrier, plain},
    json::Json,
    patch::Patch,
    rejection::Rejection,
    rules::{Mode, Rule},
};

const ADDRESSES: &[&str] = &["status", "addresses"];
const MAX_SHOWN: usize = 253;
/// More than a kubelet ever sends: of each family one or two, and a name. Whoever has an address keeps the others from it, so that a
/// node must not have a whole network.
const MAX_CLAIMED: usize = 16;

/// An address and its type.
type Claim<'j> = (&'j str, &'j str);

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
        let (had, has) = (old.map_or(Ok(Vec::new()), claims)?, claims(new)?);
        let node = quote(write.node);
        if has.len() > MAX_CLAIMED && has.iter().any(|claim| !had.contains(claim)) {
            let count = has.len();
            let why = format_args!("node {node} is not allowed to claim {count} addresses, more than {MAX_CLAIMED}");
            return write.refuse(Rule::NodesAddresses, why);
        }
        for claim in has.into_iter().filter(|claim| !had.contains(claim)) {
            let found = match self.what_is_wrong(write, claim, known) {
                Ok(found) => found,
                // Where nobody would be refused, nobody is held up.
                Err(rejection) if write.mode(Rule::NodesAddresses) == Mode::Enforce => return Err(rejection.into()),
                Err(_) => None,
            };
            if let Some(what) = found {
                let claimed = quote(&clip(claim.1, MAX_SHOWN));
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

    /// What is against a node's having an address. Whatever it is, it has to be written in the one way that everybody reads alike.
    fn what_is_wrong<'a>(
        &self,
        write: &Write<'a>,
        (kind, text): Claim<'_>,
        known: &Known<'a>,
    ) -> Result<Option<String>, Rejection> {
        let is_ip = matches!(kind, "InternalIP" | "ExternalIP");
        let form = match Form::of(text) {
            None => return Ok(Some("neither an IP address nor a DNS name".to_owned())),
            Some(Form::Name(_)) if is_ip => return Ok(Some("no IP address".to_owned())),
            Some(form) if self.addresses.iter().any(|allowed| allowed.is(form)) => return Ok(None),
            Some(form) => form,
        };
        if let Some(what) = form.is_nobodys() {
            return Ok(Some(what.to_owned()));
        }
        let same = match form {
            // Nobody else can have a claim to it, whatever they say.
            Form::Name(name) if name == write.node => return Ok(None),
            Form::Name(name) if self.may_be_its_name(write.node, name) => vec![name.to_owned()],
            Form::Name(_) => return Ok(Some("not its name".to_owned())),
            Form::Ip(ip) => {
                let carrier = carrier(ip).map(|four| four.to_string());
                [plain(ip).to_string()].into_iter().chain(carrier).collect()
            }
        };
        for text in same {
            if let Some(other) = known.node_with_address(&text, write.node)? {
                return Ok(Some(format!("that of node {}", quote(other))));
            }
        }
        Ok(None)
    }

    /// Its name without the domain, as kubelets have sent it in some clouds, or one below a domain that is allowed.
    fn may_be_its_name(&self, node: &str, name: &str) -> bool {
        let short = node.split('.').next();
        short == Some(name) || self.addresses.iter().any(|allowed| allowed.has_below(name))
    }
}

/// An address of an unknown type may be one that upstream is told to use.
fn claims<'j>(node: &'j Json<'_>) -> Result<Vec<Claim<'j>>, Rejection> {
    let status = read::field(node, "status")?.unwrap_or(&Json::Null);
    let addresses = read::list(status, "addresses")?.iter();
    addresses
        .map(|address| Ok((read::text(address, "type")?, read::text(address, "address")?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("ip-10-0-0-1.ec2.internal", "ip-10-0-0-1" => true; "without the domain")]
    #[test_case("ip-10-0-0-1.ec2.internal", "ip-10-0-0-1.ec2" => false; "with half of it")]
    #[test_case("ip-10-0-0-1.ec2.internal", "ec2" => false; "another part")]
    #[test_case("ip-10-0-0-1", "ip-10-0-0-1.ec2.internal" => false; "with a domain")]
    #[test_case("n1", "n1.svc.example.com" => true; "with a domain that is allowed")]
    #[test_case("n1", "n2.example.com" => true; "another name in one that is allowed")]
    fn names(node: &str, name: &str) -> bool {
        let extended = Extended {
            addresses: vec!["*.example.com".parse().unwrap()],
            ..Extended::default()
        };
        extended.may_be_its_name(node, name)
    }
}
