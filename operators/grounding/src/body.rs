//! A thing as the pixels of its mask show it.

use depth_world_map::Camera;

/// Fewer points of a mask say nothing of where the thing is.
const LEAST_POINTS: usize = 10;
/// What is nearer than the mask's edge by more than this hides the thing, metres;
/// less is the table before it.
const NEARER: f32 = 0.01;

/// Where the visible surface of a thing is, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Median of each axis.
    pub center: [f64; 3],
    /// Lower corner of the box around it, without the outermost hundredth.
    pub low: [f64; 3],
    /// Upper corner, the same.
    pub high: [f64; 3],
}

/// What a mask came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub pixels: usize,
    /// `[col0 row0 col1 row1]` around the mask, the ends exclusive; zeros for an empty one.
    pub bounds: [usize; 4],
    /// Share of the mask's outline that nothing nearer hides and no border of the
    /// picture cuts, 0 to 1; 0 for an empty mask.
    pub seen: f64,
    /// Pixels with depth.
    pub points: usize,
    /// None when too few pixels have depth.
    pub body: Option<Body>,
}

impl Body {
    /// Size along each axis.
    #[must_use]
    pub fn extent(&self) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.high[axis] - self.low[axis])
    }
}

/// Measures a mask of 0 and 1, `height` x `width` by rows.
///
/// Without a camera, or with a depth picture of another size, there is no body
/// and only the picture's border counts for what was seen.
#[must_use]
pub fn measure(mask: &[u8], width: usize, depth: &[f32], camera: Option<&Camera>) -> Measured {
    let width = width.max(1);
    let height = mask.len() / width;
    let depth = if depth.len() == mask.len() { depth } else { &[] };
    let mut bounds = [width, height, 0, 0];
    let (mut pixels, mut outline, mut hidden) = (0, 0_usize, 0_usize);
    let mut axes: [Vec<f64>; 3] = Default::default();
    for (at, _) in mask.iter().enumerate().filter(|(_, inside)| **inside != 0) {
        let (row, col) = (at / width, at % width);
        pixels += 1;
        bounds[0] = bounds[0].min(col);
        bounds[1] = bounds[1].min(row);
        bounds[2] = bounds[2].max(col + 1);
        bounds[3] = bounds[3].max(row + 1);
        let neighbours = [
            (col > 0).then(|| at - 1),
            (col + 1 < width).then(|| at + 1),
            (row > 0).then(|| at - width),
            (row + 1 < height).then(|| at + width),
        ];
        for neighbour in neighbours {
            let Some(beside) = neighbour else {
                outline += 1;
                hidden += 1;
                continue;
            };
            if mask[beside] == 0 {
                outline += 1;
                hidden += usize::from(!depth.is_empty() && depth[beside] < depth[at] - NEARER);
            }
        }
        let seen = depth.get(at).and_then(|&z| camera?.point(row, col, z).ok());
        for (axis, value) in axes.iter_mut().zip(seen.into_iter().flatten()) {
            axis.push(value);
        }
    }
    if pixels == 0 {
        bounds = [0; 4];
    }
    let points = axes[0].len();
    let seen = match outline {
        0 => 0.0,
        outline => 1.0 - hidden as f64 / outline as f64,
    };
    Measured { pixels, bounds, seen, points, body: (points >= LEAST_POINTS).then(|| body(axes)) }
}

fn body(axes: [Vec<f64>; 3]) -> Body {
    let [x, y, z] = axes.map(|mut axis| {
        let last = axis.len() - 1;
        let low = *axis.select_nth_unstable_by(last / 100, f64::total_cmp).1;
        let high = *axis.select_nth_unstable_by(last - last / 100, f64::total_cmp).1;
        [low, median(&mut axis), high]
    });
    let at = |place: usize| [x[place], y[place], z[place]];
    Body { center: at(1), low: at(0), high: at(2) }
}

/// The middle value, or the mean of the two middle ones.
fn median(values: &mut [f64]) -> f64 {
    let even = values.len().is_multiple_of(2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(lower) if even => (lower + upper) / 2.0,
        _ => upper,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// One metre above the origin, looking down, one metre wide at one metre.
    fn camera(side: usize) -> Camera {
        let side_f = side as f64;
        let intrinsics = [side_f, 0.0, side_f / 2.0, 0.0, side_f, side_f / 2.0, 0.0, 0.0, 1.0];
        let down =
            [1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        Camera::new(side, side, intrinsics, down).unwrap()
    }

    fn square(side: usize, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Vec<u8> {
        (0..side * side)
            .map(|at| u8::from(rows.contains(&(at / side)) && cols.contains(&(at % side))))
            .collect()
    }

    #[test]
    fn a_mask_is_where_its_pixels_are() {
        let mask = square(100, 10..30, 40..60);
        let measured = measure(&mask, 100, &vec![1.0; 10_000], Some(&camera(100)));
        assert_eq!((measured.pixels, measured.points), (400, 400));
        assert_eq!(measured.bounds, [40, 10, 60, 30]);
        assert_eq!(measured.seen, 1.0);
        let body = measured.body.unwrap();
        assert!((body.center[0]).abs() < 1e-9 && (body.center[1] - 0.3).abs() < 1e-9);
        assert!((body.extent()[0] - 0.19).abs() < 1e-6, "{body:?}");
        assert!(body.center[2].abs() < 1e-9);
    }

    #[test]
    fn what_is_hidden_or_cut_off_is_not_seen() {
        let mask = square(100, 0..20, 40..60);
        let measured = measure(&mask, 100, &[], None);
        assert_eq!((measured.seen, measured.body), (0.75, None));

        // A wall before its right side.
        let mask = square(100, 10..30, 40..60);
        let depth: Vec<f32> =
            (0..10_000).map(|at| if at % 100 >= 60 { 0.5 } else { 1.0 }).collect();
        let measured = measure(&mask, 100, &depth, Some(&camera(100)));
        assert_eq!(measured.seen, 0.75);
    }

    #[test]
    fn pixels_without_depth_do_not_count() {
        let mask = square(100, 10..30, 40..60);
        let measured = measure(&mask, 100, &vec![f32::NAN; 10_000], Some(&camera(100)));
        assert_eq!((measured.pixels, measured.points, measured.body), (400, 0, None));
        let measured = measure(&[0; 100], 10, &[1.0; 100], Some(&camera(10)));
        assert_eq!((measured.pixels, measured.bounds, measured.seen), (0, [0; 4], 0.0));
        assert_eq!(measure(&[], 0, &[], None).pixels, 0);
    }
}
