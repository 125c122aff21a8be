//! What `np.set_printoptions` sets.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::{Error, Result, bail};
use crate::scalar::Scalar;

/// numpy's print options.
#[derive(Clone)]
pub struct Options {
    /// Most digits of a fraction, 8.
    pub precision: usize,
    /// Size above which arrays are summarised, 1000.
    pub threshold: usize,
    /// Elements shown at each end of a summarised dimension, 3.
    pub edgeitems: usize,
    /// Characters of a line, 75.
    pub linewidth: usize,
    /// Never switch to scientific notation for small values.
    pub suppress: bool,
    pub nanstr: String,
    pub infstr: String,
    pub sign: Sign,
    pub floatmode: FloatMode,
    pub formatter: Formatter,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            precision: 8,
            threshold: 1000,
            edgeitems: 3,
            linewidth: 75,
            suppress: false,
            nanstr: "nan".to_owned(),
            infstr: "inf".to_owned(),
            sign: Sign::Minus,
            floatmode: FloatMode::MaxPrec,
            formatter: Formatter::default(),
        }
    }
}

/// How the sign of floats is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `-`: only minus.
    Minus,
    /// `+`: always a sign.
    Plus,
    /// Blank: minus, or a blank in its place.
    Blank,
}

impl Sign {
    /// numpy's letter for it.
    pub fn name(self) -> &'static str {
        match self {
            Sign::Minus => "-",
            Sign::Plus => "+",
            Sign::Blank => " ",
        }
    }

    /// # Errors
    /// [`Error::Value`] for another letter.
    pub fn from_name(name: &str) -> Result<Sign> {
        match name {
            "-" => Ok(Sign::Minus),
            "+" => Ok(Sign::Plus),
            " " => Ok(Sign::Blank),
            _ => bail!(Value, "sign option must be one of ' ', '+', or '-'"),
        }
    }
}

/// How the digits of an array's floats are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatMode {
    /// Exactly `precision` digits.
    Fixed,
    /// As many as tell each value from its neighbours.
    Unique,
    /// As `Unique`, but at most `precision`.
    MaxPrec,
    /// As `MaxPrec`, with the same number for all.
    MaxPrecEqual,
}

impl FloatMode {
    const NAMES: [(FloatMode, &str); 4] = [
        (FloatMode::Fixed, "fixed"),
        (FloatMode::Unique, "unique"),
        (FloatMode::MaxPrec, "maxprec"),
        (FloatMode::MaxPrecEqual, "maxprec_equal"),
    ];

    /// numpy's name for it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(mode, _)| *mode == self).map_or("", |(_, name)| name)
    }

    /// # Errors
    /// [`Error::Value`] for another name.
    pub fn from_name(name: &str) -> Result<FloatMode> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(mode, _)| *mode).ok_or_else(
            || {
                Error::Value(
                    "floatmode option must be one of \
                     \"fixed\", \"unique\", \"maxprec\", \"maxprec_equal\""
                        .to_owned(),
                )
            },
        )
    }
}

/// Turns an element into text in place of the built-in way.
pub type Format = Rc<dyn Fn(Scalar) -> Result<String>>;

/// A caller's own formats, by kind of element.
#[derive(Clone, Default)]
pub struct Formatter {
    pub bool: Option<Format>,
    pub int: Option<Format>,
    pub float: Option<Format>,
}

thread_local! {
    static OPTIONS: RefCell<Options> = RefCell::new(Options::default());
}

/// The options in force on this thread.
pub fn options() -> Options {
    OPTIONS.with_borrow(Options::clone)
}

/// Puts other options in force, and gives the old ones back.
pub fn set_options(options: Options) -> Options {
    OPTIONS.replace(options)
}
