//! The query of a request, read as Go reads it or refused.
//!
//! Go silently drops a pair that has a raw `;` or a bad escape, and drops everything if there are more than 10,000
//! pieces, empty ones included. A reader that keeps such pairs sees a selector where kube-apiserver sees none, so they
//! are refused here.

use percent_encoding::percent_decode_str;

use super::{Malformed, path::well_escaped};

/// Query parameters in order, decoded.
#[derive(Debug, Default)]
pub struct Query(Vec<(String, String)>);

/// Parameters that say what a list or watch is of, or which object a delete means. kube-apiserver takes the first of each, other readers the last.
const READ_ONCE: &[&str] = &[
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "uid",
    "watch",
];

/// kube-apiserver compares these with `false` in two ways, and for one of them the old long s is an s.
const BOOLEANS: &[&str] = &["allowWatchBookmarks", "sendInitialEvents", "watch"];

impl Query {
    /// Where Go's parser gives up. It counts what stands between `&`, not what it means.
    pub const MAX_PIECES: usize = 10_000;

    pub fn parse(raw: &str) -> Result<Self, Malformed> {
        if raw.contains(';') {
            return Err(Malformed("the query has a raw ';'; write it as %3B".to_owned()));
        }
        if raw.split('&').count() > Self::MAX_PIECES {
            return Err(Malformed(format!(
                "the query has more than {} parameters",
                Self::MAX_PIECES
            )));
        }
        let pairs = raw
            .split('&')
            .filter(|piece| !piece.is_empty())
            .map(|piece| {
                let (key, value) = piece.split_once('=').unwrap_or((piece, ""));
                Ok((decode(key)?, decode(value)?))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let query = Self(pairs);
        for key in READ_ONCE {
            if query.0.iter().filter(|(other, _)| other == key).count() > 1 {
                return Err(Malformed(format!("query parameter {key} is given more than once")));
            }
        }
        for key in BOOLEANS {
            if !query.get(key).unwrap_or_default().is_ascii() {
                return Err(Malformed(format!("query parameter {key} is not ASCII")));
            }
        }
        Ok(query)
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(other, _)| other == key)
            .map(|(_, value)| value.as_str())
    }

    /// A boolean as Kubernetes converts it: everything but `0` and `false` is true, also nothing.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key)
            .is_some_and(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
    }

    /// Whether kube-apiserver can convert a number; absent is fine, empty is not.
    pub fn is_number(&self, key: &str) -> bool {
        self.get(key).is_none_or(|value| value.parse::<i64>().is_ok())
    }
}

fn decode(raw: &str) -> Result<String, Malformed> {
    // Values may be secret, and this text is logged.
    let refuse = || Malformed("a query parameter has a bad escape, a NUL, or is not UTF-8 when decoded".to_owned());
    if !well_escaped(raw) {
        return Err(refuse());
    }
    let spaced = raw.replace('+', " ");
    let decoded = percent_decode_str(&spaced).decode_utf8().map_err(|_| refuse())?;
    // Some readers end a text there.
    if decoded.contains('\0') {
        return Err(refuse());
    }
    Ok(decoded.into_owned())
}
