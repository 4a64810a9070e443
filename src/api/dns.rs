//! Names of hosts, as Kubernetes writes them (RFC 1123, in lower case).

/// The longest name that DNS can hold.
pub const MAX_NAME: usize = 253;

/// Whether a text is the name of a host, or of a domain.
pub fn is_name(text: &str) -> bool {
    is_subdomain(text) && text.split('.').all(|label| label.len() <= 63)
}

/// The same as Kubernetes asks of the names of most objects, which DNS need not hold.
pub fn is_subdomain(text: &str) -> bool {
    text.len() <= MAX_NAME && text.split('.').all(is_part)
}

/// The same of what stands between two dots.
pub(super) fn is_part(text: &str) -> bool {
    let end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.iter().all(|byte| end(byte) || *byte == b'-')
        && bytes.first().is_some_and(end)
        && bytes.last().is_some_and(end)
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    #[test_case("node-a" => true)]
    #[test_case("ip-10-0-0-1.ec2.internal" => true; "with a domain")]
    #[test_case("10.0.0.1" => true; "numbers")]
    #[test_case("" => false; "nothing")]
    #[test_case("a..b" => false; "nothing between dots")]
    #[test_case("a." => false; "a dot at the end")]
    #[test_case("-a" => false; "begins with a hyphen")]
    #[test_case("a-.b" => false; "a part ends with a hyphen")]
    #[test_case("A" => false; "upper case")]
    #[test_case("a_b" => false; "another character")]
    #[test_case("ä" => false; "not ASCII")]
    #[test_case("a\n" => false; "a line end")]
    #[test_case(&"a".repeat(63) => true; "a long part")]
    #[test_case(&"a".repeat(64) => false; "too long a part")]
    #[test_case(&["a"; 127].join(".") => true; "a long name")]
    #[test_case(&["a"; 128].join(".") => false; "too long a name")]
    fn names(text: &str) -> bool {
        super::is_name(text)
    }
}
