//! How one element of an array is written, decided from all that are shown.

use super::digits::{Float, Layout, Trim};
use super::options::{FloatMode, Options, Sign};
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::Scalar;

/// The common format of an array's elements.
pub(super) enum Format {
    Bool { width: usize },
    Int { width: usize, sign: Sign },
    Float(FloatFormat),
    Custom(super::options::Format),
}

impl Format {
    /// For the elements `shown` of an array of `dtype` and `ndim` dimensions.
    pub fn new(dtype: DType, ndim: usize, shown: &[Scalar], options: &Options) -> Format {
        let formatter = &options.formatter;
        let custom = match dtype {
            DType::Bool => &formatter.bool,
            dtype if dtype.is_float() => &formatter.float,
            _ => &formatter.int,
        };
        if let Some(custom) = custom {
            return Format::Custom(custom.clone());
        }
        match dtype {
            // A blank before True makes it as long as False.
            DType::Bool => Format::Bool { width: if ndim == 0 { 0 } else { 5 } },
            dtype if dtype.is_float() => Format::Float(FloatFormat::new(dtype, shown, options)),
            _ => Self::int(shown, options.sign),
        }
    }

    fn int(shown: &[Scalar], mut sign: Sign) -> Format {
        let values = || shown.iter().map(|value| value.to_i64());
        let (min, max) = (values().min().unwrap_or(0), values().max().unwrap_or(0));
        if sign == Sign::Blank && min < 0 {
            sign = Sign::Minus;
        }
        let signed = usize::from(max >= 0 && sign != Sign::Minus);
        let width = (max.to_string().len() + signed).max(min.to_string().len());
        Format::Int { width, sign }
    }

    pub fn write(&self, value: Scalar) -> Result<String> {
        Ok(match self {
            Format::Custom(format) => return format(value),
            Format::Float(format) => format.write(value),
            &Format::Bool { width } => {
                let text = if value.to_bool() { "True" } else { "False" };
                format!("{text:>width$}")
            }
            &Format::Int { width, sign } => {
                let value = value.to_i64();
                let text = match sign {
                    Sign::Plus => format!("{value:+}"),
                    Sign::Blank if value >= 0 => format!(" {value}"),
                    _ => value.to_string(),
                };
                format!("{text:>width$}")
            }
        })
    }
}

/// The common format of floats: notation, digits and width.
pub(super) struct FloatFormat {
    layout: Layout,
    scientific: bool,
    nan: String,
    inf: String,
}

impl FloatFormat {
    fn new(dtype: DType, shown: &[Scalar], options: &Options) -> FloatFormat {
        let finite: Vec<Float> =
            shown.iter().filter(|v| v.to_f64().is_finite()).map(|&v| Float::of(v)).collect();
        let scientific = needs_exponent(dtype, &finite, options.suppress);

        let fixed = options.floatmode == FloatMode::Fixed;
        let first = Layout {
            precision: (options.floatmode != FloatMode::Unique).then_some(options.precision),
            unique: !fixed,
            sign: options.sign == Sign::Plus,
            ..Layout::unique(if fixed { Trim::Keep } else { Trim::Zeros })
        };
        let mut layout = first;
        if finite.is_empty() {
            layout.unique = true;
            layout.trim = Trim::Zeros;
        } else if scientific {
            let (mut left, mut fraction, mut exponent) = (0, 0, 0);
            for &value in &finite {
                let text = first.scientific(value);
                let (mantissa, power) = text.split_once('e').unwrap_or((&text, ""));
                let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
                left = left.max(whole.len());
                fraction = fraction.max(part.len());
                exponent = exponent.max(power.len() - 1);
            }
            layout.trim = Trim::Keep;
            layout.precision = Some(fraction);
            layout.min_digits = fraction;
            layout.exp_digits = exponent;
            layout.pad_left = left;
            layout.pad_right = exponent + 2 + fraction;
        } else {
            for &value in &finite {
                let text = first.positional(value);
                let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
                layout.pad_left = layout.pad_left.max(whole.len());
                layout.pad_right = layout.pad_right.max(part.len());
            }
            if matches!(options.floatmode, FloatMode::Fixed | FloatMode::MaxPrecEqual) {
                layout.trim = Trim::Keep;
                layout.precision = Some(layout.pad_right);
                layout.min_digits = layout.pad_right;
            } else {
                layout.trim = Trim::Zeros;
            }
        }
        let negative = |value: f64| value.is_sign_negative();
        if options.sign == Sign::Blank && !finite.iter().any(|v| negative(v.to_f64())) {
            layout.pad_left += 1;
        }
        if finite.len() != shown.len() {
            let signed = options.sign != Sign::Minus
                || shown.iter().any(|value| value.to_f64() == f64::NEG_INFINITY);
            let widest = options
                .nanstr
                .chars()
                .count()
                .max(options.infstr.chars().count() + usize::from(signed));
            layout.pad_left = layout.pad_left.max(widest.saturating_sub(layout.pad_right + 1));
        }
        FloatFormat { layout, scientific, nan: options.nanstr.clone(), inf: options.infstr.clone() }
    }

    fn write(&self, value: Scalar) -> String {
        let number = value.to_f64();
        if number.is_finite() {
            let value = Float::of(value);
            return if self.scientific {
                self.layout.scientific(value)
            } else {
                self.layout.positional(value)
            };
        }
        let sign = match (number == f64::NEG_INFINITY, self.layout.sign) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        let text = format!("{sign}{}", if number.is_nan() { &self.nan } else { &self.inf });
        let width = self.layout.pad_left + self.layout.pad_right + 1;
        format!("{text:>width$}")
    }
}

/// Whether the values are too far apart, too large or too small for plain notation.
/// numpy compares in the array's own type.
fn needs_exponent(dtype: DType, finite: &[Float], suppress: bool) -> bool {
    let sizes = || finite.iter().map(|value| value.to_f64().abs()).filter(|&size| size != 0.0);
    let max = sizes().fold(0.0, f64::max);
    let min = sizes().fold(f64::INFINITY, f64::min);
    if max == 0.0 {
        return false;
    }
    let rounded = |value: f64| Scalar::F64(value).cast(dtype).to_f64();
    let most = match dtype {
        DType::F16 => 1e3,
        DType::F32 => 1e6,
        _ => 1e8,
    };
    max >= most || !suppress && (min < rounded(0.0001) || rounded(max / min) > 1000.0)
}
