//! The names of service accounts as users, and the groups that come with such names.
//!
//! Follows `k8s.io/apiserver/pkg/authentication/serviceaccount/util.go` (1.36).

use super::{dns::is_subdomain, names, pods::is_namespace};

/// The user that a service account is.
pub fn user_name(namespace: &str, name: &str) -> String {
    format!("{}{namespace}:{name}", names::SERVICE_ACCOUNT_USER_PREFIX)
}

/// The namespace and the name of a service account, if a user is one.
pub fn split(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(names::SERVICE_ACCOUNT_USER_PREFIX)?.split_once(':')?;
    (is_namespace(namespace) && is_subdomain(name)).then_some((namespace, name))
}

/// The groups that every service account of a namespace is in.
pub fn groups(namespace: &str) -> [String; 2] {
    let all = names::SERVICE_ACCOUNTS_GROUP;
    [all.to_owned(), format!("{all}:{namespace}")]
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    #[test_case("system:serviceaccount:ns:default" => Some(("ns", "default")); "one")]
    #[test_case("system:serviceaccount:ns:a.b-c" => Some(("ns", "a.b-c")); "a name with dots")]
    #[test_case("system:serviceaccount:n.s:a" => None; "a namespace with dots")]
    #[test_case("system:serviceaccount:ns:a:b" => None; "more parts")]
    #[test_case("system:serviceaccount:ns:" => None; "no name")]
    #[test_case("system:serviceaccount::a" => None; "no namespace")]
    #[test_case("system:serviceaccount:ns" => None; "one part")]
    #[test_case("system:serviceaccount:NS:a" => None; "upper case")]
    #[test_case("System:serviceaccount:ns:a" => None; "another prefix")]
    fn split(user: &str) -> Option<(&str, &str)> {
        super::split(user)
    }
}
