//! Quantities, which are the same if they are the same number: `1Gi` and `1024Mi`.

use crate::json::Json;

const DECIMAL: &[(&str, u32)] = &[
    ("n", 0),
    ("u", 3),
    ("m", 6),
    ("", 9),
    ("k", 12),
    ("M", 15),
    ("G", 18),
    ("T", 21),
    ("P", 24),
    ("E", 27),
];
const BINARY: &[&str] = &["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// What cannot be read exactly has to be written the same.
pub(super) fn is_same(old: Option<&Json<'_>>, new: Option<&Json<'_>>) -> bool {
    let number = |value: Option<&Json<'_>>| match value? {
        Json::Number(number) => nano(&number.to_string()),
        value => nano(value.as_str()?),
    };
    old == new || number(old).is_some() && number(old) == number(new)
}

/// In billionths, which is as fine as quantities are; nothing if it is no quantity, or too large to tell.
fn nano(text: &str) -> Option<i128> {
    let suffix = text
        .find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.'))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(suffix)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let digits = whole.strip_prefix(['+', '-']).unwrap_or(whole);
    if !is_number(digits) || !is_number(fraction) || digits.len() + fraction.len() == 0 {
        return None;
    }
    let value: i128 = format!("{whole}{fraction}").parse().ok()?;
    let places = u32::try_from(fraction.len()).ok()?;
    if let Some(power) = BINARY.iter().position(|name| *name == suffix) {
        let factor = 1024_i128.checked_pow(u32::try_from(power + 1).ok()?)?;
        return shift(value.checked_mul(factor)?, 9_i64 - i64::from(places));
    }
    let exponent = match DECIMAL.iter().find(|(name, _)| *name == suffix) {
        Some((_, exponent)) => i64::from(*exponent),
        None => suffix.strip_prefix(['e', 'E'])?.parse::<i32>().map(i64::from).ok()? + 9,
    };
    shift(value, exponent - i64::from(places))
}

/// By so many decimal places, if nothing is lost.
fn shift(value: i128, places: i64) -> Option<i128> {
    let factor = 10_i128.checked_pow(u32::try_from(places.unsigned_abs()).ok()?)?;
    if places >= 0 {
        value.checked_mul(factor)
    } else {
        (value % factor == 0).then_some(value / factor)
    }
}

#[cfg(test)]
mod tests {
    use test_case::test_case;

    use super::*;

    #[test_case("1" => Some(1_000_000_000); "plain")]
    #[test_case("+1." => Some(1_000_000_000); "sign and point")]
    #[test_case("-0.5Ki" => Some(-512_000_000_000); "fraction of a power of two")]
    #[test_case("1500m" => Some(1_500_000_000); "thousandths")]
    #[test_case("1e3" => Some(1_000_000_000_000); "exponent")]
    #[test_case("1E" => Some(10_i128.pow(27)); "no exponent")]
    #[test_case("10e-1" => Some(1_000_000_000); "negative exponent")]
    #[test_case("1.0000000001" => None; "too fine")]
    #[test_case("1e99" => None; "too large")]
    #[test_case("1e99999999999" => None; "much too large")]
    #[test_case("" => None; "empty")]
    #[test_case("." => None; "no digits")]
    #[test_case("1-1" => None; "sign inside")]
    #[test_case("1 Gi" => None; "blank")]
    #[test_case("1ki" => None; "no such suffix")]
    fn billionths(text: &str) -> Option<i128> {
        nano(text)
    }
}
