//! Numbers that lose nothing on their way through text.

use serde::Deserialize;

/// 64-bit floats, written as the hexadecimal digits of their little-endian bytes.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub struct Numbers(pub Vec<f64>);

impl std::fmt::Debug for Numbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for Numbers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (digits, rest) = text.as_bytes().as_chunks::<16>();
        if !rest.is_empty() {
            return Err(format!("{} hexadecimal digits are no 64-bit numbers", text.len()));
        }
        let number = |digits: &[u8; 16]| {
            let digits = str::from_utf8(digits).ok()?;
            u64::from_str_radix(digits, 16).ok().map(|bits| f64::from_bits(bits.swap_bytes()))
        };
        let numbers = digits.iter().map(number).collect::<Option<_>>();
        numbers.map(Self).ok_or_else(|| "expected hexadecimal digits".to_owned())
    }
}

impl Numbers {
    /// As an array of `N`.
    pub fn array<const N: usize>(&self) -> eyre::Result<[f64; N]> {
        let found = self.0.len();
        let array = self.0.as_slice().try_into();
        array.map_err(|_| eyre::eyre!("{found} numbers where {N} belong"))
    }

    /// Greatest distance between numbers at the same place.
    pub fn apart(&self, ours: &[f64]) -> f64 {
        assert_eq!(self.0.len(), ours.len());
        let pairs = self.0.iter().zip(ours);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }
}
