//! From a depth picture to points in the world.
//!
//! The centre of pixel `(row, col)` is at `u = col + 0.5`, `v = row + 0.5`. With
//! depth `z` (metres along the optical axis) it lies at `[(u - cx) z / fx,
//! (v - cy) z / fy, z]` in the camera, whose axes are x right, y down, z forward;
//! `camera_to_world` carries it into the world. These are the matrices of a
//! `frame`, see `schemas/README.md`. (A calibration by OpenCV counts from the
//! centre of the first pixel: add 0.5 to its `cx` and `cy`.)
//!
//! ```
//! use depth_world_map::Camera;
//!
//! let intrinsics = [100.0, 0.0, 32.5, 0.0, 100.0, 24.5, 0.0, 0.0, 1.0];
//! let identity = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
//! let camera = Camera::new(64, 48, intrinsics, identity)?;
//! assert_eq!(camera.point(24, 132, 2.0)?, [2.0, 0.0, 2.0]);
//! # Ok::<(), depth_world_map::DepthError>(())
//! ```

use std::iter::Enumerate;
use std::slice::ChunksExact;

/// Why there is no point, or no map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DepthError {
    #[error("a picture of {height} x {width} pixels has no depth map of {found} values")]
    Length { height: usize, width: usize, found: usize },

    #[error("the intrinsic matrix needs finite numbers and focal lengths above 0, got {0:?}")]
    Intrinsics(Box<[f64; 9]>),

    #[error("the camera-to-world matrix needs finite numbers and the last row 0 0 0 1, got {0:?}")]
    CameraToWorld(Box<[f64; 16]>),

    #[error("pixel ({row}, {col}) is outside a picture of {height} x {width}")]
    Outside { row: usize, col: usize, height: usize, width: usize },

    #[error("no depth at pixel ({row}, {col})")]
    NoDepth { row: usize, col: usize },
}

/// A calibrated camera: picture size, intrinsics and place in the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    width: usize,
    height: usize,
    fx: f64,
    fy: f64,
    cx: f64,
    cy: f64,
    skew: f64,
    camera_to_world: [f64; 16],
}

impl Camera {
    /// `intrinsics` is 3 x 3 by rows, in pixels; `camera_to_world` is 4 x 4 by
    /// rows, in metres.
    ///
    /// # Errors
    /// [`DepthError::Intrinsics`] or [`DepthError::CameraToWorld`] when a matrix
    /// can't be one.
    pub fn new(
        width: usize,
        height: usize,
        intrinsics: [f64; 9],
        camera_to_world: [f64; 16],
    ) -> Result<Self, DepthError> {
        let [fx, skew, cx, _, fy, cy, ..] = intrinsics;
        let sound = intrinsics.iter().all(|v| v.is_finite()) && fx > 0.0 && fy > 0.0;
        if !sound {
            return Err(DepthError::Intrinsics(Box::new(intrinsics)));
        }
        let sound = camera_to_world.iter().all(|v| v.is_finite())
            && camera_to_world[12..] == [0.0, 0.0, 0.0, 1.0];
        if !sound {
            return Err(DepthError::CameraToWorld(Box::new(camera_to_world)));
        }
        Ok(Camera { width, height, fx, fy, cx, cy, skew, camera_to_world })
    }

    /// World points of all pixels, `height` x `width` x 3 by rows, metres. A
    /// pixel without depth (not finite, or not in front of the camera) is not a
    /// number in all three.
    ///
    /// # Errors
    /// [`DepthError::Length`] when `depth` is not `height` x `width`.
    pub fn world_map(&self, depth: &[f32]) -> Result<Vec<f32>, DepthError> {
        let mut rows = self.rows(depth)?;
        let mut map = Vec::with_capacity(3 * depth.len());
        while let Some(points) = rows.next_row() {
            map.extend_from_slice(points);
        }
        Ok(map)
    }

    /// The rows of [`world_map`](Self::world_map) one by one, for who puts them
    /// elsewhere.
    ///
    /// # Errors
    /// As `world_map`.
    pub fn rows<'a>(&'a self, depth: &'a [f32]) -> Result<Rows<'a>, DepthError> {
        self.check_length(depth)?;
        let lines = depth.chunks_exact(self.width.max(1)).enumerate();
        Ok(Rows { camera: self, lines, points: vec![0.0; 3 * depth.len().min(self.width)] })
    }

    /// World point of one pixel, metres.
    ///
    /// # Errors
    /// [`DepthError::Outside`], [`DepthError::NoDepth`] or [`DepthError::Length`].
    pub fn back_project(
        &self,
        depth: &[f32],
        row: usize,
        col: usize,
    ) -> Result<[f64; 3], DepthError> {
        self.check_length(depth)?;
        let (height, width) = (self.height, self.width);
        if row >= height || col >= width {
            return Err(DepthError::Outside { row, col, height, width });
        }
        self.point(row, col, depth[row * width + col])
    }

    /// World point at depth `z` behind a pixel, metres; the pixel may lie outside
    /// the picture.
    ///
    /// # Errors
    /// [`DepthError::NoDepth`] when `z` is not finite or not above 0.
    pub fn point(&self, row: usize, col: usize, z: f32) -> Result<[f64; 3], DepthError> {
        if seen(z) {
            Ok(self.project(row, col, f64::from(z)))
        } else {
            Err(DepthError::NoDepth { row, col })
        }
    }

    fn check_length(&self, depth: &[f32]) -> Result<(), DepthError> {
        let (height, width) = (self.height, self.width);
        if height.checked_mul(width) == Some(depth.len()) {
            Ok(())
        } else {
            Err(DepthError::Length { height, width, found: depth.len() })
        }
    }

    fn project(&self, row: usize, col: usize, z: f64) -> [f64; 3] {
        let y = (row as f64 + 0.5 - self.cy) / self.fy;
        let x = (col as f64 + 0.5 - self.cx - self.skew * y) / self.fx;
        let m = &self.camera_to_world;
        [0, 1, 2].map(|i| (m[4 * i] * x + m[4 * i + 1] * y + m[4 * i + 2]) * z + m[4 * i + 3])
    }
}

/// World points of a depth picture, a row at a time; see [`Camera::rows`].
pub struct Rows<'a> {
    camera: &'a Camera,
    lines: Enumerate<ChunksExact<'a, f32>>,
    points: Vec<f32>,
}

impl Rows<'_> {
    /// The points of the next row, `width` x 3, metres; the call after it
    /// overwrites them.
    pub fn next_row(&mut self) -> Option<&[f32]> {
        let (row, line) = self.lines.next()?;
        for ((col, &z), point) in line.iter().enumerate().zip(self.points.as_chunks_mut().0) {
            // Not a number spreads to all three.
            let z = if seen(z) { f64::from(z) } else { f64::NAN };
            *point = self.camera.project(row, col, z).map(|v| v as f32);
        }
        Some(&self.points)
    }
}

fn seen(z: f32) -> bool {
    z.is_finite() && z > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTRINSICS: [f64; 9] = [100.0, 0.0, 2.0, 0.0, 50.0, 1.0, 0.0, 0.0, 1.0];

    /// A camera 1 m above the origin, looking down; its x is the world's x.
    const DOWN: [f64; 16] =
        [1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0];

    fn camera() -> Camera {
        Camera::new(4, 2, INTRINSICS, DOWN).unwrap()
    }

    fn near(a: [f64; 3], b: [f64; 3]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    #[test]
    fn a_pixel_lands_where_the_pinhole_model_puts_it() {
        // 1.5 columns right of the picture's centre, half a row above it, 0.5 m below the camera.
        let point = camera().back_project(&[0.5; 8], 0, 3).unwrap();
        assert!(near(point, [1.5 * 0.5 / 100.0, 0.5 * 0.5 / 50.0, 0.5]), "{point:?}");
    }

    #[test]
    fn projecting_a_point_back_gives_its_pixel() {
        let camera = camera();
        for (row, col, z) in [(0, 0, 0.3_f32), (1, 2, 0.9), (1, 3, 2.5)] {
            let [x, y, height] = camera.point(row, col, z).unwrap();
            // World to camera by hand: down is forward, and the image y is minus the world y.
            let depth = 1.0 - height;
            let (u, v) = (100.0 * x / depth + 2.0, 50.0 * -y / depth + 1.0);
            assert!(
                (u - col as f64 - 0.5).abs() < 1e-9 && (v - row as f64 - 0.5).abs() < 1e-9,
                "{u} {v}"
            );
        }
    }

    #[test]
    fn a_map_agrees_with_its_pixels_and_has_holes_where_nothing_was_seen() {
        let depth = [0.5, f32::NAN, 0.0, -1.0, f32::INFINITY, 1.0, 2.0, 3.0];
        let camera = camera();
        let map = camera.world_map(&depth).unwrap();
        assert_eq!(map.len(), 24);
        for (i, point) in map.chunks_exact(3).enumerate() {
            match camera.back_project(&depth, i / 4, i % 4) {
                Ok(expected) => assert_eq!(point, expected.map(|v| v as f32)),
                Err(error) => {
                    assert_eq!(error, DepthError::NoDepth { row: i / 4, col: i % 4 });
                    assert!(point.iter().all(|v| v.is_nan()));
                }
            }
        }
        assert_eq!(map.iter().filter(|v| v.is_nan()).count(), 12);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let camera = camera();
        assert_eq!(
            camera.world_map(&[1.0; 7]),
            Err(DepthError::Length { height: 2, width: 4, found: 7 })
        );
        assert_eq!(
            camera.back_project(&[1.0; 8], 2, 0).unwrap_err().to_string(),
            "pixel (2, 0) is outside a picture of 2 x 4"
        );
        let mut flat = INTRINSICS;
        flat[4] = 0.0;
        assert!(matches!(Camera::new(4, 2, flat, DOWN), Err(DepthError::Intrinsics(_))));
        let mut broken = DOWN;
        broken[3] = f64::NAN;
        assert!(matches!(Camera::new(4, 2, INTRINSICS, broken), Err(DepthError::CameraToWorld(_))));
        let huge = Camera::new(usize::MAX, 2, INTRINSICS, DOWN).unwrap();
        assert!(huge.world_map(&[1.0]).is_err());
        assert_eq!(Camera::new(0, 0, INTRINSICS, DOWN).unwrap().world_map(&[]), Ok(Vec::new()));
    }
}
