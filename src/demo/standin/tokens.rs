//! Bearer tokens the stand-in knows, of a service account and of a node that wants to join.

use crate::{api::names, caller::User};

pub const SERVICE_ACCOUNT: &str = "demo-service-account-token";
pub const BOOTSTRAP: &str = "abcdef.0123456789abcdef";

/// Whom a token stands for.
pub fn user(token: &str) -> Option<User> {
    let (name, groups): (_, &[&str]) = match token {
        SERVICE_ACCOUNT => (
            "system:serviceaccount:default:default",
            &["system:serviceaccounts", "system:serviceaccounts:default"],
        ),
        BOOTSTRAP => ("system:bootstrap:abcdef", &[names::BOOTSTRAPPERS_GROUP]),
        _ => return None,
    };
    let user = User {
        name: name.to_owned(),
        groups: groups.iter().map(ToString::to_string).collect(),
        ..User::default()
    };
    Some(user.authenticated())
}
