//! [`action_limits`] as a dora operator: lets through what a robot may be sent
//! and says what it refused.
//!
//! dora's operators see no metadata, so this one takes bare arrays and not the
//! frames that RuaFlow's nodes exchange; those call the library.
//!
//! | input | what | passes when |
//! | --- | --- | --- |
//! | `action` | `Float64`, any length | every number is finite and in [-1, 1] |
//! | `target` | `Float64`, 3 values: x y z, metres | it lies in the box of `WORKSPACE` |
//!
//! What passes goes out unchanged under its own name, what does not becomes a
//! text on `refused`. `WORKSPACE` is `x0 y0 z0 x1 y1 z1` in metres; without it
//! a target only has to be finite.

use dora_operator_api::arrow_v59::array::{Array, AsArray as _};
use dora_operator_api::arrow_v59::datatypes::Float64Type;
use dora_operator_api::{
    DoraOperator, DoraOutputSender, DoraStatus, Event, IntoArrow as _, register_operator,
};

register_operator!(ActionLimits);

struct ActionLimits {
    /// An error here is reported at the first event; an operator can't fail earlier.
    workspace: Result<Option<[f64; 6]>, String>,
}

impl Default for ActionLimits {
    fn default() -> Self {
        ActionLimits {
            workspace: std::env::var("WORKSPACE").map_or(Ok(None), |text| corners(&text)),
        }
    }
}

impl DoraOperator for ActionLimits {
    fn on_event(
        &mut self,
        event: &Event,
        output: &mut DoraOutputSender,
    ) -> Result<DoraStatus, String> {
        let workspace = self.workspace.clone()?;
        match event {
            Event::Input { id, data, .. } => match judge(id, data.as_array(), workspace) {
                Ok(()) => output.send(id, data.as_array().clone())?,
                Err(reason) => output.send("refused", reason.into_arrow())?,
            },
            Event::InputParseError { id, error } => {
                output.send("refused", format!("{id}: {error}").into_arrow())?
            }
            Event::Stop => return Ok(DoraStatus::Stop),
            _ => {}
        }
        Ok(DoraStatus::Continue)
    }
}

fn judge(input: &str, array: &dyn Array, workspace: Option<[f64; 6]>) -> Result<(), String> {
    let numbers =
        array.as_primitive_opt::<Float64Type>().filter(|numbers| numbers.null_count() == 0);
    let Some(numbers) = numbers else {
        return Err(format!(
            "{input}: expected numbers of type Float64, got {}",
            array.data_type()
        ));
    };
    let values: &[f64] = numbers.values();
    let verdict = match (input, values) {
        ("action", _) => action_limits::range("action", values, -1.0, 1.0),
        ("target", &[x, y, z]) => action_limits::finite("target", values).and_then(|()| {
            workspace.map_or(Ok(()), |corners| action_limits::workspace([x, y, z], corners))
        }),
        ("target", _) => return Err(format!("target: expected 3 values, got {}", values.len())),
        _ => {
            return Err(format!(
                "unknown input {input:?}; this operator has \"action\" and \"target\""
            ));
        }
    };
    verdict.map_err(|violation| violation.to_string())
}

fn corners(text: &str) -> Result<Option<[f64; 6]>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    numbers
        .ok()
        .and_then(|numbers| numbers.try_into().ok())
        .map(Some)
        .ok_or_else(|| format!("WORKSPACE is {text:?}, expected 6 numbers"))
}

#[cfg(test)]
mod tests {
    use dora_operator_api::arrow_v59::array::{Float64Array, StringArray};

    use super::*;

    fn numbers(values: &[f64]) -> Float64Array {
        Float64Array::from(values.to_vec())
    }

    #[test]
    fn what_is_in_range_passes() {
        assert_eq!(judge("action", &numbers(&[1.0, -1.0, 0.0]), None), Ok(()));
        let refused = judge("action", &numbers(&[0.0, 1.5]), None);
        assert_eq!(refused, Err("action[1] must be within [-1, 1], got 1.5".into()));
        assert!(judge("action", &numbers(&[f64::NAN]), None).is_err());
    }

    #[test]
    fn a_target_has_to_lie_in_the_workspace() {
        let workspace = corners("-1 -1 0 1 1 2").unwrap();
        assert_eq!(judge("target", &numbers(&[0.0, 0.5, 2.0]), workspace), Ok(()));
        assert!(
            judge("target", &numbers(&[0.0, 0.5, 2.1]), workspace).unwrap_err().contains("z = 2.1")
        );
        assert_eq!(judge("target", &numbers(&[0.0, 0.5, 2.1]), None), Ok(()));
        assert!(judge("target", &numbers(&[0.0, f64::INFINITY, 2.1]), None).is_err());
    }

    #[test]
    fn other_arrays_and_inputs_are_refused_by_name() {
        assert_eq!(
            judge("action", &StringArray::from(vec!["up"]), None),
            Err("action: expected numbers of type Float64, got Utf8".into())
        );
        assert!(judge("action", &Float64Array::from(vec![Some(1.0), None]), None).is_err());
        assert_eq!(
            judge("target", &numbers(&[0.0; 2]), None),
            Err("target: expected 3 values, got 2".into())
        );
        assert!(judge("reset", &numbers(&[]), None).is_err());
    }

    #[test]
    fn a_workspace_that_is_none_is_said_to_be() {
        assert_eq!(corners(" "), Ok(None));
        assert_eq!(corners("1 2 3"), Err("WORKSPACE is \"1 2 3\", expected 6 numbers".into()));
        assert!(corners("a b c d e f").is_err());
    }
}
