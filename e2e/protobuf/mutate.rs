//! Bodies as somebody would write them who hopes to be read in two ways.

use super::theirs::Type;
use crate::random::Random;

/// A field on the wire.
#[derive(Clone)]
struct Wire {
    number: u64,
    wire_type: u64,
    value: Content,
}

#[derive(Clone)]
enum Content {
    /// A number, or four or eight bytes.
    Raw(Vec<u8>),
    Bytes(Vec<u8>),
    Fields(Vec<Wire>),
}

const MAGIC: &[u8] = b"k8s\0";
const UNKNOWN: &[u64] = &[5, 6, 15, 16, 31, 42, 99, (1 << 29) - 1];
/// Too large for what is read, wrapping around in somebody's arithmetic, or nothing.
const STRANGE: &[u64] = &[0, 1 << 29, 1 << 32, (1 << 32) + 1, (1 << 61) - 1];
const TEXTS: &[&[u8]] = &[b"", b"a", b"n1", b"\xff", b"\x0a\x01b", b"1Gi", b"\x08\x05"];

pub(super) fn body(random: &mut Random, root: &Type, body: &[u8]) -> Vec<u8> {
    let mut envelope = fields(body.strip_prefix(MAGIC).unwrap());
    for field in &mut envelope {
        if let (1 | 2, Content::Bytes(bytes)) = (field.number, &field.value) {
            let inner = if field.number == 2 {
                message(root, bytes)
            } else {
                fields(bytes)
            };
            field.value = Content::Fields(inner);
        }
    }
    for _ in 0..=random.below(3) {
        change(random, &mut envelope);
    }
    let mut result = MAGIC.to_vec();
    write(random, &envelope, &mut result);
    if random.one_in(12) {
        let at = random.below(result.len());
        result[at] ^= 1 << random.below(8);
    }
    if random.one_in(20) {
        result.truncate(random.below(result.len()));
    }
    result
}

/// Something in one of the messages, which one by chance.
fn change(random: &mut Random, message: &mut Vec<Wire>) {
    let inner: Vec<usize> = (0..message.len())
        .filter(|at| matches!(message[*at].value, Content::Fields(_)))
        .collect();
    if !inner.is_empty() && !random.one_in(4) {
        let at = random.pick(&inner);
        if let Content::Fields(fields) = &mut message[at].value {
            return change(random, fields);
        }
    }
    let to = random.below(message.len() + 1);
    if message.is_empty() || random.one_in(4) {
        let unknown = unknown(random);
        return message.insert(to, unknown);
    }
    let at = random.below(message.len());
    match random.below(9) {
        0 => message.insert(to, message[at].clone()),
        1 => {
            let moved = message.remove(at);
            message.insert(to.min(message.len()), moved);
        }
        2 => drop(message.remove(at)),
        // One message in two parts, in either order.
        3 | 4 => {
            let mut second = message[at].clone();
            if let (Content::Fields(first), Content::Fields(rest)) = (&mut message[at].value, &mut second.value) {
                *rest = first.split_off(random.below(first.len() + 1));
            }
            message.insert(to, second);
        }
        5 => {
            let mut other = message[at].clone();
            other.value = Content::Bytes(random.pick(TEXTS).to_vec());
            other.wire_type = 2;
            message.insert(to, other);
        }
        // The value of a neighbour: the same key twice in a map, or a message of another type.
        6 => {
            let other = random.below(message.len());
            let mut copy = message[at].clone();
            copy.value = message[other].value.clone();
            copy.wire_type = message[other].wire_type;
            message.insert(to, copy);
        }
        7 if random.one_in(3) => message[at].wire_type = random.below(8) as u64,
        7 => message[at].number = 1 + random.below(30) as u64,
        _ if random.one_in(3) => message[at].number = random.pick(STRANGE),
        _ => {
            // Entries of maps with the same key and another value.
            let mut copy = message[at].clone();
            if let Content::Fields(fields) = &mut copy.value {
                for field in fields.iter_mut().filter(|field| field.number == 2) {
                    field.value = Content::Bytes(random.pick(TEXTS).to_vec());
                }
            }
            message.insert(to, copy);
        }
    }
}

fn unknown(random: &mut Random) -> Wire {
    let wire_type = random.pick(&[0, 0, 1, 2, 2, 5, 3, 4]);
    let value = match wire_type {
        0 => Content::Raw(vec![random.below(128) as u8]),
        1 => Content::Raw(vec![7; 8]),
        5 => Content::Raw(vec![7; 4]),
        2 => Content::Bytes(random.pick(TEXTS).to_vec()),
        _ => Content::Raw(Vec::new()),
    };
    Wire {
        number: random.pick(UNKNOWN),
        wire_type,
        value,
    }
}

/// Fields as upstream wrote them, those with messages in them opened.
fn message(theirs: &Type, bytes: &[u8]) -> Vec<Wire> {
    let mut fields = fields(bytes);
    for field in &mut fields {
        let Content::Bytes(bytes) = &field.value else { continue };
        let Some(their) = u32::try_from(field.number).ok().and_then(|number| theirs.field(number)) else {
            continue;
        };
        let inner = match their.kind.as_str() {
            "message" | "messages" | "inline" => message(&theirs.of(their), bytes),
            "time" | "textMap" | "bytesMap" => self::fields(bytes),
            "quantityMap" => {
                let mut entry = self::fields(bytes);
                for field in entry.iter_mut().filter(|field| field.number == 2) {
                    if let Content::Bytes(bytes) = &field.value {
                        field.value = Content::Fields(self::fields(bytes));
                    }
                }
                entry
            }
            _ => continue,
        };
        field.value = Content::Fields(inner);
    }
    fields
}

fn fields(mut bytes: &[u8]) -> Vec<Wire> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => {
                let mut raw = Vec::new();
                write_varint(varint(&mut bytes), &mut raw);
                Content::Raw(raw)
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                Content::Bytes(bytes.split_off(..length).unwrap().to_vec())
            }
            wire_type => panic!("upstream wrote wire type {wire_type}"),
        };
        fields.push(Wire {
            number: key >> 3,
            wire_type: key & 7,
            value,
        });
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = *bytes.split_off_first().unwrap();
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn write(random: &mut Random, fields: &[Wire], to: &mut Vec<u8>) {
    for field in fields {
        write_varint(field.number << 3 | field.wire_type, to);
        let bytes = match &field.value {
            Content::Raw(raw) => {
                to.extend_from_slice(raw);
                continue;
            }
            Content::Bytes(bytes) => bytes.clone(),
            Content::Fields(fields) => {
                let mut bytes = Vec::new();
                write(random, fields, &mut bytes);
                bytes
            }
        };
        // Now and then a length that is a little off, or longer than it has to be.
        let length = bytes.len() as u64;
        match random.below(400) {
            0 => write_varint(length + random.below(4) as u64, to),
            1 if length < 128 => to.extend_from_slice(&[length as u8 | 0x80, 0x80, 0]),
            _ => write_varint(length, to),
        }
        to.extend_from_slice(&bytes);
    }
}

fn write_varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}
