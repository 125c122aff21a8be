//! Limits on what may be sent to a robot: finite numbers, ranges, the length of
//! a planar move, a workspace box.
//!
//! Each check looks at plain numbers and says in its error what was wrong and
//! what is allowed, so that both ends of an action (the controller that makes it
//! and the robot that takes it) refuse with the same words.
//!
//! ```
//! use action_limits::{range, Violation};
//!
//! let violation = range("gripper", &[1.5], -1.0, 1.0).unwrap_err();
//! assert_eq!(violation.to_string(), "gripper must be within [-1, 1], got 1.5");
//! ```

/// Rounding that a limit forgives, metres: 0.1 + 0.2 must count as 0.3.
const ROUNDING: f64 = 1e-9;

/// Why an action may not be sent. Nothing has moved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Violation {
    #[error("{} must be finite, got {value}", place(.name, *.index))]
    NotFinite { name: String, index: Option<usize>, value: f64 },

    #[error("{} must be within [{min}, {max}], got {value}", place(.name, *.index))]
    OutOfRange { name: String, index: Option<usize>, value: f64, min: f64, max: f64 },

    #[error("the target is {distance:.3} m away in x/y, more than {limit} m in one move")]
    TooFar { distance: f64, limit: f64 },

    #[error("{axis} = {value} m is outside the workspace [{min}, {max}]")]
    OutsideWorkspace { axis: char, value: f64, min: f64, max: f64 },
}

/// Checks that every number is finite.
///
/// # Errors
/// [`Violation::NotFinite`] for the first one that is not.
pub fn finite(name: &str, values: &[f64]) -> Result<(), Violation> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(i) => Err(Violation::NotFinite {
            name: name.to_owned(),
            index: index(values, i),
            value: values[i],
        }),
    }
}

/// Checks that every number is finite and within `[min, max]`.
///
/// # Errors
/// The first violation.
pub fn range(name: &str, values: &[f64], min: f64, max: f64) -> Result<(), Violation> {
    finite(name, values)?;
    match values.iter().position(|value| !(min..=max).contains(value)) {
        None => Ok(()),
        Some(i) => Err(Violation::OutOfRange {
            name: name.to_owned(),
            index: index(values, i),
            value: values[i],
            min,
            max,
        }),
    }
}

/// Checks the x/y travel of one move, metres; vertical travel is free.
///
/// # Errors
/// [`Violation::TooFar`], or [`Violation::NotFinite`] for a target that is nowhere.
pub fn planar_move(from: [f64; 3], to: [f64; 3], limit: f64) -> Result<(), Violation> {
    finite("target", &to)?;
    let distance = (to[0] - from[0]).hypot(to[1] - from[1]);
    if distance <= limit + ROUNDING { Ok(()) } else { Err(Violation::TooFar { distance, limit }) }
}

/// Checks that a point lies in the box `[x0 y0 z0 x1 y1 z1]`, metres.
///
/// # Errors
/// [`Violation::OutsideWorkspace`] for the first axis along which it does not.
pub fn workspace(point: [f64; 3], corners: [f64; 6]) -> Result<(), Violation> {
    for (i, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
        let (min, max) = (corners[i], corners[i + 3]);
        if !(min - ROUNDING..=max + ROUNDING).contains(&point[i]) {
            return Err(Violation::OutsideWorkspace { axis, value: point[i], min, max });
        }
    }
    Ok(())
}

fn index(values: &[f64], i: usize) -> Option<usize> {
    (values.len() > 1).then_some(i)
}

fn place(name: &str, index: Option<usize>) -> String {
    match index {
        Some(index) => format!("{name}[{index}]"),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_number_is_named() {
        assert_eq!(finite("values", &[0.0, 1e300]), Ok(()));
        let error = finite("values", &[0.0, f64::NAN, f64::INFINITY]).unwrap_err();
        assert_eq!(error.to_string(), "values[1] must be finite, got NaN");
        assert_eq!(
            finite("gripper", &[f64::NEG_INFINITY]).unwrap_err().to_string(),
            "gripper must be finite, got -inf"
        );
    }

    #[test]
    fn a_range_includes_its_ends() {
        assert_eq!(range("values", &[-1.0, 0.0, 1.0], -1.0, 1.0), Ok(()));
        let error = range("values", &[0.0, 1.0 + 1e-12], -1.0, 1.0).unwrap_err();
        assert!(matches!(error, Violation::OutOfRange { index: Some(1), .. }), "{error}");
        assert!(range("values", &[f64::NAN], -1.0, 1.0).is_err());
    }

    #[test]
    fn only_planar_travel_is_limited() {
        let from = [0.1, 0.0, 1.0];
        assert_eq!(planar_move(from, [0.1, 0.1 + 0.2, -5.0], 0.3), Ok(()));
        let error = planar_move(from, [0.4, 0.1, 1.0], 0.3).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the target is 0.316 m away in x/y, more than 0.3 m in one move"
        );
        assert!(planar_move(from, [f64::NAN, 0.0, 0.0], 0.3).is_err());
    }

    #[test]
    fn a_box_includes_its_faces_and_nothing_else() {
        let corners = [-0.6, -0.6, 0.0, 0.6, 0.6, 0.9];
        assert_eq!(workspace([0.6, -0.6, 0.0], corners), Ok(()));
        let error = workspace([0.0, 0.0, 0.91], corners).unwrap_err();
        assert_eq!(error.to_string(), "z = 0.91 m is outside the workspace [0, 0.9]");
        assert!(workspace([0.0, f64::NAN, 0.0], corners).is_err());
    }
}
