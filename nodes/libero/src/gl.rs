//! MuJoCo's renderer on an EGL context, without a window or a display server.

use std::sync::{Mutex, PoisonError};

use mujoco_rs::mujoco_c::{
    mjr_defaultContext, mjr_freeContext, mjr_makeContext, mjr_readPixels, mjr_render,
    mjr_resizeOffscreen, mjr_setBuffer, mjrContext, mjrRect, mjtCamera, mjtCatBit, mjtFontScale,
    mjtFramebuffer, mjtRndFlag, mjv_defaultCamera, mjv_defaultOption, mjv_defaultScene,
    mjv_freeScene, mjv_makeScene, mjv_updateScene, mjvCamera, mjvOption, mjvScene,
};

use crate::egl::{Egl, EglDevice, EglError};
use crate::physics::Physics;

/// The reference's limit of visible geoms.
const MAX_GEOMS: i32 = 1000;

/// MuJoCo's context creation writes to globals.
static CREATION: Mutex<()> = Mutex::new(());

/// How much care a picture gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quality {
    /// As the benchmark's own pictures, pixel by pixel.
    #[default]
    Full,
    /// Without multisampling and reflections: some three times faster, for people
    /// and video. The pixels differ, so no policy may see it.
    Preview,
}

/// An EGL context with MuJoCo's meshes and textures in it, for pictures of any size.
///
/// It belongs to the thread that made it.
pub struct Gl {
    mujoco: Box<mjrContext>,
    scene: Box<mjvScene>,
    options: mjvOption,
    /// Samples a pixel that the model asks for.
    samples: i32,
    quality: Quality,
    // Last, so that it outlives MuJoCo's part.
    egl: Egl,
}

impl Gl {
    /// Uploads the model's meshes and textures; takes about a second.
    ///
    /// # Errors
    /// [`EglError`] when this machine cannot render, or not on that device.
    pub fn new(
        physics: &Physics,
        device: &EglDevice,
        width: u32,
        height: u32,
    ) -> Result<Self, EglError> {
        let egl = Egl::open(device)?;
        let model = physics.view().raw();
        // SAFETY: all three structs are initialised by MuJoCo's own functions before
        // they are read, and a GL context is current on this thread.
        unsafe {
            let _one_at_a_time = CREATION.lock().unwrap_or_else(PoisonError::into_inner);
            let mut mujoco = Box::<mjrContext>::new_uninit();
            mjr_defaultContext(mujoco.as_mut_ptr());
            mjr_makeContext(model, mujoco.as_mut_ptr(), mjtFontScale::mjFONTSCALE_50 as i32);
            let mut mujoco = mujoco.assume_init();
            mjr_setBuffer(mjtFramebuffer::mjFB_OFFSCREEN as i32, &mut *mujoco);

            let mut scene = Box::<mjvScene>::new_uninit();
            mjv_defaultScene(scene.as_mut_ptr());
            mjv_makeScene(model, scene.as_mut_ptr(), MAX_GEOMS);
            let scene = scene.assume_init();

            let mut options = std::mem::MaybeUninit::<mjvOption>::uninit();
            mjv_defaultOption(options.as_mut_ptr());
            let mut options = options.assume_init();
            // robosuite's groups: 0 collides, 1 is seen.
            options.geomgroup[0] = 0;
            options.geomgroup[1] = 1;
            let (samples, quality) = (mujoco.offSamples, Quality::Full);
            let mut gl = Gl { mujoco, scene, options, samples, quality, egl };
            gl.grow(width, height);
            Ok(gl)
        }
    }

    /// Makes room for pictures of at least this size.
    fn grow(&mut self, width: u32, height: u32) {
        let (width, height) = (width as i32, height as i32);
        if width > self.mujoco.offWidth || height > self.mujoco.offHeight {
            let width = width.max(self.mujoco.offWidth);
            let height = height.max(self.mujoco.offHeight);
            // SAFETY: the context is current on this thread.
            unsafe { mjr_resizeOffscreen(width, height, &mut *self.mujoco) };
        }
    }

    /// Changes the buffer and what is drawn into it.
    fn set_quality(&mut self, quality: Quality) {
        if quality == self.quality {
            return;
        }
        self.quality = quality;
        let full = quality == Quality::Full;
        self.scene.flags[mjtRndFlag::mjRND_REFLECTION as usize] = u8::from(full);
        self.mujoco.offSamples = if full { self.samples } else { 0 };
        let (width, height) = (self.mujoco.offWidth, self.mujoco.offHeight);
        // SAFETY: the context is current on this thread. Only a change of size makes
        // MuJoCo allocate the buffer anew.
        unsafe {
            mjr_resizeOffscreen(1, 1, &mut *self.mujoco);
            mjr_resizeOffscreen(width, height, &mut *self.mujoco);
        }
    }

    /// Draws what a camera of the model sees, at the poses that `physics` has.
    pub fn draw(
        &mut self,
        physics: &mut Physics,
        camera: usize,
        [width, height]: [u32; 2],
        quality: Quality,
    ) -> Drawing<'_> {
        self.egl.make_current();
        self.set_quality(quality);
        self.grow(width, height);
        let model: *const _ = physics.view().raw();
        let data: *mut _ = physics.raw_data_mut();
        let viewport = mjrRect { left: 0, bottom: 0, width: width as i32, height: height as i32 };
        // SAFETY: model, data, scene and context belong together, and the GL context is current.
        unsafe {
            let mut view = std::mem::MaybeUninit::<mjvCamera>::uninit();
            mjv_defaultCamera(view.as_mut_ptr());
            let mut view = view.assume_init();
            view.type_ = mjtCamera::mjCAMERA_FIXED as i32;
            view.fixedcamid = camera as i32;
            mjv_updateScene(
                model,
                data,
                &self.options,
                std::ptr::null(),
                &mut view,
                mjtCatBit::mjCAT_ALL as i32,
                &mut *self.scene,
            );
        }
        Drawing { gl: self, viewport }
    }

    fn flags(&mut self, value: u8) {
        self.scene.flags[mjtRndFlag::mjRND_SEGMENT as usize] = value;
        self.scene.flags[mjtRndFlag::mjRND_IDCOLOR as usize] = value;
    }
}

impl Drop for Gl {
    fn drop(&mut self) {
        self.egl.make_current();
        // SAFETY: both were made in `new` and are freed once, with their context current.
        unsafe {
            mjv_freeScene(&mut *self.scene);
            mjr_freeContext(&mut *self.mujoco);
        }
    }
}

/// A scene made ready for one camera and size.
pub struct Drawing<'a> {
    gl: &'a mut Gl,
    viewport: mjrRect,
}

impl Drawing<'_> {
    fn pixels(&self) -> usize {
        self.viewport.width as usize * self.viewport.height as usize
    }

    /// RGB, three bytes a pixel, bottom row first; and the depth buffer's numbers in [0, 1].
    pub fn color(&mut self, depth: Option<&mut Vec<f32>>) -> Vec<u8> {
        let mut color = vec![0; 3 * self.pixels()];
        let depth = depth.map_or(std::ptr::null_mut(), |depth| {
            depth.resize(self.pixels(), 0.0);
            depth.as_mut_ptr()
        });
        // SAFETY: the buffers have the size that MuJoCo fills; the context is current.
        unsafe {
            mjr_render(self.viewport, &mut *self.gl.scene, &*self.gl.mujoco);
            mjr_readPixels(color.as_mut_ptr(), depth, self.viewport, &*self.gl.mujoco);
        }
        color
    }

    /// Type and id of the model element in each pixel, bottom row first; none for the background.
    pub fn elements(&mut self) -> Vec<Option<(i32, i32)>> {
        self.gl.flags(1);
        let color = self.color(None);
        self.gl.flags(0);
        let scene = &self.gl.scene;
        let mut elements = vec![None; scene.ngeom as usize + 1];
        for geom in 0..scene.ngeom as usize {
            // SAFETY: the scene holds `ngeom` geoms.
            let geom = unsafe { &*scene.geoms.add(geom) };
            let label = usize::try_from(geom.segid + 1).ok();
            if let Some(element) = label.and_then(|label| elements.get_mut(label)) {
                *element = Some((geom.objtype, geom.objid));
            }
        }
        // Label 0 is the background, whatever a geom without a label left there.
        elements[0] = None;
        let label =
            |rgb: &[u8]| usize::from(rgb[0]) | usize::from(rgb[1]) << 8 | usize::from(rgb[2]) << 16;
        color.chunks_exact(3).map(|rgb| elements.get(label(rgb)).copied().flatten()).collect()
    }
}
