//! LIBERO scenes on MuJoCo: composed from the packaged BDDL and XML, reset by
//! seed as the Python reference resets them, controlled and judged as it does.

pub mod bddl;
pub mod camera;
pub mod catalog;
pub mod data;
pub mod egl;
pub mod gl;
pub mod gripper;
pub mod init_states;
mod linalg;
pub mod mjcf;
pub mod names;
pub mod node;
pub mod osc;
pub mod physics;
pub mod plant;
pub mod predicates;
pub mod render;
pub mod rng;
pub mod sampler;
pub mod scene;
pub mod scenes;
pub mod sim;
pub mod state;
pub mod suites;
pub mod visual_model;
pub mod workspace;
