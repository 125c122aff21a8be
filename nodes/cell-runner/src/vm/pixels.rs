//! What `PIL.Image` does to pixels, with the results of Pillow: its arithmetic
//! (`Convert.c`, `ConvertRGB.c`, `Geometry.c`, `Paste.c`) is a sequence of
//! roundings, and they are part of what an agent sees.

/// What a pixel is made of; `1` is 0 or 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Bilevel,
    L,
    Rgb,
    Rgba,
    Hsv,
}

impl Mode {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "1" => Self::Bilevel,
            "L" => Self::L,
            "RGB" => Self::Rgb,
            "RGBA" => Self::Rgba,
            "HSV" => Self::Hsv,
            _ => return None,
        })
    }

    pub(super) fn channels(self) -> usize {
        match self {
            Self::Bilevel | Self::L => 1,
            Self::Rgb | Self::Hsv => 3,
            Self::Rgba => 4,
        }
    }
}

/// Pixels of one mode as those of another; `width` is a row's, in pixels.
pub(super) fn convert(
    pixels: &[u8],
    width: usize,
    from: Mode,
    to: Mode,
    dithered: bool,
) -> Vec<u8> {
    match (from, to) {
        (Mode::Bilevel | Mode::L, Mode::L) => pixels.to_vec(),
        (Mode::Bilevel | Mode::L, Mode::Bilevel) => {
            bilevel(pixels.iter().map(|value| i32::from(*value)), width, dithered)
        }
        (Mode::Bilevel | Mode::L, Mode::Rgb) => pixels.iter().flat_map(|l| [*l; 3]).collect(),
        (Mode::Bilevel | Mode::L, Mode::Rgba) => {
            pixels.iter().flat_map(|l| [*l, *l, *l, 255]).collect()
        }
        (Mode::Bilevel | Mode::L, Mode::Hsv) => pixels.iter().flat_map(|l| [0, 0, *l]).collect(),
        (Mode::Hsv, Mode::Hsv) | (Mode::Rgba, Mode::Rgba) => pixels.to_vec(),
        (Mode::Hsv, _) => {
            let rgb: Vec<u8> = triples(pixels, 3).flat_map(rgb_from_hsv).collect();
            convert(&rgb, width, Mode::Rgb, to, dithered)
        }
        (Mode::Rgb | Mode::Rgba, _) => {
            let colors = triples(pixels, from.channels());
            match to {
                Mode::L => colors.map(luma).collect(),
                Mode::Bilevel if dithered => {
                    bilevel(colors.map(|color| weighted(color) / 1000), width, true)
                }
                Mode::Bilevel => {
                    colors.map(|color| if weighted(color) >= 128_000 { 255 } else { 0 }).collect()
                }
                Mode::Rgb => colors.flatten().collect(),
                Mode::Rgba => colors.flat_map(|[r, g, b]| [r, g, b, 255]).collect(),
                Mode::Hsv => colors.flat_map(hsv_from_rgb).collect(),
            }
        }
    }
}

fn triples(pixels: &[u8], channels: usize) -> impl Iterator<Item = [u8; 3]> {
    pixels.chunks_exact(channels).map(|pixel| [pixel[0], pixel[1], pixel[2]])
}

/// ITU-R 601 in 16-bit fixed point.
fn luma([r, g, b]: [u8; 3]) -> u8 {
    ((u32::from(r) * 19_595 + u32::from(g) * 38_470 + u32::from(b) * 7_471 + 0x8000) >> 16) as u8
}

/// ITU-R 601 times 1000.
fn weighted([r, g, b]: [u8; 3]) -> i32 {
    i32::from(r) * 299 + i32::from(g) * 587 + i32::from(b) * 114
}

/// Black and white, by a threshold or by Floyd and Steinberg's error diffusion.
fn bilevel(values: impl Iterator<Item = i32>, width: usize, dithered: bool) -> Vec<u8> {
    if !dithered {
        return values.map(|value| if value >= 128 { 255 } else { 0 }).collect();
    }
    let mut out = Vec::new();
    let mut errors = vec![0; width + 1];
    let (mut left, mut below, mut diagonal) = (0, 0, 0);
    for (index, value) in values.enumerate() {
        let column = index % width;
        if column == 0 {
            (left, below, diagonal) = (0, 0, 0);
        }
        let level = (value + (left + errors[column + 1]) / 16).clamp(0, 255);
        let shown = if level > 128 { 255 } else { 0 };
        out.push(shown as u8);
        // 7, 5, 3 and 1 sixteenths of the error go to the neighbours.
        let error = level - shown;
        errors[column] = 3 * error + below;
        below = 5 * error + diagonal;
        diagonal = error;
        left = 7 * error;
        if column + 1 == width {
            errors[width] = below;
        }
    }
    out
}

fn hsv_from_rgb([r, g, b]: [u8; 3]) -> [u8; 3] {
    let (high, low) = (r.max(g).max(b), r.min(g).min(b));
    if high == low {
        return [0, 0, high];
    }
    let range = f32::from(high - low);
    let part = |value: u8| f32::from(high - value) / range;
    let (red, green, blue) = (part(r), part(g), part(b));
    let hue = if r == high {
        blue - green
    } else if g == high {
        (2.0 + f64::from(red) - f64::from(blue)) as f32
    } else {
        (4.0 + f64::from(green) - f64::from(red)) as f32
    };
    let hue = ((f64::from(hue) / 6.0 + 1.0) % 1.0) as f32;
    let saturation = range / f32::from(high);
    let byte = |share: f32| (f64::from(share) * 255.0) as u8;
    [byte(hue), byte(saturation), high]
}

fn rgb_from_hsv([h, s, v]: [u8; 3]) -> [u8; 3] {
    if s == 0 {
        return [v; 3];
    }
    let sixth = f64::from(h) * 6.0 / 255.0;
    let sector = sixth.floor();
    let f = f64::from((sixth - sector) as f32);
    let s = f64::from((f64::from(s) / 255.0) as f32);
    let byte = |share: f64| (f64::from(v) * share).round().clamp(0.0, 255.0) as u8;
    let (p, q, t) = (byte(1.0 - s), byte(1.0 - s * f), byte(1.0 - s * (1.0 - f)));
    match sector as u8 % 6 {
        0 => [v, t, p],
        1 => [q, v, p],
        2 => [p, v, t],
        3 => [p, q, v],
        4 => [t, p, v],
        _ => [v, p, q],
    }
}

/// `value / 255`, rounded, for a product of two bytes.
fn over_255(product: u32) -> u8 {
    let shifted = product + 128;
    (((shifted >> 8) + shifted) >> 8) as u8
}

/// Colours times alpha, so that filters do not mix in what is transparent.
pub(super) fn premultiply(rgba: &[u8]) -> Vec<u8> {
    rgba.as_chunks::<4>()
        .0
        .iter()
        .flat_map(|[r, g, b, a]| {
            let part = |color: u8| over_255(u32::from(color) * u32::from(*a));
            [part(*r), part(*g), part(*b), *a]
        })
        .collect()
}

/// Undoes [`premultiply`].
pub(super) fn unmultiply(rgba: &[u8]) -> Vec<u8> {
    rgba.as_chunks::<4>()
        .0
        .iter()
        .flat_map(|&[r, g, b, a]| {
            let whole = |color: u8| match a {
                0 | 255 => color,
                _ => (255 * u32::from(color) / u32::from(a)).min(255) as u8,
            };
            [whole(r), whole(g), whole(b), a]
        })
        .collect()
}

/// Mixes two pictures by a mask of one byte a pixel: 255 is all of `above`.
pub(super) fn blend(below: &[u8], above: &[u8], mask: &[u8]) -> Vec<u8> {
    let channels = below.len() / mask.len().max(1);
    let mut out = Vec::with_capacity(below.len());
    for (index, (below, above)) in below.iter().zip(above).enumerate() {
        let share = u32::from(mask[index / channels]);
        out.push(over_255(u32::from(*below) * (255 - share) + u32::from(*above) * share));
    }
    out
}

/// How a transformed picture finds its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampling {
    Nearest,
    Bilinear,
    Bicubic,
}

/// Pixels with their shape.
#[derive(Clone, Copy)]
pub(super) struct Grid<'a> {
    pub width: usize,
    pub height: usize,
    pub channels: usize,
    pub bytes: &'a [u8],
}

impl Grid<'_> {
    fn at(&self, x: usize, y: usize, channel: usize) -> u8 {
        self.bytes[(y * self.width + x) * self.channels + channel]
    }
}

/// A picture of `width` x `height` whose pixel (x, y) is the old one at
/// (a x + b y + c, d x + e y + f), and `fill` where that is outside.
pub(super) fn affine(
    picture: Grid<'_>,
    width: usize,
    height: usize,
    matrix: [f64; 6],
    sampling: Sampling,
    fill: &[u8],
) -> Vec<u8> {
    let mut out = fill.repeat(width * height);
    let pixels = out.chunks_exact_mut(picture.channels);
    if sampling == Sampling::Nearest {
        nearest(picture, width, matrix, pixels);
        return out;
    }
    let [a, b, c, d, e, f] = matrix;
    for (index, pixel) in pixels.enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "sides of a picture")]
        let (x, y) = ((index % width) as f64 + 0.5, (index / width) as f64 + 0.5);
        let (x, y) = (a * x + b * y + c, d * x + e * y + f);
        sample(picture, x, y, sampling, pixel);
    }
    out
}

/// Walks through the old picture in steps of 1/65536 pixel.
fn nearest<'a>(
    picture: Grid<'_>,
    width: usize,
    [a, b, c, d, e, f]: [f64; 6],
    pixels: impl Iterator<Item = &'a mut [u8]>,
) {
    let fixed = |value: f64| (value * 65_536.0 + 0.5).floor() as i64;
    let (step, down) = ((fixed(a), fixed(d)), (fixed(b), fixed(e)));
    let first = (fixed(c + a * 0.5 + b * 0.5), fixed(f + d * 0.5 + e * 0.5));
    for (index, pixel) in pixels.enumerate() {
        let (column, row) = ((index % width) as i64, (index / width) as i64);
        let x = usize::try_from((first.0 + row * down.0 + column * step.0) >> 16);
        let y = usize::try_from((first.1 + row * down.1 + column * step.1) >> 16);
        if let (Ok(x), Ok(y)) = (x, y)
            && x < picture.width
            && y < picture.height
        {
            for (channel, value) in pixel.iter_mut().enumerate() {
                *value = picture.at(x, y, channel);
            }
        }
    }
}

fn sample(picture: Grid<'_>, x: f64, y: f64, sampling: Sampling, pixel: &mut [u8]) {
    #[expect(clippy::cast_precision_loss, reason = "sides of a picture")]
    let (width, height) = (picture.width as f64, picture.height as f64);
    if !(0.0..width).contains(&x) || !(0.0..height).contains(&y) {
        return;
    }
    let (x, y) = (x - 0.5, y - 0.5);
    let (column, row) = (x.floor(), y.floor());
    let (right, down) = (x - column, y - row);
    let (column, row) = (column as i64, row as i64);
    let across = |line: i64, channel: usize| {
        let line = line.clamp(0, picture.height as i64 - 1) as usize;
        let at = |offset: i64| {
            let column = (column + offset).clamp(0, picture.width as i64 - 1) as usize;
            f64::from(picture.at(column, line, channel))
        };
        match sampling {
            Sampling::Bicubic => cubic([at(-1), at(0), at(1), at(2)], right),
            _ => at(0) + (at(1) - at(0)) * right,
        }
    };
    for (channel, value) in pixel.iter_mut().enumerate() {
        let line = |offset: i64| across(row + offset, channel);
        let sum = match sampling {
            Sampling::Bicubic => cubic([line(-1), line(0), line(1), line(2)], down),
            _ => line(0) + (line(1) - line(0)) * down,
        };
        *value = sum as u8;
    }
}

/// Cubic convolution with a = -1.
fn cubic([v1, v2, v3, v4]: [f64; 4], d: f64) -> f64 {
    let p2 = -v1 + v3;
    let p3 = 2.0 * (v1 - v2) + v3 - v4;
    let p4 = -v1 + v2 - v3 + v4;
    v2 + d * (p2 + d * (p3 + d * p4))
}

/// One bit a pixel, rows padded to whole bytes.
pub(super) fn pack_bits(pixels: &[u8], width: usize) -> Vec<u8> {
    let rows = pixels.chunks_exact(width.max(1));
    rows.flat_map(|row| row.chunks(8).map(packed)).collect()
}

fn packed(pixels: &[u8]) -> u8 {
    pixels.iter().enumerate().fold(
        0,
        |byte, (bit, pixel)| {
            if *pixel == 0 { byte } else { byte | 0x80 >> bit }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 37;
    const HEIGHT: usize = 29;

    /// The pictures of `tests/pillow/pixels.py`.
    fn picture(mode: Mode) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let count = WIDTH * HEIGHT * mode.channels();
        let mut pixels: Vec<u8> = (0..count).map(|_| next()).collect();
        if mode == Mode::Bilevel {
            pixels.iter_mut().for_each(|pixel| *pixel = if *pixel > 100 { 255 } else { 0 });
        }
        pixels
    }

    /// FNV-1a.
    fn hash(bytes: &[u8]) -> String {
        let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        format!("{hash:016x}")
    }

    fn sampling(name: &str) -> Sampling {
        match name {
            "nearest" => Sampling::Nearest,
            "bilinear" => Sampling::Bilinear,
            "bicubic" => Sampling::Bicubic,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn results_are_those_of_pillow() {
        let mode = |name: &str| Mode::from_name(name).unwrap();
        let mut count = 0;
        let text = include_str!("../../tests/pillow/pixels.txt");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let number = |at: usize| fields[at].parse::<f64>().unwrap();
            let made = match fields[0] {
                "convert" => {
                    let from = mode(fields[1]);
                    convert(&picture(from), WIDTH, from, mode(fields[2]), fields[3] == "1")
                }
                "affine" => {
                    let mode = mode(fields[1]);
                    let bytes = picture(mode);
                    let channels = mode.channels();
                    let grid = Grid { width: WIDTH, height: HEIGHT, channels, bytes: &bytes };
                    let matrix = std::array::from_fn(|at| number(5 + at));
                    let (width, height) = (number(3) as usize, number(4) as usize);
                    let fill = vec![7; channels];
                    affine(grid, width, height, matrix, sampling(fields[2]), &fill)
                }
                "premultiply" => premultiply(&picture(Mode::Rgba)),
                "unmultiply" => unmultiply(&premultiply(&picture(Mode::Rgba))),
                "blend" => {
                    let below = picture(Mode::Rgb);
                    let above: Vec<u8> = below.rchunks_exact(3).flatten().copied().collect();
                    blend(&below, &above, &picture(Mode::L))
                }
                "pack_bits" => pack_bits(&picture(Mode::Bilevel), WIDTH),
                other => panic!("{other}"),
            };
            assert_eq!(hash(&made), fields[fields.len() - 1], "{line}");
            count += 1;
        }
        assert!(count > 100, "{count}");
    }
}
