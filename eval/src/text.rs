//! Numbers as people read them.

use crate::stats::Estimate;

/// Stands for a number that is not known.
const NONE: &str = "–";

/// A number as [`short`] writes it, a dash for none.
pub fn number(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), short)
}

/// A share of one, in percent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A share and the interval it lies in, in percent; dashes for none.
pub fn share(estimate: Option<Estimate>) -> [String; 2] {
    match estimate {
        Some(e) => [percent(e.value), format!("{} – {}", percent(e.low), percent(e.high))],
        None => [NONE.to_owned(), NONE.to_owned()],
    }
}

/// The interval that a number lies in.
pub fn interval(estimate: Estimate) -> String {
    format!("{} … {}", short(estimate.low), short(estimate.high))
}

/// Three digits that matter, thousands apart.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 {
        let digits = format!("{:.0}", size);
        let mut text = String::new();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        return if value < 0.0 { format!("-{text}") } else { text };
    }
    let places = if size >= 100.0 || value == 0.0 {
        0
    } else if size >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.735, "0.73"),
            (12.34, "12.3"),
            (276_000.4, "276,000"),
            (-1234.0, "-1,234"),
            (100.0, "100"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn intervals_stand_beside_their_numbers() {
        let half = Estimate { value: 0.5, low: 0.25, high: 0.755 };
        assert_eq!(share(Some(half)), ["50.0 %", "25.0 % – 75.5 %"]);
        assert_eq!(share(None), ["–", "–"]);
        assert_eq!(interval(Estimate { value: 1.0, low: -2.0, high: 1500.0 }), "-2.00 … 1,500");
    }
}
