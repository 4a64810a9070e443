//! Fields as they stand on the wire. A group is refused: kube-apiserver would skip it, but nothing that it reads has one.

use prost::{
    DecodeError,
    encoding::{WireType, decode_key, decode_varint, encode_key, encode_varint},
};

use crate::json::Malformed;

/// The fields of a message, in the order of the wire. Of no use after an error.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

/// What stands behind a field's key.
#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// Four or eight bytes: no message that is read here has a field like that.
    Fixed,
}

impl<'a> Fields<'a> {
    fn read(&mut self) -> Result<(u32, Value<'a>), Malformed> {
        let (number, wire_type) = decode_key(&mut self.0).map_err(malformed)?;
        let value = match wire_type {
            WireType::Varint => Value::Varint(decode_varint(&mut self.0).map_err(malformed)?),
            WireType::LengthDelimited => {
                let length = decode_varint(&mut self.0).map_err(malformed)?;
                Value::Bytes(self.take(length)?)
            }
            WireType::SixtyFourBit => self.take(8).map(|_| Value::Fixed)?,
            WireType::ThirtyTwoBit => self.take(4).map(|_| Value::Fixed)?,
            WireType::StartGroup | WireType::EndGroup => return Err(wrong_wire_type(number)),
        };
        Ok((number, value))
    }

    // prost's readers of bytes and texts make copies.
    fn take(&mut self, length: u64) -> Result<&'a [u8], Malformed> {
        let split = usize::try_from(length)
            .ok()
            .and_then(|length| self.0.split_at_checked(length));
        let (taken, rest) = split.ok_or_else(|| Malformed("protobuf: a field is cut off".into()))?;
        self.0 = rest;
        Ok(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.0.is_empty()).then(|| self.read())
    }
}

impl<'a> Value<'a> {
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    pub(super) fn varint(self) -> u64 {
        match self {
            Self::Varint(value) => value,
            _ => 0,
        }
    }
}

pub(super) fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed("protobuf: a text is not UTF-8".into()))
}

pub(super) fn wrong_wire_type(number: u32) -> Malformed {
    Malformed(format!("protobuf: field {number} has the wrong wire type"))
}

/// Writes a field that is made of these bytes.
pub(super) fn put(to: &mut Vec<u8>, number: u32, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    encode_key(number, WireType::LengthDelimited, to);
    encode_varint(length as u64, to);
    parts.iter().for_each(|part| to.extend_from_slice(part));
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn malformed(error: DecodeError) -> Malformed {
    Malformed(format!("protobuf: {error}"))
}
