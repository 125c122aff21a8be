//! Where the cameras are and how they see.

use mujoco_rs::wrappers::MjModel;
use mujoco_rs::wrappers::mj_model::MjtObjBase;

use crate::physics::Physics;

/// Short names of cameras, and what the model calls them.
const ALIASES: [(&str, &str); 1] = [("wrist", "robot0_eye_in_hand")];

/// A camera of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    id: usize,
    /// Vertical field of view, radians.
    fovy: f64,
}

impl Camera {
    /// Finds a camera by its name in the model or its short name.
    pub fn find(model: &MjModel, name: &str) -> Option<Self> {
        // A name with a zero byte is no C string; MuJoCo's wrapper would panic.
        if name.contains('\0') {
            return None;
        }
        let alias = ALIASES.iter().find(|(short, _)| *short == name);
        let full = alias.map_or(name, |(_, full)| full);
        let id = model.name_to_id(MjtObjBase::mjOBJ_CAMERA, full)?;
        Some(Camera { id, fovy: model.cam_fovy()[id].to_radians() })
    }

    /// Names that [`Self::find`] knows: the model's, the short ones in place of theirs.
    pub fn names(model: &MjModel) -> Vec<String> {
        let all = (0..model.ffi().ncam as usize)
            .filter_map(|id| model.id_to_name(MjtObjBase::mjOBJ_CAMERA, id));
        all.map(|name| {
            let alias = ALIASES.iter().find(|(_, full)| *full == name);
            alias.map_or(name, |(short, _)| short).to_owned()
        })
        .collect()
    }

    /// Vertical field of view, radians.
    pub fn fov_y(&self) -> f64 {
        self.fovy
    }

    pub(crate) fn id(&self) -> usize {
        self.id
    }

    /// Intrinsic matrix, 3 x 3 by rows, pixels. Square pixels; the principal point is
    /// the picture's centre. The centre of pixel `(row, col)` is at `(col + 0.5, row + 0.5)`.
    pub fn intrinsics(&self, width: u32, height: u32) -> [f64; 9] {
        let (width, height) = (f64::from(width), f64::from(height));
        let focal = 0.5 * height / (0.5 * self.fovy).tan();
        [focal, 0.0, 0.5 * width, 0.0, focal, 0.5 * height, 0.0, 0.0, 1.0]
    }

    /// Camera to world, 4 x 4 by rows, metres; camera axes x right, y down, z forward.
    pub(crate) fn to_world(&self, physics: &Physics) -> [f64; 16] {
        let [x, y, z] = physics.cam_xpos()[self.id];
        let m = physics.cam_xmat()[self.id];
        // MuJoCo's camera looks along -z with y up.
        [
            m[0], -m[1], -m[2], x, //
            m[3], -m[4], -m[5], y, //
            m[6], -m[7], -m[8], z, //
            0.0, 0.0, 0.0, 1.0,
        ]
    }
}
