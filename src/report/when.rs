//! Times as operators write them.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

/// A moment, or so long ago.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum When {
    Ago(SignedDuration),
    At(Timestamp),
}

impl When {
    pub fn resolve(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(duration) => now.checked_sub(duration).unwrap_or(Timestamp::MIN),
            Self::At(time) => time,
        }
    }
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ago = || {
            let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
            let seconds = match unit {
                "s" => 1,
                "m" => 60,
                "h" => 60 * 60,
                "d" => 24 * 60 * 60,
                "w" => 7 * 24 * 60 * 60,
                _ => return None,
            };
            let seconds = i64::from(number.parse::<u32>().ok()?).checked_mul(seconds)?;
            Some(Self::Ago(SignedDuration::from_secs(seconds)))
        };
        let at = || text.parse().ok().map(Self::At);
        ago().or_else(at).ok_or_else(|| {
            "a number and s, m, h, d or w (24h: so long ago), or a time such as 2026-03-02T08:00:00Z".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::When;

    #[test_case("24h" => Ok("2026-03-01T08:00:00Z".to_owned()); "hours")]
    #[test_case("90m" => Ok("2026-03-02T06:30:00Z".to_owned()); "minutes")]
    #[test_case("2w" => Ok("2026-02-16T08:00:00Z".to_owned()); "weeks")]
    #[test_case("4294967295w" => Ok("-009999-01-02T01:59:59Z".to_owned()); "longer ago than there is time")]
    #[test_case("2026-01-01T00:00:00+01:00" => Ok("2025-12-31T23:00:00Z".to_owned()); "moment")]
    #[test_case("yesterday" => Err(()); "words")]
    #[test_case("-1h" => Err(()); "not yet")]
    #[test_case("24" => Err(()); "no unit")]
    #[test_case("é" => Err(()); "neither")]
    #[test_case("" => Err(()); "nothing")]
    fn when(text: &str) -> Result<String, ()> {
        let when: When = text.parse().map_err(|_| ())?;
        Ok(when.resolve("2026-03-02T08:00:00Z".parse().unwrap()).to_string())
    }
}
