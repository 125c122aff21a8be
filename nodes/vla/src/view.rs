//! What a LIBERO policy sees of a frame and an observation.

use image_codec::{Filter, Pixels, resize};
use ruaflow_schemas::{CameraFrame, Observation};

/// An RGB picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// `height` x `width` x 3 bytes, top row first.
    pub rgb: Vec<u8>,
}

/// Both cameras at one control step.
#[derive(Clone, Debug)]
pub struct Pictures {
    pub agentview: Picture,
    pub wrist: Picture,
}

impl Picture {
    /// The picture as policies for LIBERO were trained on it: mirrored left to right.
    ///
    /// The benchmark hands out its pictures upside down, and openpi turns them by half
    /// a turn; both together mirror what the camera saw (openpi, `examples/libero/main.py`).
    ///
    /// # Errors
    /// When the frame is not the picture it says it is.
    pub fn mirrored(frame: &CameraFrame) -> Result<Self, String> {
        let (row_bytes, color) = (frame.width as usize * 3, &frame.color.0);
        if row_bytes == 0 || color.len() != row_bytes * frame.height as usize {
            return Err(format!(
                "camera {:?} sent {} bytes for {} x {} pixels",
                frame.camera,
                color.len(),
                frame.width,
                frame.height
            ));
        }
        let mut rgb = Vec::with_capacity(color.len());
        for row in color.chunks_exact(row_bytes) {
            rgb.extend(row.as_chunks::<3>().0.iter().rev().flatten());
        }
        Ok(Picture { width: frame.width, height: frame.height, rgb })
    }

    /// Fits the picture into a square by scaling, and fills the rest with black
    /// (openpi-client 0.1.2, `image_tools.py`).
    ///
    /// # Errors
    /// When a size is out of range.
    pub fn fitted(&self, side: u32) -> Result<Self, String> {
        if self.width == side && self.height == side {
            return Ok(self.clone());
        }
        let ratio =
            (f64::from(self.width) / f64::from(side)).max(f64::from(self.height) / f64::from(side));
        let scaled = |length: u32| ((f64::from(length) / ratio) as u32).clamp(1, side);
        let (width, height) = (scaled(self.width), scaled(self.height));
        let pixels =
            Pixels { width: self.width, height: self.height, channels: 3, bytes: &self.rgb };
        let small =
            resize(pixels, width, height, Filter::Bilinear).map_err(|error| error.to_string())?;
        let mut rgb = vec![0; side as usize * side as usize * 3];
        let (top, left) = ((side - height) / 2, (side - width) / 2);
        for (row, line) in small.chunks_exact(width as usize * 3).enumerate() {
            let start = ((top as usize + row) * side as usize + left as usize) * 3;
            rgb[start..start + line.len()].copy_from_slice(line);
        }
        Ok(Picture { width: side, height: side, rgb })
    }
}

/// The eight numbers a LIBERO policy knows of the robot.
///
/// # Errors
/// When the observation has no arm with two fingers.
pub fn policy_state(observation: &Observation) -> Result<[f32; 8], String> {
    let arm = observation.arms.first().ok_or("the robot has no arm")?;
    let [left, right] = arm.gripper_qpos[..] else {
        return Err(format!("the gripper has {} joints, expected 2", arm.gripper_qpos.len()));
    };
    let [x, y, z] = arm.eef_pos;
    let [rx, ry, rz] = rotation_vector(arm.eef_quat);
    Ok([x, y, z, rx, ry, rz, left, right].map(|value| value as f32))
}

/// Direction of the axis times the angle in [0, 2 pi], as robosuite's `quat2axisangle`
/// has it: the quaternion's sign is kept.
fn rotation_vector(quat: [f64; 4]) -> [f64; 3] {
    let [x, y, z, w] = quat;
    let w = w.clamp(-1.0, 1.0);
    let sine = (1.0 - w * w).sqrt();
    if sine.abs() <= 1e-9 {
        return [0.0; 3];
    }
    let scale = 2.0 * w.acos() / sine;
    [x * scale, y * scale, z * scale]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::f64::consts::PI;

    use ruaflow_schemas::{ArmState, Bytes};

    use super::*;

    #[test]
    fn a_policy_sees_the_mirror_image() {
        let color = Bytes(vec![1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
        let frame = CameraFrame { width: 2, height: 2, color, ..CameraFrame::default() };
        let picture = Picture::mirrored(&frame).unwrap();
        assert_eq!(picture.rgb, [2, 2, 2, 1, 1, 1, 4, 4, 4, 3, 3, 3]);

        let short = CameraFrame { height: 3, ..frame };
        assert!(Picture::mirrored(&short).unwrap_err().contains("12 bytes for 2 x 3"));
    }

    #[test]
    fn a_wide_picture_is_padded_above_and_below() {
        let picture = Picture { width: 8, height: 4, rgb: vec![200; 96] };
        let fitted = picture.fitted(4).unwrap();
        assert_eq!((fitted.width, fitted.height), (4, 4));
        let rows: Vec<u8> = fitted.rgb.chunks_exact(12).map(|row| row[0]).collect();
        assert_eq!(rows, [0, 200, 200, 0]);
    }

    #[test]
    fn the_state_ends_with_the_fingers() {
        let arm = ArmState {
            eef_pos: [0.1, 0.2, 0.3],
            eef_quat: [1.0, 0.0, 0.0, 0.0],
            gripper_qpos: vec![0.04, -0.04],
            ..ArmState::default()
        };
        let observation = Observation { arms: vec![arm], ..Observation::default() };
        let expected = [0.1, 0.2, 0.3, PI as f32, 0.0, 0.0, 0.04, -0.04];
        let found = policy_state(&observation).unwrap();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        assert!(policy_state(&Observation::default()).is_err());
    }
}
