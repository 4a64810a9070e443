//! Where one event of a watch ends and the next begins.

use http::{
    HeaderMap,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};

/// How far a watch has come in its current event.
#[derive(Debug)]
pub(super) enum Events {
    /// JSON, one event a line.
    Lines { between: bool },
    /// Protobuf: four bytes of length, then the event.
    Frames { length: Vec<u8>, left: u64 },
    /// No watch, or one in a form that is not known.
    Unknown,
}

impl Events {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default().replace(' ', "");
        match content_type.as_str() {
            _ if headers.contains_key(CONTENT_ENCODING) => Self::Unknown,
            "application/json" | "application/json;stream=watch" => Self::Lines { between: true },
            "application/vnd.kubernetes.protobuf;stream=watch" => Self::Frames {
                length: Vec::with_capacity(4),
                left: 0,
            },
            _ => Self::Unknown,
        }
    }

    /// Takes note of what is passed on.
    pub(super) fn pass(&mut self, mut data: &[u8]) {
        match self {
            Self::Unknown => {}
            Self::Lines { between } => *between = data.last().map_or(*between, |last| *last == b'\n'),
            Self::Frames { length, left } => {
                while let Some((first, rest)) = data.split_first() {
                    if *left > 0 {
                        let skip = usize::try_from(*left).map_or(data.len(), |left| left.min(data.len()));
                        *left -= skip as u64;
                        data = data.get(skip..).unwrap_or_default();
                        continue;
                    }
                    length.push(*first);
                    data = rest;
                    if let Ok(whole) = <[u8; 4]>::try_from(length.as_slice()) {
                        *left = u32::from_be_bytes(whole).into();
                        length.clear();
                    }
                }
            }
        }
    }

    /// Whether the watch can end here without leaving half an event; nothing if that is not known.
    pub(super) fn are_whole(&self) -> Option<bool> {
        match self {
            Self::Lines { between } => Some(*between),
            Self::Frames { length, left } => Some(length.is_empty() && *left == 0),
            Self::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    const PROTOBUF: &str = "application/vnd.kubernetes.protobuf;stream=watch";

    #[test_case("application/json", &[] => Some(true); "nothing yet")]
    #[test_case("application/json", &[b"{}\n"] => Some(true); "a line")]
    #[test_case("application/json", &[b"{}\n{"] => Some(false); "half a line")]
    #[test_case("application/json", &[b"{", b"}\n"] => Some(true); "a line in two pieces")]
    #[test_case("application/json;stream=watch", &[b"{"] => Some(false); "with a parameter")]
    #[test_case(PROTOBUF, &[] => Some(true); "no frame yet")]
    #[test_case(PROTOBUF, &[b"\0\0\0\x02ab"] => Some(true); "a frame")]
    #[test_case(PROTOBUF, &[b"\0\0\0\x02a"] => Some(false); "half a frame")]
    #[test_case(PROTOBUF, &[b"\0\0"] => Some(false); "half a length")]
    #[test_case(PROTOBUF, &[b"\0\0", b"\0\x02a", b"b\0\0\0\x01c"] => Some(true); "frames in pieces")]
    #[test_case(PROTOBUF, &[b"\0\0\0\x02ab\0"] => Some(false); "the next has begun")]
    #[test_case("application/yaml", &[b"a"] => None; "another form")]
    fn events(content_type: &str, pieces: &[&[u8]]) -> Option<bool> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, content_type.parse().unwrap())]);
        let mut events = Events::of(&headers);
        for piece in pieces {
            events.pass(piece);
        }
        events.are_whole()
    }
}
