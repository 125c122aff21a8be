//! Models in ONNX files: ONNX Runtime, opened when the first is loaded, and the
//! check that a model has the inputs and outputs it is used with.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::environment::Environment;
use ort::session::Session;
use ort::value::{TensorElementType, ValueType};

/// The file set-up takes from the package `onnxruntime`.
const LIBRARY: &str = "lib/libonnxruntime.so";

/// Why a model can't be used.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    #[error("ONNX Runtime can't be loaded from {path:?}: {reason}; `./rua setup` installs it")]
    Library { path: PathBuf, reason: String },
    #[error("there is no model file {0:?}")]
    Missing(PathBuf),
    #[error("the model {model:?} can't be loaded: {reason}")]
    Load { model: PathBuf, reason: String },
    #[error("the model {model:?} has no {kind} {name:?}; it has {known}")]
    Name { model: PathBuf, kind: &'static str, name: String, known: String },
    #[error("{kind} {name:?} of the model {model:?} is {found}, expected {expected}")]
    Type { model: PathBuf, kind: &'static str, name: String, found: String, expected: String },
}

/// Loads a model to run on so many threads.
///
/// Threads that spin on cores which others need are far slower than one.
///
/// # Errors
/// [`OnnxError::Missing`], [`OnnxError::Library`], [`OnnxError::Load`].
pub fn open(model: &Path, threads: usize) -> Result<Session, OnnxError> {
    if !model.is_file() {
        return Err(OnnxError::Missing(model.to_owned()));
    }
    let fail = |reason: String| OnnxError::Load { model: model.to_owned(), reason };
    Session::builder(environment()?)
        .map_err(|e| fail(e.to_string()))?
        .with_intra_threads(threads.max(1))
        .map_err(|e| fail(e.to_string()))?
        .with_intra_op_spinning(false)
        .map_err(|e| fail(e.to_string()))?
        .commit_from_file(model)
        .map_err(|e| fail(e.to_string()))
}

/// The side of a model that a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Input,
    Output,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    fn of(self, session: &Session) -> Vec<(&str, &ValueType)> {
        match self {
            Self::Input => session.inputs().iter().map(|i| (i.name(), i.dtype())).collect(),
            Self::Output => session.outputs().iter().map(|o| (o.name(), o.dtype())).collect(),
        }
    }
}

/// The shape of a model's tensor, -1 where it is free; checks that there is one of
/// that name and type.
///
/// # Errors
/// [`OnnxError::Name`], [`OnnxError::Type`].
pub fn tensor(
    session: &Session,
    model: &Path,
    side: Side,
    name: &str,
    elements: &[TensorElementType],
) -> Result<Vec<i64>, OnnxError> {
    let kind = side.word();
    let there = side.of(session);
    let Some((_, found)) = there.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = there.iter().map(|(name, _)| *name).collect();
        let known = format!("{known:?}");
        let (model, name) = (model.to_owned(), name.to_owned());
        return Err(OnnxError::Name { model, kind, name, known });
    };
    match found {
        ValueType::Tensor { ty, shape, .. } if elements.contains(ty) => Ok(shape.to_vec()),
        _ => {
            let words: Vec<String> = elements.iter().map(ToString::to_string).collect();
            Err(OnnxError::Type {
                model: model.to_owned(),
                kind,
                name: name.to_owned(),
                found: found.to_string(),
                expected: format!("a tensor of {}", words.join(" or ")),
            })
        }
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
