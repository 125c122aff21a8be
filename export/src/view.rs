use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, Int64Array, LargeBinaryArray,
    RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field};
use arrow::ipc::writer::StreamWriter;
use ruaflow_schemas::{Card, Observation};
use serde_json::json;

use crate::{ExportError, Story};

/// Where a body was at a control step.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyPose {
    /// `robot/<link>` or `objects/<name>`.
    pub path: String,
    /// World frame, metres.
    pub position: [f64; 3],
    /// World frame, `xyzw`.
    pub quaternion: [f64; 4],
}

/// What a camera saw at a control step.
#[derive(Clone, Debug)]
pub struct View {
    pub camera: String,
    /// Pixels, `[width, height]`.
    pub size: [u32; 2],
    /// The picture as a JPEG file.
    pub jpeg: Vec<u8>,
    /// Metres by rows from the top, NaN where nothing was seen; empty for a camera
    /// without depth.
    pub depth: Vec<f32>,
    /// 3 x 3 by rows, pixels.
    pub intrinsics: [f64; 9],
    /// 4 x 4 by rows, metres; camera axes x right, y down, z forward.
    pub camera_to_world: [f64; 16],
}

/// Writes an episode as Arrow tables, in the form that `export/rerun/to_rrd.py` turns
/// into a recording of the Rerun viewer.
pub struct ViewWriter {
    steps: Table,
    bodies: Table,
    views: Table,
    begin_ns: u64,
    /// Simulated or measured time of each control step, nanoseconds since the first.
    times: Vec<(u64, i64)>,
    folder: PathBuf,
}

impl ViewWriter {
    /// Into an existing folder.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn create(
        folder: &Path,
        run: &str,
        episode: u32,
        card: &Card,
    ) -> Result<Self, ExportError> {
        let scene = json!({
            "run": run,
            "episode": episode,
            "robot": card.robot,
            "suite": card.suite,
            "task": card.task,
            "seed": card.seed,
            "instruction": card.instruction,
            "joints": card.arms.first().map(|arm| &arm.joints),
        });
        let path = folder.join("scene.json");
        std::fs::write(&path, scene.to_string())
            .map_err(|error| ExportError::write(&path, error))?;
        Ok(ViewWriter {
            steps: Table::at(folder, "steps"),
            bodies: Table::at(folder, "bodies"),
            views: Table::at(folder, "views"),
            begin_ns: card.first.time_ns,
            times: Vec::new(),
            folder: folder.to_owned(),
        })
    }

    /// Adds a control step; bodies and views may be empty.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn step(
        &mut self,
        observation: &Observation,
        bodies: &[BodyPose],
        views: &[View],
    ) -> Result<(), ExportError> {
        let step = observation.control_step;
        let time = observation.time_ns.saturating_sub(self.begin_ns) as i64;
        self.times.push((step, time));
        let stamps = |rows: usize| stamps(&vec![(step, time); rows]);

        let arms = &observation.arms;
        let mut table = stamps(arms.len());
        let each = |arm: &dyn Fn(usize) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values((0..arms.len()).map(arm)))
        };
        let names = arms.iter().map(|arm| &arm.name);
        table.push(("arm", Arc::new(StringArray::from_iter_values(names))));
        let positions: Vec<f64> = arms.iter().flat_map(|arm| arm.eef_pos).collect();
        table.push(("eef_pos", fixed(positions, 3)));
        let quaternions: Vec<f64> = arms.iter().flat_map(|arm| arm.eef_quat).collect();
        table.push(("eef_quat", fixed(quaternions, 4)));
        table.push(("gripper_opening", each(&|arm| arms[arm].gripper_opening)));
        let joints = arms.first().map_or(0, |arm| arm.joint_pos.len());
        let angles: Vec<f64> = arms.iter().flat_map(|arm| arm.joint_pos.clone()).collect();
        if joints > 0 && angles.len() == joints * arms.len() {
            table.push(("joint_pos", fixed(angles, joints)));
        }
        table
            .push(("success", Arc::new(BooleanArray::from(vec![observation.success; arms.len()]))));
        self.steps.append(table)?;

        let mut table = stamps(bodies.len());
        let paths = bodies.iter().map(|body| &body.path);
        table.push(("path", Arc::new(StringArray::from_iter_values(paths))));
        table.push(("position", fixed(bodies.iter().flat_map(|body| body.position).collect(), 3)));
        let quaternions = bodies.iter().flat_map(|body| body.quaternion).collect();
        table.push(("quaternion", fixed(quaternions, 4)));
        self.bodies.append(table)?;

        let mut table = stamps(views.len());
        let cameras = views.iter().map(|view| &view.camera);
        table.push(("camera", Arc::new(StringArray::from_iter_values(cameras))));
        for (name, side) in [("width", 0), ("height", 1)] {
            let sides = views.iter().map(|view| i64::from(view.size[side]));
            table.push((name, Arc::new(Int64Array::from_iter_values(sides))));
        }
        let pictures = views.iter().map(|view| &view.jpeg);
        table.push(("jpeg", Arc::new(LargeBinaryArray::from_iter_values(pictures))));
        let depths = views.iter().map(|view| millimetres(&view.depth));
        table.push(("depth_mm", Arc::new(LargeBinaryArray::from_iter_values(depths))));
        let matrices = views.iter().flat_map(|view| view.intrinsics).collect();
        table.push(("intrinsics", fixed(matrices, 9)));
        let matrices = views.iter().flat_map(|view| view.camera_to_world).collect();
        table.push(("camera_to_world", fixed(matrices, 16)));
        self.views.append(table)
    }

    /// Adds what happened and ends all files.
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn finish(self, story: &Story) -> Result<(), ExportError> {
        let lines: Vec<_> = story.log().collect();
        let time_of = |step: u64| {
            let index = self.times.partition_point(|(known, _)| *known <= step);
            self.times[..index].last().map_or(0, |(_, time)| *time)
        };
        let moments: Vec<(u64, i64)> =
            lines.iter().map(|(step, _)| (*step, time_of(*step))).collect();
        let mut table = stamps(&moments);
        let text = |of: &dyn Fn(usize) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values((0..lines.len()).map(of)))
        };
        table.push(("kind", text(&|line| lines[line].1.kind.clone())));
        table.push(("text", text(&|line| lines[line].1.text.clone())));
        let warns: Vec<bool> = lines.iter().map(|(_, line)| line.warns).collect();
        table.push(("warns", Arc::new(BooleanArray::from(warns))));
        let mut log = Table::at(&self.folder, "log");
        log.append(table)?;
        for table in [self.steps, self.bodies, self.views, log] {
            table.finish()?;
        }
        Ok(())
    }
}

/// An Arrow IPC stream that begins with its first batch.
struct Table {
    path: PathBuf,
    writer: Option<StreamWriter<BufWriter<File>>>,
}

impl Table {
    fn at(folder: &Path, name: &str) -> Self {
        Table { path: folder.join(format!("{name}.arrows")), writer: None }
    }

    fn append(&mut self, columns: Vec<(&'static str, ArrayRef)>) -> Result<(), ExportError> {
        let unwritten = |error: &dyn std::fmt::Display| ExportError::write(&self.path, error);
        let batch = RecordBatch::try_from_iter(columns).map_err(|error| unwritten(&error))?;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let file = File::create(&self.path).map_err(|error| unwritten(&error))?;
                let writer = StreamWriter::try_new_buffered(file, &batch.schema());
                none.insert(writer.map_err(|error| unwritten(&error))?)
            }
        };
        writer.write(&batch).map_err(|error| unwritten(&error))
    }

    fn finish(self) -> Result<(), ExportError> {
        let Some(mut writer) = self.writer else { return Ok(()) };
        writer.finish().map_err(|error| ExportError::write(&self.path, error))
    }
}

/// When the rows of a table were: control steps and nanoseconds.
fn stamps(moments: &[(u64, i64)]) -> Vec<(&'static str, ArrayRef)> {
    let steps = moments.iter().map(|(step, _)| *step as i64);
    let times = moments.iter().map(|(_, time)| *time);
    vec![
        ("control_step", Arc::new(Int64Array::from_iter_values(steps))),
        ("time_ns", Arc::new(Int64Array::from_iter_values(times))),
    ]
}

/// Rows of `width` numbers.
fn fixed(values: Vec<f64>, width: usize) -> ArrayRef {
    let item = Arc::new(Field::new_list_field(DataType::Float64, true));
    let values = Arc::new(Float64Array::from(values));
    Arc::new(FixedSizeListArray::new(item, width as i32, values, None))
}

/// Depth as 16-bit numbers, little endian; 0 where nothing was seen.
fn millimetres(depth: &[f32]) -> Vec<u8> {
    depth.iter().flat_map(|metres| ((metres * 1e3).round() as u16).to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_in_millimetres_and_nothing_is_zero() {
        let bytes = millimetres(&[1.2344, f32::NAN, 0.0, 1e9]);
        let numbers: Vec<u16> =
            bytes.as_chunks().0.iter().map(|two| u16::from_le_bytes(*two)).collect();
        assert_eq!(numbers, [1234, 0, 0, u16::MAX]);
    }
}
