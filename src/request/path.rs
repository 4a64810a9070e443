//! The path of a request, as decoded segments.
//!
//! kube-apiserver decodes the path once and cleans nothing; a router, a cache or a log reader may. So a path
//! that anybody could tidy into another one (dot segments, empty segments, hidden separators) is refused.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::Malformed;
use crate::api::clip;

/// The longest name of anything in Kubernetes. What a client asks for stands in answers, logs and audit events, several
/// times over; this keeps them small.
pub(super) const MAX_NAME: usize = 253;

/// The longest path of anything in Kubernetes is well below this.
const MAX_PATH: usize = 2048;
/// Enough of a segment to recognise it in a message.
const RECOGNISABLE: usize = 64;

/// A path in its one possible reading.
#[derive(Debug)]
pub(super) struct Path<'a> {
    /// Decoded. Nearly all are as they were sent, and need not be copied for that.
    pub(super) segments: Vec<Cow<'a, str>>,
    trailing: bool,
}

impl<'a> Path<'a> {
    pub(super) fn parse(raw: &'a str) -> Result<Self, Malformed> {
        let Some(inner) = raw.strip_prefix('/') else {
            return Err(Malformed(format!(
                "the path {:?} does not start with a slash",
                clip(raw, RECOGNISABLE)
            )));
        };
        if raw.len() > MAX_PATH {
            return Err(Malformed(format!("the path is longer than {MAX_PATH} bytes")));
        }
        // One trailing slash is the only empty segment that kube-apiserver's router reads as nothing.
        let inner = inner.strip_suffix('/').unwrap_or(inner);
        let segments = match raw {
            "/" => Vec::new(),
            _ => inner.split('/').map(segment).collect::<Result<_, _>>()?,
        };
        let trailing = raw.len() > 1 && raw.ends_with('/');
        Ok(Self { segments, trailing })
    }

    /// With its slashes.
    pub(super) fn decoded(&self) -> String {
        let slash = if self.trailing { "/" } else { "" };
        format!("/{}{slash}", self.segments.join("/"))
    }
}

fn segment(raw: &str) -> Result<Cow<'_, str>, Malformed> {
    let refuse = |why: &str| {
        Err(Malformed(format!(
            "the path segment {:?} {why}",
            clip(raw, RECOGNISABLE)
        )))
    };
    if !well_escaped(raw) {
        return refuse("is not printable ASCII with whole percent escapes");
    }
    let Ok(decoded) = percent_decode_str(raw).decode_utf8() else {
        return refuse("is not UTF-8 when decoded");
    };
    if decoded.len() > MAX_NAME {
        return refuse("is longer than any name Kubernetes knows");
    }
    if matches!(decoded.as_ref(), "" | "." | "..") {
        return refuse("is empty or a dot segment");
    }
    if decoded.contains(|c: char| c.is_control() || matches!(c, '/' | '\\' | '%' | ';' | '?' | '#')) {
        return refuse("hides a separator or control character");
    }
    Ok(decoded)
}

/// Printable ASCII in which every `%` begins an escape.
pub(super) fn well_escaped(raw: &str) -> bool {
    let hex = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let bytes = raw.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => hex(bytes.get(at + 1)) && hex(bytes.get(at + 2)),
        _ => byte.is_ascii_graphic(),
    })
}
