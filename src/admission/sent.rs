//! An object that a client has sent, in whatever form.

use http::{HeaderMap, header::CONTENT_TYPE};

use crate::{
    api::{clip, quote},
    json::{Json, Malformed},
    protobuf::{self, Envelope},
    rejection::Rejection,
};

/// An object as the client sent it.
#[derive(Debug)]
pub struct Sent<'a> {
    pub json: Json<'a>,
    envelope: Option<Envelope<'a>>,
}

/// How a body is encoded, by its media type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Encoding {
    Json,
    Protobuf,
    /// Which is read elsewhere, once, and then JSON.
    Yaml,
}

const JSON: &str = "application/json";
pub(super) const YAML: &str = "application/yaml";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

impl<'a> Sent<'a> {
    pub(super) fn read(
        (headers, is_json_by_now): (&HeaderMap, bool),
        body: &'a [u8],
        message: Option<&protobuf::Message>,
        kind: &str,
    ) -> Result<Self, Rejection> {
        let unread = |Malformed(why)| {
            Rejection::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): {why}"
            ))
        };
        let sent = match (Encoding::of(headers)?, message) {
            (Encoding::Yaml, _) if !is_json_by_now => {
                return Err(Rejection::unsupported_media_type(&[JSON, PROTOBUF]));
            }
            (Encoding::Json | Encoding::Yaml, _) => Self {
                json: Json::parse(body).map_err(unread)?,
                envelope: None,
            },
            (Encoding::Protobuf, None) => return Err(Rejection::unsupported_media_type(&[JSON])),
            (Encoding::Protobuf, Some(message)) => {
                let envelope = Envelope::read(body).map_err(unread)?;
                Self {
                    json: envelope.object(message).map_err(unread)?,
                    envelope: Some(envelope),
                }
            }
        };
        let Some(object) = sent.json.as_object() else {
            return Err(unread(Malformed("it is no object".to_owned())));
        };
        if let Some((key, _)) = object.iter().find(|(key, _)| is_look_alike(key)) {
            let key = quote(&clip(key, 32));
            return Err(unread(Malformed(format!("key {key} could be taken for another"))));
        }
        Ok(sent)
    }

    pub(super) fn is_kind(&self, expected: &str) -> Result<(), Rejection> {
        let kind = match &self.envelope {
            Some(envelope) => envelope.kind,
            None => self.text(&["kind"])?,
        };
        if kind.is_empty() || kind == expected {
            return Ok(());
        }
        Err(Rejection::bad_request(format!(
            "{kind} in version {} cannot be handled as a {expected}",
            quote(self.version()?)
        )))
    }

    pub(super) fn version(&self) -> Result<&str, Rejection> {
        match &self.envelope {
            Some(envelope) => Ok(envelope.api_version),
            None => self.text(&["apiVersion"]),
        }
    }

    /// A text, empty if it is not there.
    pub(super) fn text(&self, path: &[&str]) -> Result<&str, Rejection> {
        Ok(self.text_if_there(path)?.unwrap_or_default())
    }

    /// A text that may be there and empty.
    pub(super) fn text_if_there(&self, path: &[&str]) -> Result<Option<&str>, Rejection> {
        let mut value = &self.json;
        for key in path {
            value = match value.get(key) {
                None | Some(Json::Null) => return Ok(None),
                Some(value) => value,
            };
        }
        match value.as_str() {
            None => Err(Rejection::bad_request(format!("{} is not a text", path.join(".")))),
            text => Ok(text),
        }
    }

    pub(super) fn is_protobuf(&self) -> bool {
        self.envelope.is_some()
    }

    /// The same object with these fields behind it, if it came as protobuf.
    pub(super) fn append(&self, tail: &[u8]) -> Vec<u8> {
        self.envelope
            .as_ref()
            .map(|envelope| envelope.append(tail))
            .unwrap_or_default()
    }

    /// The same object with one text set, in the encoding it came in.
    pub(super) fn with_text(&self, path: &[&str], fields: &[u32], value: &str) -> Result<Vec<u8>, Rejection> {
        match (&self.envelope, path.split_last()) {
            (Some(envelope), _) => Ok(envelope.append(&protobuf::text_field(fields, value))),
            (None, Some((key, path))) => with_texts(&self.json, path, &[(key, value)]),
            (None, None) => Err(Rejection::internal("nothing to tie a write to")),
        }
    }
}

/// Whether the API server, which looks for what an object is in whatever case it is written, could take a key for one of these. It
/// folds letters as Go does: the long s and the sign of the kelvin are letters too.
pub(super) fn is_look_alike(key: &str) -> bool {
    let folded = || key.chars().flat_map(char::to_lowercase).flat_map(char::to_uppercase);
    let names = ["apiVersion", "kind"];
    !names.contains(&key) && names.iter().any(|name| folded().eq(name.to_uppercase().chars()))
}

impl Encoding {
    /// As Go reads a media type: in any case, and whatever its parameters.
    fn of(headers: &HeaderMap) -> Result<Self, Rejection> {
        let Some(value) = headers.get(CONTENT_TYPE) else {
            return Ok(Self::Json);
        };
        let unsupported = || Rejection::unsupported_media_type(&[JSON, PROTOBUF]);
        // What is not ASCII, one reader could take for nothing.
        let value = value.to_str().map_err(|_| unsupported())?;
        let media_type = value.split(';').next().unwrap_or_default().trim();
        if media_type.eq_ignore_ascii_case(JSON) || value.is_empty() {
            Ok(Self::Json)
        } else if media_type.eq_ignore_ascii_case(PROTOBUF) {
            Ok(Self::Protobuf)
        } else if media_type.eq_ignore_ascii_case(YAML) {
            Ok(Self::Yaml)
        } else {
            Err(unsupported())
        }
    }
}

pub(super) fn with_texts(json: &Json<'_>, path: &[&str], texts: &[(&str, &str)]) -> Result<Vec<u8>, Rejection> {
    let edited = json.with_texts(path, texts);
    edited.ok_or_else(|| Rejection::bad_request("the body has something else where an object belongs"))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("apiVersion" => false; "itself")]
    #[test_case("kind" => false; "itself too")]
    #[test_case("metadata" => false; "something else")]
    #[test_case("apiversion" => true; "small")]
    #[test_case("APIVERSION" => true; "capitals")]
    #[test_case("apiVer\u{17f}ion" => true; "long s")]
    #[test_case("\u{212a}ind" => true; "kelvin")]
    #[test_case("kınd" => true; "dotless i, which Go does not fold")]
    #[test_case("kinds" => false; "longer")]
    fn look_alike(key: &str) -> bool {
        is_look_alike(key)
    }
}
