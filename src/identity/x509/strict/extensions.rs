//! Extensions, as `processExtensions` of Go's parser takes them.

use std::collections::HashSet;

use super::{Malformed, Notes};
use crate::identity::x509::der::{BOOLEAN, OCTET_STRING, Reader, SEQUENCE};

struct Extension<'a> {
    id: &'a [u8],
    critical: bool,
    value: Reader<'a>,
}

/// What is left of a certificate's body behind the key.
pub(super) fn read(mut body: Reader<'_>) -> Result<Notes, Malformed> {
    let mut notes = Notes::default();
    let malformed = Malformed("extensions");
    let Some(mut list) = body.optional(0xa3).ok_or(malformed)? else {
        return Ok(notes);
    };
    let mut list = list.read(SEQUENCE).ok_or(malformed)?;
    let mut seen = HashSet::new();
    while !list.is_empty() {
        let extension = list.read(SEQUENCE).and_then(Extension::read).ok_or(malformed)?;
        if !seen.insert(extension.id) {
            return Err(malformed);
        }
        extension.note(&mut notes)?;
    }
    Ok(notes)
}

impl<'a> Extension<'a> {
    fn read(mut extension: Reader<'a>) -> Option<Self> {
        Some(Self {
            id: extension.oid()?,
            critical: extension.next_is(BOOLEAN) && extension.boolean()?,
            value: extension.read(OCTET_STRING)?,
        })
    }

    fn note(self, notes: &mut Notes) -> Result<(), Malformed> {
        const ACCESS: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01];
        let Self {
            id,
            critical,
            mut value,
        } = self;
        let never_critical = |read: Option<()>| read.filter(|()| !critical);
        let (what, read) = match id {
            [0x55, 0x1d, 14] => (
                "subject key identifier",
                never_critical(value.read(OCTET_STRING).map(drop)),
            ),
            [0x55, 0x1d, 15] => ("key usage", value.bit_string().map(drop)),
            [0x55, 0x1d, 17] => ("alternative names", alternative_names(value, critical, notes)),
            [0x55, 0x1d, 19] => ("basic constraints", basic_constraints(value)),
            [0x55, 0x1d, 30] => ("name constraints", name_constraints(value, critical, notes)),
            [0x55, 0x1d, 31] => ("CRL distribution points", distribution_points(value)),
            [0x55, 0x1d, 32] => ("policies", policies(value)),
            [0x55, 0x1d, 33 | 36] => {
                notes.policy_rules = true;
                ("policy rules", Some(()))
            }
            [0x55, 0x1d, 35] => ("authority key identifier", never_critical(authority_key(value))),
            [0x55, 0x1d, 37] => ("extended key usage", key_purposes(value)),
            [0x55, 0x1d, 54] => ("policy rules", value.integer().map(drop)),
            ACCESS => ("authority information access", never_critical(access(value))),
            _ => {
                notes.unhandled |= critical;
                ("", Some(()))
            }
        };
        read.ok_or(Malformed(what))
    }
}

fn alternative_names(mut value: Reader<'_>, critical: bool, notes: &mut Notes) -> Option<()> {
    let mut names = value.read(SEQUENCE)?;
    let mut known = false;
    while !names.is_empty() {
        let (tag, name) = names.any()?;
        let fits = match tag {
            0x81 | 0x82 => name.is_ascii(),
            0x86 => plain_uri(name),
            0x87 => [4, 16].contains(&name.len()),
            _ => {
                notes.odd_names = true;
                continue;
            }
        };
        known = true;
        notes.odd_names |= matches!(tag, 0x81 | 0x86) || tag == 0x82 && !host(name);
        fits.then_some(())?;
    }
    notes.unhandled |= critical && !known;
    Some(())
}

/// A URI that there is one way to read: a scheme, a host name, and a path of plain characters. Go takes more of them.
fn plain_uri(name: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    let parts = std::str::from_utf8(name).ok().and_then(|uri| uri.split_once("://"));
    parts.is_some_and(|(scheme, rest)| {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && host(authority.as_bytes())
            && path.as_bytes().iter().all(plain)
    })
}

/// A host name with nothing odd about it; the first label may be a wildcard.
fn host(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"*.").unwrap_or(name);
    let label = |label: &[u8]| {
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
        !label.is_empty() && label.len() <= 63 && label.iter().all(plain)
    };
    name.split(|byte| *byte == b'.').all(label)
}

fn basic_constraints(mut value: Reader<'_>) -> Option<()> {
    let mut constraints = value.read(SEQUENCE)?;
    if constraints.next_is(BOOLEAN) {
        constraints.boolean()?;
    }
    if constraints.is_empty() {
        return Some(());
    }
    let length = constraints.integer()?;
    length.first().filter(|byte| **byte & 0x80 == 0).map(drop)
}

fn name_constraints(mut value: Reader<'_>, critical: bool, notes: &mut Notes) -> Option<()> {
    notes.name_constraints = true;
    let mut constraints = value.read(SEQUENCE).filter(|_| value.is_empty())?;
    let permitted = constraints.optional(0xa0)?;
    let excluded = constraints.optional(0xa1)?;
    let mut none = true;
    for mut trees in [permitted, excluded].into_iter().flatten() {
        while !trees.is_empty() {
            none = false;
            let (tag, base) = trees.read(SEQUENCE)?.any()?;
            let fits = match tag {
                // A mailbox, with an @, is more than is looked into here.
                0x81 | 0x82 | 0x86 => base.is_empty() || host(base.strip_prefix(b".").unwrap_or(base)),
                0x87 => subnet(base),
                _ => {
                    notes.unhandled |= critical;
                    true
                }
            };
            fits.then_some(())?;
        }
    }
    (constraints.is_empty() && !none).then_some(())
}

/// Address and mask, of which the ones come before the zeros.
fn subnet(base: &[u8]) -> bool {
    let shift = match base.len() {
        8 => 96,
        32 => 0,
        _ => return false,
    };
    let mask = base.iter().skip(base.len() / 2);
    let mask = mask.fold(0u128, |mask, byte| mask << 8 | u128::from(*byte)) << shift;
    mask.leading_ones() + mask.trailing_zeros() >= 128
}

fn distribution_points(mut value: Reader<'_>) -> Option<()> {
    let mut points = value.read(SEQUENCE)?;
    while !points.is_empty() {
        let mut point = points.read(SEQUENCE)?;
        if let Some(mut name) = point.optional(0xa0)? {
            let mut names = name.read(0xa0)?;
            while names.next_is(0x86) {
                names.read(0x86)?;
            }
        }
    }
    Some(())
}

fn policies(mut value: Reader<'_>) -> Option<()> {
    let mut policies = value.read(SEQUENCE)?;
    let mut seen = HashSet::new();
    while !policies.is_empty() {
        let policy = policies.read(SEQUENCE)?.oid()?;
        if !seen.insert(policy) {
            return None;
        }
    }
    Some(())
}

fn authority_key(mut value: Reader<'_>) -> Option<()> {
    value.read(SEQUENCE)?.optional(0x80).map(drop)
}

fn key_purposes(mut value: Reader<'_>) -> Option<()> {
    let mut purposes = value.read(SEQUENCE)?;
    while !purposes.is_empty() {
        purposes.oid()?;
    }
    Some(())
}

fn access(mut value: Reader<'_>) -> Option<()> {
    let mut descriptions = value.read(SEQUENCE)?;
    while !descriptions.is_empty() {
        let mut description = descriptions.read(SEQUENCE)?;
        description.oid()?;
        description.optional(0x86)?;
    }
    Some(())
}
