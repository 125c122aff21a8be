//! The JSON beside a model: which input takes what, and the numbers by which
//! values were normalised in training.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::policy::{ACTION_LENGTH, Shown};

/// The JSON can't be used.
#[derive(Debug, thiserror::Error)]
#[error("{path:?}, which describes the model, can't be used: {reason}")]
pub struct SpecError {
    path: PathBuf,
    reason: String,
}

/// What a model takes and gives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    #[serde(default)]
    pub images: Vec<ImageInput>,
    pub state: Option<StateInput>,
    pub prompt: Option<PromptInput>,
    pub actions: ActionOutput,
}

/// A float32 input of one picture: `(value / 255 - mean) / std` by channel.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageInput {
    pub input: String,
    pub camera: Camera,
    /// Pixels a side.
    pub side: u32,
    #[serde(default)]
    pub layout: Layout,
    #[serde(default)]
    pub mean: [f32; 3],
    #[serde(default = "ones")]
    pub std: [f32; 3],
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Camera {
    Agentview,
    Wrist,
}

/// Order of axes behind the batch of one.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    #[default]
    Nchw,
    Nhwc,
}

/// A float32 input `[1, 8]` of the robot's state: `(value - mean) / std`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateInput {
    pub input: String,
    #[serde(default)]
    pub mean: [f32; 8],
    #[serde(default = "ones")]
    pub std: [f32; 8],
}

/// An int64 input `[1]`: which of the instructions the model was trained for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptInput {
    pub input: String,
    pub tasks: Vec<String>,
}

/// The float32 output `[length, 7]` or `[1, length, 7]`: `value * std + mean` are actions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActionOutput {
    pub output: String,
    #[serde(default)]
    pub mean: [f64; ACTION_LENGTH],
    #[serde(default = "ones64")]
    pub std: [f64; ACTION_LENGTH],
}

fn ones<const N: usize>() -> [f32; N] {
    [1.0; N]
}

fn ones64() -> [f64; ACTION_LENGTH] {
    [1.0; ACTION_LENGTH]
}

impl Spec {
    /// Reads `model.json` for `model.onnx`.
    ///
    /// # Errors
    /// When it is missing, is not such JSON, or divides by zero.
    pub fn beside(model: &Path) -> Result<Self, SpecError> {
        let path = model.with_extension("json");
        let fail = |reason: String| SpecError { path: path.clone(), reason };
        let text = std::fs::read_to_string(&path).map_err(|error| fail(error.to_string()))?;
        let spec: Spec = serde_json::from_str(&text).map_err(|error| fail(error.to_string()))?;
        let usable = |std: &[f32]| std.iter().all(|value| value.is_finite() && *value != 0.0);
        if !spec.images.iter().all(|image| usable(&image.std))
            || !spec.state.iter().all(|state| usable(&state.std))
        {
            return Err(fail("a \"std\" holds 0 or a number that is not finite".to_owned()));
        }
        Ok(spec)
    }
}

impl ImageInput {
    /// Shape and values of the picture's tensor.
    pub(super) fn tensor(&self, shown: &Shown) -> Result<(Vec<i64>, Vec<f32>), String> {
        let picture = match self.camera {
            Camera::Agentview => &shown.image,
            Camera::Wrist => &shown.wrist_image,
        };
        let rgb = picture.fitted(self.side)?.rgb;
        let scaled = |value: u8, channel: usize| {
            (f32::from(value) / 255.0 - self.mean[channel]) / self.std[channel]
        };
        let pixels = rgb.as_chunks::<3>().0;
        let side = i64::from(self.side);
        Ok(match self.layout {
            Layout::Nhwc => {
                let values = pixels.iter().flat_map(|pixel| [0, 1, 2].map(|c| scaled(pixel[c], c)));
                (vec![1, side, side, 3], values.collect())
            }
            Layout::Nchw => {
                let plane = |c: usize| pixels.iter().map(move |pixel| scaled(pixel[c], c));
                (vec![1, 3, side, side], (0..3).flat_map(plane).collect())
            }
        })
    }
}

impl StateInput {
    pub(super) fn normalised(&self, state: &[f32; 8]) -> Vec<f32> {
        let scales = self.mean.iter().zip(self.std);
        state.iter().zip(scales).map(|(value, (mean, std))| (value - mean) / std).collect()
    }
}

impl PromptInput {
    pub(super) fn index(&self, prompt: &str) -> Option<i64> {
        self.tasks.iter().position(|task| task == prompt).and_then(|index| index.try_into().ok())
    }
}

impl ActionOutput {
    pub(super) fn in_robot_units(&self, values: &[f32]) -> Vec<f64> {
        let scales = self.mean.iter().zip(self.std).cycle();
        values
            .iter()
            .zip(scales)
            .map(|(&value, (mean, std))| f64::from(value) * std + mean)
            .collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::view::Picture;

    fn write(json: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("m.json"), json).unwrap();
        let model = dir.path().join("m.onnx");
        (dir, model)
    }

    #[test]
    fn what_is_left_out_changes_nothing() {
        let (_dir, model) = write(
            r#"{"images": [{"input": "i", "camera": "wrist", "side": 1}],
                "state": {"input": "s"}, "actions": {"output": "a"}}"#,
        );
        let spec = Spec::beside(&model).unwrap();
        let picture = |value| Picture { width: 1, height: 1, rgb: vec![value; 3] };
        let shown = Shown {
            image: picture(0),
            wrist_image: picture(255),
            state: [2.0; 8],
            prompt: String::new(),
        };
        let (shape, values) = spec.images[0].tensor(&shown).unwrap();
        assert_eq!((shape, values), (vec![1, 3, 1, 1], vec![1.0; 3]));
        assert_eq!(spec.state.unwrap().normalised(&[2.0; 8]), [2.0; 8]);
        assert_eq!(spec.actions.in_robot_units(&[0.5; 14]), [0.5; 14]);
    }

    #[test]
    fn a_description_that_cannot_be_meant_is_refused_by_name() {
        for (json, expected) in [
            ("{", "m.json"),
            (r#"{"actions": {"output": "a", "sdt": []}}"#, "sdt"),
            (
                r#"{"actions": {"output": "a"}, "state": {"input": "s", "std": [0,1,1,1,1,1,1,1]}}"#,
                "std",
            ),
        ] {
            let (_dir, model) = write(json);
            let error = Spec::beside(&model).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = Spec::beside(Path::new("/nowhere/m.onnx")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/m.json"), "{error}");
    }
}
