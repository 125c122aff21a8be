//! Resizing with the results of Pillow.
//!
//! Separable convolution in 8-bit fixed point with the filters, the support and
//! the rounding of Pillow's `Image.resize`, whose `src/libImaging/Resample.c`
//! tells them: policies were trained on pictures that came through it, and agents
//! expect it.

use std::f64::consts::PI;
use std::ops::Range;

use crate::{CodecError, MAX_SIDE};

/// How new pixels are made from old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The pixel under the new one's centre.
    Nearest,
    /// The mean of the pixels that the new one covers.
    Box,
    Bilinear,
    Hamming,
    Bicubic,
    /// Lanczos with three lobes.
    Lanczos,
}

/// Pixels to read: `height` x `width` x `channels` bytes, top row first.
#[derive(Clone, Copy, Debug)]
pub struct Pixels<'a> {
    pub width: u32,
    pub height: u32,
    pub channels: usize,
    pub bytes: &'a [u8],
}

/// A part of a picture in pixels; edges may lie between pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Pixels<'_> {
    /// All of the picture.
    #[must_use]
    pub fn region(&self) -> Region {
        let (right, bottom) = (f64::from(self.width), f64::from(self.height));
        Region { left: 0.0, top: 0.0, right, bottom }
    }

    fn row_bytes(&self) -> usize {
        self.width as usize * self.channels
    }
}

/// Scales a picture to `width` x `height`; channels are independent of each other.
///
/// # Errors
/// When a size is out of range or does not fit the number of bytes.
pub fn resize(
    picture: Pixels<'_>,
    width: u32,
    height: u32,
    filter: Filter,
) -> Result<Vec<u8>, CodecError> {
    resize_region(picture, picture.region(), width, height, filter)
}

/// Scales a part of a picture to `width` x `height`.
///
/// # Errors
/// As [`resize`]; also when the region is empty or reaches beyond the picture.
pub fn resize_region(
    picture: Pixels<'_>,
    region: Region,
    width: u32,
    height: u32,
    filter: Filter,
) -> Result<Vec<u8>, CodecError> {
    check(picture, region, width, height)?;
    if region == picture.region() && (width, height) == (picture.width, picture.height) {
        return Ok(picture.bytes.to_vec());
    }
    let Some(kernel) = Kernel::of(filter) else {
        return Ok(nearest(picture, region, width, height));
    };
    let across = Weights::new(picture.width, region.left, region.right, width, kernel);
    let down = Weights::new(picture.height, region.top, region.bottom, height, kernel);
    let folds_columns = width != picture.width || region.left != 0.0;
    let folds_rows = height != picture.height || region.top != 0.0;
    if !folds_columns {
        return Ok(fold_rows(picture, &down, 0));
    }
    if folds_rows && rows_first(picture, width, height) {
        let bytes = fold_rows(picture, &down, 0);
        let low = Pixels { height, bytes: &bytes, ..picture };
        return Ok(fold_columns(low, 0..height as usize, &across));
    }
    if !folds_rows {
        return Ok(fold_columns(picture, 0..height as usize, &across));
    }
    // Only the rows that the second pass reads.
    let rows = down.reads();
    let first = rows.start;
    let bytes = fold_columns(picture, rows, &across);
    let narrow = Pixels { width, bytes: &bytes, ..picture };
    Ok(fold_rows(narrow, &down, first))
}

/// Whether rows are folded before columns. Each pass rounds to bytes, so the order
/// shows; this one is what Pillow 13 was seen to do.
fn rows_first(picture: Pixels<'_>, width: u32, height: u32) -> bool {
    let lower = i64::from(picture.height) - i64::from(height);
    let narrower = i64::from(picture.width) - i64::from(width);
    lower > 0 && lower > 2 * narrower
}

fn check(picture: Pixels<'_>, region: Region, width: u32, height: u32) -> Result<(), CodecError> {
    let sides = 1..=MAX_SIDE;
    for (width, height) in [(picture.width, picture.height), (width, height)] {
        if !(sides.contains(&width) && sides.contains(&height)) {
            return Err(CodecError::Size { width, height });
        }
    }
    let wanted = u64::from(picture.width) * u64::from(picture.height) * picture.channels as u64;
    if picture.bytes.len() as u64 != wanted {
        let (width, height, found) = (picture.width, picture.height, picture.bytes.len());
        return Err(CodecError::Length { width, height, wanted, found });
    }
    let whole = picture.region();
    let inside = region.left >= 0.0
        && region.top >= 0.0
        && region.left < region.right
        && region.top < region.bottom
        && region.right <= whole.right
        && region.bottom <= whole.bottom;
    if inside { Ok(()) } else { Err(CodecError::Region { region }) }
}

fn nearest(picture: Pixels<'_>, region: Region, width: u32, height: u32) -> Vec<u8> {
    let columns = centres(region.left, region.right, width, picture.width);
    let rows = centres(region.top, region.bottom, height, picture.height);
    let channels = picture.channels;
    let mut out = Vec::with_capacity(columns.len() * rows.len() * channels);
    for row in rows {
        let line = &picture.bytes[row * picture.row_bytes()..][..picture.row_bytes()];
        for column in &columns {
            out.extend_from_slice(&line[column * channels..][..channels]);
        }
    }
    out
}

/// The old pixel under the centre of each new one. Pillow adds up steps, so
/// rounding errors are part of the result.
fn centres(start: f64, end: f64, count: u32, limit: u32) -> Vec<usize> {
    let step = (end - start) / f64::from(count);
    let mut at = start + step * 0.5;
    let mut centres = Vec::with_capacity(count as usize);
    for _ in 0..count {
        centres.push((at as usize).min(limit as usize - 1));
        at += step;
    }
    centres
}

#[derive(Clone, Copy)]
struct Kernel {
    /// Half its width, in old pixels when enlarging.
    support: f64,
    value: fn(f64) -> f64,
}

impl Kernel {
    /// Nothing for `Nearest`, which is no convolution.
    fn of(filter: Filter) -> Option<Self> {
        let (support, value): (f64, fn(f64) -> f64) = match filter {
            Filter::Nearest => return None,
            Filter::Box => (0.5, |x| f64::from(u8::from(x > -0.5 && x <= 0.5))),
            Filter::Bilinear => (1.0, |x| (1.0 - x.abs()).max(0.0)),
            Filter::Hamming => (1.0, hamming),
            Filter::Bicubic => (2.0, bicubic),
            Filter::Lanczos => (3.0, lanczos),
        };
        Some(Self { support, value })
    }
}

fn hamming(x: f64) -> f64 {
    let x = x.abs();
    if x >= 1.0 {
        return 0.0;
    }
    sinc(x) * (0.54 + 0.46 * (x * PI).cos())
}

/// Keys' cubic convolution with a = -0.5.
fn bicubic(x: f64) -> f64 {
    const A: f64 = -0.5;
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

fn lanczos(x: f64) -> f64 {
    if (-3.0..3.0).contains(&x) { sinc(x) * sinc(x / 3.0) } else { 0.0 }
}

fn sinc(x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    let x = x * PI;
    x.sin() / x
}

/// Fixed-point weights: eight bits are the result, two are for the sum's sake.
const PRECISION: u32 = 32 - 8 - 2;

/// For each new pixel of a line, which old ones it is made of.
struct Weights {
    /// First old pixel, and where its weights are.
    pixels: Vec<(usize, Range<usize>)>,
    weights: Vec<i32>,
}

impl Weights {
    fn new(old: u32, start: f64, end: f64, new: u32, kernel: Kernel) -> Self {
        let scale = (end - start) / f64::from(new);
        // A filter that shrinks a picture is stretched over the old pixels.
        let stretch = scale.max(1.0);
        let support = kernel.support * stretch;
        let mut made = Self { pixels: Vec::with_capacity(new as usize), weights: Vec::new() };
        let mut line = Vec::new();
        for pixel in 0..new {
            let centre = start + (f64::from(pixel) + 0.5) * scale;
            let first = ((centre - support + 0.5) as i64).max(0);
            let last = ((centre + support + 0.5) as i64).min(i64::from(old));
            line.clear();
            line.extend((first..last).map(|at| {
                #[expect(clippy::cast_precision_loss, reason = "at most MAX_SIDE")]
                let at = at as f64;
                (kernel.value)((at - centre + 0.5) * (1.0 / stretch))
            }));
            let sum: f64 = line.iter().sum();
            let begin = made.weights.len();
            made.weights.extend(line.iter().map(|weight| {
                let weight = if sum == 0.0 { *weight } else { weight / sum };
                let fixed = weight * f64::from(1_u32 << PRECISION);
                (fixed + 0.5_f64.copysign(fixed)) as i32
            }));
            made.pixels.push((first as usize, begin..made.weights.len()));
        }
        made
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[i32])> {
        self.pixels.iter().map(|(first, range)| (*first, &self.weights[range.clone()]))
    }

    /// The old pixels that any new one is made of.
    fn reads(&self) -> Range<usize> {
        let start = self.pixels.first().map_or(0, |(first, _)| *first);
        let end = self.pixels.last().map_or(0, |(first, range)| first + range.len());
        start..end
    }
}

/// Makes each of the given rows narrower or wider.
fn fold_columns(picture: Pixels<'_>, rows: Range<usize>, weights: &Weights) -> Vec<u8> {
    match picture.channels {
        1 => fold_columns_of::<1>(picture, rows, weights),
        3 => fold_columns_of::<3>(picture, rows, weights),
        4 => fold_columns_of::<4>(picture, rows, weights),
        // Uncommon, so one channel after the other will do.
        channels => {
            let mut out = vec![0; rows.len() * weights.pixels.len() * channels];
            for channel in 0..channels {
                let bytes: Vec<u8> =
                    picture.bytes.iter().copied().skip(channel).step_by(channels).collect();
                let plane = Pixels { channels: 1, bytes: &bytes, ..picture };
                let folded = fold_columns_of::<1>(plane, rows.clone(), weights);
                for (to, from) in out.iter_mut().skip(channel).step_by(channels).zip(folded) {
                    *to = from;
                }
            }
            out
        }
    }
}

fn fold_columns_of<const C: usize>(
    picture: Pixels<'_>,
    rows: Range<usize>,
    weights: &Weights,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(rows.len() * weights.pixels.len() * C);
    for row in rows {
        let (line, _) =
            picture.bytes[row * picture.row_bytes()..][..picture.row_bytes()].as_chunks::<C>();
        for (first, weights) in weights.iter() {
            let mut sums = [HALF; C];
            for (pixel, weight) in line[first..].iter().zip(weights) {
                for (sum, value) in sums.iter_mut().zip(pixel) {
                    *sum += i32::from(*value) * weight;
                }
            }
            out.extend(sums.map(rounded));
        }
    }
    out
}

/// Makes fewer or more rows. `picture` begins at row `offset` of the one that
/// the weights are for.
fn fold_rows(picture: Pixels<'_>, weights: &Weights, offset: usize) -> Vec<u8> {
    let length = picture.row_bytes();
    let mut out = Vec::with_capacity(length * weights.pixels.len());
    let mut sums = vec![0_i32; length];
    for (first, weights) in weights.iter() {
        sums.fill(HALF);
        let lines = picture.bytes[(first - offset) * length..].chunks_exact(length);
        for (line, weight) in lines.zip(weights) {
            for (sum, value) in sums.iter_mut().zip(line) {
                *sum += i32::from(*value) * weight;
            }
        }
        out.extend(sums.iter().map(|sum| rounded(*sum)));
    }
    out
}

/// So that cutting the fraction off rounds.
const HALF: i32 = 1 << (PRECISION - 1);

fn rounded(sum: i32) -> u8 {
    (sum >> PRECISION).clamp(0, 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture whose every byte can be named: what `tests/pillow.py` makes, too.
    fn noise(width: u32, height: u32, channels: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..width as usize * height as usize * channels).map(|_| next()).collect()
    }

    /// FNV-1a.
    fn hash(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    const FILTERS: [(&str, Filter); 6] = [
        ("nearest", Filter::Nearest),
        ("box", Filter::Box),
        ("bilinear", Filter::Bilinear),
        ("hamming", Filter::Hamming),
        ("bicubic", Filter::Bicubic),
        ("lanczos", Filter::Lanczos),
    ];

    /// `tests/pillow.txt` holds what Pillow made of the same pictures.
    #[test]
    fn results_are_those_of_pillow() {
        let mut count = 0;
        for line in include_str!("../tests/pillow.txt").lines().filter(|l| !l.starts_with('#')) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let numbers: Vec<u32> = fields[1..6].iter().map(|n| n.parse().unwrap()).collect();
            let [width, height, channels, to_width, to_height] = numbers[..] else { panic!() };
            let channels = channels as usize;
            let bytes = noise(width, height, channels);
            let picture = Pixels { width, height, channels, bytes: &bytes };
            let filter = FILTERS.iter().find(|(name, _)| *name == fields[0]).unwrap().1;
            let region: Vec<f64> = fields[7..].iter().map(|n| n.parse().unwrap()).collect();
            let region = match region[..] {
                [left, top, right, bottom] => Region { left, top, right, bottom },
                _ => picture.region(),
            };
            let made = resize_region(picture, region, to_width, to_height, filter).unwrap();
            assert_eq!(format!("{:016x}", hash(&made)), fields[6], "{line}");
            count += 1;
        }
        assert!(count > 100, "{count}");
    }

    #[test]
    fn a_flat_picture_stays_flat() {
        let bytes = [7_u8; 5 * 4 * 2];
        let picture = Pixels { width: 5, height: 4, channels: 2, bytes: &bytes };
        for (name, filter) in FILTERS {
            let made = resize(picture, 13, 3, filter).unwrap();
            assert_eq!(made, [7; 13 * 3 * 2], "{name}");
        }
    }

    #[test]
    fn sizes_and_regions_that_cannot_be_are_refused() {
        let bytes = [0; 12];
        let picture = Pixels { width: 2, height: 2, channels: 3, bytes: &bytes };
        assert!(matches!(resize(picture, 0, 2, Filter::Box), Err(CodecError::Size { .. })));
        let short = Pixels { width: 3, ..picture };
        assert!(matches!(resize(short, 1, 1, Filter::Box), Err(CodecError::Length { .. })));
        for (left, right) in [(-1.0, 1.0), (0.0, 2.5), (1.0, 1.0), (f64::NAN, 1.0)] {
            let region = Region { left, right, ..picture.region() };
            let made = resize_region(picture, region, 2, 2, Filter::Box);
            assert!(matches!(made, Err(CodecError::Region { .. })), "{region:?}");
        }
    }
}
