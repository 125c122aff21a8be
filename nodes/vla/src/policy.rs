//! What every policy is: pictures, state and an instruction in, actions out.

use std::path::PathBuf;

use crate::view::Picture;

/// Numbers of one action: `[dx dy dz rx ry rz gripper]`.
pub const ACTION_LENGTH: usize = 7;

/// What a policy is shown.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The fixed camera's picture, as LIBERO policies are trained on it: mirrored left to right.
    pub image: Picture,
    /// The wrist camera's picture, mirrored as well.
    pub wrist_image: Picture,
    /// End-effector position (3, metres), orientation as rotation vector (3, radians),
    /// finger positions (2, metres).
    pub state: [f32; 8],
    pub prompt: String,
}

/// An action chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct Actions {
    /// The model, as it names itself.
    pub source: String,
    /// One control step each; every number is finite.
    pub rows: Vec<[f64; ACTION_LENGTH]>,
}

impl Actions {
    /// Takes a row-major array of numbers for actions.
    ///
    /// # Errors
    /// [`PolicyError::Shape`] unless it is `[length, 7]` with at least one row, a leading
    /// axis of 1 allowed; [`PolicyError::NotFinite`].
    pub fn new(source: &str, shape: &[usize], values: &[f64]) -> Result<Self, PolicyError> {
        let rows = match shape {
            [1, rows, ACTION_LENGTH] | [rows, ACTION_LENGTH] if *rows > 0 => *rows,
            _ => return Err(PolicyError::Shape { found: shape.to_vec() }),
        };
        if rows.checked_mul(ACTION_LENGTH) != Some(values.len()) {
            return Err(PolicyError::Shape { found: shape.to_vec() });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(PolicyError::NotFinite {
                row: at / ACTION_LENGTH,
                column: at % ACTION_LENGTH,
            });
        }
        let (rows, _) = values.as_chunks::<ACTION_LENGTH>();
        Ok(Actions { source: source.to_owned(), rows: rows.to_vec() })
    }
}

/// A vision-language-action policy.
pub trait Policy: Send {
    /// The next actions from here.
    ///
    /// # Errors
    /// See [`PolicyError`]; a policy may be asked again after any of them.
    fn infer(&mut self, shown: &Shown) -> Result<Actions, PolicyError>;
}

/// Why there are no actions.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("no policy server answers at {url} ({reason}); start one, or set VLA_URL")]
    Unreachable { url: String, reason: String },
    #[error("the policy server at {url} hung up ({reason})")]
    Gone { url: String, reason: String },
    #[error("the policy server at {url} did not answer within {seconds} s (VLA_TIMEOUT_S)")]
    Late { url: String, seconds: u64 },
    #[error("the policy server at {url} failed: {message}")]
    Failed { url: String, message: String },
    #[error("the policy's answer can't be read: {0}")]
    Answer(String),
    #[error("the policy's actions have shape {found:?}, expected [length, 7]")]
    Shape { found: Vec<usize> },
    #[error("the policy's action {row} holds a number that is not finite (column {column})")]
    NotFinite { row: usize, column: usize },
    #[error("the model {model:?} failed: {message}")]
    Model { model: PathBuf, message: String },
    #[error("the model {model:?} was not trained for {prompt:?}; it knows {known}")]
    Prompt { model: PathBuf, prompt: String, known: String },
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_rows_of_seven_finite_numbers() {
        let two = Actions::new("m", &[2, 7], &[0.5; 14]).unwrap();
        assert_eq!(two.rows, [[0.5; 7]; 2]);
        assert_eq!(Actions::new("m", &[1, 2, 7], &[0.5; 14]).unwrap(), two);

        for (shape, count) in [(&[2, 6][..], 12), (&[14], 14), (&[0, 7], 0), (&[3, 7], 14)] {
            let error = Actions::new("m", shape, &vec![0.0; count]).unwrap_err();
            assert!(matches!(error, PolicyError::Shape { .. }), "{error}");
        }
        let mut values = [0.0; 14];
        values[9] = f64::NAN;
        let error = Actions::new("m", &[2, 7], &values).unwrap_err();
        assert!(matches!(error, PolicyError::NotFinite { row: 1, column: 2 }), "{error}");
    }
}
