use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use ruaflow_kit::FrameReply;
use ruaflow_schemas::{Bytes, CameraFrame, FrameRequest};

use super::album::{Album, Key};
use crate::egl::EglDevice;
use crate::gl::Quality;
use crate::render::{Picture, RenderError, RenderScene, Renderer, Want};
use crate::state::{SimState, nanoseconds};

/// Makes pictures on a thread of its own, which the simulation never waits for.
pub struct Painter {
    device: EglDevice,
    thread: Option<Sender<Job>>,
}

enum Job {
    Show(Box<RenderScene>),
    Clear,
    Forget,
    Paint { state: Arc<SimState>, request: FrameRequest, reply: FrameReply },
}

impl Painter {
    pub fn new(device: EglDevice) -> Self {
        Painter { device, thread: None }
    }

    /// Pictures from here on are of this scene.
    pub fn show(&mut self, scene: RenderScene) {
        self.send(Job::Show(Box::new(scene)));
    }

    /// Lets go of the scene.
    pub fn clear(&mut self) {
        self.send(Job::Clear);
    }

    /// Control steps from here on are those of another episode.
    pub fn forget_pictures(&mut self) {
        self.send(Job::Forget);
    }

    pub fn paint(&mut self, state: Arc<SimState>, request: FrameRequest, reply: FrameReply) {
        self.send(Job::Paint { state, request, reply });
    }

    /// A job that can't be taken is dropped, and its reply says so.
    fn send(&mut self, job: Job) {
        if self.thread.is_none() {
            let (sender, jobs) = unbounded();
            let device = self.device.clone();
            // Its renderer belongs to the thread that made it.
            let work = move || Studio::new(device).work(&jobs);
            match std::thread::Builder::new().name("render".to_owned()).spawn(work) {
                Ok(_) => self.thread = Some(sender),
                Err(error) => tracing::error!(%error, "no thread to render on"),
            }
        }
        if let Some(thread) = &self.thread {
            let _ = thread.send(job);
        }
    }
}

/// What the rendering thread works with.
struct Studio {
    device: EglDevice,
    scene: Option<Box<RenderScene>>,
    /// Made for the first picture, since many runs need none.
    renderer: Option<Renderer>,
    album: Album,
}

impl Studio {
    fn new(device: EglDevice) -> Self {
        Studio { device, scene: None, renderer: None, album: Album::default() }
    }

    fn work(&mut self, jobs: &Receiver<Job>) {
        for job in jobs {
            match job {
                Job::Show(scene) => {
                    self.renderer = None;
                    self.scene = Some(scene);
                }
                Job::Clear => {
                    self.renderer = None;
                    self.scene = None;
                }
                Job::Forget => self.album = Album::default(),
                Job::Paint { state, request, reply } => match self.paint(&state, &request) {
                    Ok((frame, true)) => reply.send(frame),
                    Ok((frame, false)) => reply.send_kept(frame),
                    Err(reason) => reply.refuse(&reason),
                },
            }
        }
    }

    /// The picture that was asked for, and whether any of it had to be rendered.
    fn paint(
        &mut self,
        state: &SimState,
        request: &FrameRequest,
    ) -> Result<(CameraFrame, bool), String> {
        let text = |error: RenderError| error.to_string();
        let key = Key::new(state.control_step, request);
        let kept = self.album.take(&key);
        let lacks_labels =
            |picture: &Picture| request.segmentation && picture.segmentation.is_empty();
        let rendered = kept.as_ref().is_none_or(lacks_labels);
        let size = [request.width, request.height];
        let quality = if request.preview { Quality::Preview } else { Quality::Full };
        let renderer = self.renderer()?;
        let picture = match kept {
            Some(mut picture) => {
                if rendered {
                    picture.segmentation =
                        renderer.segment(state, &request.camera, size).map_err(text)?;
                }
                picture
            }
            None => {
                // With depth, which costs next to nothing, so that it is there when asked for later.
                let want = Want { depth: true, segmentation: request.segmentation };
                renderer.render_in(quality, state, &request.camera, size, want).map_err(text)?
            }
        };
        let instances =
            if request.segmentation { renderer.scene().instances().to_vec() } else { Vec::new() };
        let frame = frame(&picture, state, request, instances);
        self.album.keep(key, picture);
        Ok((frame, rendered))
    }

    fn renderer(&mut self) -> Result<&mut Renderer, String> {
        match (&mut self.renderer, &self.scene) {
            (Some(renderer), _) => Ok(renderer),
            (none, Some(scene)) => {
                let made = Renderer::on(RenderScene::clone(scene), self.device.clone());
                Ok(none.insert(made.map_err(|error| error.to_string())?))
            }
            (None, None) => Err("no scene".to_owned()),
        }
    }
}

fn frame(
    picture: &Picture,
    state: &SimState,
    request: &FrameRequest,
    instances: Vec<String>,
) -> CameraFrame {
    let depth = if request.depth { picture.depth.clone() } else { Vec::new() };
    let segmentation = if request.segmentation { picture.segmentation.clone() } else { Vec::new() };
    CameraFrame {
        control_step: state.control_step,
        time_ns: nanoseconds(state.time),
        preview: request.preview,
        width: picture.width,
        height: picture.height,
        color: Bytes(picture.color.clone()),
        depth,
        depth_range: Some(picture.depth_range),
        segmentation,
        instances,
        intrinsics: picture.intrinsics,
        camera_to_world: picture.camera_to_world,
        ..CameraFrame::default()
    }
}
