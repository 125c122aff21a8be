//! Arrays and scalars as text, exactly as numpy 2 prints them.

mod digits;
mod element;
mod options;
#[cfg(test)]
mod tests;

use element::Format;

pub use digits::{Float, Layout, Trim};
pub use options::{FloatMode, Formatter, Options, Sign, options, set_options};

/// A caller's own way to write an element.
pub use options::Format as ElementFormat;

use crate::array::{Array, shape_text};
use crate::dtype::DType;
use crate::error::Result;
use crate::scalar::Scalar;

/// `str(array)`: nested brackets, or for a zero-dimensional array its element.
///
/// # Errors
/// What an own format of [`Options::formatter`] returns.
pub fn array_str(array: &Array, options: &Options) -> Result<String> {
    if array.ndim() == 0 {
        return Ok(scalar_str(array.get(&[])));
    }
    array2string(array, options, " ", "", "")
}

/// `repr(array)`: `array([1., 2.], dtype=float32)`.
///
/// # Errors
/// As [`array_str`].
pub fn array_repr(array: &Array, options: &Options) -> Result<String> {
    const PREFIX: &str = "array(";
    let text = array2string(array, options, ", ", PREFIX, ")")?;
    let mut extras = Vec::new();
    if array.is_empty() && array.shape() != [0] || array.size() > options.threshold {
        extras.push(format!("shape={}", shape_text(array.shape())));
    }
    let implied = matches!(array.dtype(), DType::Bool | DType::I64 | DType::F64);
    if !implied || array.is_empty() {
        extras.push(format!("dtype={}", array.dtype()));
    }
    if extras.is_empty() {
        return Ok(format!("{PREFIX}{text})"));
    }
    let text = format!("{PREFIX}{text},");
    let extras = extras.join(", ") + ")";
    let last_line = text.rsplit('\n').next().map_or(0, width);
    let fits = last_line + extras.len() < options.linewidth;
    let spacer = if fits { " ".to_owned() } else { format!("\n{}", " ".repeat(PREFIX.len())) };
    Ok(text + &spacer + &extras)
}

/// `np.array2string`: the array between a `prefix` and a `suffix` which are not part of
/// the text, but for which room is left.
///
/// # Errors
/// As [`array_str`].
pub fn array2string(
    array: &Array,
    options: &Options,
    separator: &str,
    prefix: &str,
    suffix: &str,
) -> Result<String> {
    if array.is_empty() {
        return Ok("[]".to_owned());
    }
    let edge = (array.size() > options.threshold).then_some(options.edgeitems);
    let mut shown = Vec::new();
    collect(array, edge, &mut shown);
    let writer = Writer {
        format: Format::new(array.dtype(), array.ndim(), &shown, options),
        separator,
        edge,
    };
    let indent = " ".repeat(1 + width(prefix));
    writer.write(array, &indent, options.linewidth.saturating_sub(width(suffix)) as isize)
}

/// `str` of a scalar, as Python prints a number: `1.5`, `1e-07`, `True`.
pub fn scalar_str(value: Scalar) -> String {
    let most = match value {
        Scalar::Bool(true) => return "True".to_owned(),
        Scalar::Bool(false) => return "False".to_owned(),
        Scalar::F16(_) => 1e3,
        Scalar::F32(_) => 1e6,
        Scalar::F64(_) => 1e16,
        _ => return value.to_i64().to_string(),
    };
    let number = value.to_f64();
    let size = number.abs();
    if number.is_nan() {
        "nan".to_owned()
    } else if size == f64::INFINITY {
        if number < 0.0 { "-inf" } else { "inf" }.to_owned()
    } else if size == 0.0 || (1e-4..most).contains(&size) {
        Layout::unique(Trim::ButOne).positional(Float::of(value))
    } else {
        Layout::unique(Trim::Point).scientific(Float::of(value))
    }
}

/// `repr` of a scalar: `np.float64(1.5)`.
pub fn scalar_repr(value: Scalar) -> String {
    match value {
        Scalar::Bool(value) => format!("np.{}_", if value { "True" } else { "False" }),
        _ => format!("np.{}({})", value.dtype(), scalar_str(value)),
    }
}

/// The elements that will be shown: all, or only the corners.
fn collect(array: &Array, edge: Option<usize>, shown: &mut Vec<Scalar>) {
    let Some(&n) = array.shape().first() else {
        shown.push(array.get(&[]));
        return;
    };
    for i in visible(n, edge).0.chain(visible(n, edge).1) {
        collect(&array.index_axis(0, i), edge, shown);
    }
}

/// Indices before and after the dots of a dimension; all are after when there are none.
fn visible(n: usize, edge: Option<usize>) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
    match edge {
        Some(edge) if 2 * edge < n => (0..edge, n - edge..n),
        _ => (0..0, 0..n),
    }
}

/// Characters of a text.
fn width(text: &str) -> usize {
    text.chars().count()
}

struct Writer<'a> {
    format: Format,
    separator: &'a str,
    /// Elements at each end, when the array is summarised.
    edge: Option<usize>,
}

impl Writer<'_> {
    /// The array in brackets; lines after the first begin with `indent`.
    fn write(&self, array: &Array, indent: &str, columns: isize) -> Result<String> {
        let Some(&n) = array.shape().first() else {
            return self.format.write(array.get(&[]));
        };
        let (before, after) = visible(n, self.edge);
        let dots = self.edge.is_some_and(|edge| 2 * edge < n);
        let inner = format!("{indent} ");
        let item = |i: usize| self.write(&array.index_axis(0, i), &inner, columns - 1);

        if array.ndim() > 1 {
            let between = self.separator.trim_end().to_owned() + &"\n".repeat(array.ndim() - 1);
            let mut rows = Vec::new();
            for i in before {
                rows.push(item(i)?);
            }
            if dots {
                rows.push("...".to_owned());
            }
            for i in after {
                rows.push(item(i)?);
            }
            return Ok(format!("[{}]", rows.join(&format!("{between}{indent}"))));
        }

        let closing = width(self.separator.trim_end()).max(1) as isize;
        let mut lines = Lines::new(indent, columns - closing);
        for i in before {
            lines.word(&item(i)?);
            lines.line.push_str(self.separator);
        }
        if dots {
            // With no edge items the dots stand alone before nothing.
            lines.word("...");
            lines.line.push_str(self.separator);
        }
        let last = after.end;
        for i in after {
            lines.word(&item(i)?);
            if i + 1 < last {
                lines.line.push_str(self.separator);
            }
        }
        Ok(format!("[{}]", &lines.finish()[indent.len()..]))
    }
}

/// Words in lines of limited width.
struct Lines<'a> {
    done: String,
    line: String,
    indent: &'a str,
    columns: isize,
}

impl<'a> Lines<'a> {
    fn new(indent: &'a str, columns: isize) -> Self {
        Lines { done: String::new(), line: indent.to_owned(), indent, columns }
    }

    /// Adds a word, on a new line if it does not fit and a new line would help. A word
    /// of several lines, from an own format, keeps its block shape.
    fn word(&mut self, word: &str) {
        let parts: Vec<&str> = word.lines().collect();
        let widest = parts.iter().map(|part| width(part)).max().unwrap_or(0);
        let at = width(&self.line);
        let mut indent = " ".repeat(at);
        if (at + widest) as isize > self.columns && at > self.indent.len() {
            self.wrap();
            indent = self.indent.to_owned();
            self.line.clone_from(&indent);
        }
        let Some((first, rest)) = parts.split_first() else { return };
        self.line.push_str(first);
        for part in rest {
            self.wrap();
            self.line = format!("{indent}{part}");
        }
        if let Some(last) = rest.last() {
            self.line.push_str(&" ".repeat(widest - width(last)));
        }
    }

    fn wrap(&mut self) {
        self.done.push_str(self.line.trim_end());
        self.done.push('\n');
    }

    fn finish(self) -> String {
        self.done + &self.line
    }
}
