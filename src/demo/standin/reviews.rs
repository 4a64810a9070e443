//! Reviews: what a client may ask about itself or about a token. The answer to who am I is what the gate said;
//! the answers to what may I do are the stand-in's own, and it allows everything.

use serde_json::{Map, Value, json};

use super::{kinds::Kind, object, tokens};
use crate::caller::User;

/// The review with its status filled in.
pub(super) fn review(kind: &Kind, user: &User, mut review: Value) -> Value {
    let status = match kind.kind {
        "SelfSubjectReview" => json!({ "userInfo": user_info(user) }),
        "TokenReview" => {
            let token = review.pointer("/spec/token").and_then(Value::as_str);
            match token.and_then(tokens::user) {
                Some(user) => json!({ "authenticated": true, "user": user_info(&user) }),
                None => json!({ "authenticated": false, "error": "the stand-in does not know this token" }),
            }
        }
        "SelfSubjectAccessReview" => json!({
            "allowed": true,
            "reason": "the stand-in allows everything",
        }),
        _ => json!({ "resourceRules": [], "nonResourceRules": [], "incomplete": true }),
    };
    object::set_meta(&mut review, "creationTimestamp", object::now());
    if let Some(review) = review.as_object_mut() {
        review.insert("status".to_owned(), status);
    }
    review
}

fn user_info(user: &User) -> Value {
    let mut info = Map::new();
    info.insert("username".to_owned(), json!(user.name));
    if let Some(uid) = &user.uid {
        info.insert("uid".to_owned(), json!(uid));
    }
    info.insert("groups".to_owned(), json!(user.groups));
    if !user.extra.is_empty() {
        let extra = user.extra.iter().cloned();
        let extra: Map<_, _> = extra.map(|(key, values)| (key, json!(values))).collect();
        info.insert("extra".to_owned(), Value::Object(extra));
    }
    Value::Object(info)
}
