//! Motions that a vision-language-action policy makes, an action chunk at a time.
//!
//! Loop, thresholds and result fields are those of RPent's `pi0_pick` and
//! `pi0_doubled` (`robots/libero/tools.py`).

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Motion, Start, count, fields};
use crate::servo::{Command, Pose};

/// Actions of a chunk that are carried out before the policy looks again.
const CHUNK_STEPS: usize = 5;

#[derive(Debug, Deserialize)]
pub struct PickArguments {
    prompt: String,
    max_chunks: i64,
    lift_thresh: f64,
    gripper_closed_thresh: f64,
    gripper_open_thresh: f64,
    descent_thresh: f64,
}

#[derive(Debug, Deserialize)]
pub struct ContactArguments {
    prompt: String,
    max_chunks: i64,
}

/// The chunks of a motion: which were taken, and what of the last is still to do.
#[derive(Debug)]
struct Chunks {
    prompt: String,
    max: u32,
    used: u32,
    left: VecDeque<Command>,
}

impl Chunks {
    fn new(prompt: String, max_chunks: i64) -> Self {
        Chunks { prompt, max: count(max_chunks), used: 0, left: VecDeque::new() }
    }

    fn wanted(&self) -> Option<&str> {
        (self.left.is_empty() && self.used < self.max).then_some(self.prompt.as_str())
    }

    fn take(&mut self, commands: Vec<Command>) {
        self.used += 1;
        self.left = commands.into_iter().take(CHUNK_STEPS).collect();
    }
}

/// `pi0_pick`: until the gripper went down, closed, and came up with its fingers
/// apart, as they are when something is between them.
#[derive(Debug)]
pub struct Pick {
    chunks: Chunks,
    lift_thresh: f64,
    gripper_closed_thresh: f64,
    gripper_open_thresh: f64,
    descent_thresh: f64,
    start_z: f64,
    peak_z: f64,
    min_z: f64,
    /// Highest since the lowest.
    post_min_peak_z: f64,
    min_opening: f64,
    descent_done: bool,
    last: Pose,
    success: bool,
}

impl Pick {
    pub fn new(arguments: PickArguments, from: &Start) -> Self {
        let z = from.pose.position[2];
        Pick {
            chunks: Chunks::new(arguments.prompt, arguments.max_chunks),
            lift_thresh: arguments.lift_thresh,
            gripper_closed_thresh: arguments.gripper_closed_thresh,
            gripper_open_thresh: arguments.gripper_open_thresh,
            descent_thresh: arguments.descent_thresh,
            start_z: z,
            peak_z: z,
            min_z: z,
            post_min_peak_z: z,
            min_opening: from.pose.opening,
            descent_done: false,
            last: from.pose,
            success: false,
        }
    }

    /// Looks at where a chunk led. Heights between its actions do not count.
    fn measure(&mut self) {
        let (z, opening) = (self.last.position[2], self.last.opening);
        self.peak_z = self.peak_z.max(z);
        if z < self.min_z {
            self.min_z = z;
            self.post_min_peak_z = z;
        } else {
            self.post_min_peak_z = self.post_min_peak_z.max(z);
        }
        self.min_opening = self.min_opening.min(opening);
        self.descent_done |= self.start_z - self.min_z >= self.descent_thresh;
        self.success = self.descent_done
            && self.ascent() >= self.lift_thresh
            && (self.gripper_open_thresh..self.gripper_closed_thresh).contains(&opening);
    }

    fn ascent(&self) -> f64 {
        self.post_min_peak_z - self.min_z
    }
}

impl Motion for Pick {
    fn wants_chunk(&self) -> Option<&str> {
        self.chunks.wanted().filter(|_| !self.success)
    }

    fn take_chunk(&mut self, commands: Vec<Command>) {
        self.chunks.take(commands);
    }

    fn next(&mut self, _: &Pose) -> Option<Command> {
        self.chunks.left.pop_front()
    }

    fn observe(&mut self, pose: &Pose) {
        self.last = *pose;
        if self.chunks.left.is_empty() {
            self.measure();
        }
    }

    fn episode_ended(&mut self, terminated: bool) {
        self.measure();
        self.success |= terminated;
    }

    fn outcome(&self, pose: &Pose) -> Map<String, Value> {
        let diagnostics = json!({
            "start_eef_z": rounded(self.start_z),
            "peak_eef_z": rounded(self.peak_z),
            "min_eef_z": rounded(self.min_z),
            "post_min_peak_z": rounded(self.post_min_peak_z),
            "descent_m": rounded(self.start_z - self.min_z),
            "post_min_ascent_m": rounded(self.ascent()),
            "descent_done": self.descent_done,
            "lift_thresh": self.lift_thresh,
            "gripper_closed_thresh": self.gripper_closed_thresh,
            "gripper_open_thresh": self.gripper_open_thresh,
            "descent_thresh": self.descent_thresh,
        });
        fields([
            ("success", self.success.into()),
            ("chunks_used", self.chunks.used.into()),
            ("max_chunks", self.chunks.max.into()),
            ("peak_lift_m", self.ascent().into()),
            ("min_gripper_opening", self.min_opening.into()),
            ("final_gripper_opening", pose.opening.into()),
            ("diagnostics", diagnostics),
        ])
    }
}

/// `pi0_doubled`: until the task is solved or the chunks are used up.
#[derive(Debug)]
pub struct Contact {
    chunks: Chunks,
    success: bool,
}

impl Contact {
    pub fn new(arguments: ContactArguments) -> Self {
        Contact { chunks: Chunks::new(arguments.prompt, arguments.max_chunks), success: false }
    }
}

impl Motion for Contact {
    fn wants_chunk(&self) -> Option<&str> {
        self.chunks.wanted()
    }

    fn take_chunk(&mut self, commands: Vec<Command>) {
        self.chunks.take(commands);
    }

    fn next(&mut self, _: &Pose) -> Option<Command> {
        self.chunks.left.pop_front()
    }

    fn observe(&mut self, _: &Pose) {}

    fn episode_ended(&mut self, terminated: bool) {
        self.success = terminated;
    }

    fn outcome(&self, _: &Pose) -> Map<String, Value> {
        fields([
            ("success", self.success.into()),
            ("chunks_used", self.chunks.used.into()),
            ("max_chunks", self.chunks.max.into()),
        ])
    }
}

/// To a tenth of a millimetre, as the reference tells it.
fn rounded(metres: f64) -> f64 {
    (metres * 1e4).round() / 1e4
}
