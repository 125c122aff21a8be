//! MuJoCo's model and data as the simulator and the renderer use them.
//!
//! A compiled model takes up to some 300 MB, nearly all of it meshes and textures,
//! and a reset moves a few of its fixed bodies. So a compiled model is shared and
//! never changed, and everybody looks at it through a [`ModelView`], which holds
//! its own copy of the little that changes.

use std::ptr::NonNull;
use std::sync::Arc;

use mujoco_rs::logging::set_log_handler;
use mujoco_rs::mujoco_c::{
    mj_camlight, mj_comPos, mj_deleteData, mj_forward, mj_getState, mj_jacSite, mj_kinematics,
    mj_makeData, mj_resetData, mj_setState, mj_stateSize, mj_step, mj_step1, mj_step2, mjData,
    mjModel, mjtState, mjtWarning,
};
use mujoco_rs::wrappers::MjModel;
use mujoco_rs::wrappers::mj_cache::MjCache;
use mujoco_rs::wrappers::mj_logging::{MjLogMessage, MjtLogLevel};

/// Everything that the next step depends on; less does not resume bit for bit.
const INTEGRATION: i32 = mjtState::mjSTATE_INTEGRATION as i32;

#[derive(Debug, thiserror::Error)]
pub enum PhysicsError {
    #[error("MuJoCo could not allocate its data; free some memory and try again")]
    Allocation,
    #[error("the simulation became unstable at t = {time:.3} s ({what}); reset the episode")]
    Unstable { what: &'static str, time: f64 },
    #[error("{what} has {found} numbers, this scene needs {expected}")]
    Size { what: &'static str, expected: usize, found: usize },
}

/// Sends MuJoCo's messages to `tracing`. By itself MuJoCo writes them to the console
/// and into a file `MUJOCO_LOG.TXT` in the working directory.
///
/// # Safety
/// No other thread may use MuJoCo meanwhile: call it when the program starts.
pub unsafe fn log_to_tracing() {
    fn forward(message: &MjLogMessage) {
        let (place, text) = (message.func().unwrap_or_default(), message.subject());
        match message.level() {
            MjtLogLevel::mjLOG_ERROR => tracing::error!(place, "MuJoCo: {text}"),
            MjtLogLevel::mjLOG_WARNING => tracing::warn!(place, "MuJoCo: {text}"),
            _ => tracing::debug!(place, "MuJoCo: {text}"),
        }
    }
    // SAFETY: as the caller promises.
    unsafe { set_log_handler(forward) };
}

/// Gives back what compiling a model leaves behind: MuJoCo keeps the meshes it read,
/// and the allocator the pages. It is 300 of 750 MB for a LIBERO scene with its looks.
pub fn release_compiler_memory() {
    MjCache::current().clear();
    #[cfg(target_env = "gnu")]
    // SAFETY: may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A compiled model with its own poses of bodies and colours of sites.
///
/// All else is read from the shared model, which stays as it was compiled.
pub struct ModelView {
    /// A copy of MuJoCo's struct: its pointers lead into `base`, but for those
    /// to the arrays below.
    raw: Box<mjModel>,
    body_pos: Vec<[f64; 3]>,
    body_quat: Vec<[f64; 4]>,
    site_rgba: Vec<[f32; 4]>,
    /// Keeps alive what `raw` points to.
    base: Arc<MjModel>,
}

// SAFETY: what `raw` points to is either owned by the view or by `base`, which
// is shared and never written.
unsafe impl Send for ModelView {}

impl ModelView {
    pub fn new(base: Arc<MjModel>) -> Self {
        let mut raw = Box::new(base.ffi().clone());
        let mut body_pos = base.body_pos().to_vec();
        let mut body_quat = base.body_quat().to_vec();
        let mut site_rgba = base.site_rgba().to_vec();
        raw.body_pos = body_pos.as_mut_ptr().cast();
        raw.body_quat = body_quat.as_mut_ptr().cast();
        raw.site_rgba = site_rgba.as_mut_ptr().cast();
        ModelView { raw, body_pos, body_quat, site_rgba, base }
    }

    pub fn base(&self) -> &Arc<MjModel> {
        &self.base
    }

    pub fn raw(&self) -> &mjModel {
        &self.raw
    }

    /// Places a body in its parent's frame; `quat` is `wxyz`.
    pub fn set_body_pose(&mut self, body: usize, pos: [f64; 3], quat: [f64; 4]) {
        self.body_pos[body] = pos;
        self.body_quat[body] = quat;
    }

    /// Pose `[x y z qw qx qy qz]` of a body in its parent's frame.
    pub fn body_pose(&self, body: usize) -> [f64; 7] {
        let ([x, y, z], [qw, qx, qy, qz]) = (self.body_pos[body], self.body_quat[body]);
        [x, y, z, qw, qx, qy, qz]
    }

    pub fn site_rgba_mut(&mut self) -> &mut [[f32; 4]] {
        &mut self.site_rgba
    }
}

/// A model view and the state that is simulated in it.
pub struct Physics {
    view: ModelView,
    data: NonNull<mjData>,
}

// SAFETY: the data belongs to this value alone; see ModelView for the rest.
unsafe impl Send for Physics {}

impl Drop for Physics {
    fn drop(&mut self) {
        // SAFETY: `data` came from mj_makeData and is freed once.
        unsafe { mj_deleteData(self.data.as_ptr()) };
    }
}

impl Physics {
    pub fn new(view: ModelView) -> Result<Self, PhysicsError> {
        // SAFETY: the view holds a valid model.
        let data = NonNull::new(unsafe { mj_makeData(view.raw()) });
        Ok(Physics { view, data: data.ok_or(PhysicsError::Allocation)? })
    }

    pub fn view(&self) -> &ModelView {
        &self.view
    }

    pub fn view_mut(&mut self) -> &mut ModelView {
        &mut self.view
    }

    pub fn raw_data(&self) -> &mjData {
        // SAFETY: valid from mj_makeData until drop.
        unsafe { self.data.as_ref() }
    }

    pub(crate) fn raw_data_mut(&mut self) -> &mut mjData {
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { self.data.as_mut() }
    }

    /// Back to the compiled model's initial positions, at rest, without controls.
    pub fn reset(&mut self) {
        // SAFETY: model and data belong together.
        unsafe { mj_resetData(self.view.raw(), self.data.as_ptr()) };
    }

    pub fn forward(&mut self) {
        // SAFETY: model and data belong together.
        unsafe { mj_forward(self.view.raw(), self.data.as_ptr()) };
    }

    /// Poses of bodies, geoms, sites, cameras and lights at the present qpos, and no more.
    pub fn kinematics(&mut self) {
        // SAFETY: model and data belong together.
        unsafe {
            mj_kinematics(self.view.raw(), self.data.as_ptr());
            mj_comPos(self.view.raw(), self.data.as_ptr());
            mj_camlight(self.view.raw(), self.data.as_ptr());
        }
    }

    /// A whole step.
    pub fn step(&mut self) {
        // SAFETY: model and data belong together.
        unsafe { mj_step(self.view.raw(), self.data.as_ptr()) };
    }

    /// The half of a step that does not need the controls.
    pub fn step1(&mut self) {
        // SAFETY: model and data belong together.
        unsafe { mj_step1(self.view.raw(), self.data.as_ptr()) };
    }

    /// The half of a step that uses the controls and integrates.
    pub fn step2(&mut self) {
        // SAFETY: model and data belong together.
        unsafe { mj_step2(self.view.raw(), self.data.as_ptr()) };
    }

    /// Fails when MuJoCo found a number it could not go on with since the last
    /// reset; MuJoCo itself then quietly starts over from the initial positions.
    pub fn check_stable(&self) -> Result<(), PhysicsError> {
        let data = self.raw_data();
        let bad = [
            (mjtWarning::mjWARN_BADQPOS, "a position is not finite"),
            (mjtWarning::mjWARN_BADQVEL, "a velocity is not finite"),
            (mjtWarning::mjWARN_BADQACC, "an acceleration is not finite"),
            (mjtWarning::mjWARN_BADCTRL, "a control is not finite"),
        ];
        match bad.iter().find(|(kind, _)| data.warning[*kind as usize].number > 0) {
            Some((_, what)) => Err(PhysicsError::Unstable { what, time: data.time }),
            None => Ok(()),
        }
    }

    /// Size of [`Self::integration_state`].
    pub fn integration_size(&self) -> usize {
        // SAFETY: the model is valid.
        unsafe { mj_stateSize(self.view.raw(), INTEGRATION) as usize }
    }

    /// MuJoCo's `mjSTATE_INTEGRATION` vector.
    pub fn integration_state(&self) -> Vec<f64> {
        let mut state = vec![0.0; self.integration_size()];
        // SAFETY: `state` has the size that MuJoCo writes.
        unsafe {
            mj_getState(self.view.raw(), self.data.as_ptr(), state.as_mut_ptr(), INTEGRATION);
        }
        state
    }

    /// Fails unless `state` has the size of an integration state of this model.
    pub fn check_size(&self, state: &[f64]) -> Result<(), PhysicsError> {
        let expected = self.integration_size();
        if state.len() != expected {
            let what = "the integration state";
            return Err(PhysicsError::Size { what, expected, found: state.len() });
        }
        Ok(())
    }

    pub fn set_integration_state(&mut self, state: &[f64]) -> Result<(), PhysicsError> {
        self.check_size(state)?;
        // SAFETY: `state` has the size that MuJoCo reads.
        unsafe { mj_setState(self.view.raw(), self.data.as_ptr(), state.as_ptr(), INTEGRATION) };
        Ok(())
    }

    /// Jacobian of a site, `2 x 3 x nv` by rows: translation, then rotation.
    pub fn site_jacobian(&self, site: usize, out: &mut [f64]) {
        let half = 3 * self.view.raw().nv as usize;
        assert_eq!(out.len(), 2 * half, "a Jacobian of this model");
        assert!(site < self.view.raw().nsite as usize, "site {site}");
        let (translation, rotation) = out.split_at_mut(half);
        // SAFETY: each half holds 3 x nv numbers, and the site exists.
        unsafe {
            mj_jacSite(
                self.view.raw(),
                self.data.as_ptr(),
                translation.as_mut_ptr(),
                rotation.as_mut_ptr(),
                site as i32,
            );
        }
    }
}

/// Reads an array of the data: `len` elements of a MuJoCo struct's pointer.
macro_rules! arrays {
    ($($(#[$doc:meta])* $name:ident: $len:ident x $type:ty;)*) => {
        impl Physics {
            $($(#[$doc])* pub fn $name(&self) -> &[$type] {
                // SAFETY: MuJoCo allocates exactly this many for this model.
                unsafe {
                    std::slice::from_raw_parts(
                        self.raw_data().$name.cast(),
                        self.view.raw().$len as usize,
                    )
                }
            })*
        }
    };
}

arrays! {
    /// Generalized positions.
    qpos: nq x f64;
    /// Generalized velocities.
    qvel: nv x f64;
    /// Bias forces: gravity, Coriolis and centrifugal.
    qfrc_bias: nv x f64;
    /// Body positions in the world.
    xpos: nbody x [f64; 3];
    /// Body orientations in the world, `wxyz`.
    xquat: nbody x [f64; 4];
    /// Site positions in the world.
    site_xpos: nsite x [f64; 3];
    /// Site orientations in the world, 3 x 3 by rows.
    site_xmat: nsite x [f64; 9];
    /// Camera positions in the world.
    cam_xpos: ncam x [f64; 3];
    /// Camera orientations in the world, 3 x 3 by rows: x right, y up, z backward.
    cam_xmat: ncam x [f64; 9];
}

impl Physics {
    /// The joint-space inertia matrix's lower triangle, sparse by rows.
    pub fn inertia(&self) -> &[f64] {
        // SAFETY: MuJoCo allocates nC of them.
        unsafe { std::slice::from_raw_parts(self.raw_data().M, self.view.raw().nC as usize) }
    }

    pub fn time(&self) -> f64 {
        self.raw_data().time
    }

    pub fn set_time(&mut self, time: f64) {
        self.raw_data_mut().time = time;
    }

    pub fn qpos_mut(&mut self) -> &mut [f64] {
        let len = self.view.raw().nq as usize;
        // SAFETY: MuJoCo allocates nq of them.
        unsafe { std::slice::from_raw_parts_mut(self.raw_data_mut().qpos, len) }
    }

    pub fn qvel_mut(&mut self) -> &mut [f64] {
        let len = self.view.raw().nv as usize;
        // SAFETY: MuJoCo allocates nv of them.
        unsafe { std::slice::from_raw_parts_mut(self.raw_data_mut().qvel, len) }
    }

    pub fn ctrl_mut(&mut self) -> &mut [f64] {
        let len = self.view.raw().nu as usize;
        // SAFETY: MuJoCo allocates nu of them.
        unsafe { std::slice::from_raw_parts_mut(self.raw_data_mut().ctrl, len) }
    }

    /// Pairs of geoms that MuJoCo lists as contacts.
    pub fn contacts(&self) -> impl Iterator<Item = [i32; 2]> {
        let data = self.raw_data();
        let contacts = match data.ncon {
            // The pointer may be null without contacts.
            0 => &[],
            // SAFETY: `ncon` contacts lie in the data's arena.
            n => unsafe { std::slice::from_raw_parts(data.contact, n as usize) },
        };
        contacts.iter().map(|contact| contact.geom)
    }
}
