//! A policy in a model file, run by ONNX Runtime.

mod spec;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ort::session::{Session, SessionInputValue};
use ort::value::Tensor;
use ort::value::TensorElementType::{Float32, Int64};
use ruaflow_onnx::{Side, tensor};

pub use self::spec::{Spec, SpecError};
use crate::policy::{ACTION_LENGTH, Actions, Policy, PolicyError, Shown};

/// Why a model can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    #[error(transparent)]
    Model(#[from] ruaflow_onnx::OnnxError),
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// A model with what its JSON says about inputs and numbers.
pub struct Onnx {
    model: PathBuf,
    spec: Spec,
    session: Session,
}

impl Onnx {
    /// Loads `model` and the JSON beside it, `model.json` for `model.onnx`, and
    /// checks that they fit each other.
    ///
    /// # Errors
    /// See [`OnnxError`].
    pub fn open(model: &Path) -> Result<Self, OnnxError> {
        // Before its description, which is missing as well when the model is.
        let session = ruaflow_onnx::open(model, 1)?;
        let spec = Spec::beside(model)?;
        check(model, &spec, &session)?;
        Ok(Onnx { model: model.to_owned(), spec, session })
    }

    fn inputs(&self, shown: &Shown) -> Result<Vec<Input>, PolicyError> {
        let failed = |message: String| PolicyError::Model { model: self.model.clone(), message };
        let mut inputs = Vec::new();
        for image in &self.spec.images {
            let (shape, values) = image.tensor(shown).map_err(failed)?;
            inputs.push((
                image.input.clone(),
                Tensor::from_array((shape, values)).map_err(|e| failed(e.to_string()))?.into(),
            ));
        }
        if let Some(state) = &self.spec.state {
            let values = state.normalised(&shown.state);
            inputs.push((
                state.input.clone(),
                Tensor::from_array((vec![1, values.len() as i64], values))
                    .map_err(|e| failed(e.to_string()))?
                    .into(),
            ));
        }
        if let Some(prompt) = &self.spec.prompt {
            let index = prompt.index(&shown.prompt).ok_or_else(|| PolicyError::Prompt {
                model: self.model.clone(),
                prompt: shown.prompt.clone(),
                known: format!("{:?}", prompt.tasks),
            })?;
            inputs.push((
                prompt.input.clone(),
                Tensor::from_array((vec![1], vec![index]))
                    .map_err(|e| failed(e.to_string()))?
                    .into(),
            ));
        }
        Ok(inputs.into_iter().map(|(name, value)| (Cow::Owned(name), value)).collect())
    }
}

type Input = (Cow<'static, str>, SessionInputValue<'static>);

impl Policy for Onnx {
    fn infer(&mut self, shown: &Shown) -> Result<Actions, PolicyError> {
        let inputs = self.inputs(shown)?;
        let failed = |message: String| PolicyError::Model { model: self.model.clone(), message };
        let outputs = self.session.run(inputs).map_err(|error| failed(error.to_string()))?;
        let actions = &self.spec.actions;
        let (shape, values) = outputs[actions.output.as_str()]
            .try_extract_tensor::<f32>()
            .map_err(|error| failed(error.to_string()))?;
        let shape: Vec<usize> =
            shape.iter().map(|&length| usize::try_from(length).unwrap_or(0)).collect();
        if shape.last() != Some(&ACTION_LENGTH) {
            return Err(PolicyError::Shape { found: shape });
        }
        let name = self.model.file_stem().unwrap_or_default().to_string_lossy();
        Actions::new(&name, &shape, &actions.in_robot_units(values))
    }
}

/// Names and element types are wrong at the start, not at the first grasp.
fn check(model: &Path, spec: &Spec, session: &Session) -> Result<(), OnnxError> {
    let inputs = (spec.images.iter().map(|image| (&image.input, Float32)))
        .chain(spec.state.iter().map(|state| (&state.input, Float32)))
        .chain(spec.prompt.iter().map(|prompt| (&prompt.input, Int64)));
    for (name, element) in inputs {
        tensor(session, model, Side::Input, name, &[element])?;
    }
    tensor(session, model, Side::Output, &spec.actions.output, &[Float32])?;
    Ok(())
}
