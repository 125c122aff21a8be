//! What can go wrong, one variant for each Python exception class that numpy raises.

use thiserror::Error;

/// A failed array operation. The text is what numpy says for the same mistake.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    /// `ValueError`.
    #[error("{0}")]
    Value(String),
    /// `TypeError`.
    #[error("{0}")]
    Type(String),
    /// `IndexError`.
    #[error("{0}")]
    Index(String),
    /// `numpy.exceptions.AxisError`, which is both a `ValueError` and an `IndexError`.
    #[error("axis {axis} is out of bounds for array of dimension {ndim}")]
    Axis {
        /// The axis as it was given.
        axis: i64,
        /// Dimensions of the array it was given for.
        ndim: usize,
    },
    /// `OverflowError`.
    #[error("{0}")]
    Overflow(String),
    /// `ZeroDivisionError`.
    #[error("{0}")]
    ZeroDivision(String),
    /// `MemoryError`: the allocation limit, or the allocator itself, said no.
    #[error("{0}")]
    Memory(String),
    /// `numpy.linalg.LinAlgError`.
    #[error("{0}")]
    LinAlg(String),
    /// `NotImplementedError`: numpy can do this, this engine cannot.
    #[error("{0}")]
    NotImplemented(String),
    /// The host asked a long loop to stop, see [`crate::interrupt`].
    #[error("interrupted")]
    Interrupted,
    /// The host turned a warning into an exception and holds it, see [`crate::warn`].
    #[error("a warning was turned into an error: {0}")]
    Warning(String),
}

/// What every fallible operation of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// `Err(Error::Value(format!(..)))`, and the same for the other text variants.
macro_rules! bail {
    ($kind:ident, $($text:tt)*) => {
        return Err($crate::Error::$kind(format!($($text)*)))
    };
}
pub(crate) use bail;
