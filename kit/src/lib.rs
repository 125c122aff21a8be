//! What every node shares: start and end of a process, settings, sending and
//! receiving typed frames, the journal that feeds the recorder, the control
//! socket that a person can stop a run with, and all of a robot's node but the
//! robot ([`Robot`], [`serve`]).
//!
//! A node is a loop over [`Node::next`]:
//!
//! ```no_run
//! use ruaflow_kit::{Input, Node};
//! use ruaflow_schemas::{Action, Observation};
//!
//! fn run() -> eyre::Result<()> {
//!     let mut node = Node::<()>::open()?;
//!     loop {
//!         match node.next(None) {
//!             Input::Frame(frame) if frame.topic == "action" => {
//!                 let _action: Action = frame.row()?;
//!                 node.send(&Observation::default())?;
//!             }
//!             Input::Shutdown | Input::Stop => return Ok(()),
//!             Input::Gone { node } if node == "planner" => eyre::bail!("node \"planner\" died"),
//!             _ => {}
//!         }
//!     }
//! }
//! ```

mod control;
mod entry;
mod journal;
mod line_socket;
mod nearest;
mod node;
mod paths;
mod robot;
mod settings;
mod steering;

pub use crate::control::{Command, ControlServer, ask, live_runs};
pub use crate::entry::main;
pub use crate::nearest::nearest;
pub use crate::node::{Input, Node, Received, Sender};
pub use crate::paths::{data_dir, home, runtime_dir};
pub use crate::robot::{FrameReply, Robot, StepError, serve};
pub use crate::settings::{SettingError, Settings};
pub use crate::steering::{Steer, SteerServer, steer};
