//! The encoder's byte stream, taken apart for MP4.
//!
//! Source: ITU-T H.264 annex B (byte stream) and table 7-1 (types of units);
//! ISO/IEC 14496-15, 5.3.3 (four bytes of length before each unit).

const START: [u8; 3] = [0, 0, 1];
const SEQUENCE: u8 = 7;
const PARAMETERS: u8 = 8;

/// The units of one picture.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    /// Sequence parameter set.
    pub sequence: Option<Vec<u8>>,
    /// Picture parameter set.
    pub parameters: Option<Vec<u8>>,
    /// All others, each with its length before it.
    pub picture: Vec<u8>,
}

impl Access {
    pub fn read(stream: &[u8]) -> Self {
        let mut access = Access::default();
        for unit in units(stream) {
            match unit[0] & 0x1f {
                SEQUENCE => access.sequence = Some(unit.to_vec()),
                PARAMETERS => access.parameters = Some(unit.to_vec()),
                _ => {
                    access.picture.extend((unit.len() as u32).to_be_bytes());
                    access.picture.extend(unit);
                }
            }
        }
        access
    }
}

/// What lies between start codes; a unit never ends with a zero byte.
fn units(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let starts: Vec<usize> =
        (0..stream.len()).filter(|&at| stream[at..].starts_with(&START)).collect();
    let ends = starts.clone().into_iter().skip(1).chain([stream.len()]);
    starts.into_iter().zip(ends).filter_map(|(start, end)| {
        let unit = &stream[start + START.len()..end];
        let last = unit.iter().rposition(|&byte| byte != 0)?;
        Some(&unit[..=last])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_stream_is_taken_apart() {
        let stream = [
            0, 0, 0, 1, 0x67, 1, 2, // sequence, after a long start code
            0, 0, 0, 1, 0x68, 3, // parameters
            0, 0, 1, 0x65, 9, 0, 9, // two slices of a picture
            0, 0, 1, 0x65, 8, 0,
        ];
        let access = Access::read(&stream);
        assert_eq!(access.sequence.as_deref(), Some(&[0x67, 1, 2][..]));
        assert_eq!(access.parameters.as_deref(), Some(&[0x68, 3][..]));
        assert_eq!(access.picture, [0, 0, 0, 4, 0x65, 9, 0, 9, 0, 0, 0, 2, 0x65, 8]);
        assert_eq!(Access::read(&[]), Access::default());
        assert_eq!(Access::read(&[0, 0, 1, 0, 0]), Access::default());
    }
}
