//! Bytes, as people write and read them.

use std::fmt;
use std::str::FromStr;

const UNITS: [(&str, u64); 5] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("B", 1)];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected a size such as 500MB or 10GB".to_owned();
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
        let unit = text[digits.len()..].trim();
        let (_, scale) = UNITS
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(unit))
            .ok_or_else(wrong)?;
        let number: f64 = digits.parse().map_err(|_| wrong())?;
        let bytes = number * scale as f64;
        // Beyond that a number is no longer exact, and no disk is as large.
        if !(0.0..=9e15).contains(&bytes) {
            return Err(wrong());
        }
        Ok(Bytes(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) =
            UNITS.into_iter().find(|(_, scale)| self.0 >= *scale).unwrap_or(("B", 1));
        let number = self.0 as f64 / scale as f64;
        let digits = usize::from(number < 10.0 && scale > 1);
        write!(f, "{number:.digits$} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        for (text, bytes) in [("10GB", 10_000_000_000), ("1.5 mb", 1_500_000), ("7 B", 7)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "GB", "10", "10 XB", "-1MB", "NaN GB", "1e300GB"] {
            assert!(text.parse::<Bytes>().is_err(), "{text:?}");
        }
        for (bytes, text) in
            [(0, "0 B"), (999, "999 B"), (1_440_000, "1.4 MB"), (23e9 as u64, "23 GB")]
        {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
