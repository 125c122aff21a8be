//! The names of the elementwise operations and what kind each one is.

/// An enum of operations with numpy's names, aliases after the first.
macro_rules! operations {
    ($(#[$doc:meta])* $name:ident { $($variant:ident: $text:literal $(| $alias:literal)*,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The name that numpy uses in messages.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// Finds an operation by its name or an alias of it.
            pub fn from_name(name: &str) -> Option<$name> {
                match name {
                    $($text $(| $alias)* => Some($name::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

operations! {
    /// An operation on one operand.
    Unary {
        Absolute: "absolute" | "abs",
        Arccos: "arccos" | "acos",
        Arccosh: "arccosh" | "acosh",
        Arcsin: "arcsin" | "asin",
        Arcsinh: "arcsinh" | "asinh",
        Arctan: "arctan" | "atan",
        Arctanh: "arctanh" | "atanh",
        Cbrt: "cbrt",
        Ceil: "ceil",
        Cos: "cos",
        Cosh: "cosh",
        Deg2rad: "deg2rad" | "radians",
        Exp: "exp",
        Exp2: "exp2",
        Expm1: "expm1",
        Fabs: "fabs",
        Floor: "floor",
        Invert: "invert" | "bitwise_not" | "bitwise_invert",
        Isfinite: "isfinite",
        Isinf: "isinf",
        Isnan: "isnan",
        Log: "log",
        Log10: "log10",
        Log1p: "log1p",
        Log2: "log2",
        LogicalNot: "logical_not",
        Negative: "negative",
        Positive: "positive",
        Rad2deg: "rad2deg" | "degrees",
        Reciprocal: "reciprocal",
        Rint: "rint",
        Sign: "sign",
        Signbit: "signbit",
        Sin: "sin",
        Sinh: "sinh",
        Sqrt: "sqrt",
        Square: "square",
        Tan: "tan",
        Tanh: "tanh",
        Trunc: "trunc",
    }
}

operations! {
    /// An operation on two operands.
    Binary {
        Add: "add",
        Arctan2: "arctan2" | "atan2",
        BitwiseAnd: "bitwise_and",
        BitwiseOr: "bitwise_or",
        BitwiseXor: "bitwise_xor",
        Copysign: "copysign",
        Divide: "divide" | "true_divide",
        Equal: "equal",
        FloatPower: "float_power",
        FloorDivide: "floor_divide",
        Fmax: "fmax",
        Fmin: "fmin",
        Fmod: "fmod",
        Greater: "greater",
        GreaterEqual: "greater_equal",
        Heaviside: "heaviside",
        Hypot: "hypot",
        LeftShift: "left_shift" | "bitwise_left_shift",
        Less: "less",
        LessEqual: "less_equal",
        Logaddexp: "logaddexp",
        LogicalAnd: "logical_and",
        LogicalOr: "logical_or",
        LogicalXor: "logical_xor",
        Maximum: "maximum",
        Minimum: "minimum",
        Multiply: "multiply",
        Nextafter: "nextafter",
        NotEqual: "not_equal",
        Power: "power" | "pow",
        Remainder: "remainder" | "mod",
        RightShift: "right_shift" | "bitwise_right_shift",
        Subtract: "subtract",
    }
}

/// Which types an operation takes and gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Any type, result of the same type.
    Same,
    /// Numbers; `bool` counts as an integer.
    Number,
    /// Floats; integers become floats first.
    Float,
    /// Any type, result `bool`.
    Compare,
    /// Operands taken as true or false, result `bool`.
    Logical,
    /// `bool` and integers.
    Bits,
    /// Integers.
    Shift,
}

impl Unary {
    pub(crate) fn class(self) -> Class {
        match self {
            Unary::Absolute | Unary::Ceil | Unary::Floor | Unary::Trunc => Class::Same,
            Unary::Negative | Unary::Positive | Unary::Sign | Unary::Square | Unary::Reciprocal => {
                Class::Number
            }
            Unary::Isfinite | Unary::Isinf | Unary::Isnan | Unary::Signbit => Class::Compare,
            Unary::LogicalNot => Class::Logical,
            Unary::Invert => Class::Bits,
            _ => Class::Float,
        }
    }
}

impl Binary {
    pub(crate) fn class(self) -> Class {
        match self {
            Binary::Add
            | Binary::Multiply
            | Binary::Subtract
            | Binary::Maximum
            | Binary::Minimum
            | Binary::Fmax
            | Binary::Fmin => Class::Same,
            Binary::FloorDivide | Binary::Fmod | Binary::Power | Binary::Remainder => Class::Number,
            Binary::Equal
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::NotEqual => Class::Compare,
            Binary::LogicalAnd | Binary::LogicalOr | Binary::LogicalXor => Class::Logical,
            Binary::BitwiseAnd | Binary::BitwiseOr | Binary::BitwiseXor => Class::Bits,
            Binary::LeftShift | Binary::RightShift => Class::Shift,
            _ => Class::Float,
        }
    }
}
