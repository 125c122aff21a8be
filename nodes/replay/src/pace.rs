use std::str::FromStr;

/// How fast a recording is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// By its own clock, so many times as fast.
    Times(f64),
    /// One control step for each action that comes.
    Stepwise,
}

impl Pace {
    pub const WORDS: &str = "a number from 0.01 to 10000, or step";
    /// An action must not wait longer for its control step than a controller does.
    const TIMES: std::ops::RangeInclusive<f64> = 0.01..=1e4;
}

impl Default for Pace {
    fn default() -> Self {
        Pace::Times(1.0)
    }
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "step" {
            return Ok(Pace::Stepwise);
        }
        let times = text.parse().ok().filter(|times| Self::TIMES.contains(times));
        times.map(Pace::Times).ok_or_else(|| format!("expected {}", Self::WORDS))
    }
}

impl std::fmt::Display for Pace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Pace::Times(times) => write!(f, "{times}"),
            Pace::Stepwise => f.write_str("step"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_a_factor_or_a_word() {
        for (text, pace) in
            [("1", Pace::Times(1.0)), ("0.25", Pace::Times(0.25)), ("step", Pace::Stepwise)]
        {
            assert_eq!(text.parse(), Ok(pace));
            assert_eq!(pace.to_string(), text);
        }
        for bad in ["0", "0.001", "-1", "NaN", "inf", "fast", ""] {
            assert!(bad.parse::<Pace>().is_err(), "{bad}");
        }
    }
}
