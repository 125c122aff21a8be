//! What an agent may do with each robot, defined once.
//!
//! A robot is one module with one table, a [`RobotApi`]. Everything that has to
//! agree with it is made from that table: the argument checks
//! ([`RobotApi::check`]), the Python `robo` object of a cell
//! ([`RobotApi::python_source`]), the reference in the prompt
//! ([`RobotApi::reference`]) and the tools of the tool-calling arm
//! ([`RobotApi::tools`]). [`RobotApi::manual`] is all that an agent is told of a
//! robot: the reference, and what people know of it.
//!
//! Units are SI: metres, radians, seconds; quaternions are `xyzw`; the world
//! frame has z up.

mod api;
mod arg;
mod check;
mod geometry;
mod guides;
mod libero;
mod looking;
mod motion;
mod none;
mod python;
mod record;
mod reference;
mod telling;
mod template;
mod tools;

pub use api::{
    Attribute, Camera, Constant, Default, ErrorDoc, Field, FieldSource, Kind, Limits, Method,
    Mount, Param, ParamKind, Primitives, Record, Resolutions, Returns, RobotApi, Type,
    UnknownPrimitives,
};
pub use arg::Arg;
pub use check::{ArgError, Checked, GripperCommand};
pub use geometry::{eef_pitch, eef_yaw, quat_from_rotation_vector, quat_product};
pub use guides::guides;
pub use none::NONE;
pub use record::RecordError;
pub use telling::{Feedback, Images, UnknownKind};
pub use tools::Tool;

/// Every robot this build knows.
pub const ALL: &[&RobotApi] = &[&libero::API, &template::API];

/// The API of the robot called `name`; [`NONE`] for "none".
///
/// # Errors
/// [`UnknownRobot`] when there is none; its text lists those there are.
pub fn find(name: &str) -> Result<&'static RobotApi, UnknownRobot> {
    let mut known = ALL.iter().copied().chain([&NONE]);
    known.find(|api| api.name == name).ok_or_else(|| UnknownRobot(name.to_owned()))
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("there is no robot {0:?}; known robots: {known}", known = known_names())]
pub struct UnknownRobot(pub String);

fn known_names() -> String {
    let names: Vec<&str> = ALL.iter().map(|api| api.name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_are_found_by_name() {
        assert_eq!(find("libero").unwrap().name, "libero");
        assert!(find("none").unwrap().methods.is_empty());
        assert_eq!(
            find("libro").unwrap_err().to_string(),
            "there is no robot \"libro\"; known robots: libero, template"
        );
    }
}
