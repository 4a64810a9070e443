//! Values to bytes.

use std::{collections::BTreeMap, io};

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::ser::Formatter;

use super::{Json, Object};

pub(super) fn to_vec(value: &Json<'_>) -> Vec<u8> {
    // Texts, numbers and the like always serialize.
    serde_json::to_vec(value).unwrap_or_default()
}

fn write(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, AlsoYaml))?;
    Ok(bytes)
}

/// JSON that is the same to a reader of YAML, for which some letters end a line: the API server reads applied objects as YAML.
struct AlsoYaml;

impl Formatter for AlsoYaml {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, letter)) = rest.char_indices().find(|(_, letter)| is_odd(*letter)) {
            let (plain, odd) = rest.split_at_checked(at).unwrap_or((rest, ""));
            write!(writer, "{plain}\\u{:04x}", u32::from(letter))?;
            rest = odd.get(letter.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// What ends a line in YAML, or may not stand in it.
fn is_odd(letter: char) -> bool {
    matches!(
        letter,
        '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

pub(super) fn with_texts(value: &Json<'_>, path: &[&str], texts: &[(&str, &str)]) -> Option<Vec<u8>> {
    let mut on_the_way = Some(value);
    for key in path.iter().map(Some).chain([None]) {
        match on_the_way {
            None | Some(Json::Null | Json::Object(_)) => {}
            Some(_) => return None,
        }
        on_the_way = key.and_then(|key| on_the_way?.get(key));
    }
    let value = Some(value);
    write(&Edited { value, path, texts }).ok()
}

/// A value that differs in one place, and is not copied for it.
struct Edited<'v, 'a> {
    value: Option<&'v Json<'a>>,
    path: &'v [&'v str],
    texts: &'v [(&'v str, &'v str)],
}

impl Serialize for Edited<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let object = self.value.and_then(Json::as_object);
        let mut entries: BTreeMap<&str, Entry<'_, '_>> = BTreeMap::new();
        entries.extend(
            object
                .into_iter()
                .flat_map(Object::iter)
                .map(|(key, value)| (key, Entry::Kept(value))),
        );
        match self.path.split_first() {
            Some((next, path)) => {
                let (value, texts) = (object.and_then(|object| object.get(next)), self.texts);
                entries.insert(next, Entry::Edited(Edited { value, path, texts }));
            }
            None => entries.extend(self.texts.iter().map(|(key, text)| (*key, Entry::Text(text)))),
        }
        serializer.collect_map(entries)
    }
}

/// An entry of an object that differs in one place.
enum Entry<'v, 'a> {
    Edited(Edited<'v, 'a>),
    Kept(&'v Json<'a>),
    Text(&'v str),
}

impl Serialize for Entry<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Edited(edited) => edited.serialize(serializer),
            Self::Kept(value) => value.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::Array(items) => serializer.collect_seq(items),
            Self::Object(object) => {
                let mut map = serializer.serialize_map(Some(object.len()))?;
                for (key, value) in object.iter() {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
