use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use ruaflow_kit::FrameReply;
use ruaflow_schemas::{Bytes, CameraFrame, FrameRequest};

use crate::render::{RenderError, RenderScene, Renderer, Want};
use crate::state::SimState;

/// Makes pictures on a thread of its own, which the simulation never waits for.
#[derive(Default)]
pub struct Painter {
    thread: Option<Sender<Job>>,
}

enum Job {
    Show(Box<RenderScene>),
    Clear,
    Paint { state: Arc<SimState>, request: FrameRequest, reply: FrameReply },
}

impl Painter {
    /// Pictures from here on are of this scene.
    pub fn show(&mut self, scene: RenderScene) {
        self.send(Job::Show(Box::new(scene)));
    }

    /// Lets go of the scene.
    pub fn clear(&mut self) {
        self.send(Job::Clear);
    }

    pub fn paint(&mut self, state: Arc<SimState>, request: FrameRequest, reply: FrameReply) {
        self.send(Job::Paint { state, request, reply });
    }

    /// A job that can't be taken is dropped, and its reply says so.
    fn send(&mut self, job: Job) {
        if self.thread.is_none() {
            let (sender, jobs) = unbounded();
            match std::thread::Builder::new().name("render".to_owned()).spawn(move || work(&jobs)) {
                Ok(_) => self.thread = Some(sender),
                Err(error) => tracing::error!(%error, "no thread to render on"),
            }
        }
        if let Some(thread) = &self.thread {
            let _ = thread.send(job);
        }
    }
}

fn work(jobs: &Receiver<Job>) {
    let mut scene = None;
    let mut renderer = None;
    for job in jobs {
        match job {
            Job::Show(shown) => {
                renderer = None;
                scene = Some(shown);
            }
            Job::Clear => {
                renderer = None;
                scene = None;
            }
            Job::Paint { state, request, reply } => {
                match paint(&mut renderer, scene.as_deref(), &state, &request) {
                    Ok(frame) => reply.send(frame),
                    Err(reason) => reply.refuse(&reason),
                }
            }
        }
    }
}

/// Makes the renderer for the first picture, since many runs need none.
fn paint(
    renderer: &mut Option<Renderer>,
    scene: Option<&RenderScene>,
    state: &SimState,
    request: &FrameRequest,
) -> Result<CameraFrame, String> {
    let text = |error: RenderError| error.to_string();
    let renderer = match (renderer, scene) {
        (Some(renderer), _) => renderer,
        (none, Some(scene)) => none.insert(Renderer::new(scene.clone()).map_err(text)?),
        (None, None) => return Err("no scene".to_owned()),
    };
    let want = Want { depth: request.depth, segmentation: request.segmentation };
    let picture = renderer
        .render(state, &request.camera, request.width, request.height, want)
        .map_err(text)?;
    let instances =
        if request.segmentation { renderer.scene().instances().to_vec() } else { Vec::new() };
    Ok(CameraFrame {
        control_step: state.control_step,
        time_ns: super::nanoseconds(state.time),
        width: picture.width,
        height: picture.height,
        color: Bytes(picture.color),
        depth: picture.depth,
        segmentation: picture.segmentation,
        instances,
        intrinsics: picture.intrinsics,
        camera_to_world: picture.camera_to_world,
        ..CameraFrame::default()
    })
}
