//! What can be compared of an answer.

use serde_json::Value;

use super::Side;
use crate::{gate::Answer, restriction::plain};

impl Side {
    /// What was answered, without what differs between any two clusters.
    pub(in crate::conformance) fn summary(&self, answer: &Answer, round: &str) -> Value {
        let kind = answer
            .headers
            .get("content-type")
            .map_or("", |kind| kind.to_str().unwrap());
        if answer.code.is_success() && !kind.starts_with("application/json") {
            return Value::String(kind.to_owned());
        }
        let uids = self.uids.iter();
        let text = uids.fold(answer.body.clone(), |text, (name, uid)| text.replace(uid, name));
        let text = without_generated(&without_uids(&text));
        let mut value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        if let Some(items) = value.get_mut("items").and_then(Value::as_array_mut) {
            // Other rounds come and go.
            items.retain(|item| item["metadata"].to_string().contains(round));
        }
        plain(&mut value);
        unnamed(&mut value);
        shortened(&mut value);
        sorted(&mut value);
        value
    }
}

/// All uids are alike that are not known.
fn without_uids(text: &str) -> String {
    let is_uid = |part: &str| {
        let mut chars = part.char_indices();
        chars.all(|(at, char)| match at {
            8 | 13 | 18 | 23 => char == '-',
            _ => char.is_ascii_hexdigit(),
        })
    };
    let mut rest = text;
    let mut out = String::new();
    while let Some(first) = rest.chars().next() {
        if let Some(part) = rest.get(..36)
            && is_uid(part)
        {
            out += "some-uid";
            rest = &rest[36..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// Versions differ between clusters, and metadata are printed with the times at which fields were set, by older releases as Go has
/// them in memory, with addresses.
fn shortened(value: &mut Value) {
    for end in [
        "v1.ObjectMeta{",
        "\"managedFields\":[",
        "the ResourceVersion in record (",
    ] {
        if let Some((text, _)) = value["message"].as_str().and_then(|message| message.split_once(end)) {
            value["message"] = Value::String(text.to_owned());
        }
    }
    causes(value).for_each(shortened);
}

/// Where several things are wrong with an object, kube-apiserver tells them in no order.
fn sorted(value: &mut Value) {
    if let Some((what, list)) = value["message"]
        .as_str()
        .and_then(|message| message.split_once(" is invalid: ["))
    {
        let mut all: Vec<&str> = list.trim_end_matches(']').split(", ").collect();
        all.sort_unstable();
        value["message"] = Value::String(format!("{what} is invalid: {}", all.join(", ")));
    }
    let mut all: Vec<Value> = causes(value).map(Value::take).collect();
    all.sort_by_key(Value::to_string);
    causes(value).zip(all).for_each(|(place, cause)| *place = cause);
}

fn causes(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    let causes = value.pointer_mut("/details/causes").and_then(Value::as_array_mut);
    causes.into_iter().flatten()
}

/// What a server puts behind `gen-` is another one each time.
fn without_generated(text: &str) -> String {
    let mut pieces = text.split("gen-");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_generated = |part: &&str| {
            part.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let rest = match piece.get(..5).filter(is_generated) {
            Some(_) => &piece[5..],
            None => piece,
        };
        out += "gen-";
        out += rest;
    }
    out
}

/// Generated names differ, and so do certificates, addresses, and places in lists.
fn unnamed(value: &mut Value) {
    if value["metadata"]["generateName"].is_string() {
        value["metadata"]["name"] = Value::Null;
    }
    let Some(object) = value.as_object_mut() else { return };
    object.remove("serverAddressByClientCIDRs");
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("continue");
        metadata.remove("remainingItemCount");
    }
    for pointer in ["/spec/extra", "/status/userInfo/extra"] {
        if let Some(extra) = value.pointer_mut(pointer).and_then(Value::as_object_mut)
            && let Some(credential) = extra.get_mut("authentication.kubernetes.io/credential-id")
        {
            *credential = Value::Null;
        }
    }
    if let Some(conditions) = value.pointer_mut("/status/conditions").and_then(Value::as_array_mut) {
        // An eviction has the time of the server.
        for condition in conditions
            .iter_mut()
            .filter(|condition| condition["type"] == "DisruptionTarget")
        {
            condition["lastTransitionTime"] = Value::Null;
        }
    }
    if let Some(items) = value.get_mut("items").and_then(Value::as_array_mut) {
        items.iter_mut().for_each(unnamed);
    }
}
