//! Messages to values, by their tables.
//!
//! A message that stands there twice is merged, which is to say: read as if the two were one behind the other. So the fields of
//! a message are first found in all its parts and put in the order of their numbers, and then each is read from all its
//! occurrences at once; nothing that is read is changed later. Tables hold no circle, so a body cannot nest deeper than they do.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;

use super::{
    schema::{Field, Kind, Message},
    wire::{Fields, Value, text, wrong_wire_type},
};
use crate::json::{Json, MAX_VALUES, Malformed, Object};

/// 0001-01-01T00:00:00Z, which is no time to Go, and null in JSON.
const GO_ZERO_TIME: i64 = -62_135_596_800;

type Entries<'a> = Vec<(Cow<'a, str>, Json<'a>)>;

pub(super) fn object<'a>(bytes: &'a [u8], message: &Message) -> Result<Json<'a>, Malformed> {
    Reader { left: MAX_VALUES }.object(message, &[bytes])
}

struct Reader {
    /// How many more fields there may be. Each makes one value, and the first of a list or map one more.
    left: usize,
}

impl Reader {
    fn object<'a>(&mut self, message: &Message, parts: &[&'a [u8]]) -> Result<Json<'a>, Malformed> {
        let mut entries = Vec::new();
        self.entries(message, parts, &mut entries)?;
        Ok(Json::Object(entries.into_iter().collect()))
    }

    fn entries<'a>(&mut self, message: &Message, parts: &[&'a [u8]], to: &mut Entries<'a>) -> Result<(), Malformed> {
        let mut found = Vec::new();
        for field in parts.iter().flat_map(|part| Fields(part)) {
            let (number, value) = field?;
            match message.field(number) {
                Some(field) if field.kind.fits(value) => found.push((field, value)),
                Some(_) => return Err(wrong_wire_type(number)),
                None if message.closed => to.push((Cow::Owned(format!("?{number}")), Json::Bool(true))),
                None => continue,
            }
            self.count()?;
        }
        // Stable: occurrences of one field stay in their order.
        found.sort_by_key(|(field, _)| field.number);
        for occurrences in found.chunk_by(|(a, _), (b, _)| a.number == b.number) {
            self.field(occurrences, to)?;
        }
        Ok(())
    }

    fn field<'a>(&mut self, occurrences: &[(&Field, Value<'a>)], to: &mut Entries<'a>) -> Result<(), Malformed> {
        let Some((field, last)) = occurrences.last() else {
            return Ok(());
        };
        let bytes = || occurrences.iter().map(|(_, value)| value.bytes());
        let value = match field.kind {
            Kind::Ignored => return Ok(()),
            Kind::Inline(message) => return self.entries(message, &bytes().collect::<Vec<_>>(), to),
            Kind::Message(message) => self.object(message, &bytes().collect::<Vec<_>>())?,
            Kind::Messages(message) => array(bytes().map(|bytes| self.object(message, &[bytes])))?,
            Kind::Text => text(last.bytes())?.into(),
            Kind::Texts => array(bytes().map(|bytes| text(bytes).map(Json::from)))?,
            Kind::Bytes => STANDARD.encode(last.bytes()).into(),
            Kind::Bool => Json::Bool(last.varint() != 0),
            Kind::Int32 => Json::Number((last.varint() as i32).into()),
            Kind::Int64 => Json::Number((last.varint() as i64).into()),
            Kind::Time => time(last.bytes())?,
            Kind::TextMap => map(bytes(), |value| Ok(text(value)?.into()))?,
            Kind::BytesMap => map(bytes(), |value| Ok(STANDARD.encode(value).into()))?,
            Kind::QuantityMap => map(bytes(), quantity)?,
        };
        to.push((field.name.into(), value));
        Ok(())
    }

    fn count(&mut self) -> Result<(), Malformed> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| Malformed(format!("protobuf: there are more than {MAX_VALUES} values")))?;
        Ok(())
    }
}

fn array<'a>(items: impl Iterator<Item = Result<Json<'a>, Malformed>>) -> Result<Json<'a>, Malformed> {
    items.collect::<Result<_, _>>().map(Json::Array)
}

/// Entries of a key and a value; what is missing is empty. Upstream looks at neither wire type and lets a text run out of its
/// entry; such entries are refused here.
fn map<'a>(
    entries: impl Iterator<Item = &'a [u8]>,
    read: impl Fn(&'a [u8]) -> Result<Json<'a>, Malformed>,
) -> Result<Json<'a>, Malformed> {
    let entries = entries.map(|entry| {
        let (mut key, mut value): (&[u8], &[u8]) = (&[], &[]);
        for field in Fields(entry) {
            match field? {
                (1, Value::Bytes(bytes)) => key = bytes,
                (2, Value::Bytes(bytes)) => value = bytes,
                (number @ 1..=2, _) => return Err(wrong_wire_type(number)),
                _ => {}
            }
        }
        Ok((Cow::Borrowed(text(key)?), read(value)?))
    });
    // Of entries with the same key the last counts.
    entries.collect::<Result<Object<'_>, _>>().map(Json::Object)
}

/// A `resource.Quantity` as it was written; without a text it is zero.
fn quantity(bytes: &[u8]) -> Result<Json<'_>, Malformed> {
    let mut quantity = "0";
    for field in Fields(bytes) {
        match field? {
            (1, Value::Bytes(bytes)) => quantity = text(bytes)?,
            (1, _) => return Err(wrong_wire_type(1)),
            _ => {}
        }
    }
    Ok(quantity.into())
}

/// A `metav1.Time`: seconds count, nanoseconds do not. Nothing at all is no time, while a message without seconds is 1970.
fn time(bytes: &[u8]) -> Result<Json<'static>, Malformed> {
    let mut seconds = 0;
    for field in Fields(bytes) {
        match field? {
            (1, Value::Varint(value)) => seconds = value as i64,
            (2, Value::Varint(_)) => {}
            (number @ 1..=2, _) => return Err(wrong_wire_type(number)),
            _ => {}
        }
    }
    if bytes.is_empty() || seconds == GO_ZERO_TIME {
        return Ok(Json::Null);
    }
    match Timestamp::from_second(seconds) {
        // Before year 1 the two would write it differently. jiff ends with the last day but one of 9999.
        Ok(time) if seconds > GO_ZERO_TIME => Ok(time.to_string().into()),
        _ => Err(Malformed("protobuf: a time is out of range".into())),
    }
}
