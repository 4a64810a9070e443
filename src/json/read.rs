//! Bytes to values, through serde_json, which sees to the syntax, the encoding and the depth.

use std::{borrow::Cow, cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Json, MAX_VALUES, Malformed, Object};

/// The largest whole number below which none is left out.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Without what stands on top at one key, if one is named.
pub(super) fn parse<'a>(bytes: &'a [u8], without: Option<&str>) -> Result<Json<'a>, Malformed> {
    let left = Cell::new(MAX_VALUES);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Value { left: &left, without }.deserialize(&mut reader);
    let value = value.and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| Malformed(error.to_string()))
}

/// Any value, of so many that are left.
#[derive(Clone, Copy)]
struct Value<'n> {
    left: &'n Cell<usize>,
    /// A key of this very value that is passed over.
    without: Option<&'n str>,
}

impl Value<'_> {
    fn within(self) -> Self {
        Self { without: None, ..self }
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = Json<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json<'de>, D::Error> {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => {
                return Err(D::Error::custom(format_args!(
                    "there are more than {MAX_VALUES} values"
                )));
            }
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json<'de>, E> {
        // Larger ones would be written with other digits than they came with.
        let exact = value.fract() != 0.0 || value.abs() <= MAX_EXACT;
        let number = Number::from_f64(value).filter(|_| exact);
        number
            .map(Json::Number)
            .ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::String(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(self.within())? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut object = Vec::new();
        while let Some(key) = entries.next_key_seed(Key)? {
            if self.without == Some(key.as_ref()) {
                entries.next_value::<IgnoredAny>()?;
            } else {
                object.push((key, entries.next_value_seed(self.within())?));
            }
        }
        let object = Object::from_entries(object);
        let object = object.map_err(|key| A::Error::custom(format_args!("key {key:?} stands twice in one object")));
        object.map(Json::Object)
    }
}

/// The key of an object, borrowed where it can be.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}
