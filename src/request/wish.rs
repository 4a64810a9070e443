//! As whom a client asks to act: `Acting-As`, as the proposal has it, or `Impersonate-*`, as Kubernetes has it since.
//!
//! Leaving such a wish out of account would do as a strong user what was meant for a weak one, so whatever is not understood to
//! the last word is refused. Who may act as whom, `authorizer::acting_as` says. Keys of extras are read as in
//! `k8s.io/apiserver/pkg/endpoints/filters/impersonation` (1.36): in lower case, then with percent escapes decoded.

use http::{HeaderMap, HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;

use super::{Malformed, headers::single};
use crate::api::names;

/// A user that the client would like to be taken for, as far as it says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Wish {
    pub user: String,
    pub groups: Vec<String>,
    pub uid: Option<String>,
    pub extra: Vec<(String, Vec<String>)>,
}

const ACTING_AS: &str = "acting-as";
const IMPERSONATE: &str = "impersonate-";
const USER: &str = "impersonate-user";
const GROUP: &str = "impersonate-group";
const UID: &str = "impersonate-uid";
const EXTRA: &str = "impersonate-extra-";

/// Groups and values of extras in one wish. Upstream is asked about each.
const MAX_ITEMS: usize = 64;

impl Wish {
    pub(super) fn read(headers: &HeaderMap) -> Result<Option<Box<Self>>, Malformed> {
        let impersonates = headers.keys().any(|name| name.as_str().starts_with(IMPERSONATE));
        match (headers.get(ACTING_AS), impersonates) {
            (None, false) => Ok(None),
            (Some(_), true) => malformed("Acting-As and Impersonate-* cannot be in one request"),
            (Some(_), false) => {
                let user = one(headers, ACTING_AS)?.unwrap_or_default();
                Ok(Some(Box::new(Self {
                    user,
                    ..Self::default()
                })))
            }
            (None, true) => Self::impersonation(headers).map(|wish| Some(Box::new(wish))),
        }
    }

    fn impersonation(headers: &HeaderMap) -> Result<Self, Malformed> {
        let mut wish = Self {
            uid: one(headers, UID)?,
            ..Self::default()
        };
        for name in headers.keys() {
            let values = || headers.get_all(name).iter().map(|value| text(name.as_str(), value));
            match name.as_str() {
                USER | UID => {}
                GROUP => wish.groups = values().collect::<Result<_, _>>()?,
                extra if extra.starts_with(EXTRA) => {
                    let key = key(name)?;
                    if wish.extra.iter().any(|(known, _)| *known == key) {
                        return malformed(format!("the extra {key:?} is given in two spellings"));
                    }
                    wish.extra.push((key, values().collect::<Result<_, _>>()?));
                }
                other if other.starts_with(IMPERSONATE) => {
                    return malformed(format!("header {other} is not one that scopegate knows"));
                }
                _ => {}
            }
        }
        match one(headers, USER)? {
            Some(user) => wish.user = user,
            None => return malformed("impersonation headers without Impersonate-User"),
        }
        let items = wish.groups.len() + wish.extra.iter().map(|(_, values)| values.len()).sum::<usize>();
        if items > MAX_ITEMS {
            return malformed(format!(
                "more than {MAX_ITEMS} groups and extras to be impersonated at a time"
            ));
        }
        Ok(wish)
    }
}

/// A header that may be there once.
fn one(headers: &HeaderMap, name: &'static str) -> Result<Option<String>, Malformed> {
    single(headers, &HeaderName::from_static(name))?;
    headers.get(name).map(|value| text(name, value)).transpose()
}

/// A value that upstream reads as exactly this text when it is told: readers trim white space, skip what is empty, and take what
/// is not UTF-8 for different things.
fn text(name: &str, value: &HeaderValue) -> Result<String, Malformed> {
    let Ok(text) = str::from_utf8(value.as_bytes()) else {
        return malformed(format!("header {name} is not UTF-8"));
    };
    if text.is_empty() {
        return malformed(format!("header {name} is empty"));
    }
    if text.trim() != text || text.contains(char::is_control) {
        return malformed(format!(
            "header {name} has control characters, or white space around its value"
        ));
    }
    Ok(text.to_owned())
}

/// Of an extra. Upstream takes a key with a broken escape as it is written, and others take it for nothing.
fn key(name: &HeaderName) -> Result<String, Malformed> {
    let written = name.as_str().strip_prefix(EXTRA).unwrap_or_default();
    let escapes = written.split('%').skip(1);
    let sound = |escape: &str| escape.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let decoded = percent_decode_str(written).decode_utf8();
    let (true, Ok(key)) = (escapes.clone().all(sound), decoded) else {
        return malformed(format!("header {name} has a key with bad percent escapes"));
    };
    if key.is_empty() || key.trim() != key || key.contains(char::is_control) {
        return malformed(format!("header {name} has no usable key"));
    }
    // Who acts as whom, for one.
    if names::is_own(&key) {
        return malformed(format!("nobody but scopegate may say {key:?}"));
    }
    Ok(key.into_owned())
}

fn malformed<T>(why: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed(why.into()))
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    fn read(lines: &[(&str, &[u8])]) -> Result<Option<Box<Wish>>, Malformed> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_bytes(value).unwrap());
        }
        Wish::read(&headers)
    }

    #[test]
    fn nothing_is_no_wish() {
        let plain: &[(&str, &[u8])] = &[("x-remote-user", b"a"), ("acting-as-if", b"a"), ("impersonate", b"a")];
        assert_eq!(read(plain), Ok(None));
    }

    #[test]
    fn both_families_say_the_same() {
        let expected = Wish {
            user: "jane".to_owned(),
            ..Wish::default()
        };
        for name in ["Acting-As", "acting-as", "Impersonate-User", "IMPERSONATE-USER"] {
            assert_eq!(read(&[(name, b"jane")]), Ok(Some(Box::new(expected.clone()))), "{name}");
        }
    }

    #[test]
    fn everything_that_kubernetes_knows_is_read() {
        let wish = read(&[
            ("impersonate-user", "Jürgen, x".as_bytes()),
            ("impersonate-group", b"b"),
            ("impersonate-group", b"a, c"),
            ("impersonate-uid", b"7"),
            ("impersonate-extra-Acme.com%2FProject", b"1"),
            ("impersonate-extra-Acme.com%2fProject", b"2"),
        ]);
        let expected = Wish {
            user: "Jürgen, x".to_owned(),
            groups: vec!["b".to_owned(), "a, c".to_owned()],
            uid: Some("7".to_owned()),
            extra: vec![("acme.com/project".to_owned(), vec!["1".to_owned(), "2".to_owned()])],
        };
        assert_eq!(wish, Ok(Some(Box::new(expected))));
    }

    #[test_case(&[("acting-as", b"a"), ("impersonate-user", b"a")], "cannot be in one request"; "both families")]
    #[test_case(&[("acting-as", b"a"), ("impersonate-group", b"a")], "cannot be in one request"; "half of the other family")]
    #[test_case(&[("acting-as", b"a"), ("acting-as", b"a")], "acting-as is given 2 times"; "twice")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-user", b"b")], "impersonate-user is given 2 times"; "two users")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-uid", b"1"), ("impersonate-uid", b"1")], "impersonate-uid is given 2 times"; "two uids")]
    #[test_case(&[("acting-as", b"")], "acting-as is empty"; "nobody")]
    #[test_case(&[("impersonate-user", b"")], "impersonate-user is empty"; "no user")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-group", b"")], "impersonate-group is empty"; "no group")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-uid", b"")], "impersonate-uid is empty"; "no uid")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-a", b"")], "impersonate-extra-a is empty"; "no value")]
    #[test_case(&[("impersonate-group", b"a")], "without Impersonate-User"; "group alone")]
    #[test_case(&[("impersonate-uid", b"a")], "without Impersonate-User"; "uid alone")]
    #[test_case(&[("impersonate-extra-a", b"a")], "without Impersonate-User"; "extra alone")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-unheard-of", b"a")], "is not one that scopegate knows"; "unknown suffix")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-", b"a")], "is not one that scopegate knows"; "no suffix")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-groups", b"a")], "is not one that scopegate knows"; "nearly a suffix")]
    #[test_case(&[("acting-as", b"\xff")], "acting-as is not UTF-8"; "bytes")]
    #[test_case(&[("acting-as", b"a ")], "white space around its value"; "white space behind")]
    #[test_case(&[("acting-as", "\u{a0}a".as_bytes())], "white space around its value"; "white space of unicode")]
    #[test_case(&[("impersonate-user", b"a\tb")], "control characters"; "tab")]
    #[test_case(&[("acting-as", "a\u{85}b".as_bytes())], "control characters"; "control character beyond ASCII")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-", b"a")], "no usable key"; "no key")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-a%", b"a")], "bad percent escapes"; "half an escape")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-a%2", b"a")], "bad percent escapes"; "most of an escape")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-%zz", b"a")], "bad percent escapes"; "no hexadecimal")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-%ff", b"a")], "bad percent escapes"; "a key of bytes")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-a%0a", b"a")], "no usable key"; "a key with a line end")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-%61", b"a"), ("impersonate-extra-a", b"b")], "two spellings"; "one key twice")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-acting-as.scopegate.dev%2Factor", b"a")], "nobody but scopegate"; "the gate's own key")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-%41cting-as.scopegate.dev%2Factor", b"a")], "nobody but scopegate"; "in another case")]
    #[test_case(&[("impersonate-user", b"a"), ("impersonate-extra-scopegate.dev%2fvalidated", b"a")], "nobody but scopegate"; "another key of the gate's")]
    fn refused(lines: &[(&str, &[u8])], why: &str) {
        let error = read(lines).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn a_wish_is_not_long() {
        let groups: Vec<String> = (0..=MAX_ITEMS).map(|group| group.to_string()).collect();
        let mut lines: Vec<(&str, &[u8])> = vec![("impersonate-user", b"a")];
        lines.extend(groups.iter().map(|group| ("impersonate-group", group.as_bytes())));
        assert!(read(&lines).is_err());
        lines.pop();
        assert!(read(&lines).is_ok());
    }
}
