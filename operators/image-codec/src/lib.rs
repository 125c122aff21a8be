//! RGB pictures as PNG or JPEG bytes and back, and in other sizes.
//!
//! Pictures are `height` x `width` x 3 bytes, top row first, as in a `frame`.
//! Bytes may come from anywhere: a header that promises a huge picture, a format
//! this crate does not know or data that ends early is an error, never a panic
//! or an allocation of that size.
//!
//! ```
//! use image_codec::{Format, Rgb, decode, encode};
//!
//! let red = Rgb { width: 2, height: 1, pixels: vec![255, 0, 0, 255, 0, 0] };
//! let png = encode(&red, Format::Png)?;
//! assert_eq!(decode(&png)?, red);
//! # Ok::<(), image_codec::CodecError>(())
//! ```

mod resize;

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder as _, ImageFormat, ImageReader, Limits};

pub use resize::{Filter, Pixels, Region, resize, resize_region};

/// The largest side of a picture, pixels.
pub const MAX_SIDE: u32 = 8192;
/// What decoding may allocate, bytes: a picture of `MAX_SIDE` squared as RGBA.
const MAX_ALLOCATION: u64 = 4 * (MAX_SIDE as u64).pow(2);

/// A picture in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rgb {
    pub width: u32,
    pub height: u32,
    /// `height` x `width` x 3 bytes, top row first.
    pub pixels: Vec<u8>,
}

/// How a picture is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Exact.
    Png,
    /// Lossy; quality from 1 to 100.
    Jpeg { quality: u8 },
}

/// Why a picture could not be encoded or decoded.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    #[error("a picture of {width} x {height} has {wanted} bytes, got {found}")]
    Length { width: u32, height: u32, wanted: u64, found: usize },

    #[error("a picture has 1 to {MAX_SIDE} pixels a side, got {width} x {height}")]
    Size { width: u32, height: u32 },

    #[error("{region:?} is empty or reaches beyond the picture")]
    Region { region: Region },

    #[error("JPEG quality is 1 to 100, got {0}")]
    Quality(u8),

    #[error("neither PNG nor JPEG")]
    UnknownFormat,

    #[error("the picture can't be read: {0}")]
    Decode(#[source] image::ImageError),

    #[error("the picture can't be written: {0}")]
    Encode(#[source] image::ImageError),
}

/// Encodes a picture.
///
/// # Errors
/// When the number of bytes does not fit the size, or the size is out of range.
pub fn encode(picture: &Rgb, format: Format) -> Result<Vec<u8>, CodecError> {
    encode_parts(picture.width, picture.height, &picture.pixels, format)
}

/// [`encode`] for pixels that lie elsewhere, such as in a received frame.
///
/// # Errors
/// As `encode`.
pub fn encode_parts(
    width: u32,
    height: u32,
    pixels: &[u8],
    format: Format,
) -> Result<Vec<u8>, CodecError> {
    check_size(width, height)?;
    let wanted = u64::from(width) * u64::from(height) * 3;
    if pixels.len() as u64 != wanted {
        return Err(CodecError::Length { width, height, wanted, found: pixels.len() });
    }
    let mut bytes = Vec::new();
    let written = match format {
        // Pictures are written while a robot moves, so speed counts more than the last tenth of size.
        Format::Png => {
            PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Adaptive)
                .write_image(pixels, width, height, ExtendedColorType::Rgb8)
        }
        Format::Jpeg { quality } => {
            if !(1..=100).contains(&quality) {
                return Err(CodecError::Quality(quality));
            }
            JpegEncoder::new_with_quality(&mut bytes, quality).write_image(
                pixels,
                width,
                height,
                ExtendedColorType::Rgb8,
            )
        }
    };
    written.map_err(CodecError::Encode)?;
    Ok(bytes)
}

/// Decodes PNG or JPEG bytes; transparency is dropped, grey becomes RGB.
///
/// # Errors
/// When the bytes are of another format, damaged, or promise too large a picture.
pub fn decode(bytes: &[u8]) -> Result<Rgb, CodecError> {
    let format = match image::guess_format(bytes) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => format,
        _ => return Err(CodecError::UnknownFormat),
    };
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_ALLOCATION);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let picture = reader.decode().map_err(CodecError::Decode)?.into_rgb8();
    let (width, height) = picture.dimensions();
    check_size(width, height)?;
    Ok(Rgb { width, height, pixels: picture.into_raw() })
}

fn check_size(width: u32, height: u32) -> Result<(), CodecError> {
    let sides = 1..=MAX_SIDE;
    if sides.contains(&width) && sides.contains(&height) {
        Ok(())
    } else {
        Err(CodecError::Size { width, height })
    }
}

#[cfg(test)]
mod tests {
    use arbtest::arbtest;

    use super::*;

    fn gradient(width: u32, height: u32) -> Rgb {
        let pixels = (0..height)
            .flat_map(|r| (0..width).flat_map(move |c| [(r * 8) as u8, (c * 8) as u8, 90]))
            .collect();
        Rgb { width, height, pixels }
    }

    #[test]
    fn png_is_exact() {
        arbtest(|u| {
            let (width, height) = (u.int_in_range(1..=40)?, u.int_in_range(1..=40)?);
            let pixels =
                (0..width * height * 3).map(|_| u.arbitrary()).collect::<Result<_, _>>()?;
            let picture = Rgb { width, height, pixels };
            let png = encode(&picture, Format::Png).unwrap();
            assert_eq!(decode(&png).unwrap(), picture);
            Ok(())
        });
    }

    #[test]
    fn no_bytes_can_break_decoding() {
        arbtest(|u| {
            let _ = decode(u.bytes(u.len().min(300))?);
            Ok(())
        });
    }

    #[test]
    fn damaged_files_cannot_break_decoding() {
        arbtest(|u| {
            let format = if u.arbitrary()? { Format::Jpeg { quality: 80 } } else { Format::Png };
            let mut bytes = encode(&gradient(16, 9), format).unwrap();
            let at = u.choose_index(bytes.len())?;
            bytes[at] = u.arbitrary()?;
            bytes.truncate(1 + u.choose_index(bytes.len())?);
            if let Ok(picture) = decode(&bytes) {
                let expected = u64::from(picture.width) * u64::from(picture.height) * 3;
                assert_eq!(picture.pixels.len() as u64, expected);
            }
            Ok(())
        });
    }

    #[test]
    fn jpeg_is_close_and_smaller_at_lower_quality() {
        let picture = gradient(32, 24);
        let fine = encode(&picture, Format::Jpeg { quality: 95 }).unwrap();
        let coarse = encode(&picture, Format::Jpeg { quality: 20 }).unwrap();
        assert!(coarse.len() < fine.len());
        let back = decode(&fine).unwrap();
        assert_eq!((back.width, back.height), (32, 24));
        let worst =
            picture.pixels.iter().zip(&back.pixels).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(worst < 24, "{worst}");
    }

    #[test]
    fn a_size_that_does_not_fit_is_refused() {
        let mut picture = gradient(4, 3);
        picture.pixels.pop();
        assert_eq!(
            encode(&picture, Format::Png).unwrap_err().to_string(),
            "a picture of 4 x 3 has 36 bytes, got 35"
        );
        let none = Rgb { width: 0, height: 3, pixels: Vec::new() };
        assert!(matches!(encode(&none, Format::Png), Err(CodecError::Size { .. })));
        let overflowing = Rgb { width: u32::MAX, height: u32::MAX, pixels: vec![0; 3] };
        assert!(matches!(encode(&overflowing, Format::Png), Err(CodecError::Size { .. })));
        assert!(matches!(
            encode(&gradient(4, 3), Format::Jpeg { quality: 0 }),
            Err(CodecError::Quality(0))
        ));
    }

    /// Writes a header with a size of the attacker's choice into a small file.
    #[test]
    fn a_header_that_promises_a_huge_picture_is_refused() {
        let mut png = encode(&gradient(4, 3), Format::Png).unwrap();
        png[16..20].copy_from_slice(&60_000_u32.to_be_bytes());
        png[20..24].copy_from_slice(&60_000_u32.to_be_bytes());
        let crc = crc32(&png[12..29]);
        png[29..33].copy_from_slice(&crc.to_be_bytes());
        let error = decode(&png).unwrap_err();
        assert!(matches!(&error, CodecError::Decode(image::ImageError::Limits(_))), "{error}");
    }

    #[test]
    fn other_formats_are_named_as_such() {
        assert!(matches!(decode(b"GIF89a and so on"), Err(CodecError::UnknownFormat)));
        assert!(matches!(decode(b""), Err(CodecError::UnknownFormat)));
    }

    /// The checksum of a PNG chunk (ISO 3309).
    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for byte in bytes {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
            }
        }
        !crc
    }
}
