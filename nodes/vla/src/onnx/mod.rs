//! A policy in a model file, run by ONNX Runtime.

mod spec;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::environment::Environment;
use ort::session::{Session, SessionInputValue};
use ort::value::{Tensor, TensorElementType, ValueType};

pub use self::spec::{Spec, SpecError};
use crate::policy::{ACTION_LENGTH, Actions, Policy, PolicyError, Shown};

/// The file set-up takes from the package `onnxruntime`.
const LIBRARY: &str = "lib/libonnxruntime.so";

/// Why a model can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    #[error("ONNX Runtime can't be loaded from {path:?}: {reason}; `./rua setup` installs it")]
    Library { path: PathBuf, reason: String },
    #[error("there is no model file {0:?} (VLA_MODEL)")]
    Missing(PathBuf),
    #[error("the model {model:?} can't be loaded: {reason}")]
    Load { model: PathBuf, reason: String },
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("the model {model:?} has no {kind} {name:?}; it has {known}")]
    Name { model: PathBuf, kind: &'static str, name: String, known: String },
    #[error("{kind} {name:?} of the model {model:?} is {found}, expected {expected}")]
    Type { model: PathBuf, kind: &'static str, name: String, found: String, expected: String },
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
        if !model.is_file() {
            return Err(OnnxError::Missing(model.to_owned()));
        }
        let spec = Spec::beside(model)?;
        let fail = |reason: String| OnnxError::Load { model: model.to_owned(), reason };
        let environment = environment()?;
        // Two threads that spin on two busy cores are far slower than one.
        let session = Session::builder(environment)
            .map_err(|e| fail(e.to_string()))?
            .with_intra_threads(1)
            .map_err(|e| fail(e.to_string()))?
            .commit_from_file(model)
            .map_err(|e| fail(e.to_string()))?;
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

/// ONNX Runtime allows one environment a process.
fn environment() -> Result<&'static Environment, OnnxError> {
    static ENVIRONMENT: OnceLock<Environment> = OnceLock::new();
    static MAKING: Mutex<()> = Mutex::new(());
    let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = ENVIRONMENT.get() {
        return Ok(environment);
    }
    let path = ruaflow_kit::home().join(LIBRARY);
    let fail = |reason: String| OnnxError::Library { path: path.clone(), reason };
    let environment = ort::init_from(&path)
        .map_err(|error| fail(error.to_string()))?
        .with_telemetry(false)
        .build()
        .map_err(|error| fail(error.to_string()))?;
    Ok(ENVIRONMENT.get_or_init(|| environment))
}

/// Names and element types are wrong at the start, not at the first grasp.
fn check(model: &Path, spec: &Spec, session: &Session) -> Result<(), OnnxError> {
    use TensorElementType::{Float32, Int64};
    let inputs: Vec<_> = session.inputs().iter().map(|i| (i.name(), i.dtype())).collect();
    let outputs: Vec<_> = session.outputs().iter().map(|o| (o.name(), o.dtype())).collect();
    for image in &spec.images {
        expect(model, "input", &inputs, &image.input, Float32)?;
    }
    if let Some(state) = &spec.state {
        expect(model, "input", &inputs, &state.input, Float32)?;
    }
    if let Some(prompt) = &spec.prompt {
        expect(model, "input", &inputs, &prompt.input, Int64)?;
    }
    expect(model, "output", &outputs, &spec.actions.output, Float32)
}

fn expect(
    model: &Path,
    kind: &'static str,
    there: &[(&str, &ValueType)],
    name: &str,
    element: TensorElementType,
) -> Result<(), OnnxError> {
    let Some((_, found)) = there.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = there.iter().map(|(name, _)| *name).collect();
        let known = format!("{known:?}");
        return Err(OnnxError::Name {
            model: model.to_owned(),
            kind,
            name: name.to_owned(),
            known,
        });
    };
    match found {
        ValueType::Tensor { ty, .. } if *ty == element => Ok(()),
        _ => Err(OnnxError::Type {
            model: model.to_owned(),
            kind,
            name: name.to_owned(),
            found: found.to_string(),
            expected: format!("a tensor of {element}"),
        }),
    }
}
