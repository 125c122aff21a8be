//! Words in a picture.

use std::convert::Infallible;

use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::iso_8859_1::{
    FONT_5X8, FONT_6X10, FONT_7X13, FONT_9X15, FONT_10X20,
};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::{Rgb888, RgbColor as _};
use embedded_graphics::text::{Baseline, Text};
use embedded_graphics::{Drawable as _, Pixel};

/// Fonts, the largest first.
const FONTS: [&MonoFont<'static>; 5] = [&FONT_10X20, &FONT_9X15, &FONT_7X13, &FONT_6X10, &FONT_5X8];
/// Characters a line should have room for.
const COLUMNS: u32 = 42;
/// Pixels around the words.
const MARGIN: u32 = 3;
/// The picture keeps one part in so many of its light behind the words.
const DIM: u8 = 4;

/// Writes lines at the foot of a picture of `[width, height]` pixels (RGB, top row
/// first), over a darkened strip. What does not fit is cut off; letters beyond
/// Latin-1 become question marks.
pub fn caption(rgb: &mut [u8], [width, height]: [u32; 2], lines: &[impl AsRef<str>]) {
    if lines.is_empty() {
        return;
    }
    let fits = |font: &&&MonoFont| width / font.character_size.width >= COLUMNS;
    let font = FONTS.iter().find(fits).copied().unwrap_or(&FONT_5X8);
    let letter = font.character_size;
    let strip = (lines.len() as u32 * letter.height + 2 * MARGIN).min(height);
    let top = height - strip;
    let row = 3 * width as usize;
    for value in rgb.iter_mut().skip(top as usize * row) {
        *value /= DIM;
    }
    let columns = (width.saturating_sub(2 * MARGIN) / letter.width) as usize;
    let style = MonoTextStyle::new(font, Rgb888::WHITE);
    let mut canvas = Canvas { rgb, size: Size::new(width, height) };
    for (number, line) in lines.iter().enumerate() {
        let text: String = line.as_ref().chars().take(columns).collect();
        let y = top + MARGIN + number as u32 * letter.height;
        let place = Point::new(MARGIN as i32, y as i32);
        let Ok(_) = Text::with_baseline(&text, place, style, Baseline::Top).draw(&mut canvas);
    }
}

struct Canvas<'a> {
    rgb: &'a mut [u8],
    size: Size,
}

impl OriginDimensions for Canvas<'_> {
    fn size(&self) -> Size {
        self.size
    }
}

impl DrawTarget for Canvas<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I>(&mut self, pixels: I) -> Result<(), Infallible>
    where
        I: IntoIterator<Item = Pixel<Rgb888>>,
    {
        for Pixel(point, color) in pixels {
            let (Ok(x), Ok(y)) = (u32::try_from(point.x), u32::try_from(point.y)) else {
                continue;
            };
            if x < self.size.width && y < self.size.height {
                let at = 3 * (y * self.size.width + x) as usize;
                self.rgb[at..at + 3].copy_from_slice(&[color.r(), color.g(), color.b()]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(width: u32, height: u32) -> Vec<u8> {
        vec![128; 3 * (width * height) as usize]
    }

    #[test]
    fn words_stand_at_the_foot_and_leave_the_rest_alone() {
        let mut rgb = grey(256, 256);
        caption(&mut rgb, [256, 256], &["cell 4", "move_to(xyz=[0, 0, 0.2])"]);
        let strip = 3 * 256 * (2 * 10 + 2 * MARGIN) as usize;
        let (above, below) = rgb.split_at(rgb.len() - strip);
        assert!(above.iter().all(|&value| value == 128));
        assert!(below.iter().all(|&value| value == 128 / DIM || value == 255));
        assert!(below.contains(&255));
    }

    #[test]
    fn no_words_change_nothing_and_no_size_is_too_small() {
        let mut rgb = grey(64, 64);
        caption(&mut rgb, [64, 64], &[] as &[&str]);
        assert!(rgb == grey(64, 64));
        for [width, height] in [[2, 2], [16, 16], [100, 8]] {
            let mut rgb = grey(width, height);
            caption(&mut rgb, [width, height], &["long ".repeat(50), "\u{1f980}".to_owned()]);
            assert!(rgb.iter().all(|&value| value != 128));
        }
    }

    #[test]
    fn different_words_look_different() {
        let written = |text: &str| {
            let mut rgb = grey(128, 32);
            caption(&mut rgb, [128, 32], &[text]);
            rgb
        };
        assert!(written("open") != written("close"));
        assert!(written("open") == written("open"));
    }
}
