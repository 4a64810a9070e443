//! What makes a process on the gate's machine an operator: that it can read a file which others cannot.

use std::{
    fmt, fs,
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use aws_lc_rs::{constant_time::verify_slices_are_equal, hmac, rand};
use http::{HeaderMap, HeaderName, header::AUTHORIZATION};

use crate::api::hex;

/// The token in `admin.tokenFile`. It is never shown by accident.
#[derive(Clone)]
pub struct OperatorToken(String);

/// Too short to be a token that somebody has made with care.
#[derive(Debug, thiserror::Error)]
#[error("there is no token of at least {MIN} characters in it; remove the file, and a new one is made")]
pub struct NoToken;

/// A client's challenge, and the answer to it.
pub const CHALLENGE: HeaderName = HeaderName::from_static("scopegate-challenge");
pub const PROOF: HeaderName = HeaderName::from_static("scopegate-proof");

const MIN: usize = 16;

impl OperatorToken {
    /// Makes the file, with a new token that nobody else can read, unless it is there.
    pub fn make(path: &Path) -> io::Result<()> {
        if let Ok(found) = fs::metadata(path) {
            let mode = found.permissions().mode() & 0o777;
            return if mode & 0o077 == 0 {
                Ok(())
            } else {
                Err(io::Error::other(format!(
                    "others can use it too (its mode is {mode:o}); chmod 600 it"
                )))
            };
        }
        let mut bytes = [0; 32];
        rand::fill(&mut bytes).map_err(io::Error::other)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Which only its owner can read; and it has its name only when it is whole, since replicas may begin at the same time.
        let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        writeln!(file, "{}", hex(&bytes))?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(path) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
            _ => Ok(()),
        }
    }

    pub fn parse(text: &[u8]) -> Result<Self, NoToken> {
        let text = str::from_utf8(text).map_err(|_| NoToken)?.trim();
        let plain = text.len() >= MIN && text.bytes().all(|byte| byte.is_ascii_graphic());
        plain.then(|| Self(text.to_owned())).ok_or(NoToken)
    }

    /// Whether a request shows it.
    pub fn is_in(&self, headers: &HeaderMap) -> bool {
        let shown = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        shown.is_some_and(|shown| verify_slices_are_equal(shown, self.0.as_bytes()).is_ok())
    }

    /// Shows whoever has the token that this has it too, without showing it: before a command hands it over, it wants to know that
    /// it is the gate which listens there.
    pub fn prove(&self, challenge: &[u8]) -> String {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes());
        hex(hmac::sign(&key, challenge).as_ref())
    }

    /// Whether somebody else's proof is good.
    pub fn is_proved(&self, challenge: &[u8], proof: &[u8]) -> bool {
        verify_slices_are_equal(proof, self.prove(challenge).as_bytes()).is_ok()
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorToken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_made_once_and_for_one_user_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        OperatorToken::make(&path).unwrap();
        let first = fs::read(&path).unwrap();
        OperatorToken::make(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), first);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let token = OperatorToken::parse(&first).unwrap();
        assert_eq!(token.reveal().len(), 64);
        assert_eq!(format!("{token:?}"), "OperatorToken");
    }

    #[test]
    fn one_that_others_can_read_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        fs::write(&path, "0123456789abcdef").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = OperatorToken::make(&path).unwrap_err();
        assert_eq!(
            error.to_string(),
            "others can use it too (its mode is 644); chmod 600 it"
        );
    }

    #[test]
    fn a_proof_is_for_one_challenge_and_token() {
        let [one, other] =
            ["0123456789abcdef", "0123456789abcdeF"].map(|text| OperatorToken::parse(text.as_bytes()).unwrap());
        let proof = one.prove(b"now");
        assert!(one.is_proved(b"now", proof.as_bytes()));
        assert!(!one.is_proved(b"then", proof.as_bytes()));
        assert!(!other.is_proved(b"now", proof.as_bytes()));
        assert!(!proof.contains(one.reveal()));
    }

    #[test]
    fn only_the_whole_token_counts() {
        let token = OperatorToken::parse(b"0123456789abcdef\n").unwrap();
        let shown = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            token.is_in(&headers)
        };
        assert!(shown("Bearer 0123456789abcdef"));
        for wrong in [
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
            "Bearer ",
            "Basic 0123456789abcdef",
            "0123456789abcdef",
        ] {
            assert!(!shown(wrong), "{wrong}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
        for none in [&b""[..], b"short", b"\xff0123456789abcdef", b"0123456789 abcdef"] {
            assert!(OperatorToken::parse(none).is_err());
        }
    }
}
