//! Element types: their names and sizes, and the trait that kernels are generic over.

use std::fmt;

use half::f16;

use crate::scalar::Scalar;

/// The type of an array's elements.
///
/// The order of the variants is the order of `can_cast`: a later float holds every value
/// of an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// `bool`, one byte, 0 or 1.
    Bool,
    /// `uint8`.
    U8,
    /// `int32`.
    I32,
    /// `int64`, the type of Python integers.
    I64,
    /// `float16`.
    F16,
    /// `float32`.
    F32,
    /// `float64`, the type of Python floats.
    F64,
}

impl DType {
    /// All of them, smallest kind first.
    pub const ALL: [DType; 7] =
        [DType::Bool, DType::U8, DType::I32, DType::I64, DType::F16, DType::F32, DType::F64];

    /// The name that numpy prints, `"float64"`.
    pub fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "uint8",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::F16 => "float16",
            DType::F32 => "float32",
            DType::F64 => "float64",
        }
    }

    /// Reads a name as `numpy.dtype(..)` does: `"float64"`, `"f8"`, `"<f8"`, `"d"`, `"double"`.
    pub fn from_name(name: &str) -> Option<DType> {
        let bare = name.strip_prefix(['<', '=', '|']).unwrap_or(name);
        Some(match bare {
            "bool" | "bool_" | "?" | "b1" => DType::Bool,
            "uint8" | "u1" | "B" | "ubyte" => DType::U8,
            "int32" | "i4" | "i" | "intc" => DType::I32,
            "int64" | "i8" | "int" | "int_" | "l" | "q" | "p" | "n" | "long" | "longlong"
            | "intp" => DType::I64,
            "float16" | "f2" | "e" | "half" => DType::F16,
            "float32" | "f4" | "f" | "single" => DType::F32,
            "float64" | "f8" | "float" | "d" | "double" => DType::F64,
            _ => return None,
        })
    }

    /// Bytes of one element.
    pub const fn itemsize(self) -> usize {
        match self {
            DType::Bool | DType::U8 => 1,
            DType::F16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 => 8,
        }
    }

    /// numpy's one-letter kind: `b`, `u`, `i` or `f`.
    pub fn kind(self) -> char {
        match self {
            DType::Bool => 'b',
            DType::U8 => 'u',
            DType::I32 | DType::I64 => 'i',
            DType::F16 | DType::F32 | DType::F64 => 'f',
        }
    }

    /// numpy's type character: `?`, `B`, `i`, `l`, `e`, `f` or `d`.
    pub fn char(self) -> char {
        match self {
            DType::Bool => '?',
            DType::U8 => 'B',
            DType::I32 => 'i',
            DType::I64 => 'l',
            DType::F16 => 'e',
            DType::F32 => 'f',
            DType::F64 => 'd',
        }
    }

    /// `float16`, `float32` or `float64`.
    pub fn is_float(self) -> bool {
        self >= DType::F16
    }

    /// `uint8`, `int32` or `int64` (`bool` is no integer).
    pub fn is_integer(self) -> bool {
        matches!(self, DType::U8 | DType::I32 | DType::I64)
    }

    /// Smallest and largest value of an integer type; `None` for others.
    pub fn integer_range(self) -> Option<(i64, i64)> {
        match self {
            DType::U8 => Some((0, u8::MAX.into())),
            DType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            DType::I64 => Some((i64::MIN, i64::MAX)),
            _ => None,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that arrays hold. Conversions are those of C, as in `numpy.astype`:
/// integers wrap, floats are truncated, out of range becomes the smallest integer.
pub trait Element:
    sealed::Sealed + Copy + PartialEq + PartialOrd + fmt::Debug + Default + 'static
{
    /// Its dtype.
    const DTYPE: DType;
    /// Zero, or `false`.
    const ZERO: Self;
    /// One, or `true`.
    const ONE: Self;

    /// Converts from a float.
    fn from_f64(value: f64) -> Self;
    /// Converts from an integer.
    fn from_i64(value: i64) -> Self;
    /// Converts to a float.
    fn to_f64(self) -> f64;
    /// Converts to an integer.
    fn to_i64(self) -> i64;
    /// Converts to an integer of half the size.
    fn to_i32(self) -> i32;
    /// Wraps the element with its type.
    fn scalar(self) -> Scalar;
    /// Whether it is a NaN; never for integers.
    fn is_nan(self) -> bool;
    /// Whether it is neither NaN nor infinite; always for integers.
    fn is_finite(self) -> bool;

    /// Converts to any other element type.
    #[inline(always)]
    fn cast<T: Element>(self) -> T {
        match (Self::DTYPE, T::DTYPE) {
            (DType::F16 | DType::F32 | DType::F64, DType::U8 | DType::I32) => {
                T::from_i64(self.to_i32().into())
            }
            (DType::F16 | DType::F32 | DType::F64, _) => T::from_f64(self.to_f64()),
            _ => T::from_i64(self.to_i64()),
        }
    }
}

/// C's conversion on x86-64: NaN and what does not fit give the smallest integer.
#[inline(always)]
fn float_to_i64(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

/// The same for `int32`, in either float type. Without a branch, so that loops over it become
/// vector code: what does not fit is converted as zero and then replaced.
macro_rules! float_to_i32 {
    ($value:expr, $type:ty, $low:expr) => {{
        let value: $type = $value;
        let fits = value > $low && value < 2_147_483_648.0;
        // SAFETY: the number is finite and its whole part is an `i32`.
        let whole = unsafe { (if fits { value } else { 0.0 }).to_int_unchecked::<i32>() };
        if fits { whole } else { i32::MIN }
    }};
}

/// Rounds once. `f16::from_f64` goes through `f32` where the processor converts halves, and
/// may then round a tie that was none; an odd last bit in between keeps ties apart.
#[inline(always)]
fn half_from_f64(value: f64) -> f16 {
    let near = value as f32;
    let back = f64::from(near);
    if back == value || !value.is_finite() || near.is_infinite() {
        return f16::from_f32(near);
    }
    let towards_zero = near.to_bits() - u32::from(back.abs() > value.abs());
    f16::from_f32(f32::from_bits(towards_zero | 1))
}

macro_rules! integer_element {
    ($($type:ty, $variant:ident, $from_f64:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$variant;
            const ZERO: Self = 0;
            const ONE: Self = 1;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $from_f64(value)
            }
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn to_i32(self) -> i32 {
                self as i32
            }
            fn scalar(self) -> Scalar {
                Scalar::$variant(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                true
            }
        }
    )*};
}

integer_element! {
    u8, U8, |value: f64| value.to_i32() as u8;
    i32, I32, |value: f64| value.to_i32();
    i64, I64, float_to_i64;
}

macro_rules! float_element {
    ($($type:ty, $variant:ident, $zero:expr, $one:expr, $from:expr, $from_i64:expr, $into:expr, $to_i32:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            const DTYPE: DType = DType::$variant;
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                $from(value)
            }
            #[inline(always)]
            fn from_i64(value: i64) -> Self {
                $from_i64(value)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                $into(self)
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                float_to_i64($into(self))
            }
            #[inline(always)]
            fn to_i32(self) -> i32 {
                $to_i32(self)
            }
            fn scalar(self) -> Scalar {
                Scalar::$variant(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
        }
    )*};
}

float_element! {
    f16, F16, f16::ZERO, f16::ONE, half_from_f64, |value| f16::from_f32(value as f32), f16::to_f64,
        |value: f16| value.to_f32().to_i32();
    f32, F32, 0.0, 1.0, |value| value as f32, |value| value as f32, f64::from,
        // The float below -2^31 is the first that does not fit.
        |value| float_to_i32!(value, f32, -2_147_483_904.0);
    f64, F64, 0.0, 1.0, std::convert::identity, |value| value as f64, std::convert::identity,
        |value| float_to_i32!(value, f64, -2_147_483_649.0);
}

impl sealed::Sealed for bool {}
impl Element for bool {
    const DTYPE: DType = DType::Bool;
    const ZERO: Self = false;
    const ONE: Self = true;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value != 0.0
    }
    #[inline(always)]
    fn from_i64(value: i64) -> Self {
        value != 0
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
    #[inline(always)]
    fn to_i64(self) -> i64 {
        i64::from(self)
    }
    #[inline(always)]
    fn to_i32(self) -> i32 {
        i32::from(self)
    }
    fn scalar(self) -> Scalar {
        Scalar::Bool(self)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        true
    }
}

/// Runs the body with `$T` bound to the element type of a [`DType`].
///
/// `with_dtype!(dtype, T => expr)` covers every type; `with_dtype!(float dtype, T => expr)`
/// only the floats, `integer` only the integers, `number` all but `bool`, `native` the numbers
/// that the processor computes with (no `float16`); `else` is evaluated for the others.
macro_rules! with_dtype {
    (
        @ [$($variant:ident $type:ty),*]
        $dtype:expr, $T:ident => $body:expr $(, else $other:expr)?
    ) => {
        match $dtype {
            $($crate::DType::$variant => {
                type $T = $type;
                $body
            })*
            $(_ => $other,)?
        }
    };
    (float $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::dtype::with_dtype!(
            @ [F16 $crate::f16, F32 f32, F64 f64]
            $dtype, $T => $body, else $other
        )
    };
    (integer $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::dtype::with_dtype!(
            @ [U8 u8, I32 i32, I64 i64]
            $dtype, $T => $body, else $other
        )
    };
    (native $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::dtype::with_dtype!(
            @ [U8 u8, I32 i32, I64 i64, F32 f32, F64 f64]
            $dtype, $T => $body, else $other
        )
    };
    (number $dtype:expr, $T:ident => $body:expr, else $other:expr) => {
        $crate::dtype::with_dtype!(
            @ [U8 u8, I32 i32, I64 i64, F16 $crate::f16, F32 f32, F64 f64]
            $dtype, $T => $body, else $other
        )
    };
    ($dtype:expr, $T:ident => $body:expr) => {
        $crate::dtype::with_dtype!(
            @ [Bool bool, U8 u8, I32 i32, I64 i64, F16 $crate::f16, F32 f32, F64 f64]
            $dtype, $T => $body
        )
    };
}
pub(crate) use with_dtype;
