//! DER, as strictly as Go's `cryptobyte` reads it: one encoding for every value, or none.

/// What has not been read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OID: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn next_is(self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// The next value and its tag.
    pub(super) fn any(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        // Tags of several bytes have no place in a certificate.
        if tag & 0x1f == 0x1f {
            return None;
        }
        let (&first, rest) = rest.split_first()?;
        let (length, rest) = if first < 0x80 {
            (usize::from(first), rest)
        } else {
            let bytes = usize::from(first & 0x7f);
            let (length, rest) = rest.split_at_checked(bytes)?;
            if bytes > 4 || length.first().is_none_or(|byte| *byte == 0) {
                return None;
            }
            let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
            if length < 0x80 {
                return None;
            }
            (length, rest)
        };
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((tag, value))
    }

    /// The next value, which has to be of this tag.
    pub(super) fn read(&mut self, tag: u8) -> Option<Self> {
        let mut after = *self;
        let (found, value) = after.any()?;
        (found == tag).then(|| {
            *self = after;
            Self(value)
        })
    }

    /// The next value if it is of this tag.
    pub(super) fn optional(&mut self, tag: u8) -> Option<Option<Self>> {
        if self.next_is(tag) {
            self.read(tag).map(Some)
        } else {
            Some(None)
        }
    }

    /// The next value with its tag and length.
    pub(super) fn whole(&mut self, tag: u8) -> Option<&'a [u8]> {
        let before = self.0;
        self.read(tag)?;
        before.get(..before.len() - self.0.len())
    }

    pub(super) fn integer(&mut self) -> Option<&'a [u8]> {
        let value = self.read(INTEGER)?.0;
        match value {
            [] | [0, 0..=0x7f, ..] | [0xff, 0x80..=0xff, ..] => None,
            _ => Some(value),
        }
    }

    pub(super) fn boolean(&mut self) -> Option<bool> {
        match self.read(BOOLEAN)?.0 {
            [0] => Some(false),
            [0xff] => Some(true),
            _ => None,
        }
    }

    /// The bytes of a bit string, the last of them filled up with zeros.
    pub(super) fn bit_string(&mut self) -> Option<&'a [u8]> {
        let (unused, bits) = self.read(BIT_STRING)?.0.split_first()?;
        let padding = match (unused, bits.last()) {
            (0, _) => 0,
            (1..=7, Some(last)) => last & ((1 << unused) - 1),
            _ => return None,
        };
        (padding == 0).then_some(bits)
    }

    /// An object identifier none of whose parts needs more than 31 bits, which is all that Go keeps.
    pub(super) fn oid(&mut self) -> Option<&'a [u8]> {
        let value = self.read(OID)?.0;
        let (mut part, mut begins) = (0u32, true);
        for byte in value {
            if begins && *byte == 0x80 || part >= 1 << 24 {
                return None;
            }
            begins = byte & 0x80 == 0;
            part = if begins { 0 } else { part << 7 | u32::from(byte & 0x7f) };
        }
        (begins && !value.is_empty()).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case(&[4, 0] => Some(0); "empty")]
    #[test_case(&[4, 1, 7] => Some(1); "short")]
    #[test_case(&[[4, 0x81, 0x80].as_slice(), &[7; 0x80]].concat() => Some(0x80); "long")]
    #[test_case(&[4, 0x81, 1, 7] => None; "length longer than it need be")]
    #[test_case(&[4, 0x82, 0, 1, 7] => None; "length with a leading zero")]
    #[test_case(&[4, 0x80, 7, 0, 0] => None; "no length")]
    #[test_case(&[4, 0x85, 1, 0, 0, 0, 0] => None; "length of five bytes")]
    #[test_case(&[4, 2, 7] => None; "too short")]
    #[test_case(&[4] => None; "no length at all")]
    #[test_case(&[0x1f, 0x81, 1, 0] => None; "tag of several bytes")]
    fn values(bytes: &[u8]) -> Option<usize> {
        Reader::new(bytes).any().map(|(_, value)| value.len())
    }

    #[test_case(&[2, 1, 0] => true; "zero")]
    #[test_case(&[2, 2, 0, 0x80] => true; "needed zero")]
    #[test_case(&[2, 2, 0, 0x7f] => false; "needless zero")]
    #[test_case(&[2, 2, 0xff, 0x80] => false; "needless ones")]
    #[test_case(&[2, 0] => false; "nothing")]
    fn integers(bytes: &[u8]) -> bool {
        Reader::new(bytes).integer().is_some()
    }

    #[test_case(&[6, 3, 0x55, 4, 3] => true; "common name")]
    #[test_case(&[6, 0] => false; "nothing")]
    #[test_case(&[6, 3, 0x55, 0x80, 3] => false; "needless byte")]
    #[test_case(&[6, 2, 0x55, 0x84] => false; "cut off")]
    #[test_case(&[6, 6, 0x55, 0x87, 0xff, 0xff, 0xff, 0x7f] => true; "31 bits")]
    #[test_case(&[6, 6, 0x55, 0x88, 0x80, 0x80, 0x80, 0x00] => false; "32 bits")]
    fn oids(bytes: &[u8]) -> bool {
        Reader::new(bytes).oid().is_some()
    }

    #[test_case(&[3, 2, 7, 0x80] => true; "one bit")]
    #[test_case(&[3, 2, 7, 0x81] => false; "set bits behind the last")]
    #[test_case(&[3, 1, 0] => true; "no bits")]
    #[test_case(&[3, 1, 1] => false; "fewer than none")]
    #[test_case(&[3, 0] => false; "nothing")]
    fn bit_strings(bytes: &[u8]) -> bool {
        Reader::new(bytes).bit_string().is_some()
    }
}
