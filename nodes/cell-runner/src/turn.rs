//! What a cell has beside the robot, and what comes back of its turn: files,
//! pictures, and the text that the agent reads.

use std::path::Path;

use image_codec::Rgb;
use ruaflow_schemas::CellResult;
use serde_json::Value;

use crate::feedback::{self, Feedback, Images};
use crate::protocol::{Answer, FileRequest, Picture};
use crate::runner::{Outgoing, Runner};
use crate::workspace::{self, Workspace};

/// How turns are told, and the files of the present episode.
#[derive(Default)]
pub(crate) struct Turns {
    feedback: Feedback,
    images: Images,
    /// Whether the robot's guides lie in the workspace.
    guides: bool,
    /// Its path is that of the cell before.
    workspace: Option<(String, Workspace)>,
}

impl Runner {
    /// Says what agents are told and shown; before the first card.
    pub fn report(&mut self, feedback: Feedback, images: Images) {
        self.turns.feedback = feedback;
        self.turns.images = images;
    }

    /// Puts the robot's guides into workspaces; before the first card.
    pub fn give_guides(&mut self, give: bool) {
        self.turns.guides = give;
    }

    /// Opens the folder whose files a cell sees, unless it is open already.
    pub(crate) fn open_workspace(&mut self, path: &str) {
        if self.turns.workspace.as_ref().is_some_and(|(open, _)| open == path) {
            return;
        }
        self.turns.workspace = None;
        let Some(episode) = self.episode.as_ref().filter(|_| !path.is_empty()) else { return };
        let guides = if self.turns.guides { ruaflow_robots::guides(episode.api.name) } else { &[] };
        match Workspace::open(Path::new(path), guides) {
            Ok(workspace) => self.turns.workspace = Some((path.to_owned(), workspace)),
            Err(error) => {
                let text = format!("the workspace {path:?} can't be used: {error}");
                self.out.push_back(Outgoing::Warning(text));
            }
        }
    }

    /// Answers a cell's question about a file.
    pub(crate) fn file(&self, id: u64, request: &FileRequest, bytes: &[u8]) {
        let workspace = self.turns.workspace.as_ref().map(|(_, workspace)| workspace);
        workspace::reply(workspace, &self.child, id, request, bytes);
    }

    /// Takes a picture that the cell displays.
    pub(crate) fn display(&mut self, id: u64, picture: &Picture, bytes: &[u8]) {
        if let Some(running) = &mut self.running {
            running.displayed += 1;
            let name = match picture.caption.as_str() {
                "" => format!("display {}", running.displayed),
                caption => caption.to_owned(),
            };
            let taken = rgb(&picture.shape, bytes).map(|rgb| running.shown.push_rgb(&name, rgb));
            // Told with the other pictures, so that a loop goes on.
            if let Some(Err(error)) = taken {
                running.shown.fail(&name, &error.to_string());
            }
        }
        self.child.reply(id, Answer::Value(Value::Null));
    }

    /// Whether a cell's `show()` asks for anything.
    pub(crate) fn shows(&self) -> bool {
        self.turns.images != Images::None
    }

    /// Asks for the cameras' views after a cell that moved the robot, once.
    pub(crate) fn look_after_motion(&mut self) {
        let Some(running) = &mut self.running else { return };
        let over = running.end.is_some() && running.call.is_none();
        if !over || std::mem::replace(&mut running.looked, over) {
            return;
        }
        // A call that was cut short has moved it, too.
        let moved =
            running.control_steps > 0 || running.ledger.iter().any(|call| call.stateful && call.ok);
        if moved && self.turns.images == Images::OnMotion {
            let cameras = self.episode.as_ref().map(|episode| &episode.card.cameras);
            let names: Vec<String> =
                cameras.into_iter().flatten().map(|camera| camera.name.clone()).collect();
            self.queue_views(&names);
        }
    }

    /// Writes the text of a result that is complete but for it.
    pub(crate) fn tell(&self, result: &mut CellResult) {
        let api = self.episode.as_ref().map(|episode| episode.api);
        let over = self.episode.as_ref().and_then(|episode| episode.end_reason());
        result.feedback = feedback::text(result, self.turns.feedback, api, over);
    }
}

/// Pixels of height x width, or of height x width x 3 or 4; alpha is dropped.
fn rgb(shape: &[usize], bytes: &[u8]) -> Option<Rgb> {
    let (height, width, channels) = match *shape {
        [height, width] => (height, width, 1),
        [height, width, channels] => (height, width, channels),
        _ => return None,
    };
    let pixels = match channels {
        1 => bytes.iter().flat_map(|value| [*value; 3]).collect(),
        3 => bytes.to_vec(),
        _ => bytes.chunks_exact(channels).flat_map(|pixel| &pixel[..3]).copied().collect(),
    };
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    Some(Rgb { width, height, pixels })
}
