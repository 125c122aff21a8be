//! Decimal digits of floats, laid out as numpy lays them out.

use half::f16;

use crate::scalar::Scalar;

/// What to do with zeros at the end of the fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// Keep them, and pad with more up to the precision: `1.500`.
    Keep,
    /// Drop them, keep the point: `1.`.
    Zeros,
    /// Drop all but one right after the point: `1.0`.
    ButOne,
    /// Drop them and the point: `1`.
    Point,
}

impl Trim {
    /// From numpy's letter: `k`, `.`, `0` or `-`.
    pub fn from_char(letter: char) -> Option<Trim> {
        Some(match letter {
            'k' => Trim::Keep,
            '.' => Trim::Zeros,
            '0' => Trim::ButOne,
            '-' => Trim::Point,
            _ => return None,
        })
    }
}

/// How one float is written. The fields are the arguments of numpy's
/// `format_float_positional` and `format_float_scientific`.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Most digits of the fraction; needed unless `unique`.
    pub precision: Option<usize>,
    /// Fewest digits of the fraction; only with `unique`.
    pub min_digits: usize,
    /// The fewest digits that tell the value from its neighbours, instead of exactly
    /// `precision` digits.
    pub unique: bool,
    pub trim: Trim,
    /// A plus before positive values.
    pub sign: bool,
    /// Characters before the point, made up with blanks.
    pub pad_left: usize,
    /// Characters after the point, made up with blanks; only positional.
    pub pad_right: usize,
    /// Digits of the exponent, at least 2; only scientific.
    pub exp_digits: usize,
    /// Whether `precision` and `min_digits` count from the point, or from the first
    /// digit that is not zero; only positional.
    pub fractional: bool,
}

impl Layout {
    /// The fewest digits, without padding.
    pub const fn unique(trim: Trim) -> Self {
        Layout {
            precision: None,
            min_digits: 0,
            unique: true,
            trim,
            sign: false,
            pad_left: 0,
            pad_right: 0,
            exp_digits: 2,
            fractional: true,
        }
    }

    /// A finite value as `123.45`.
    pub fn positional(&self, value: Float) -> String {
        let shortest = value.shortest();
        let (mut whole, mut fraction) = shortest.split();
        let length = if self.fractional { fraction.len() } else { shortest.digits.len() };
        if let Some(digits) = self.exact_digits(length) {
            (whole, fraction) =
                if self.fractional { value.places(digits) } else { value.rounded(digits).split() };
        }
        let wanted = if self.unique { self.min_digits } else { self.precision.unwrap_or(0) };
        let wanted = if self.fractional { wanted } else { wanted.saturating_sub(whole.len()) };
        let point = self.trimmed(&mut fraction, wanted);

        let mut text = value.sign(self.sign).to_owned();
        text.push_str(&whole);
        let before = self.pad_left.saturating_sub(text.len());
        text.insert_str(0, &" ".repeat(before));
        text.push_str(point);
        text.push_str(&fraction);
        if self.pad_right >= fraction.len() {
            let bare = usize::from(point.is_empty());
            text.push_str(&" ".repeat(self.pad_right - fraction.len() + bare));
        }
        text
    }

    /// A finite value as `1.2345e+02`.
    pub fn scientific(&self, value: Float) -> String {
        let mut digits = value.shortest();
        if let Some(fraction) = self.exact_digits(digits.digits.len() - 1) {
            digits = value.rounded(fraction + 1);
        }
        let mut fraction = digits.digits[1..].to_owned();
        let wanted = if self.unique { self.min_digits } else { self.precision.unwrap_or(0) };
        let point = self.trimmed(&mut fraction, wanted);

        let sign = value.sign(self.sign);
        let before = " ".repeat(self.pad_left.saturating_sub(1 + sign.len()));
        let exp_sign = if digits.exponent < 0 { '-' } else { '+' };
        let width = self.exp_digits.clamp(2, 5);
        format!(
            "{before}{sign}{}{point}{fraction}e{exp_sign}{:0width$}",
            &digits.digits[..1],
            digits.exponent.abs(),
        )
    }

    /// How many digits to take of the exact value, when the shortest form has `length`
    /// and that is too many or too few.
    fn exact_digits(&self, length: usize) -> Option<usize> {
        if !self.unique {
            return Some(self.precision.unwrap_or(0));
        }
        self.precision
            .filter(|&most| length > most)
            .or(Some(self.min_digits).filter(|&fewest| length < fewest))
    }

    /// Trims or fills the fraction, and gives the point, or nothing in its place.
    fn trimmed(&self, fraction: &mut String, wanted: usize) -> &'static str {
        if self.trim == Trim::Keep {
            while fraction.len() < wanted {
                fraction.push('0');
            }
            return ".";
        }
        fraction.truncate(fraction.trim_end_matches('0').len());
        match self.trim {
            Trim::ButOne if fraction.is_empty() => fraction.push('0'),
            Trim::Point if fraction.is_empty() => return "",
            _ => {}
        }
        "."
    }
}

/// A finite float of any width.
#[derive(Clone, Copy, Debug)]
pub enum Float {
    Half(f16),
    Single(f32),
    Double(f64),
}

impl Float {
    /// The value of a float scalar; of an integer as `float64`.
    pub fn of(scalar: Scalar) -> Float {
        match scalar {
            Scalar::F16(value) => Float::Half(value),
            Scalar::F32(value) => Float::Single(value),
            other => Float::Double(other.to_f64()),
        }
    }

    /// As a double, exactly.
    pub fn to_f64(self) -> f64 {
        match self {
            Float::Half(value) => value.to_f64(),
            Float::Single(value) => value.into(),
            Float::Double(value) => value,
        }
    }

    fn sign(self, plus: bool) -> &'static str {
        match (self.to_f64().is_sign_negative(), plus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        }
    }

    /// The fewest digits that read back as the same value; of two equally near, the even.
    fn shortest(self) -> Digits {
        match self {
            Float::Double(value) => Digits::read(&format!("{:e}", value.abs()))
                .or_even(self, |text| text.parse() == Ok(value.abs())),
            Float::Single(value) => Digits::read(&format!("{:e}", value.abs()))
                .or_even(self, |text| text.parse() == Ok(value.abs())),
            Float::Half(value) => {
                let wide = value.to_f64().abs();
                let same = |text: &String| {
                    text.parse::<f64>().is_ok_and(|read| f16::from_f64(read).to_f64() == wide)
                };
                // Above a power of two there is twice the room below: a tie may have to go up.
                let up = wide * (1.0 + 1e-9);
                let text = (0..4)
                    .flat_map(|digits| [wide, up].map(|value| format!("{value:.digits$e}")))
                    .find(same);
                Digits::read(&text.unwrap_or_else(|| format!("{wide:.4e}")))
            }
        }
    }

    /// `count` digits, at least one, the last rounded from the exact value, half to even.
    fn rounded(self, count: usize) -> Digits {
        Digits::read(&format!("{:.*e}", count.max(1) - 1, self.to_f64().abs()))
    }

    /// Whole part and a fraction of `places` digits, rounded likewise.
    fn places(self, places: usize) -> (String, String) {
        let text = format!("{:.places$}", self.to_f64().abs());
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        (whole.to_owned(), fraction.to_owned())
    }
}

/// Digits with a point after the first, times a power of ten.
struct Digits {
    digits: String,
    exponent: i32,
}

impl Digits {
    /// From Rust's `{:e}`.
    fn read(text: &str) -> Digits {
        let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
        Digits { digits: digits.replace('.', ""), exponent: exponent.parse().unwrap_or(0) }
    }

    /// The exact value of `of` rounded half to even to as many digits, if that is the
    /// same value too. Rust's shortest digits round a tie up.
    fn or_even(self, of: Float, same: impl Fn(&str) -> bool) -> Digits {
        let text = format!("{:.*e}", self.digits.len() - 1, of.to_f64().abs());
        let even = Digits::read(&text);
        if even.digits != self.digits && same(&text) { even } else { self }
    }

    /// Whole part and fraction.
    fn split(&self) -> (String, String) {
        match usize::try_from(self.exponent) {
            Ok(exponent) => {
                let point = exponent + 1;
                let mut whole = self.digits.clone();
                let fraction = whole.split_off(point.min(whole.len()));
                whole.push_str(&"0".repeat(point - whole.len()));
                (whole, fraction)
            }
            Err(_) => {
                let zeros = "0".repeat(self.exponent.unsigned_abs() as usize - 1);
                ("0".to_owned(), zeros + &self.digits)
            }
        }
    }
}
